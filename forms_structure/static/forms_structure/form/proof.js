/** Solves a proof-of-work challenge in ALTCHA's format (version 1): find the number whose SHA-256 digest, with the
 *  salt before it, is the challenge. */

import { search } from "./sha256.js";

const BATCH = 5_000; // numbers to try before other work of the page runs
const NUMBER_MAX = 1_000_000; // ALTCHA's default

/** Return the payload for the member `proof` of a submission. Reject if the challenge cannot be solved. */
export async function solve({ algorithm, challenge, salt, signature, maxNumber }) {
  if (algorithm !== "SHA-256") throw new Error(`The algorithm ${algorithm} is not supported.`);
  const most = maxNumber ?? NUMBER_MAX;
  const number = await inWorker({ salt, challenge, most }).catch(() => inSteps(salt, challenge, most));
  if (number < 0) throw new Error("The challenge has no solution.");
  return btoa(JSON.stringify({ algorithm, challenge, number, salt, signature }));
}

/** Search in a worker. Rejects if there can be none: its file must be on the origin of the page. */
function inWorker(task) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./proof-worker.js", import.meta.url), { type: "module" });
    const finish = (settle) => (event) => {
      worker.terminate();
      settle(event.data);
    };
    worker.addEventListener("message", finish(resolve));
    worker.addEventListener("error", finish(reject));
    worker.postMessage(task);
  });
}

/** Search in the page, in steps that keep it responsive. */
async function inSteps(salt, challenge, most) {
  for (let from = 0; from <= most; from += BATCH) {
    const number = search(salt, challenge, from, Math.min(from + BATCH - 1, most));
    if (number >= 0) return number;
    await new Promise((resolve) => setTimeout(resolve));
  }
  return -1;
}
