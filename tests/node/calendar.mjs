/** Reads lines of calendars, as JSON strings, and writes what ical.js reads in each as a line of JSON. */

import { createInterface } from "node:readline";

import ICAL from "ical.js";

for await (const line of createInterface({ input: process.stdin })) {
  const calendar = new ICAL.Component(ICAL.parse(JSON.parse(line)));
  const events = calendar.getAllSubcomponents("vevent").map((event) => {
    const text = (name) => event.getFirstPropertyValue(name) ?? "";
    const time = (name) => text(name).toJSDate().toISOString().replace(".000Z", "+00:00");
    return {
      method: calendar.getFirstPropertyValue("method"),
      sequence: text("sequence"),
      summary: text("summary"),
      description: text("description"),
      location: text("location"),
      start: time("dtstart"),
      end: time("dtend"),
      attendee: text("attendee"),
      organizer: text("organizer"),
      status: text("status"),
    };
  });
  process.stdout.write(`${JSON.stringify(events)}\n`);
}
