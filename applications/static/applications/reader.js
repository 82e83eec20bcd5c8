// The answers and the files of an application in tabs, and the keys j and k.
document.addEventListener("DOMContentLoaded", () => {
  const CHOICE = "read-tab"; // the name of the field, so that the CV of each application is shown
  const ZOOM = "read-zoom";
  const SHORTCUTS = "shortcuts";
  const ZOOMS = [0.75, 1, 1.25, 1.5, 2, 3];
  const LATE = 30_000;

  const remembered = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // the browser stores nothing
    }
  };
  const remember = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // as above
    }
  };

  // --- keys ---

  const shortcuts = document.querySelector("[data-shortcuts]");
  const shortcutsBox = shortcuts?.querySelector("input");
  function press(key) {
    const link = document.querySelector(key === "j" ? "a[rel=next]" : "a[rel=prev]");
    if (shortcutsBox?.checked) link?.click();
  }
  if (shortcuts) {
    shortcuts.hidden = false;
    shortcutsBox.checked = remembered(SHORTCUTS) !== "off";
    shortcutsBox.addEventListener("change", () => remember(SHORTCUTS, shortcutsBox.checked ? "on" : "off"));
  }
  document.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, altKey, metaKey } = event;
    const isTyping = target.isContentEditable || target.matches("select, textarea, input:not([type=checkbox], [type=radio])");
    if (["j", "k"].includes(key) && !isTyping && !ctrlKey && !altKey && !metaKey) press(key);
  });

  // --- tabs ---

  const list = document.querySelector("#answers [role=tablist]");
  if (!list) return;
  const tabs = Array.from(list.querySelectorAll("[role=tab]"));
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

  function choose(chosen) {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      panelOf(tab).hidden = tab !== chosen;
    }
    if (chosen !== tabs[0]) open(panelOf(chosen));
  }
  for (const tab of tabs) {
    panelOf(tab).setAttribute("role", "tabpanel");
    panelOf(tab).setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => {
      remember(CHOICE, tab.dataset.field ?? "");
      choose(tab);
    });
  }
  list.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
    next.focus();
    next.click();
  });

  // --- files ---

  let zoom = Number(remembered(ZOOM)) || 1;
  const shown = new Map(); // how the file of a panel is enlarged

  function enlarge(step) {
    zoom = ZOOMS.at(Math.min(Math.max(ZOOMS.indexOf(zoom) + step, 0), ZOOMS.length - 1));
    remember(ZOOM, zoom);
    for (const apply of shown.values()) apply();
  }
  const say = (panel, text) => { panel.querySelector("[role=status]").textContent = text; };
  function zoomable(panel, apply) {
    shown.set(panel, apply);
    apply();
    for (const button of panel.querySelectorAll("[data-zoom]")) button.hidden = false;
  }
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => enlarge(Number(button.dataset.zoom)));
  }

  async function open(panel) {
    const { kind, url } = panel.dataset;
    if (panel.dataset.isOpen) return;
    panel.dataset.isOpen = "yes";
    const show = { pdf: showPdf, jpg: showImage, png: showImage, txt: showText, docx: showText, odt: showText }[kind];
    if (!show) return say(panel, panel.dataset.unknown);
    say(panel, panel.dataset.loading);
    const frame = kind === "pdf" ? addFrame(panel) : null; // it starts while the file is fetched
    let problem = panel.dataset.failed;
    try {
      const response = await fetch(url, { redirect: "manual", cache: "no-store" });
      if (response.ok) return await show(panel, response, frame);
      if (response.status === 422) problem = await response.text();
      else problem = { 0: panel.dataset.signedOut, 404: panel.dataset.gone }[response.status] ?? problem;
    } catch {
      // no connection, or no image
    }
    frame?.remove();
    say(panel, problem);
    delete panel.dataset.isOpen; // the next click tries again
  }

  async function showText(panel, response) {
    const text = await response.text();
    say(panel, text.trim() ? "" : panel.dataset.empty);
    panel.append(Object.assign(document.createElement("div"), {
      className: "application-text application-document", textContent: text, dir: "auto",
    }));
  }

  async function showImage(panel, response) {
    const image = Object.assign(document.createElement("img"), {
      src: URL.createObjectURL(await response.blob()), alt: panel.dataset.name,
    });
    await image.decode();
    const box = Object.assign(document.createElement("div"), { className: "application-image" });
    box.append(image);
    say(panel, "");
    panel.append(box);
    zoomable(panel, () => { image.style.width = `${100 * zoom}%`; });
  }

  /** Add a frame that has no origin, no cookie and no network but static files. */
  function addFrame(panel) {
    const frame = Object.assign(document.createElement("iframe"), {
      className: "application-frame", title: panel.dataset.name, src: panel.dataset.viewer,
    });
    frame.sandbox = "allow-scripts";
    frame.isReady = new Promise((resolve) => { frame.setReady = resolve; });
    window.addEventListener("message", ({ source, data }) => {
      if (!frame.contentWindow || source !== frame.contentWindow) return;
      if (["j", "k"].includes(data?.key)) press(data.key);
      if (data?.state === "ready") frame.setReady();
      if (["shown", "password", "damaged"].includes(data?.state)) frame.onState?.(data);
    });
    panel.append(frame);
    return frame;
  }

  async function showPdf(panel, response, frame) {
    const bytes = await response.arrayBuffer();
    const fail = (text) => {
      frame.remove(); // and its worker
      say(panel, text);
      for (const button of panel.querySelectorAll("[data-zoom]")) button.hidden = true;
    };
    const late = setTimeout(() => fail(panel.dataset.late), LATE);
    frame.onState = ({ state, pages, limit }) => {
      clearTimeout(late);
      if (state !== "shown") return fail(panel.dataset[state]);
      const numbers = { shown: Number(limit), pages: Number(pages) };
      const isCut = numbers.pages > numbers.shown;
      return say(panel, isCut ? panel.dataset.more.replace(/{(\w+)}/g, (_all, name) => numbers[name]) : "");
    };
    await frame.isReady;
    frame.contentWindow?.postMessage({ bytes, zoom }, "*", [bytes]);
    zoomable(panel, () => frame.contentWindow?.postMessage({ zoom }, "*"));
  }

  list.hidden = false;
  document.getElementById("answers-title").classList.add("sr-only");
  const wanted = remembered(CHOICE);
  choose((wanted && (tabs.find((tab) => tab.dataset.field === wanted) ?? tabs[1])) || tabs[0]);
});
