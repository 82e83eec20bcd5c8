// The tabs of the vacancy form (templates/admin/vacancies/vacancy/change_form.html). Opens the first tab with an
// error, else that of the address or that was open before the last save, else the first.
document.addEventListener("alpine:init", () => {
  const key = `tab:${location.pathname}`;

  Alpine.data("tabs", () => ({
    tab: "",
    init() {
      const kept = this.$root.dataset.open || location.hash.replace("#panel-", "") || sessionStorage.getItem(key);
      const all = this.all();
      const wrong = all.find((button) => button.querySelector(".tabs-errors"));
      this.tab = (wrong || all.find((button) => button.dataset.tab === kept) || all[0]).dataset.tab;
      // Who pressed a button of a language goes on in its first text.
      const first = `#panel-${this.$root.dataset.open} [name$=-title]`;
      if (this.$root.dataset.open === this.tab) this.$nextTick(() => this.$root.querySelector(first).focus());
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

// An amount of pay gets the currency and the period that were used last.
window.addEventListener("load", () => {
  const aids = document.getElementById("typing-aids");
  const [from, to, currency, period] = ["min", "max", "currency", "period"].map((name) =>
    document.getElementById(`id_pay_${name}`));
  if (!aids || !period) return;
  const usual = JSON.parse(aids.textContent).pay;
  let isFilled = false;
  for (const amount of [from, to]) {
    amount.addEventListener("change", () => {
      const isPaid = Boolean(from.value || to.value);
      if (usual.length && isPaid && !currency.value && !period.value) {
        [currency.value, period.value] = usual;
        isFilled = true;
      } else if (isFilled && !isPaid) {
        [currency.value, period.value, isFilled] = ["", "", false];
      }
    });
  }
});

// Coordinates and positions are folded: the search for a city fills in the former, and rows are dragged. Without this
// script, or with an error in one of them, they are shown.
window.addEventListener("load", () => {
  const names = ["latitude", "longitude", "position"];
  for (const group of document.querySelectorAll("#vacancy_form .formset-wrapper")) {
    const isWrong = names.some((name) => group.querySelector(`td.field-${name} .text-red-600`));
    if (isWrong || !group.querySelector("td.field-position")) continue;
    const hasPlaces = group.querySelector("td.field-latitude");
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      className: "panel-button",
      textContent: hasPlaces ? gettext("Show coordinates and positions") : gettext("Show positions"),
    });
    group.classList.add("is-folded");
    group.after(button);
    button.addEventListener("click", () => {
      group.classList.remove("is-folded");
      button.remove();
      group.querySelector(`td.field-${hasPlaces ? "latitude" : "position"} input`).focus();
    });
  }
});

// Requests to the server: review the changes, and add options.
window.addEventListener("load", () => {
  const page = document.querySelector("[data-vacancy-form]");
  const form = document.querySelector("#vacancy_form");
  if (!page || !form) return;
  const _ = window.gettext || ((text) => text);
  const button = (label, classes = "panel-button") => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    made.className = classes;
    return made;
  };
  const ask = (url, body) => fetch(url, {
    method: "POST",
    body,
    headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
  });

  // --- review: the response is an HTML fragment of our own server, with escaped texts ---
  const save = form.elements._continue || form.elements._save; // unfold puts them outside the form
  if (page.dataset.review && save) {
    const review = button(_("Review changes"));
    save.parentElement.insertBefore(review, save);
    review.addEventListener("click", async () => {
      const answer = await ask(page.dataset.review, new FormData(form)).catch(() => null);
      if (!answer || !answer.ok) {
        form.requestSubmit(save); // shows the errors
        return;
      }
      const dialog = document.createElement("dialog");
      dialog.className = "panel-dialog";
      dialog.setAttribute("aria-label", _("What changes for the public"));
      const heading = Object.assign(document.createElement("h2"), { textContent: _("What changes for the public") });
      const body = document.createElement("div");
      body.innerHTML = await answer.text();
      const row = Object.assign(document.createElement("div"), { className: "panel-row" });
      const go = button(_("Save"), "panel-button is-main");
      const back = button(_("Keep editing"));
      go.addEventListener("click", () => form.requestSubmit(save));
      back.addEventListener("click", () => dialog.close());
      dialog.addEventListener("close", () => { dialog.remove(); review.focus(); });
      row.append(go, back);
      dialog.append(heading, body, row);
      document.body.append(dialog);
      dialog.showModal();
    });
  }

  // --- add a missing option on the page ---
  if (!page.dataset.options) return;
  document.querySelectorAll("select[data-filter]").forEach((select) => {
    const add = button(_("Add option"));
    const name = select.labels[0] ? select.labels[0].textContent.trim() : select.name;
    add.setAttribute("aria-label", `${_("Add option")}: ${name}`);
    const place = select.parentElement.querySelector(".select2-container") || select;
    place.after(add);
    add.addEventListener("click", async () => {
      const label = (window.prompt(`${name}: ${_("label of the new option")}`) || "").trim();
      if (!label) return;
      const url = page.dataset.options.replace("/0/", `/${select.dataset.filter}/`);
      const answer = await ask(url, new URLSearchParams({ label })).catch(() => null);
      const made = answer && (await answer.json().catch(() => null));
      if (!answer || !answer.ok) {
        window.alert((made && made.error) || _("The option was not added. Try again."));
        return;
      }
      let option = Array.from(select.options).find((each) => each.value === String(made.id));
      if (!option) {
        option = new Option(made.label, made.id);
        option.dataset.place = select.options.length;
        select.add(option);
      }
      if (!select.multiple) select.value = option.value;
      else if (!option.selected) {
        const chosen = Array.from(select.selectedOptions);
        if (chosen.length) chosen[chosen.length - 1].after(option);
        else select.prepend(option);
        option.selected = true;
      }
      django.jQuery(select).trigger("change");
      add.focus();
    });
  });
});
