/** The commands that change the form: add, label, move, duplicate, delete. */

import * as dialogs from "./dialogs.js";
import { gettext, ngettext, quoted } from "./texts.js";
import * as tree from "./tree.js";
import { Validation } from "./validation.js";

export class Editing extends Validation {
  // --- names and rules, for the rows ---

  levels() {
    return this.language.levels;
  }

  /** The label of a choice of `owner`. */
  wordsOf(owner, choice) {
    if (owner.type === "range") return this.levels()[choice.value] ?? choice.value;
    return owner.type === "checkbox" ? gettext("the box is ticked") : choice.label || gettext("No label yet");
  }

  nameOf(node) {
    if (node.kind === "section") return node.title || gettext("Section without a title");
    return node.label || (node.kind === "choice" ? gettext("Option") : gettext("Field without a label"));
  }

  mayHold(parentId, id) {
    return tree.mayHold(this.form, parentId, id, this.data.depth_max);
  }

  /** Whether the field `id` is visible only if another one has a certain value. */
  isConditional(id) {
    return tree.pathTo(this.form, id).some(({ kind }) => kind === "choice");
  }

  mayAddTo(id) {
    return tree.pathTo(this.form, id).filter(({ kind }) => kind === "choice").length <= this.data.depth_max;
  }

  // --- changes ---

  edit(id, values, run = null) {
    if (this.canChange) this.state.change(tree.update(this.form, id, values), { run });
  }

  taken(exceptId = null) {
    const names = tree.fieldsIn(this.form).flatMap(({ id, name, ask }) => [id === exceptId ? null : name, ask]);
    return new Set([
      ...names,
      ...(this.foreign ? tree.namesIn(this.foreign) : []),
      ...this.language.consent_section.fields.map(({ name }) => name),
    ]);
  }

  /** The roles that fields have, except the field `exceptId`. */
  takenRoles(exceptId = null) {
    const own = tree.fieldsIn(this.form).filter(({ id }) => id !== exceptId);
    return new Set([...own.flatMap(({ role }) => role ?? []), ...(this.foreign ? tree.rolesIn(this.foreign) : [])]);
  }

  /** Change the label. A name that was not typed follows the label. */
  label(id, label) {
    const path = tree.pathTo(this.form, id);
    const { kind, auto, name } = path.at(-1);
    const values = { label };
    if (kind === "field" && auto && !this.frozen.has(name))
      values.name = tree.freeName(tree.slug(label, "field"), this.taken(id));
    if (kind === "choice" && auto) {
      const others = path
        .at(-2)
        .children.filter((each) => each.id !== id)
        .map(({ value }) => value);
      values.value = tree.freeName(tree.slug(label) || "option", new Set(others));
    }
    this.edit(id, values, `label:${id}`);
  }

  addSections(sections = null) {
    const taken = { names: this.taken(), roles: this.takenRoles() };
    const made = sections
      ? sections.map((section) => tree.fresh(tree.readSection(section, this.kinds), taken))
      : [tree.makeSection()];
    this.state.change(tree.insert(this.form, this.form.id, this.form.children.length, ...made), { select: made[0].id });
    this.goTo(made[0].id, sections ? "row" : "label");
    this.notes.say(gettext("Added %(what)s", { what: made.map((section) => this.nameOf(section)).join(", ") }));
  }

  addField(parentId, type) {
    const made = tree.makeField(type, this.kinds);
    const field = { ...made, ...this.usualRole(parentId, type), name: tree.freeName("field", this.taken()) };
    this.state.change(tree.insert(this.form, parentId, this.node(parentId).children.length, field), { select: field.id });
    this.goTo(field.id, "label");
    this.notes.say(gettext("Added %(what)s", { what: this.kinds.get(type).label }));
  }

  /** The first e-mail field is the applicant's address, which is required. */
  usualRole(parentId, type) {
    const isUsual = type === "email" && this.node(parentId).kind === "section" && !this.takenRoles().has("email");
    return isUsual ? { role: "email", required: true } : {};
  }

  async retype(id, type) {
    const { goes, field } = tree.retype(this.node(id), type, this.kinds);
    const isSure = !goes.length || (await dialogs.confirmType(this, this.kinds.get(type).label, goes));
    if (isSure) this.state.change(tree.replace(this.form, id, () => field));
    else this.tree.render({ all: true });
    this.tree.focus(id, "type");
  }

  askForLanguage(id, isAsking) {
    const { name } = this.node(id);
    this.edit(id, { ask: isAsking ? tree.freeName(`${name}_name`, this.taken()) : null });
  }

  // options

  addChoices(fieldId, labels = [""], index = this.node(fieldId).children.length, run = null) {
    const taken = new Set(this.node(fieldId).children.map(({ value }) => value));
    const made = labels.map((label) => {
      const value = tree.freeName(tree.slug(label) || "option", taken);
      taken.add(value);
      return tree.makeChoice(value, label, true);
    });
    this.state.change(tree.insert(this.form, fieldId, index, ...made), { run });
    this.tree.showAllOf(fieldId, made.at(-1).id);
    this.tree.focus(made.at(-1).id, "label");
  }

  /** Enter in an option adds an option below. Enter in an empty last option ends the list. */
  enterChoice(id, isEmpty) {
    const [choice, field] = tree.pathTo(this.form, id).reverse();
    const index = field.children.indexOf(choice) + 1;
    const isLast = index === field.children.length;
    if (!isEmpty) {
      const next = field.children[index];
      if (next && !next.label) this.tree.focus(next.id, "label");
      else this.addChoices(field.id, [""], index);
    } else if (isLast && field.children.length > 1 && !choice.children.length) {
      this.state.change(tree.remove(this.form, id));
      this.tree.focus(field.id, "add");
    }
  }

  leaveChoice(id) {
    const [choice, field] = tree.pathTo(this.form, id).reverse();
    if (field.children.length < 2 || choice.children.length) return;
    const before = field.children[Math.max(field.children.indexOf(choice) - 1, 0)];
    this.state.change(tree.remove(this.form, id));
    this.tree.focus(before.id === id ? field.children[1].id : before.id, "label");
  }

  pasteChoices(id, [first, ...rest]) {
    const [choice, field] = tree.pathTo(this.form, id).reverse();
    if (choice.label) rest.unshift(first);
    else this.label(id, first);
    this.addChoices(field.id, rest, field.children.indexOf(choice) + 1, `label:${id}`);
    const count = rest.length + (choice.label ? 0 : 1);
    this.notes.say(ngettext("Added %(count)s option", "Added %(count)s options", count));
  }

  // moving, copying, deleting

  moveBy(id, by, part = "row") {
    const to = tree.step(this.form, id, by);
    if (to) this.moveTo(id, to.parentId, to.index);
    else {
      const words = { what: this.nameOf(this.node(id)) };
      const isFirst = by < 0;
      this.notes.say(
        isFirst ? gettext("%(what)s is already first", words) : gettext("%(what)s is already last", words),
      );
    }
    this.tree.focus(id, part);
  }

  moveTo(id, parentId, index) {
    const parent = tree.pathTo(this.form, id).at(-2);
    const from = parent.children.findIndex((child) => child.id === id);
    if (!this.mayHold(parentId, id) || (parent.id === parentId && from === index)) return;
    this.state.change(tree.move(this.form, id, parentId, index));
    this.reveal(id);
    this.tree.render({ all: true });
    const [moved, place, owner] = tree.pathTo(this.form, id).reverse();
    const where =
      place.kind === "choice" ? `${this.nameOf(owner)}, ${quoted(this.wordsOf(owner, place))}` : this.nameOf(place);
    const words = { what: this.nameOf(moved), at: place.children.indexOf(moved) + 1, count: place.children.length };
    this.notes.say(
      place.kind === "form"
        ? gettext("Moved %(what)s, %(at)s of %(count)s", words)
        : gettext("Moved %(what)s to %(place)s, %(at)s of %(count)s", { ...words, place: where }),
    );
  }

  async askWhere(id) {
    const to = await dialogs.askWhere(this, this.node(id));
    if (to) this.moveTo(id, to.parentId, to.index);
    this.tree.focus(id, "move");
  }

  duplicate(id) {
    const [node, parent] = tree.pathTo(this.form, id).reverse();
    const copy = tree.fresh(node, { names: this.taken(), roles: this.takenRoles() }, true);
    this.state.change(tree.insert(this.form, parent.id, parent.children.indexOf(node) + 1, copy), { select: copy.id });
    this.goTo(copy.id, "row");
    this.notes.say(gettext("Duplicated %(what)s", { what: this.nameOf(node) }));
  }

  async delete(id) {
    const [node, parent] = tree.pathTo(this.form, id).reverse();
    const hanging = tree.fieldsIn(node);
    if (node.kind === "choice" && hanging.length && !(await dialogs.confirmOption(this, node, hanging))) {
      return this.tree.focus(id, "delete");
    }
    const index = parent.children.indexOf(node);
    const next = parent.children[index + 1] ?? parent.children[index - 1] ?? (parent.kind === "form" ? null : parent);
    const selected = node.kind === "choice" ? parent.id : null;
    this.state.change(tree.remove(this.form, id), { select: selected });
    this.notes.toast(gettext("Deleted %(what)s.", { what: quoted(this.nameOf(node)) }), () => {
      this.state.undo();
      this.tree.focus(id, "row");
    });
    if (next) return this.tree.focus(next.id, node.kind === "choice" ? "label" : "row");
    return this.root.querySelector("[data-part=add-section]").focus();
  }

  async borrow() {
    const sections = await dialogs.askForSections(this);
    if (sections.length) this.addSections(sections);
  }
}
