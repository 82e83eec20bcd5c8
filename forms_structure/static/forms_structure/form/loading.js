/** Loads the form of a vacancy, and compares two versions of it. */

const TRIES = 3;

/**
 * Return {sections, schema, version, language, action}; `action` is the URL that accepts applications. Reject if the
 * server refuses, or if the vacancy accepts no applications.
 */
export async function load(address, { headers = {}, cache = "default" } = {}, tries = TRIES) {
  const rulesAt = new URL(address, location.href);
  rulesAt.pathname += "/schema"; // before the query, which may have the language
  const urls = [address, rulesAt];
  const [form, rules] = await Promise.all(urls.map((url) => fetch(url, { headers, cache })));
  for (const { ok, status } of [form, rules]) {
    if (!ok) throw Object.assign(new Error(`The form cannot be loaded: ${status}`), { status });
  }
  const action = form.headers.get("Apply");
  if (!action) throw new Error("This vacancy accepts no applications here.");
  const { data: sections } = await form.json();
  const { version, schema } = (await rules.json()).data;
  if (form.headers.get("Form-Version") !== version && tries > 1) { // edited between the two requests
    return load(address, { headers, cache: "reload" }, tries - 1);
  }
  return { sections, schema, version, language: form.headers.get("Content-Language"), action };
}

/** Return what differs for the applicant: [{name, label, kind}], where `kind` is added, removed or altered. */
export function differences(before, after) {
  const [old, current] = [before, after].map((sections) => fieldsOf(sections.flatMap(({ fields }) => fields)));
  const found = [];
  for (const [name, field] of current) {
    if (!old.has(name)) found.push({ name, label: field.label, kind: "added" });
    else if (JSON.stringify(old.get(name)) !== JSON.stringify(field)) {
      found.push({ name, label: field.label, kind: "altered" });
    }
  }
  for (const [name, { label }] of old) if (!current.has(name)) found.push({ name, label, kind: "removed" });
  return found;
}

/** Return what an applicant sees of the fields, by name; conditional fields are entries of their own. */
function fieldsOf(fields) {
  return new Map(fields.flatMap(({ conditional = [], css, label, ...field }) => [
    [field.name, { label: label?.label ?? label, ...field }],
    ...fieldsOf(conditional),
  ]));
}
