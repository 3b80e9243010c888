// One view of one traced graph: owns the state and the parts, and says when which of them draws.
// Draws once for each trace, from the kernel's positions; afterwards only numbers and classes change.

import { put } from "./dom.js";
import { Files } from "./files.js";
import { Find } from "./find.js";
import { readForms } from "./forms/data.js";
import { FormsPane } from "./forms/pane.js";
import { FormsScene } from "./forms/scene.js";
import { Inputs } from "./inputs.js";
import { listenToKeys } from "./keyboard.js";
import { Lifecycle } from "./lifecycle.js";
import { LiveSentence } from "./live.js";
import { moment, move } from "./model/moment.js";
import { lookUp, readSweeps, recorded } from "./model/sweep.js";
import { readNetwork } from "./network/numbers.js";
import { NetworkPane } from "./network/pane.js";
import { NetworkScene } from "./network/scene.js";
import { Packets } from "./packets.js";
import { Panes } from "./panes/panes.js";
import { Offscreen } from "./picture/offscreen.js";
import { Scene } from "./picture/scene.js";
import { Viewport } from "./picture/viewport.js";
import { SCHEMA } from "./schema.js";
import { Shell } from "./shell.js";
import { SourceLines } from "./source.js";
import { counts, REST, Store } from "./store.js";
import { Timeline } from "./timeline.js";

/** @import { Picture, Step, Trace } from "./types" */
/** @import { Moment } from "./model/moment.js" */
/** @import { Point } from "./model/sweep.js" */

/** anywidget's model, or the few lines of an exported page.
 * @typedef {{get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void, send: (content: object) => void,
 *   on: (name: string, run: (...args: any[]) => void) => void, off: (name: string, run: (...args: any[]) => void) => void,
 *   widget_manager?: any}} Model */

/** The data of one frame, passed to every part that depends on the step or the inputs.
 * @typedef {{trace: Trace, point: Point, now: Moment, step: number, total: number, forward: number, back: boolean, current: Step|null,
 *   active: number, dragging: boolean}} Frame active: the edge that carries a gradient, or -1 */

/** Fields of the state that require a repaint. */
const PAINTED = ["step", "point", "selected", "tab", "covered", "sample", "wires"];

/** Large traits come as bytes from a kernel, as objects out of an exported page. @param {any} x */
const parsed = (x) => (ArrayBuffer.isView(x) || x instanceof ArrayBuffer ? JSON.parse(new TextDecoder().decode(x)) : x);

/** @type {Picture} */
const EMPTY = { w: 0, h: 0, cards: [], wires: [] };

export class View {
  #revealing = false;
  #unsaved = 0;
  #wanted = 0;

  /** @param {Model} model @param {HTMLElement} el @param {(error: unknown) => void} fail what to do when nothing can be drawn any more */
  constructor(model, el, fail) {
    this.model = model;
    this.fail = fail;
    /** One switch for every DOM listener. */
    this.gone = new AbortController();
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.store = new Store({
      trace: { schema: SCHEMA, title: "", root: 0, nodes: [], edges: [], steps: [] },
      ...{ picture: EMPTY, pictures: [EMPTY] },
      sweeps: [],
      point: { values: new Float64Array(), grads: new Float64Array(), locals: new Float64Array() },
      ...{ total: 0, forward: 0, step: 0, selected: -1 },
      tab: "ledger",
      chosen: false,
      covered: model.get("quiz") === true,
      drag: "idle",
      alive: true,
      wide: false,
      network: null,
      forms: null,
      sample: 0,
      wires: "sends",
    });
    /** @type {any} the trait that the trace was read from */
    this.rawTrace = null;
    this.shownStep = -1;
    this.painting = false;

    this.shell = new Shell(this);
    this.offscreen = new Offscreen(this);
    this.viewport = new Viewport(this);
    this.operations = new Scene(this);
    this.columns = new NetworkScene(this);
    this.figure = new FormsScene(this);
    this.live = new LiveSentence(this);
    this.source = new SourceLines(this);
    this.timeline = new Timeline(this);
    this.find = new Find(this);
    this.files = new Files(this);
    this.panes = new Panes(this);
    this.network = new NetworkPane(this);
    this.formsPane = new FormsPane(this);
    this.inputs = new Inputs(this);
    this.packets = new Packets(this);
    listenToKeys(this);
    el.append(this.shell.root);

    this.store.subscribe((changed) => {
      if (changed.has("trace")) this.draw();
      else if (!this.painting && PAINTED.some((key) => changed.has(key))) this.update();
    });
    this.lifecycle = new Lifecycle(this);
    this.load();
    this.lifecycle.begin();
  }

  /** What the stage shows: the network, the figure of a program of Tensors, or operations. */
  get scene() {
    return this.flowing ?? this.operations;
  }

  /** A picture that is laid out for its stage, and neither scrolls nor zooms; null: cards. */
  get flowing() {
    return this.state.network ? this.columns : this.state.forms ? this.figure : null;
  }

  /** The steps at which one can stop; null: all. @returns {number[]|null} */
  get stops() {
    return this.state.forms ? this.figure.stops : null;
  }

  /** A step as it is counted: what is closed takes one step. @param {number} step */
  counted(step) {
    const { total, forward } = this.state;
    const { stops } = this;
    if (!stops) return { at: step, total, forward };
    const index = (/** @type {number} */ of) => stops.findLastIndex((k) => k <= of);
    return { at: index(step), total: stops.length - 1, forward: index(forward) };
  }

  get state() {
    return this.store.state;
  }

  /** Does anybody answer when a card is to be opened: a kernel, or a page with the pictures of it? */
  get answered() {
    return this.state.alive || this.model.get("opens") === true;
  }

  /** Add a listener that is removed with the view.
   * @param {EventTarget} target @param {string} type @param {(e: any) => void} run @param {AddEventListenerOptions} [options] */
  on(target, type, run, options = {}) {
    target.addEventListener(type, run, { signal: this.gone.signal, ...options });
  }

  /** Run what draws; if it cannot be drawn, the view gives way to a sentence and a still picture. @param {() => void} run */
  attempt(run) {
    try {
      run();
    } catch (error) {
      this.fail(error);
    }
  }

  // ---- from the kernel

  /** Read everything that the kernel has sent, and draw it. */
  load() {
    const raw = this.model.get("trace");
    if (!raw) return;
    const first = !this.rawTrace;
    /** @type {Trace} */
    const trace = raw === this.rawTrace ? { ...this.state.trace } : parsed(raw);
    if (trace.schema !== SCHEMA) throw new Error("this page and its kernel have different versions of minigrad");
    this.rawTrace = raw;
    const sweeps = readSweeps(this.model.get("sweeps"));
    const point = lookUp(sweeps, this.model.get("inputs") ?? {}) ?? recorded(trace);
    const size = counts(trace);
    const step = move(this.model.get("step"), size.total, "");
    const selected = Math.min(this.state.selected, trace.nodes.length - 1);
    const network = readNetwork(this.model.get("network"));
    const forms = readForms(this.model.get("forms"));
    const looked = first ? (network?.mark?.sample ?? 0) : this.state.sample;
    const sample = Math.min(looked, Math.max(0, ((network ?? forms)?.plan.samples ?? 1) - 1));
    this.store.prepare({ network, forms, sample });
    const picture = /** @type {Picture} */ (parsed(this.model.get("picture")));
    const bands = Math.max(0, this.state.pictures.indexOf(this.state.picture));
    const pictures = [picture, ...(picture.wraps ?? [])];
    this.store.prepare({ pictures });
    this.store.set({ trace, picture: pictures[Math.min(bands, pictures.length - 1)], sweeps, point, ...size, step, selected });
  }

  /** Whether a new trace is arriving in pieces: updates that depend on it must wait. */
  get arriving() {
    return this.model.get("trace") !== this.rawTrace;
  }

  draw() {
    this.shownStep = -1;
    const active = this.shell.root.contains(document.activeElement) ? document.activeElement : null;
    const focused = active?.closest(".mg-card, .mg-frame");
    const onCell = !!active?.closest("[data-cell], [data-columns], .mg-fm-sheet, .mg-fm-branch"); // asked now: drawing takes it away
    this.viewport.choose();
    this.scene.draw();
    this.source.draw();
    this.panes.draw();
    this.timeline.draw();
    this.shell.draw();
    this.network.draw();
    this.formsPane.draw();
    this.lifecycle?.place();
    this.viewport.fitOrKeep();
    if (!this.scene.refocus(onCell) && focused) this.#refocus(focused);
    this.panes.show(this.state.tab);
    this.inputs.draw();
    this.update();
  }

  /** Focus the new element of a card or a frame that was drawn before. @param {Element} old */
  #refocus(old) {
    const [node, fold] = ["data-node", "data-fold"].map((name) => old.getAttribute(name));
    const frame = /** @type {SVGElement|null} */ (this.scene.svg.querySelector(`.mg-frame[data-fold="${fold}"]`));
    (node === null ? frame : this.scene.card(Number(node))?.g)?.focus({ preventScroll: true });
  }

  // ---- everything that a step or an input changes

  update() {
    const { trace, point, step, total, forward, drag } = this.state;
    if (!trace.nodes.length) return;
    this.painting = true;
    const now = moment(trace, point, step);
    const { current } = now;
    const dragging = drag === "dragging";
    const back = step > forward;
    /** @type {Frame} */
    const frame = { trace, point, now, step, total, forward, back, current, active: current?.edge ?? -1, dragging };
    const stepped = step !== this.shownStep;
    if (stepped && this.shownStep >= 0 && !dragging) this.offscreen.hide(1500);
    this.shell.update(frame);
    this.offscreen.begin();
    this.scene.update(frame);
    this.live.update(frame);
    this.panes.update(frame);
    this.network.update(frame);
    this.formsPane.update(frame);
    this.inputs.update(frame);
    if (!dragging) this.source.mark(this.state.selected >= 0 && this.state.tab === "node" ? this.state.selected : (current?.node ?? -1));
    this.timeline.update(frame);
    if (!dragging) this.#revealSoon();
    if (stepped) {
      if (current) this.viewport.follow(frame.active >= 0 ? trace.edges[frame.active].source : current.node, this.shownStep >= 0);
      if (current && step === this.shownStep + 1 && !this.calm.matches && document.visibilityState === "visible") this.packets.fly(frame);
      this.shownStep = step;
    }
    this.shell.root.dataset.ready = "1";
    this.painting = false;
  }

  /** Bring the present row and line into sight once the step is painted: asked before, the browser would lay everything out for the answer,
   * and again for what is written after it. */
  #revealSoon() {
    if (this.#revealing) return;
    this.#revealing = true;
    requestAnimationFrame(() =>
      setTimeout(() => {
        this.#revealing = false;
        if (this.gone.signal.aborted || this.state.drag === "dragging") return;
        this.panes.reveal();
        this.source.reveal();
      }),
    );
  }

  // ---- actions of the reader

  save() {
    clearTimeout(this.#unsaved);
    this.#unsaved = 0;
    if (this.state.alive) this.model.save_changes();
  }

  /** @param {object} content */
  send(content) {
    if (this.#unsaved) this.save(); // the kernel answers for the step that is shown
    this.model.send(content);
  }

  /** Debounce the step that is sent: JupyterLab does work for each message, which would cost a frame.
   * @param {number} step */
  go(step) {
    this.#wanted = step;
    this.model.set("step", step);
    clearTimeout(this.#unsaved);
    this.#unsaved = window.setTimeout(() => this.save(), REST);
  }

  /** The step of the model changed. An echo of an earlier step does not undo a newer one that was not sent yet. */
  heard() {
    if (this.#unsaved && this.model.get("step") !== this.#wanted) this.model.set("step", this.#wanted);
    this.store.set({ step: move(this.model.get("step"), this.state.total, "") });
  }

  /** Stop playing and go there. @param {number} step */
  jump(step) {
    this.timeline.stop();
    this.go(step);
  }

  /** @param {string} what "start", "back", "next" or "end" */
  move(what) {
    this.jump(this.after(what));
  }

  /** The step after a move. @param {string} what */
  after(what) {
    const { step, total } = this.state;
    const { stops } = this;
    if (stops && what === "next") return stops.find((k) => k > step) ?? total;
    if (stops && what === "back") return stops.findLast((k) => k < step) ?? 0;
    return move(step, total, what);
  }

  /** Other steps can be stopped at: the track and the words follow, the event stays. */
  restop() {
    this.timeline.draw();
    this.update();
  }

  /** The node of the last event; before the first one, the result. */
  get currentNode() {
    const { trace, step } = this.state;
    return trace.steps[step - 1]?.node ?? trace.root;
  }

  /** Select a node and show its numbers at this step; open it if it is a fold. @param {number} node */
  inspect(node) {
    const { trace } = this.state;
    const key = trace.nodes[node].fold;
    if (key !== undefined && this.answered) return this.fold(key);
    if (key !== undefined) this.needsKernel();
    this.store.set({ selected: node, tab: "node", chosen: true });
    this.panes.show("node");
    this.update();
  }

  /** Open or close a fold; the kernel lays the picture out again. @param {number|string} what */
  fold(what) {
    if (!this.answered) return this.needsKernel();
    this.timeline.stop();
    this.store.prepare({ selected: -1 });
    this.scene.reopened = typeof what === "number" ? what : -1;
    this.send({ type: "fold", what });
  }

  /** The card cannot be opened here. */
  needsKernel() {
    put(this.shell.status, "opens in JupyterLab");
  }

  /** The folds around the one that was opened last, outer ones first. @returns {[number, string][]} */
  get trail() {
    return this.state.pictures[0].trail ?? [];
  }

  /** Close the folds that were opened inside a fold; with a negative number, all. @param {number} fold */
  back(fold) {
    const { trail } = this;
    const inner = trail[trail.findIndex(([key]) => key === fold) + 1]?.[0] ?? -1;
    if (!this.state.alive) return inner < 0 ? undefined : this.fold(inner); // a page without a kernel knows how to close a card
    this.timeline.stop();
    this.store.prepare({ selected: -1 });
    this.scene.reopened = inner;
    this.send({ type: "back", fold });
  }

  /** Look at another sample. @param {number} sample */
  showSample(sample) {
    this.store.set({ sample });
    if (this.state.forms) return this.formsPane.way();
    const { open } = this.columns;
    if (open >= 0 && this.answered) this.send({ type: "look", cell: open, sample });
  }

  /** Clear selection, marks and choices. */
  clear() {
    this.find.stopFlow();
    this.source.markLine("");
    this.store.set({ selected: -1, chosen: false });
    this.update();
    this.source.drop();
  }

  destroy() {
    if (this.#unsaved) this.save();
    this.gone.abort();
    this.source.drop();
    this.timeline.stop();
    this.inputs.destroy();
    this.offscreen.destroy();
    this.packets.destroy();
    this.lifecycle.destroy();
    this.shell.root.remove();
  }
}
