/**
 * A form as a tree of plain nodes, and what can be done with it.
 *
 *     form     {name, language}                                        children: sections
 *     section  {title, description}                                    children: fields
 *     field    {name, auto, type, label, ask, required, css, role}     children: choices
 *     choice   {value, auto, label}                                    children: the fields that it shows
 *
 * All have {id, kind, children}. Nodes never change: an edit returns a new form that shares what is the same, so an
 * earlier form is an undo step, and `===` says whether anything changed. Where the server has `options` and
 * `conditional` side by side, a field here has choices that hold what they show: `on_value` cannot go astray, and
 * every list of fields, in a section or below a choice, is the same to move in and out of. Conditional fields are
 * thereby in the order of the choices.
 *
 * `kinds` is what the server says about types of fields: {label, has_options, fixed_values} by value.
 * `auto` is true while a name (value) follows the label; `ask` the name of the input that asks for the language, or null;
 * `role` what the field says about the applicant, or null.
 */

import { gettext, ngettext } from "./texts.js";

let lastId = 0;
const node = (kind, values, children = []) => ({ id: `n${++lastId}`, kind, ...values, children });

export const makeSection = (title = "", fields = []) => node("section", { title, description: "" }, fields);
export const makeChoice = (value, label = "", auto = false, fields = []) => node("choice", { value, auto, label }, fields);
export const makeField = (type, kinds) =>
  node(
    "field",
    { name: "", auto: true, type, label: "", ask: null, required: false, css: "col-12", role: null },
    freshChoices(type, kinds),
  );
const freshChoices = (type, kinds) =>
  kinds.get(type).has_options
    ? ["option_1", "option_2"].map((value) => makeChoice(value, "", true))
    : kinds.get(type).fixed_values.map((value) => makeChoice(value));

/* --- the server's structure --- */

export function readForm({ name, language, structure }, kinds) {
  return node(
    "form",
    { name, language },
    structure.map((section) => readSection(section, kinds)),
  );
}

export function readSection({ title, description, fields }, kinds) {
  return node(
    "section",
    { title, description },
    fields.map((field) => readField(field, kinds)),
  );
}

function readField({ name, type, label, required, css, role = null, options, conditional = [] }, kinds) {
  const asks = typeof label === "object";
  const text = asks ? label.label : label;
  const shownBy = new Map();
  for (const each of conditional) shownBy.set(each.on_value, [...(shownBy.get(each.on_value) ?? []), each]);
  const choices = options ?? kinds.get(type).fixed_values.map((value) => ({ value, label: "" }));
  return node(
    "field",
    { name, auto: false, type, label: text, ask: asks ? label.name : null, required, css, role },
    choices.map((choice) =>
      makeChoice(
        choice.value,
        choice.label,
        false,
        (shownBy.get(choice.value) ?? []).map((field) => readField(field, kinds)),
      ),
    ),
  );
}

export function writeForm(form, kinds) {
  return form.children.map(({ title, description, children }) => ({
    title,
    description,
    fields: children.map((field) => writeField(field, kinds)),
  }));
}

function writeField({ name, type, label, ask, required, css, role, children }, kinds) {
  const json = { name, type, label: ask === null ? label : { name: ask, label }, required, css };
  if (role !== null) json.role = role;
  if (kinds.get(type).has_options) json.options = children.map(({ value, label }) => ({ value, label }));
  const conditional = children.flatMap((choice) =>
    choice.children.map((field) => ({ ...writeField(field, kinds), on_value: choice.value })),
  );
  return conditional.length ? { ...json, conditional } : json;
}

/** The sections of a structure as applicants get them (interface 2.9), without roles and with what is generated:
 *  options of ranges, and `consent`, the section that is all there is to an empty form; otherwise its field is the last one. */
export function served(structure, { levels, consent }) {
  const field = ({ label, options, conditional, role, ...rest }) => ({
    ...rest,
    label: typeof label === "object" ? { type: "text", ...label } : label,
    ...(rest.type === "range" && { options: levels.map((level) => ({ name: rest.name, ...level })) }),
    ...(options && { options: options.map((option) => ({ name: rest.name, ...option })) }),
    ...(conditional && { conditional: conditional.map(field) }),
  });
  const sections = structure.map((section) => ({ ...section, fields: section.fields.map(field) }));
  if (!sections.length) return [consent];
  sections.at(-1).fields.push(...consent.fields);
  return sections;
}

/** `old` with the values from the server. Unchanged nodes stay identical, the others keep their id. */
export function adopt(old, saved) {
  const children = saved.children.map((child, index) => (old.children[index] ? adopt(old.children[index], child) : child));
  const isSame =
    children.length === old.children.length &&
    children.every((child, index) => child === old.children[index]) &&
    Object.keys(saved).every((key) => key === "id" || key === "children" || saved[key] === old[key]);
  return isSame ? old : { ...saved, id: old.id, children };
}

/* --- looking --- */

export function* walk(root) {
  yield root;
  for (const child of root.children) yield* walk(child);
}

/** The nodes from `root` to the node `id`, both included; none if it does not exist. */
export function pathTo(root, id) {
  if (root.id === id) return [root];
  for (const child of root.children) {
    const path = pathTo(child, id);
    if (path.length) return [root, ...path];
  }
  return [];
}

export const find = (root, id) => pathTo(root, id).at(-1);
export const fieldsIn = (root) => [...walk(root)].filter(({ kind }) => kind === "field");

/** All names in the form, including those of label inputs. */
export const namesIn = (root) => fieldsIn(root).flatMap(({ name, ask }) => (ask === null ? [name] : [name, ask]));

/** All roles that fields of the form have. */
export const rolesIn = (root) => fieldsIn(root).flatMap(({ role }) => role ?? []);

/** The node and the key of a path from the server: "sections.0.fields.2.options.0.label". */
export function locate(form, path) {
  const inside = (at) => ({
    sections: at.kind === "form" && at.children,
    fields: at.kind === "section" && at.children,
    options: at.kind === "field" && at.children,
    conditional: at.kind === "field" && at.children.flatMap((choice) => choice.children),
  });
  const steps = path.split(".");
  let at = form;
  while (steps.length > 1) {
    const lists = inside(at);
    const next = Object.hasOwn(lists, steps[0]) && lists[steps[0]] && lists[steps[0]][steps[1]];
    if (!next) break;
    at = next;
    steps.splice(0, 2);
  }
  return { id: at.id, key: steps.join(".") };
}

/* --- edits: each returns another form --- */

/** `root` with the node `id` replaced by the result of `change`: a node or a list of nodes. */
export function replace(root, id, change) {
  if (root.id === id) return change(root);
  const path = pathTo(root, id);
  if (!path.length) return root;
  return path.slice(0, -1).reduceRight(
    (made, parent, depth) => {
      const index = parent.children.indexOf(path[depth + 1]);
      return { ...parent, children: parent.children.toSpliced(index, 1, ...[made].flat()) };
    },
    change(path.at(-1)),
  );
}

export const update = (root, id, values) => replace(root, id, (old) => ({ ...old, ...values }));
export const remove = (root, id) => replace(root, id, () => []);
export const insert = (root, parentId, index, ...nodes) =>
  replace(root, parentId, (parent) => ({ ...parent, children: parent.children.toSpliced(index, 0, ...nodes) }));

/** Move the node `id` to be the child number `index` of `parentId`, counted without the node itself. */
export function move(root, id, parentId, index) {
  const moved = find(root, id);
  return insert(remove(root, id), parentId, index, moved);
}

const HOLDS = new Map([
  ["form", "section"],
  ["section", "field"],
  ["field", "choice"],
  ["choice", "field"],
]);
const height = (root) => Math.max(0, ...root.children.map((child) => height(child) + (root.kind === "choice" ? 1 : 0)));

/** Whether `parentId` may contain the node `id`: the right kind, not inside itself, not nested too deeply. */
export function mayHold(root, parentId, id, depthMax) {
  const path = pathTo(root, parentId);
  const moved = find(root, id);
  if (!moved || !path.length || HOLDS.get(path.at(-1).kind) !== moved.kind || path.includes(moved)) return false;
  if (moved.kind === "choice") return pathTo(root, id).at(-2) === path.at(-1);
  const conditions = path.filter(({ kind }) => kind === "choice").length;
  return moved.kind === "section" || conditions + height(moved) <= depthMax;
}

/** Where the node `id` goes by one step up (-1) or down (1): {parentId, index} for `move`, or null at the end. At the
 *  edge of a section a field goes on to the next one; at the edge of a condition it leaves the condition. */
export function step(root, id, by) {
  const [moved, parent, owner, place] = pathTo(root, id).reverse();
  const index = parent.children.indexOf(moved) + by;
  if (index >= 0 && index < parent.children.length) return { parentId: parent.id, index };
  if (parent.kind === "section") {
    const next = root.children[root.children.indexOf(parent) + by];
    return next ? { parentId: next.id, index: by < 0 ? next.children.length : 0 } : null;
  }
  if (parent.kind === "choice") return { parentId: place.id, index: place.children.indexOf(owner) + (by > 0 ? 1 : 0) };
  return null;
}

/** What `field` loses with another type, as text, and the field with that type. */
export function retype(field, type, kinds) {
  const keepsRole = field.role === null || kinds.get(type).roles.includes(field.role);
  const keeps = kinds.get(field.type).has_options && kinds.get(type).has_options;
  const hanging = fieldsIn(field).length - 1;
  const options = kinds.get(field.type).has_options ? field.children.filter(({ label }) => label).length : 0;
  const goes = [];
  if (!keeps && options) {
    const many = ngettext("its %(count)s option", "its %(count)s options", options);
    goes.push(options === 1 ? gettext("its option") : many);
  }
  if (!keeps && hanging) {
    const many = ngettext(
      "the %(count)s field that depends on it",
      "the %(count)s fields that depend on it",
      hanging,
    );
    goes.push(hanging === 1 ? gettext("the field that depends on it") : many);
  }
  if (field.ask !== null && type !== "range") goes.push(gettext("the question for the language"));
  if (!keepsRole) goes.push(gettext("what it says about the applicant"));
  const children = keeps || type === field.type ? field.children : freshChoices(type, kinds);
  const role = keepsRole ? field.role : null;
  return { goes, field: { ...field, type, children, role, ask: type === "range" ? field.ask : null } };
}

/* --- names --- */

/** A slug of `text` with underscores. With `first`, it starts with a letter, else with that word. */
export function slug(text, first = "") {
  const plain = text
    .replace(/ß/g, "ss")
    .replace(/[æÆ]/g, "ae")
    .replace(/[œŒ]/g, "oe")
    .replace(/[øØ]/g, "o")
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .slice(0, 48)
    .replace(/^_+|_+$/g, "");
  return !first || /^[a-z]/.test(plain) ? plain : [first, plain].filter(Boolean).join("_");
}

/** `name`, numbered if it is taken. */
export function freeName(name, taken) {
  if (!taken.has(name)) return name;
  const base = name.replace(/_\d+$/, "").slice(0, 58);
  for (let number = 2; ; number++) if (!taken.has(`${base}_${number}`)) return `${base}_${number}`;
}

/** A copy of `root` with new ids, and with names and roles that are not in the sets `names` and `roles`, to which they
 *  are added. A name is numbered, a role is left out. */
export function fresh(root, { names, roles }, auto = false) {
  const copy = { ...root, id: `n${++lastId}` };
  if (root.kind === "field") {
    const claim = (name) => {
      const free = freeName(name, names);
      names.add(free);
      return free;
    };
    copy.name = claim(root.name);
    copy.auto = root.auto || auto;
    if (root.ask !== null) copy.ask = claim(root.ask);
    copy.role = roles.has(root.role) ? null : root.role;
    if (copy.role !== null) roles.add(copy.role);
  }
  copy.children = root.children.map((child) => fresh(child, { names, roles }));
  return copy;
}
