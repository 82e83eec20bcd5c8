/** Loads the form of a vacancy, renders it, and sends what the applicant filled in. */

import { MEGABYTE } from "./fields.js";
import { differences, load } from "./loading.js";
import { solve } from "./proof.js";
import { render } from "./render.js";
import { post, randomKey, wait } from "./requests.js";
import { makeView, showChanges, showThanks } from "./view.js";

const HONEYPOT = "contact_me_by_fax"; // people do not see this field, so only programs fill it in
const BODY_MAX = 25; // megabytes
const ATTEMPTS_MAX = 6; // requests for one click: proofs of work, and waits that the server asks for
const WAIT_MAX = 5; // seconds to wait without asking the applicant
const WAITING = new Set([409, 429, 503]);

/**
 * Replace the content of `target` with the application form of a vacancy, or attach to it if it is the form of the page
 * /apply/{id}. What was filled in and chosen in another form that `target` contains is kept. Reject if the form cannot
 * be loaded, or if the vacancy accepts no applications here. `error.status` is then the HTTP status, if there is one,
 * and `target` is unchanged.
 *
 * @param {Element} target
 * @param {string} address - URL of the form operation, such as https://jobs.example.com/v1/vacancies/412/form
 * @param {object} [options]
 * @param {string} [options.source] - where the applicant came from; recruiters see it
 * @param {object} [options.headers] - headers of all requests, such as Authorization
 * @param {number} [options.timeout] - milliseconds without progress after which a request fails
 * @param {(data: object) => void} [options.onSent] - receives the `data` of the response after the thanks appear
 */
export async function apply(
  target, address, { source, headers = {}, timeout = 60_000, onSent = () => {} } = {},
) {
  let served = await load(address, { headers });
  let form;
  let view;
  let last = {}; // {content, key} of the last attempt
  let isSending = false;

  const open = (kept) => {
    form = render(target, served.sections, { ...served, ...kept, onSubmit: send });
    view = makeView(form, { honeypot: HONEYPOT, onRetry: () => form.check().length || send() });
  };

  const send = async () => {
    if (isSending) return;
    isSending = true;
    view.start();
    const leaving = (event) => event.preventDefault(); // the browser asks before it interrupts the upload
    window.addEventListener("beforeunload", leaving);
    try {
      const show = await deliver(form.values(), form.files());
      view.stop();
      await show();
    } finally {
      window.removeEventListener("beforeunload", leaving);
      isSending = false;
    }
  };

  /** Send until there is a result for the applicant. Return the function that shows it. */
  const deliver = async (values, files) => {
    if (view.trap.value) values[HONEYPOT] = view.trap.value;
    const key = keyOf(values, files);
    let proof;
    for (let attempt = 1; ; attempt += 1) {
      const { content, type, size } = bodyOf({ version: served.version, values, source, proof }, files);
      if (size > BODY_MAX * MEGABYTE) return () => view.fail(form.words.total(BODY_MAX));
      let response;
      try {
        response = await post(served.action, content, {
          headers: { ...headers, ...type, "Idempotency-Key": key }, timeout, onProgress: view.progress,
        });
      } catch {
        return () => explain(files);
      }
      const { status, body, retryAfter } = response;
      if (status === 201) return () => thank(body.data, values);
      if (attempt < ATTEMPTS_MAX && body.proof_required) {
        view.say(form.words.proof);
        proof = await solve(body.challenge).catch(() => "");
      } else if (attempt < ATTEMPTS_MAX && WAITING.has(status) && retryAfter <= WAIT_MAX) {
        view.say(form.words.busy);
        await wait(retryAfter);
      } else {
        return () => refuse(response);
      }
    }
  };

  /** Return the key of this content: that of the last attempt unless something has changed since. */
  const keyOf = (values, files) => {
    const chosen = Object.entries(files).map(([name, [{ size, lastModified }]]) => [name, size, lastModified]);
    const content = JSON.stringify([values, chosen]);
    if (content !== last.content) last = { content, key: randomKey() };
    return last.key;
  };

  const thank = (data, values) => {
    // The receipt goes to a required field of this type. If there are several, the form does not say to which.
    const fields = served.sections.flatMap((section) => section.fields);
    const mail = fields.filter(({ type, required }) => type === "email" && required);
    showThanks(target, form.words, data.reference, mail.length === 1 ? values[mail[0].name] : "");
    onSent(data);
  };

  /** Show why there is no response. A file that was edited or removed after it was chosen has the same effect. */
  const explain = async (files) => {
    for (const [name, [file]] of Object.entries(files)) {
      try {
        await file.slice(0, 1).arrayBuffer();
      } catch {
        return form.report([{ name, message: form.words.moved }]);
      }
    }
    return view.fail(navigator.onLine ? form.words.lost : form.words.offline);
  };

  /** Show what is wrong with the submission, or with the site. */
  const refuse = async ({ status, body, retryAfter }) => {
    const { words } = form;
    if (status >= 500) return view.fail(words.unavailable);
    if (status === 404) return view.fail(words.closed);
    if (status === 429) return view.fail(words.wait(Math.ceil(Math.max(retryAfter, 1) / 60)));
    last = {};
    const errors = (body.errors ?? []).map(({ pointer, detail }) => ({ name: nameIn(pointer), message: detail }));
    const shown = errors.filter(({ name }) => name !== HONEYPOT);
    if (errors.length > shown.length) view.trap.value = ""; // a program of the applicant may have filled it in
    if (body.form_changed) return reopen(shown);
    if (shown.length) return form.report(shown);
    return status === 413 ? view.fail(words.total(BODY_MAX)) : view.fail(words.refused, body.detail);
  };

  /** Show the form as it is now, with the answers that still fit, and say what has changed. */
  const reopen = async (errors) => {
    const before = served.sections;
    const kept = { values: form.values(), files: form.files() };
    try {
      served = await load(address, { headers, cache: "reload" });
    } catch {
      return view.fail(form.words.unavailable);
    }
    const changes = differences(before, served.sections);
    for (const { name } of changes) if (kept.values[name] === "1") delete kept.values[name]; // agreed to another text
    const removed = new Set(changes.filter(({ kind }) => kind === "removed").map(({ name }) => name));
    open(kept);
    form.report(errors.filter(({ name }) => !removed.has(name)));
    return showChanges(form, changes);
  };

  const earlier = target.querySelector("form");
  const isAttached = target.querySelector(".job-form [name=_version]")?.value === served.version;
  open(earlier && !isAttached ? filledIn(earlier) : { isAttached });
  return form;
}

/** Return the body of a request: {content, type, size}. `type` is its Content-Type header, `size` in bytes. */
function bodyOf(submission, files) {
  const text = JSON.stringify(submission);
  const entries = Object.entries(files);
  const size = entries.reduce((sum, [, [file]]) => sum + file.size, text.length);
  if (!entries.length) return { content: text, type: { "Content-Type": "application/json" }, size };
  const content = new FormData();
  content.append("application", text);
  for (const [name, [file]] of entries) content.append(name, file);
  return { content, type: {}, size }; // the browser sets the type, with the boundary of the parts
}

/** Return the name of the field that a JSON Pointer names, or "" if it names none: "/values/regimes/0" is regimes. */
function nameIn(pointer) {
  const [, member, name] = String(pointer).split("/");
  return member === "values" && name ? name.replaceAll("~1", "/").replaceAll("~0", "~") : "";
}

/** Return the values and files of `form`, whoever rendered it. */
function filledIn(form) {
  const values = {};
  const files = {};
  for (const [name, value] of new FormData(form)) if (typeof value === "string") (values[name] ??= []).push(value);
  for (const control of form.querySelectorAll("[type=file]")) files[control.name] = control.files;
  return { values, files };
}
