/**
 * The form as applicants see it, in a frame with the reference renderer. No script runs inside: the listeners are
 * ours. A sandbox without allow-scripts keeps those from running in Safari (WebKit bug 218086). There, only the frame's
 * own policy forbids scripts.
 */

import { button, h, newId } from "./dom.js";
import { gettext } from "./texts.js";

const WIDE = 720; // CSS pixels of the wide preview, however many the screen has for it: enough for fields side by side
const NARROW = 760; // below it the wide preview would be too small to read: phone width first
const SANDBOX = `allow-same-origin allow-forms${navigator.vendor.startsWith("Apple") ? " allow-scripts" : ""}`;
const POLICY = "default-src 'none'; style-src 'self' 'unsafe-inline'; form-action 'none'; base-uri 'none'";
const STYLE = `
  body { margin: 0; padding: 24px; font: 16px/1.5 system-ui, sans-serif; color: #17202a; background: #fff; }
  [data-name] { cursor: pointer; border-radius: 4px; }
  .is-selected { outline: 2px dashed #7c3aed; outline-offset: 6px; }
  @media (max-width: 420px) { body { padding: 16px; } }
`;

export class Preview {
  /** `onPick(name)` is called when the field `name` of the preview gets the focus, `onKey` on every keydown. */
  constructor({ formCss, formJs, onPick, onKey }) {
    this.onPick = onPick;
    this.shown = null;
    this.frame = h("iframe", {
      title: gettext("Preview"),
      class: "builder-frame",
      sandbox: SANDBOX,
    });
    this.frame.srcdoc = `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>Preview</title>
      <link rel="stylesheet"><style>${STYLE}</style></head><body></body></html>`;
    this.result = h("p", { class: "builder-preview-result", role: "status" });
    const widths = [
      [gettext("Wide"), "desktop_windows", ""],
      [gettext("Phone"), "smartphone", "is-phone"],
    ].map(([words, symbol, name]) => {
      const choose = () => {
        widths.forEach((each) => each.setAttribute("aria-pressed", each === made));
        this.stage.className = `builder-stage ${name}`;
      };
      const made = button(symbol, words, choose, { "aria-pressed": String(!name), kind: "segment" });
      return made;
    });
    const title = newId();
    this.stage = h("div", { class: "builder-stage" }, this.frame);
    if (innerWidth < NARROW) widths[1].click();
    new ResizeObserver(() => this.stage.style.setProperty("--scale", Math.min(1, this.stage.clientWidth / WIDE))).observe(
      this.stage,
    );
    this.element = h(
      "section",
      { class: "builder-preview", "aria-labelledby": title },
      h(
        "header",
        {},
        h("h2", { id: title }, gettext("Preview")),
        h("div", { class: "builder-segments", role: "group", "aria-label": gettext("Width of the preview") }, widths),
      ),
      this.stage,
      this.result,
    );
    const loaded = new Promise((resolve) => {
      this.frame.addEventListener("load", resolve, { once: true });
    });
    this.ready = Promise.all([import(formJs), loaded]).then(([{ render }]) => {
      this.renderer = render;
      this.document.querySelector("link").href = new URL(formCss, location).href;
      for (const type of ["click", "focusin"]) this.document.addEventListener(type, (event) => this.pick(event));
      this.document.addEventListener("keydown", onKey);
    });
  }

  get document() {
    return this.frame.contentDocument;
  }

  pick(event) {
    if (this.isRendering) return;
    if (event.target.closest("a")) event.preventDefault();
    const name = event.target.closest("[data-name]")?.dataset.name;
    if (name) this.onPick(name);
  }

  /** Show `sections`. Answers, scroll position and focus stay if their fields still exist. */
  async update(sections, { language, schema, values = {} }) {
    await this.ready;
    const page = this.document.scrollingElement;
    const { scrollTop } = page;
    const focused = this.document.activeElement?.id && this.document.activeElement.name;
    this.isRendering = true;
    this.shown = this.renderer(this.document.body, sections, {
      schema,
      language,
      values: { ...this.shown?.values(), ...values },
      onSubmit: () => {
        this.result.textContent = gettext("Complete and valid: a public site would send this application now.");
      },
    });
    this.document.documentElement.lang = language;
    this.result.textContent = "";
    if (focused) this.document.getElementsByName(focused)[0]?.focus({ preventScroll: true });
    this.isRendering = false;
    page.scrollTop = scrollTop;
    this.mark(this.marked);
  }

  /** Highlight the fields `names`, or the section with the number `section`. */
  mark(marked, { scroll = false } = {}) {
    this.marked = marked;
    if (!this.shown) return;
    this.document.querySelectorAll(".is-selected").forEach((each) => each.classList.remove("is-selected"));
    const { names = [], section } = marked ?? {};
    const wanted =
      section === undefined
        ? [...this.document.querySelectorAll("[data-name]")].filter((each) => names.includes(each.dataset.name))
        : [this.document.querySelectorAll(".job-form-section")[section]].filter(Boolean);
    wanted.forEach((each) => each.classList.add("is-selected"));
    if (scroll && wanted.length) {
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const page = this.document.scrollingElement;
      const { top, bottom } = wanted[0].getBoundingClientRect();
      const isSeen = top >= 0 && bottom <= page.clientHeight;
      if (!isSeen) page.scrollBy({ top: top - 80, behavior: calm ? "auto" : "smooth" });
    }
  }

  /** Whether the field exists but is hidden by its condition. */
  isHidden(name) {
    const found = [...(this.document?.querySelectorAll("[data-name]") ?? [])].find((each) => each.dataset.name === name);
    return Boolean(found) && !found.offsetParent;
  }
}
