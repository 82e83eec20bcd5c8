// Labels the widgets that replace a field: the rich text editor hides its textarea from screen readers, and
// Select2 its select, with their labels.
window.addEventListener("load", () => {
  const nameOf = (field) =>
    field.labels.length
      ? field.labels[0].textContent.replace(/\s*\*?\s*$/, "").trim()
      : field.getAttribute("aria-label") || "";

  const nameAll = () => {
    document.querySelectorAll(".prose-editor").forEach((editor) => {
      const edited = editor.querySelector("[contenteditable]");
      const field = editor.querySelector("textarea");
      if (edited && field) edited.setAttribute("aria-label", nameOf(field));
    });
    document.querySelectorAll(".select2-selection--multiple .select2-search__field").forEach((search) => {
      const field = search.closest(".select2").previousElementSibling;
      if (field && !search.getAttribute("aria-label")) search.setAttribute("aria-label", nameOf(field));
    });
    document.querySelectorAll(".select2-selection--single").forEach((box) => {
      const field = box.closest(".select2").previousElementSibling;
      const shown = box.querySelector(".select2-selection__rendered");
      if (!field || !shown || !nameOf(field)) return;
      box.id = `${shown.id}-box`;
      box.setAttribute("aria-label", nameOf(field)); // followed by the chosen option
      box.setAttribute("aria-labelledby", `${box.id} ${shown.id}`);
      shown.removeAttribute("role"); // otherwise read as a read-only text box
      shown.removeAttribute("aria-readonly");
    });
  };

  nameAll();
  document.addEventListener("prose-editor:ready", nameAll);
  document.addEventListener("formset:added", () => setTimeout(nameAll)); // after Select2 has replaced it
  if (window.django && django.jQuery) {
    django.jQuery(() => setTimeout(nameAll)); // after Select2 has started
    django.jQuery(document).on("select2:open", (event) => {
      const search = document.querySelector(".select2-container--open .select2-dropdown .select2-search__field");
      if (search) search.setAttribute("aria-label", nameOf(event.target));
    });
  }
});

// Keyboard support for what unfold opens by mouse only: the user menu, the filters of a list, the links beside a
// select, the sidebar. Opening one moves the focus into it.
window.addEventListener("load", () => {
  const panelOf = (opener) => {
    if (opener.matches("[x-data*=openUserLinks] > *")) return opener.parentElement.querySelector("nav");
    if (opener.matches("[x-on\\:click*=filterOpen]")) return document.getElementById("changelist-filter");
    const field = (opener.getAttribute("x-ref") || "").replace("relatedWidgetWrapper", "");
    return field ? document.getElementById(`related-widget-wrapper-${field}`) : null;
  };
  const unreached = ":is(a:not([href]), div, span)[x-on\\:click]:not([role], #changelist-filter-close)";
  document.querySelectorAll(unreached).forEach((opener) => {
    opener.setAttribute("role", "button");
    opener.setAttribute("tabindex", "0");
    opener.setAttribute("data-opener", "");
    const icons = opener.querySelectorAll(".material-symbols-outlined");
    icons.forEach((icon) => icon.setAttribute("aria-hidden", "true"));
    const isIcon = opener.matches(".material-symbols-outlined");
    if (!isIcon && opener.textContent.trim() !== Array.from(icons, (icon) => icon.textContent.trim()).join("")) return;
    const choice = opener.closest(".related-widget-wrapper");
    const label = choice && choice.querySelector("select") && choice.querySelector("select").labels[0];
    opener.setAttribute("aria-label", label ? `${label.textContent.trim()} …` : choice ? "…" : document.getElementById("main")?.dataset.menu || "Menu");
  });

  let opened = null; // the opener that gets the focus back
  document.addEventListener("keydown", (event) => {
    const opener = event.target.closest("[data-opener]");
    if (opener && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      opener.click();
      const panel = panelOf(opener);
      if (!panel) return;
      opened = opener;
      const enter = (tries) => {
        const inputs = "a[href], a[role], button, input, select:not(.select2-hidden-accessible), [role=combobox]";
        const first = Array.from(panel.querySelectorAll(inputs)).find((each) => each.checkVisibility());
        if (first) first.focus();
        else if (tries) requestAnimationFrame(() => enter(tries - 1)); // Alpine needs a few frames
      };
      enter(60);
    } else if (event.key === "Escape" && opened) {
      const panel = panelOf(opened);
      if (!panel || !panel.contains(event.target)) return;
      if (opened.matches("[x-data*=openUserLinks] > *")) opened.click(); // the others close on Escape
      opened.focus();
      opened = null;
    }
  });
});

// On phones, each cell shows its column. unfold capitalises each word, and labels the first column "Select record"
// in a list without actions.
window.addEventListener("load", () => {
  document.querySelectorAll("[data-label]").forEach((cell) => {
    const column = /\bfield-(\S+)/.exec(cell.className);
    const heading = column && cell.closest("table")?.querySelector(`th.column-${column[1]} .text`);
    const label = heading?.textContent.trim() || cell.dataset.label;
    cell.dataset.label = label.charAt(0).toLocaleUpperCase() + label.slice(1);
  });
});

// Typing in a select chooses an option: unfold's shortcuts ("t" opens the search) listen on the window.
document.addEventListener("keydown", (event) => {
  if (event.key.length === 1 && event.target.matches("select")) event.stopPropagation();
});

// Signing out removes the unsaved input that vacancies/autosave.js keeps in this browser.
document.addEventListener("submit", (event) => {
  if (event.target.id !== "logout-form") return;
  const own = Object.keys(localStorage).filter((name) => name.startsWith("unsaved:"));
  own.forEach((name) => localStorage.removeItem(name));
});

// A menu closes on Escape, and when another place is clicked.
const closeMenus = (except) => document.querySelectorAll(".panel-menu[open]").forEach((menu) => {
  if (menu !== except) menu.open = false;
});
document.addEventListener("click", ({ target }) => closeMenus(target.closest(".panel-menu")));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest(".panel-menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
