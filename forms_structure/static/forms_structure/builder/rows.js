/**
 * The tree on the left: a view per node, made once and kept. A render goes through what changed and no further,
 * and puts existing elements in order, so the focus and half-typed words stay.
 */

import { button, h, icon, newId, spoken } from "./dom.js";
import { ChoiceEditor, errorMark, FieldEditor, SectionEditor } from "./editor.js";
import { gettext, ngettext, quoted } from "./texts.js";

export const SYMBOLS = new Map(
  Object.entries({
    text: "short_text",
    textarea: "notes",
    select: "arrow_drop_down_circle",
    "radio-group": "radio_button_checked",
    "checkbox-group": "checklist",
    checkbox: "check_box",
    range: "translate",
    email: "mail",
    tel: "call",
    date: "event",
    file: "attach_file",
  }),
);
const CHOICES_SHOWN = 100;
const SECTION_TOOLS = {
  up: gettext("Move section up"),
  down: gettext("Move section down"),
  move: gettext("Move to…"),
  duplicate: gettext("Duplicate section"),
  delete: gettext("Delete section"),
};
const FIELD_TOOLS = {
  up: gettext("Move field up"),
  down: gettext("Move field down"),
  move: gettext("Move to…"),
  duplicate: gettext("Duplicate field"),
  delete: gettext("Delete field"),
};

export class Tree {
  constructor(app) {
    Object.assign(this, { app, views: new Map(), isDragging: false, all: false });
    this.list = h("ol", { class: "builder-sections", "data-parent": app.form.id, onkeydown: (event) => this.key(event) });
    this.sortable(this.list, "sections");
  }

  /** Render the form. `all`: also if the selection, the errors or the open sections changed. */
  render({ all = false } = {}) {
    this.all ||= all;
    if (this.isDragging) return; // the end of it renders
    const focused = document.activeElement;
    this.fill(this.list, this.app.form.children, SectionView);
    this.all = false;
    for (const [id, view] of this.views) if (!view.element.isConnected) this.views.delete(id);
    // A moved element loses the focus.
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
  }

  /** Make the elements in `list` those of `nodes`, and paint them when all are in place: painting may fetch elements
   *  from this list for one further in. What is taken out may come back further on in the same render. */
  fill(list, nodes, View, owner = null) {
    const views = nodes.map((node) => {
      if (!this.views.has(node.id)) this.views.set(node.id, new View(this, node));
      return this.views.get(node.id);
    });
    let next = list.firstElementChild;
    for (const { element } of views) {
      if (element === next) next = next.nextElementSibling;
      else list.insertBefore(element, next);
    }
    while (next) {
      const gone = next;
      next = next.nextElementSibling;
      gone.remove();
    }
    nodes.forEach((node, index) => {
      const view = views[index];
      view.owner = owner;
      if (this.all || view.node !== node) view.paint((view.node = node));
    });
  }

  /** The part of the row of `id` with this name: "row", "label", "up" ... */
  part(id, name) {
    const parts = this.views.get(id)?.element.querySelectorAll(`[data-part="${name}"]`) ?? [];
    return [...parts].find((each) => each.closest("[data-id]").dataset.id === id && each.offsetParent);
  }

  focus(id, name) {
    const part = this.part(id, name) ?? this.part(id, "row") ?? this.part(id, "label");
    part?.focus();
    if (part?.select && name === "label") part.setSelectionRange(part.value.length, part.value.length);
    part?.scrollIntoView({ block: "nearest" });
  }

  /** Scroll the row of `id` and its editor into view, or only the row if both do not fit. */
  scrollTo(id) {
    const { element, head, editor } = this.views.get(id);
    (editor?.foot ?? editor?.top ?? element).scrollIntoView({ block: "nearest" });
    head.scrollIntoView({ block: "nearest" });
  }

  /** Show all options of the field `id` if `choiceId` is hidden. */
  showAllOf(id, choiceId) {
    if (this.views.has(choiceId)) return;
    this.views.get(id).showsAll = true;
    this.render({ all: true });
  }

  key(event) {
    if (!event.target.matches("[data-part=row]") || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    const by = event.key === "ArrowUp" ? -1 : 1;
    if (event.altKey) {
      if (this.app.canChange) this.app.moveBy(event.target.closest("[data-id]").dataset.id, by);
    } else {
      const rows = [...this.list.querySelectorAll("[data-part=row]")];
      rows[rows.indexOf(event.target) + by]?.focus();
    }
  }

  /** Make the items of `list` draggable. A drop restores the page and changes the form, which is the only source of
   *  the order. */
  sortable(list, name) {
    if (!this.app.canChange || !window.Sortable) return;
    window.Sortable.create(list, {
      group: {
        name,
        put: (to, from, item) => from.options.group.name === name && this.app.mayHold(to.el.dataset.parent, item.dataset.id),
      },
      handle: ".builder-handle",
      animation: 150,
      forceFallback: true, // the browser's own dragging shows no place to drop and knows no touch
      fallbackOnBody: true,
      fallbackTolerance: 3,
      swapThreshold: 0.65,
      emptyInsertThreshold: 8,
      scrollSensitivity: 50,
      scrollSpeed: 14,
      onStart: () => {
        this.isDragging = true;
        this.app.root.classList.add("is-dragging");
      },
      onEnd: ({ item, from, to, oldIndex, newDraggableIndex }) => {
        item.remove();
        from.insertBefore(item, from.children[oldIndex] ?? null);
        this.isDragging = false;
        this.app.root.classList.remove("is-dragging");
        this.app.moveTo(item.dataset.id, to.dataset.parent, newDraggableIndex);
        this.render();
      },
    });
  }
}

class NodeView {
  constructor(tree, { id, kind }, children) {
    Object.assign(this, { tree, app: tree.app, id, drawn: "" });
    this.head = h("div", { class: "builder-row" });
    this.element = h("li", { class: `builder-node is-${kind}`, "data-id": id }, this.head, children);
  }

  get isSelected() {
    return this.app.state.selected === this.id;
  }

  handle() {
    return (
      this.app.canChange &&
      h("span", { class: "builder-handle", "aria-hidden": "true", title: gettext("Drag to move") }, icon("drag_indicator"))
    );
  }

  /** Replace the row if its `facts` changed. */
  draw(facts, make) {
    const drawn = JSON.stringify(facts);
    if (drawn === this.drawn) return;
    const part = this.head.contains(document.activeElement) && document.activeElement.dataset.part;
    this.drawn = drawn;
    this.head.replaceChildren(...make().filter(Boolean));
    if (part) this.head.querySelector(`[data-part="${part}"]`)?.focus({ preventScroll: true });
  }

  row(content) {
    const select = () => this.app.toggle(this.id);
    return h(
      "button",
      {
        type: "button",
        class: "builder-row-main",
        "data-part": "row",
        "aria-expanded": String(this.isSelected),
        "aria-keyshortcuts": this.app.canChange && "Alt+ArrowUp Alt+ArrowDown",
        onclick: select,
      },
      content,
    );
  }

  tools(words) {
    if (!this.isSelected || !this.app.canChange) return null;
    const { app, id } = this;
    const short = (symbol, part, call) =>
      button(symbol, words[part], call, { isShort: true, kind: "quiet", "data-part": part });
    return h(
      "span",
      { class: "builder-tools" },
      short("arrow_upward", "up", () => app.moveBy(id, -1, "up")),
      short("arrow_downward", "down", () => app.moveBy(id, 1, "down")),
      short("drive_file_move", "move", () => app.askWhere(id)),
      short("content_copy", "duplicate", () => app.duplicate(id)),
      short("delete", "delete", () => app.delete(id)),
    );
  }

  /** The editor, if the node is selected. */
  edit(Editor, node) {
    const shape = this.isSelected ? (Editor.shape?.(node) ?? "one") : "";
    if (shape !== (this.shape ?? "")) {
      const part = this.element.contains(document.activeElement) && document.activeElement.dataset.part;
      this.shape = shape;
      this.editor?.top.remove();
      this.editor?.foot?.remove();
      this.editor = shape ? new Editor(this.app, node) : null;
      if (this.editor) this.head.after(this.editor.top);
      if (this.editor?.foot) this.element.append(this.editor.foot);
      if (this.editor && part) this.tree.focus(this.id, part);
    }
    this.editor?.show(node);
    this.element.classList.toggle("is-selected", this.isSelected);
  }

  /** The button to add a field, or the choice of types. */
  offer(slot, words, spokenWords) {
    const isOpen = this.app.ui.adding === this.id;
    const drawn = `${isOpen}:${words}:${spokenWords}`;
    if (slot.dataset.drawn === drawn) return;
    slot.dataset.drawn = drawn;
    const open = () => this.app.offerTypes(isOpen ? null : this.id);
    const opener = button("add", words, open, {
      kind: "quiet",
      "data-part": "add",
      "aria-expanded": String(isOpen),
      "aria-label": spokenWords,
    });
    slot.replaceChildren(opener, isOpen ? this.types() : "");
  }

  types() {
    const choose = (type) => () => this.app.addField(this.id, type);
    return h(
      "div",
      {
        class: "builder-types",
        role: "group",
        "aria-label": gettext("Type of the new field"),
        onkeydown: (event) => {
          if (event.key === "Escape") this.app.offerTypes(null);
        },
      },
      [...this.app.kinds].map(([type, { label }]) =>
        button(SYMBOLS.get(type), label, choose(type), { kind: "type", "data-type": type }),
      ),
    );
  }
}

class SectionView extends NodeView {
  constructor(tree, node) {
    const empty = gettext("No fields yet");
    const fields = h("ul", { class: "builder-fields", id: newId(), "data-parent": node.id, "data-empty": empty });
    const adder = h("div", { class: "builder-adder" });
    super(tree, node, [fields, adder]);
    Object.assign(this, { fields, adder });
    tree.sortable(fields, "fields");
  }

  paint(node) {
    const { app } = this;
    const isOpen = !app.ui.closed.has(this.id);
    const errors = app.faultsAt(node).length + (isOpen ? 0 : app.faultsBelow(node));
    const title = node.title || gettext("Section without a title");
    const count = node.children.length;
    const fold = gettext("Fields of %(title)s", { title });
    this.draw([node.title, count, isOpen, errors, this.isSelected], () => [
      this.handle(),
      button(isOpen ? "expand_more" : "chevron_right", fold, () => app.fold(this.id, isOpen), {
        isShort: true,
        kind: "quiet",
        "aria-expanded": String(isOpen),
        "aria-controls": this.fields.id,
        "data-part": "fold",
      }),
      this.row([
        h("span", { class: `builder-name ${node.title ? "" : "is-missing"}` }, title),
        h("span", { class: "builder-meta" }, ngettext("%(count)s field", "%(count)s fields", count)),
        errorMark(errors),
      ]),
      this.tools(SECTION_TOOLS),
    ]);
    this.edit(SectionEditor, node);
    this.tree.fill(this.fields, isOpen ? node.children : [], FieldView);
    this.element.classList.toggle("is-open", isOpen);
    this.adder.hidden = !isOpen || !app.canChange;
    if (isOpen && app.canChange) this.offer(this.adder, gettext("Field"), gettext("Add a field to %(title)s", { title }));
  }
}

class FieldView extends NodeView {
  constructor(tree, node) {
    const choices = h("ul", { class: "builder-choices", "data-parent": node.id });
    super(tree, node, [choices]);
    this.choices = choices;
    this.showsAll = false;
    tree.sortable(choices, "choices");
  }

  paint(node) {
    const { app } = this;
    const kind = app.kinds.get(node.type);
    const width = node.css === "col-12" ? "" : ` · ${app.widths.find(({ value }) => value === node.css)?.label}`;
    const words = kind.has_options
      ? node.children
          .slice(0, 8)
          .map(({ label }) => label)
          .filter(Boolean)
          .join(", ")
      : "";
    const role = app.roles.get(node.role)?.label;
    const { isSelected } = this;
    const errors = app.faultsAt(node).length + node.children.reduce((sum, choice) => sum + app.faultsAt(choice).length, 0);
    this.draw([node.label, node.type, node.required, role, width, words, errors, isSelected], () => [
      this.handle(),
      this.row([
        h("span", { class: "builder-symbol", title: kind.label }, icon(SYMBOLS.get(node.type))),
        h(
          "span",
          { class: `builder-name ${node.label ? "" : "is-missing"}` },
          node.label || gettext("No label yet"),
          node.required &&
            h(
              "span",
              { class: "builder-required", title: gettext("Required") },
              "\u00a0*",
              spoken(gettext("required")),
            ),
        ),
        !isSelected && h("span", { class: "builder-meta" }, `${kind.label}${width}`),
        !isSelected && role && h("span", { class: "builder-meta", title: role }, icon("badge"), spoken(role)),
        errorMark(errors),
        !isSelected && words && h("span", { class: "builder-words" }, words),
      ]),
      this.tools(FIELD_TOOLS),
    ]);
    this.edit(FieldEditor, node);
    const limit = this.showsAll ? Infinity : CHOICES_SHOWN;
    const shown = node.children.filter(
      (choice, index) => choice.children.length || (isSelected && index < limit) || app.ui.adding === choice.id,
    );
    this.tree.fill(this.choices, shown, ChoiceView, node);
    this.more?.remove();
    if (isSelected && node.children.length > limit) {
      const all = gettext("Show all %(count)s options", { count: node.children.length });
      this.more = button("unfold_more", all, () => app.tree.showAllOf(this.id), { kind: "quiet" });
      this.choices.after(this.more);
    }
  }
}

class ChoiceView extends NodeView {
  constructor(tree, node) {
    const fields = h("ul", { class: "builder-fields", "data-parent": node.id });
    const adder = h("div", { class: "builder-adder" });
    super(tree, node, [fields, adder]);
    Object.assign(this, { fields, adder });
    tree.sortable(fields, "fields");
  }

  paint(node) {
    const { app, owner } = this;
    const isOpen = app.state.selected === owner.id;
    const hasOptions = app.kinds.get(owner.type).has_options;
    const words = app.wordsOf(owner, node);
    const mode = isOpen ? (hasOptions ? "option" : "fixed") : "condition";
    const isBare = mode === "fixed" && !node.children.length && app.ui.adding !== this.id;
    this.element.classList.toggle("is-bare", isBare);
    if (mode === "option") {
      this.draw([mode], () => this.option(node));
      this.editor.show(node, app.ui.details);
    } else {
      this.editor = null;
      this.draw([mode, words], () => [
        mode === "fixed"
          ? h("span", { class: "builder-level" }, words)
          : h(
              "span",
              { class: "builder-when" },
              icon("subdirectory_arrow_right"),
              owner.type === "checkbox"
                ? gettext("When the box is ticked")
                : gettext("When %(choice)s", { choice: quoted(words) }),
            ),
      ]);
    }
    this.tree.fill(this.fields, node.children, FieldView);
    const mayAdd = app.canChange && (isOpen || app.ui.adding === this.id) && app.mayAddTo(this.id);
    this.adder.hidden = !mayAdd;
    if (!mayAdd) return;
    const spokenWords = gettext("Show a field when chosen: %(choice)s", { choice: words });
    this.offer(this.adder, gettext("Show a field when chosen"), spokenWords);
  }

  option(node) {
    const { app, id } = this;
    this.editor = new ChoiceEditor(app, node);
    const short = (symbol, words, part, call) =>
      button(symbol, words, call, { isShort: true, kind: "quiet", "data-part": part });
    const tools =
      app.canChange &&
      h(
        "span",
        { class: "builder-tools" },
        short("arrow_upward", gettext("Move option up"), "up", () => app.moveBy(id, -1, "up")),
        short("arrow_downward", gettext("Move option down"), "down", () => app.moveBy(id, 1, "down")),
        short("close", gettext("Delete option"), "delete", () => app.delete(id)),
      );
    return [
      this.handle(),
      h("span", { class: "builder-option" }, this.editor.label, this.editor.value),
      tools,
      ...this.editor.errors,
    ];
  }
}
