/** The confirmation dialogs. Each returns a promise of the answer, null for "cancel". */

import { ask, h, newId } from "./dom.js";
import { andMore, links, usedBy } from "./page.js";
import { Failure, get } from "./server.js";
import { gettext, ngettext, quoted } from "./texts.js";
import { fieldsIn, pathTo, walk } from "./tree.js";

const CANCEL = { value: "", label: gettext("Cancel") };
const confirm = (app, title, body, label) => ask(app.root, title, body, [{ value: "yes", label, kind: "primary" }, CANCEL]);
const labelOf = (id, words) => h("label", { for: id, class: "builder-label" }, words);

/** Confirm the change to the type `label`, which removes `goes`. */
export function confirmType(app, label, goes) {
  const first = goes.slice(0, -1).join(", ");
  const what = first ? gettext("%(first)s and %(last)s", { first, last: goes.at(-1) }) : goes[0];
  const body = [gettext("This removes %(what)s.", { what })];
  return confirm(app, gettext("Change the type to %(type)s?", { type: quoted(label) }), body, gettext("Change the type"));
}

/** Confirm deleting an option with dependent `fields`. */
export function confirmOption(app, choice, fields) {
  const words = ngettext(
    "This field is shown only if the option is chosen. It is deleted too:",
    "These fields are shown only if the option is chosen. They are deleted too:",
    fields.length,
  );
  const list = h(
    "ul",
    {},
    fields.map((field) => h("li", {}, app.nameOf(field))),
  );
  const title = gettext("Delete the option %(option)s?", { option: quoted(app.nameOf(choice)) });
  return confirm(app, title, [words, list], gettext("Delete"));
}

/** Ask where to move `node`. Return {parentId, index} for `move`. */
export async function askWhere(app, node) {
  const { form } = app;
  const option = ([words], index) => h("option", { value: index, selected: !index }, words);
  let places;
  let offered;
  if (node.kind === "section") {
    const others = form.children.filter((each) => each !== node);
    places = [
      [gettext("At the start"), form.id, 0],
      ...others.map((each, index) => [gettext("After %(section)s", { section: app.nameOf(each) }), form.id, index + 1]),
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
        const words = { field: app.nameOf(owner), choice: quoted(app.wordsOf(owner, place)) };
        return [gettext("%(field)s: when %(choice)s", words), place.id, end(place)];
      });
    places = [...sections, ...choices];
    const options = places.map(option);
    offered = [
      h("optgroup", { label: gettext("At the end of a section") }, options.slice(0, sections.length)),
      h("optgroup", { label: gettext("Shown when an option is chosen") }, options.slice(sections.length)),
    ];
  }
  const select = h("select", { id: newId(), size: Math.min(Math.max(places.length, 2), 14) }, offered);
  const label = node.kind === "section" ? gettext("Place") : gettext("Section or condition");
  const title = gettext("Move %(what)s to…", { what: quoted(app.nameOf(node)) });
  if (!(await confirm(app, title, [labelOf(select.id, label), select], gettext("Move")))) return null;
  const [, parentId, index] = places[select.value];
  return { parentId, index };
}

/** Ask for sections of another form. */
export async function askForSections(app) {
  const { other_forms: forms, urls } = app.data;
  const select = h(
    "select",
    { id: newId() },
    forms.map(({ id, name }) => h("option", { value: id }, name)),
  );
  const list = h("div", { class: "builder-borrow", role: "group", "aria-label": gettext("Sections") });
  let found = [];
  const offer = ({ title, fields }, index) => {
    const box = h("input", { type: "checkbox", id: newId(), value: index });
    const size = ngettext("%(count)s field", "%(count)s fields", fields.length);
    const count = h("span", { class: "builder-meta" }, ` ${size}`);
    const words = title || gettext("Section without a title");
    return h("div", { class: "builder-tick" }, box, h("label", { for: box.id }, words, count));
  };
  const load = async () => {
    const wanted = select.value;
    list.replaceChildren(gettext("Loading…"));
    let sections = [];
    let words = gettext("This form has no sections.");
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
  const body = [labelOf(select.id, gettext("Form")), select, list];
  if (!(await confirm(app, gettext("Copy a section from another form"), body, gettext("Copy")))) return [];
  return [...list.querySelectorAll(":checked")].map((box) => found[box.value]);
}

/** Confirm saving a form that other vacancies use: "all", or "copy" for the vacancy it was opened for. */
export function askForWhom(app) {
  const { use, user, can_add: canAdd } = app.data;
  const more = use.total - use.some.length;
  const body = [`${usedBy(use)}:`, links(use.some)];
  if (more > 0) body.push(andMore(more));
  body.push(
    use.total === 1 ? gettext("Saving changes the form for this vacancy.") : gettext("Saving changes the form for all of them."),
  );
  const choices = [{ value: "all", label: gettext("Change it for all"), kind: "primary" }, CANCEL];
  if (user && canAdd) {
    const label = gettext("Make a copy for %(vacancy)s", { vacancy: quoted(user.label) });
    choices.splice(1, 0, { value: "copy", label, kind: "soft" });
  }
  return ask(app.root, gettext("Change it for all?"), body, choices);
}

/** Explain a concurrent save: "copy" keeps both versions. */
export function explainConflict(app, { who, when, revision }) {
  const link = h("a", { href: app.data.urls.change, target: "_blank" }, gettext("Open that version in a new tab"));
  const text = gettext(
    "%(who)s saved version %(revision)s at %(when)s, after you opened this form. Nothing was overwritten.",
    { who, revision, when },
  );
  const choices = [{ value: "", label: gettext("Keep editing") }];
  if (app.data.can_add) choices.unshift({ value: "copy", label: gettext("Save my version as a copy"), kind: "primary" });
  return ask(app.root, gettext("Someone else saved this form"), [text, h("p", {}, link)], choices);
}

/** Confirm that published vacancies lose the fields with the names `lost`. */
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
  const text = ngettext(
    "%(count)s published vacancy uses them. They are removed from it immediately:",
    "%(count)s published vacancies use them. They are removed from them immediately:",
    use.published,
  );
  return confirm(app, gettext("Remove these fields?"), [text, list], gettext("Remove and save"));
}

export function confirmSaving(app) {
  const words = gettext("The new sections are stored in a separate form. Your changes here are not saved yet.");
  return confirm(app, gettext("Save first?"), [words], gettext("Save"));
}

export function explainFailure(app, failure) {
  return ask(app.root, gettext("Failed"), [sentence(failure)], [{ value: "", label: gettext("Close"), kind: "primary" }]);
}

function sentence(failure) {
  if (failure instanceof Failure) return failure.message;
  console.error(failure);
  return gettext("Something went wrong on this page. Your work is still here.");
}
