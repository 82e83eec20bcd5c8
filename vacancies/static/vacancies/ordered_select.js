// Keeps the order in which options are picked. Select2 shows, and browsers post, the chosen options
// in the order of the document, so a picked option moves behind the chosen ones, and one that is
// taken off returns to its place in the list.
document.addEventListener("DOMContentLoaded", () => {
  const $ = django.jQuery;
  const selector = "select[data-ordered]";
  const place = (option) => Number(option.dataset.place);

  $(document).on("select2:select", selector, function (event) {
    // an option that came from the server is made by Select2, which does not name it here
    const picked = event.params.data;
    const option = picked.element || Array.from(this.options).find((each) => each.value === String(picked.id));
    const chosen = Array.from(this.selectedOptions).filter((other) => other !== option);
    if (chosen.length) chosen[chosen.length - 1].after(option);
    else this.prepend(option);
    $(this).trigger("change");
  });

  $(document).on("select2:unselect", selector, function (event) {
    const option = event.params.data.element;
    if (!option) return;
    const next = Array.from(this.options).find(
      (other) => !other.selected && other !== option && place(other) > place(option)
    );
    this.insertBefore(option, next || null);
    $(this).trigger("change");
  });

  // Select2 hides the select and its label from screen readers; runs after unfold has started it.
  const _ = window.gettext || ((text) => text);
  $(() => {
    $(selector).each(function () {
      const label = this.labels[0] ? this.labels[0].textContent.trim() : this.name;
      $(this).data("select2").$container.find("input").attr("aria-label", `${label}: ${_("add option")}`);
    });
  });
});
