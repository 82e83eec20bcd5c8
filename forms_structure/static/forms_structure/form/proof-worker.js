/** The web worker of proof.js: searches while the page stays responsive. */

import { search } from "./sha256.js";

addEventListener("message", ({ data: { salt, challenge, most } }) => postMessage(search(salt, challenge, 0, most)));
