/** Requests to the server. Each returns {status, answer} or throws a Failure with a message. */

import { gettext } from "./texts.js";

export class Failure extends Error {}

const SENTENCES = new Map([
  [
    403,
    gettext("You are not allowed to do this, or your session has changed. Reload the page in another tab to see."),
  ],
  [404, gettext("This form was deleted. Its content now exists only on this page.")],
  [413, gettext("The form is too large for the server.")],
]);

function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/);
  return cookie
    ? decodeURIComponent(cookie[1])
    : document.querySelector("#builder-csrf input").value;
}

async function request(url, options) {
  let response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...options });
  } catch {
    throw new Failure(gettext("The server cannot be reached. Your work is still here. Try again shortly."));
  }
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (response.redirected) {
    throw new Failure(
      gettext("You are signed out. Your work is still here. Sign in again in another tab, then try again here."),
    );
  }
  if (!isJson || ![200, 400, 409].includes(response.status)) {
    throw new Failure(
      SENTENCES.get(response.status) ??
        gettext("The server failed (error %(status)s). Your work is still here. Try again shortly.", {
          status: response.status,
        }),
    );
  }
  return { status: response.status, answer: await response.json() };
}

export const get = (url) => request(url, {});

export const post = (url, data) =>
  request(url, {
    method: "POST",
    headers: { "content-type": "application/json", "X-CSRFToken": csrfToken() },
    body: JSON.stringify(data),
  });
