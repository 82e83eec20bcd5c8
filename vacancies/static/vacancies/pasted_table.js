// An extension of the rich text editor: it keeps pasted tables, and the server makes lists of them when the text is
// saved (jobsite/text/html_tables.py). There is no button that makes a table.
import { Node } from "django-prose-editor/editor";

const attribute = (name, fallback) => ({
  default: fallback,
  parseHTML: (element) => element.getAttribute(name) ?? fallback,
});
const spans = () => ({ colspan: attribute("colspan", "1"), rowspan: attribute("rowspan", "1") });

/** Return the node of the elements `tag`. */
const made = (name, tag, options) =>
  Node.create({
    name,
    parseHTML: () => [{ tag }],
    renderHTML: ({ HTMLAttributes }) => [tag, HTMLAttributes, 0],
    ...options,
  });
const cell = { group: "pastedCell", content: "block+", isolating: true, addAttributes: spans };

const parts = [
  made("pastedCaption", "caption", { content: "block+", isolating: true }),
  made("pastedHead", "thead", { content: "pastedRow+" }),
  made("pastedRow", "tr", { content: "pastedCell*" }),
  made("pastedHeading", "th", cell),
  made("pastedValue", "td", cell),
];

export const PastedTable = made("pastedTable", "table", {
  group: "block",
  content: "pastedCaption? (pastedHead | pastedRow)+",
  isolating: true,
  addAttributes: () => ({ role: attribute("role", null) }),
  addExtensions: () => parts,
});
