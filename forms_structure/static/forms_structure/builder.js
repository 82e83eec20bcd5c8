/**
 * The form builder: the tree, the preview and the keyboard shortcuts of one application form. Its commands are in
 * builder/editing.js, builder/validation.js and builder/saving.js, its endpoints in forms_structure/admin/builder.py.
 */

import { button, debounced, h, icon, Notes } from "./builder/dom.js";
import { about, adders, Bar, foreignSections } from "./builder/page.js";
import { Editing } from "./builder/editing.js";
import { Preview } from "./builder/preview.js";
import { Tree } from "./builder/rows.js";
import { State } from "./builder/state.js";
import { gettext } from "./builder/texts.js";
import * as tree from "./builder/tree.js";

const OPEN_SECTIONS_MAX = 15; // a longer form starts with only the first one open

class Builder extends Editing {
  constructor(root, data) {
    super();
    Object.assign(this, { root, data, schema: null, questions: 0 });
    Object.assign(this, { isSaving: false, isLeaving: false });
    this.wasWarned = false; // that other vacancies use the form
    this.wasTried = false; // to save with errors
    this.faults = new Map(); // messages by key, by node id
    this.kinds = new Map(data.types.map((type) => [type.value, type]));
    this.roles = new Map(data.roles.map((role) => [role.value, role]));
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
    this.restore();
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
    this.warning = h("p", { class: "builder-warning", role: "status", hidden: true });
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
        this.warning,
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
    this.keepSoon = debounced(() => this.keep(), 500);
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
      this.keep();
      if (this.isDirty() && !this.isLeaving) event.preventDefault();
    });
    addEventListener("offline", () => this.notes.toast(gettext("You are offline. Your work is still here.")));
    addEventListener("online", () => this.notes.toast(gettext("You are online again.")));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    const isTyping = event.target.matches("input:not([type=checkbox], [type=radio]), textarea, [contenteditable=true]");
    const isRedo = key === "y" || (key === "z" && event.shiftKey);
    if (key !== "s" && (isTyping || !["y", "z"].includes(key))) return; // text inputs have their own undo
    event.preventDefault();
    if (key === "s") this.save();
    else if (isRedo) this.state.redo();
    else this.state.undo();
  }

  changed(form, before) {
    this.ui.adding = null;
    this.schema = null;
    this.notes.clear(); // its undo is no longer the last step
    const isOther = form.language !== before.language;
    this.tree.render({ all: isOther });
    if (isOther || form.children.length !== before.children.length) this.showAround();
    this.bar.show();
    this.keepSoon();
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

  /** Open the section of the node `id`. */
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

  /** Select the node `id` and focus a part of it, for example "label". */
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

  /** Select the field that was clicked in the preview. The focus stays in the preview. */
  pick(name) {
    const field = tree.fieldsIn(this.form).find((each) => each.name === name || each.ask === name);
    if (!field || field.id === this.state.selected) return;
    this.state.select(field.id);
    this.tree.scrollTo(field.id);
  }
}

/** Return the answers that make the last field of `path` visible. */
function answersThatShow(path) {
  const answers = path.flatMap((node, index) => {
    const owner = path[index - 1];
    return node.kind === "choice" ? [[owner.name, owner.type === "checkbox-group" ? [node.value] : node.value]] : [];
  });
  return Object.fromEntries(answers);
}

new Builder(document.querySelector("#builder"), JSON.parse(document.querySelector("#builder-data").textContent));
