// The network level: its numbers, where everything stands, what it says, what people do; the curve beside a slider.
import { columnOf, drawCurve } from "../../widgets/front/src/curve.js";
import { geometry, shortest } from "../../widgets/front/src/network/geometry.js";
import { drawNeuron } from "../../widgets/front/src/network/neuron.js";
import { movedTo, numbersOf, partsOf, readNetwork, short } from "../../widgets/front/src/network/numbers.js";
import { fmt, num } from "../../widgets/front/src/model/numbers.js";
import { readSweeps, row } from "../../widgets/front/src/model/sweep.js";
import { View } from "../../widgets/front/src/view.js";
import { assert, cases, fakeModel, real, test } from "./harness.mjs";

const network = () => readNetwork(real(cases.views.network.network));

function open(more = {}) {
  const { body } = document;
  const model = fakeModel({ ...real(cases.views.network), standalone: false, ...more });
  const view = new View(model, body, (error) => { throw error; });
  view.columns.flow(900);
  const all = (css) => [...body.querySelectorAll(css)];
  const press = (key, on = view.shell.root) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  return { body, model, view, all, press };
}

test("everything stands where the still picture has it", () => {
  const { plan } = network();
  cases.network.widths.forEach((w, k) => {
    const [here, there] = [geometry(plan, w), cases.network.at[k]];
    for (const key of ["w", "h", "r", "gap", "mid"]) assert.ok(Math.abs(here[key] - there[key]) < 1e-9, `${key} at ${w}`);
    for (const key of ["x", "y", "tall", "box"]) here[key].forEach((v, i) => assert.ok(Math.abs(v - there[key][i]) < 1e-9, `${key} at ${w}`));
  });
});

test("numbers in circles and names of columns are those of the still picture", () => {
  for (const [name, room, text] of cases.network.columns) assert.equal(shortest(name, room), text);
  assert.equal(shortest("Layer 1 of 2", 9), "Layer 1");
  for (const [x, text] of cases.network.short) assert.equal(short(num(x)), text, String(x));
});

test("a neuron is opened within every width, and nothing leaves the stage", () => {
  const { plan } = network();
  for (const w of [330, 480, 640, 853, 1280, 1600]) {
    for (const column of [1, 2, 3]) {
      const at = geometry(plan, w, column);
      assert.ok(at.x.every((x, k) => x > 0 && x < w && (!k || x > at.x[k - 1])), `${w}, ${column}`);
      assert.ok(at.y.every((y) => y > 0 && y < at.h) && at.panel > 0, `${w}, ${column}`);
    }
  }
});

test("on a very narrow stage words stay legible: it scrolls, and the column of the event is known", () => {
  const { view } = open({ step: 6 });
  assert.ok(view.columns.flow(130) > 0.81);
  const boxes = [0, 1, 2, 3, 4, 5].map((node) => view.columns.box(node));
  assert.ok(boxes.every((box, k) => box.w > 0 && (!k || box.x > boxes[k - 1].x)), JSON.stringify(boxes));
  assert.equal(view.columns.box(6), undefined);
});

test("an opened neuron shows what it gave for each sample, where there are many and there is room", () => {
  const { plan } = network();
  const many = { ...plan, samples: 10 };
  const size = 4 * plan.cells.length + 2;
  const start = 3 + 2 * plan.parameters.length;
  const row = new Float64Array(start + 10 * size);
  for (let k = 0; k < 10; k++) [row[start + k * size], row[start + k * size + 1], row[start + k * size + 5]] = [k, k * k, k - 3]; // x[0], x[1], cell 5
  const one = numbersOf(many, row);
  const drawn = (known, w = 1280) => {
    const found = {};
    const put = (key, tag, attributes, text) => (found[key] = { ...attributes, text });
    const o = { network: one, sample: one.sample(2), cell: 5, column: 1, inner: null, now: {}, known, before: true, arrived: false, sent: false, active: -1 };
    drawNeuron(put, geometry(many, w, 1), o);
    return found;
  };
  const found = drawn(true);
  const count = (kind) => [0, 1, 2, 3].reduce((n, k) => n + (found[`pm${kind}${k}`].d.match(/M/g) ?? []).length, 0);
  assert.deepEqual([count("pos"), count("neg")], [7, 3]);
  const box = found.pm;
  assert.ok(found.pmn.cx > box.x && found.pmn.cx < box.x + box.width / 2 && found.pmn.cy > box.y + box.height / 2);
  assert.equal(found.pmt.text, "x[0] →, x[1] ↑");
  assert.equal(drawn(false).pm, undefined, "not before it has computed");
});

test("forward there are no dashes; the sweep back colours the wires of each layer", () => {
  const { model, all, view } = open({ step: 6 });
  assert.equal(all(".mg-net-cell").length, 12);
  assert.equal(all(".mg-net-bwd").length, 0);
  model.set("step", 10); // the last layer has sent
  assert.equal(all(".mg-net-wire.mg-net-bwd").length, 4 + 2);
  model.set("step", 12);
  assert.equal(all(".mg-net-wire.mg-net-bwd").length, 4 + 16 + 2, "the inputs are plain numbers: nothing is passed to them");
  assert.equal(all(".mg-net-wire:not(.mg-net-bwd)").length, 12);
  view.store.set({ wires: "grads" });
  assert.equal(all(".mg-net-wire.mg-net-bwd").length, 32 + 2, "their weights have gradients");
  const text = view.shell.say.textContent;
  assert.match(text, /^layers\[0\] has its gradients/);
});

test("what a wire sends is weight × the gradient at its neuron's sum; the switch shows weight.grad", () => {
  const { view } = open({ step: 12 });
  const one = network();
  const before = view.columns.svg.innerHTML;
  view.store.set({ wires: "grads" });
  assert.ok(view.columns.svg.innerHTML !== before);
  const s = one.sample(0);
  for (const cell of one.plan.columns[1].cells) {
    const sent = one.plan.wires.filter((w) => w.source === cell).reduce((sum, w) => sum + one.weights[w.parameter] * s.deltas[w.target], 0);
    assert.ok(Math.abs(sent - s.grads[cell]) < 1e-12);
  }
});

test("u and d mark what a neuron is made of, and what it flows into", () => {
  const { view, all, press } = open({ step: 6 });
  const { columns } = view.state.network.plan;
  press("u");
  assert.equal(all(".mg-net-found").length, 1 + columns[0].cells.length);
  assert.match(view.shell.status.textContent, /^\d+ upstream of /);
  press("u");
  assert.equal(all(".mg-net-found").length, 0);
  press("d");
  assert.equal(all(".mg-net-found").length, 1 + columns.slice(2).reduce((sum, c) => sum + c.cells.length, 0));
  press("Escape");
  assert.equal(all(".mg-net-found").length, 0);
});

test("keys: samples, neurons, opening and closing; the kernel is asked for what is inside", () => {
  const { model, view, all, press } = open({ step: 6 });
  press("]");
  assert.equal(view.state.sample, 1);
  press("[");
  press("[");
  assert.equal(view.state.sample, 3);
  press("ArrowDown");
  const first = document.activeElement;
  assert.match(first.getAttribute("aria-label"), /^net\.layers\[0\]\.neurons\[0\], output .*Enter opens it$/);
  press("ArrowDown", first);
  assert.match(document.activeElement.getAttribute("aria-label"), /neurons\[1\]/);
  press("Enter", document.activeElement);
  assert.deepEqual(model.told.at(-1), { type: "look", cell: 4, sample: 3 });
  assert.equal(all(".mg-net-panel").length, 1);
  assert.match(view.shell.path.textContent, /net.*layers\[0\].*neurons\[1\]/);
  press("Escape");
  assert.equal(all(".mg-net-panel").length, 0);
  assert.deepEqual(model.told.at(-1), { type: "look", cell: -1, sample: 3 });
});

test("the slider of a weight shows the kernel's own numbers at each of its places", () => {
  const { view, body } = open({ step: 12 });
  const one = network();
  const range = body.querySelector(".mg-net-slide input");
  range.value = "0";
  range.oninput();
  const there = movedTo(one, 0);
  assert.equal(view.state.network.loss, there.loss);
  assert.equal(view.state.network.weights[one.moved.parameter], one.moved.xs[0]);
  assert.match(body.querySelector(".mg-curve").textContent, /the tangent’s slope is/);
  const size = one.moved.rows.length / one.moved.xs.length;
  const home = one.moved.xs.indexOf(one.weights[one.moved.parameter]);
  assert.ok(home >= 0 && Math.abs(one.moved.rows[home * size] - one.loss) < 1e-12);
});

test("the words below two layers do not meet at any width", async () => {
  const sheet = document.createElement("style");
  sheet.textContent = await (await fetch("/widgets/front/dist/views.css")).text();
  const { view, body, all } = open({ step: 6 });
  body.append(sheet);
  for (const w of [330, 360, 420, 480, 640, 900]) {
    view.columns.flow(w);
    const boxes = all(".mg-net-small").map((e) => e.getBoundingClientRect());
    assert.equal(boxes.length, 4);
    boxes.forEach((box, k) => assert.ok(!k || boxes[k - 1].right <= box.left, `at ${w}: ${all(".mg-net-small").map((e) => e.textContent)}`));
  }
});

test("the names of the error and of a loss do not meet at any width", async () => {
  const sheet = document.createElement("style");
  sheet.textContent = await (await fetch("/widgets/front/dist/views.css")).text();
  const { view, body, all } = open({ step: 6 });
  body.append(sheet);
  view.state.network.plan.loss = "mloss";
  for (const w of [307, 330, 360, 420, 480, 640, 900]) {
    view.columns.flow(w);
    const [error, loss] = all(".mg-net-name").slice(-6).filter((e) => /rror|mloss|²/.test(e.textContent)).map((e) => e.getBoundingClientRect());
    assert.ok(error.right <= loss.left || error.bottom <= loss.top + 2, `at ${w}: ${JSON.stringify([error, loss])}`);
  }
});

test("the keyboard stays on its neuron when the kernel has answered", () => {
  const { model, view, all, press } = open({ step: 6 });
  press("ArrowDown");
  press("ArrowDown", document.activeElement);
  press("Enter", document.activeElement);
  const before = document.activeElement;
  view.load(); // as after the kernel's answer: all is drawn again
  assert.ok(!document.contains(before) && document.activeElement === all('[data-cell="4"]')[0]);
  press("Escape");
  view.load();
  assert.equal(document.activeElement.getAttribute("data-cell"), "4");
  document.activeElement.blur();
  view.load();
  assert.equal(document.activeElement, document.body, "who is elsewhere stays there");
  assert.equal(model.get("step"), 6);
});

test("a mark stands beside its neuron from its event on, in its sample", () => {
  const mark = { part: "1", cell: 4, sample: 1, rows: [["≠ here", "0.5"], ["there", "0.7"]], at: 2 };
  const { model, view, all } = open({ step: 6, network: { ...real(cases.views.network.network), mark } });
  assert.equal(view.state.sample, 1); // the sample in which they differ is looked at first
  const said = () => all(".mg-net-differ ~ .mg-net-left").map((e) => e.textContent);
  assert.deepEqual(said(), ["≠ here", "0.5", "there", "0.7"]);
  assert.match(all('[data-cell="4"]')[0].getAttribute("aria-label"), /, ≠ here 0.5, there 0.7; Enter opens it$/);
  model.set("step", 1);
  assert.deepEqual(said(), []);
  model.set("step", 2);
  assert.equal(all(".mg-net-apart").length, 1);
  view.showSample(0);
  assert.equal(all(".mg-net-apart").length, 0);
});

test("a drag writes numbers and sizes; words and titles follow when the slider rests", async () => {
  const { view, body, all } = open({ step: 12 });
  const range = body.querySelector(".mg-net-slide input");
  const [cell, bar] = [all('[data-cell="4"]')[0], all(".mg-samples button")[0]];
  const before = [cell.getAttribute("aria-label"), bar.title];
  const heights = () => all(".mg-samples path").map((e) => e.getAttribute("d"));
  const size = heights();
  assert.equal(size[0].match(/M/g).length, 4);
  range.value = "0";
  range.oninput();
  assert.ok(all(".mg-samples button")[0] === bar, "the bars stay");
  assert.ok(heights()[0] !== size[0] && heights()[0].includes(heights()[1]));
  assert.deepEqual([cell.getAttribute("aria-label"), bar.title], before);
  assert.equal(view.state.drag, "dragging");
  await new Promise((done) => setTimeout(done, 250));
  assert.equal(view.state.drag, "idle");
  assert.equal(bar.title, `sample 1, ${view.state.network.plan.error} = ${fmt(view.state.network.sample(0).error)}`);
  bar.nextSibling.click();
  assert.equal(view.state.sample, 1);
  assert.ok(heights()[1].startsWith("M1.06 "), "the bar of the sample that is looked at");
});

test("however one came to it, the picture is that of a view that opens there", async () => {
  const { view, model, body, all, press } = open({ step: 0 });
  const range = body.querySelector(".mg-net-slide input");
  const point = (cell) => all(`[data-cell="${cell}"]`)[0].dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const slide = (value) => {
    range.value = value;
    range.oninput();
  };
  const fresh = () => {
    const other = new View(model, document.createElement("div"), (error) => { throw error; });
    Object.assign(other.state, view.state);
    Object.assign(other.columns, { open: view.columns.open, focus: view.columns.focus, stop: view.columns.stop, pointed: view.columns.pointed });
    other.columns.flow(view.columns.svg.viewBox.baseVal.width);
    other.update();
    other.destroy();
    return other.columns.svg.innerHTML;
  };
  const walk = {
    forward: () => model.set("step", 3),
    "sample 2": () => press("]"),
    backward: () => model.set("step", 9),
    "gradients of weights": () => view.store.set({ wires: "grads" }),
    "sample 1 again": () => press("["),
    end: () => model.set("step", 12),
    drag: () => slide("0"),
    "drag on": () => slide("7"),
    rest: () => new Promise((done) => setTimeout(done, 250)),
    "back by three": () => model.set("step", 9),
    "what is sent": () => view.store.set({ wires: "sends" }),
    pointed: () => point(5),
    "pointed elsewhere": () => point(0),
    "another neuron has the keyboard": () => press("ArrowDown", all('[data-cell="5"]')[0]),
    start: () => model.set("step", 0),
  };
  const labels = / aria-label="[^"]*"/g; // in a drag they are not written
  const seen = (svg) => (view.state.drag === "dragging" ? svg.replace(labels, "") : svg);
  for (const [what, run] of Object.entries(walk)) {
    await run();
    assert.equal(seen(view.columns.svg.innerHTML), seen(fresh()), what);
  }
});

test("many wires going back are dashed, but not while a slider moves", () => {
  const { view, all } = open(real(cases.networks.find(({ name }) => name === "dense").state));
  view.move("end");
  const moving = () => all(".mg-net-moving").length;
  assert.ok(all(".mg-net-bwd").length > 20 && !moving());
  for (const drag of ["dragging", "idle"]) {
    view.state.drag = drag;
    view.update();
    if (drag === "idle") assert.equal(moving(), 0);
    else assert.ok(moving() > 5 && moving() < all(".mg-net-bwd").length, "few wires stay dashed");
  }
});

test("a wire says what it is when the mouse comes to it", () => {
  const { all, model } = open({ step: 6 });
  const { plan, weights, weightGrads } = network();
  const hit = all(".mg-net-hit")[0];
  assert.equal(all(".mg-net-hit title").length, 0); // a step need not write it for all of them
  const k = Number(hit.dataset.parameter);
  hit.dispatchEvent(new Event("pointerover", { bubbles: true }));
  assert.equal(hit.textContent, `${plan.parameters[k].name} = ${fmt(weights[k])}`);
  model.set("step", 12);
  hit.dispatchEvent(new Event("pointerover", { bubbles: true }));
  assert.equal(hit.textContent, `${plan.parameters[k].name} = ${fmt(weights[k])}, gradient ${fmt(weightGrads[k])}`);
});

test("only a network going back has two readings of its wires", () => {
  const { model, view, body } = open({ step: 12 });
  const choice = body.querySelector(".mg-choice");
  const later = () => choice.classList.contains("mg-later"); // not seen, but what is below stays where it is
  assert.ok(!choice.hidden && !later());
  model.set("step", 2);
  assert.ok(!choice.hidden && later());
  model.set("step", 12);
  view.state.network = null;
  view.network.draw();
  assert.ok(choice.hidden);
});

test("a sweep begins at the first press, also while the network plays", () => {
  const { view } = open({ step: 0 });
  view.timeline.bar.play.click();
  assert.ok(view.timeline.playing);
  view.timeline.sweep.click();
  assert.equal(view.state.step, view.state.total); // at once, where no movement is wished for
  assert.ok(!view.timeline.playing);
});

test("without a kernel there is no way to all operations, before a neuron was open and after", () => {
  const { view, press } = open({ step: 6, standalone: true });
  const offered = () => /all operations/.test(view.shell.path.textContent);
  assert.equal(offered(), false);
  view.columns.look(5);
  press("Escape");
  assert.equal(offered(), false);
});

test("what the mouse is on is told with its numbers, until the next step", () => {
  const { view, all, model } = open({ step: 6 });
  const { plan, weights, weightGrads, sample } = network();
  const { values, sums, grads, deltas } = sample(0);
  const said = (on) => {
    on.dispatchEvent(new Event("pointerover", { bubbles: true }));
    return view.shell.say.textContent;
  };
  const before = view.shell.say.textContent;
  const cell = plan.columns[1].cells[2];
  const neuron = () => all(`[data-cell="${cell}"]`)[0];
  assert.equal(said(neuron()), `${plan.cells[cell].name} = ${fmt(values[cell])}, made of its sum ${fmt(sums[cell])}.`);
  const { source, parameter: k } = plan.wires.find((w) => w.target === cell && w.parameter >= 0);
  const wire = () => all(`.mg-net-hit[data-parameter="${k}"]`)[0];
  assert.equal(said(wire()), `${plan.parameters[k].name} = ${fmt(weights[k])} × ${plan.cells[source].name} = ${fmt(values[source])} is ${fmt(weights[k] * values[source])}.`);
  assert.equal(said(view.columns.svg), before);
  said(neuron());
  model.set("step", 12);
  assert.ok(!view.shell.say.textContent.includes("made of"), "a step has its own sentence");
  said(wire());
  assert.ok(said(neuron()).endsWith(`The gradient of its output is ${fmt(grads[cell])}, that of its sum ${fmt(deltas[cell])}.`));
  assert.ok(said(wire()).endsWith(`The weight’s gradient is ${fmt(weightGrads[k])}, of all samples.`), "its input is a plain number");
  assert.match(said(all('[data-cell="0"]')[0]), /It is a plain number, so it gets no gradient\.$/);
});

test("every weight can be put on the slider by keyboard", () => {
  const { model, body } = open({ step: 6 });
  const pick = body.querySelector(".mg-net-pick");
  const { plan, moved } = network();
  assert.equal(pick.options.length, 1); // until it has the focus
  assert.equal(pick.selectedOptions[0].textContent, plan.parameters[moved.parameter].name);
  pick.dispatchEvent(new Event("focus"));
  assert.deepEqual([...pick.options].map((o) => o.textContent), plan.parameters.map((p) => p.name));
  assert.equal(pick.value, String(moved.parameter));
  assert.deepEqual([...pick.children].map((g) => g.label), ["layers[0]", "layers[1]", "layers[2]"]);
  pick.value = "7";
  pick.dispatchEvent(new Event("change"));
  assert.deepEqual(model.told.at(-1), { type: "slide", parameter: 7 });
});

test("an open neuron has a table too, and nothing in it before its step", () => {
  const { model, body, view } = open({ step: 0 });
  const { plan, values, weights, sums } = (({ plan, weights }) => ({ plan, weights, ...network().sample(0) }))(network());
  const cell = plan.columns[1].cells[0];
  view.columns.look(cell);
  body.querySelector(".mg-net-table details").open = true;
  const rows = () => [...body.querySelectorAll(".mg-net-table details > table:last-child tbody tr")].map((r) => [...r.cells].map((c) => c.textContent));
  model.set("step", 1);
  assert.equal(body.querySelector(".mg-net-table details > table:last-child caption").textContent, `${plan.cells[cell].name} in sample 1`);
  const links = plan.wires.filter((l) => l.target === cell);
  assert.deepEqual(rows().map((r) => r[0]), [...links.map((l) => plan.cells[l.source].name), "", "sum", "output"]);
  assert.deepEqual(rows().map((r) => r[4]), [...links.map(() => "?"), "", "", ""]);
  model.set("step", 6);
  assert.deepEqual(rows()[0].slice(1), [fmt(values[links[0].source]), "w[0]", fmt(weights[links[0].parameter]),
    fmt(values[links[0].source] * weights[links[0].parameter]), "?"]);
  assert.deepEqual(rows().at(-2), ["sum", fmt(sums[cell]), "", "", "", "?"]);
  model.set("step", 12);
  assert.ok(rows().every((r) => r[5] !== "?"));
});

test("the slope of a weight comes with the backward pass, when it has reached its layer", () => {
  const { model, body } = open({ step: 6 });
  const { plan, moved } = network();
  const column = plan.columns.findIndex((c) => c.cells.includes(plan.parameters[moved.parameter].cell));
  const reached = 6 + 3 + (plan.columns.length - 1 - column) + 1; // 1 at the loss, the error, then layer by layer from the last
  const range = body.querySelector(".mg-net-slide input");
  for (const step of [6, reached - 1]) {
    model.set("step", step);
    assert.equal(body.querySelector(".mg-net-slide .mg-curve-tangent"), null, String(step));
    assert.ok(!/slope \S*\d/.test(body.querySelector(".mg-curve").textContent + range.getAttribute("aria-valuetext")), String(step));
  }
  model.set("step", reached);
  assert.ok(body.querySelector(".mg-net-slide .mg-curve-tangent"));
  assert.match(range.getAttribute("aria-valuetext"), /slope/);
});

test("a search marks the neurons whose names or weights have the text; Enter goes to the first", () => {
  const { view, all, body, press } = open({ step: 6 });
  const field = body.querySelector(".mg-find");
  for (const [text, count] of [["layers[1]", 4], ["x[", 3], ["nowhere", 0], ["neurons[0].b", 3], ["", 0]]) {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    assert.equal(all(".mg-net-found").length, count, text);
    assert.equal(view.shell.status.textContent, text ? `${count} found` : "");
  }
  field.value = "layers[1]";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  press("Enter", field);
  assert.match(document.activeElement.getAttribute("aria-label"), /layers\[1\]\.neurons\[0\]/);
});

test("a network is saved as it stands, and neither that nor a wheel takes it off the stage", async () => {
  const { view, all, body } = open({ step: 9 });
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // it takes the width of the page
  const { svg } = view.columns;
  const size = () => ["width", "height"].map((name) => svg.getAttribute(name)).join("×");
  const before = size();
  assert.equal(before, svg.getAttribute("viewBox").split(" ").slice(2).join("×"));
  const [made, make] = [[], URL.createObjectURL];
  URL.createObjectURL = (blob) => made.push(blob) && make(blob);
  try {
    const select = body.querySelector(".mg-save");
    select.value = "svg";
    select.dispatchEvent(new Event("change"));
  } finally {
    URL.createObjectURL = make;
  }
  const file = new DOMParser().parseFromString(await made[0].text(), "image/svg+xml").documentElement;
  assert.equal(`${file.getAttribute("width")}×${file.getAttribute("height")}`, before);
  assert.deepEqual([...file.querySelectorAll("text")].map((e) => e.textContent), all(".mg-net-svg text").map((e) => e.textContent));
  assert.equal(file.querySelector(".mg-net-neg").style.strokeLinecap, getComputedStyle(svg.querySelector(".mg-net-neg")).strokeLinecap);
  view.shell.stage.dispatchEvent(new WheelEvent("wheel", { deltaY: 200, ctrlKey: true, cancelable: true }));
  assert.equal(size(), before);
});

test("parts are the nodes of the trace", () => {
  const { view } = open();
  assert.equal(partsOf(view.state.network.plan).length, view.state.trace.nodes.length);
});

test("the curve is a column of the sweep, and its tangent has the gradient's slope", () => {
  const { trace, sweeps } = cases.sweep;
  const [sweep] = readSweeps(real(sweeps));
  const [ys, slopes] = [columnOf(sweep, trace.root), columnOf(sweep, sweep.sections.values + sweep.node)];
  sweep.xs.forEach((_, p) => {
    const point = row(sweep, p);
    assert.ok(Object.is(ys[p], point.values[trace.root]) && Object.is(slopes[p], point.grads[sweep.node]));
  });
  const drawn = drawCurve({ name: "x", result: "y", xs: sweep.xs, ys, x: sweep.xs[3], y: ys[3], slope: slopes[3] });
  const [x1, y1, x2, y2] = drawn.querySelector(".mg-curve-tangent").getAttribute("d").match(/-?[\d.]+/g).map(Number);
  const line = drawn.querySelector(".mg-curve-line").getAttribute("d").match(/-?[\d.]+/g).map(Number);
  const [a, b] = [6, 8].map((k) => [line[k - 2], line[k - 1]]); // the curve's own points on both sides
  assert.ok(Math.sign(y2 - y1) * Math.sign(x2 - x1) === Math.sign(b[1] - a[1]) || slopes[3] === 0);
  assert.equal(drawCurve({ name: "x", result: "y", xs: [1, 2], ys: [NaN, NaN], x: 1, y: NaN, slope: 1 }), null);
});
