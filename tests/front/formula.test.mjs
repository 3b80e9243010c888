// The typesetter against formulas of the derivatives table: structure, nesting, words, and that nothing is lost or throws.
import { equation, partial, plain, typeset } from "../../widgets/front/src/model/formula.js";
import { assert, cases, test } from "./harness.mjs";

test("fractions, powers, roots, products without a sign", () => {
  assert.equal(plain(typeset("−a / b²")), "(−a)/(b^2)");
  assert.equal(plain(typeset("1 / (2 × sqrt(x))")), "(1)/(2×x)");
  assert.equal(typeset("sqrt(x)")[2][0], "msqrt");
  assert.equal(plain(typeset("2u")), "2u");
  assert.equal(plain(typeset("b × a^(b − 1)")), "b×a^b−1");
  assert.equal(plain(typeset("g @ wᵀ")), "gw^T");
  assert.equal(plain(typeset("exp(x)")), "e^x");
  assert.equal(plain(typeset("1 − tanh(x)²")), "1−tanh⁡(x)^2");
  assert.equal(plain(typeset("model[0].weight × x")), "model[0].weight×x");
});

test("words stay words", () => {
  assert.equal(plain(typeset("1 if x > 0, else 0")), "1 if x>0, else 0");
  assert.equal(plain(typeset("g where out > 0, else 0")), "g where out>0, else 0");
  assert.equal(plain(typeset("g / 6 spread over (2, 3)")), "(g)/(6) spread over (2,3)");
});

test("what is under a name", () => {
  const t = JSON.stringify(typeset("g @ wᵀ", { g: "(4, 2)", w: "(3, 2)" }));
  assert.ok(t.includes("munder") && t.includes("(4, 2)") && t.includes("(3, 2)"));
});

test("an equation", () => assert.deepEqual(equation([partial("y", "x"), typeset("2u"), typeset("10")]).map(plain), ["(∂y)/(∂x)", "=2u", "=10"]));

test("every rule of the table can be set, and no letter is lost", () => {
  assert.ok(cases.rules.length > 200);
  for (const text of cases.rules) {
    const set = plain(typeset(text)), letters = (s) => [...s].filter((c) => /[\p{L}\d]/u.test(c)).length;
    assert.ok(!/undefined|null/.test(set), text);
    assert.ok(letters(set) >= letters(text.replace(/sqrt|rsqrt|exp|sum|where/g, "").replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ]/g, "")) - 2, `${text} became ${set}`);
  }
});

test("nonsense is shown as it is", () => {
  for (const text of ["", "(((", "a +", ") b", "∂∂ % $"]) assert.equal(typeof plain(typeset(text)), "string");
});
