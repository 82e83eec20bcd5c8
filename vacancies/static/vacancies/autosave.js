// Keeps unsaved input of the vacancy form in this browser and on the server (vacancies/admin/autosave.py), asks
// before leaving, and shows who else has the form open. The server restores the input: a copy that only this
// browser has is sent to it, and the page is loaded again.
document.addEventListener("DOMContentLoaded", () => {
  const page = document.querySelector("[data-autosave]");
  const form = document.querySelector("#vacancy_form");
  if (!page || !form) return;
  form.autocomplete = "off"; // otherwise browsers put what they remember of selects over what the server restored

  const _ = window.gettext || ((text) => text);
  const PREFIX = "unsaved:"; // jobsite/admin.js removes these copies at the sign-out
  const key = `${PREFIX}${page.dataset.user}:${page.dataset.object}`;
  const SECOND = 1000;
  const QUIET = 2 * SECOND; // after the last change
  const EVERY = 5 * SECOND; // at most, while somebody types
  const REPORT = 20 * SECOND;
  const KEPT = 30 * 24 * 3600 * SECOND;
  const MESSAGES = {
    none: "",
    kept: _("Unsaved changes are kept."),
    offline: _("You are offline. Your changes are kept in this browser."),
    signedOut: _("You are signed out. Your text is kept in this browser."),
    failed: _("The server cannot be reached. Your changes are kept in this browser."),
    full: _("Your changes are not kept: this browser has no room."),
  };

  // --- the copy in this browser ---

  const read = (name) => {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  };
  const forget = () => localStorage.removeItem(key);
  const keep = (copy) => {
    try {
      localStorage.setItem(key, JSON.stringify(copy));
      return true;
    } catch {
      return false;
    }
  };
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith(PREFIX) && !(read(name)?.at > Date.now() - KEPT)) localStorage.removeItem(name);
  }

  // --- the input ---

  const own = ["csrfmiddlewaretoken"];
  const entries = () => {
    const found = [];
    for (const [name, value] of new FormData(form)) {
      if (own.includes(name) || name.includes("__prefix__")) continue;
      if (typeof value === "string") found.push([name, value]);
      else if (value.name) found.push(["_files", `${name}=${value.name}`]);
    }
    return found;
  };
  const text = () => JSON.stringify(entries());
  const untouched = text();
  const isUnsaved = () => "unsaved" in page.dataset || text() !== untouched;

  // --- the state, in words ---

  const status = page.querySelector("[role=status]");
  const link = page.querySelector("a");
  function say(state, message = MESSAGES[state]) {
    link.hidden = state !== "signedOut";
    if (status.textContent !== message) status.textContent = message; // only what is new is read aloud
  }
  const save = form.elements._continue || form.elements._save;
  save?.closest("#submit-row > div > div")?.lastElementChild.before(page); // beside the buttons, which stay in view

  const editors = document.querySelector("[data-editors]");
  function showEditors(notices) {
    const lines = notices.join("\n");
    if (editors.innerText === lines && !editors.hidden === Boolean(lines)) return;
    editors.hidden = !lines;
    editors.replaceChildren(
      ...notices.map((notice) => Object.assign(document.createElement("p"), { textContent: notice })),
    );
  }

  // --- requests ---

  const csrfCookie = () => {
    const found = document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/);
    return found ? decodeURIComponent(found[1]) : form.elements.csrfmiddlewaretoken.value;
  };
  // Kept while the page is reloaded, but not copied to a second tab: that one is another window.
  const windowId = sessionStorage.getItem("window") || Math.random().toString(36).slice(2);
  sessionStorage.removeItem("window");

  function body(fields) {
    const data = new URLSearchParams(fields);
    data.append("csrfmiddlewaretoken", csrfCookie());
    data.append("_user", page.dataset.user);
    data.append("_window", windowId);
    if (form.elements.version) data.append("_version", form.elements.version.value);
    return data;
  }

  /** Send `fields`. Return whether the server took them, and show why not. */
  async function send(fields) {
    let response, isJson, answer;
    try {
      response = await fetch(page.dataset.autosave, { method: "POST", body: body(fields) });
      isJson = response.headers.get("content-type")?.startsWith("application/json");
      answer = isJson ? await response.json() : {};
    } catch {
      say(navigator.onLine ? "failed" : "offline");
      return false;
    }
    if (response.redirected) say("signedOut");
    else if (answer.error) say("refused", `${answer.error} ${_("Your changes are kept in this browser.")}`);
    else if (!response.ok || !isJson) say("failed");
    else {
      form.elements.csrfmiddlewaretoken.value = csrfCookie(); // another one after signing in again
      showEditors(answer.notices);
      return true;
    }
    return false;
  }

  let [last, sent, changedAt, sentAt] = [untouched, untouched, 0, 0];
  let [isBusy, isFailing, isLeaving] = [false, false, false];

  /** Keep what changed in this browser. Return the input. */
  function remember() {
    const current = text();
    if (current === last) return current;
    [last, changedAt] = [current, Date.now()];
    const copy = { at: changedAt, page: form.elements.page.value, fields: entries(), isSent: false };
    if (isUnsaved() && !keep(copy)) say("full");
    return current;
  }

  /** Send what changed when it is time, and report that the form is still open. */
  async function tick() {
    if (isLeaving) return;
    const [current, now] = [remember(), Date.now()];
    const isChanged = current !== sent;
    const isQuiet = now - changedAt >= QUIET || now - sentAt >= EVERY;
    if (isBusy || !(isChanged && !isFailing ? isQuiet : now - sentAt >= REPORT)) return;
    [isBusy, sentAt] = [true, now];
    const isBack = isChanged && !isUnsaved();
    const unchanged = [["page", form.elements.page.value], ["_unchanged", "1"]];
    isFailing = !(await send(isBack ? unchanged : isChanged ? JSON.parse(current) : []));
    isBusy = false;
    if (isFailing) return;
    sent = current;
    const copy = read(key);
    if (isBack) forget();
    else if (copy && JSON.stringify(copy.fields) === current) keep({ ...copy, isSent: true, sentAt: Date.now() });
    say(isUnsaved() ? "kept" : "none");
  }

  /** Give the server what only this browser has, and load the page, which then contains it. */
  async function restore() {
    const copy = read(key);
    if (!copy) return true;
    // Sent while this page was loading, perhaps too late for it.
    if (copy.isSent && copy.sentAt > performance.timeOrigin && !("unsaved" in page.dataset)) {
      isLeaving = true;
      location.replace(location.pathname);
      return false;
    }
    const isOlder = copy.at < Number(page.dataset.restoredAt || 0) * SECOND;
    if (copy.isSent || page.dataset.settled.split(" ").includes(copy.page) || isOlder) {
      if (!("unsaved" in page.dataset)) forget();
      return true;
    }
    if (copy.page === form.elements.page.value && JSON.stringify(copy.fields) === untouched) return true; // shown
    if (!(await send(copy.fields))) return false;
    keep({ ...copy, isSent: true });
    isLeaving = true;
    location.replace(location.pathname);
    return false;
  }

  // --- events ---

  form.addEventListener("submit", () => {
    remember(); // the session may have ended
    isLeaving = true;
  });
  document.querySelector("[data-discard]")?.addEventListener("submit", () => {
    isLeaving = true;
    forget();
  });
  window.addEventListener("beforeunload", (event) => {
    remember();
    if (!isLeaving && isUnsaved()) event.preventDefault();
  });
  window.addEventListener("pagehide", () => {
    sessionStorage.setItem("window", windowId);
    navigator.sendBeacon(page.dataset.autosave, body([["_closed", "1"]]));
  });
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return; // back from the browser's cache, after a submit
    isLeaving = false;
    sentAt = 0;
    sessionStorage.removeItem("window");
  });
  window.addEventListener("offline", () => say("offline"));
  for (const name of ["online", "focus"]) window.addEventListener(name, () => { sentAt = 0; tick(); });

  restore().then((isDone) => {
    if (isDone || !isLeaving) setInterval(tick, SECOND);
    if (isDone && "unsaved" in page.dataset) say("kept");
    tick();
  });
});
