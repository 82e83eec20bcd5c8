// What the theme lacks for screen readers and the keyboard: names where it has only icons, and fewer tab stops. Icons
// are letters in a font of symbols: without this, a screen reader reads "arrow_back".
(() => {
  const ICONS = ".material-symbols-outlined";
  const words = () => document.getElementById("main")?.dataset ?? {};

  function textOf(control) {
    const copy = control.cloneNode(true);
    copy.querySelectorAll(ICONS).forEach((each) => each.remove());
    return copy.textContent.trim();
  }

  /** Name a button or link that consists of an icon. */
  function name(control) {
    if (control.matches("[aria-label], [aria-labelledby], [title]") || textOf(control)) return;
    const field = control.closest("form, div")?.querySelector("input[placeholder]");
    if (control.matches("[x-on\\:click*=showActions]")) control.setAttribute("aria-label", words().moreActions);
    else if (control.matches("button[type=submit]")) {
      if (control.form && field) control.setAttribute("aria-label", field.placeholder);
      else if (!control.form) {
        control.tabIndex = -1; // an ornament beside a field that searches while somebody types
        control.setAttribute("aria-hidden", "true");
      }
    } else if (control.matches("a[href*='/media/']")) { // of the current file
      const label = control.closest(".form-row, .field-row, [class*=field-]")?.querySelector("label");
      const file = decodeURIComponent(control.pathname.split("/").pop());
      control.setAttribute("aria-label", label ? `${textOf(label)}: ${file}` : file);
    }
  }

  function hideIcons(root) {
    root.querySelectorAll(`${ICONS}:not([aria-hidden], [role])`).forEach((icon) => {
      icon.setAttribute("aria-hidden", "true");
      const control = icon.closest("a, button, [role=button]");
      if (control) name(control);
    });
  }

  /** An icon beside a link to the same page is one tab stop too many: the logo, the arrow back to the list. */
  function skipDoubles(root) {
    root.querySelectorAll(":is(#nav-sidebar, #header-inner) a[href]").forEach((link) => {
      if (link.closest("h1") && link.href === location.href) link.tabIndex = -1; // to this page
      const area = link.closest("#header-inner, nav");
      const same = Array.from(area.querySelectorAll("a[href]")).filter((each) => each.href === link.href);
      if (textOf(link) || !same.some(textOf)) return;
      link.tabIndex = -1;
      link.setAttribute("aria-hidden", "true");
    });
  }

  // A scrolling part is a landmark without a name and a tab stop. It contains links, so that the keyboard scrolls it.
  function openScrollers(root) {
    root.querySelectorAll(".simplebar-content-wrapper[role]").forEach((part) => {
      if (!part.querySelector("a[href], button, input, select, textarea")) return;
      for (const each of ["role", "aria-label", "tabindex"]) part.removeAttribute(each);
    });
  }

  /** A toolbar is one tab stop. Arrow keys move in it (ARIA Authoring Practices). */
  function joinToolbar(toolbar) {
    const items = Array.from(toolbar.querySelectorAll(":scope > a, :scope > details > summary"));
    const stop = (item) => items.forEach((each) => (each.tabIndex = each === item ? 0 : -1));
    stop(items[0]);
    toolbar.addEventListener("focusin", (event) => items.includes(event.target) && stop(event.target));
    toolbar.addEventListener("keydown", (event) => {
      const at = items.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      items[(to + items.length) % items.length].focus();
    });
  }

  /** What opens over the page is part of its main landmark. The menu of the user is part of the menu. */
  function joinLandmarks() {
    const main = document.getElementById("main");
    if (main) document.querySelectorAll("body > :is(.calendarbox, .clockbox)").forEach((each) => main.append(each));
    document.querySelector("[x-data*=openUserLinks] > nav")?.setAttribute("role", "presentation");
  }

  /** An open list of Select2 is in the main landmark, and its box names it (ARIA 1.2: aria-controls). */
  function joinSelect2() {
    const { jQuery } = window.django ?? window;
    const main = document.getElementById("main");
    if (!jQuery?.fn.select2 || !main) return;
    jQuery.fn.select2.defaults.set("dropdownParent", jQuery(main));
    // The style sheets set the width, and stop scrolling at the ends of a list. Select2 would lay out the page twice
    // for each field: to measure the field, and for its plugin of the mouse wheel.
    jQuery.fn.select2.defaults.set("width", "style");
    delete jQuery.fn.mousewheel;
    jQuery(document).on("select2:open", ({ target }) => {
      const box = target.nextElementSibling?.querySelector("[role=combobox]");
      const list = main.querySelector(".select2-container--open .select2-results__options");
      if (box && list) box.setAttribute("aria-controls", list.id);
    });
  }

  function complete(root) {
    joinLandmarks();
    hideIcons(root);
    skipDoubles(root);
    openScrollers(root);
    root.querySelectorAll("th:not([role])").forEach((head) => {
      if (!head.textContent.trim() && !head.querySelector("input")) head.setAttribute("role", "cell"); // of handles
    });
    // the headings of filters follow the heading of the page
    root.querySelectorAll("#changelist-filter h3").forEach((heading) => heading.setAttribute("aria-level", "2"));
    // Django's choice of many: an icon with a tooltip has a name, so it needs a role
    root.querySelectorAll(".help-tooltip[aria-label]:not([role])").forEach((icon) => icon.setAttribute("role", "img"));
  }

  document.addEventListener("DOMContentLoaded", joinSelect2); // before the scripts of widgets
  window.addEventListener("load", () => {
    document.querySelectorAll(".vacancy-head [role=toolbar]").forEach(joinToolbar);
    setTimeout(() => complete(document)); // after the scripts of widgets
  });
  document.addEventListener("htmx:afterSwap", (event) => complete(event.target));
  document.addEventListener("formset:added", (event) => complete(event.target));
})();
