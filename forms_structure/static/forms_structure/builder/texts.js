/** The words of this page in the language of the workplace. Django's catalog of texts makes `window.gettext` and
 *  `window.ngettext`; where it did not load, the page speaks English. */

const filled = (text, values) => text.replace(/%\((\w+)\)s/g, (all, name) => values[name] ?? all);

/** `text` in this language, with the `values` that it has places for: "Added %(what)s". */
export const gettext = (text, values = {}) => filled(window.gettext?.(text) ?? text, values);

/** One of two texts by `count`, which has a place in them. */
export function ngettext(one, many, count, values = {}) {
  const text = window.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
  return filled(text, { count, ...values });
}

export const quoted = (text) => gettext("“%(text)s”", { text });

/** "Words with %(link)s in them" as nodes, `link` in its place. */
export function around(text, link) {
  const [before, after] = text.split("%(link)s");
  return [before, link, after];
}
