/** Edits the texts above the fields of a translation as in the form builder. Without it, they are HTML. */

import { richText } from "./builder/richtext.js";

for (const area of document.querySelectorAll("textarea[data-html]")) {
  const { element } = richText({
    label: area.labels[0].textContent.trim(),
    html: area.value,
    disabled: area.matches(":disabled"),
    onInput: (html) => {
      area.value = html;
    },
  });
  element.lang = area.lang;
  area.hidden = true;
  area.after(element);
}
