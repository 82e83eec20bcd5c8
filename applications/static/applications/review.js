// The review of applications: shows the next one without loading the page, and saves rating and stage at once.
// What is not saved yet stays in this browser and is sent again, also after signing in again. Without this script,
// each button loads the page.
document.addEventListener("DOMContentLoaded", () => {
  const AGAIN = 15_000; // ms until what was not saved is sent again
  const status = document.querySelector("[data-review-status]");
  if (!status) return;
  const texts = status.dataset;
  const PREFIX = `unsaved:review:${texts.reviewStatus}:`; // jobsite/admin.js removes these copies at the sign-out
  const pageOf = () => document.querySelector("[data-review]");

  class PageError extends Error {} // the page says what happened: it asks to sign in, or it is gone

  async function send(url, options) {
    const response = await fetch(url, { redirect: "manual", cache: "no-store", ...options });
    if (response.type === "opaqueredirect") throw new PageError();
    return response;
  }

  // --- what is not saved yet ---

  const unsaved = new Map(); // by "<application>:<what>": {url, fields}
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
        await saved(key, response);
      }
    } catch (error) {
      sayUnsaved(error instanceof PageError);
      timer = setTimeout(flush, AGAIN);
    } finally {
      isSending = false;
    }
  }

  /** Show the answer of the server. One that refuses is final. */
  async function saved(key, response) {
    const [application, what] = key.split(":");
    const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
    if (!isJson) return say(texts.refused.replace("{number}", application), true);
    const { message, undo, undo_label: text } = await response.json();
    const page = pageOf();
    const isShown = page?.dataset.review === application;
    const name = isShown ? page.querySelector("[data-heading]").textContent : `#${application}`;
    if (message) say(`${name}: ${message}`, !response.ok, { href: undo, text });
    if (what === "stage" && isShown) await refresh().catch(() => null);
  }

  window.addEventListener("online", flush);
  if (unsaved.size) flush();

  // --- the application that is shown ---

  const fetchPage = async (url) => {
    const response = await send(url, { headers: { "X-Fragment": "review" } });
    if (!response.ok) throw new PageError();
    return new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-review]");
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
      pageOf().replaceWith(next);
      history.replaceState(null, "", href);
      setUp(rel);
      document.dispatchEvent(new Event("application:shown"));
      if (!unsaved.size) say("");
      document.querySelector("[data-review-place]").textContent = next.dataset.place;
      next.querySelector("[data-heading]").focus({ preventScroll: true });
      scrollTo(0, 0);
      if (next.dataset.read) {
        keep(`${next.dataset.review}:read`, { url: next.dataset.read, fields: {} });
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
    for (const part of ["#decision", "#emails", "#stages", ".application-tags"]) {
      const old = pageOf().querySelector(part);
      const next = now.querySelector(part);
      if (old && next) old.replaceWith(next);
    }
    setUp("");
    document.querySelector("#decision summary").focus();
  }

  function setUp(rel) {
    const page = pageOf();
    if (!page) return;
    page.querySelector("[data-opens]").hidden = false;
    const waiting = unsaved.get(`${page.dataset.review}:rating`);
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

  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    const what = form.dataset.save;
    const page = pageOf();
    if (!what || !page || submitter?.hasAttribute("data-decides")) return;
    event.preventDefault();
    const fields = Object.fromEntries([...new FormData(form), [submitter.name, submitter.value]]);
    delete fields.csrfmiddlewaretoken; // there is another one after signing in again: see flush()
    keep(`${page.dataset.review}:${what}`, { url: form.action, fields });
    if (what === "rating") showRating(page, fields.rating);
    flush();
  });

  setUp("");
});
