/** Helpers that create DOM nodes. Text is never parsed as markup. */

import { gettext } from "./texts.js";

/** Create an element. Properties that start with "on" are listeners; null and false are ignored. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if ((value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => (child ?? false) !== false));
  return element;
}

/** Create a symbol of the admin's icon font. Its meaning is always given as text too. */
export const icon = (name) => h("span", { class: "material-symbols-outlined", "aria-hidden": "true" }, name);

export const spoken = (text) => h("span", { class: "builder-spoken" }, text);

/** Create a button with a symbol. `isShort` hides the text visually only. */
export function button(symbol, words, onclick, { isShort = false, kind = "", ...rest } = {}) {
  const classes = `builder-button ${isShort ? "is-short" : ""} ${kind && `is-${kind}`}`;
  return h(
    "button",
    { type: "button", class: classes, title: isShort && words, onclick, ...rest },
    symbol && icon(symbol),
    isShort ? spoken(words) : h("span", {}, words),
  );
}

let ids = 0;
export const newId = () => `builder-${++ids}`;

/** Run `call` once no further call follows for `delay` ms. */
export function debounced(call, delay) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, delay);
  };
}

/**
 * Ask in a dialog; `choices` are {value, label, kind}. The promise has the value that was chosen, null for none.
 * `body` are nodes or texts (paragraphs).
 */
export function ask(root, title, body, choices) {
  const id = newId();
  const dialog = h(
    "dialog",
    { class: "builder-dialog", "aria-labelledby": id },
    h("h2", { id }, title),
    h(
      "div",
      { class: "builder-dialog-body" },
      body.map((part) => (typeof part === "string" ? h("p", {}, part) : part)),
    ),
    h(
      "div",
      { class: "builder-dialog-choices" },
      choices.map(({ value, label, kind }, index) =>
        button("", label, () => dialog.close(value), {
          kind,
          autofocus: !index && !body.some((part) => part.matches?.("select")),
        }),
      ),
    ),
  );
  root.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
    dialog.showModal();
  });
}

/** The messages for screen readers, and the note with an undo button at the bottom of the page. */
export class Notes {
  constructor(root) {
    this.live = h("div", { class: "builder-spoken", role: "status", "aria-live": "polite" });
    this.toasts = h("div", { class: "builder-toasts" });
    root.append(this.live, this.toasts);
  }

  say(text) {
    this.live.textContent = "";
    setTimeout(() => {
      this.live.textContent = text;
    }, 50); // a change that readers notice, even of equal words
  }

  clear() {
    this.toasts.replaceChildren();
  }

  /** Show `text`, with a button to undo it by `action` if that is given; it stays longer while the pointer or the focus
   *  is on it. */
  toast(text, action = null) {
    const close = () => toast.remove();
    const toast = h(
      "div",
      { class: "builder-toast" },
      h("span", {}, text),
      action &&
        button("", gettext("Undo"), () => {
          close();
          action();
        }),
      button("close", gettext("Close"), close, { isShort: true }),
    );
    this.toasts.replaceChildren(toast);
    this.say(action ? `${text} ${gettext("You can undo this.")}` : text);
    const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, 2_000) : close());
    setTimeout(leave, 8_000);
  }
}
