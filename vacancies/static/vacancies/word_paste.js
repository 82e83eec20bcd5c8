// Converts HTML that is pasted into the rich text editor. The editor itself keeps bold, italic, links and lists,
// and drops styles and classes. This script handles the rest: Word writes list items as paragraphs with a bullet,
// headings start at the second level here, and programs use empty paragraphs for spacing.
(() => {
  const ITEM = /mso-list:\s*(l\d+)\s+level(\d)\s+(lfo\d+)/; // list, level, numbering
  const NUMBER = /^\(?([\divxlcdm]+|[a-z])(\.[\da-z]+)*[.)]/i; // "1.", "iv)", "(a)"; the bullet "o" has no dot
  const BLOCKS = "p, div, ul, ol, h1, h2, h3, h4, h5, h6, blockquote, table";
  const isBlank = (node) => !node.textContent.trim();

  function moved(element, name) {
    const other = element.ownerDocument.createElement(name);
    other.append(...element.childNodes);
    return other;
  }

  /** Whether the next sibling of `node` in this direction is a block, which ends the line. */
  function isBesideBlock(node, direction) {
    do node = node[direction];
    while (node && node.nodeType !== 1 && isBlank(node));
    return node?.nodeType === 1 && node.matches(BLOCKS);
  }

  /** Remove the bullet or number that Word puts before an item, between two comments. Return its text. */
  function takeMarker(paragraph) {
    const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_COMMENT);
    const marker = [];
    for (let isInside = false, node; (node = walker.nextNode()); ) {
      if (node.nodeType === 8) isInside = node.data.includes("supportLists");
      else if (isInside || /mso-list:\s*ignore/i.test(node.getAttribute("style"))) marker.push(node);
    }
    const text = marker[0]?.textContent.trim() ?? "";
    marker.forEach((node) => node.remove());
    return text;
  }

  function makeLists(doc) {
    let open = []; // the open lists, outermost first
    for (const paragraph of doc.querySelectorAll("p[style*=mso-list], div[style*=mso-list]")) {
      const [found, name, depth, count] = ITEM.exec(paragraph.getAttribute("style")) ?? [];
      if (!found || paragraph.closest("li")) continue;
      const kind = NUMBER.test(takeMarker(paragraph)) ? "ol" : "ul";
      const [level, key] = [Number(depth), `${kind} ${name} ${count}`];
      if (open[0]?.list !== paragraph.previousElementSibling) open = []; // other content between the items
      open = open.filter((each) => each.level < level || (each.level === level && each.key === key));
      if (open.at(-1)?.level !== level) {
        const [list, owner] = [doc.createElement(kind), open.at(-1)?.list.lastElementChild];
        if (owner) owner.append(list);
        else paragraph.before(list);
        open.push({ level, key, list });
      }
      open.at(-1).list.append(moved(paragraph, "li"));
      paragraph.remove();
    }
  }

  /** Return `html` for the editor. */
  function tidied(html) {
    if (html.includes("data-pm-slice")) return html; // copied in this editor
    const doc = new DOMParser().parseFromString(html, "text/html"); // runs no scripts, loads nothing
    const each = (selector, change) => doc.querySelectorAll(selector).forEach(change);
    each(BLOCKS, (block) => isBlank(block) && block.remove());
    makeLists(doc);
    each("h1, p.MsoTitle", (title) => title.replaceWith(moved(title, "h2")));
    each("h6, p[class^=MsoHeading]", (title) => title.replaceWith(moved(title, "h5")));
    // Browsers copy computed styles: headings need no bold, links no underline.
    each("h2, h3, h4, h5", (title) => title.removeAttribute("style"));
    each("a, a [style]", (part) => (part.style.textDecoration = ""));
    each("a u", (part) => part.replaceWith(...part.childNodes));
    each("br", (line) => ["previousSibling", "nextSibling"].some((way) => isBesideBlock(line, way)) && line.remove());
    each("li, td p", (part) => isBlank(part) && part.remove());
    return doc.body.innerHTML;
  }

  document.addEventListener("prose-editor:ready", ({ detail: { editor } }) => {
    editor.view.setProps({ transformPastedHTML: tidied });
  });
})();
