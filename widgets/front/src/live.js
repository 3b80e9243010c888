// The live region under the picture: a sentence about the last event, and about values that are not finite.

import { h, rich } from "./dom.js";
import { sentence, trouble } from "./model/moment.js";
import { networkTrouble } from "./network/words.js";

/** @import { Frame, View } from "./view.js" */

export class LiveSentence {
  #said = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.say = view.shell.say;
  }

  /** The sentence as plain text. */
  get text() {
    return this.say.firstChild?.textContent ?? "";
  }

  /** @param {Frame} frame */
  update(frame) {
    const { trace, point, now } = frame;
    const { network, forms } = this.view.state;
    const found = forms ? { node: -1, say: "" } : network ? { node: -1, say: networkTrouble(network) } : trouble(trace, point);
    const odd = found.say;
    // A value that becomes nan in this event is reported once.
    const told = !trace.arrays && now.current?.kind === "compute" && now.current.node === found.node;
    const spoken = told ? "" : this.view.flowing?.sentence(frame) || sentence(trace, point, now);
    if (spoken + odd === this.#said) return;
    this.#said = spoken + odd;
    const warning = odd ? [h("div", { class: "mg-odd-say" }, "⚠ ", ...rich(odd))] : [];
    this.say.replaceChildren(...(told ? [] : [h("div", {}, ...rich(spoken))]), ...warning);
  }
}
