// The typesetter on trees of the derivatives table: structure, parentheses, words, numbers in place of labels, and that nothing is lost.
import { equation, inWords, partial, plain, typeset } from "../../widgets/front/src/model/formula.js";
import { assert, cases, test } from "./harness.mjs";

const n = (text) => ["name", text];
const two = ["number", "2"];
const labels = ["u", "3x", "a + b", "w[0]", "3"];
const leaves = { label: (i) => labels[i] };
const shown = (tree, more = {}) => plain(typeset(tree, { ...leaves, ...more }));

test("fractions, powers, roots, products without a sign", () => {
  assert.equal(shown(["/", ["neg", n("a")], ["^", n("b"), two]]), "(−a)/(b^2)");
  assert.equal(shown(["/", ["number", "1"], ["×", two, ["call", "sqrt", n("x")]]]), "(1)/(2×x)");
  assert.equal(typeset(["call", "sqrt", n("x")], leaves)[2][0], "msqrt");
  assert.equal(shown(["times", two, ["node", 0]]), "2u");
  assert.equal(shown(["×", n("b"), ["^", n("a"), ["−", n("b"), ["number", "1"]]]]), "b×a^b−1");
  assert.equal(shown(["@", n("g"), ["T", n("w")]]), "gw^T");
  assert.equal(shown(["call", "exp", n("x")]), "e^x");
  assert.equal(shown(["−", ["number", "1"], ["^", ["call", "tanh", n("x")], two]]), "1−tanh\u2061(x)^2");
});

test("parentheses stand where the structure needs them, and nowhere else", () => {
  assert.equal(shown(["times", two, ["node", 2]]), "2(a + b)");
  assert.equal(shown(["×", ["node", 1], ["node", 1]]), "3x×(3x)");
  assert.equal(shown(["+", n("a"), ["neg", n("b")]]), "a+(−b)");
  assert.equal(shown(["−", n("a"), ["+", n("b"), n("c")]]), "a−(b+c)");
  assert.equal(shown(["^", ["node", 2], two]), "(a + b)^2");
  assert.equal(shown(["×", ["+", n("a"), n("b")], n("c")]), "(a+b)×c");
});

test("numbers in place of labels", () => {
  const at = (value) => ({ value: (i) => (i === 4 ? undefined : value) });
  assert.equal(shown(["times", two, ["node", 0]], at(5)), "2·5");
  assert.equal(shown(["−", ["number", "1"], ["^", ["call", "tanh", ["node", 3]], two]], at(-0.5)), "1−tanh\u2061(−0.5)^2");
  assert.equal(shown(["^", ["node", 0], two], at(-0.5)), "(−0.5)^2");
  assert.equal(shown(["×", ["node", 4], ["node", 0]], at(2)), "3×2");
});

test("words", () => {
  assert.equal(shown(["if", ["number", "1"], [">", n("x"), ["number", "0"]], ["number", "0"]]), "1 if x>0, else 0");
  assert.equal(shown(["where", n("g"), n("out")]), "g where out > 0, else 0");
  assert.equal(shown(["spread", ["/", n("g"), ["number", "6"]], "(2, 3)"]), "(g)/(6) spread over (2, 3)");
  assert.equal(plain(inWords("each of its entries")), "each of its entries");
});

test("what is under a name", () => {
  const t = JSON.stringify(typeset(["@", n("g"), n("w")], { ...leaves, under: { g: "(4, 2)", w: "(3, 2)" } }));
  assert.ok(t.includes("munder") && t.includes("(4, 2)") && t.includes("(3, 2)"));
});

test("an equation", () => {
  const parts = [partial("y", "x"), typeset(["times", two, ["node", 0]], leaves), inWords("10")];
  assert.deepEqual(equation(parts).map(plain), ["(∂y)/(∂x)", "=2u", "=10"]);
  assert.equal(plain(partial("a + b", "x")), "(∂(a + b))/(∂x)");
});

test("every rule of the table can be set, and no letter or digit is lost", () => {
  assert.ok(cases.rules.length > 200);
  const letters = (s) => [...s].filter((c) => /[\p{L}\d]/u.test(c)).length;
  for (const [text, tree] of cases.rules) {
    const set = shown(tree);
    assert.ok(!/undefined|null|object/.test(set), text);
    assert.ok(letters(set) >= letters(text.replace(/sqrt|rsqrt|exp|sum|where|else/g, "").replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ]/g, "")) - 2, `${text} became ${set}`);
  }
});
