// Warns before a note that was typed and not added is lost. The theme watches the form of the application only.
window.addEventListener("load", () => {
  const typed = new Set();
  document.querySelectorAll("form[data-unsent]").forEach((form) => {
    form.addEventListener("input", () => typed.add(form));
    form.addEventListener("submit", () => typed.delete(form));
  });
  window.addEventListener("beforeunload", (event) => {
    if (Array.from(typed).some((form) => Array.from(form.querySelectorAll("textarea")).some((field) => field.value.trim())))
      event.preventDefault();
  });
});
