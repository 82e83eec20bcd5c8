// Lets form.js take over the application form of the page. If that fails, the form works as the server sent it.
const target = document.querySelector("#form");
const { renderer, address, source, token } = target.dataset;
const headers = token ? { "X-CSRFToken": token } : {}; // the application belongs to the account of the session
try {
  const { apply } = await import(renderer);
  await apply(target, address, { headers, source });
} catch (error) {
  console.warn(error);
}
