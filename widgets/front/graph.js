// The graph view in the browser: draws once from positions, afterwards changes only numbers and classes.
// What lives here: DOM, events, time. What does not: any arithmetic on the trace (state.js) and any layout (the kernel's).
// The model may be anywidget's, or the few lines that an exported page uses: get, set, save_changes, send, on, off.
// @ts-check
import { answers, arriving, chain, doubles, eventOf, fit, fmt, forwardSteps, judge, keyMove, leaving, lookUp, moment, move, moved, nearest, pieces, plainNumber, recorded, sentence, tail, trouble, width, withNumbers } from "./state.js";
import { equation, partial, typeset } from "./math.js";
import { caretLine, columns, marker } from "./source.js";
import { arrayAt, arrayText, between, captions, count, heat, mark, markWords, most, shapeText, single, tall } from "./tensor.js";

/** @typedef {import("./state.js").Trace} Trace */
/** @typedef {import("./state.js").Point} Point */
/** @typedef {{id: number, x: number, y: number, w: number, h: number, name: string, expr: string, rows?: [string, string][], at?: number}} Card */
/** @typedef {{fold: number, name: string, x: number, y: number, w: number, h: number}} Frame */
/** @typedef {{id: number, d: string, px: number, py: number, pw: number, text?: [string, string]}} Wire */

const NS = "http://www.w3.org/2000/svg";
const SHOWN_SLIDERS = 6;
const FAR = 0.34; // below this zoom numbers cannot be read: the names are drawn larger, and nothing else is written
const BIG = 120; // cards; of a bigger picture only what is near the window takes part in a drag's frames
const DASHED = 1200; // pixels; a longer wire is drawn whole: hundreds of them with their thousands of dashes take a browser seconds to paint
const SLICE = 250; // cards, wires and rows out of sight that are written at once when a drag is over
const LONG = 80; // rows; in a longer table each row is laid out for itself, or a changed number would move thousands of cells
const PART = 40; // and this many rows are a part that the browser leaves alone while it is out of sight
const ROW = 29; // pixels; the height of such a row
/** @type {Record<string, string>} */
const ICONS = { start: "M1 1h2v10H1zM11 1v10L4 6z", end: "M9 1h2v10H9zM1 1v10l7-5z" };

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node|string)} children @returns {any} */
function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), tag, attributes, children);
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node|string)} children @returns {any} */
function s(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(NS, tag), tag, attributes, children);
}

/** @param {Element} e @param {string} tag @param {Record<string, any>} attributes @param {(Node|string)[]} children */
function dress(e, tag, attributes, children) {
  for (const [k, v] of Object.entries(attributes)) if (v !== false) e.setAttribute(k, String(v));
  // JupyterLab takes arrow keys and Space from whatever has the focus, unless that very element says no.
  if ("tabindex" in attributes || /^(button|input|select)$/.test(tag)) e.setAttribute("data-lm-suppress-shortcuts", "true");
  e.append(...children);
  return e;
}

/** ∂ of one name by another; u × u stands in parentheses. @param {...string} labels */
const slope = (...labels) => labels.map((l) => `∂${/[ +−×÷/*]/.test(l.replace(/\[.*?\]|\(.*?\)/g, "")) ? `(${l})` : l}`).join("/");

/** A typeset formula as an element. @param {any} t @returns {any} */
const maths = (t) => (typeof t === "string" ? t : dress(document.createElementNS("http://www.w3.org/1998/Math/MathML", t[0]), t[0], t[1], t.slice(2).map(maths)));

/** @param {string} text "**bold** plain" */
const rich = (text) => pieces(text).map((p) => (p.bold ? h("b", {}, p.text) : document.createTextNode(p.text)));

/** Change text only where it differs: the browser then has nothing to lay out again. @param {Element} e @param {string} text */
function put(e, text) {
  const only = e.firstChild;
  if (only instanceof Text && only === e.lastChild && text) {
    if (only.data !== text) only.data = text;
  } else if (e.textContent !== text) e.textContent = text;
}

/** What undoes a broadcast, in words. @param {import("./state.js").Edge} e */
const summed = ({ broadcast: b }) => (b ? `, summed over ${b.axes.length === 1 ? "dimension" : "dimensions"} ${b.axes.join(", ")}, because ${shapeText(b.shape)} was broadcast to ${shapeText(b.to)}` : "");

/** Were these the values the last time? Remembers them: most of a picture stands still in a step. @param {any} o @param {...any} values */
function same(o, ...values) {
  const last = o.last;
  if (last && values.every((v, i) => Object.is(v, last[i]))) return true;
  o.last = values;
  return false;
}

/** Is this colour dark? @param {string} colour "rgb(r, g, b)" */
function isDark(colour) {
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? ["255", "255", "255"]).map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** A wire's path with one end drawn back by `by` pixels, so that the arrow head ends where the card begins.
 * @param {string} d @param {boolean} atStart @param {number} by */
function shortened(d, atStart, by) {
  const n = (d.match(/-?[\d.]+/g) ?? []).map(Number);
  if (atStart) n[0] += by;
  else n[n.length - 2] -= by;
  return `M${n[0]} ${n[1]}C${n.slice(2).join(" ")}`;
}

/** Large traits come as text from a kernel, as objects out of an exported page. @param {any} x */
const parsed = (x) => (typeof x === "string" ? JSON.parse(x) : x);

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const gone = new AbortController(); // one switch for every DOM listener
  /** @param {EventTarget} target @param {string} type @param {(e: any) => void} run @param {object} [options] */
  const on = (target, type, run, options = {}) => target.addEventListener(type, run, { signal: gone.signal, ...options });
  /** @type {[string, () => void][]} */
  const watching = [];
  /** @param {string} name @param {() => void} run */
  const watch = (name, run) => { model.on(name, run); watching.push([name, run]); };
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  // ---- the frame
  const title = h("code", { class: "mg-title" }), phase = h("span", { class: "mg-phase" }), counts = h("span", { class: "mg-soft" });
  const badge = h("span", { class: "mg-badge", hidden: "" }, "replay only");
  const search = h("input", { class: "mg-search mg-find", type: "search", placeholder: "find /", "aria-label": "find a node by name or operation", title: "find a node by name or operation (/); Enter goes to the next" });
  const found = h("span", { class: "mg-soft", role: "status" });
  const save_as = h("select", { class: "mg-speed mg-save", "aria-label": "save as", title: "save the picture, the run, or the page" }, h("option", { value: "" }, "save"),
    ...[["png", "PNG of this step"], ["svg", "SVG of this step"], ["html", "HTML that still steps"], ["gif", "GIF of the run"], ["apng", "APNG of the run"], ["dot", "DOT source"]].map(([v, text]) => h("option", { value: v }, text)));
  const stage = h("div", { class: "mg-stage" }), zoomBar = h("div", { class: "mg-zoom" });
  const panes = { ledger: h("div", { class: "mg-pane", role: "tabpanel", tabindex: -1 }), values: h("div", { class: "mg-pane", role: "tabpanel", tabindex: -1 }), node: h("div", { class: "mg-pane", role: "tabpanel", tabindex: -1 }) };
  const tabs = h("div", { class: "mg-tabs", role: "tablist", "aria-label": "details" });
  const source = h("div", { class: "mg-source", role: "group", "aria-label": "source lines" });
  const say = h("div", { class: "mg-say", "aria-live": "polite", "aria-atomic": "true" });
  const note = h("div", { class: "mg-note", role: "status", hidden: "" });
  const bar = h("div", { class: "mg-bar", role: "group", "aria-label": "time" });
  const inputs = h("div", { class: "mg-inputs", role: "group", "aria-label": "inputs" });
  const root = h("div", { class: "mg-root", role: "group", tabindex: 0 },
    h("div", { class: "mg-head" }, title, phase, h("span", { class: "mg-grow" }), badge, counts, zoomBar),
    stage, say, note, bar, inputs,
    h("div", { class: "mg-side" }, h("div", { class: "mg-details" }, tabs, panes.ledger, panes.values, panes.node), source));
  el.append(root);

  // ---- what is shown
  /** @type {Trace} */ let trace;
  /** @type {any} */ let rawTrace = null; // the trait that `trace` was read from
  /** @type {{w: number, h: number, cards: Card[], wires: Wire[], frames?: Frame[]}} */ let picture;
  /** @type {import("./state.js").Sweep[]} */ let sweeps = [];
  /** @type {Point} */ let point;
  /** @type {Map<number, any>} */ const cardOf = new Map();
  /** @type {any[]} */ let cards = [];
  /** @type {any[]} */ let wires = [];
  /** @type {any} */ let svg;
  /** @type {Card|null} the card that differs from its twin in another view */ let marked = null;
  const said = () => marked?.rows?.map((x) => x.join(" ")).join(", ") ?? "";
  let zoom = 1, fitted = true, selected = -1, tab = "ledger", chosen = false, timer = 0, shown = -1, alive = true, dragging = false, behind = false, flight = 0, reopened = -1;
  let total = 0, forward = 0;
  let room = Infinity; // how many more cards, wires and rows out of sight may be written now
  const pen = marker(root); // what made a node is marked in its cell, too

  const step = () => Math.min(total, Math.max(0, model.get("step")));
  /** @param {number} to */
  function go(to) {
    model.set("step", to);
    save();
  }
  function save() {
    if (alive) model.save_changes();
  }

  // ---- buttons and track
  /** @param {string} name @param {string} text @param {string} label @param {() => void} run */
  const button = (name, text, label, run) => {
    const b = h("button", { class: `mg-button mg-${name}`, type: "button", title: label, "aria-label": label }, ...(ICONS[text] ? [s("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, s("path", { d: ICONS[text] }))] : [text]));
    on(b, "click", run);
    return b;
  };
  const play = button("play", "play", "play (Space)", toggle);
  const speed = h("select", { class: "mg-speed", "aria-label": "speed", title: "speed" }, ...["0.5", "1", "2", "4"].map((v) => h("option", { value: v }, `${v.replace("0.5", "½")}×`)));
  speed.value = "1";
  const track = h("div", { class: "mg-track", role: "slider", tabindex: 0, "aria-label": "event", "aria-valuemin": 0 });
  const rail = h("div", { class: "mg-rail" }), knob = h("div", { class: "mg-knob" }), clock = h("span", { class: "mg-clock" });
  track.append(rail, knob);
  bar.append(
    button("start", "start", "start (Home)", () => act("start")), button("back", "◂ back", "step back (←)", () => act("back")),
    button("next", "step ▸", "step (→)", () => act("next")), play, button("end", "end", "end (End)", () => act("end")), speed, track, clock);

  /** @param {string} what */
  function act(what) {
    stop();
    go(move(step(), total, what));
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    put(play, "play");
    play.setAttribute("aria-label", "play (Space)");
  }
  function toggle() {
    if (timer) return stop();
    if (step() >= total) go(0);
    put(play, "pause");
    play.setAttribute("aria-label", "pause (Space)");
    timer = window.setInterval(() => {
      if (step() >= total) stop();
      else go(step() + 1);
    }, 1100 / Number(speed.value));
  }
  on(speed, "change", () => { if (timer) { stop(); toggle(); } });

  /** Events stand evenly within each half; the halves are as long as they have events, but neither less than a quarter. */
  const split = () => (total ? Math.min(0.75, Math.max(0.25, forward / total)) : 0.5);
  /** @param {number} k */
  const place = (k) => (k <= forward ? (forward ? (k / forward) * split() : 0) : split() + ((k - forward) / (total - forward)) * (1 - split()));
  /** @param {PointerEvent} e */
  function scrub(e) {
    const box = track.getBoundingClientRect(), at = (e.clientX - box.left) / box.width;
    let best = 0;
    for (let k = 1; k <= total; k++) if (Math.abs(place(k) - at) < Math.abs(place(best) - at)) best = k;
    if (best !== step()) go(best);
  }
  on(track, "pointerdown", (e) => { stop(); track.setPointerCapture(e.pointerId); track.focus(); scrub(e); });
  on(track, "pointermove", (e) => { if (track.hasPointerCapture(e.pointerId)) scrub(e); });

  // ---- keyboard
  for (const type of ["pointerdown", "keydown", "change"]) on(root, type, pen.take, { capture: true });
  on(root, "keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Tab") whole(); // the next card in order may be far away
    const target = /** @type {HTMLElement} */ (e.target), what = keyMove(e.key);
    if (!what) return;
    if (target.closest("input, select")) return;
    if (what === "find") search.focus();
    else if (what === "up" || what === "down") showFlow(what);
    else if (target.closest("[role=tab]") && (what === "next" || what === "back")) {
      const names = Object.keys(panes), to = names[(names.indexOf(tab) + (what === "next" ? 1 : names.length - 1)) % names.length];
      show(to, true);
      /** @type {any} */ (tabs.querySelector("[aria-selected=true]")).focus();
    } else if (target.closest("button, summary") && (e.key === " " || e.key === "Enter")) return;
    else if (target.closest(".mg-code") && (e.key === " " || e.key === "Enter")) target.click();
    else if (what === "play") toggle();
    else if (what === "inspect") {
      const frame = target.closest(".mg-frame"), card = target.closest(".mg-card"), row = target.closest("tr[data-step]");
      if (frame) fold(Number(frame.getAttribute("data-fold")));
      else if (row) act2(Number(row.getAttribute("data-step")));
      else if (target.closest(".mg-makes")) target.dispatchEvent(new MouseEvent("click"));
      else inspect(card ? Number(card.getAttribute("data-node")) : currentNode());
    } else if (what === "close") { selected = -1; chosen = false; flowing = ""; mark_cards(null, ""); markLine(""); update(); pen.drop(); }
    else act(what);
    e.preventDefault();
    e.stopPropagation();
  });
  /** @param {number} to */
  function act2(to) {
    stop();
    go(to);
  }
  const currentNode = () => trace.steps[step() - 1]?.node ?? trace.root;

  /** Select a node and go to its event. @param {number} node */
  function inspect(node) {
    const key = trace.nodes[node].fold;
    if (key !== undefined && alive) return fold(key);
    selected = node;
    show("node", true);
    const at = eventOf(trace, node, step() > forward ? "backward" : "forward");
    if (at && at !== step()) act2(at);
    else update();
  }

  // ---- find
  /** @type {{nodes: number[], at: number, hits: number[]}} */ let finds = { nodes: [], at: -1, hits: [] };
  /** @param {number[]} nodes @param {number} count @param {number[]} [hits] nodes of the whole graph, where it is folded */
  function showFinds(nodes, count, hits = []) {
    finds = { nodes, at: -1, hits };
    put(found, search.value ? `${count} found` : "");
    mark_cards(search.value ? new Set(nodes) : null, "mg-hit");
  }
  /** Mark these cards, and let the others step back. @param {Set<number>|null} some @param {string} kind */
  function mark_cards(some, kind) {
    root.classList.toggle("mg-some", !!some);
    for (const c of cards) for (const k of ["mg-hit", "mg-flow"]) c.g.classList.toggle(k, k === kind && !!some?.has(c.card.id));
    for (const w of wires) {
      w.flow = kind === "mg-flow" && !!some?.has(w.edge.source) && !!some.has(w.edge.target);
      for (const e of [w.g, w.pill]) e?.classList.toggle("mg-flow", w.flow);
    }
  }
  function find() {
    const text = search.value.trim().toLowerCase();
    const here = trace.nodes.filter((n) => text && n.kind !== "constant" && [n.label, n.op, n.function, n.expr, n.scope].some((t) => t?.toLowerCase().includes(text))).map((n) => n.id);
    showFinds(here, here.length);
    if (text && alive && trace.nodes.some((n) => n.kind === "fold")) model.send({ type: "find", text });
  }
  on(search, "input", find);
  on(search, "keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Escape") { search.value = ""; find(); root.focus(); }
    else if (e.key === "Enter" && finds.nodes.length) {
      finds.at = (finds.at + (e.shiftKey ? finds.nodes.length - 1 : 1)) % finds.nodes.length;
      const node = finds.nodes[finds.at];
      put(found, `${finds.at + 1} of ${finds.nodes.length}`);
      if (trace.nodes[node].kind === "fold" && alive) {
        const inside = finds.hits[finds.at] ?? -1;
        if (inside >= 0) model.send({ type: "open", node: inside });
      } else { selected = node; show("node", true); update(); mark_cards(new Set(finds.nodes), "mg-hit"); }
      follow(node);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  /** What a node is made of, or what it flows into. @param {number} node @param {boolean} up @returns {Set<number>} */
  function flow(node, up) {
    const out = new Set([node]), todo = [node], at = up ? arriving(trace) : leaving(trace);
    for (let n; (n = todo.pop()) !== undefined; ) for (const e of at[n]) {
      const next = up ? e.source : e.target;
      if (!out.has(next)) { out.add(next); todo.push(next); }
    }
    return out;
  }
  let flowing = "";
  /** @param {string} way "up" or "down" */
  function showFlow(way) {
    flowing = flowing === way ? "" : way;
    const node = selected >= 0 ? selected : currentNode();
    mark_cards(flowing ? flow(node, way === "up") : null, "mg-flow");
    for (const b of panes.node.querySelectorAll("[data-flow]")) b.setAttribute("aria-pressed", String(b.dataset.flow === flowing));
  }

  // ---- files
  on(save_as, "change", () => {
    const kind = save_as.value;
    save_as.value = "";
    if (kind === "svg" || kind === "png") picture_file(kind);
    else if (kind && alive) { put(found, `making ${kind} …`); model.send({ type: "save", kind, dark: root.dataset.mgTheme === "dark" }); }
    else if (kind) put(found, `${kind} needs a kernel`);
  });
  /** @param {Blob} blob @param {string} name */
  function download(blob, name) {
    const a = h("a", { href: URL.createObjectURL(blob), download: name });
    a.click();
    window.setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
    put(found, `saved ${name}`);
  }
  const fileName = () => trace.nodes[trace.root].label.replace(/[^\p{L}\p{N}_]+/gu, "_").replace(/^_+|_+$/g, "") || "graph";
  /** The picture as it stands, with its styles written into it: no kernel is asked. @param {string} kind */
  function picture_file(kind) {
    whole();
    svg.classList.remove("mg-far"); // a file has all its numbers
    const copy = /** @type {SVGElement} */ (svg.cloneNode(true)), kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "font-family", "font-size", "font-weight", "text-anchor", "display", "opacity"];
    const [ours, theirs] = [svg, copy].map((e) => [...e.querySelectorAll("*")]);
    ours.forEach((e, k) => { const style = getComputedStyle(e); theirs[k].setAttribute("style", kept.map((p) => `${p}:${style.getPropertyValue(p)}`).join(";")); });
    theirs.filter((e) => e.getAttribute("style")?.includes("display:none")).forEach((e) => e.remove());
    scale(zoom);
    copy.setAttribute("xmlns", NS);
    copy.setAttribute("width", String(picture.w));
    copy.setAttribute("height", String(picture.h));
    copy.prepend(s("rect", { width: picture.w, height: picture.h, fill: getComputedStyle(root).backgroundColor }));
    const text = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
    if (kind === "svg") return download(text, `${fileName()}.svg`);
    const image = new Image(), address = URL.createObjectURL(text);
    image.onload = () => {
      const canvas = document.createElement("canvas"), scale = Math.min(2, 8000 / Math.max(picture.w, picture.h));
      canvas.width = picture.w * scale;
      canvas.height = picture.h * scale;
      canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => { if (blob) download(blob, `${fileName()}.png`); });
      URL.revokeObjectURL(address);
    };
    image.src = address;
  }
  /** What the kernel sends without being a state: files and what it has found in folds. @param {any} content @param {any[]} buffers */
  function onCustom(content, buffers) {
    if (content.type === "file") download(new Blob([buffers[0]], { type: content.mime }), content.name);
    else if (content.type === "found" && content.text === search.value.trim().toLowerCase()) showFinds(content.nodes, content.total, content.hits);
  }

  /** Open or close a fold; the kernel lays the picture out anew. @param {number|string} what */
  function fold(what) {
    if (!alive) return;
    stop();
    selected = -1;
    reopened = typeof what === "number" ? what : -1;
    model.send({ type: "fold", what });
  }

  // ---- tabs
  for (const [name, label] of [["ledger", "Ledger"], ["values", "Values"], ["node", "Node"]]) {
    const t = h("button", { class: "mg-tab", type: "button", role: "tab", "data-tab": name }, label);
    on(t, "click", () => show(name, true));
    tabs.append(t);
  }
  /** @param {string} name @param {boolean} byHand */
  function show(name, byHand) {
    if (byHand) chosen = true;
    tab = name;
    for (const t of tabs.children) {
      const here = t.dataset.tab === name;
      t.setAttribute("aria-selected", String(here));
      t.tabIndex = here ? 0 : -1;
    }
    for (const [key, pane] of Object.entries(panes)) pane.hidden = key !== name;
    if (byHand) update();
  }

  // ---- drawing the picture, once per trace
  function draw() {
    picture = parsed(model.get("picture"));
    if (!trace?.nodes) return;
    total = trace.steps.length;
    forward = forwardSteps(trace);
    [shown, room] = [-1, Infinity];
    selected = Math.min(selected, trace.nodes.length - 1);
    const result = trace.nodes[trace.root], named = trace.title === result.label && result.expr && result.expr !== result.label;
    put(title, named ? `${result.label} = ${result.expr}` : trace.title);
    const operations = trace.nodes.filter((n) => n.kind === "operation").length, leaves = trace.nodes.filter((n) => n.kind === "leaf").length;
    const folds = trace.nodes.filter((n) => n.kind === "fold");
    put(counts, folds.length ? `${trace.nodes.length + folds.reduce((k, n) => k + (n.members ?? 1) - 1, 0)} nodes on ${trace.nodes.length} cards` : `${trace.nodes.length} nodes: ${leaves} ${leaves === 1 ? "input" : "inputs"}, ${operations} ${operations === 1 ? "operation" : "operations"}`);
    root.setAttribute("aria-label", `computation graph of ${trace.title}`);
    svg = s("svg", { viewBox: `0 0 ${picture.w} ${picture.h}`, class: "mg-svg", role: "group", "aria-label": "graph" });
    const under = s("g"), middle = s("g"), over = s("g"); // lines, their labels, cards
    for (const f of picture.frames ?? []) {
      const g = s("g", { class: "mg-frame", tabindex: 0, role: "button", "data-fold": f.fold, "aria-label": `close the fold ${f.name}` }, s("title", {}, `close ${f.name}`),
        s("rect", { class: "mg-outline", x: f.x, y: f.y, width: f.w, height: f.h, rx: 12 }), s("rect", { class: "mg-lid", x: f.x, y: f.y, width: f.w, height: 23, rx: 11 }), s("path", { d: `M${f.x + 12} ${f.y + 10}h8l-4 6z` }), s("text", { x: f.x + 26, y: f.y + 16.5 }, f.name));
      on(g, "click", () => fold(f.fold));
      under.append(g);
    }
    cardOf.clear();
    [wires, away] = [[], []];
    for (const wire of picture.wires) {
      const edge = trace.edges[wire.id], n = (wire.d.match(/-?[\d.]+/g) ?? []).map(Number);
      const [x0, y0] = n, [x1, y1] = n.slice(-2);
      const whole = s("path", { d: wire.d, class: "mg-ghost" });
      const line = s("path", { d: shortened(wire.d, false, 7), class: "mg-line" }), back = s("path", { d: shortened(wire.d, true, 7), class: "mg-line mg-line-b" });
      const long = Math.abs(x1 - x0) + Math.abs(y1 - y0) > DASHED;
      if (long) back.style.strokeDasharray = "none";
      const tip = s("path", { d: `M${x1} ${y1}l-10-5v10z`, class: "mg-tip" }), tipBack = s("path", { d: `M${x0} ${y0}l10-5v10z`, class: "mg-tip mg-tip-b" });
      const g = s("g", { class: "mg-wire", "data-edge": wire.id }, whole, line, back, tip, tipBack);
      let text = null, /** @type {any} */ face = null, /** @type {any} */ pill = null;
      if (wire.pw) {
        text = s("text", { x: wire.px, y: wire.py + 4 });
        const inner = edge.broadcast ? [s("rect", { class: "mg-wide-mark", x: wire.px - wire.pw / 2 + 3, y: wire.py - 7, width: wire.pw - 6, height: 14, rx: 7 })] : [];
        face = s("rect", { x: wire.px - wire.pw / 2, y: wire.py - 10, width: wire.pw, height: 20, rx: 10 });
        middle.append((pill = s("g", {}, face, ...inner, text, s("title"))));
      }
      if (trace.nodes[edge.source].stops) g.append(s("g", { class: "mg-stop", transform: `translate(${x0 + 14},${y0})` }, s("title", {}, `No gradient goes this way. ${edge.stops ?? ""}`), s("circle", { r: 7 }), s("path", { d: "M-4 0h8" })));
      if (edge.makes?.length) {
        const made = edge.makes, way = `${trace.nodes[edge.target].label} → ${trace.nodes[edge.source].label}`, words = `${way}: its rule made ${made.length} ${made.length === 1 ? "node" : "nodes"} of the gradient's own graph`;
        whole.append(s("title", {}, `${words}; click to see which`));
        dress(g, "g", { tabindex: 0, role: "button", "aria-label": words }, []);
        for (const e of [g, pill]) if (e) on(e, "click", () => {
          for (const c of cards) c.g.classList.toggle("mg-hit", made.includes(c.card.id));
          for (const w of wires) for (const part of [w.g, w.pill]) part?.classList.toggle("mg-hit", w.edge === edge);
          put(found, words);
        });
      }
      under.append(g);
      const xs = n.filter((_, k) => k % 2 === 0), ys = n.filter((_, k) => k % 2), half = wire.pw / 2;
      const box = [Math.min(...xs, wire.px - half), Math.min(...ys, wire.py - 10), Math.max(...xs, wire.px + half), Math.max(...ys, wire.py + 10)];
      wires.push({ wire, edge, g, pill, long, line, back, whole, text, face, box });
    }
    marked = null;
    cards = picture.cards.map((card) => {
      const node = trace.nodes[card.id], constant = node.kind === "constant", folded = node.kind === "fold", maps = tall(node);
      const half = (card.w - 34) / 2, less = folded ? 8 : 0, right = card.w - 12 - less;
      const value = s("text", maps ? { x: 12 + half / 2, y: 112, class: "mg-range mg-value" } : { x: right, y: constant ? 38 : 42, class: "mg-number mg-value" });
      const grad = s("text", maps ? { x: 22 + 1.5 * half, y: 112, class: "mg-range mg-grad" } : { x: right, y: 60, class: "mg-number mg-grad" });
      const extra = folded ? [8, 4].map((d) => s("rect", { class: "mg-behind", x: d, y: d, width: card.w - 8, height: card.h - 8, rx: 9 })) : [...(node.view ? [s("rect", { class: "mg-behind", x: 5, y: 5, width: card.w, height: card.h, rx: 9 })] : [])];
      const g = s("g", { class: `mg-card mg-${node.kind}${node.layer ? " mg-layer" : ""}`, transform: `translate(${card.x},${card.y})`, tabindex: 0, role: "button", "data-node": card.id },
        s("title"),
        s("rect", { class: "mg-focus", x: -4, y: -4, width: card.w + 8, height: card.h + 8, rx: 12 }),
        ...extra,
        s("rect", { class: "mg-face", width: card.w - less, height: card.h - less, rx: 9 }),
        s("text", { x: 12, y: 21, class: "mg-name" }, card.name), s("text", { x: right, y: 21, class: "mg-expr" }, card.expr));
      if (node?.layer) g.append(s("path", { class: "mg-stripe", d: `M9 ${card.h - 1.5}H${card.w - 9}` }));
      let drawn = null;
      if (maps) {
        const [caption, special] = captions(trace, node, card.w);
        g.append(s("text", { x: 12, y: 38, class: "mg-caption" }, caption), s("text", { x: card.w - 12, y: 38, class: `mg-caption mg-mark${special.startsWith("⚠") ? " mg-stale-mark" : ""}` }, special));
        drawn = [s("g", { transform: "translate(12,46)" }), s("g", { transform: `translate(${22 + half},46)` })];
        g.append(...drawn, value, grad);
      } else if (folded && node.outs !== 1) g.append(s("text", { x: 12, y: 42, class: "mg-caption" }, `${node.outs} results leave it`));
      else {
        g.append(s("text", { x: 12, y: constant ? 38 : 42, class: "mg-caption" }, "value"), value);
        if (!constant) g.append(s("text", { x: 12, y: 60, class: "mg-caption" }, "grad"), grad);
      }
      if (card.rows) {
        marked = card;
        g.append(s("g", { class: "mg-differ", transform: `translate(0,${card.h - 17 * card.rows.length - 8})` }, s("path", { class: "mg-band", d: `M1.5 0H${card.w - 1.5}V${17 * card.rows.length - 0.5}q0 7-7 7H8.5q-7 0-7-7z` }),
          ...card.rows.flatMap(([caption, text], i) => [s("text", { x: 12, y: 15 + 17 * i, class: "mg-caption" }, caption), s("text", { x: right, y: 15 + 17 * i, class: "mg-number" }, text)])));
      }
      on(g, "click", () => { root.focus({ preventScroll: true }); inspect(card.id); });
      over.append(g);
      cardOf.set(card.id, g);
      return { card, node, g, value, grad, drawn, half, shown: [], room: Math.floor((right - 50) / 8.2), box: [card.x, card.y, card.x + card.w, card.y + card.h] };
    });
    svg.append(under, middle, over);
    stage.replaceChildren(svg);
    drawSource();
    drawTables();
    drawTrack();
    if (fitted) fitStage();
    else scale(zoom);
    foldBar.hidden = !model.get("can_fold");
    if (reopened >= 0) { // the keyboard goes on where it was: at the frame of what was opened, or at the card of what was closed
      const card = trace.nodes.find((n) => n.fold === reopened), to = card ? cardOf.get(card.id) : svg.querySelector(`.mg-frame[data-fold="${reopened}"]`);
      to?.focus({ preventScroll: true });
      reopened = -1;
    }
  }

  // ---- zoom, pan, follow
  /** What the stage shows of the picture, with a margin; null: it may have moved since. @type {number[]|null} */ let window_ = null;
  /** Is this box of the picture in the window, or at most `more` of its pixels away? @param {number[]} box @param {number} [more] */
  function inWindow(box, more = 8) {
    if (!window_) {
      const out = stage.getBoundingClientRect(), at = svg.getBoundingClientRect();
      window_ = [(out.left - at.left) / zoom, (out.top - at.top) / zoom, (out.right - at.left) / zoom, (out.bottom - at.top) / zoom];
    }
    return box[0] <= window_[2] + more && box[2] >= window_[0] - more && box[1] <= window_[3] + more && box[3] >= window_[1] - more;
  }
  /** @type {any[]} wires and cards that are not drawn, being far from the window */ let away = [];
  let returning = 0;
  /** @type {number[]|null} the window when it was last looked what is far */ let thinned = null;
  /** How far the window's four sides have moved since. */
  function beyond() {
    inWindow([0, 0, 0, 0]);
    return thinned ? thinned.reduce((far, v, i) => far + Math.abs(v - /** @type {number[]} */ (window_)[i]), 0) : Infinity;
  }
  /** @param {any} x a wire or a card @param {boolean} far */
  function away_(x, far) {
    x.away = far;
    for (const e of [x.g, x.pill]) if (e) e.style.display = far ? "none" : "";
  }
  /** A browser paints an SVG whole, so in a drag, or from step to step, a big picture has only what is near the window. @param {number} [pause] after it all comes back */
  function thin(pause = 0) {
    clearTimeout(returning);
    if (!dragging && (behind || pause)) returning = window.setTimeout(settle, pause || 600);
    if (cards.length <= BIG) return;
    svg.classList.toggle("mg-still", near || dragging);
    if (away.length && beyond() < 600) return;
    const all = [...wires, ...cards], far = all.map((x) => !inWindow(x.box, 700)); // first all looks, then all changes
    away = all.filter((x, i) => {
      if (!!x.away !== far[i]) away_(x, far[i]);
      return far[i];
    });
    thinned = window_;
  }
  /** Put back what `thin` took away: a hundred at a time once nothing happens, or all at once. @param {number} [count] */
  function thicken(count = Infinity) {
    clearTimeout(returning);
    for (const x of away.splice(0, count)) away_(x, false);
    if (!away.length) svg.classList.remove("mg-still");
    if (away.length || (behind && !dragging)) returning = window.setTimeout(settle, 30);
  }
  /** A drag is over, and nothing else happens: what is out of sight is written, a slice at a time, and then drawn again. */
  function settle() {
    clearTimeout(returning);
    if (dragging) return;
    if (behind) {
      room = SLICE;
      update();
      room = 0;
      returning = window.setTimeout(settle, 30);
    } else {
      room = Infinity;
      if (!near) thicken(100);
    }
  }
  /** All of the picture, drawn and true, at once. */
  function whole() {
    room = Infinity;
    if (behind && !dragging) update();
    thicken();
  }
  /** The stage or a table shows another part: what was left out of a drag's frames because nobody saw it is written now. */
  function onMove() {
    window_ = null;
    for (const pane of Object.values(panes)) pane.top = undefined;
    if (away.length || behind) thin(1500);
    if (behind) update();
  }
  on(stage, "scroll", onMove, { passive: true });
  for (const pane of Object.values(panes)) on(pane, "scroll", onMove, { passive: true });
  /** @param {number} to */
  function scale(to) {
    zoom = Math.min(3, Math.max(0.15, to));
    window_ = null;
    svg.classList.toggle("mg-far", zoom < FAR);
    for (const [name, long] of /** @type {[string, number][]} */ ([["width", picture.w], ["height", picture.h]])) {
      const size = String(Math.round(long * zoom));
      if (svg.getAttribute(name) !== size) svg.setAttribute(name, size);
    }
    onMove();
  }
  const roomWide = () => (stage.clientWidth || 700) - 22; // without the padding
  function fitStage() {
    fitted = true;
    scale(Math.min(1.25, Math.max(0.78, roomWide() / picture.w)));
  }
  for (const [text, label, run] of /** @type {[string, string, () => void][]} */ ([["−", "zoom out", () => { fitted = false; scale(zoom / 1.25); }], ["+", "zoom in", () => { fitted = false; scale(zoom * 1.25); }],
    ["fit", "fit the whole graph", () => { fitted = false; scale(Math.min(1.2, roomWide() / picture.w, (Math.max(300, stage.clientHeight) - 22) / picture.h)); }]])) {
    zoomBar.append(button("small", text, label, run));
  }
  const foldBar = h("span", { class: "mg-zoom", hidden: "" }, button("small", "fold", "close all folds", () => fold("all")), button("small", "open", "open all folds, as far as they can be drawn", () => fold("none")));
  zoomBar.before(found, search, foldBar);
  zoomBar.after(save_as);
  on(stage, "wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    fitted = false;
    scale(zoom * Math.exp(-e.deltaY / 300));
  }, { passive: false });
  /** @type {{x: number, y: number, left: number, top: number}|null} */ let pan = null;
  on(stage, "pointerdown", (e) => {
    if (e.target.closest(".mg-card, .mg-frame") || e.pointerType !== "mouse" || e.button) return;
    pan = { x: e.clientX, y: e.clientY, left: stage.scrollLeft, top: stage.scrollTop };
    stage.setPointerCapture(e.pointerId);
  });
  on(stage, "pointermove", (e) => { if (pan) stage.scrollTo(pan.left - e.clientX + pan.x, pan.top - e.clientY + pan.y); });
  for (const end of ["pointerup", "pointercancel"]) on(stage, end, () => { pan = null; });
  /** Bring the card of an event into the stage (never scrolls the notebook). @param {number} node */
  function follow(node) {
    const card = cards.find((c) => c.card.id === node)?.card;
    if (!card) return;
    const x = card.x * zoom, y = card.y * zoom, w = card.w * zoom, t = card.h * zoom, edge = 60;
    const left = x - edge < stage.scrollLeft ? x - edge : x + w + edge > stage.scrollLeft + stage.clientWidth ? x + w + edge - stage.clientWidth : stage.scrollLeft;
    const top = y - 20 < stage.scrollTop ? y - 20 : y + t + 20 > stage.scrollTop + stage.clientHeight ? y + t + 20 - stage.clientHeight : stage.scrollTop;
    if (left !== stage.scrollLeft || top !== stage.scrollTop) stage.scrollTo({ left, top, behavior: calm.matches ? "auto" : "smooth" });
  }

  // ---- source lines
  /** @type {Map<string, {source: import("./state.js").Source, nodes: number[], line: HTMLElement}>} */ let lines = new Map();
  let lineNow = ""; // the line whose nodes are marked
  function drawSource() {
    lines = new Map();
    lineNow = "";
    for (const node of trace.nodes) {
      if (!node.source) continue;
      const key = `${node.source.cell}:${String(node.source.line).padStart(6, "0")}`;
      if (!lines.has(key)) lines.set(key, { source: node.source, nodes: [], line: h("div", { class: "mg-code", role: "button", tabindex: 0, "aria-pressed": "false" }) });
      lines.get(key)?.nodes.push(node.id);
    }
    const all = [...lines.values()], cell = all[0]?.source.cell, one = all.every((l) => l.source.cell === cell);
    for (const [key, { source, nodes, line }] of lines) {
      line.title = `${source.cell}, line ${source.line}: mark what it made, ${nodes.length} ${nodes.length === 1 ? "card" : "cards"}`;
      line.append(...(one ? [] : [h("span", { class: "mg-cell" }, `${source.cell} `)]), h("code", {}, source.text));
      on(line, "click", () => { markLine(lineNow === key ? "" : key, true); pen.show(lineNow ? { ...source, span: undefined } : null); });
    }
    source.replaceChildren(...(lines.size && one ? [h("div", { class: "mg-cell" }, cell)] : []), ...all.map((l) => l.line));
    source.hidden = !lines.size;
  }
  /** From a line to its nodes. @param {string} key @param {boolean} [look] bring the first of them into the stage */
  function markLine(key, look = false) {
    if (key === lineNow) return;
    lineNow = key;
    const nodes = lines.get(key)?.nodes ?? [];
    for (const c of cards) c.g.classList.toggle("mg-hit", nodes.includes(c.card.id));
    for (const [k, { line }] of lines) line.setAttribute("aria-pressed", String(k === key));
    if (look && nodes.length && !nodes.some((id) => inWindow(cards.find((c) => c.card.id === id)?.box ?? [], -40))) follow(nodes[0]);
  }
  /** The caret stands in a line of a cell: its nodes are marked as long as it does. */
  function onCaret() {
    if (root.contains(document.activeElement) || !lines.size) return;
    const [cell, number, text] = caretLine(root) ?? ["", 0, ""], key = `${cell}:${String(number).padStart(6, "0")}`;
    markLine(lines.get(key)?.source.text === text ? key : "");
  }
  on(document, "selectionchange", onCaret);
  /** @param {number} node */
  function markSource(node) {
    const from = trace.nodes[node]?.source;
    for (const { source: at, nodes, line } of lines.values()) {
      const here = node >= 0 && nodes.includes(node);
      line.classList.toggle("mg-now", here);
      const code = /** @type {Element} */ (line.lastChild), text = at.text;
      if (here && from?.span && from.text === text) {
        const [first, last] = columns(from);
        code.replaceChildren(text.slice(0, first), h("mark", {}, text.slice(first, last)), text.slice(last));
      } else if (code.firstElementChild) code.textContent = text;
    }
    pen.show(from);
  }

  // ---- the track
  function drawTrack() {
    const ticks = [];
    if (total <= 60) for (let k = 1; k < total; k++) ticks.push(h("i", { style: `left:${(100 * place(k)).toFixed(2)}%` }));
    rail.replaceChildren(h("span", { class: "mg-half", style: `left:0;width:${100 * split()}%` }), h("span", { class: "mg-half mg-half-b", style: `left:${100 * split()}%;right:0` }),
      h("span", { class: "mg-done" }), h("span", { class: "mg-done mg-done-b" }), ...ticks);
    track.setAttribute("aria-valuemax", String(total));
  }

  // ---- everything that a step or an input changes
  function update() {
    if (!trace?.nodes) return;
    const k = step(), now = moment(trace, point, k), current = now.current, back = k > forward;
    const active = current?.edge ?? -1;
    if (k !== shown) {
      if (shown >= 0 && !dragging) thin(1500);
      root.dataset.step = String(k);
      root.dataset.phase = back ? "backward" : "forward";
    }
    put(phase, k === 0 ? "not started" : back ? `◂ backward, step ${k - forward} of ${total - forward}` : `forward ▸ step ${k} of ${forward}`);
    let mostBack = 0;
    for (const x of now.sent) if (x && Number.isFinite(x.sends)) mostBack = Math.max(mostBack, Math.abs(x.sends));
    const apart = marked && k >= (marked.at ?? 0) && home() ? said() : "";
    root.classList.toggle("mg-apart", !!apart);
    behind = false;
    for (const w of wires) {
      if ((dragging || room <= 0) && !inWindow(w.box)) { behind = true; continue; }
      const e = w.edge, x = now.sent[e.id], ready = now.known[e.source] && now.known[e.target];
      const acting = e.id === active || (current?.kind === "compute" && e.target === current.node);
      const state = x ? "b" : ready ? "f" : "idle", wide = dragging && w.long && away.length ? w.thick : x ? (Math.round(4 * width(x.sends, mostBack)) / 4).toFixed(2) : "1.80";
      if (same(w, state, acting, wide, ready, point.locals[e.id], covered, dragging)) continue;
      room--;
      const kind = `mg-is-${state}${acting ? " mg-now" : ""}${!e.carries_grad ? " mg-const" : ""}${e.makes?.length ? " mg-makes" : ""}${w.flow ? " mg-flow" : ""}`;
      if (w.kind !== kind) {
        w.g.setAttribute("class", `mg-wire ${(w.kind = kind)}`);
        w.pill?.setAttribute("class", `mg-pill ${kind}`);
      }
      if (w.thick !== wide) w.back.style.strokeWidth = w.thick = wide; // of this line alone: a variable of the group would restyle all in it
      if (w.text) {
        const local = point.locals[e.id], number = e.local === null || (covered && !x && !plainNumber(e.local_text)) ? "× ?" : `× ${fit(local, Math.max(5, Math.floor((w.wire.pw - 18) / 6.9) - 2))}`;
        if (!w.wire.text) { // a number may need more room than its formula
          const wide = Math.max(w.wire.pw, 15 + 6.9 * number.length);
          if (w.wide !== wide) {
            w.face.setAttribute("width", (w.wide = wide));
            w.face.setAttribute("x", w.wire.px - wide / 2);
          }
        }
        put(w.text, !ready ? "" : w.wire.text ? w.wire.text[x ? 1 : 0] : number);
        if (!dragging) put(/** @type {Element} */ (w.text.nextSibling), (w.wire.text && !Number.isFinite(local)) || e.local === null ? `to ${trace.nodes[e.source].label}: ${e.words || e.local_text || "its rule"}${summed(e)}`
          : `${slope(trace.nodes[e.target].label, trace.nodes[e.source].label)} = ${plainNumber(e.local_text) ? "" : `${e.local_text} = `}${fmt(local)}`);
      }
    }
    for (const c of cards) {
      if ((dragging || room <= 0) && !inWindow(c.box)) { behind = true; continue; }
      const id = c.card.id, known = !!now.known[id], acting = !!current && (current.node === id || (active >= 0 && trace.edges[active].source === id));
      const arrays = trace.arrays && [arrayAt(trace, point, known ? c.node.array : null), arrayAt(trace, point, now.grads?.[id])];
      if (same(c, known, point.values[id], now.got[id], now.sums[id], acting, acting && current?.node, selected === id, trace.arrays ? point : 0, now.grads?.[id], dragging, c.card === marked && apart)) continue;
      room--;
      const one = c.node.kind !== "fold" || !trace.arrays;
      put(c.value, known ? (c.node.array === null ? (c.node.kind === "operation" && !c.node.shape ? "several" : "not kept") : one ? fit(point.values[id], c.room) : arrays && arrays[0] ? between(arrays[0], c.room) : "") : "·");
      const complete = now.got[id] === now.need[id], some = now.got[id] > 0, g = now.sums[id];
      put(c.grad, !one ? (some && arrays && arrays[1] ? between(arrays[1], c.room) : "·") : some ? `${g > 0 ? "▴" : g < 0 ? "▾" : ""} ${fit(g, c.room - (complete ? 2 : 4))}${complete ? "" : " +…"}`.trim() : now.need[id] || c.node.kind === "constant" ? "·" : "none");
      if (c.drawn && arrays) {
        arrays.forEach((a, k) => drawMap(c, k, a));
        put(c.value, known ? (arrays[0] ? between(arrays[0], Math.floor(c.half / 6.7)) : "not kept") : "·");
        put(c.grad, some && arrays[1] ? `${between(arrays[1], Math.floor(c.half / 6.7) - (complete ? 0 : 2))}${complete ? "" : " +…"}` : now.need[id] ? "·" : "none");
      }
      const cl = c.g.classList;
      cl.toggle("mg-known", known);
      cl.toggle("mg-has-grad", some);
      cl.toggle("mg-part", some && !complete);
      cl.toggle("mg-now", acting && current?.node === id);
      cl.toggle("mg-gets", acting && current?.node !== id);
      cl.toggle("mg-selected", selected === id);
      cl.toggle("mg-odd", known && (arrays ? !!arrays[0]?.odd : !Number.isFinite(point.values[id])));
      if (dragging) continue; // the words follow when the slider rests
      const shape = c.node.shape ? `, shape ${shapeText(c.node.shape)}` : "", special = trace.arrays ? ` ${markWords(trace, c.node)}`.trimEnd() : "";
      const number = arrays ? (arrays[0] ? arrayText(arrays[0]) : "not kept") : fmt(point.values[id]), slopeNow = arrays ? arrayText(arrays[1]) : fmt(g);
      const words = `${c.node.label}${shape}${c.node.kind === "operation" ? ` = ${c.node.expr}${arrays ? `, ${c.node.op}` : ""}` : `, ${c.node.kind === "leaf" ? "input" : "constant"}`}: ${known ? `value ${number}` : "not computed yet"}${some ? `, gradient ${slopeNow}${complete ? "" : ` so far (${now.got[id]} of ${now.need[id]})`}` : ""}${arrays ? `.${special}` : ""}`;
      const spoken = (c.node.kind === "fold" ? `${c.node.label}, folded: ${c.node.expr}, ${c.node.members} nodes. Open it with Enter.` : words) + (c.card === marked && apart ? ` ${apart}` : "");
      c.g.setAttribute("aria-label", spoken);
      put(c.g.firstChild, spoken);
    }
    const makes = trace.arrays && active >= 0 ? trace.edges[active].makes : undefined;
    if (trace.arrays) for (const c of cards) if (c.node?.layer) c.g.classList.toggle("mg-hit", !!makes?.includes(c.card.id));
    const spoken = sentence(trace, point, now), odd = trouble(trace, point);
    if (say.dataset.text !== spoken + odd) {
      say.dataset.text = spoken + odd;
      say.replaceChildren(h("div", {}, ...rich(spoken)), ...(odd ? [h("div", { class: "mg-odd-say" }, "⚠ ", ...rich(odd))] : []));
    }
    const best = back || k === forward ? "ledger" : "values";
    if (!chosen && tab !== best) show(best, false);
    if (tab === "ledger") drawLedger(now);
    else if (tab === "values") drawValues(now);
    else drawNode(now);
    if (!dragging) markSource(selected >= 0 && tab === "node" ? selected : current ? current.node : -1);
    knob.style.left = `${100 * place(k)}%`;
    const [done, doneBack] = rail.querySelectorAll(".mg-done");
    done.style.width = `${100 * Math.min(place(k), split())}%`;
    doneBack.style.left = `${100 * split()}%`;
    doneBack.style.width = `${100 * Math.max(0, place(k) - split())}%`;
    put(clock, `${k} / ${total}`);
    track.setAttribute("aria-valuenow", String(k));
    track.setAttribute("aria-valuetext", `${phase.textContent}: ${say.firstChild?.textContent ?? ""}`);
    if (!dragging) { // all is written: only now may the browser be asked where things are
      reveal(panes[/** @type {"ledger"} */ (tab)], "tr.mg-now");
      reveal(source, ".mg-now");
    }
    if (k !== shown) {
      if (current) follow(active >= 0 ? trace.edges[active].source : current.node);
      if (current && k === shown + 1 && !calm.matches && document.visibilityState === "visible") packets(now);
      shown = k;
    }
    root.dataset.ready = "1";
  }

  // ---- heat maps
  /** @param {any} c @param {number} k 0: value, 1: gradient @param {import("./tensor.js").Numbers|null} a */
  function drawMap(c, k, a) {
    if (c.shown[k] === a && a) return;
    c.shown[k] = a;
    c.drawn[k].replaceChildren(...(a ? mapOf(a, c.half, 50) : [s("rect", { class: "mg-empty", width: c.half, height: 50, rx: 4 })]));
  }
  /** @param {import("./tensor.js").Numbers} a @param {number} wide @param {number} high @param {number} [largest] */
  function mapOf(a, wide, high, largest) {
    const map = heat(a, wide, high, largest);
    return [s("g", { class: "mg-heat", transform: `translate(${map.x.toFixed(1)},${map.y.toFixed(1)})` }, ...map.paths.map((p) => s("path", { class: `mg-heat-${p.kind}`, d: p.d, ...(p.opacity < 1 ? { "fill-opacity": p.opacity.toFixed(2) } : {}) })))];
  }
  /** A large heat map with its scale and statistics. @param {string} name @param {import("./tensor.js").Numbers} a */
  function bigMap(name, a) {
    const top = most(a), [down, across] = a.block, steps = [-8, -6, -4, -2, 0, 2, 4, 6, 8];
    const wide = Math.min(250, Math.max(60, a.cols * 26)), high = Math.min(190, Math.max(24, a.rows * 26));
    const legend = s("svg", { width: 190, height: 30, class: "mg-scale", role: "img", "aria-label": `colours from ${fmt(-top, 3)}, marked with a minus, over 0 to ${fmt(top, 3)}` },
      ...steps.map((v, i) => s("path", { class: `mg-heat-${v < 0 ? "n" : v > 0 ? "p" : "0"}`, d: `M${5 + i * 20} 2h20v12h-20z`, "fill-opacity": v ? (0.08 + (0.92 * Math.abs(v)) / 8).toFixed(2) : "1" })),
      ...steps.filter((v) => v < 0).map((_, i) => s("path", { class: "mg-heat-m", d: `M${11 + i * 20} 8h8` })),
      s("text", { x: 5, y: 27 }, fmt(-top, 3)), s("text", { x: 95, y: 27, "text-anchor": "middle" }, "0"), s("text", { x: 185, y: 27, "text-anchor": "end" }, fmt(top, 3)));
    const facts = `min ${arrayNumber(a.low)}   max ${arrayNumber(a.high)}\nmean ${arrayNumber(a.mean)}   std ${arrayNumber(a.std)}${a.odd ? `   not finite: ${a.odd}` : ""}`;
    return h("div", { class: "mg-big" }, h("div", { class: "mg-soft" }, name), s("svg", { width: wide, height: high, role: "img", "aria-label": `${name}: ${arrayText(a)}` }, ...mapOf(a, wide, high, 26)), legend,
      h("div", { class: "mg-facts" }, facts), ...(down * across > 1 ? [h("div", { class: "mg-soft" }, `each cell stands for ${down} × ${across} entries: the largest in magnitude`)] : []));
  }
  /** @param {number|null} v */
  const arrayNumber = (v) => (v === null ? "none" : fmt(v, 4));

  // ---- numbers that travel along the wires
  /** @param {import("./state.js").Moment} now */
  function packets(now) {
    cancelAnimationFrame(flight);
    svg.querySelectorAll(".mg-packet").forEach((/** @type {Element} */ p) => p.remove());
    const current = /** @type {import("./state.js").Step} */ (now.current);
    const flying = wires.filter((w) => (current.kind === "send" ? w.edge.id === current.edge : current.kind === "compute" && w.edge.target === current.node) && !w.long).slice(0, 12);
    if (!flying.length) return;
    const back = current.kind === "send", length = 620 / (timer ? Math.max(1, Number(speed.value)) : 1);
    const all = flying.map((w) => {
      const sent = now.sent[w.edge.id], text = s("text", { y: 4 }), face = s("rect", { height: 20, y: -10, rx: 10 });
      const g = s("g", { class: `mg-packet${back ? " mg-packet-b" : ""}`, "aria-hidden": "true" }, face, text);
      svg.append(g);
      return { w, g, text, face, long: w.whole.getTotalLength(), first: back ? /** @type {any} */ (sent).incoming : point.values[w.edge.source], then: back ? /** @type {any} */ (sent).sends : point.values[w.edge.source], shape: w.wire.text && shapeText((back && w.edge.broadcast ? w.edge.broadcast.to : trace.nodes[w.edge.source].shape) ?? []), last: w.wire.text && shapeText((back ? trace.nodes[w.edge.source].shape : w.edge.broadcast?.to ?? trace.nodes[w.edge.source].shape) ?? []) };
    });
    const begun = performance.now();
    const frame = (/** @type {number} */ t) => {
      const u = Math.min(1, (t - begun) / length), eased = u < 0.5 ? 2 * u * u : 1 - (2 - 2 * u) ** 2 / 2;
      for (const p of all) {
        const at = p.w.whole.getPointAtLength(p.long * (back ? 1 - eased : eased));
        const label = p.shape ? (eased < 0.5 ? p.shape : p.last) : fit(eased < 0.5 ? p.first : p.then, 8), wide = 16 + 7.4 * label.length;
        put(p.text, label);
        p.face.setAttribute("width", wide);
        p.face.setAttribute("x", -wide / 2);
        p.g.setAttribute("transform", `translate(${at.x.toFixed(1)},${at.y.toFixed(1)})`);
        p.g.style.opacity = String(Math.min(1, 6 * u, 6 * (1 - u)));
      }
      if (u < 1) flight = requestAnimationFrame(frame);
      else for (const p of all) p.g.remove();
    };
    flight = requestAnimationFrame(frame);
  }

  // ---- the tables: everything that the picture shows, as text
  /** @param {string[]} heads @param {any[]} rows @param {string} caption */
  function table(heads, rows, caption) {
    const whole = h("table", {}, h("caption", { class: "mg-hidden" }, caption), h("thead", {}, h("tr", {}, ...heads.map((x) => h("th", { scope: "col" }, x)))));
    const part = rows.length <= LONG ? rows.length || 1 : PART;
    for (let i = 0; i < rows.length; i += part) whole.append(h("tbody", { style: `--rows:${Math.min(part, rows.length - i)}` }, ...rows.slice(i, i + part)));
    if (rows.length <= LONG) return whole;
    whole.className = `mg-long mg-columns-${heads.length}`;
    for (const [name, role] of [["thead, tbody", "rowgroup"], ["tr", "row"], ["th", "columnheader"], ["td", "cell"]]) for (const e of whole.querySelectorAll(name)) e.setAttribute("role", role);
    whole.setAttribute("role", "table");
    return whole;
  }
  /** A row for an event; its cells are filled by `setRow`. @param {number} at @param {number} cells @param {string} words */
  function tableRow(at, cells, words) {
    const r = h("tr", { "data-step": at, tabindex: 0, title: `go to event ${at}` });
    for (let i = 0; i < cells; i++) r.append(h("td"));
    r.firstChild.append(h("span", { title: words }, tail(words, 36)));
    r.onclick = () => act2(at);
    return r;
  }
  /** @param {any} r @param {boolean} done @param {boolean} here */
  function setRow(r, done, here) {
    r.className = here ? "mg-now" : done ? "" : "mg-todo";
    if (here) r.setAttribute("aria-current", "step");
    else r.removeAttribute("aria-current");
  }
  /** @param {HTMLElement} pane @param {HTMLElement} r */
  const topOf = (pane, r) => r.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
  /** Does the pane show this row, or nearly? Looked at once and kept: rows do not move in a drag. @param {any} pane @param {any} x a row */
  function inPane(pane, x) {
    if (pane.top === undefined) [pane.top, pane.high] = [pane.scrollTop, pane.clientHeight];
    if (x.top === undefined) {
      const rows = tab === "ledger" ? ledgerRows : valueRows, first = topOf(pane, rows[0].r);
      rows.forEach((other, i) => { other.top = rows.length > LONG ? first + ROW * i : topOf(pane, other.r); });
    }
    return x.top > pane.top - 120 && x.top < pane.top + pane.high + 80;
  }
  /** Scroll to what is current there. @param {HTMLElement} pane @param {string} what */
  function reveal(pane, what) {
    const here = /** @type {HTMLElement|null} */ (pane.querySelector(what));
    if (here && pane.scrollHeight > pane.clientHeight) pane.scrollTop = topOf(pane, here) - pane.clientHeight / 2;
  }
  // ---- the ledger as an exercise
  let covered = model.get("quiz") === true;
  const verdict = h("div", { class: "mg-verdict", role: "status" }), quizBar = h("div", { class: "mg-quiz" });
  function drawQuiz() {
    const b = h("button", { class: "mg-button mg-small", type: "button", "aria-pressed": String(covered) }, covered ? "show the ledger" : "fill it in yourself");
    b.onclick = () => { covered = !covered; put(verdict, covered ? "Go down the rows. What arrives is known once the rows above are filled; Enter checks a number, “step” fills a row in." : ""); if (covered) go(Math.min(step(), forward)); drawQuiz(); drawTables(); update(); };
    quizBar.replaceChildren(b, verdict);
    quizBar.hidden = !trace.edges.some((e) => e.carries_grad && !e.amount && e.local !== null);
  }
  /** One number that the learner types. @param {any} x a row @param {number} column @param {string} words @returns {any} */
  function blank(x, column, words) {
    const input = h("input", { class: "mg-blank", size: 7, "aria-label": words, inputmode: "text", autocomplete: "off" });
    input.onkeydown = (/** @type {KeyboardEvent} */ e) => { e.stopPropagation(); if (e.key === "Enter") { e.preventDefault(); input.dispatchEvent(new Event("change")); } };
    input.onchange = () => {
      if (!input.value.trim()) return;
      const key = answers(trace, point, x.edge, x.at), { right, say: said } = judge(input.value, key, column);
      input.classList.toggle("mg-right", right);
      input.classList.toggle("mg-wrong", !right);
      input.setAttribute("aria-invalid", String(!right));
      put(verdict, `${right ? "✓" : "✗"} ${said}`);
      if (!right) return;
      const left = [...x.r.querySelectorAll(".mg-blank:not(.mg-right)")];
      if (left.length) return left[0].focus();
      if (step() < x.at) go(x.at);
      const next = panes.ledger.querySelector("tr .mg-blank:not(.mg-right)");
      if (next) next.focus();
      else put(verdict, "✓ That is the whole backward pass: every gradient, row by row.");
    };
    return input;
  }
  /** @type {any[]} */ let ledgerRows = [];
  /** @type {any[]} */ let valueRows = [];
  function drawTables() {
    const forwardAt = new Map(trace.steps.flatMap((x, i) => (x.phase === "forward" ? [[x.node, i + 1]] : [])));
    ledgerRows = trace.steps.flatMap((x, i) => {
      if (x.edge === null) return [];
      const e = trace.edges[x.edge], from = trace.nodes[e.target].label, to = trace.nodes[e.source].label;
      const r = tableRow(i + 1, trace.arrays ? 4 : 5, `${from} → ${to}`), local = document.createTextNode("");
      r.firstChild.firstChild.replaceChildren(h("span", {}, `${tail(from, 16)} → `), h("wbr"), h("span", {}, tail(to, 16)));
      if (e.amount) {
        r.children[1].append(h("span", { class: "mg-formula" }, "folded"));
        return [{ r, local: /** @type {Text|null} */ (null), edge: e.id, at: i + 1 }];
      }
      if (trace.arrays && e.local === null) {
        const sum = e.broadcast ? `, Σ over ${e.broadcast.axes.join(", ")}` : "";
        r.children[1].append(h("span", { class: "mg-formula", title: (e.words || e.local_text) + sum }, `${tail(e.words || e.local_text || "its rule", 26)}${sum}`));
        return [{ r, local: /** @type {Text|null} */ (null), edge: e.id, at: i + 1 }];
      }
      r.children[1].append(h("span", { title: e.local_text }, ...(plainNumber(e.local_text) || !e.local_text ? [] : [h("span", { class: "mg-formula mg-wordy" }, tail(e.local_text, 22)), " "]), h("span", {}, ...(plainNumber(e.local_text) || !e.local_text ? [] : [h("span", { class: "mg-wordy" }, "= ")]), local)));
      return [{ r, local: /** @type {Text|null} */ (local), edge: e.id, at: i + 1 }];
    });
    valueRows = trace.nodes.map((n) => {
      const at = forwardAt.get(n.id) ?? 0, r = tableRow(at, 4, n.label);
      if (n.shape && trace.arrays) r.firstChild.append(h("span", { class: "mg-soft" }, ` ${shapeText(n.shape)}`));
      put(r.children[1], n.stops ? `⊖ ${n.stops}` : n.kind === "operation" ? n.expr + (trace.arrays ? [mark(trace, n)].filter(Boolean).map((m) => ` · ${m}`).join("") : "") : n.kind === "leaf" ? "input" : "constant");
      return { r, id: n.id, at };
    });
    if (covered) for (const x of ledgerRows) if (x.local && x.at > step() && !trace.arrays) {
      const words = `${trace.nodes[trace.edges[x.edge].target].label} to ${trace.nodes[trace.edges[x.edge].source].label}`;
      x.blanks = ["local derivative", "what arrives", "what is sent", "sum there"].map((name, k) => blank(x, k, `${name}, ${words}`));
      x.blanks.forEach((/** @type {any} */ b, /** @type {number} */ k) => x.r.children[k + 1].replaceChildren(b));
      x.r.title = "";
      x.r.onclick = null;
    }
    drawQuiz();
    if (marked) for (const x of [...ledgerRows.filter((x) => x.at === marked?.at), ...valueRows.filter((x) => x.id === marked?.id)]) x.r.firstChild.append(h("span", { class: "mg-differ" }, said()));
    panes.ledger.replaceChildren(quizBar, table(trace.arrays ? ["edge", "rule", "sends", "sum there"] : ["edge", "local", "× incoming", "= sends", "sum there"], ledgerRows.map((x) => x.r), "Ledger of the backward pass: each edge multiplies its local derivative with the gradient that comes in, and adds the product to the sum at the receiver"));
    panes.values.replaceChildren(table(["node", "computes", "value", "gradient"], valueRows.map((x) => x.r), "Values of all nodes in the order in which they are computed"));
  }
  /** @param {import("./state.js").Moment} now */
  function drawLedger(now) {
    const at = step(), num = ledgerRows.length > LONG ? (/** @type {number} */ v) => fit(v, 10) : fmt; // columns of one width: a cut number would be another
    for (const x of ledgerRows) {
      if ((dragging || room <= 0) && !inPane(panes.ledger, x)) { behind = true; continue; }
      const sent = now.sent[x.edge], local = point.locals[x.edge];
      if (same(x, at === x.at, local, !!sent, sent?.incoming, sent?.sends, sent?.before, sent?.after, point)) continue;
      room--;
      if (x.blanks && !sent) { setRow(x.r, false, false); continue; }
      if (x.blanks) { // what was typed, or what a step has filled in, becomes the row
        x.blanks = null;
        const e = trace.edges[x.edge], formula = plainNumber(e.local_text) || !e.local_text ? [] : [h("span", { class: "mg-formula" }, `${tail(e.local_text, 22)} = `)];
        x.r.children[1].replaceChildren(...formula, x.local);
        x.r.onclick = () => act2(x.at);
      }
      const [, , incoming, sends, sum] = x.r.children;
      if (trace.arrays) {
        /** @param {number|undefined} i */
        const text = (i) => (i === undefined || i < 0 ? "?" : arrayText(arrayAt(trace, point, i), 3));
        if (x.local) x.local.data = fmt(local);
        put(incoming, text(sent?.arrays?.sends));
        put(sends, text(sent?.arrays?.after));
        setRow(x.r, !!sent, at === x.at);
        continue;
      }
      if (x.local) x.local.data = num(local);
      put(incoming, sent && x.local ? num(sent.incoming) : x.local ? "?" : "");
      put(sends, sent ? num(sent.sends) : "?");
      const plus = sent && sent.before !== 0 ? `${fmt(sent.before)} + ${fmt(sent.sends)} = ` : "";
      if (sum.children.length !== 2) sum.replaceChildren(h("span", { class: "mg-wordy" }), h("span"));
      put(sum.children[0], plus);
      put(sum.children[1], sent ? num(sent.after) : "?");
      if (!dragging) sum.title = sent ? plus + fmt(sent.after) : "?";
      setRow(x.r, !!sent, at === x.at);
    }
  }
  /** @param {import("./state.js").Moment} now */
  function drawValues(now) {
    const at = step();
    for (const x of valueRows) {
      if ((dragging || room <= 0) && !inPane(panes.values, x)) { behind = true; continue; }
      const known = !!now.known[x.id], got = now.got[x.id], here = at > 0 && at === x.at;
      if (same(x, here, known, point.values[x.id], got, now.sums[x.id], now.grads?.[x.id], point)) continue;
      room--;
      const of = trace.arrays && trace.nodes[x.id];
      put(x.r.children[2], known ? (of ? (of.array == null ? "not kept" : arrayText(arrayAt(trace, point, of.array), 4)) : fmt(point.values[x.id])) : "?");
      put(x.r.children[3], got ? (of ? arrayText(arrayAt(trace, point, now.grads?.[x.id]), 4) : fmt(now.sums[x.id])) : "");
      setRow(x.r, known, here);
    }
  }

  // ---- one node
  /** @param {import("./state.js").Moment} now */
  function drawNode(now) {
    const node = trace.nodes[selected >= 0 ? selected : currentNode()], y = trace.nodes[trace.root].label;
    const names = trace.nodes.filter((n) => n.array !== null).map((n) => ({ label: n.label, value: point.values[n.id] }));
    const into = trace.edges.filter((e) => e.target === node.id), facts = h("dl", {});
    /** @param {string} name @param {...(Node|string)} what */
    const fact = (name, ...what) => facts.append(h("dt", {}, name), h("dd", {}, ...what));
    const value = arrayAt(trace, point, now.known[node.id] ? node.array : null), gradient = arrayAt(trace, point, now.grads?.[node.id]);
    /** @type {any[]} */ let drawn = [];
    if (trace.arrays) {
      if (node.shape) fact("shape", `${shapeText(node.shape)}  ${node.dtype}`);
      const maps = /** @type {[string, any][]} */ ([["value", value], ["gradient", gradient]]).filter(([, a]) => a && !single(a));
      drawn = maps.map(([name, a]) => bigMap(name, a));
      if (node.op) fact("made by", `${node.op}${node.scope ? ` in ${node.scope}` : ""}`);
      for (const word of [markWords(trace, node)]) if (word) fact(node.stops ? "stops" : "mind", word);
      if (node.layer) fact("layer", `of the gradient's own graph${node.made_by?.length ? `: made when ${node.made_by.map((e) => `${trace.nodes[trace.edges[e].target].label} sent its gradient to ${trace.nodes[trace.edges[e].source].label}`).join(", and ")}` : ""}`);
    }
    if (!trace.arrays || !tall(node)) fact("value", now.known[node.id] && node.array !== null ? h("span", { class: "mg-value" }, fmt(point.values[node.id])) : "not computed yet");
    const g = now.sums[node.id];
    if (trace.arrays && tall(node)) {
      if (!now.got[node.id]) fact("gradient", now.need[node.id] ? "has not arrived yet" : "no gradient flows here");
      else if (now.got[node.id] < now.need[node.id]) fact("gradient", `so far: ${now.got[node.id]} of ${now.need[node.id]} have arrived`);
    } else if (node.kind !== "constant") fact(slope(y, node.label), now.got[node.id] ? h("span", { class: "mg-grad" }, `${fmt(g)}${now.got[node.id] < now.need[node.id] ? ` so far: ${now.got[node.id]} of ${now.need[node.id]} have arrived` : ""}`) : now.need[node.id] ? "has not arrived yet" : "no gradient flows here");
    if (into.some((e) => e.carries_grad)) {
      fact("local rule", ...into.filter((e) => e.carries_grad).map((e) => {
        const to = trace.nodes[e.source].label, wide = e.broadcast ? h("div", { class: "mg-soft" }, summed(e).slice(2)) : "";
        if (e.amount) return h("div", {}, `to ${to}: ${fmt(point.locals[e.id])}`);
        if (trace.arrays && e.local === null) {
          const shapes = Object.fromEntries([...into.map((x) => trace.nodes[x.source]), node].filter((n) => n.shape && count(n) !== 1).map((n) => [n.label, shapeText(n.shape ?? [])]));
          return h("div", { class: "mg-rule" }, h("span", { class: "mg-soft" }, `to ${to} `), e.words || e.local_text ? maths(typeset(e.words || e.local_text, { ...shapes, ...(tall(node) ? { g: shapeText(node.shape ?? []) } : {}) })) : "see the row in minigrad/ops", wide);
        }
        const live = withNumbers(e.local_text, names), value = fmt(point.locals[e.id]);
        return h("div", { class: "mg-rule" }, ...equation([partial(node.label, to), ...[e.local_text, live, value].filter((t, i, all) => t && t !== all[i - 1] && t !== value || i === 2).map((t) => typeset(t))]).map(maths));
      }));
    }
    if (node.kind !== "constant" && now.need[node.id] && !(trace.arrays && trace.edges.some((e) => e.carries_grad && e.local === null))) {
      const { total: count, paths } = chain(trace, node.id, 8);
      const products = paths.map((p) => p.reduce((product, e) => product * point.locals[e], 1));
      fact("chain rule", ...(paths.length === 1 && !paths[0].length ? [h("div", {}, `${node.label} is where the backward pass starts: ${slope(y, y)} = 1`)] : paths.map((p, i) => h("div", { class: "mg-path" },
        `${i ? "+ " : ""}${p.map((e) => slope(trace.nodes[trace.edges[e].target].label, trace.nodes[trace.edges[e].source].label)).join(" · ")}`, h("br"), `= ${p.map((e) => fmt(point.locals[e])).join(" · ")} = `, h("b", {}, fmt(products[i]))))),
      ...(paths.length > 1 && count <= paths.length ? [h("div", {}, `together `, h("b", {}, fmt(products.reduce((a, b) => a + b, 0))))] : []),
      ...(count > paths.length ? [h("div", { class: "mg-soft" }, `and ${fmt(count - paths.length)} more paths; the backward pass adds them all with one product per edge`)] : []));
    }
    if (drawn.length) fact("numbers", h("div", { class: "mg-maps" }, ...drawn));
    if (node.saved?.length) fact("keeps", ...node.saved.map((x) => h("div", {}, `${x.name} (${x.bytes} bytes)`, ...(x.shape && trace.arrays ? [` ${shapeText(x.shape)} version ${x.version}${x.stale ? `, now ${x.now}: ⚠ stale` : ""}`] : []))));
    if (node.source) fact("made by", `${node.source.cell}, line ${node.source.line}`);
    if (node.scope) fact("inside", node.scope);
    const flows = h("div", { class: "mg-flows" }, ...[["up", "what it is made of", "upstream (u)"], ["down", "what it flows into", "downstream (d)"]].map(([way, label, title]) => {
      const b = h("button", { class: "mg-button mg-small", type: "button", title, "data-flow": way, "aria-pressed": String(flowing === way) }, `${label} (${flow(node.id, way === "up").size - 1})`);
      b.onclick = () => { selected = node.id; showFlow(way); };
      return b;
    }));
    if (flowing) mark_cards(flow(node.id, flowing === "up"), "mg-flow");
    facts.append(h("dt", {}, "flow"), h("dd", {}, flows));
    panes.node.replaceChildren(h("div", {}, h("h4", {}, node.label, h("span", { class: "mg-soft" }, node.kind === "leaf" ? " input" : node.kind === "constant" ? " constant" : ` = ${node.expr}`)), facts));
  }

  // ---- inputs
  /** @type {{node: number, range: any, out: any, row: any}[]} */ let sliders = [];
  function readSweeps() {
    sweeps = (model.get("sweeps") ?? []).map((/** @type {any} */ x) => ({ node: x.node, base: x.base, xs: doubles(x.xs), table: doubles(x.table) }));
  }
  /** @param {string} [filter] */
  function drawInputs(filter = "") {
    const leaves = /** @type {number[]} */ (model.get("leaves") ?? []);
    const found = leaves.filter((id) => trace.nodes[id].label.includes(filter)).slice(0, SHOWN_SLIDERS);
    const many = leaves.length > SHOWN_SLIDERS;
    const search = inputs.querySelector(".mg-search") ?? h("input", { class: "mg-search", type: "search", placeholder: `find one of ${leaves.length} inputs`, "aria-label": "find an input by name" });
    if (!search.dataset.wired) { search.dataset.wired = "1"; on(search, "input", () => { drawInputs(search.value); search.focus(); }); }
    sliders = found.map((id) => {
      const label = trace.nodes[id].label, range = h("input", { type: "range", min: 0, step: 1, "aria-label": label }), out = h("output", {}), limits = h("span", { class: "mg-soft mg-limits" });
      const sweep = sweeps.find((x) => x.node === id);
      if (sweep) {
        range.max = String(sweep.xs.length - 1);
        put(limits, `${fmt(sweep.xs[0], 4)} … ${fmt(sweep.xs[sweep.xs.length - 1], 4)}`);
      } else { range.disabled = true; if (alive) model.send({ type: "want", node: id }); }
      range.oninput = () => slide(id, Number(range.value));
      range.onpointerdown = () => { held = true; ahead(); };
      range.onchange = () => { held = false; rest(); };
      return { node: id, range, out, row: h("label", { class: "mg-input" }, h("span", { class: "mg-input-name", title: label }, tail(label, 16)), range, out, limits) };
    });
    const reset = h("button", { class: "mg-button mg-small mg-reset", type: "button", title: "put every input back to the values at which the graph was recorded" }, "reset");
    reset.onclick = () => { model.set("inputs", { ...model.get("recorded") }); save(); };
    inputs.style.setProperty("--names", `${Math.min(16, Math.max(1, ...found.map((id) => trace.nodes[id].label.length))) + 1}ch`);
    inputs.hidden = !leaves.length || !sweeps.length && !many;
    const rows = h("div", { class: "mg-rows" }, ...sliders.map((x) => x.row));
    inputs.replaceChildren(...(many ? [search, reset, rows] : [rows, reset]));
    placeSliders();
  }
  let pause = 0, turn = 0, held = false, near = false, hand = /** @type {any} */ (0); // hand: the inputs as a drag put them last
  /** What a drag's frames need to know, looked up before it begins: when the mouse comes to the sliders, or the keyboard. */
  function ahead() {
    for (const x of [...ledgerRows, ...valueRows, ...Object.values(panes)]) x.top = undefined;
    thin();
  }
  on(inputs, "pointerenter", () => { near = true; if (!dragging && !away.length) ahead(); });
  on(inputs, "pointerleave", () => { near = false; if (!dragging) returning = window.setTimeout(settle, 600); });
  on(inputs, "focusin", () => {
    if (dragging || near || away.length) return;
    ahead();
    returning = window.setTimeout(settle, 3000); // reached by keyboard, and not moved
  });
  for (const type of ["pointerup", "pointercancel"]) on(document, type, () => { if (held) { held = false; still(); } }, { capture: true });
  /** @param {number} id @param {number} index */
  function slide(id, index) {
    clearTimeout(returning);
    const sweep = sweeps.find((x) => x.node === id);
    if (!sweep) return;
    const first = !dragging;
    dragging = true;
    if (first) ahead();
    model.set("inputs", (hand = { ...model.get("inputs"), [id]: sweep.xs[index] }));
    still();
  }
  /** Nothing has moved for a while: the kernel hears of it, and unless the mouse still holds the slider that was the drag. A frame that
   * took long is no rest: what waits to be handled comes before idle time. */
  function still() {
    clearTimeout(pause);
    const mine = ++turn;
    pause = window.setTimeout(() => {
      save();
      if (held) return;
      if (!window.requestIdleCallback) return rest();
      requestIdleCallback(() => { if (mine === turn) rest(); }, { timeout: 1000 });
    }, 150);
  }
  /** The slider rests: the kernel hears of it, and the words follow, and a little later all that is out of sight. */
  function rest() {
    turn++;
    clearTimeout(pause);
    if (!dragging) return;
    dragging = false;
    say.style.minHeight = "";
    save();
    if (cards.length > BIG) room = 0;
    update();
    returning = window.setTimeout(settle, 300);
  }
  function placeSliders() {
    const at = model.get("inputs") ?? {};
    for (const x of sliders) {
      const sweep = sweeps.find((w) => w.node === x.node), value = at[x.node];
      if (!sweep || value === undefined) continue;
      const index = nearest(sweep.xs, value);
      if (Number(x.range.value) !== index) x.range.value = String(index);
      x.range.style.setProperty("--at", `${(100 * index) / (sweep.xs.length - 1)}%`);
      x.range.setAttribute("aria-valuetext", `${trace.nodes[x.node].label} = ${fmt(value)}`);
      put(x.out, fmt(value));
      const others = moved(sweep, at);
      x.range.disabled = others.length > 0 && !alive;
      x.row.classList.toggle("mg-stale", others.length > 0);
    }
    const stuck = !alive && sliders.find((x) => x.range.disabled), free = sliders.find((x) => !x.range.disabled);
    const words = [model.get("notice") ?? ""], page = model.get("standalone") === true;
    if (!alive && !page) words.push(`The kernel that computed this is gone. Everything shown can still be replayed${free ? `, and ${trace.nodes[free.node].label} can still be moved: its points were computed before` : ""}.${stuck ? ` The other inputs need a kernel, or ${free ? trace.nodes[free.node].label : "the moved input"} back at its old place.` : ""} Run the cell again to get everything back.`);
    if (page && stuck && free) words.push(`This page has no kernel: put ${trace.nodes[free.node].label} back to move the other inputs.`);
    const text = words.filter(Boolean).join(" ");
    put(note, text);
    note.hidden = !text;
    badge.hidden = alive || page;
  }
  /** Do all inputs stand where they were recorded? */
  const home = () => Object.entries(model.get("recorded") ?? {}).every(([k, v]) => model.get("inputs")?.[k] === v);
  function onInputs() {
    if (model.get("trace") !== rawTrace) return; // a new trace is arriving, piece by piece
    // after a short rest the kernel's answer may arrive when the slider has moved on: where the hand put it is newer
    if (dragging && model.get("inputs") !== hand) return model.set("inputs", hand);
    const at = model.get("inputs") ?? {};
    point = lookUp(trace, sweeps, at) ?? (home() ? recorded(trace) : point);
    placeSliders();
    update();
  }

  // ---- life and death
  /** From now on nobody listens on the other side. A dead model never comes back: a new run makes a new one. */
  function lost() {
    if (!alive) return;
    alive = false;
    root.classList.add("mg-gone");
    placeSliders();
  }
  watch("comm_live_update", lost); // models are born alive, so the first change is the end: a kernel restart, as JupyterLab tells it
  const session = model.widget_manager?.context?.sessionContext; // a kernel that died by itself is told only here
  /** @param {unknown} _ @param {string} status */
  const onStatus = (_, status) => { if (["restarting", "autorestarting", "terminating", "dead"].includes(status)) lost(); };
  session?.statusChanged?.connect(onStatus);
  const watcher = new MutationObserver(theme);
  watcher.observe(document.body, { attributes: true });
  watcher.observe(document.documentElement, { attributes: true });
  function theme() {
    root.dataset.mgTheme = isDark(getComputedStyle(root).backgroundColor) ? "dark" : "light";
  }
  const sheets = new MutationObserver(() => requestAnimationFrame(theme)); // JupyterLab swaps a style sheet when the theme changes
  sheets.observe(document.head, { childList: true });
  on(document.head, "load", () => theme(), { capture: true });
  on(matchMedia("(prefers-color-scheme: dark)"), "change", theme);
  let placed = false;
  let wideNow = 0; // a sentence of more lines changes the height in a drag: it may grow, and shrinks when the slider rests, or the slider would move away from the mouse
  const sized = new ResizeObserver(() => { if (dragging) say.style.minHeight = `${say.offsetHeight}px`; if (root.clientWidth === wideNow) return; wideNow = root.clientWidth; theme(); root.classList.toggle("mg-wide", root.clientWidth >= 1150); if (fitted && svg) fitStage(); if (!placed && root.clientWidth && svg) { placed = true; follow(currentNode()); } });
  sized.observe(root);
  sized.observe(say);

  function all() {
    const raw = model.get("trace");
    if (!raw || raw === "{}") return;
    if (raw !== rawTrace) trace = parsed(rawTrace = raw);
    readSweeps();
    point = lookUp(trace, sweeps, model.get("inputs") ?? {}) ?? recorded(trace);
    draw();
    show(tab, false);
    drawInputs();
    update();
  }
  model.on("msg:custom", onCustom);
  watch("change:version", all);
  watch("change:step", update);
  watch("change:inputs", onInputs);
  watch("change:sweeps", () => { if (model.get("trace") !== rawTrace) return; readSweeps(); if (!dragging && sliders.some((x) => x.range.disabled && alive)) drawInputs(inputs.querySelector(".mg-search")?.value ?? ""); onInputs(); });
  watch("change:notice", placeSliders);
  all();
  if (model.get("standalone") || model.get("layout")?.comm_live === false) lost(); // a saved notebook brings models that never had a kernel
  theme();
  return () => {
    gone.abort();
    pen.drop();
    stop();
    turn++;
    clearTimeout(pause);
    clearTimeout(returning);
    cancelAnimationFrame(flight);
    watcher.disconnect();
    sheets.disconnect();
    sized.disconnect();
    session?.statusChanged?.disconnect(onStatus);
    model.off("msg:custom", onCustom);
    for (const [name, run] of watching) model.off(name, run);
    root.remove();
  };
}

export default { render };
