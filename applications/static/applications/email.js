// Shows a template when it is chosen, and the preview while the text is written. Without this script, buttons do both.
window.addEventListener("load", () => { // after application.js restored a text
  const DELAY = 500; // ms without a key until the preview follows
  const select = document.getElementById("template");
  const email = () => document.getElementById("email");

  async function fetched(url, options) {
    const response = await fetch(url, { redirect: "error", cache: "no-store", ...options });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  }

  let timer;
  let request = new AbortController();
  async function preview() {
    request.abort();
    request = new AbortController();
    const body = new FormData(email());
    body.set("step", "preview");
    body.delete("attachments");
    try {
      const page = await fetched(location.href, { method: "POST", body, signal: request.signal });
      document.getElementById("preview").replaceWith(page.getElementById("preview"));
    } catch {
      // signed out or not reached: the preview stays, and sending says so
    }
  }
  function setUp() {
    email().querySelector("[value=preview]").hidden = true;
    email().addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(preview, DELAY);
    });
  }

  let chosen = select?.value;
  select?.addEventListener("change", async () => {
    const texts = Array.from(email().querySelectorAll("input[type=text], textarea"));
    const isWritten = texts.some((field) => field.value.trim() && field.value !== field.defaultValue);
    if (isWritten && !confirm(select.dataset.replaces)) {
      select.value = chosen;
      return;
    }
    const url = new URL(location);
    url.searchParams.set("template", select.value);
    try {
      const page = await fetched(url);
      email().replaceWith(page.getElementById("email"));
    } catch {
      select.form.requestSubmit();
      return;
    }
    chosen = select.value;
    history.replaceState(null, "", url);
    setUp();
    document.dispatchEvent(new Event("application:shown")); // application.js keeps the text
  });

  if (select) select.form.querySelector("button").hidden = true;
  setUp();
  if (email().querySelector("textarea").value !== email().querySelector("textarea").defaultValue) preview();
});
