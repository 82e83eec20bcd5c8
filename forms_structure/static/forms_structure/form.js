/**
 * Renders an application form: it turns the sections of `GET /v1/vacancies/{id}/form` into an accessible HTML form
 * and validates a submission with the JSON Schema of `GET /v1/vacancies/{id}/form/schema`.
 *
 * It has no dependencies: copy this file and form.css. It sets no inline styles and parses no markup into the page,
 * so it runs under `script-src 'self'; style-src 'self'`. It creates nodes with the target's document, so the target
 * may be in an iframe with scripts disabled.
 */

/** The renderer's own texts, by language. All other texts come from the form. */
const WORDS = {
  en: {
    note: "Fields marked with * are required.", required: "required", choose: "Choose…", none: "No answer",
    level: (language) => `${language}: level`, send: "Send application",
    summary: "Some answers still need your attention",
    fill: "Please fill this in.", pick: "Please make a choice.", tick: "Please tick this box.",
    attach: "Please choose a file.", email: "Please write an e-mail address such as name@example.com.",
    tel: "Please write a telephone number such as +32 470 12 34 56.", date: "Please write a complete date.",
    long: (limit) => `Please use at most ${limit} characters.`, invalid: "This answer is not possible here.",
  },
  nl: {
    note: "Velden met een * zijn verplicht.", required: "verplicht", choose: "Maak een keuze…", none: "Geen antwoord",
    level: (language) => `${language}: niveau`, send: "Sollicitatie versturen",
    summary: "Enkele antwoorden vragen nog aandacht",
    fill: "Vul dit veld in.", pick: "Maak een keuze.", tick: "Vink dit vakje aan.",
    attach: "Kies een bestand.", email: "Vul een e-mailadres in, zoals naam@example.com.",
    tel: "Vul een telefoonnummer in, zoals +32 470 12 34 56.", date: "Vul een volledige datum in.",
    long: (limit) => `Gebruik ten hoogste ${limit} tekens.`, invalid: "Dit antwoord is hier niet mogelijk.",
  },
  fr: {
    note: "Les champs marqués d’un * sont obligatoires.", required: "obligatoire", choose: "Choisissez…",
    none: "Sans réponse", level: (language) => `${language} : niveau`, send: "Envoyer la candidature",
    summary: "Certaines réponses sont à revoir",
    fill: "Veuillez remplir ce champ.", pick: "Veuillez faire un choix.", tick: "Veuillez cocher cette case.",
    attach: "Veuillez choisir un fichier.", email: "Indiquez une adresse e-mail, par exemple nom@example.com.",
    tel: "Indiquez un numéro de téléphone, par exemple +32 470 12 34 56.", date: "Indiquez une date complète.",
    long: (limit) => `Veuillez utiliser au plus ${limit} caractères.`,
    invalid: "Cette réponse n’est pas possible ici.",
  },
  de: {
    note: "Mit * gekennzeichnete Felder sind Pflichtfelder.", required: "Pflichtfeld", choose: "Bitte wählen…",
    none: "Keine Angabe", level: (language) => `${language}: Niveau`, send: "Bewerbung absenden",
    summary: "Einige Angaben sind noch zu prüfen",
    fill: "Bitte füllen Sie dieses Feld aus.", pick: "Bitte treffen Sie eine Auswahl.",
    tick: "Bitte setzen Sie hier ein Häkchen.", attach: "Bitte wählen Sie eine Datei aus.",
    email: "Bitte geben Sie eine E-Mail-Adresse an, zum Beispiel name@example.com.",
    tel: "Bitte geben Sie eine Telefonnummer an, zum Beispiel +32 470 12 34 56.",
    date: "Bitte geben Sie ein vollständiges Datum an.",
    long: (limit) => `Bitte verwenden Sie höchstens ${limit} Zeichen.`,
    invalid: "Diese Antwort ist hier nicht möglich.",
  },
};
/** The key of the message for a missing answer, by field type. The default is `fill`. */
const MISSING = new Map(Object.entries({
  select: "pick", "radio-group": "pick", range: "pick", "checkbox-group": "pick", checkbox: "tick", file: "attach",
}));
/** Autocomplete tokens of common field names (WCAG 1.3.5). */
const AUTOCOMPLETE = new Map(Object.entries({
  first_name: "given-name", last_name: "family-name", name: "name", email: "email", phone: "tel", telephone: "tel",
  mobile: "tel", address: "address-line1", postal_code: "postal-code", city: "address-level2", country: "country-name",
  birth_date: "bday", date_of_birth: "bday",
}));
const GROUPS = new Set(["checkbox-group", "radio-group", "range"]);
const PATTERNED = new Set(["email", "tel", "date"]); // their messages describe the expected format
const INPUT_TYPES = new Set([...PATTERNED, "file"]);
const FORM = new Set(["pattern", "minLength", "maxLength"]); // keywords that report an invalid format
const MARKUP = new Set("p br ul ol li strong b em i u h2 h3 h4 h5 blockquote".split(" "));
const NOT_TEXT = new Set("script style template noscript iframe object embed svg math".split(" "));
const SAFE_PROTOCOLS = new Set(["http:", "https:", "mailto:", "tel:"]);

let forms = 0; // rendered so far; makes ids unique when a page has several forms

/**
 * Replace the content of `target` with the form of `sections`.
 *
 * @param {Element} target
 * @param {object[]} sections - `data` of the form operation
 * @param {object} [options]
 * @param {object} [options.schema] - JSON Schema of a submission; without it, submissions are not validated
 * @param {string} [options.language] - en, nl, fr or de
 * @param {object} [options.values] - initial values by field name
 * @param {(values: object) => void} [options.onSubmit] - called with a valid submission
 */
export function render(target, sections, { schema = null, language = "en", values = {}, onSubmit = () => {} } = {}) {
  const number = ++forms;
  const page = {
    make: maker(target.ownerDocument),
    words: Object.hasOwn(WORDS, language) ? WORDS[language] : WORDS.en,
    // The kind comes before the name: a field may be named "error-b", and ids must not collide.
    id: (kind, name) => `job-form-${number}-${kind}-${name}`,
  };
  const { make, words } = page;
  const fields = new Map(); // by name, in page order
  const branches = []; // {owner, value, box}: `box` is visible while `owner` has `value`
  const shownErrors = new Map(); // displayed errors: entries of the summary by field name
  const list = make("ul");
  const summary = make("div", { class: "job-form-summary", role: "alert", tabindex: "-1", hidden: true },
    make("p", { class: "job-form-summary-title" }, words.summary), list);

  /** Return the nodes of `structures` and of their conditional fields, each branch right after its owner. */
  const place = (structures, owner = null) => structures.flatMap(spelledOut).flatMap((structure) => {
    const field = makeField(page, structure, owner);
    fields.set(structure.name, field);
    return [field.wrapper, ...grow(field)];
  });
  /** Return the conditional fields of `owner`: a fieldset for each run of fields with the same `on_value`. A disabled
   *  fieldset disables all controls in it, including those of nested conditions. */
  const grow = (owner) => {
    const runs = [];
    for (const structure of owner.structure.conditional ?? []) {
      if (runs.at(-1)?.[0].on_value === structure.on_value) runs.at(-1).push(structure);
      else runs.push([structure]);
    }
    return runs.map((run) => {
      const box = make("fieldset", { class: "job-form-condition job-form-grid", role: "none" }, ...place(run, owner));
      branches.push({ owner, value: run[0].on_value, box });
      return box;
    });
  };
  const spelledOut = ({ label, ...structure }) => (typeof label === "object" && label
    // An extra language becomes two fields: the name of the language and the level.
    ? [{ ...structure, ...label, conditional: [] }, { ...structure, label: words.level(label.label) }]
    : [{ ...structure, label: label ?? "" }]);

  const shows = ({ owner, structure }) => !owner || (answers(owner).includes(structure.on_value) && shows(owner));
  const refresh = () => {
    for (const { owner, value, box } of branches) box.hidden = box.disabled = !answers(owner).includes(value);
  };
  const submission = () => {
    const given = [];
    for (const [name, field] of fields) {
      const found = shows(field) ? answers(field) : [];
      if (found.length) given.push([name, field.structure.type === "checkbox-group" ? found : found[0]]);
    }
    return Object.fromEntries(given);
  };

  /** Return the current errors in page order: {name, message}, at most one for each field. */
  const problems = () => {
    if (!schema) return [];
    const errors = new Map();
    for (const [name, field] of fields) { // an incomplete date has no value but is not empty
      if (shows(field) && field.controls[0]?.validity.badInput) errors.set(name, { keyword: "pattern" });
    }
    for (const { name, ...error } of validate(schema, submission())) {
      if (!errors.has(name)) errors.set(name, error);
    }
    const names = [...new Set([...fields.keys(), ...errors.keys()])].filter((name) => errors.has(name));
    return names.map((name) => ({ name, message: messageFor(fields.get(name)?.structure.type, errors.get(name)) }));
  };
  const messageFor = (type, { keyword, limit }) => {
    if (keyword === "required" || keyword === "dependentRequired") return words[MISSING.get(type) ?? "fill"];
    if (FORM.has(keyword) && PATTERNED.has(type)) return words[type];
    return limit ? words.long(limit) : words.invalid;
  };

  const check = () => {
    const found = problems();
    fields.forEach((field) => tell(field, ""));
    shownErrors.clear();
    for (const { name, message } of found) {
      const field = fields.get(name); // undefined if the schema has other fields than the sections
      const entry = make("li", {}, field ? linked(name, field) : name, ` – ${message}`);
      if (field) tell(field, message);
      shownErrors.set(name, entry);
    }
    list.replaceChildren(...shownErrors.values());
    summary.hidden = !found.length;
    if (found.length) summary.focus();
    return found;
  };
  const linked = (name, { controls, structure: { label } }) => {
    const text = label.length > 100 ? `${label.slice(0, 99).trimEnd()}…` : label;
    const link = make("a", { href: `#${controls[0]?.id}` }, text);
    link.addEventListener("click", (event) => {
      event.preventDefault(); // keep the URL of the page
      show(name);
    });
    return link;
  };
  /** Remove the errors of corrected fields immediately. New errors appear at the next submit. */
  const forgive = () => {
    if (!shownErrors.size) return;
    const wrong = new Set(problems().map(({ name }) => name));
    for (const [name, entry] of shownErrors) {
      if (wrong.has(name)) continue;
      if (fields.has(name)) tell(fields.get(name), "");
      entry.remove();
      shownErrors.delete(name);
    }
    summary.hidden = !shownErrors.size;
  };
  const show = (name) => {
    const field = fields.get(name);
    if (!field) return;
    for (let inner = field; inner.owner; inner = inner.owner) fillIn(inner.owner, inner.structure.on_value);
    refresh();
    field.wrapper.scrollIntoView({ block: "nearest" });
    (field.controls.find((control) => control.checked) ?? field.controls[0])?.focus({ preventScroll: true });
  };
  const submit = (event) => {
    event.preventDefault();
    if (!check().length) onSubmit(submission());
  };

  const content = sections.map(({ title, description, ...section }) => make("section", { class: "job-form-section" },
    title && make("h2", { class: "job-form-title" }, title),
    description && make("div", { class: "job-form-description" }, ...copied(make, description)),
    make("div", { class: "job-form-grid" }, ...place(section.fields)),
  ));
  const isAsking = [...fields.values()].some(({ structure }) => structure.required);
  const note = isAsking && make("p", { class: "job-form-note" }, words.note);
  const button = make("button", { type: "submit", class: "job-form-send" }, words.send);
  for (const [name, field] of fields) if (Object.hasOwn(values, name)) fillIn(field, values[name]);
  refresh();

  // Call the methods of the form before it has fields: a field named "append" hides form.append.
  const element = make("form", { class: "job-form", novalidate: true });
  const changed = () => {
    refresh();
    forgive();
  };
  element.addEventListener("change", changed);
  element.addEventListener("reset", () => setTimeout(changed)); // the event fires before the reset
  element.addEventListener("submit", submit);
  // A sandbox without allow-forms fires no submit event. Enter in a field also clicks the button.
  button.addEventListener("click", submit);
  element.append(...[note, summary, ...content, button].filter(Boolean));
  target.replaceChildren(element);
  return { element, values: submission, check, show };
}

/** Return a function that creates elements in `doc`. It omits null and false attributes and empty children. */
function maker(doc) {
  return (tag, attributes = {}, ...children) => {
    const element = doc.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if ((value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter(Boolean));
    return element;
  };
}

/** Return a field: its `structure`, its `owner` and its nodes. `error` shows the message, `described` refers to it
 *  (aria-describedby) and the `blamed` nodes are marked as invalid. */
function makeField(page, structure, owner) {
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

function makeControl({ make, words }, { name, type, required, options }, own, label, error) {
  const attributes = { ...own, required, autocomplete: AUTOCOMPLETE.get(name) };
  const tag = type === "select" || type === "textarea" ? type : "input";
  if (tag === "input") attributes.type = INPUT_TYPES.has(type) ? type : "text";
  if (tag === "textarea") attributes.rows = 5;
  if (type === "date") attributes.max = "9999-12-31"; // otherwise browsers accept years of six digits
  const offered = tag === "select" ? [{ value: "", label: words.choose }, ...(options ?? [])] : [];
  const control = make(tag, attributes,
    ...offered.map((option) => make("option", { value: option.value }, option.label)));
  const nodes = [make("label", { for: own.id }, ...label), error, control];
  return { nodes, controls: [control], blamed: [control], described: control };
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

/** Return the non-empty answers as strings: at most one, or several for a group of checkboxes. */
function answers({ controls }) {
  return controls.flatMap((control) => {
    switch (control.type) {
      case "radio":
      case "checkbox": return control.checked ? control.value : [];
      case "file": return Array.from(control.files, (file) => file.name);
      case "select-one": return control.value; // not trimmed: it must equal the option
      default: return control.value.trim();
    }
  }).filter(Boolean);
}

/** Set or select `value`. Checkboxes that are already checked stay checked; unknown options are ignored. */
function fillIn({ controls }, value) {
  const wanted = [value].flat();
  for (const control of controls) {
    if (control.type === "radio" || control.type === "checkbox") control.checked ||= wanted.includes(control.value);
    else if (control.type !== "file") control.value = value; // scripts cannot choose a file
    if (control.selectedIndex === -1) control.selectedIndex = 0;
  }
}

/** Show `message` at the field, or remove the message if it is empty. */
function tell({ blamed, described, error }, message) {
  error.textContent = message;
  error.hidden = !message;
  const set = (node, name, value) => (message ? node.setAttribute(name, value) : node.removeAttribute(name));
  blamed.forEach((node) => set(node, "aria-invalid", "true"));
  set(described, "aria-describedby", error.id);
}

/** Return a link that opens in a new tab, or only its text if the protocol is not safe (javascript:, for instance). */
function makeLink(make, href, ...inside) {
  const link = make("a", { href, target: "_blank", rel: "noopener" }, ...inside);
  return SAFE_PROTOCOLS.has(link.protocol) ? link : make("span", {}, ...inside);
}

/** Return copies of the nodes of `html`, with only the elements that the API allows. Links keep their href; other
 *  attributes are dropped. The parser's document is inert: it loads and runs nothing. */
function copied(make, html) {
  const copy = (node) => {
    if (node.nodeType === 3) return node.data;
    if (node.nodeType !== 1 || NOT_TEXT.has(node.localName)) return [];
    const inside = Array.from(node.childNodes).flatMap(copy);
    if (node.localName === "a") return makeLink(make, node.getAttribute("href"), ...inside);
    return MARKUP.has(node.localName) ? make(node.localName, {}, ...inside) : inside;
  };
  return Array.from(new DOMParser().parseFromString(html, "text/html").body.childNodes).flatMap(copy);
}

/**
 * Validate `value` with `schema`. Return the errors: {name, keyword}, where `name` is the property. It supports the
 * keywords of JSON Schema 2020-12 that submission schemas use, with the results of a full validator.
 */
export function validate(schema, value) {
  return judged(schema, value, "").errors;
}

/** Return the errors of `value` and the properties that the schema evaluated (for `unevaluatedProperties`). */
function judged(schema, value, name) {
  const errors = [];
  const known = new Set();
  const fail = (keyword, at = name) => errors.push({ name: at, keyword });
  const apply = (part, to = value, at = name) => {
    const verdict = judged(part, to, at);
    errors.push(...verdict.errors);
    return verdict;
  };
  const join = (verdict) => verdict.known.forEach((key) => known.add(key));
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

  if (schema.type && schema.type !== kind) fail("type");
  if (Object.hasOwn(schema, "const") && schema.const !== value) fail("const");
  if (schema.enum && !schema.enum.includes(value)) fail("enum");
  if (schema.oneOf && schema.oneOf.filter((part) => !validate(part, value).length).length !== 1) fail("oneOf");
  if (kind === "string") {
    if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) fail("pattern");
    if ([...value].length < schema.minLength) fail("minLength");
    if ([...value].length > schema.maxLength) errors.push({ name, keyword: "maxLength", limit: schema.maxLength });
  }
  if (kind === "array") {
    if (value.length < schema.minItems) fail("minItems");
    if (schema.uniqueItems && new Set(value).size < value.length) fail("uniqueItems"); // items are strings
    if (schema.items) value.forEach((item) => apply(schema.items, item));
    if (schema.contains && !value.some((item) => !validate(schema.contains, item).length)) fail("contains");
  }
  if (kind === "object") {
    const has = (key) => Object.hasOwn(value, key);
    for (const [key, part] of Object.entries(schema.properties ?? {}).filter(([key]) => has(key))) {
      apply(part, value[key], key);
      known.add(key);
    }
    for (const key of schema.required ?? []) if (!has(key)) fail("required", key);
    for (const [key, others] of Object.entries(schema.dependentRequired ?? {})) {
      if (has(key)) others.filter((other) => !has(other)).forEach((other) => fail("dependentRequired", other));
    }
  }
  for (const part of schema.allOf ?? []) join(apply(part));
  if (schema.if) {
    const condition = judged(schema.if, value, name);
    if (!condition.errors.length) {
      join(condition);
      join(apply(schema.then ?? {}));
    }
  }
  if (schema.unevaluatedProperties === false && kind === "object") {
    Object.keys(value).filter((key) => !known.has(key)).forEach((key) => fail("unevaluatedProperties", key));
  }
  return { errors, known };
}
