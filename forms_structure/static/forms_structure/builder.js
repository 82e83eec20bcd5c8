/**
 * The form builder: the tree and the preview of one application form, and what recruiters do to it.
 * What the server says and wants to hear is in forms_structure/admin/form.py.
 */

import * as dialogs from "./builder/dialogs.js";
import { button, debounced, h, icon, Notes } from "./builder/dom.js";
import { about, adders, Bar, foreignSections } from "./builder/page.js";
import { Preview } from "./builder/preview.js";
import { Tree } from "./builder/rows.js";
import { Failure, post } from "./builder/server.js";
import { State } from "./builder/state.js";
import { gettext, ngettext, quoted } from "./builder/texts.js";
import * as tree from "./builder/tree.js";

const OPEN_SECTIONS_MAX = 15; // of a longer form only the first one is open at first

class Builder {
  constructor(root, data) {
    Object.assign(this, { root, data, schema: null, questions: 0 });
    Object.assign(this, { isSaving: false, isLeaving: false });
    this.wasWarned = false; // that others use the form
    this.wasTried = false; // to save what has faults
    this.faults = new Map(); // sentences by key, by id of the node
    this.kinds = new Map(data.types.map((type) => [type.value, type]));
    this.widths = data.widths;
    this.canChange = data.can_change;
    this.frozen = new Set(data.frozen);
    this.foreign = data.extends ? tree.readForm(data.extends, this.kinds) : null;
    const form = tree.readForm(data.form, this.kinds);
    this.ui = { closed: new Set(), adding: null, details: false };
    if (form.children.length > OPEN_SECTIONS_MAX) form.children.slice(1).forEach(({ id }) => this.ui.closed.add(id));
    this.state = new State(form, { onChange: (...forms) => this.changed(...forms), onSelect: () => this.selected() });
    this.remember(form, data.form.revision);
    this.build();
    this.listen();
  }

  get form() {
    return this.state.form;
  }
  get language() {
    return this.data.languages[this.form.language] ?? Object.values(this.data.languages)[0];
  }
  node(id) {
    return tree.find(this.form, id);
  }

  // --- the page ---

  build() {
    this.notes = new Notes(this.root);
    this.bar = new Bar(this);
    this.tree = new Tree(this);
    this.preview = new Preview({
      ...this.root.dataset,
      onPick: (name) => this.pick(name),
      onKey: (event) => this.key(event),
    });
    this.about = h("div", { class: "builder-about" }, about(this));
    this.start = h("div");
    this.consent = h(
      "p",
      { class: "builder-consent" },
      icon("verified_user"),
      gettext("The system adds consent to the privacy statement at the end."),
    );
    const foldAll = button("unfold_less", gettext("Collapse all"), () => this.foldAll(true), { kind: "quiet" });
    const openAll = button("unfold_more", gettext("Expand all"), () => this.foldAll(false), { kind: "quiet" });
    const tabs = [
      ["build", gettext("Build")],
      ["preview", gettext("Preview")],
    ].map(([name, words]) =>
      button(
        "",
        words,
        () => {
          this.columns.dataset.shown = name;
          tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab.textContent === words)));
        },
        { kind: "segment", "aria-pressed": String(name === "build") },
      ),
    );
    this.columns = h(
      "div",
      { class: "builder-columns", "data-shown": "build" },
      h(
        "section",
        { class: "builder-tree", "aria-label": gettext("Sections and fields") },
        h("div", { class: "builder-fold" }, foldAll, openAll),
        this.data.extends && foreignSections(this.data.extends),
        this.tree.list,
        this.consent,
        this.start,
      ),
      this.preview.element,
    );
    const switcher = h(
      "div",
      { class: "builder-segments builder-switch", role: "group", "aria-label": gettext("Show") },
      tabs,
    );
    this.root.prepend(this.bar.element, this.about, switcher, this.columns);
    this.showPreview = debounced(() => {
      this.refreshPreview(answersThatShow(tree.pathTo(this.form, this.state.selected)));
      this.markPreview({ scroll: true });
    }, 150);
    this.askSoon = debounced(() => {
      if ("checking" in this.root.dataset) this.askForFaults();
    }, 600);
    this.tree.render({ all: true });
    this.showAround();
    this.refreshPreview();
    this.check({ now: true });
  }

  listen() {
    addEventListener("beforeunload", (event) => {
      if (this.isDirty() && !this.isLeaving) event.preventDefault();
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    const isTyping = event.target.matches("input:not([type=checkbox], [type=radio]), textarea, [contenteditable=true]");
    const isRedo = key === "y" || (key === "z" && event.shiftKey);
    if (key !== "s" && (isTyping || !["y", "z"].includes(key))) return; // text inputs have an undo of their own
    event.preventDefault();
    if (key === "s") this.save();
    else if (isRedo) this.state.redo();
    else this.state.undo();
  }

  changed(form, before) {
    this.ui.adding = null;
    this.schema = null;
    this.notes.clear(); // what it offers to undo is not the last step any more
    const isOther = form.language !== before.language;
    this.tree.render({ all: isOther });
    if (isOther || form.children.length !== before.children.length) this.showAround();
    this.bar.show();
    this.showPreview();
    this.check();
  }

  selected() {
    this.reveal(this.state.selected);
    this.tree.render({ all: true });
    this.showFaults();
    this.markPreview({ scroll: true });
  }

  showAround() {
    this.bar.show();
    this.start.replaceChildren(this.canChange ? adders(this) : "");
    this.root.querySelector(".builder-fold").hidden = this.form.children.length < 2;
    this.consent.hidden = !this.form.children.length;
  }

  foldAll(isClosed) {
    this.ui.closed = new Set(isClosed ? this.form.children.map(({ id }) => id) : []);
    this.tree.render({ all: true });
  }

  fold(id, isClosed) {
    if (isClosed) this.ui.closed.add(id);
    else this.ui.closed.delete(id);
    this.tree.render({ all: true });
  }

  /** Open what the node `id` is in. */
  reveal(id) {
    const [, section, inside] = tree.pathTo(this.form, id);
    if (inside) this.ui.closed.delete(section.id);
  }

  toggle(id) {
    this.ui.adding = null;
    const isOpen = this.state.selected === id;
    this.state.select(isOpen ? null : id);
    this.tree.focus(id, "row");
    if (!isOpen) this.tree.scrollTo(id);
  }

  /** Select the node `id` and go to a part of it, "label" for instance. */
  goTo(id, part) {
    this.state.select(id);
    this.reveal(id);
    this.tree.render({ all: true });
    this.tree.scrollTo(id);
    this.tree.focus(id, part);
  }

  showDetails(isOpen) {
    this.ui.details = isOpen;
    this.tree.render({ all: true });
  }

  offerTypes(id) {
    const closed = this.ui.adding;
    this.ui.adding = id;
    this.tree.render({ all: true });
    if (id) this.root.querySelector(".builder-types button").focus();
    else this.tree.focus(closed, "add");
  }

  // --- the preview ---

  structure(form = this.form) {
    return tree.writeForm(form, this.kinds);
  }

  refreshPreview(values = {}) {
    const structure = [...(this.data.extends?.structure ?? []), ...this.structure()];
    const words = (field) => (field.label ? field : { ...field, label: gettext("No label yet") });
    const named = structure.map((section) => ({ ...section, fields: section.fields.map(words) }));
    const { levels, consent_section: consent } = this.language;
    const choices = Object.entries(levels).map(([value, label]) => ({ value, label }));
    const sections = tree.served(named, { levels: choices, consent });
    this.preview.update(sections, { language: this.form.language, schema: this.schema, values });
  }

  markPreview(how) {
    const { selected } = this.state;
    const path = selected ? tree.pathTo(this.form, selected) : [];
    const field = path.findLast(({ kind }) => kind === "field");
    if (!path.length) return this.preview.mark(null);
    if (!field) {
      return this.preview.mark(
        { section: (this.data.extends?.structure.length ?? 0) + this.form.children.indexOf(path.at(-1)) },
        how,
      );
    }
    if (this.preview.isHidden(field.name)) this.refreshPreview(answersThatShow(path));
    return this.preview.ready.then(() => this.preview.mark({ names: [field.name, field.ask] }, how));
  }

  /** Select what was clicked in the preview; the focus stays there. */
  pick(name) {
    const field = tree.fieldsIn(this.form).find((each) => each.name === name || each.ask === name);
    if (!field || field.id === this.state.selected) return;
    this.state.select(field.id);
    this.tree.scrollTo(field.id);
  }

  // --- what rows ask for ---

  levels() {
    return this.language.levels;
  }

  /** What a choice of `owner` is called. */
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

  /** Another label; a name that nobody chose follows it. */
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
    const taken = this.taken();
    const made = sections
      ? sections.map((section) => tree.fresh(tree.readSection(section, this.kinds), taken))
      : [tree.makeSection()];
    this.state.change(tree.insert(this.form, this.form.id, this.form.children.length, ...made), { select: made[0].id });
    this.goTo(made[0].id, sections ? "row" : "label");
    this.notes.say(gettext("Added %(what)s", { what: made.map((section) => this.nameOf(section)).join(", ") }));
  }

  addField(parentId, type) {
    const field = { ...tree.makeField(type, this.kinds), name: tree.freeName("field", this.taken()) };
    this.state.change(tree.insert(this.form, parentId, this.node(parentId).children.length, field), { select: field.id });
    this.goTo(field.id, "label");
    this.notes.say(gettext("Added %(what)s", { what: this.kinds.get(type).label }));
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

  /** Enter in an option: a new one below; in an empty one at the end: enough of them. */
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
    const copy = tree.fresh(node, this.taken(), true);
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

  // --- faults ---

  faultsAt(node) {
    const faults = [...(this.faults.get(node.id) ?? [])];
    // Nobody has got it wrong yet who is about to fill it in.
    const isNew = !this.wasTried && this.isAt(node.id);
    return isNew ? faults.filter(([key]) => node[key] !== "") : faults;
  }

  isAt(id) {
    const { selected } = this.state;
    return selected === id || Boolean(selected && this.node(selected)?.children.some((child) => child.id === id));
  }

  faultsBelow(node) {
    return [...tree.walk(node)].slice(1).reduce((sum, each) => sum + this.faultsAt(each).length, 0);
  }

  /** `faults` by path, about `form`. */
  setFaults(faults, form) {
    this.faults = new Map();
    for (const [path, text] of Object.entries(faults)) {
      const { id, key } = tree.locate(form, path);
      const said = text.replace(/sections\.\d+(\.\w+)*/g, (at) => {
        const there = tree.find(form, tree.locate(form, at).id);
        return there.kind === "form" ? gettext("the form") : quoted(this.nameOf(there));
      });
      this.faults.set(id, new Map(this.faults.get(id)).set(key, said));
    }
    this.tree.render({ all: true });
    this.showFaults();
  }

  showFaults() {
    const count = [...tree.walk(this.form)].reduce((sum, node) => sum + this.faultsAt(node).length, 0);
    this.bar.showFaults(this.faults, count);
  }

  /** Go to the next error after the selected row, from the end to the first one. */
  showNextError() {
    const all = [...tree.walk(this.form)];
    const wrong = all.filter((node) => node.kind !== "form" && this.faultsAt(node).length);
    if (!wrong.length) return this.bar.name.focus();
    const at = all.findIndex(({ id }) => id === this.state.selected);
    const next = wrong.find((node) => all.indexOf(node) > at && !this.isAt(node.id)) ?? wrong[0];
    const home = next.kind === "choice" ? tree.pathTo(this.form, next.id).at(-2) : next;
    this.goTo(home.id, "row");
    const input = [...this.root.querySelectorAll(".is-selected [aria-invalid=true]")].find(
      (each) => each.closest("[data-id]").dataset.id === next.id,
    );
    return input?.focus();
  }

  /** Ask for faults, when nothing changes for a moment or `now`; until there is an answer the page is marked. */
  check({ now = false } = {}) {
    this.questions += 1;
    this.root.dataset.checking = "";
    if (now) this.askForFaults();
    else this.askSoon();
  }

  /** Ask the server what is wrong so far and how to validate; silent while it cannot be asked. */
  async askForFaults() {
    const { form, questions } = this;
    const structure = this.structure(form);
    try {
      const { status, answer } = await post(this.data.urls.check, { structure, language: form.language });
      if (this.text(form) !== this.text(this.form)) return; // another question is on its way
      if (status === 200) {
        this.schema = answer.schema;
        this.refreshPreview();
      }
      const own = [...(this.faults.get(form.id) ?? [])].filter(([key]) => key === "name" || key === "language");
      this.setFaults({ ...Object.fromEntries(own), ...answer.faults }, form);
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
    } finally {
      if (questions === this.questions) delete this.root.dataset.checking;
    }
  }

  // --- saving ---

  remember(form, revision) {
    this.saved = { form, revision, text: this.text(form) };
  }

  text(form) {
    return JSON.stringify([form.name, form.language, this.structure(form)]);
  }

  isDirty() {
    return this.form !== this.saved.form && this.text(this.form) !== this.saved.text;
  }

  async save({ lost = [] } = {}) {
    if (!this.canChange || this.isSaving) return;
    if (!this.isDirty()) return this.notes.say(gettext("Nothing to save"));
    if (!(await this.mayChangeForAll())) return;
    const { form } = this;
    const { name, language } = form;
    const question = { structure: this.structure(form), revision: this.saved.revision, name, language, lost };
    this.isSaving = true;
    this.bar.show();
    const reply = await this.tell(() => post(this.data.urls.save, question));
    this.isSaving = false;
    this.bar.show();
    if (!reply) return;
    const { status, answer } = reply;
    if (status === 200) {
      this.takeOver(form, answer);
    } else if (answer.conflict) {
      if (await dialogs.explainConflict(this, answer.conflict)) await this.copy(this.data.user?.id);
    } else if (answer.lost) {
      if (await dialogs.confirmLoss(this, answer)) await this.save({ lost: answer.lost });
    } else {
      this.wasTried = true;
      this.setFaults(answer.faults, form);
      this.check({ now: true }); // where the name is wrong, the server did not look further
      const { length } = Object.keys(answer.faults);
      this.notes.say(ngettext("Not saved: %(count)s error", "Not saved: %(count)s errors", length));
      this.showNextErrorFromTop();
    }
  }

  showNextErrorFromTop() {
    this.state.select(null);
    this.showNextError();
  }

  /** The server's form as ours; what was typed while it answered stays. */
  takeOver(sent, { form, use, frozen }) {
    const adopted = tree.adopt(sent, tree.readForm(form, this.kinds));
    this.frozen = new Set(frozen);
    this.remember(adopted, form.revision);
    this.wasTried = false;
    if (this.form === sent) {
      this.state.adopt(adopted);
      if (this.text(adopted) !== this.text(sent)) this.changed(adopted, sent);
      if (!this.schema) this.check({ now: true });
    }
    this.data.use = use;
    this.about.replaceChildren(...about(this));
    this.setFaults({}, this.form);
    this.tree.render({ all: true });
    this.bar.show();
    this.notes.say(gettext("Saved, version %(revision)s", { revision: form.revision }));
  }

  /** Who changes a form that others use is told once. */
  async mayChangeForAll() {
    const { use, user } = this.data;
    const isOwn = !use.total || (use.total === 1 && use.some[0]?.url === user?.url);
    if (this.wasWarned || isOwn) return true;
    const answer = await dialogs.askForWhom(this);
    if (answer === "copy") await this.copy(user.id);
    this.wasWarned = answer === "all";
    return this.wasWarned;
  }

  /** Do what `question` asks of the server; what fails is said, and the answer is null. */
  async tell(question) {
    try {
      return await question();
    } catch (failure) {
      await dialogs.explainFailure(this, failure);
      return null;
    }
  }

  async derive(url, question) {
    const reply = await this.tell(() => post(url, question));
    if (reply?.status === 200) {
      this.isLeaving = true;
      location.assign(reply.answer.url);
    } else if (reply) {
      this.wasTried = true;
      this.setFaults(reply.answer.faults, this.form);
      this.showNextErrorFromTop();
    }
  }

  copy(user = null) {
    return this.derive(this.data.urls.copy, { structure: this.structure(), language: this.form.language, for: user });
  }

  async extend() {
    if (this.isDirty()) {
      if (await dialogs.confirmSaving(this)) await this.save();
      if (this.isDirty()) return;
    }
    await this.derive(this.data.urls.extend, { for: this.data.user.id });
  }
}

/** The answers that make the last field of `path` show. */
function answersThatShow(path) {
  const answers = path.flatMap((node, index) => {
    const owner = path[index - 1];
    return node.kind === "choice" ? [[owner.name, owner.type === "checkbox-group" ? [node.value] : node.value]] : [];
  });
  return Object.fromEntries(answers);
}

new Builder(document.querySelector("#builder"), JSON.parse(document.querySelector("#builder-data").textContent));
