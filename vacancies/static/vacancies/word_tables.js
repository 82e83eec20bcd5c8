// Converts tables that are pasted into the rich text editor to lists, like jobsite/text/html_tables.py on the server:
// a row becomes an item. A table that only places its content (one cell, or cells with headings) becomes its content.
(() => {
  const SHORT = 60; // characters of a text that is repeated
  const SPAN_MAX = 50;
  const BLOCKS = "p, ul, ol, h2, h3, h4, h5, blockquote";
  const words = (node) => node.textContent.replace(/\s+/g, " ").trim();
  const span = (cell, name) => Math.min(Math.max(parseInt(cell.getAttribute(name), 10) || 1, 1), SPAN_MAX);

  /** Return the cell as { cell, text, lists }: its lines of text, and the lists in it. */
  function read(cell) {
    const doc = cell.ownerDocument;
    const [lines, lists] = [[[]], []];
    const walk = (node) => {
      if (node.nodeType === 1 && node.matches("ul, ol")) lists.push(node);
      else if (node.nodeType === 1 && node.matches("p, div, br")) {
        lines.push([]);
        node.childNodes.forEach(walk);
        lines.push([]);
      } else if (node.nodeType === 1 && node.querySelector("p, div, br, ul, ol")) node.childNodes.forEach(walk);
      else if (node.nodeType !== 8) lines.at(-1).push(node);
    };
    cell.childNodes.forEach(walk);
    const text = doc.createElement("span");
    for (const line of lines) {
      const part = doc.createElement("span");
      part.append(...line.map((node) => node.cloneNode(true)));
      if (!words(part)) continue;
      if (text.hasChildNodes()) text.append(doc.createElement("br"));
      part.normalize();
      part.firstChild.nodeType === 3 && (part.firstChild.data = part.firstChild.data.trimStart());
      part.lastChild.nodeType === 3 && (part.lastChild.data = part.lastChild.data.trimEnd());
      text.append(...part.childNodes);
    }
    return { cell, text, lists: lists.filter(words) };
  }

  /** Return the rows, each a Map of cells by column. A short cell of several rows is repeated in each of them. */
  function readGrid(rows) {
    const grid = rows.map(() => new Map());
    rows.forEach((row, number) => {
      let column = 0;
      for (const element of row.cells) {
        while (grid[number].has(column)) column += 1;
        const made = read(element);
        grid[number].set(column, made);
        const text = words(made.text).length <= SHORT ? made.text : element.ownerDocument.createElement("span");
        for (const below of grid.slice(number + 1, number + span(element, "rowspan"))) {
          below.set(column, { cell: element, text, lists: [] });
        }
        column += span(element, "colspan");
      }
    });
    return grid.map((row) => new Map([...row].sort(([one], [other]) => one - other)));
  }

  /** Return the headings in the first row, by column; empty if it has other cells or long texts. */
  function readLabels(row, hasHead) {
    const labels = new Map();
    for (const [column, { cell, text, lists }] of row) {
      const name = words(text);
      if (lists.length || name.length > SHORT || !(hasHead || cell.localName === "th")) return new Map();
      for (let each = 0; name && each < span(cell, "colspan"); each += 1) labels.set(column + each, name);
    }
    return labels;
  }

  function makeItem(doc, row, labels, isPair) {
    const item = doc.createElement("li");
    const cells = [...row].filter(([, { text, lists }]) => words(text) || lists.length);
    const isNamed = isPair && !labels.size && cells.length === 2 && cells.every(([, { text }]) => words(text));
    cells.forEach(([column, { text }], number) => {
      const label = labels.get(column);
      if (!label && !words(text)) return;
      if (isNamed && number) item.append(words(cells[0][1].text).endsWith(":") ? " " : ": ");
      else if (item.hasChildNodes()) item.append("; ");
      if (label) item.append(words(text) ? `${label}: ` : `${label}:`);
      item.append(...text.cloneNode(true).childNodes);
    });
    cells.forEach(([, { lists }]) => item.append(...lists));
    return item;
  }

  function convert(table) {
    const doc = table.ownerDocument;
    const rows = [...table.rows];
    const filled = rows.flatMap((row) => [...row.cells]).filter((cell) => words(cell));
    if (table.caption && words(table.caption)) {
      const caption = doc.createElement("p");
      caption.append(...table.caption.childNodes);
      table.before(caption);
    }
    const places = ["presentation", "none"].includes(table.getAttribute("role"));
    if (places || filled.length < 2 || filled.some((cell) => cell.querySelector("h2, h3, h4, h5, blockquote"))) {
      for (const cell of filled) {
        const part = doc.createElement("p");
        part.append(...cell.childNodes);
        if (part.querySelector(BLOCKS)) table.before(...part.childNodes);
        else table.before(part);
      }
      table.remove();
      return false;
    }
    let grid = readGrid(rows);
    let labels = readLabels(grid[0], Boolean(table.tHead));
    const used = new Set();
    grid.slice(1).forEach((row) => row.forEach(({ text, lists }, column) => (words(text) || lists.length) && used.add(column)));
    if (labels.size && [...labels.keys()].every((column) => used.has(column))) grid = grid.slice(1);
    else labels = new Map(); // the text of a heading that no row needs would be lost
    const isPair = Math.max(...grid.map((row) => row.size)) === 2;
    const list = doc.createElement("ul");
    for (const row of grid) {
      const item = makeItem(doc, row, labels, isPair);
      if (words(item)) list.append(item);
    }
    table.replaceWith(list);
    return true;
  }

  /** Convert all tables of `doc`, inner ones first. Return whether one became a list. */
  window.tablesToLists = (doc) => [...doc.querySelectorAll("table")].reverse().map(convert).some(Boolean);
})();
