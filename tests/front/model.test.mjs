// The view's pure functions: trace × step → what is known, numbers → text.
import { columns } from "../../widgets/front/src/editor.js";
import { keyMove } from "../../widgets/front/src/keyboard.js";
import { agrees } from "../../widgets/front/src/model/judge.js";
import * as arrays from "../../widgets/front/src/model/arrays.js";
import * as graph from "../../widgets/front/src/model/graph.js";
import * as moment from "../../widgets/front/src/model/moment.js";
import * as numbers from "../../widgets/front/src/model/numbers.js";
import * as sweep from "../../widgets/front/src/model/sweep.js";
import { assert, bytes, cases, test } from "./harness.mjs";

const S = { ...numbers, ...sweep, ...moment, ...graph, keyMove };

const close = (a, b) => Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(b));

test("fmt writes numbers as minigrad.words does", () => {
  for (const [x, digits, power, text] of cases.numbers) assert.equal(S.fmt(S.num(x), digits, power), text, `fmt(${x}, ${digits}, ${power})`);
});

test("fit writes as its Python twin does, keeps to its room and never lies about the size of a number", () => {
  for (const [number, room, text] of cases.fits) {
    const x = S.num(number), back = Number(text.replaceAll("−", "-"));
    assert.equal(S.fit(x, room), text, `${x} in ${room}`);
    if (!Number.isFinite(x)) continue;
    assert.ok(text.length <= Math.max(room, 9), `${x} in ${room}: ${text}`); // two digits take up to nine characters
    assert.ok(Math.abs(back - x) <= 0.051 * Math.abs(x), `${x} in ${room}: ${text}`);
  }
});

test("doubles reads a view at any offset", () => {
  const bytes = new Uint8Array(8 * 3 + 5);
  new DataView(bytes.buffer, 5).setFloat64(8, -2.5, true);
  assert.deepEqual([...S.doubles(new DataView(bytes.buffer, 5, 24))], [0, -2.5, 0]);
  assert.deepEqual([...S.doubles(new DataView(bytes.buffer, 0, 16))].length, 2);
  assert.equal(S.doubles(null).length, 0);
});

for (const { name, trace, rows, grads, states } of cases.traces) {
  test(`${name}: at every step the stored picture and the live one know the same numbers`, () => {
    const point = S.recorded(trace);
    for (const [step, state] of states.entries()) {
      const now = S.moment(trace, point, step);
      assert.deepEqual([...now.known.keys()].filter((i) => now.known[i]), state.known, `step ${step}`);
      assert.deepEqual([...now.sent.keys()].filter((e) => now.sent[e]), state.sent, `step ${step}`);
      for (const [node, sum, missing] of state.sums) {
        assert.ok(close(now.sums[node], S.num(sum)), `sum of ${trace.nodes[node].label} at step ${step}`);
        assert.equal(now.need[node] - now.got[node], missing, `contributions to ${trace.nodes[node].label} at step ${step}`);
      }
    }
  });

  test(`${name}: every event has the numbers, the sums and the sentence of the engine`, () => {
    const point = S.recorded(trace);
    for (const row of rows) {
      const now = S.moment(trace, point, row.step);
      assert.equal(S.sentence(trace, point, now), row.sentence);
      if (row.kind === "send") {
        const sent = now.sent[row.edge];
        for (const key of ["incoming", "sends", "before", "after"]) assert.ok(close(sent[key], S.num(row[key])), `${key} of event ${row.step}`);
      }
    }
    const end = S.moment(trace, point, trace.steps.length);
    grads.forEach((g, i) => { if (g !== null) assert.ok(close(end.sums[i], S.num(g)), `gradient of ${trace.nodes[i].label}`); });
  });

  test(`${name}: stepping back is the exact inverse of stepping`, () => {
    const point = S.recorded(trace);
    let step = 0;
    const there = [];
    for (; step < trace.steps.length; step = S.move(step, trace.steps.length, "next")) there.push(S.moment(trace, point, step));
    for (; step > 0; ) {
      step = S.move(step, trace.steps.length, "back");
      assert.deepEqual(S.moment(trace, point, step), there[step]);
    }
  });

  test(`${name}: the paths of the chain rule add up to the gradient`, () => {
    const point = S.recorded(trace);
    trace.nodes.forEach((node, i) => {
      if (node.grad === null || !Number.isFinite(S.num(node.grad)) || trace.edges.some((e) => e.shut)) return; // 0 · inf behind a gate
      const { total, paths } = S.chain(trace, i, 1000);
      assert.equal(total, paths.length);
      const sum = paths.reduce((a, p) => a + p.reduce((m, e) => m * point.locals[e], 1), 0);
      assert.ok(Math.abs(sum - S.num(node.grad)) < 1e-9 * Math.max(1, Math.abs(sum)), `${node.label}: ${sum}`);
    });
  });
}

test("moves stay within the track", () => {
  assert.deepEqual(["start", "back", "next", "end", "?"].map((m) => S.move(3, 8, m)), [0, 2, 4, 8, 3]);
  assert.equal(S.move(0, 8, "back"), 0);
  assert.equal(S.move(8, 8, "next"), 8);
});

test("keys", () => {
  assert.deepEqual(["ArrowRight", "ArrowLeft", "Home", "End", " ", "Enter", "Escape", "a"].map(S.keyMove), ["next", "back", "start", "end", "play", "inspect", "close", ""]);
});

/** Tables as a page has them: binary traits are views at any offset. */
const unpacked = (sweeps) =>
  S.readSweeps(
    JSON.parse(JSON.stringify(sweeps), (_, value) => {
      if (value?.$bytes === undefined) return value;
      const plain = bytes(value.$bytes);
      const shifted = new Uint8Array(plain.length + 3);
      shifted.set(plain, 3);
      return new DataView(shifted.buffer, 3);
    }),
  );

for (const name of ["sweep", "tensor"]) {
  test(`${name}: a packed table holds every number of the kernel's`, () => {
    const { sweeps, holds } = cases[name];
    unpacked(sweeps).forEach((table, k) => {
      const [xs, rows] = holds[k];
      assert.deepEqual([...table.xs], xs);
      rows.forEach((numbers, p) => {
        const { values, grads, locals, arrays } = S.row(table, p);
        const all = [...values, ...grads, ...locals, ...(arrays ?? [])];
        all.forEach((v, i) => assert.ok(Object.is(v, S.num(numbers[i])) || v === S.num(numbers[i]), `number ${i} of point ${p}`));
        assert.equal(all.length, numbers.length);
      });
    });
  });
}

test("a sweep is looked up only while the other inputs stand where it was computed", () => {
  const { trace, sweeps, holds, inputs } = cases.sweep;
  const tables = unpacked(sweeps);
  const [first, other] = tables;
  const key = String(first.node);
  first.xs.forEach((x, p) => {
    const point = S.lookUp(tables, { ...inputs, [key]: x });
    assert.equal(point.values[first.node], x);
    assert.equal(point.values[trace.root], S.num(holds[0][1][p][trace.root]));
  });
  const both = { ...inputs, [key]: first.xs[0], [String(other.node)]: other.xs[0] };
  assert.equal(S.lookUp(tables, both), null);
  assert.deepEqual(S.moved(first, both), [other.node]);
  assert.equal(S.lookUp(tables, { ...inputs, [key]: 0.123456 }), null);
});

test("an array reads as its Python twin does, as recorded and out of a sweep", () => {
  for (const { numbers, text, between } of cases.arrays) {
    assert.equal(arrays.arrayText(numbers), text);
    assert.deepEqual([6, 9, 13, 20].map((room) => arrays.between(numbers, room)), between);
  }
  const { trace, sweeps, holds } = cases.tensor;
  const [table] = unpacked(sweeps);
  const at = S.nearest(table.xs, holds[0][0][7]);
  const root = arrays.arrayAt(trace, S.row(table, at), trace.nodes[trace.root].array);
  assert.equal(S.num(root.cells[0]), S.num(holds[0][1][7][trace.root]));
  trace.arrays.forEach((a, i) => {
    const there = arrays.arrayAt(trace, S.row(table, at), i);
    const finite = there.cells.filter((c) => c !== null).map(S.num);
    assert.equal(there.cells.length, a.cells.length);
    const near = (u, v) => assert.ok(Math.abs(u - v) <= 1e-6 * Math.max(1, Math.abs(v)), `array ${i}: ${u}, not ${v}`); // cells are rounded
    near(there.low, Math.min(...finite));
    near(there.high, Math.max(...finite));
  });
});

test("nearest finds the nearest entry", () => {
  const xs = Float64Array.of(-3, -1, 0, 0.5, 2);
  for (const x of [-9, -3, -1.9, -0.4, 0.24, 0.26, 1.3, 7]) {
    const best = [...xs].reduce((a, v, i) => (Math.abs(v - x) < Math.abs(xs[a] - x) ? i : a), 0);
    assert.equal(S.nearest(xs, x), best, String(x));
  }
});

test("an undefined operation is named, with its cause", () => {
  const { trace } = cases.undefined;
  const of = ({ trace }) => S.trouble(trace, S.recorded(trace));
  const { node, say } = of(cases.undefined);
  assert.match(say, /logarithm of a negative number/);
  assert.match(say, /= −1/);
  assert.equal(trace.nodes[node].op, "log", "the node that made it");
  assert.deepEqual(of(cases.traces[0]), { node: -1, say: "" });
  assert.equal(of(cases.masked).node, -1, "a mask");
  assert.match(of(cases.trap).say, /is not finite in 1 of its 2 entries/);
  assert.match(cases.trap.trace.nodes[of(cases.trap).node].expr, /log/);
});

test("widths grow with the amount and stay in bounds", () => {
  const widths = [0, 0.1, 1, 5, 10].map((x) => S.width(x, 10));
  assert.deepEqual([...widths].sort((a, b) => a - b), widths);
  assert.equal(S.width(-5, 10), S.width(5, 10));
  for (const x of [NaN, Infinity]) assert.ok(S.width(x, 10) > 0);
  assert.ok(Math.max(...widths) <= 4);
  assert.ok(S.width(1, 10) > 2, "a tenth is still seen: the scale is logarithmic");
});

test("a typed number is right to three digits where there are more than six, else exactly", () => {
  assert.deepEqual([0.333, 0.33, 0.3].map((x) => agrees(x, 1 / 3)), [true, false, false]);
  assert.deepEqual([2.5, 2.501].map((x) => agrees(x, 2.5)), [true, false]);
});

test("long names are cut where they say least", () => {
  assert.equal(S.tail("short", 8), "short");
  assert.equal(S.tail("a_very_long_name", 8), "a_very_…");
  assert.equal(S.tail("model.layers[0].w[1]", 8), "…0].w[1]");
});

test("columns count as a browser does, whatever stands before", () => {
  assert.deepEqual(columns({ cell: "In [1]", line: 1, text: "y = x * w", span: [4, 9] }), [4, 9]);
  assert.deepEqual(columns({ cell: "In [1]", line: 1, text: "y = '🙂', x * w", span: [9, 14] }), [10, 15]);
  assert.deepEqual(columns({ cell: "In [1]", line: 1, text: "y = 🙂" }), [0, 6]);
});
