// From one application to the next without loading the page; rating and stage are saved at once. What is not saved yet
// stays in this browser and is sent again, also after signing in again. Without this script, each button loads the page.
document.addEventListener("DOMContentLoaded", () => {
  const AGAIN = 15_000; // ms until what was not saved is sent again
  const status = document.querySelector("[data-unsaved-of]");
  if (!status) return;
  const texts = status.dataset;
  const place = document.querySelector("p[data-place]");
  const PREFIX = `unsaved:walk:${texts.unsavedOf}:`; // jobsite/admin.js removes these copies at the sign-out
  const pageOf = () => document.querySelector("[data-application]");

  class PageError extends Error {} // the page says what happened: it asks to sign in, or it is gone

  async function send(url, options) {
    const response = await fetch(url, { redirect: "manual", cache: "no-store", ...options });
    if (response.type === "opaqueredirect") throw new PageError();
    return response;
  }

  // --- what is not saved yet ---

  const unsaved = new Map(); // by "<application>:<what>": {url, fields, name}
  try {
    for (const name of Object.keys(localStorage).filter((each) => each.startsWith(PREFIX))) {
      unsaved.set(name.slice(PREFIX.length), JSON.parse(localStorage.getItem(name)));
    }
  } catch {
    // the browser stores nothing: what is not saved is kept until the page is left
  }

  function keep(key, item) {
    if (item) unsaved.set(key, item);
    else unsaved.delete(key);
    try {
      if (item) localStorage.setItem(PREFIX + key, JSON.stringify(item));
      else localStorage.removeItem(PREFIX + key);
    } catch {
      // as above
    }
  }

  /** Say what happened, with a link if there is one: {href, text}. */
  function say(text, isWrong = false, link = null) {
    status.classList.toggle("is-wrong", isWrong);
    status.replaceChildren(text);
    if (!link?.href) return;
    const { href, text: textContent } = link;
    status.append(" ", Object.assign(document.createElement("a"), { href, textContent, className: "text-link" }));
  }

  function sayUnsaved(isSignedOut) {
    const text = (isSignedOut ? texts.signedOut : texts.unsaved).replace("{count}", unsaved.size);
    // The page that is opened asks to sign in, comes back here, and sends what is kept.
    say(text, true, isSignedOut ? { href: location.href, text: texts.signIn } : null);
  }

  const csrfCookie = () => document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/)?.[1];
  let isSending = false;
  let timer;

  /** Send what is not saved, in order. */
  async function flush() {
    if (isSending) return;
    isSending = true;
    clearTimeout(timer);
    try {
      for (let entry; (entry = unsaved.entries().next().value);) {
        const [key, item] = entry;
        const body = new URLSearchParams(item.fields);
        const headers = { Accept: "application/json", "X-CSRFToken": csrfCookie() };
        const response = await send(item.url, { method: "POST", body, headers });
        if (response.status >= 500) throw new Error();
        if (unsaved.get(key) === item) keep(key, null); // else it was changed again
        await saved(key, item, response);
      }
    } catch (error) {
      sayUnsaved(error instanceof PageError);
      timer = setTimeout(flush, AGAIN);
    } finally {
      isSending = false;
    }
  }

  /** Show the answer of the server. One that refuses is final. */
  async function saved(key, { name }, response) {
    const [application, what] = key.split(":");
    const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
    if (!isJson) return say(texts.refused.replace("{name}", name), true);
    const { message, undo, undo_label: text } = await response.json();
    const page = pageOf();
    if (message) say(`${name}: ${message}`, !response.ok, { href: undo, text });
    if (what === "stage" && page?.dataset.application === application) await refresh().catch(() => null);
  }

  window.addEventListener("online", flush);
  if (unsaved.size) flush();

  // --- the application that is shown ---

  const fetchPage = async (url) => {
    const response = await send(url, { headers: { "X-Fragment": "application" } });
    if (!response.ok) throw new PageError();
    return new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-application]");
  };
  let ahead = {}; // the page that is probably shown next: {url, page}

  function fetchAhead(link) {
    ahead = link ? { url: link.href, page: fetchPage(link.href) } : {};
    ahead.page?.catch(() => { ahead = {}; });
  }

  let isMoving = false;
  async function show(link) {
    if (isMoving) return;
    isMoving = true;
    const { href, rel } = link;
    try {
      const next = await (ahead.url === href ? ahead.page : fetchPage(href));
      const page = pageOf();
      page.replaceWith(next);
      history.replaceState(null, "", href);
      document.title = document.title.replace(page.dataset.name, next.dataset.name);
      setUp(rel);
      document.dispatchEvent(new Event("application:shown"));
      if (!unsaved.size) say("");
      place.textContent = `${next.querySelector("[data-place]").textContent}: ${next.dataset.name}`;
      next.querySelector("[data-heading]").focus({ preventScroll: true });
      scrollTo(0, 0);
      if (next.dataset.read) {
        const { application, read: url, name } = next.dataset;
        keep(`${application}:read`, { url, fields: {}, name });
        flush();
      }
    } catch (error) {
      if (error instanceof PageError) location.assign(href);
      else say(texts.failed, true);
    } finally {
      isMoving = false;
    }
  }

  /** Show what a move changed, and leave the file that is being read. */
  async function refresh() {
    const now = await fetchPage(location.href);
    for (const part of ["#state", "#bar", "#emails", "#history", "#tab-emails"]) {
      const old = pageOf().querySelector(part);
      const next = now.querySelector(part);
      if (old && next) old.replaceChildren(...next.childNodes);
    }
    setUp("");
    document.querySelector("#state summary").focus();
  }

  function setUp(rel) {
    const page = pageOf();
    if (!page) return;
    page.querySelector("[data-opens]").hidden = false;
    const waiting = unsaved.get(`${page.dataset.application}:rating`);
    if (waiting) showRating(page, waiting.fields.rating);
    fetchAhead(page.querySelector(rel === "prev" ? "a[rel=prev]" : "a[rel=next]"));
  }

  function showRating(page, rating) {
    for (const button of page.querySelectorAll("[name=rating]")) {
      if (button.value) button.setAttribute("aria-pressed", button.value === rating);
    }
  }

  document.addEventListener("click", (event) => {
    const page = pageOf();
    const link = event.target.closest?.("a[rel=next], a[rel=prev]");
    if (page?.contains(link) && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      show(link);
    }
    const opener = event.target.closest?.("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens).showModal();
  });

  /** Ask what the page of a move asks, beside the file that is read. Without an answer, show that page. */
  async function ask(form, submitter) {
    try {
      const response = await send(form.action, { method: "POST", body: new FormData(form, submitter) });
      const asked = new DOMParser().parseFromString(await response.text(), "text/html");
      const dialog = Object.assign(document.createElement("dialog"), { className: "panel-dialog panel" });
      dialog.append(...asked.querySelector("a[data-cancel]").closest(".panel").childNodes);
      dialog.setAttribute("aria-label", dialog.querySelector("h2").textContent);
      dialog.querySelector("a[data-cancel]").addEventListener("click", (event) => {
        event.preventDefault();
        dialog.close();
      });
      dialog.addEventListener("close", () => dialog.remove());
      document.body.append(dialog);
      dialog.showModal();
    } catch {
      submitter.dataset.asks = "no";
      form.requestSubmit(submitter);
    }
  }

  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    const what = form.dataset.save;
    const page = pageOf();
    if (submitter?.hasAttribute("data-decides") && page?.contains(form) && !submitter.dataset.asks) {
      event.preventDefault();
      ask(form, submitter);
      return;
    }
    if (!what || !page || submitter?.hasAttribute("data-decides")) return;
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(form, submitter));
    delete fields.csrfmiddlewaretoken; // there is another one after signing in again: see flush()
    const { application, name } = page.dataset;
    keep(`${application}:${what}`, { url: form.action, fields, name });
    if (what === "rating") showRating(page, fields.rating);
    flush();
  });

  setUp("");
});
