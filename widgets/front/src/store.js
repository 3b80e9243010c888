// The state of one view, in one place. What the kernel also knows (the step, the inputs) stays in the model.

/** @import { Forms } from "./forms/data.js" */
/** @import { Network } from "./network/numbers.js" */

import { forwardSteps } from "./model/moment.js";

/** @import { Card, Picture, Trace } from "./types" */
/** @import { Point, Sweep } from "./model/sweep.js" */

/** @typedef {"ledger"|"values"|"node"} Tab */
/** @typedef {"idle"|"dragging"} Drag */

/** @typedef {object} State
 * @property {Trace} trace
 * @property {Picture} picture the one that is shown
 * @property {Picture[]} pictures the picture, and the same for narrower stages
 * @property {Sweep[]} sweeps
 * @property {Point} point where the inputs stand
 * @property {number} total events
 * @property {number} forward events of the forward pass
 * @property {number} step how many events have happened
 * @property {number} selected the node that was asked about, or -1
 * @property {Tab} tab
 * @property {boolean} chosen somebody has chosen the tab
 * @property {boolean} covered the ledger is to be filled in
 * @property {Drag} drag a slider is moving
 * @property {boolean} alive somebody listens on the other side
 * @property {Network|null} network what is drawn in place of operations
 * @property {Forms|null} forms the figure of a program of Tensors, in place of operations
 * @property {number} sample which of its samples is looked at
 * @property {"sends"|"grads"} wires what its wires show in the backward pass: what was sent, or the weights' gradients
 * @property {boolean} wide the panel stands beside the picture */

/** Milliseconds after which a slider counts as resting, and debounce of steps. */
export const REST = 150;

/** The card that differs from the one in the other view. @param {Picture} picture @returns {Card|null} */
export const markedCard = (picture) => picture.cards.find((c) => c.rows) ?? null;

/** What follows from a trace. @param {Trace} trace */
export const counts = (trace) => ({ total: trace.steps.length, forward: forwardSteps(trace) });

export class Store {
  /** @type {((changed: Set<string>) => void)[]} */ #listeners = [];

  /** @param {State} state */
  constructor(state) {
    this.state = state;
  }

  /** Change parts of the state and notify subscribers. @param {Partial<State>} patch */
  set(patch) {
    const changed = new Set(Object.keys(patch).filter((key) => !Object.is(Reflect.get(this.state, key), Reflect.get(patch, key))));
    if (!changed.size) return;
    Object.assign(this.state, patch);
    for (const run of this.#listeners) run(changed);
  }

  /** Change parts of the state without notifying: the caller redraws them, or calls `set` next. @param {Partial<State>} patch */
  prepare(patch) {
    Object.assign(this.state, patch);
  }

  /** @param {(changed: Set<string>) => void} run */
  subscribe(run) {
    this.#listeners.push(run);
  }
}
