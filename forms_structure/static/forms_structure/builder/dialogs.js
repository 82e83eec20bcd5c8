/** What recruiters are asked before something happens; each question is answered by a promise, null for "cancel". */

import { ask, h, newId, plural, quoted } from "./dom.js";
import { links, usedBy } from "./page.js";
import { Failure, get } from "./server.js";
import { fieldsIn, pathTo, walk } from "./tree.js";

const CANCEL = { value: "", label: "Cancel" };
const confirm = (app, title, body, label) => ask(app.root, title, body, [{ value: "yes", label, kind: "primary" }, CANCEL]);
const labelOf = (id, words) => h("label", { for: id, class: "builder-label" }, words);

/** To the type `label`, although what `goes` does not fit it? */
export function confirmType(app, label, goes) {
  const words = goes.length > 1 ? `${goes.slice(0, -1).join(", ")} and ${goes.at(-1)}` : goes[0];
  return confirm(app, `Make it ${quoted(label)}?`, [`This takes away ${words}.`], "Change the type");
}

/** Delete an option although `fields` depend on it? */
export function confirmOption(app, choice, fields) {
  const words =
    fields.length === 1
      ? "This field shows only when it is chosen, and goes with it:"
      : "These fields show only when it is chosen, and go with it:";
  const list = h(
    "ul",
    {},
    fields.map((field) => h("li", {}, app.nameOf(field))),
  );
  return confirm(app, `Delete the option ${quoted(app.nameOf(choice))}?`, [words, list], "Delete");
}

/** Where to move `node`: {parentId, index} for `move`. */
export async function askWhere(app, node) {
  const { form } = app;
  const option = ([words], index) => h("option", { value: index, selected: !index }, words);
  let places;
  let offered;
  if (node.kind === "section") {
    const others = form.children.filter((each) => each !== node);
    places = [
      ["At the start", form.id, 0],
      ...others.map((each, index) => [`After ${app.nameOf(each)}`, form.id, index + 1]),
    ];
    offered = places.map(option);
  } else {
    const found = [...walk(form)].filter((each) => app.mayHold(each.id, node.id));
    const end = (place) => place.children.filter((child) => child !== node).length;
    const sections = found
      .filter(({ kind }) => kind === "section")
      .map((place) => [app.nameOf(place), place.id, end(place)]);
    const choices = found
      .filter(({ kind }) => kind === "choice")
      .map((place) => {
        const owner = pathTo(form, place.id).at(-2);
        return [`${app.nameOf(owner)}: when ${quoted(app.wordsOf(owner, place))}`, place.id, end(place)];
      });
    places = [...sections, ...choices];
    const options = places.map(option);
    offered = [
      h("optgroup", { label: "At the end of a section" }, options.slice(0, sections.length)),
      h("optgroup", { label: "Shown when an option is chosen" }, options.slice(sections.length)),
    ];
  }
  const select = h("select", { id: newId(), size: Math.min(Math.max(places.length, 2), 14) }, offered);
  const body = [labelOf(select.id, node.kind === "section" ? "Place" : "Section or condition"), select];
  if (!(await confirm(app, `Move ${quoted(app.nameOf(node))} to…`, body, "Move"))) return null;
  const [, parentId, index] = places[select.value];
  return { parentId, index };
}

/** Sections of another form. */
export async function askForSections(app) {
  const { other_forms: forms, urls } = app.data;
  const select = h(
    "select",
    { id: newId() },
    forms.map(({ id, name }) => h("option", { value: id }, name)),
  );
  const list = h("div", { class: "builder-borrow", role: "group", "aria-label": "Sections" });
  let found = [];
  const offer = ({ title, fields }, index) => {
    const box = h("input", { type: "checkbox", id: newId(), value: index });
    const count = h("span", { class: "builder-meta" }, ` ${plural(fields.length, "field")}`);
    return h("div", { class: "builder-tick" }, box, h("label", { for: box.id }, title || "Section without a title", count));
  };
  const load = async () => {
    const wanted = select.value;
    list.replaceChildren("Loading…");
    let sections = [];
    let words = "This form has no sections.";
    try {
      sections = (await get(urls.sections.replace(/\d+(?=\/sections\/$)/, wanted))).answer.sections;
    } catch (failure) {
      words = sentence(failure);
    }
    if (wanted !== select.value) return; // another form was picked meanwhile
    found = sections;
    list.replaceChildren(...(found.length ? found.map(offer) : [words]));
  };
  select.addEventListener("change", load);
  load();
  if (!(await confirm(app, "Copy a section from another form", [labelOf(select.id, "Form"), select, list], "Copy")))
    return [];
  return [...list.querySelectorAll(":checked")].map((box) => found[box.value]);
}

/** Save although others use the form? "all", or "copy" for the one it was opened for. */
export function askForWhom(app) {
  const { use, user, can_add: canAdd } = app.data;
  const more = use.total - use.some.length;
  const body = [`This form is ${usedBy(use).replace("Used", "used")}:`, links(use.some)];
  if (more > 0) body.push(`… and ${more} more.`);
  body.push(use.total === 1 ? "Saving changes the form there." : "Saving changes the form for all of them.");
  const choices = [{ value: "all", label: "Change it for all", kind: "primary" }, CANCEL];
  if (user && canAdd) choices.splice(1, 0, { value: "copy", label: `Make a copy for ${quoted(user.label)}`, kind: "soft" });
  return ask(app.root, "Change it for all?", body, choices);
}

/** Somebody else saved meanwhile: "copy" to keep both. */
export function explainConflict(app, { who, when, revision }) {
  const theirs = h("p", {}, h("a", { href: app.data.urls.change, target: "_blank" }, "Open that version in a new tab"));
  const body = [`${who} saved version ${revision} at ${when}, after you opened this form. Nothing was overwritten.`, theirs];
  const choices = [{ value: "", label: "Keep editing" }];
  if (app.data.can_add) choices.unshift({ value: "copy", label: "Save mine as a copy", kind: "primary" });
  return ask(app.root, "Somebody else saved this form", body, choices);
}

/** Save although published vacancies lose the fields with the names `lost`? */
export function confirmLoss(app, { lost, use }) {
  const fields = new Map(
    fieldsIn(app.saved.form).flatMap((field) => [
      [field.name, field],
      [field.ask, field],
    ]),
  );
  const words = (name) => (fields.has(name) ? `${app.nameOf(fields.get(name))} ` : "");
  const list = h(
    "ul",
    {},
    lost.map((name) => h("li", {}, words(name), h("code", {}, name))),
  );
  const who = plural(use.published, "published vacancy asks", "published vacancies ask");
  return confirm(
    app,
    "Take these fields away?",
    [`${who} for them. They vanish from there at once:`, list],
    "Take them away and save",
  );
}

export function confirmSaving(app) {
  const words = "The new sections go to a form of their own. What you changed here is not saved yet.";
  return confirm(app, "Save first?", [words], "Save");
}

export function explainFailure(app, failure) {
  return ask(app.root, "Not done", [sentence(failure)], [{ value: "", label: "Close", kind: "primary" }]);
}

function sentence(failure) {
  if (failure instanceof Failure) return failure.message;
  console.error(failure);
  return "Something went wrong on this page. Your work is still here.";
}
