// Keeps the order in which options are picked. Select2 and browsers use the order of the document, so a picked
// option moves behind the chosen ones, and a removed option returns to its place in the list.
document.addEventListener("DOMContentLoaded", () => {
  const $ = django.jQuery;
  const selector = "select[data-ordered]";
  const place = (option) => Number(option.dataset.place);

  $(document).on("select2:select", selector, function (event) {
    // for an option from the server, Select2 does not pass the element
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

  // Select2 hides the select and its label from screen readers. This runs after unfold has started Select2.
  const _ = window.gettext || ((text) => text);
  $(() => {
    $(selector).each(function () {
      const label = this.labels[0] ? this.labels[0].textContent.trim() : this.name;
      $(this).data("select2").$container.find("input").attr("aria-label", `${label}: ${_("add option")}`);
    });
  });
});
