// The view's parts on a fake page and a fake model: what is written where, what is told to the kernel, and what becomes of an error.
import { View } from "../../widgets/front/src/view.js";
import { assert, cases, fakeModel, real, test } from "./harness.mjs";

/** @type {View[]} */ const opened = [];

/** @param {"square" | "twice" | "net"} name @param {object} [more] */
function open(name, more = {}) {
  const { body } = document;
  const model = fakeModel({ ...real(cases.views[name]), standalone: false, ...more });
  const errors = [];
  const view = new View(model, body, (error) => errors.push(error));
  opened.push(view);
  const all = (css) => [...body.querySelectorAll(css)];
  const texts = (css) => all(css).map((e) => e.textContent);
  return { body, model, view, errors, all, texts };
}
const card = (body, node) => body.querySelector(`.mg-card[data-node="${node}"]`);

test("cards have the values of the forward pass and the gradients of the backward pass", () => {
  const { body, model, view, texts } = open("square");
  const root = view.state.trace.root;
  assert.equal(card(body, root).querySelector(".mg-value").textContent, "25");
  assert.equal(card(body, 0).querySelector(".mg-grad").textContent, "·");
  model.set("step", 8);
  assert.equal(card(body, 0).querySelector(".mg-grad").textContent, "▴ 30");
  assert.match(body.querySelector(".mg-say").textContent, /30/);
  assert.deepEqual(texts(".mg-pane:not([hidden]) tbody tr:last-child td").slice(0, 4), ["3x → x", "3", "10", "30"]);
  assert.match(card(body, 0).getAttribute("aria-label"), /^x, input: value 1, gradient 30/);
});

test("what is counted in the title adds up to all that is shown", () => {
  const said = { square: "1 input, 2 constants, 3 operations", undefined: "2 inputs, 3 operations", twice: "2 inputs, 3 operations" };
  for (const [name, text] of Object.entries(said)) {
    const { view } = open(name);
    assert.equal(view.shell.counts.textContent, text);
    const sum = text.match(/\d+/g).reduce((k, n) => k + Number(n), 0);
    assert.equal(sum, view.state.trace.nodes.length, name);
  }
});

test("what becomes nan is said once, with its cause", () => {
  const { body, model, view } = open("undefined");
  const { trace } = view.state;
  const log = trace.steps.findIndex((s) => s.kind === "compute" && trace.nodes[s.node].op === "log");
  const say = body.querySelector(".mg-say");
  model.set("step", log + 1);
  assert.match(say.textContent, /^⚠ log\(p − q\) is nan at p − q = −1: the logarithm of a negative number does not exist\./);
  model.set("step", log + 2);
  assert.equal(say.children.length, 2, "later events have a sentence of their own");
});

test("of a compiled step each card, row and pane says what became of the operation", () => {
  const { body, model, view, texts } = open("compiled");
  const { nodes } = view.state.trace;
  const tanh = nodes.find((n) => n.op === "TanhBackward0").id;
  const { forward, backward, lines } = nodes[tanh].became;
  const foot = card(body, tanh).querySelector(".mg-became");
  assert.deepEqual([...foot.querySelectorAll("text")].map((t) => t.textContent), [forward.join(), backward.join()]);
  assert.equal(foot.classList.contains("mg-looped"), forward[0].startsWith("loop"));
  assert.equal(card(body, nodes.find((n) => n.kind === "leaf").id).querySelector(".mg-became"), null);
  assert.match(card(body, tanh).getAttribute("aria-label"), new RegExp(`In the program, forward ${forward}; going back ${backward}\\.`));
  card(body, tanh).dispatchEvent(new MouseEvent("click", { bubbles: true }));
  assert.equal(body.querySelector(".mg-program").textContent, lines.join("\n"));
  assert.ok(texts(".mg-pane td").some((t) => t.includes(`compiled: forward ${forward}`)), "the table of values has it");
  model.set("step", 1 + view.state.trace.steps.findIndex((s) => s.kind === "compute" && s.node === tanh));
  assert.match(body.querySelector(".mg-say").textContent, new RegExp(`In the program: ${forward}\\.`));
});

test("a result that is folded is titled by its name", () => {
  const { body, view } = open("square");
  const { trace } = view.state;
  Object.assign(trace.nodes[trace.root], { kind: "fold", label: "loss", expr: "2 operations" });
  trace.title = "loss";
  view.shell.draw();
  assert.equal(body.querySelector(".mg-title").textContent, "loss");
});

test("step goes one event on, back one event back, and a card says how much of its gradient has come", () => {
  const { body, model, view, all } = open("twice");
  const press = (text) => all("button").find((b) => b.textContent === text).click();
  const said = [];
  while (model.get("step") < view.state.total) {
    const before = model.get("step");
    press("step ▸");
    assert.equal(model.get("step"), before + 1);
    said.push(card(body, 0).getAttribute("aria-label").match(/so far .*?\)/)?.[0] ?? "");
  }
  assert.ok(said.includes("so far (1 of 2)"), `${said}`);
  assert.equal(said.at(-1), "");
  press("◂ back");
  assert.equal(model.get("step"), view.state.total - 1);
  for (const [what, step] of [["start", 0], ["end", view.state.total]]) {
    all("button").find((b) => b.getAttribute("aria-label")?.startsWith(what)).click();
    assert.equal(model.get("step"), step, what);
  }
});

test("an input that moves shows its table's row, and the kernel hears of it when it rests", async () => {
  const { body, model, view } = open("square");
  model.set("step", 8);
  const range = body.querySelector(".mg-input input");
  range.value = "100"; // the 101st point: x = 2
  range.oninput();
  assert.equal(view.state.drag, "dragging");
  assert.equal(card(body, view.state.trace.root).querySelector(".mg-value").textContent, "64");
  assert.equal(card(body, 0).querySelector(".mg-grad").textContent, "▴ 48");
  assert.equal(model.told.length, 0, "a drag asks nobody");
  range.onchange();
  assert.equal(view.state.drag, "idle");
  assert.equal(model.told.at(-1).inputs[0], 2);
});

test("the kernel hears of a step when one stays there, and before whatever else is sent", async () => {
  const { model, view } = open("square", { step: 0 });
  view.move("next");
  view.move("next");
  assert.equal(model.told.length, 0, "a step asks nobody");
  await new Promise((done) => setTimeout(done, 250));
  assert.deepEqual(model.told.map((state) => state.step), [2]);
  view.move("next");
  view.send({ type: "find", text: "x" });
  assert.deepEqual([model.told[1].step, model.told[2].type], [3, "find"]);
  view.move("next");
  view.destroy();
  assert.equal(model.told.at(-1).step, 4);
});

test("what the kernel repeats of an earlier step does not undo the next one", async () => {
  const { model, view } = open("square", { step: 0 });
  view.move("next");
  await new Promise((done) => setTimeout(done, 250));
  view.move("next");
  model.set("step", 1); // the echo of the first
  assert.equal(view.state.step, 2);
  await new Promise((done) => setTimeout(done, 250));
  assert.deepEqual(model.told.map((state) => state.step), [1, 2]);
  model.set("step", 5); // it says a step of its own
  assert.equal(view.state.step, 5);
  view.destroy();
});

test("the slope of the curve is told when the backward pass has reached the input, and not before", () => {
  const { body, model } = open("square");
  const curve = () => body.querySelector(".mg-curve");
  const told = () => [curve().textContent.includes("30"), curve().innerHTML.includes("slope is"), !!curve().querySelector(".mg-curve-tangent")];
  for (const step of [0, 4, 7]) {
    model.set("step", step);
    assert.deepEqual(told(), [false, false, false], `at step ${step}`);
  }
  model.set("step", 8);
  assert.deepEqual(told(), [true, true, true]);
  model.set("step", 7);
  assert.deepEqual(told(), [false, false, false]);
});

test("a stale answer of the kernel does not move a slider that has moved on", () => {
  const { body, model } = open("square");
  const range = body.querySelector(".mg-input input");
  range.value = "100";
  range.oninput();
  model.set("inputs", { 0: -1 });
  assert.equal(model.get("inputs")[0], 2);
});

test("tabs: the ledger comes with the backward pass, unless somebody has chosen another", () => {
  const { model, view, texts } = open("square", { step: 1 });
  assert.deepEqual(texts("[role=tab][aria-selected=true]"), ["Values"]);
  model.set("step", 5);
  assert.deepEqual(texts("[role=tab][aria-selected=true]"), ["Ledger"]);
  view.panes.choose("values");
  model.set("step", 4);
  assert.equal(document.querySelector(".mg-pane:not([hidden]) tbody tr").children[3].textContent, "", "no gradient before the backward pass");
  view.panes.choose("node");
  model.set("step", 1);
  assert.deepEqual(texts("[role=tab][aria-selected=true]"), ["Node"]);
});

test("one node: its rule with numbers, and the chain rule as a product", () => {
  const { view, texts } = open("square", { step: 8 });
  view.inspect(0);
  const facts = Object.fromEntries(texts(".mg-pane:not([hidden]) dt").map((name, k) => [name, texts(".mg-pane:not([hidden]) dd")[k]]));
  assert.equal(facts.value, "1");
  assert.equal(facts["∂y/∂x"], "30");
  assert.match(facts["chain rule"], /= 10 · 1 · 3 = 30$/);
  assert.match(facts.flow, /what it is made of \(0\)what it flows into \(3\)/);
  view.store.set({ step: 4 });
  const rule = texts(".mg-pane:not([hidden]) dd")[texts(".mg-pane:not([hidden]) dt").indexOf("chain rule")];
  assert.ok(rule.includes("·") && !rule.includes("30") && !rule.includes("="), `no number before it is there: ${rule}`);
});

test("the ledger as an exercise takes right numbers and says what is wrong with others", () => {
  const { all, texts, view } = open("square", { quiz: true });
  const [local] = all(".mg-blank");
  const type = (input, text) => {
    input.value = text;
    input.onchange();
  };
  type(local, "25");
  assert.match(texts(".mg-verdict")[0], /^✗ That is the result’s value/);
  type(local, "−10");
  assert.match(texts(".mg-verdict")[0], /^✗ The size is right, the sign is not/);
  for (const [k, text] of ["10", "1", "10", "10"].entries()) type(all("tbody tr")[0].querySelectorAll(".mg-blank")[k] ?? local, text);
  assert.match(texts(".mg-verdict")[0], /^✓/);
  assert.equal(view.model.get("step"), 6);
});

test("tensors: heat maps, ranges, shapes and rules", () => {
  const { body, model, view, all, texts } = open("net");
  const { trace } = view.state;
  const x = trace.nodes.find((n) => n.label === "a");
  assert.equal(card(body, x.id).querySelector(".mg-caption").textContent, "(2, 2) float32");
  assert.equal(card(body, x.id).querySelector(".mg-value").textContent, "−2…3");
  assert.equal(card(body, x.id).querySelectorAll(".mg-fm-neg").length, 1, "one negative entry has the negative colour");
  const w = trace.nodes.find((n) => n.kind === "operation" && n.shape?.length === 2).id;
  const painted = (css) => card(body, w).querySelectorAll(css).length;
  assert.ok(painted(".mg-fm-pos, .mg-fm-neg") && !painted(".mg-fm-gpos, .mg-fm-gneg"));
  model.set("step", trace.steps.length);
  assert.match(card(body, w).querySelector(".mg-grad").textContent, /^norm \d/);
  assert.equal(card(body, w).querySelector(".mg-value").textContent, "", "the gradient has the place of the value");
  assert.ok(painted(".mg-fm-gpos, .mg-fm-gneg") && !painted(".mg-fm-pos, .mg-fm-neg"), "and colours of its own");
  assert.ok(texts(".mg-pane:not([hidden]) tbody td").some((t) => /…/.test(t)));
  assert.equal(all(".mg-card.mg-now").length, 1);
});

test("search marks, and escape forgets", () => {
  const { view, all } = open("square");
  view.find.field.value = "3x";
  view.find.find();
  assert.ok(all(".mg-card.mg-hit").length >= 2);
  view.clear();
  assert.equal(all(".mg-card.mg-hit").length, 0);
});

test("a trace of another version is refused in words, at once and later", () => {
  const other = { ...cases.views.square.trace, schema: 1 };
  assert.throws(() => open("square", { trace: other }), /different versions/);
  const { model, errors } = open("square");
  model.set("trace", other);
  model.set("revision", 9);
  assert.match(String(errors[0]), /different versions/);
});

test("a view that is gone listens to nothing", () => {
  const { body, model, view } = open("square");
  view.destroy();
  model.set("step", 8);
  assert.equal(body.children.length, 0);
});

test("however many views a page has, it is listened for the caret once, and no longer than there is a view", () => {
  for (const view of opened) view.destroy(); // those of the tests above
  const { addEventListener, removeEventListener } = document;
  let listeners = 0;
  document.addEventListener = function (type, ...more) {
    if (type === "selectionchange") listeners++;
    addEventListener.call(this, type, ...more);
  };
  document.removeEventListener = function (type, ...more) {
    if (type === "selectionchange") listeners--;
    removeEventListener.call(this, type, ...more);
  };
  try {
    const views = [open("square"), open("twice"), open("square")].map(({ view }) => view);
    assert.equal(listeners, 1);
    const told = views.map(() => 0);
    for (const [i, view] of views.entries()) view.source.onCaret = () => told[i]++;
    document.dispatchEvent(new Event("selectionchange"));
    views[0].destroy();
    document.dispatchEvent(new Event("selectionchange"));
    assert.deepEqual(told, [1, 2, 2]);
    for (const view of views.slice(1)) view.destroy();
    assert.equal(listeners, 0);
  } finally {
    for (const own of ["addEventListener", "removeEventListener"]) delete document[own];
  }
});

test("a step of a network asks the page for nothing before it is painted", async () => {
  const { model, view, all } = open("network");
  const asked = [];
  const own = ["scrollHeight", "clientHeight", "scrollTop"].map((name) => [name, Object.getOwnPropertyDescriptor(Element.prototype, name)]);
  for (const [name, { get, ...more }] of own) {
    const told = function () {
      asked.push(name);
      return get.call(this);
    };
    Object.defineProperty(Element.prototype, name, { ...more, get: told });
  }
  try {
    const line = all(".mg-code")[0] ?? view.source.box.appendChild(document.createElement("div"));
    for (let step = 1; step <= view.state.total; step++) {
      model.set("step", step);
      line.classList.add("mg-now");
    }
    assert.deepEqual(asked, []);
    await new Promise((done) => setTimeout(done, 200));
    assert.ok(asked.includes("scrollHeight"), "afterwards the present line is brought into sight");
  } finally {
    for (const [name, of] of own) Object.defineProperty(Element.prototype, name, of);
  }
});

test("a stage that is too narrow asks once for the narrower pictures", () => {
  const state = { ...real(cases.views.twice), standalone: false };
  const narrower = state.picture.wraps;
  const asked = (/** @type {any} */ picture) => {
    const model = fakeModel({ ...state, picture });
    const view = new View(model, document.body, (error) => { throw error; });
    const at = [900, 300, 200, 900, 190].map((width) => {
      view.shell.stage.style.width = `${width}px`;
      view.viewport.choose();
      return model.told.splice(0).filter((m) => m.type === "narrow").length;
    });
    view.destroy();
    return at;
  };
  assert.ok(narrower.length);
  assert.deepEqual(asked({ ...state.picture, wraps: undefined }), [0, 1, 0, 0, 0]);
  assert.deepEqual(asked(state.picture), [0, 0, 0, 0, 0], "they are there");
});
