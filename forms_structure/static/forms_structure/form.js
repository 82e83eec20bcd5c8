/**
 * Renders an application form, validates it and sends it. This module is the public interface; the others are in
 * form/. Copy both, and form.css, to a site. docs/api.md describes the functions.
 *
 * There are no dependencies. No inline styles are set and no markup is parsed into the page, so the policy
 * `script-src 'self'; style-src 'self'; connect-src <the job site>` is sufficient.
 */

export { render } from "./form/render.js";
export { apply } from "./form/submission.js";
export { validate } from "./form/validation.js";
