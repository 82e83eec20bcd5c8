// Shows a PDF in a frame without an origin (decisions.md #245), which the page of an application fills:
// it gets {bytes}, {zoom}, and says {state: "ready" | "shown" | "password" | "damaged", pages}, {key}, a key of reader.js.
const PAGES = 50; // that are shown
const PIXELS = 16_000_000; // of a page, so that browsers draw it
const IMAGE_PIXELS = 50_000_000;
const HEIGHT = 20_000; // of a page
const MARGIN = 8;

const { api, worker: workerFile, folder } = document.body.dataset;
const address = (path) => new URL(path, document.baseURI).href;
const tell = (message) => parent.postMessage(message, location.origin);

// Without an origin, a worker must be a blob, and in Chromium a classic script. Messages before its "ready" are lost.
const start = `import(${JSON.stringify(address(workerFile))}).catch(() => postMessage(null));`;
const worker = new Worker(URL.createObjectURL(new Blob([start], { type: "text/javascript" })));
const isWorking = new Promise((resolve) => {
  worker.addEventListener("message", ({ data }) => resolve(data !== null), { once: true });
});
const pdfjs = await import(address(api));

let pages = [];
let zoom = 1;

class Page {
  constructor(pdf, number, size) {
    Object.assign(this, { pdf, number, size, drawing: null });
    this.box = document.createElement("section");
    this.box.setAttribute("aria-label", `${number} / ${pdf.numPages}`);
    document.body.append(this.box);
  }

  /** Fit the page into the width of the frame. */
  resize() {
    const width = Math.max(document.body.clientWidth - 2 * MARGIN, 100) * zoom;
    this.scale = Math.min(width / this.size.width, HEIGHT / this.size.height);
    this.box.style.width = `${this.size.width * this.scale}px`;
    this.box.style.height = `${this.size.height * this.scale}px`;
    this.box.style.setProperty("--total-scale-factor", this.scale);
    this.clear();
    if (this.isVisible) this.draw();
  }

  show(isVisible) {
    this.isVisible = isVisible;
    if (isVisible) return this.canvas || this.drawing ? null : this.draw();
    this.clear();
    return this.page?.cleanup(); // images of a scan
  }

  async draw() {
    try {
      const isFirst = !this.page;
      this.page ??= await this.pdf.getPage(this.number);
      const size = this.page.getViewport({ scale: 1 });
      if (isFirst && (size.width !== this.size.width || size.height !== this.size.height)) {
        this.size = size;
        return this.resize();
      }
      this.clear();
      const ratio = Math.min(
        Math.max(devicePixelRatio, 1), Math.sqrt(PIXELS / (size.width * size.height * this.scale ** 2)),
      );
      const viewport = this.page.getViewport({ scale: this.scale * ratio });
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(Math.floor(viewport.width), 1);
      canvas.height = Math.max(Math.floor(viewport.height), 1);
      this.drawing = this.page.render({ canvas, viewport });
      await this.drawing.promise;
      this.drawing = null;
      this.canvas = canvas;
      this.box.prepend(canvas);
      this.addText().catch(() => null); // damaged text: the drawing is enough
    } catch (error) {
      if (error.name === "RenderingCancelledException") return;
      this.drawing = null;
      if (this.number === 1) tell({ state: "damaged" });
    }
  }

  /** Add the text, transparent, for selecting, searching and screen readers. */
  async addText() {
    if (this.text) return;
    this.text = document.createElement("div");
    this.text.className = "textLayer";
    this.box.append(this.text);
    const viewport = this.page.getViewport({ scale: this.scale });
    const source = this.page.streamTextContent();
    await new pdfjs.TextLayer({ textContentSource: source, container: this.text, viewport }).render();
  }

  /** Free the memory of the drawing. */
  clear() {
    this.drawing?.cancel();
    this.drawing = null;
    this.canvas?.remove();
    this.canvas = null;
  }
}

async function show(bytes) {
  if (!(await isWorking)) return tell({ state: "damaged" });
  const loading = pdfjs.getDocument({
    data: new Uint8Array(bytes),
    worker: pdfjs.PDFWorker.create({ port: worker }),
    cMapUrl: address(`${folder}cmaps/`),
    iccUrl: address(`${folder}iccs/`),
    standardFontDataUrl: address(`${folder}standard_fonts/`),
    wasmUrl: address(`${folder}wasm/`),
    maxImageSize: IMAGE_PIXELS,
  });
  try {
    const pdf = await loading.promise;
    const first = (await pdf.getPage(1)).getViewport({ scale: 1 });
    const count = Math.min(pdf.numPages, PAGES);
    pages = Array.from({ length: count }, (_, index) => new Page(pdf, index + 1, first));
    for (const page of pages) page.resize();
    await pages[0].draw();
    pages[0].isVisible = true;
    if (pages[0].canvas) tell({ state: "shown", pages: pdf.numPages, limit: PAGES });
    const near = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        pages.find(({ box }) => box === target).show(isIntersecting);
      }
    }, { root: document, rootMargin: "100%" });
    for (const { box } of pages) near.observe(box);
  } catch (error) {
    tell({ state: error.name === "PasswordException" ? "password" : "damaged" });
  }
}

let resizing;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => pages.forEach((page) => page.resize()), 150);
});

addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  if (data.zoom && data.zoom !== zoom) {
    const place = scrollY / document.documentElement.scrollHeight;
    zoom = data.zoom;
    for (const page of pages) page.resize();
    scrollTo(0, place * document.documentElement.scrollHeight);
  }
  if (data.bytes) show(data.bytes);
});

addEventListener("keydown", ({ key, ctrlKey, altKey, metaKey }) => {
  if (/^[jknrie0-5?]$/.test(key) && !ctrlKey && !altKey && !metaKey) tell({ key });
});
tell({ state: "ready" });
