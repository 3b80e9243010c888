// Saving: the present picture is made in the browser, all other formats by the kernel.

import { h, put, SVG, s } from "./dom.js";

/** @import { View } from "./view.js" */

const KINDS = [
  ["png", "PNG of this step"],
  ["svg", "SVG of this step"],
  ["html", "HTML that still steps"],
  ["gif", "GIF of the run"],
  ["apng", "APNG of the run"],
  ["dot", "DOT source"],
];
/** The properties that make the picture; a file has no style sheet. */
const STYLES = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-opacity", "fill-opacity", "paint-order"],
  ...["font-family", "font-size", "font-weight", "text-anchor", "display", "opacity"],
];
const LARGEST = 8000; // pixels of a PNG's longer side

export class Files {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const options = KINDS.map(([kind, text]) => h("option", { value: kind }, text));
    const attributes = { class: "mg-speed mg-save", "aria-label": "save as", title: "save the picture, the run, or the page" };
    this.select = h("select", attributes, h("option", { value: "" }, "save"), ...options);
    view.shell.tools.append(this.select);
    view.on(this.select, "change", () => {
      const kind = this.select.value;
      this.select.value = "";
      if (kind) this.#save(kind);
    });
  }

  /** @param {string} kind */
  #save(kind) {
    const { view } = this;
    if (kind === "svg" || kind === "png") return this.#picture(kind);
    put(view.shell.status, view.state.alive ? `making ${kind} …` : `${kind} needs a kernel`);
    if (view.state.alive) view.send({ type: "save", kind, dark: view.shell.root.dataset.mgTheme === "dark" });
  }

  /** A file that the kernel has made. @param {{name: string, mime: string}} content @param {DataView} bytes */
  arrived({ name, mime }, bytes) {
    this.#download(new Blob([/** @type {DataView<ArrayBuffer>} */ (bytes)], { type: mime }), name);
  }

  /** @param {Blob} blob @param {string} name */
  #download(blob, name) {
    const a = h("a", { href: URL.createObjectURL(blob), download: name });
    a.click();
    window.setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
    put(this.view.shell.status, `saved ${name}`);
  }

  get #name() {
    const { trace } = this.view.state;
    return trace.nodes[trace.root].label.replace(/[^\p{L}\p{N}_]+/gu, "_").replace(/^_+|_+$/g, "") || "graph";
  }

  /** The present picture, with its styles inlined. @param {string} kind */
  #picture(kind) {
    const { view } = this;
    const { svg } = view.scene;
    const { width, height } = svg.viewBox.baseVal; // a network has no picture of cards
    view.offscreen.flush();
    svg.classList.remove("mg-far"); // a file has all its numbers
    const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
    const [ours, theirs] = [svg, copy].map((e) => [...e.querySelectorAll("*")]);
    ours.forEach((e, k) => {
      const style = getComputedStyle(e);
      theirs[k].setAttribute("style", STYLES.map((p) => `${p}:${style.getPropertyValue(p)}`).join(";"));
    });
    for (const e of theirs) if (e.getAttribute("style")?.includes("display:none")) e.remove();
    view.viewport.scale(view.viewport.zoom);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    copy.prepend(s("rect", { width, height, fill: getComputedStyle(view.shell.root).backgroundColor }));
    const text = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
    if (kind === "svg") this.#download(text, `${this.#name}.svg`);
    else this.#raster(text, `${this.#name}.png`, width, height);
  }

  /** @param {Blob} svg @param {string} name @param {number} width @param {number} height */
  #raster(svg, name, width, height) {
    const image = new Image();
    const address = URL.createObjectURL(svg);
    image.onload = () => {
      const canvas = document.createElement("canvas");
      const scale = Math.min(2, LARGEST / Math.max(width, height));
      canvas.width = width * scale;
      canvas.height = height * scale;
      canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => {
        if (blob) this.#download(blob, name);
      });
      URL.revokeObjectURL(address);
    };
    image.src = address;
  }
}
