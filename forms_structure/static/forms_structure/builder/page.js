/** The page around the tree: the bar at the top, the vacancies that use the form, what can be added. */

import { button, h, icon, newId, spoken } from "./dom.js";
import { SYMBOLS } from "./rows.js";
import { around, gettext, ngettext, quoted } from "./texts.js";

/** The sticky bar: name, language, status, undo, redo, save. */
export class Bar {
  constructor(app) {
    this.app = app;
    const { canChange } = app;
    const typed = (key) => (event) => app.edit(app.form.id, { [key]: event.target.value }, key === "name" && "name");
    this.name = h("input", {
      id: newId(),
      type: "text",
      class: "builder-title",
      maxlength: 200,
      required: true,
      autocomplete: "off",
      disabled: !canChange,
      oninput: typed("name"),
    });
    this.language = h(
      "select",
      { id: newId(), disabled: !canChange, onchange: typed("language") },
      Object.entries(app.data.languages).map(([value, { label }]) => h("option", { value }, label)),
    );
    this.state = h("p", { class: "builder-state", role: "status" });
    this.errors = button("error", "", () => app.showNextError(), { kind: "error", hidden: true });
    this.undo = button("undo", gettext("Undo"), () => app.state.undo(), {
      isShort: true,
      kind: "quiet",
      "aria-keyshortcuts": "Control+Z",
    });
    this.redo = button("redo", gettext("Redo"), () => app.state.redo(), {
      isShort: true,
      kind: "quiet",
      "aria-keyshortcuts": "Control+Shift+Z",
    });
    this.save = button("save", gettext("Save"), () => app.save(), {
      kind: "primary",
      "aria-keyshortcuts": "Control+S",
    });
    this.fault = h("p", { class: "builder-error", id: newId(), role: "alert", hidden: true });
    this.element = h(
      "header",
      { class: "builder-bar" },
      h(
        "div",
        { class: "builder-naming" },
        h("label", { for: this.name.id, class: "builder-spoken" }, gettext("Name of the form")),
        this.name,
        h("label", { for: this.language.id, class: "builder-spoken" }, gettext("Language")),
        this.language,
      ),
      h("div", { class: "builder-doing" }, this.state, this.errors, canChange && [this.undo, this.redo, this.save]),
      this.fault,
    );
  }

  show() {
    const { form, state, saved, canChange, isSaving } = this.app;
    const isDirty = this.app.isDirty();
    if (this.name.value !== form.name) this.name.value = form.name;
    this.language.value = form.language;
    const words = !canChange
      ? gettext("View only")
      : isSaving
        ? gettext("Saving…")
        : isDirty
          ? gettext("Unsaved changes")
          : gettext("Saved, version %(revision)s", { revision: saved.revision });
    const symbol = !canChange ? "lock" : isDirty ? "edit" : "check_circle";
    if (this.state.textContent !== symbol + words) this.state.replaceChildren(icon(symbol), words);
    this.state.classList.toggle("is-dirty", isDirty);
    this.undo.disabled = !state.past.length;
    this.redo.disabled = !state.future.length;
    this.save.setAttribute("aria-disabled", String(!isDirty || isSaving));
  }

  showFaults(faults, count) {
    this.errors.hidden = !count;
    this.errors.lastChild.replaceChildren(`${count}`, h("span", { class: "builder-rest" }, ` ${gettext("to correct")}`));
    const own = [...(faults.get(this.app.form.id) ?? [])];
    this.fault.hidden = !own.length;
    this.fault.textContent = own.map(([, text]) => text).join(" ");
    const isWrong = own.some(([key]) => key === "name");
    this.name.toggleAttribute("aria-invalid", isWrong);
    if (isWrong) this.name.setAttribute("aria-describedby", this.fault.id);
  }
}

export const links = (all) =>
  h(
    "ul",
    {},
    all.map(({ label, url }) => h("li", {}, h("a", { href: url, target: "_blank" }, label))),
  );

export const andMore = (count) => ngettext("… and %(count)s more", "… and %(count)s more", count);

export function usedBy({ total, published }) {
  if (!total) return gettext("Not used by any vacancy yet");
  if (!published) return ngettext("Used by %(count)s vacancy", "Used by %(count)s vacancies", total);
  if (published === total) {
    return ngettext("Used by %(count)s vacancy, published", "Used by %(count)s vacancies, all published", total);
  }
  return ngettext(
    "Used by %(total)s vacancies, %(count)s of them published",
    "Used by %(total)s vacancies, %(count)s of them published",
    published,
    { total },
  );
}

/** The use of the form, and the actions on the whole form. */
export function about(app) {
  const { data } = app;
  const { use } = data;
  const link = (symbol, words, href, rest = {}) =>
    h("a", { href, class: "builder-button is-quiet", ...rest }, icon(symbol), h("span", {}, words));
  const more = use.total - use.some.length;
  return [
    h(
      "div",
      { class: "builder-use" },
      data.form.is_default && h("p", {}, icon("home"), gettext("The site’s form, for every vacancy without another one.")),
      use.total
        ? h(
            "details",
            {},
            h("summary", {}, icon("work"), h("span", {}, usedBy(use))),
            links(use.some),
            more > 0 && h("p", {}, andMore(more)),
          )
        : h("p", {}, icon("work"), usedBy(use)),
      data.user &&
        h(
          "p",
          {},
          icon("arrow_back"),
          h("span", {}, around(gettext("Opened from %(link)s"), h("a", { href: data.user.url }, data.user.label))),
        ),
    ),
    h(
      "div",
      { class: "builder-actions" },
      data.user &&
        !data.extends &&
        data.can_add &&
        button("playlist_add", gettext("Add sections for this vacancy only"), () => app.extend(), { kind: "soft" }),
      data.translations && link("translate", data.translations.label, data.translations.url),
      link("history", gettext("History"), data.urls.history),
      data.can_add && button("content_copy", gettext("Copy"), () => app.copy(), { kind: "quiet" }),
      link("download", gettext("Export"), data.urls.export, {
        download: "",
        title: gettext("As returned by the API, without unsaved changes"),
      }),
      app.canChange && link("delete", gettext("Delete"), data.urls.delete),
    ),
  ];
}

/** The sections of the extended form, read-only. */
export function foreignSections({ name, url, structure }) {
  const text = ({ label }) => (typeof label === "object" ? label.label : label);
  return structure.map((section) =>
    h(
      "details",
      { class: "builder-foreign" },
      h(
        "summary",
        {},
        icon("lock"),
        h("span", { class: "builder-name" }, section.title || gettext("Section without a title")),
        h(
          "span",
          { class: "builder-meta" },
          ngettext("from %(form)s, %(count)s field", "from %(form)s, %(count)s fields", section.fields.length, {
            form: name,
          }),
        ),
      ),
      h(
        "ul",
        {},
        section.fields.map((field) =>
          h("li", {}, icon(SYMBOLS.get(field.type)), text(field), field.required && [" *", spoken(gettext("required"))]),
        ),
      ),
      h(
        "p",
        {},
        around(
          gettext("From another form: %(link)s, for all vacancies that use it."),
          h("a", { href: url }, gettext("change it in %(form)s", { form: quoted(name) })),
        ),
      ),
    ),
  );
}

/** Ready-made sections, and sections of other forms. */
export function adders(app) {
  const presets = app.language.presets.map((preset) =>
    button("add", preset.label, () => app.addSections([preset.section]), { kind: "soft" }),
  );
  const isEmpty = !app.form.children.length;
  return h(
    "div",
    { class: `builder-start ${isEmpty ? "is-empty" : ""}` },
    isEmpty && [
      icon("dynamic_form"),
      h("h2", {}, app.data.extends ? gettext("Add more questions") : gettext("What do you want to ask?")),
      h(
        "p",
        {},
        gettext("Start with a ready-made section, an empty one, or one of another form. All of it can be changed."),
      ),
    ],
    h(
      "div",
      { class: "builder-start-buttons" },
      button("add", gettext("Section"), () => app.addSections(), {
        kind: isEmpty ? "primary" : "solid",
        "data-part": "add-section",
      }),
      app.data.other_forms.length > 0 &&
        button("file_copy", gettext("Copy a section from another form…"), () => app.borrow(), { kind: "soft" }),
    ),
    h("p", { class: "builder-label" }, gettext("Ready-made sections")),
    h("div", { class: "builder-start-buttons" }, presets),
  );
}
