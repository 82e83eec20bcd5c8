/** Sends a submission. XMLHttpRequest, because fetch reports no progress of an upload. */

/**
 * Post `content`. Return {status, body, retryAfter}: the parsed JSON, or {} if there is none, and the seconds that the
 * server asks to wait. Reject if there is no response, or no progress for `timeout` milliseconds.
 *
 * `onProgress` receives the part that has been uploaded, from 0 to 1.
 */
export function post(address, content, { headers, timeout, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let timer;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), timeout);
    };
    const fail = () => {
      clearTimeout(timer);
      reject(new Error("no response"));
    };
    request.open("POST", address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      watch();
      onProgress(total ? loaded / total : 0);
    });
    request.addEventListener("load", () => {
      clearTimeout(timer);
      resolve({ status: request.status, body: parsed(request.responseText), retryAfter: seconds(request) });
    });
    for (const name of ["error", "abort", "timeout"]) request.addEventListener(name, fail);
    watch();
    request.send(content);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {}; // a page of a proxy
  }
}

/** Return the seconds of Retry-After; a minute if the server does not say. */
function seconds(request) {
  return Number.parseInt(request.getResponseHeader("Retry-After") ?? "60", 10) || 0;
}

/** Return a random Idempotency-Key. crypto.randomUUID exists only on pages over https. */
export function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function wait(duration) {
  return new Promise((resolve) => setTimeout(resolve, duration * 1000));
}
