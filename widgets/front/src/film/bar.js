// The controls: moving, the backward pass, spikes, what if, comparing.

import { h } from "../dom.js";
import { button } from "./ui.js";

/** @import { Film } from "./film.js" */

/** @type {[number, string][]} */ const SPEEDS = [
  [0.25, "¼×"],
  [1, "1×"],
  [4, "4×"],
];
/** @type {[number, string][]} */ const FACTORS = [
  [0.1, "⅒"],
  [0.5, "½"],
  [2, "2"],
  [4, "4"],
];

export class Bar {
  /** @param {Film} film */
  constructor(film) {
    this.film = film;
    this.row = h("div", { class: "mf-bar" });
    this.tools = h("div", { class: "mf-bar mf-tools" });
    this.el = h("div", { class: "mf-bars" }, this.row, this.tools);
  }

  draw() {
    const { film } = this;
    const focused = this.el.contains(document.activeElement) ? document.activeElement?.textContent : null;
    const group = (/** @type {(Node|string)[]} */ ...parts) => h("div", { class: "mf-group" }, ...parts);
    const pressed = (/** @type {boolean} */ on) => ({ "aria-pressed": String(on) });
    this.playing = button("play", () => film.play());
    this.sweeping = button("◂ sweep back", () => film.back(), { class: "mg-button mg-small mf-b", title: "B" });
    this.spiking = button("next spike ▾", () => film.spike(), { title: "S" });
    /** @type {(Node|string)[]} */ const parts = [];
    if (film.live)
      parts.push(
        button(
          "● follow",
          () => {
            film.follow = !film.follow;
            if (film.follow) Object.assign(film, { sweep: 0, k: film.last });
            this.draw();
            film.refresh();
          },
          pressed(film.follow),
        ),
      );
    parts.push(
      group(
        button("|◂", () => film.go(0), { "aria-label": "first step" }),
        button("◂", () => film.go(film.k - 1), { "aria-label": "step back" }),
        this.playing,
        button("▸", () => film.go(film.k + 1), { "aria-label": "next step" }),
      ),
      group(
        ...SPEEDS.map(([speed, label]) =>
          button(
            label,
            () => {
              film.speed = speed;
              this.draw();
            },
            { ...pressed(film.speed === speed), "aria-label": `speed ${label}` },
          ),
        ),
      ),
      this.sweeping,
      this.spiking,
    );
    /** @type {Node[]} */ const tools = [];
    if (film.whole && !film.live && film.run.frames.some((f) => f.rate !== null))
      tools.push(
        group(
          h("span", {}, "what if lr ×"),
          ...FACTORS.map(([f, label]) =>
            button(label, () => film.whatIf(f), { "aria-label": `what if the learning rate were ${f} times as large from this step on` }),
          ),
        ),
      );
    if (film.branch)
      tools.push(
        group(
          button("recorded", () => film.showBranch(false), pressed(!film.branched)),
          button("branch", () => film.showBranch(true), pressed(film.branched)),
          button("×", () => film.dropBranch(), { "aria-label": "remove the branch" }),
        ),
      );
    const others = film.runs.map((run, i) => ({ run, i })).filter(({ run, i }) => i !== film.shown && run.fits(film.run));
    if (film.runs.length > 1)
      tools.push(group(...film.runs.map((run, i) => button(run.about.name, () => film.choose(i), pressed(i === film.shown)))));
    for (const { run, i } of others)
      tools.push(button(`compare with ${run.about.name}`, () => film.compare(film.other === i ? -1 : i), pressed(film.other === i)));
    tools.push(h("span", { class: "mf-grow" }));
    if (film.run.kind === "plane")
      tools.push(
        button("histograms", () => film.fill(!film.histograms), {
          ...pressed(film.histograms),
          title: "fill the circles with histograms of the units' outputs",
        }),
      );
    tools.push(button("log", () => film.setLog(!film.log), { ...pressed(film.log), title: "L" }));
    this.row.replaceChildren(...parts);
    this.tools.replaceChildren(...tools);
    this.update();
    if (focused) [...this.el.querySelectorAll("button")].find((b) => b.textContent === focused)?.focus({ preventScroll: true });
  }

  /** What changes from step to step. */
  update() {
    const { film } = this;
    if (!this.playing || !this.sweeping || !this.spiking) return;
    this.playing.textContent = film.playing ? "pause" : "play";
    this.sweeping.setAttribute("aria-pressed", String(film.sweep > 0));
    this.sweeping.disabled = !film.run.length || !film.run.units.length;
    this.spiking.disabled = !film.run.spikes.length;
  }
}
