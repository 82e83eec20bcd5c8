// Names what stands in for a field: the rich text editor hides its textarea, and Select2 its select, from a
// screen reader, and their labels with them.
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
    document.querySelectorAll(".select2-selection--single").forEach((box) => {
      const field = box.closest(".select2").previousElementSibling;
      const shown = box.querySelector(".select2-selection__rendered");
      if (!field || !shown || !nameOf(field)) return;
      box.id = `${shown.id}-box`;
      box.setAttribute("aria-label", nameOf(field)); // and after it what is chosen
      box.setAttribute("aria-labelledby", `${box.id} ${shown.id}`);
      shown.removeAttribute("role"); // a read-only text box within the choice, it says
      shown.removeAttribute("aria-readonly");
    });
  };

  nameAll();
  document.addEventListener("formset:added", () => setTimeout(nameAll)); // after Select2 has taken it
  if (window.django && django.jQuery) {
    django.jQuery(() => setTimeout(nameAll)); // as late as Select2 may start
    django.jQuery(document).on("select2:open", (event) => {
      const search = document.querySelector(".select2-container--open .select2-dropdown .select2-search__field");
      if (search) search.setAttribute("aria-label", nameOf(event.target));
    });
  }
});

// The menu of the user opens by mouse alone: as a button, it opens by the keyboard too.
window.addEventListener("load", () => {
  const menu = document.querySelector("[x-data*=openUserLinks]");
  const opener = menu && menu.querySelector(":scope > div");
  const links = menu && menu.querySelector(":scope > nav");
  if (!opener || !links) return;
  Object.entries({ role: "button", tabindex: "0", "aria-haspopup": "true", "aria-expanded": "false" }).forEach(
    ([name, value]) => opener.setAttribute(name, value)
  );
  opener.querySelectorAll(".material-symbols-outlined").forEach((icon) => icon.setAttribute("aria-hidden", "true"));
  new MutationObserver(() => opener.setAttribute("aria-expanded", String(links.style.display !== "none")))
    .observe(links, { attributeFilter: ["style"] });
  opener.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    opener.click();
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || links.style.display === "none") return;
    opener.click();
    opener.focus();
  });
});
