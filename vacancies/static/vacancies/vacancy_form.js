// The tabs of the vacancy form (templates/admin/vacancies/vacancy/change_form.html): opens the first
// one with an error, else the one that was open before this vacancy was saved, else the first.
document.addEventListener("alpine:init", () => {
  const key = `tab:${location.pathname}`;

  Alpine.data("tabs", () => ({
    tab: "",
    init() {
      const kept = sessionStorage.getItem(key);
      const all = this.all();
      const wrong = all.find((button) => button.querySelector(".tabs-errors"));
      this.tab = (wrong || all.find((button) => button.dataset.tab === kept) || all[0]).dataset.tab;
    },
    all() {
      return Array.from(this.$root.querySelectorAll("[role=tab]"));
    },
    show(button) {
      this.tab = button.dataset.tab;
      if (!location.pathname.endsWith("/add/")) sessionStorage.setItem(key, this.tab);
    },
    move(step) {
      const all = this.all();
      const index = all.findIndex((button) => button.dataset.tab === this.tab);
      const button = all[(index + step + all.length) % all.length];
      this.show(button);
      button.focus();
    },
  }));
});

// The label of a text names a textarea that the editor hides: give its name to what is edited instead.
window.addEventListener("load", () => {
  document.querySelectorAll(".prose-editor").forEach((editor) => {
    const [label] = editor.querySelector("textarea").labels;
    const edited = editor.querySelector("[contenteditable]");
    if (label && edited) edited.setAttribute("aria-label", label.textContent.trim());
  });
});
