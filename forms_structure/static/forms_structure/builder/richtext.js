/** A small editor for the text of a section: bold, italic, lists, links. */

import { button, h, newId } from "./dom.js";
import { gettext } from "./texts.js";

const BLOCKS = new Set("p ul ol li h2 h3 h4 h5 blockquote".split(" "));
const INLINE = new Set("br strong b em i u a".split(" "));
const NOT_TEXT = new Set("script style template noscript iframe object embed svg math".split(" "));
const ADDRESS = /^(https?:|mailto:|tel:)/i;

/** Copies of `nodes` with the allowed markup only. The text of other markup is kept. */
function copied(nodes, doc) {
  return [...nodes].flatMap((node) => {
    if (node.nodeType === 3) return [doc.createTextNode(node.data)];
    if (node.nodeType !== 1 || NOT_TEXT.has(node.localName)) return [];
    const inside = copied(node.childNodes, doc);
    const name = node.localName === "div" && !inside.some((each) => BLOCKS.has(each.localName)) ? "p" : node.localName;
    if (!BLOCKS.has(name) && !INLINE.has(name)) return inside;
    const copy = doc.createElement(name);
    const address = node.getAttribute("href");
    if (name === "a") {
      if (!ADDRESS.test(address)) return inside;
      copy.setAttribute("href", address);
    }
    copy.append(...inside);
    return [copy];
  });
}

const read = (html) => copied(new DOMParser().parseFromString(html, "text/html").body.childNodes, document);

/** The HTML of the text. Bare text becomes paragraphs. */
function written(area) {
  const doc = document.implementation.createHTMLDocument();
  let open = null;
  for (const node of copied(area.childNodes, doc)) {
    if (BLOCKS.has(node.localName)) {
      open = null;
      doc.body.append(node);
    } else if (open || node.nodeType === 1 || node.data.trim()) {
      if (!open) doc.body.append((open = doc.createElement("p")));
      open.append(node);
    }
  }
  return area.textContent.trim() ? doc.body.innerHTML : "";
}

export function richText({ label, html, onInput, disabled = false }) {
  const area = h(
    "div",
    {
      class: "builder-rich-area",
      contenteditable: String(!disabled),
      role: "textbox",
      "aria-multiline": "true",
      "aria-label": label,
      oninput: () => {
        value = written(area);
        onInput(value);
      },
      onfocus: () => document.execCommand("defaultParagraphSeparator", false, "p"),
      onpaste: (event) => {
        // as plain text: markup of other programs does not belong in a form
        event.preventDefault();
        document.execCommand("insertText", false, event.clipboardData.getData("text/plain"));
      },
    },
    read(html),
  );
  let value = html;
  let range = null; // what is selected while the address of a link is being typed

  const run = (command, argument) => {
    area.focus();
    document.execCommand(command, false, argument);
  };
  const tool = (symbol, words, onclick) =>
    button(symbol, words, onclick, {
      isShort: true,
      disabled,
      onmousedown: (event) => event.preventDefault(), // keeps the selection in the text
    });

  const linkId = newId();
  const address = h("input", {
    id: linkId,
    type: "text",
    inputmode: "url",
    placeholder: "https://",
    onkeydown: (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        link();
      }
      if (event.key === "Escape") {
        event.stopPropagation();
        linker.hidden = true;
        area.focus();
      }
    },
  });
  const linker = h(
    "div",
    { class: "builder-rich-link", hidden: true },
    h("label", { for: linkId }, gettext("Address")),
    address,
    button("", gettext("Set link"), () => link()),
  );
  const askForLink = () => {
    const selection = getSelection();
    if (!selection.rangeCount || !area.contains(selection.anchorNode)) return area.focus();
    range = selection.getRangeAt(0);
    address.value = selection.anchorNode.parentElement.closest("a")?.getAttribute("href") ?? "";
    linker.hidden = false;
    return address.focus();
  };
  const link = () => {
    const given = address.value.trim();
    const whole = ADDRESS.test(given) ? given : given.includes("@") ? `mailto:${given}` : `https://${given}`;
    linker.hidden = true;
    area.focus();
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (!given) document.execCommand("unlink");
    else if (range.collapsed) document.execCommand("insertText", false, whole);
    else document.execCommand("createLink", false, whole);
  };

  const element = h(
    "div",
    { class: "builder-rich" },
    h(
      "div",
      { class: "builder-rich-tools", role: "group", "aria-label": gettext("Format") },
      tool("format_bold", gettext("Bold"), () => run("bold")),
      tool("format_italic", gettext("Italic"), () => run("italic")),
      tool("format_list_bulleted", gettext("List"), () => run("insertUnorderedList")),
      tool("link", gettext("Link"), askForLink),
    ),
    linker,
    area,
  );
  return {
    element,
    area,
    set: (next) => {
      if (next !== value) {
        value = next;
        area.replaceChildren(...read(next));
      }
    },
  };
}
