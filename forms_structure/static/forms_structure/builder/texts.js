/** The texts of the builder, translated. Django's JavaScript catalog provides `window.gettext` and
 *  `window.ngettext`. Without the catalog, the texts are in English. */

const filled = (text, values) => text.replace(/%\((\w+)\)s/g, (all, name) => values[name] ?? all);

/** Translate `text` and insert `values`: "Added %(what)s". */
export const gettext = (text, values = {}) => filled(window.gettext?.(text) ?? text, values);

/** Translate the singular or the plural text, by `count`. */
export function ngettext(one, many, count, values = {}) {
  const text = window.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
  return filled(text, { count, ...values });
}

export const quoted = (text) => gettext("“%(text)s”", { text });

/** "Text with %(link)s" as nodes, with the element `link` inserted. */
export function around(text, link) {
  const [before, after] = text.split("%(link)s");
  return [before, link, after];
}
