// Names for screen readers where the theme has only icons. Icons are letters in a font of symbols: without this, a
// screen reader reads "arrow_back".
(() => {
  const ICONS = ".material-symbols-outlined";
  const words = () => document.getElementById("main")?.dataset ?? {};

  function hideIcons(root) {
    root.querySelectorAll(`${ICONS}:not([aria-hidden], [role])`).forEach((icon) => {
      icon.setAttribute("aria-hidden", "true");
      const control = icon.closest("a, button, [role=button]");
      if (!control || control.matches("[aria-label], [aria-labelledby], [title]")) return;
      const copy = control.cloneNode(true);
      copy.querySelectorAll(ICONS).forEach((each) => each.remove());
      if (copy.textContent.trim()) return;
      const name = nameOf(control);
      if (name) control.setAttribute("aria-label", name);
    });
  }

  // The name of a button or link that consists of an icon.
  function nameOf(control) {
    const field = control.closest("form")?.querySelector("[name=q]");
    if (control.id === "searchbar-submit" && field) return field.placeholder;
    if (control.matches("[x-on\\:click*=showActions]")) return words().moreActions;
    const input = control.closest(".relative, label")?.querySelector("[placeholder], [aria-label]");
    return input?.getAttribute("aria-label") || input?.placeholder || "";
  }

  // A scrolling part is a landmark without a name and a tab stop. It contains links, so that the keyboard scrolls it.
  function openScrollers(root) {
    root.querySelectorAll(".simplebar-content-wrapper[role]").forEach((part) => {
      if (!part.querySelector("a[href], button, input, select, textarea")) return;
      for (const name of ["role", "aria-label", "tabindex"]) part.removeAttribute(name);
    });
  }

  function complete(root) {
    hideIcons(root);
    openScrollers(root);
    root.querySelectorAll("th:not([role])").forEach((head) => {
      if (!head.textContent.trim() && !head.querySelector("input")) head.setAttribute("role", "cell"); // of handles
    });
    // Django's choice of many: an icon with a tooltip has a name, so it needs a role
    root.querySelectorAll(".help-tooltip[aria-label]:not([role])").forEach((icon) => icon.setAttribute("role", "img"));
  }

  window.addEventListener("load", () => setTimeout(() => complete(document))); // after the scripts of widgets
  document.addEventListener("htmx:afterSwap", (event) => complete(event.target));
  document.addEventListener("formset:added", (event) => complete(event.target));
})();
