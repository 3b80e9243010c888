// The buttons that move through events or moments, and their keys: the same under a graph and under a lesson's figure.

import { h, put } from "./dom.js";
import { keyMove } from "./keyboard.js";
import { button } from "./shell.js";

const MOVES = /** @type {const} */ (["start", "back", "next", "end"]);

export class Transport {
  /** @param {(what: string) => void} move "start", "back", "next" or "end" @param {() => void} toggle play or pause
   * @param {(target: EventTarget, event: string, run: () => void) => void} on @param {string} [step] what the button to the next one says */
  constructor(move, toggle, on, step = "step ▸") {
    this.move = move;
    this.play = button("play", "play", "play (Space)");
    const speeds = ["0.5", "1", "2", "4"].map((v) => h("option", { value: v }, `${v.replace("0.5", "½")}×`));
    this.speed = /** @type {HTMLSelectElement} */ (h("select", { class: "mg-speed", "aria-label": "speed", title: "speed" }, ...speeds));
    this.speed.value = "1";
    this.clock = h("span", { class: "mg-clock" });
    this.start = button("start", "start", "start (Home)");
    this.back = button("back", "◂ back", "step back (←)");
    this.next = button("next", step, `${step.replace(" ▸", "")} (→)`);
    this.end = button("end", "end", "end (End)");
    for (const what of MOVES) on(this[what], "click", () => move(what));
    on(this.play, "click", toggle);
  }

  /** Move as a key says. @param {KeyboardEvent} event */
  key(event) {
    const what = keyMove(event.key);
    const plays = what === "play" && !(event.target instanceof HTMLButtonElement); // which is pressed by it
    if (event.target === this.speed || !(plays || MOVES.some((move) => move === what))) return;
    event.preventDefault();
    event.stopPropagation();
    if (plays) this.play.click();
    else this.move(what);
  }

  /** @param {number} at @param {number} last */
  tell(at, last) {
    put(this.clock, `${at} / ${last}`);
  }

  /** @param {boolean} on */
  playing(on) {
    const what = on ? "pause" : "play";
    put(this.play, what);
    for (const name of ["aria-label", "title"]) this.play.setAttribute(name, `${what} (Space)`);
  }

  /** How many times as fast as usual. */
  get pace() {
    return Number(this.speed.value);
  }
}
