/** The editor below a selected row: the inputs of a section or a field, with their errors. */

import { button, h, newId } from "./dom.js";
import { richText } from "./richtext.js";
import { gettext, ngettext } from "./texts.js";

/** The inputs of one node. They call `app.edit`; `show` updates them with the node's values and errors. */
class Editor {
  constructor(app, id) {
    Object.assign(this, { app, id, controls: [] });
    this.rest = h("p", { class: "builder-error", hidden: true }); // errors of what has no input
  }

  edit(values, run) {
    this.app.edit(this.id, values, run && `${run}:${this.id}`);
  }

  /** Add a labelled `input`. `key` is its part of the server's paths, `show(node)` sets the value. */
  control(key, label, input, show, { hint = "", described = input, wide = true } = {}) {
    const error = h("p", { class: "builder-error", id: newId(), hidden: true });
    if (!input.id) input.id = newId();
    if (!this.app.canChange && "disabled" in input) input.disabled = true;
    this.controls.push({ key, show, error, described });
    const tip = hint && h("p", { class: "builder-hint" }, hint);
    return h(
      "div",
      { class: `builder-control ${wide ? "is-wide" : ""}` },
      label && h("label", { for: input.id }, label),
      input,
      tip,
      error,
    );
  }

  text(key, label, get, set, { part = key, ...options } = {}) {
    const input = h("input", { type: "text", "data-part": part, autocomplete: "off", oninput: () => set(input.value) });
    return this.control(
      key,
      label,
      input,
      (node) => {
        if (input.value !== get(node)) input.value = get(node);
      },
      { ...options },
    );
  }

  tick(key, label, get, set) {
    const input = h("input", {
      type: "checkbox",
      id: newId(),
      "data-part": key,
      disabled: !this.app.canChange,
      onchange: () => set(input.checked),
    });
    const box = h("span", { class: "builder-tick" }, input, h("label", { for: input.id }, label));
    return this.control(
      key,
      "",
      box,
      (node) => {
        input.checked = get(node);
      },
      { described: input, wide: false },
    );
  }

  show(node) {
    const faults = new Map(this.app.faultsAt(node));
    for (const { key, show, error, described } of this.controls) {
      show(node);
      const text = faults.get(key) ?? "";
      faults.delete(key);
      tell(error, text, described);
    }
    tell(this.rest, [...faults.values()].join(" "));
  }
}

/** Show `text` as the error of the input `described`, or remove the error without a text. */
export function tell(error, text, described = null) {
  if (error.textContent !== text) error.textContent = text;
  error.hidden = !text;
  if (!described) return;
  if (!error.id) error.id = newId();
  const set = (name, value) => (text ? described.setAttribute(name, value) : described.removeAttribute(name));
  set("aria-invalid", "true");
  set("aria-describedby", error.id);
}

export class SectionEditor extends Editor {
  constructor(app, { id, description }) {
    super(app, id);
    const text = richText({
      label: gettext("Text"),
      html: description,
      disabled: !app.canChange,
      onInput: (value) => this.edit({ description: value }, "description"),
    });
    this.top = h(
      "div",
      { class: "builder-editor" },
      this.rest,
      this.text(
        "title",
        gettext("Title"),
        (node) => node.title,
        (title) => this.edit({ title }, "title"),
        { part: "label" },
      ),
      this.control("description", "", text.element, (node) => text.set(node.description), { described: text.area }),
    );
    this.top.querySelector(".builder-rich").before(h("span", { class: "builder-label" }, gettext("Text above the fields")));
  }
}

export class FieldEditor extends Editor {
  /** The shape of the node: another shape needs other inputs. */
  static shape({ type, ask }) {
    return `${type}:${ask !== null}`;
  }

  constructor(app, node) {
    super(app, node.id);
    const { id, type, ask } = node;
    const kind = app.kinds.get(type);
    const label = this.text(
      "label",
      ask === null ? gettext("Label") : gettext("Label of the input for the language"),
      (field) => field.label,
      (value) => app.label(id, value),
      { part: "label" },
    );
    label.querySelector("input").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && kind.has_options) {
        event.preventDefault();
        app.tree.focus(app.node(id).children[0].id, "label");
      }
    });
    const types = h(
      "select",
      { "data-part": "type", onchange: () => app.retype(id, types.value) },
      [...app.kinds].map(([value, each]) => h("option", { value }, each.label)),
    );
    const ticks = [
      this.tick(
        "required",
        gettext("Required"),
        (field) => field.required,
        (required) => this.edit({ required }),
      ),
    ];
    if (type === "range")
      ticks.push(
        this.tick(
          "ask",
          gettext("Ask which language"),
          (field) => field.ask !== null,
          (on) => app.askForLanguage(id, on),
        ),
      );
    this.top = h(
      "div",
      { class: "builder-editor" },
      this.rest,
      label,
      this.control(
        "type",
        gettext("Type"),
        types,
        (field) => {
          types.value = field.type;
        },
        { wide: false },
      ),
      h("div", { class: "builder-control builder-ticks" }, ticks),
      kind.roles.length > 0 && this.roles(kind.roles),
      this.widths(),
      kind.has_options && h("p", { class: "builder-label is-wide" }, gettext("Options")),
      type === "range" && h("p", { class: "builder-label is-wide" }, gettext("Levels")),
    );
    this.foot = h(
      "div",
      { class: "builder-editor-foot" },
      kind.has_options &&
        app.canChange &&
        button("add", gettext("Option"), () => app.addChoices(id), { "data-part": "add", kind: "quiet" }),
      this.details(node),
    );
  }

  /** What the field says about the applicant. A role that another field has cannot be chosen. */
  roles(fitting) {
    const { app, id } = this;
    const offered = fitting.map((value) => h("option", { value }, app.roles.get(value).label));
    const select = h(
      "select",
      { "data-part": "role", onchange: () => this.edit(chosen(select.value)) },
      h("option", { value: "" }, gettext("Nothing in particular")),
      offered,
    );
    const chosen = (value) => {
      const isFree = value && !app.roles.get(value).may_be_required;
      return { role: value || null, ...(isFree && { required: false }) };
    };
    const show = ({ role }) => {
      const taken = app.takenRoles(id);
      const isConditional = app.isConditional(id);
      for (const option of offered) {
        const fits = !isConditional || app.roles.get(option.value).may_be_conditional;
        option.disabled = option.value !== role && (taken.has(option.value) || !fits);
      }
      select.value = role ?? "";
    };
    const hint = fitting.includes("pool")
      ? gettext("Whoever ticks it is in the talent pool. It cannot be required.")
      : gettext("The system uses it to show who applies and to reply.");
    return this.control("role", gettext("Says about the applicant"), select, show, { hint });
  }

  widths() {
    const group = newId();
    const radios = this.app.widths.map(({ value, label }) => {
      const input = h("input", {
        type: "radio",
        name: group,
        id: newId(),
        value,
        disabled: !this.app.canChange,
        onchange: () => this.edit({ css: value }),
      });
      const share = Number(value.replace("col-", "")) / 12;
      const bar = h("span", { class: "builder-width-bar", "aria-hidden": "true" }, h("span", {}));
      bar.firstChild.style.width = `${share * 100}%`;
      return {
        input,
        element: h("label", { class: "builder-width", for: input.id, title: label }, input, bar, h("span", {}, label)),
      };
    });
    const box = h(
      "fieldset",
      { class: "builder-widths" },
      h("legend", {}, gettext("Width")),
      radios.map(({ element }) => element),
    );
    return this.control("css", "", box, (node) =>
      radios.forEach(({ input }) => {
        input.checked = input.value === node.css;
      }),
    );
  }

  /** The names of the fields, for developers of public sites. Hidden by default. */
  details({ id, name, ask }) {
    const { app } = this;
    const nameOf = (key, label) => {
      const isFrozen = app.frozen.has(key === "name" ? name : ask);
      const hint = isFrozen
        ? gettext("Locked: published vacancies use this name, so it stays the same for the answers that come in.")
        : gettext("Key under which a public site sends the answer. Letters, digits, hyphens and underscores.");
      const faultKey = key === "name" ? "name" : "label.name";
      const made = this.text(
        faultKey,
        label,
        (node) => node[key] ?? "",
        (value) => this.edit({ [key]: value, auto: false }, key),
        { hint, part: key },
      );
      made.querySelector("input").readOnly = isFrozen;
      return made;
    };
    const panel = h(
      "div",
      { class: "builder-details", id: newId() },
      nameOf("name", gettext("Name")),
      ask !== null && nameOf("ask", gettext("Name of the input for the language")),
    );
    const toggle = button("expand_more", gettext("Details"), () => app.showDetails(!app.ui.details), {
      kind: "quiet",
      "data-part": "details",
      "aria-controls": panel.id,
    });
    this.controls.push({
      key: "details",
      error: h("p"),
      described: null,
      show: () => {
        const isOpen = app.ui.details || app.faultsAt(app.node(id)).some(([key]) => key.endsWith("name"));
        toggle.setAttribute("aria-expanded", isOpen);
        panel.hidden = !isOpen;
      },
    });
    return [toggle, panel];
  }
}

/** The inputs of an option, in its row. */
export class ChoiceEditor {
  constructor(app, { id }) {
    Object.assign(this, { app, id });
    this.label = h("input", {
      type: "text",
      "data-part": "label",
      "aria-label": gettext("Option"),
      placeholder: gettext("Option"),
      autocomplete: "off",
      readonly: !app.canChange,
      oninput: () => app.label(id, this.label.value),
      onkeydown: (event) => this.key(event),
      onpaste: (event) => this.paste(event),
    });
    this.value = h("input", {
      type: "text",
      class: "builder-value",
      "data-part": "value",
      "aria-label": gettext("Value of the option"),
      title: gettext("Value: what a public site sends"),
      autocomplete: "off",
      readonly: !app.canChange,
      oninput: () => app.edit(id, { value: this.value.value, auto: false }, `value:${id}`),
    });
    this.errors = [h("p", { class: "builder-error" }), h("p", { class: "builder-error" })];
  }

  key(event) {
    const isEmpty = !this.label.value;
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.app.canChange) this.app.enterChoice(this.id, isEmpty);
    } else if (event.key === "Backspace" && isEmpty && this.app.canChange) {
      event.preventDefault();
      this.app.leaveChoice(this.id);
    }
  }

  /** Pasting several lines adds several options. The first one goes to the cursor. */
  paste(event) {
    const lines = event.clipboardData
      .getData("text/plain")
      .split(/[\r\n]+/)
      .map((line) => line.replace(/^\s*[-*•]\s+|\t/g, " ").trim())
      .filter(Boolean);
    if (lines.length < 2 || !this.app.canChange) return;
    event.preventDefault();
    this.app.pasteChoices(this.id, lines);
  }

  show(node, showsValue) {
    const faults = new Map(this.app.faultsAt(node));
    if (this.label.value !== node.label) this.label.value = node.label;
    if (this.value.value !== node.value) this.value.value = node.value;
    const value = faults.get("value") ?? "";
    faults.delete("value");
    this.value.hidden = !showsValue && !value;
    tell(this.errors[0], [...faults.values()].join(" "), this.label);
    tell(this.errors[1], value && gettext("Value: %(fault)s", { fault: value }), this.value);
  }
}

/** Return the number of errors of a row as text, or nothing without errors. */
export const errorMark = (count) =>
  count
    ? h(
        "span",
        { class: "builder-fault" },
        h("span", { class: "material-symbols-outlined", "aria-hidden": "true" }, "error"),
        ngettext("%(count)s error", "%(count)s errors", count),
      )
    : "";
