// Checks the closing date while the user types, and reports what is wrong beside it: it has passed, it is before the
// publication date, or the vacancy is continuously open. The rules and texts are the server's
// (vacancies/admin/date_rules.py), which checks again.
window.addEventListener("load", () => {
  const data = document.getElementById("date-rules");
  const closing = document.querySelector("#id_last_day, #id_day");
  if (!data || !closing) return;
  const rules = JSON.parse(data.textContent);
  const start = document.getElementById("id_publish_from_0");
  const permanent = document.getElementById("id_is_permanent");

  // "31/12/2026" by "%d/%m/%Y" -> "2026-12-31"; null if no format fits or the day does not exist
  const patterns = rules.formats.map((format) => {
    const parts = { Y: "(?<y>\\d{4})", y: "(?<y>\\d{2})", m: "(?<m>\\d{1,2})", d: "(?<d>\\d{1,2})" };
    const escaped = format.replace(/[.\\^$*+?()[\]{}|/-]/g, "\\$&");
    return new RegExp(`^${escaped.replace(/%([Yymd])/g, (_, part) => parts[part])}$`);
  });
  const dayOf = (text) => {
    for (const pattern of patterns) {
      const found = pattern.exec(text.trim())?.groups;
      if (!found) continue;
      const year = found.y.length === 2 ? `${found.y < "69" ? 20 : 19}${found.y}` : found.y;
      const day = `${year}-${found.m.padStart(2, "0")}-${found.d.padStart(2, "0")}`;
      const date = new Date(`${day}T00:00:00Z`);
      if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)) return day;
    }
    return null;
  };

  const report = Object.assign(document.createElement("p"), { id: "closing-date-check", className: "date-check" });
  report.setAttribute("role", "status"); // a polite live region
  closing.parentElement.after(report);
  closing.setAttribute("aria-describedby", [closing.getAttribute("aria-describedby"), report.id].filter(Boolean).join(" "));

  const problem = () => {
    if (!closing.value.trim()) return "";
    const day = dayOf(closing.value);
    if (!day) return rules.invalid;
    if (day < rules.today) return rules.passed;
    const from = start && dayOf(start.value);
    if (from && day < from) return rules.before_start;
    return permanent && permanent.checked ? rules.permanent : "";
  };
  const refused = document.getElementById(`${closing.id}_error`)?.textContent.trim(); // stands there already
  const check = () => {
    const found = problem();
    const text = found === refused ? "" : found;
    if (report.textContent !== text) report.textContent = text;
  };
  let timer;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(check, 400); // after the user stopped typing: half a date is no error
  };
  [closing, start, permanent].filter(Boolean).forEach((field) => {
    field.addEventListener("input", soon);
    field.addEventListener("change", check);
    field.addEventListener("focus", soon); // the calendar sets a value without an event, and focuses the field
  });
  check();
});
