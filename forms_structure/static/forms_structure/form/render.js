/**
 * Turns the sections of `GET /v1/vacancies/{id}/form` into an accessible HTML form. It creates nodes with the
 * target's document, so the target may be in an iframe with scripts disabled. templates/forms_structure/form.html
 * renders the same markup on the server.
 */

import { answers, copied, fillIn, fileProblem, foundField, hasGivenName, makeField, maker, tell } from "./fields.js";
import { validate } from "./validation.js";
import { WORDS } from "./words.js";

/** The key of the message for a missing answer, by field type. The default is `fill`. */
const MISSING = new Map(Object.entries({
  select: "pick", "radio-group": "pick", range: "pick", "checkbox-group": "pick", checkbox: "tick", file: "attach",
}));
const PATTERNED = new Set(["email", "tel", "date"]); // their messages describe the expected format
const FORM = new Set(["pattern", "minLength", "maxLength"]); // keywords that report an invalid format

let forms = 0; // rendered so far; makes ids unique when a page has several forms

/**
 * Replace the content of `target` with the form of `sections`, or attach to the form that the server rendered in it:
 * somebody may be typing there.
 *
 * @param {Element} target
 * @param {object[]} sections - `data` of the form operation
 * @param {object} [options]
 * @param {object} [options.schema] - JSON Schema of a submission; without it, submissions are not validated
 * @param {string} [options.language] - en, nl, fr or de
 * @param {object} [options.values] - initial values by field name
 * @param {object} [options.files] - chosen files by field name, each as a FileList
 * @param {boolean} [options.isAttached] - whether `target` contains the form of these sections from the server
 * @param {(values: object) => void} [options.onSubmit] - called with a valid submission
 */
export function render(
  target, sections,
  { schema = null, language = "en", values = {}, files = {}, isAttached = false, onSubmit = () => {} } = {},
) {
  const number = ++forms;
  const page = {
    make: maker(target.ownerDocument),
    words: Object.hasOwn(WORDS, language) ? WORDS[language] : WORDS.en,
    // The kind comes before the name: a field may be named "error-b", and ids must not collide.
    id: (kind, name) => `job-form-${number}-${kind}-${name}`,
    isNameSplit: sections.some((section) => hasGivenName(section.fields)),
  };
  const { make, words } = page;
  const fields = new Map(); // by name, in page order
  const branches = []; // {owner, value, box}: `box` is visible while `owner` has `value`
  const shownErrors = new Map(); // displayed errors by field name: {entry, isOurs}; `entry` is in the summary
  const find = (css) => target.querySelector(`.job-form ${css}`);
  const wrappers = new Map(Array.from(target.querySelectorAll("[data-name]"), (node) => [node.dataset.name, node]));
  const list = isAttached ? find(".job-form-summary ul") : make("ul");
  const summary = isAttached ? find(".job-form-summary")
    : make("div", { class: "job-form-summary", role: "alert", tabindex: "-1", hidden: true },
      make("p", { class: "job-form-summary-title" }, words.summary), list);

  /** Return the nodes of `structures` and of their conditional fields, each branch right after its owner. */
  const place = (structures, owner = null) => structures.flatMap(spelledOut).flatMap((structure) => {
    const field = isAttached
      ? foundField(wrappers.get(structure.name), structure, owner) : makeField(page, structure, owner);
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
      const inside = place(run, owner);
      const box = isAttached ? inside[0].parentNode
        : make("fieldset", { class: "job-form-condition job-form-grid", role: "none" }, ...inside);
      branches.push({ owner, value: run[0].on_value, box });
      return box;
    });
  };
  const spelledOut = ({ label, ...structure }) => (typeof label === "object" && label
    // An extra language becomes two fields: the name of the language and the level.
    ? [{ ...structure, ...label, conditional: [] },
      { ...structure, label: words.level(label.label) }]
    : [{ ...structure, label: label ?? "" }]);

  const shows = ({ owner, structure }) => !owner || (answers(owner).includes(structure.on_value) && shows(owner));
  const refresh = () => {
    for (const { owner, value, box } of branches) {
      // Not while somebody types in it: without scripts, all branches are open.
      box.hidden = box.disabled = !answers(owner).includes(value) && !box.contains(target.ownerDocument.activeElement);
    }
  };
  const submission = () => {
    const given = [];
    for (const [name, field] of fields) {
      const found = shows(field) ? answers(field) : [];
      if (found.length) given.push([name, field.structure.type === "checkbox-group" ? found : found[0]]);
    }
    return Object.fromEntries(given);
  };
  /** Return the chosen files of the visible fields: a FileList by name. */
  const chosenFiles = () => Object.fromEntries([...fields]
    .filter(([, field]) => field.controls[0]?.files?.length && shows(field))
    .map(([name, field]) => [name, field.controls[0].files]));

  /** Return the current errors in page order: {name, message}, at most one for each field. */
  const problems = () => {
    if (!schema) return [];
    const messages = new Map();
    for (const [name, field] of fields) {
      if (!shows(field)) continue;
      // An incomplete date has no value but is not empty.
      if (field.controls[0]?.validity.badInput) messages.set(name, words[field.structure.type] ?? words.invalid);
      if (fileProblem(field, words)) messages.set(name, fileProblem(field, words));
    }
    for (const { name, ...error } of validate(schema, submission())) {
      if (!messages.has(name)) messages.set(name, messageFor(fields.get(name)?.structure.type, error));
    }
    const names = [...new Set([...fields.keys(), ...messages.keys()])].filter((name) => messages.has(name));
    return names.map((name) => ({ name, message: messages.get(name) }));
  };
  const messageFor = (type, { keyword, limit }) => {
    if (keyword === "required" || keyword === "dependentRequired") return words[MISSING.get(type) ?? "fill"];
    if (FORM.has(keyword) && PATTERNED.has(type)) return words[type];
    return limit ? words.long(limit) : words.invalid;
  };

  /** Show `found`, [{name, message}], in the summary and at the fields. A name may be of no field, or empty. */
  const report = (found, isOurs = false) => {
    display(found, isOurs);
    if (found.length) summary.focus();
  };
  const display = (found, isOurs) => {
    fields.forEach((field) => tell(field, ""));
    shownErrors.clear();
    for (const { name, message } of found) {
      const field = fields.get(name); // undefined if the schema has other fields than the sections
      const entry = make("li", {}, field ? linked(name, field) : name, name && " – ", message);
      if (field) tell(field, message);
      shownErrors.set(name, { entry, isOurs });
    }
    list.replaceChildren(...Array.from(shownErrors.values(), ({ entry }) => entry));
    summary.hidden = !found.length;
  };
  const check = () => {
    const found = problems();
    report(found, true);
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
  /** Remove the errors of corrected fields immediately. New errors appear at the next submit. An error of the server
   *  is corrected when its field changes; `target` is the changed control, or undefined for all. */
  const forgive = (target) => {
    if (!shownErrors.size) return;
    const wrong = new Set(problems().map(({ name }) => name));
    for (const [name, { entry, isOurs }] of shownErrors) {
      const field = fields.get(name);
      const isChanged = !target || !field || field.controls.includes(target);
      if (isOurs ? wrong.has(name) : !isChanged && shows(field)) continue;
      if (field) tell(field, "");
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

  /** Return the nodes of a new form. */
  const build = () => {
    const content = sections.map(({ title, description, ...section }) => make("section", { class: "job-form-section" },
      title && make("h2", { class: "job-form-title" }, title),
      description && make("div", { class: "job-form-description" }, ...copied(make, description)),
      make("div", { class: "job-form-grid" }, ...place(section.fields)),
    ));
    const isAsking = [...fields.values()].some(({ structure }) => structure.required);
    const note = isAsking && make("p", { class: "job-form-note" }, words.note);
    const button = make("button", { type: "submit", class: "job-form-send" }, words.send);
    const foot = make("div", { class: "job-form-foot" });
    const element = make("form", { class: "job-form", novalidate: true });
    // While it has no fields: one that is named "append" hides the method.
    element.append(...[note, summary, ...content, button, foot].filter(Boolean));
    for (const [name, field] of fields) {
      if (Object.hasOwn(values, name)) fillIn(field, values[name]);
      if (Object.hasOwn(files, name) && field.structure.type === "file") field.controls[0].files = files[name];
    }
    target.replaceChildren(element);
    return { element, button, foot };
  };
  /** Return the nodes of the form that the server rendered. Its errors stay until their fields change. */
  const attach = () => {
    for (const { fields: structures } of sections) place(structures);
    for (const { box } of branches) {
      box.querySelector("legend").remove(); // the condition in words
      box.setAttribute("role", "none");
    }
    const atFields = [...fields].filter(([, { error }]) => !error.hidden)
      .map(([name, { error }]) => ({ name, message: error.textContent }));
    const others = [...list.children].filter((entry) => !entry.querySelector("a"))
      .map((entry) => ({ name: "", message: entry.textContent }));
    display([...atFields, ...others], false);
    const { activeElement, body } = target.ownerDocument;
    if (!summary.hidden && activeElement === body) summary.focus();
    return { element: target.querySelector(".job-form"), button: find(".job-form-send"), foot: find(".job-form-foot") };
  };

  const { element, button, foot } = isAttached ? attach() : build();
  const spoken = make("p", { class: "job-form-spoken", role: "status" });
  foot.replaceChildren(spoken);
  refresh();

  const changed = (event) => {
    const field = [...fields.values()].find(({ controls }) => controls.includes(event?.target));
    refresh();
    whenReleased(() => forgive(event?.target));
    if (field?.structure.type !== "file") return;
    const problem = fileProblem(field, words); // reported at once: a large file takes long to upload
    if (problem || !shownErrors.has(field.structure.name)) tell(field, problem);
    spoken.textContent = problem && `${field.structure.label}: ${problem}`;
  };
  // A click into another field changes the one that it leaves. The page must not move until the click is complete.
  let release = null; // a list of functions while a pointer is pressed
  const whenReleased = (work) => (release ? release.push(work) : work());
  // A field named "addEventListener" hides the method of the form.
  const listen = (name, listener) => EventTarget.prototype.addEventListener.call(element, name, listener);
  listen("pointerdown", () => {
    release ??= [];
    const end = () => setTimeout(() => {
      const waiting = release ?? [];
      release = null;
      waiting.forEach((work) => work());
    });
    for (const name of ["pointerup", "pointercancel"]) target.ownerDocument.addEventListener(name, end, { once: true });
  });
  listen("change", changed);
  listen("reset", () => setTimeout(changed)); // the event fires before the reset
  listen("submit", submit);
  // A sandbox without allow-forms fires no submit event. Enter in a field also clicks the button.
  button.addEventListener("click", submit);
  return { element, button, foot, words, values: submission, files: chosenFiles, check, report, show };
}
