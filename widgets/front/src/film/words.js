// What happens at the step that is shown, in a sentence. Everything in it comes from the run: nothing is known about the loss in advance.

import { fmt, plural } from "../model/numbers.js";

/** @import { Film } from "./film.js" */

const code = (/** @type {string} */ name) => `\`${name}\``;

/** @param {Film} film */
export function sentence(film) {
  const { run, k } = film;
  if (!run.length) return run.about.note || "**No step yet.** The film begins with the first `film.step(loss)`.";
  if (film.branched && film.branch?.note && k >= run.length) return film.branch.note;
  if (film.live && film.follow && !film.sweep)
    return "**It is training.** Drag the line back at any time; the training goes on, and “follow” returns to it. Stop it whenever you like: the film keeps every step so far.";
  if (film.playing) return "**The film plays.** Space stops it at a step, and this line says what happened there.";
  if (k >= run.length) return ending(film);
  if (film.sweep) return backward(film);
  return step(film);
}

/** @param {Film} film */
function ending(film) {
  const { run, judge } = film;
  const m = film.now;
  const note = run.about.note ? ` ${run.about.note}` : "";
  const thinned = run.every > 1 ? ` The film keeps every ${ordinal(run.every)} step of ${run.seen}.` : "";
  const right = judge.decides
    ? `${m.right} of ${m.judged} ${film.thing}s are on the right side.`
    : `the last loss was ${fmt(run.loss(run.length - 1), 3)}.`;
  return `**After the last step:** ${right}${thinned}${note}`;
}

const ordinal = (/** @type {number} */ n) => `${n}${["th", "st", "nd", "rd"][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? "th"}`;

/** @param {Film} film */
function step(film) {
  const { run, k, judge } = film;
  const loss = film.loss();
  const at = `**Step ${run.step(k)} of ${run.seen}${film.branched && film.branch && k >= film.branch.from ? ", in the branch" : ""}:**`;
  if (Number.isNaN(loss))
    return `${at} the loss is not a number. Go back to the steps before: there the weights grow, or a number leaves its range.`;
  const spike = film.branched ? undefined : run.spikes.find((s) => s.k === k);
  const steps = k > 1 ? `the ${plural(Math.min(12, k), "step")} before it had` : "the step before it had";
  const before = spike ? `${steps} ${fmt(spike.mean, 2)}${k > 1 ? " on average" : ""}` : "";
  const jump = spike ? `, a spike: ${before}; the update of step ${run.step(k - 1)} led here` : "";
  const head = `${at} loss ${fmt(loss, 3)}${jump}.`;
  if (!film.program) return `${head} ${run.about.note}`;
  const m = film.now;
  const n = m.rows.length;
  const of = run.frames[k].rows ? `Of the ${plural(n, film.thing)} drawn` : `Of the ${plural(n, film.thing)}`;
  const right = judge.decides ? `${m.rightDrawn} are on the right side` : "";
  const active = !film.whole ? "" : m.active < n ? `${m.active} send a gradient back` : "all send a gradient back";
  const facts = [right, active].filter(Boolean).join(" and ");
  return facts ? `${head} ${of}, ${facts}.` : head;
}

/** @param {Film} film */
function backward(film) {
  const { run, k } = film;
  const m = film.now;
  const { g } = m;
  if (!g) return "";
  const stage = Math.floor(film.sweep);
  const layer = film.stages - stage;
  if (stage <= 1) {
    if (!film.whole) return "**The backward pass begins at the loss,** whose gradient with respect to itself is 1.";
    const n = m.rows.length;
    const part = Math.abs(film.program?.coefficient ?? 1);
    const each =
      Math.abs(part * n - 1) < 1e-9
        ? `The loss is the mean of ${plural(n, "loss").replace("losss", "losses")}, so each passes back 1/${n}.`
        : `The loss adds up one loss for each of ${n} ${film.thing}s.`;
    const active =
      m.active < n
        ? `A loss that is flat passes nothing on: ${m.active} of ${n} ${film.thing}s${run.kind === "plane" ? ", the ringed ones," : ""} send a gradient into the network.`
        : `Every ${film.thing} sends a gradient into the network${run.kind === "plane" ? "; the thicker its ring, the larger" : ""}.`;
    return `**The backward pass begins at the loss.** ${each} ${active}`;
  }
  if (layer < 1) return update(film);
  const units = run.units.map((u, i) => ({ u, i })).filter(({ u }) => u.layer === layer);
  const weights = units.flatMap(({ u }) => u.inputs.map((x) => x[2]));
  const top = weights.reduce((a, b) => (Math.abs(g[b]) > Math.abs(g[a]) ? b : a));
  const largest = `The largest is ${code(run.names[top])}, with ${fmt(g[top], 3)}.`;
  if (layer === run.depth)
    return `**The weights of the output have their gradients:** each is the sum over the points of gradient × the unit's output. ${largest}`;
  const { act } = units[0].u;
  if (!film.whole) return `**The weights of layer ${layer} have their gradients.** ${largest}`;
  const silent = units.filter(({ i }) => m.delta[i] === 0).length;
  const how =
    act === "relu"
      ? "Each ReLU passes its gradient on only where its output is above 0."
      : act === "linear"
        ? "Each unit passes its gradient on as it is."
        : `Each unit passes its gradient on, times the slope of ${act} at its sum.`;
  const dead = silent
    ? ` ${silent} of ${units.length} units ${silent === 1 ? "gets" : "get"} nothing, so ${silent === 1 ? "its" : "their"} weights stay as they are.`
    : "";
  return `**${how}**${dead} ${largest}`.replace("The largest", "The largest gradient of a weight") + (k < 0 ? "" : "");
}

/** @param {Film} film */
function update(film) {
  const { run, k } = film;
  const m = film.now;
  const after = film.after();
  const rate = film.rate();
  if (!after) return "**The optimizer takes its step.** The film does not have the weights right after it.";
  let p = 0;
  for (let i = 1; i < run.n; i++) if (Math.abs(after[i] - m.w[i]) > Math.abs(after[p] - m.w[p])) p = i;
  const head =
    rate === null
      ? "**The optimizer takes its step.** It isn't a multiple of the gradient."
      : `**Every weight moves by −${fmt(rate, 3)} × its gradient.**`;
  const next = film.loss(k + 1);
  const then = Number.isFinite(next) ? ` The next step has loss ${fmt(next, 3)}.` : "";
  return `${head} The farthest goes ${code(run.names[p])}, from ${film.w(m.w[p])} to ${film.w(after[p])}.${then}`;
}
