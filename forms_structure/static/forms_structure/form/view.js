/** What the applicant sees while an application is sent, and afterwards. Each message receives the focus or is in a
 *  live region, so that screen readers announce it. */

import { maker } from "./fields.js";

/** Add the messages below the send button of `form`. `onRetry` is called when the applicant tries again. */
export function makeView({ button, foot, words, element }, { honeypot, onRetry }) {
  const make = maker(foot.ownerDocument);
  const trap = make("input", { id: `${button.id}-trap`, name: honeypot, tabindex: "-1", autocomplete: "off" });
  const status = make("p", { class: "job-form-status", role: "status" });
  const bar = make("progress", { max: 1, "aria-label": words.sending, hidden: true });
  const failure = make("div", { class: "job-form-failure", role: "alert", tabindex: "-1", hidden: true });
  foot.append(
    make("div", { class: "job-form-trap", "aria-hidden": "true" }, make("label", { for: trap.id }, words.trap), trap),
    status, bar, failure,
  );
  const say = (text) => { status.textContent = text; };
  return {
    trap,
    say,
    start() {
      say(words.sending);
      failure.hidden = bar.hidden = true;
      button.setAttribute("aria-disabled", "true"); // not disabled: it would lose the focus
    },
    progress(part) {
      bar.hidden = part === 1;
      bar.value = part;
      if (part === 1) say(words.uploaded);
    },
    stop() {
      say("");
      bar.hidden = true;
      button.removeAttribute("aria-disabled");
    },
    fail(...reasons) {
      const retry = make("button", { type: "button", class: "job-form-send" }, words.retry);
      retry.addEventListener("click", onRetry);
      failure.replaceChildren(
        make("p", { class: "job-form-summary-title" }, words.failed),
        make("p", {}, [...reasons, words.kept].filter(Boolean).join(" ")),
        retry,
      );
      failure.hidden = false;
      failure.focus();
    },
  };
}

/** Say above `form` what has changed: `changes` as `differences` returns them. */
export function showChanges({ element, show, words }, changes) {
  const make = maker(element.ownerDocument);
  const entries = changes.map(({ name, label, kind }) => {
    if (kind === "removed") return make("li", {}, `${words.removed}: ${label}`);
    const link = make("a", { href: "#" }, label);
    link.addEventListener("click", (event) => {
      event.preventDefault(); // keep the URL of the page
      show(name);
    });
    return make("li", {}, `${words[kind]}: `, link);
  });
  const notice = make("div", { class: "job-form-notice", role: "alert", tabindex: "-1" },
    make("p", {}, words.changed), entries.length && make("ul", {}, ...entries));
  Element.prototype.prepend.call(element, notice); // a field may be named "prepend"
  notice.focus();
}

/** Replace the form in `target` by the thanks. `address` is where the receipt goes, "" if it is not known. */
export function showThanks(target, words, reference, address) {
  const make = maker(target.ownerDocument);
  const thanks = make("div", { class: "job-form job-form-thanks", role: "status", tabindex: "-1" },
    make("h2", { class: "job-form-title" }, words.thanks),
    make("p", {}, `${words.reference} `, make("strong", {}, reference)),
    make("p", {}, address ? words.receiptTo(address) : words.receipt));
  target.replaceChildren(thanks);
  thanks.focus();
}
