// The search in the header: results while the user types, as a combobox with a list (WAI-ARIA). Without this
// script, Enter opens the page with the results.
window.addEventListener("load", () => {
  const form = document.getElementById("site-search");
  if (!form) return;
  const input = form.querySelector("input");
  const list = form.querySelector("[role=listbox]");
  const status = form.querySelector("[role=status]");
  let timer = 0;
  let request = null; // the one under way
  let active = -1;

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  const isEnough = () => /^\s*(\d|\S.)/.test(input.value);

  const options = () => Array.from(list.querySelectorAll("[role=option]"));

  const activate = (index) => {
    const all = options();
    active = index;
    all.forEach((option, place) => option.setAttribute("aria-selected", String(place === index)));
    if (all[index]) {
      input.setAttribute("aria-activedescendant", all[index].id);
      all[index].scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };

  const close = () => {
    clearTimeout(timer);
    if (request) request.abort();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    activate(-1);
  };

  const show = (html) => {
    list.innerHTML = html; // of our server, which escapes texts
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    activate(-1);
    status.textContent = list.querySelector("[data-status]").dataset.status;
  };

  const search = async () => {
    if (request) request.abort();
    request = new AbortController();
    const query = new URLSearchParams({ q: input.value, part: "results" });
    try {
      const response = await fetch(`${form.action}?${query}`, { signal: request.signal, redirect: "error" });
      if (response.ok) show(await response.text());
    } catch (error) {
      if (error.name !== "AbortError") close(); // offline or signed out: Enter opens the page
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (!isEnough()) close();
    else timer = setTimeout(search, 200);
  });

  input.addEventListener("keydown", (event) => {
    const last = options().length - 1;
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault(); // keeps the text; the next one empties it
      close();
    } else if (list.hidden) {
      if (event.key === "ArrowDown" && isEnough()) search();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = active + (event.key === "ArrowDown" ? 1 : -1);
      activate(next > last ? 0 : next < 0 ? last : next);
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      options()[active].click();
    } else if (event.key === "Tab") {
      close();
    }
  });

  document.addEventListener("click", (event) => {
    if (!form.contains(event.target)) close();
  });

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      if (event.defaultPrevented || event.target.closest("[contenteditable=true]")) return; // adds a link there
      event.preventDefault();
      if (input.offsetParent) input.focus();
      else location.assign(form.action); // on phones, the box is a page of its own
    }
  });
});
