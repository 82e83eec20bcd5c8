// Keyboard shortcuts of the list of vacancies. Never while typing, and not if the user switched them off (WCAG 2.1.4).
(() => {
  const dialog = document.getElementById("shortcuts");
  if (!dialog) return;
  const opener = document.getElementById("shortcuts-open");
  opener.hidden = false;
  opener.addEventListener("click", () => dialog.showModal());

  const isTyping = (target) =>
    target.isContentEditable || target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  const links = () => Array.from(document.querySelectorAll("#result_list tbody th a"));
  const rowOf = () => document.activeElement.closest("#result_list tbody tr");

  const move = (step) => {
    const all = links();
    const row = rowOf();
    const place = row ? all.indexOf(row.querySelector("th a")) + step : step > 0 ? 0 : all.length - 1;
    if (place >= 0 && place < all.length) all[place].focus();
  };

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => rowOf() && (move(1), true), // elsewhere, arrows scroll the page
    ArrowUp: () => rowOf() && (move(-1), true),
    o: () => rowOf()?.querySelector("th a").click(),
    x: () => rowOf()?.querySelector(".action-select")?.click(),
    "/": () => document.getElementById("searchbar")?.focus(),
    n: () => document.querySelector("a[href*='/vacancies/vacancy/add/']")?.click(),
    "?": () => dialog.showModal(),
  };

  document.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target) || dialog.open) return;
      if (dialog.dataset.shortcuts === "off") {
        if (event.key.length === 1) event.stopPropagation(); // unfold's own shortcuts listen on the window
        return;
      }
      const key = keys[event.key];
      if (!key) return;
      if (event.key.startsWith("Arrow") && !key()) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.key.startsWith("Arrow")) key();
    },
    true
  );
})();

// Warns before leaving with changes in the rows. The panels above the list close on Escape.
(() => {
  const form = document.getElementById("changelist-form");
  let isChanged = false;
  form?.addEventListener("input", (event) => {
    if (/^row\d+-/.test(event.target.name || "")) isChanged = true;
  });
  form?.addEventListener("submit", () => (isChanged = false));
  window.addEventListener("beforeunload", (event) => isChanged && event.preventDefault());

  document.querySelectorAll(".list-columns, .list-menu").forEach((panel) => {
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !panel.open) return;
      panel.open = false;
      panel.querySelector("summary").focus();
    });
  });
})();
