// Lets form.js take over the application form of the page. If that fails, the form works as the server sent it.
const target = document.querySelector("#form");
const { renderer, address, source, token, thanks } = target.dataset;
const headers = token ? { "X-CSRFToken": token } : {}; // the application belongs to the account of the session
const key = `sent:${address}`;

/** Keep the thanks in this tab, for the case that the page is loaded again. */
function onSent() {
  document.title = thanks;
  sessionStorage.setItem(key, JSON.stringify(Array.from(target.querySelectorAll("h2, p"), (each) => each.textContent)));
}

function showThanksAgain([title, ...lines]) {
  const make = (tag, text, className = "") =>
    Object.assign(document.createElement(tag), { textContent: text, className });
  const box = make("div", "", "job-form job-form-thanks");
  box.append(make("h2", title, "job-form-title"), ...lines.map((line) => make("p", line)));
  target.replaceChildren(box);
  document.title = thanks;
}

const sent = sessionStorage.getItem(key);
if (sent && performance.getEntriesByType("navigation")[0]?.type === "reload") showThanksAgain(JSON.parse(sent));
else {
  try {
    const { apply } = await import(renderer);
    await apply(target, address, { headers, source, onSent });
  } catch (error) {
    console.warn(error);
  }
}
