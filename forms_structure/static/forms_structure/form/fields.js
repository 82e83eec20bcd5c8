/** The fields of a form: their nodes, answers and errors. */

/** Autocomplete tokens (WCAG 1.3.5) by common field names, else by type. forms_structure/rendering.py has the same. */
const AUTOCOMPLETE = new Map(Object.entries({
  "given-name": "given_name first_name voornaam prenom vorname",
  "family-name": "family_name last_name achternaam familienaam nom_de_famille nachname familienname",
  "name": "name naam nom", // the family name beside a given name
  "address-line1": "address adres adresse anschrift",
  "postal-code": "postal_code postcode code_postal postleitzahl plz",
  "address-level2": "city stad gemeente woonplaats ville ort wohnort",
  "country-name": "country land pays",
  "bday": "birth_date date_of_birth geboortedatum date_de_naissance geburtsdatum",
  "tel": "phone telephone mobile telefoon telefoonnummer gsm portable numero_de_telephone telefon "
    + "telefonnummer handy",
  "email": "email",
}).flatMap(([token, names]) => names.split(" ").map((name) => [name, token])));
const BY_TYPE = { email: "email", tel: "tel" };
const GROUPS = new Set(["checkbox-group", "radio-group", "range"]);
const INPUT_TYPES = new Set(["email", "tel", "date", "file"]);
const ACCEPTED = ".pdf,.docx,.odt,.rtf,.txt,.jpg,.jpeg,.png";
export const MEGABYTE = 2 ** 20;
const FILE_MAX = 10; // megabytes
const MARKUP = new Set("p br ul ol li strong b em i u h2 h3 h4 h5 blockquote".split(" "));
const NOT_TEXT = new Set("script style template noscript iframe object embed svg math".split(" "));
const SAFE_PROTOCOLS = new Set(["http:", "https:", "mailto:", "tel:"]);

// Signs that address books and web pages add to what is copied
const UNSEEN = /[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufffc\u{e0100}-\u{e01ef}]/gu;
const CONTROL = /[\x01-\x08\x0e-\x1f\x7f]/g;
const DASHES = /[\u02d7\u2010-\u2015\u2043\u207b\u2212\ufe58\ufe63\uff0d]/g;

/** Return a function that creates elements in `doc`. It omits null and false attributes and empty children. */
export function maker(doc) {
  return (tag, attributes = {}, ...children) => {
    const element = doc.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if ((value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter(Boolean));
    return element;
  };
}

/** Whether one of `fields` asks for the given name only: "naam" and "nom" are the family name then. */
export function hasGivenName(fields) {
  return fields.some(({ name }) => AUTOCOMPLETE.get(name) === "given-name");
}

/** Return a field: its `structure`, its `owner` and its nodes. `error` shows the message, `described` refers to it
 *  (aria-describedby) and the `blamed` nodes are marked as invalid. */
export function makeField(page, structure, owner) {
  const { make, id } = page;
  const { name, type, required, css } = structure;
  const error = make("p", { class: "job-form-error", id: id("error", name), hidden: true });
  const mark = required && make("span", { class: "job-form-mark", "aria-hidden": "true" }, " *");
  const makeInput = type === "checkbox" ? makeBox : GROUPS.has(type) ? makeGroup : makeControl;
  const own = { id: id("field", name), name };
  const { nodes, ...parts } = makeInput(page, structure, own, [structure.label, mark], error);
  const wrapper = make("div", { class: `job-form-field ${css ?? "col-12"}`, "data-name": name }, ...nodes);
  return { structure, owner, error, wrapper, ...parts };
}

/** Return the field of `wrapper`, which the server rendered: with the same markup, as `makeField` returns it. */
export function foundField(wrapper, structure, owner) {
  const controls = Array.from(wrapper.querySelectorAll("input, select, textarea"));
  const group = wrapper.querySelector("fieldset");
  return {
    structure, owner, wrapper, controls,
    error: wrapper.querySelector(".job-form-error"),
    hint: wrapper.querySelector(".job-form-hint"),
    blamed: group && structure.type !== "checkbox-group" ? [group] : controls,
    described: group ?? controls[0],
  };
}

function makeControl({ make, words, id, isNameSplit }, { name, type, required, options }, own, label, error) {
  const token = AUTOCOMPLETE.get(name) ?? BY_TYPE[type];
  const attributes = { ...own, required, autocomplete: token === "name" && isNameSplit ? "family-name" : token };
  const tag = type === "select" || type === "textarea" ? type : "input";
  if (tag === "input") attributes.type = INPUT_TYPES.has(type) ? type : "text";
  if (tag === "textarea") attributes.rows = 5;
  if (type === "date") attributes.max = "9999-12-31"; // otherwise browsers accept years of six digits
  const hint = type === "file" && make("p", { class: "job-form-hint", id: id("hint", name) }, words.files(FILE_MAX));
  if (hint) Object.assign(attributes, { accept: ACCEPTED, "aria-describedby": hint.id });
  const offered = tag === "select" ? [{ value: "", label: words.choose }, ...(options ?? [])] : [];
  const control = make(tag, attributes,
    ...offered.map((option) => make("option", { value: option.value }, option.label)));
  const nodes = [make("label", { for: own.id }, ...label), hint, error, control].filter(Boolean);
  return { nodes, controls: [control], blamed: [control], described: control, hint };
}

function makeBox({ make }, { type, required, link }, own, label, error) {
  const box = make("input", { ...own, type, value: "1", required });
  const text = make("div", {}, make("label", { for: own.id }, ...label));
  // Outside the label, because a click on the link must not toggle the checkbox.
  if (link) text.append(" ", makeLink(make, link.url, link.label));
  const nodes = [error, make("div", { class: "job-form-choice" }, box, text)];
  return { nodes, controls: [box], blamed: [box], described: box };
}

function makeGroup({ make, words, id }, { name, type, required, options }, own, label, error) {
  const isMany = type === "checkbox-group";
  const none = { value: "", label: words.none };
  // A radio button cannot be cleared, so an optional group has a choice without an answer.
  const offered = [...(options ?? []), ...(isMany || required ? [] : [none])];
  const choices = offered.map((option, index) => {
    const ids = index ? { ...own, id: id(`choice${index}`, name) } : own;
    const kind = { type: isMany ? "checkbox" : "radio", value: option.value, checked: option === none };
    return make("label", { class: "job-form-choice", for: ids.id },
      make("input", { ...ids, ...kind }), make("span", {}, option.label));
  });
  // No attribute marks a group of checkboxes as required, so its legend does.
  const spoken = isMany && required && make("span", { class: "job-form-spoken" }, ` (${words.required})`);
  const role = isMany ? {} : { role: "radiogroup", "aria-required": required && "true" };
  const group = make("fieldset", { class: `job-form-${type}`, ...role },
    make("legend", {}, ...label, spoken), error, make("div", { class: "job-form-choices" }, ...choices));
  const controls = choices.map((choice) => choice.firstChild);
  return { nodes: [group], controls, blamed: isMany ? controls : [group], described: group };
}

/** Return `text` without what nobody sees, and with plain spaces. jobsite/unseen.py has the same rules. */
const visible = (text) => text.replace(UNSEEN, "").replace(CONTROL, "").replace(/[\s\u2800]/g, " ").trim();

/** Return the non-empty answers as strings: at most one, or several for a group of checkboxes. */
export function answers({ controls }) {
  return controls.flatMap((control) => {
    switch (control.type) {
      case "radio":
      case "checkbox": return control.checked ? control.value : [];
      case "file": return Array.from(control.files, (file) => file.name);
      case "select-one": return control.value; // not trimmed: it must equal the option
      case "email": return visible(control.value);
      case "tel": return visible(control.value).replace(DASHES, "-");
      default: return control.value.trim();
    }
  }).filter(Boolean);
}

/** Set or select `value`. Checkboxes that are already checked stay checked; unknown options are ignored. */
export function fillIn({ controls }, value) {
  const wanted = [value].flat();
  for (const control of controls) {
    if (control.type === "radio" || control.type === "checkbox") control.checked ||= wanted.includes(control.value);
    else if (control.type !== "file") control.value = value; // scripts cannot choose a file
    if (control.selectedIndex === -1) control.selectedIndex = 0;
  }
}

/** Show `message` at the field, or remove the message if it is empty. */
export function tell({ blamed, described, error, hint }, message) {
  error.textContent = message;
  error.hidden = !message;
  const set = (node, name, value) => (value ? node.setAttribute(name, value) : node.removeAttribute(name));
  blamed.forEach((node) => set(node, "aria-invalid", message && "true"));
  set(described, "aria-describedby", [message && error.id, hint && hint.id].filter(Boolean).join(" "));
}

/** Return the message about the file of `field`, or "" if there is none or it is small enough. */
export function fileProblem({ controls: [control] }, words) {
  const isLarge = Array.from(control?.files ?? []).some((file) => file.size > FILE_MAX * MEGABYTE);
  return isLarge ? words.large(FILE_MAX) : "";
}

/** Return a link that opens in a new tab, or only its text if the protocol is not safe (javascript:, for instance). */
function makeLink(make, href, ...inside) {
  const link = make("a", { href, target: "_blank", rel: "noopener" }, ...inside);
  return SAFE_PROTOCOLS.has(link.protocol) ? link : make("span", {}, ...inside);
}

/** Return copies of the nodes of `html`, with only the elements that the API allows. Links keep their href; other
 *  attributes are dropped. The parser's document is inert: it loads and runs nothing. */
export function copied(make, html) {
  const copy = (node) => {
    if (node.nodeType === 3) return node.data;
    if (node.nodeType !== 1 || NOT_TEXT.has(node.localName)) return [];
    const inside = Array.from(node.childNodes).flatMap(copy);
    if (node.localName === "a") return makeLink(make, node.getAttribute("href"), ...inside);
    return MARKUP.has(node.localName) ? make(node.localName, {}, ...inside) : inside;
  };
  return Array.from(new DOMParser().parseFromString(html, "text/html").body.childNodes).flatMap(copy);
}
