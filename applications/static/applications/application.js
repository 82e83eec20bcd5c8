// Keeps what was typed into notes and emails: in this browser until it is sent, and also if the session ended.
window.addEventListener("load", () => {
  const PREFIX = "unsaved:"; // jobsite/admin.js removes these copies at the sign-out
  const KEPT = 30 * 24 * 3600 * 1000;
  const LOGIN = /\/login\/$/;

  const read = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  };
  const textsOf = (form) => Array.from(form.querySelectorAll("input[type=text], textarea"));
  const keyOf = (form) => form.dataset.draft && `${PREFIX}${form.dataset.draft}`;

  function keep(form) {
    const fields = Object.fromEntries(textsOf(form).map((field) => [field.name, field.value]));
    const isEmpty = Object.values(fields).every((text) => !text.trim());
    try {
      if (isEmpty) localStorage.removeItem(keyOf(form));
      else localStorage.setItem(keyOf(form), JSON.stringify({ at: Date.now(), fields }));
    } catch {
      // no room: the page still asks before it is left
    }
  }

  function restore(form) {
    const copy = read(keyOf(form));
    const isEmpty = textsOf(form).every((field) => !field.value.trim());
    if (!copy || !isEmpty || !(copy.at > Date.now() - KEPT)) return;
    for (const field of textsOf(form)) field.value = copy.fields[field.name] ?? "";
    say(form, form.dataset.restored);
  }

  /** Show `text` below `form`, with a link to sign in if the session has ended. */
  function say(form, text, isSignedOut = false) {
    let line = form.querySelector("[data-state]");
    if (!line) {
      line = Object.assign(document.createElement("p"), { className: "panel-help" });
      line.setAttribute("role", "status");
      line.dataset.state = "";
      form.append(line);
    }
    line.textContent = `${text} `;
    if (!isSignedOut) return;
    const link = Object.assign(document.createElement("a"), {
      className: "text-link", target: "_blank", href: form.dataset.login, textContent: form.dataset.signIn,
    });
    line.append(link);
  }

  const isSignedIn = async (form) => {
    const response = await fetch(form.dataset.session, { redirect: "manual", cache: "no-store" });
    return response.type !== "opaqueredirect";
  };

  const csrfCookie = () => document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/)?.[1];

  /** Send a note without loading the page, which shows a file. */
  async function sendNote(form) {
    const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
    if (response.redirected && LOGIN.test(new URL(response.url).pathname)) {
      return say(form, form.dataset.signedOut, true);
    }
    const isAdded = response.ok && response.redirected;
    if (!isAdded && response.status !== 422) return say(form, form.dataset.failed);
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    const notes = document.querySelector("#notes");
    if (isAdded) localStorage.removeItem(keyOf(form));
    typed.delete(form);
    if (isAdded && !notes) return location.assign(response.url);
    const own = `form[data-draft="${form.dataset.draft}"]`;
    if (!isAdded) form.replaceWith(answer.querySelector(own));
    for (const name of isAdded ? ["#notes", "#tab-notes"] : []) {
      document.querySelector(name).replaceChildren(...answer.querySelector(name).childNodes);
    }
    const next = document.querySelector(own);
    watch(next);
    const messages = answer.querySelectorAll("#message-form + ul li");
    if (isAdded) say(next, Array.from(messages, (each) => each.textContent.trim().replace(/\s+/g, " ")).join(" "));
    next.querySelector("textarea").focus();
  }

  const typed = new Set();
  function watch(form) {
    if (form.dataset.draft) restore(form);
    form.addEventListener("input", () => {
      typed.add(form);
      if (form.dataset.draft) keep(form);
    });
    form.addEventListener("submit", async (event) => {
      if (!form.dataset.draft) return typed.delete(form);
      event.preventDefault();
      try {
        if (form.dataset.kind === "note") return await sendNote(form);
        if (!(await isSignedIn(form))) return say(form, form.dataset.signedOut, true);
      } catch {
        return say(form, form.dataset.failed);
      }
      typed.delete(form);
      const step = event.submitter?.value;
      if (step === "send") localStorage.removeItem(keyOf(form));
      const button = Object.assign(document.createElement("input"), { type: "hidden", name: "step", value: step });
      form.append(button); // form.submit() leaves the button out
      HTMLFormElement.prototype.submit.call(form);
    });
  }
  document.addEventListener("submit", ({ target }) => {
    const csrf = csrfCookie(); // another one after signing in again, also for the rating and the stage
    const field = target.elements.csrfmiddlewaretoken;
    if (csrf && field) field.value = csrf;
  }, true); // before the form is read
  const watchAll = () => document.querySelectorAll("form[data-unsent]").forEach(watch);
  watchAll();
  document.addEventListener("application:shown", watchAll);
  window.addEventListener("beforeunload", (event) => {
    const isLost = (form) => textsOf(form).some((field) => field.value.trim());
    if (Array.from(typed).some((form) => form.isConnected && isLost(form))) event.preventDefault();
  });
});
