/**
 * <job-vacancies filter-brand="a" size="10" lang="nl" source="corporate"><a href="…">All jobs</a></job-vacancies>
 *
 * A list of vacancies on a page of another site. It reads /v1/vacancies of the service that this module comes from.
 * The content of the element stays below the list, and alone if there is no list. The host page styles it with
 * ::part(list), item, title, place, closes and empty.
 */

const TIMEOUT = 5000; // ms
const FIELDS = "id,title,language,places,location,closing_date,url";
const TEXTS = {
  en: { label: "Vacancies", closes: "Closes on {date}", empty: "There are no vacancies at the moment." },
  nl: { label: "Vacatures", closes: "Sluit op {date}", empty: "Er zijn op dit moment geen vacatures." },
  fr: { label: "Offres d’emploi", closes: "Clôture le {date}", empty: "Il n’y a aucune offre pour le moment." },
  de: { label: "Stellen", closes: "Endet am {date}", empty: "Zurzeit gibt es keine offenen Stellen." },
};

// A style sheet that is no element: the policy of the host page (CSP) does not apply to it.
const style = new CSSStyleSheet();
style.replaceSync(`
  :host { display: block; overflow-wrap: anywhere; }
  :host([hidden]) { display: none; }
  ul { margin: 0 0 1em; padding: 0; list-style: none; }
  li { padding: 0.75em 0; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
  p { margin: 0; }
  li p { font-size: 0.9em; }
  a { color: inherit; font-weight: 600; }
`);

class JobVacancies extends HTMLElement {
  async connectedCallback() {
    if (this.shadowRoot) return; // it was moved
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    root.append(document.createElement("slot"));
    try {
      const items = await read(this);
      root.prepend(items.length ? list(items, this) : emptyText(this));
    } catch (error) {
      console.warn(`job-vacancies: ${error.message}`);
    }
  }
}

/** Return the items that the attributes of `element` ask for. */
async function read(element) {
  const query = new URLSearchParams({ fields: FIELDS, "page[size]": element.getAttribute("size") ?? "10" });
  for (const { name, value } of element.attributes) {
    if (name.startsWith("filter-")) query.append(`filter[${name.slice(7)}]`, value);
  }
  const wanted = element.getAttribute("lang")?.slice(0, 2).toLowerCase();
  if (LANGUAGES.includes(wanted)) query.append("language", wanted); // the service declares LANGUAGES
  let response = await get(query);
  if (response.status === 400 && query.has("language")) {
    query.delete("language"); // the service has stopped to serve it
    response = await get(query);
  }
  const body = await response.json();
  if (!response.ok) throw new Error(body.errors?.map((error) => error.detail).join(" ") ?? body.detail);
  return body.data;
}

function get(query) {
  const address = new URL(`v1/vacancies?${query}`, import.meta.url);
  return fetch(address, { credentials: "omit", signal: AbortSignal.timeout(TIMEOUT) });
}

/** Return the language of the texts: that of the element or the page if it is one of four, else English. */
function language(element) {
  const code = element.closest("[lang]")?.lang.slice(0, 2).toLowerCase();
  return code in TEXTS ? code : "en";
}

function list(items, element) {
  const code = language(element);
  const list = make("ul", "list");
  list.lang = code;
  list.role = "list"; // Safari drops the role of a list without bullets
  list.ariaLabel = TEXTS[code].label;
  for (const item of items) {
    const entry = make("li", "item");
    entry.append(title(item, element));
    const place = [...new Set(item.places.map(({ locality }) => locality))].join(", ") || item.location;
    if (place) entry.append(make("p", "place", place));
    if (item.closing_date) entry.append(closes(item.closing_date, code));
    list.append(entry);
  }
  return list;
}

/** Return the title, as a link if the vacancy has a page. */
function title(item, element) {
  const made = make(item.url ? "a" : "span", "title", item.title);
  made.lang = item.language;
  made.dir = "auto";
  if (item.url) {
    const url = new URL(item.url);
    const source = element.getAttribute("source");
    if (source) url.searchParams.set("source", source);
    made.href = url;
  }
  return made;
}

function closes(day, code) {
  const format = new Intl.DateTimeFormat(code, { dateStyle: "long", timeZone: "UTC" });
  return make("p", "closes", TEXTS[code].closes.replace("{date}", format.format(new Date(day))));
}

function emptyText(element) {
  const code = language(element);
  const made = make("p", "empty", TEXTS[code].empty);
  made.lang = code;
  return made;
}

function make(tag, part, text = "") {
  const made = document.createElement(tag);
  made.part = part;
  made.textContent = text;
  return made;
}

if (!customElements.get("job-vacancies")) customElements.define("job-vacancies", JobVacancies);
