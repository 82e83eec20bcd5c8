// Lets form.js take over the application form of the page. If that fails, the form works as the server sent it.
const target = document.querySelector("#form");
const { renderer, address, source, token } = target.dataset;
const headers = token ? { "X-CSRFToken": token } : {}; // the application belongs to the account of the session

/** Loading the page again shows the thanks, not an empty form. */
function onSent({ reference }) {
  const language = new URLSearchParams(location.search).get("language");
  history.replaceState(null, "", `?${new URLSearchParams({ sent: reference, ...(language && { language }) })}`);
  document.title = target.querySelector("h2").textContent;
}

try {
  const { apply } = await import(renderer);
  await apply(target, address, { headers, source, onSent });
} catch (error) {
  console.warn(error);
}
