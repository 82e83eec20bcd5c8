/** Shows times in the time zone of the browser, beside those in the zone of the interview, if the clocks differ. */
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const written = (date, timeZone) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short", timeZone }).format(date);

for (const time of document.querySelectorAll("time[data-zone]")) {
  const date = new Date(time.dateTime);
  if (written(date, own) !== written(date, time.dataset.zone)) time.textContent = `${written(date, own)} (${own})`;
}
