// The parts and the files of an application in tabs, and the keys, each of which clicks what has it as data-key.
document.addEventListener("DOMContentLoaded", () => {
  const ZOOM = "read-zoom";
  const SHORTCUTS = "shortcuts";
  const LINE = "shortcuts-seen";
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

  const KEYS = /^[jknrie0-5?]$/;
  const shortcuts = () => document.querySelector("[data-shortcuts] input");
  function press(key) {
    if (!KEYS.test(key) || !shortcuts()?.checked || document.querySelector("dialog[open]")) return;
    document.querySelector(`[data-key="${key}"]`)?.click();
  }
  document.addEventListener("change", ({ target }) => {
    if (target === shortcuts()) remember(SHORTCUTS, target.checked ? "on" : "off");
  });
  document.addEventListener("keydown", ({ key, target, ctrlKey, altKey, metaKey }) => {
    const inputs = "select, textarea, input:not([type=checkbox], [type=radio])";
    const isTyping = target.isContentEditable || target.matches(inputs);
    if (!isTyping && !ctrlKey && !altKey && !metaKey) press(key);
  });

  // --- tabs ---

  /** Make tabs of a list: `opened` is told which panel is shown. The tab that was chosen last is chosen again. */
  function setUpTabs(list, opened) {
    const { remember: choice } = list.dataset;
    const tabs = Array.from(list.querySelectorAll("[role=tab]"));
    const keyOf = (tab) => tab.dataset.field ?? tab.getAttribute("aria-controls");
    const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

    function choose(chosen) {
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === chosen ? 0 : -1;
        panelOf(tab).hidden = tab !== chosen;
      }
      opened(panelOf(chosen));
    }
    for (const tab of tabs) {
      panelOf(tab).setAttribute("role", "tabpanel");
      panelOf(tab).setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => {
        remember(choice, keyOf(tab));
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
    list.hidden = tabs.length < 2;
    const linked = document.getElementById(location.hash.slice(1));
    const wanted = remembered(choice);
    choose(
      (linked && tabs.find((tab) => panelOf(tab).contains(linked))) ??
        tabs.find((tab) => keyOf(tab) === wanted) ?? tabs[0],
    );
  }

  let zoom = Number(remembered(ZOOM)) || 1;
  let page = null; // ends the listeners of the application that is no longer shown

  /** Set up what the page shows of an application, also after walking.js has replaced it. */
  function setUp() {
    page?.abort();
    page = new AbortController();
    const { signal } = page;
    if (shortcuts()) shortcuts().checked = remembered(SHORTCUTS) !== "off";
    const line = document.querySelector("[data-keys]");
    if (line && remembered(LINE) === null) {
      line.hidden = false;
      line.querySelector("button").addEventListener("click", () => {
        line.hidden = true;
        remember(LINE, "yes");
      });
    }
    const parts = document.querySelector(".application-tabs [role=tablist]");
    if (parts) setUpTabs(parts, () => null);
    parts?.parentElement.classList.add("has-tabs");
    const list = document.querySelector(".application-files [role=tablist]");
    if (!list) return;
    const texts = list.dataset;

    // --- files ---

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

    class Problem extends Error {} // its message is for the user

    async function fetched(url) {
      const response = await fetch(url, { redirect: "manual", cache: "no-store" });
      if (response.ok) return response;
      if (response.status === 422) throw new Problem(await response.text());
      throw new Problem({ 0: texts.signedOut, 404: texts.gone }[response.status] ?? texts.failed);
    }

    async function open(panel) {
      const { kind, url } = panel.dataset;
      if (panel.dataset.isOpen) return;
      panel.dataset.isOpen = "yes";
      const show = { pdf: showPdf, jpg: showImage, png: showImage, txt: showText, docx: showText, odt: showText }[kind];
      if (!show) return say(panel, texts.unknown);
      say(panel, texts.loading);
      try {
        say(panel, await show(panel, fetched(url)));
      } catch (error) {
        say(panel, error instanceof Problem ? error.message : texts.failed);
        delete panel.dataset.isOpen; // the next click tries again
      }
    }

    // Each shows the file of a panel when it is fetched, and returns what to say about it.

    async function showText(panel, answer) {
      const text = await (await answer).text();
      panel.append(Object.assign(document.createElement("div"), {
        className: "application-text application-document", textContent: text, dir: "auto",
      }));
      return text.trim() ? "" : texts.empty;
    }

    async function showImage(panel, answer) {
      const image = Object.assign(document.createElement("img"), {
        src: URL.createObjectURL(await (await answer).blob()), alt: panel.dataset.name,
      });
      await image.decode().catch(() => { throw new Problem(texts.broken); });
      const box = Object.assign(document.createElement("div"), { className: "application-image" });
      box.append(image);
      panel.append(box);
      zoomable(panel, () => { image.style.width = `${100 * zoom}%`; });
      return "";
    }

    /** Show a PDF in a frame that has no origin, no cookie and no network but static files. The frame starts while
     * the file is fetched. */
    async function showPdf(panel, answer) {
      const frame = Object.assign(document.createElement("iframe"), {
        className: "application-frame", title: panel.dataset.name, src: panel.dataset.viewer,
      });
      frame.sandbox = "allow-scripts";
      const send = (message, ...moved) => frame.contentWindow?.postMessage(message, "*", moved);
      let setReady;
      let setEnded;
      const isReady = new Promise((resolve) => { setReady = resolve; });
      const ended = new Promise((resolve) => { setEnded = resolve; });
      window.addEventListener("message", ({ source, data }) => {
        if (!source || source !== frame.contentWindow) return;
        if (data?.key) press(data.key);
        if (data?.state === "ready") setReady();
        if (["shown", "password", "damaged"].includes(data?.state)) setEnded(data);
      }, { signal });
      panel.append(frame);
      try {
        const bytes = await (await answer).arrayBuffer();
        const late = new Promise((_resolve, reject) => {
          setTimeout(() => reject(new Problem(texts.late)), LATE);
        });
        await Promise.race([isReady, late]);
        send({ bytes, zoom }, bytes);
        const { state, pages, limit } = await Promise.race([ended, late]);
        if (state !== "shown") throw new Problem(texts[state]);
        zoomable(panel, () => send({ zoom }));
        const numbers = { shown: Number(limit), pages: Number(pages) };
        if (numbers.pages <= numbers.shown) return "";
        return texts.more.replace(/{(\w+)}/g, (_all, name) => numbers[name]);
      } catch (error) {
        frame.remove(); // and its worker
        throw error;
      }
    }

    setUpTabs(list, open);
  }

  setUp();
  document.addEventListener("application:shown", setUp);
});
