// A lesson on a fake model: what its controls tell the kernel, and what an answer changes.
import { render } from "../../widgets/front/src/lesson.js";
import { assert, cases, fakeModel, test } from "./harness.mjs";

function open(more = {}) {
  const model = fakeModel({ scene: { ...cases.lesson, ...more } });
  const errors = [];
  const destroy = render({ model, el: document.body, fail: (error) => errors.push(error) });
  const one = (css) => document.body.querySelector(css);
  const slide = (value) => {
    one("[type=range]").value = value;
    one("[type=range]").dispatchEvent(new Event("input"));
  };
  const answer = (change = {}) => model.set("scene", { ...model.get("scene"), answers: model.told.length, ...change });
  return { model, errors, destroy, one, slide, answer };
}
const controls = (change) => cases.lesson.controls.map((c) => ({ ...c, ...change[c.name] }));

test("all of a scene is on the page", () => {
  const { one, model } = open();
  assert.ok(one(".mg-figure svg"));
  assert.equal(one(".mg-words").textContent, cases.lesson.say);
  assert.equal(one("[type=range]").getAttribute("aria-valuetext"), "3");
  assert.equal(one(".mg-value").textContent, "3");
  assert.equal(one("[role=radio][aria-checked=true]").textContent, "two");
  assert.deepEqual([...document.querySelectorAll(".mg-buttons button")].map((b) => [b.textContent, b.disabled]), [["Back", true], ["seven", false]]);
  assert.equal(one("[type=checkbox]").checked, true);
  assert.equal(one(".mg-numbers").hidden, false);
  model.set("scene", { ...cases.lesson, mood: "bad", table: null });
  assert.equal(one(".mg-lesson-root").dataset.mood, "bad");
  assert.equal(one(".mg-numbers").hidden, true);
});

test("while the kernel works, only the newest position waits, and the slider stays under the hand", () => {
  const { model, one, slide, answer } = open();
  const range = one("[type=range]");
  for (const value of [4, 5, 6]) slide(value);
  assert.deepEqual(model.told, [{ set: "n", value: 4, number: 1 }]);
  answer({ controls: controls({ n: { value: 4, text: "4" } }) });
  assert.equal(range.value, "6", "an old answer does not pull the slider back");
  assert.deepEqual(model.told[1], { set: "n", value: 6, number: 2 });
  answer({ controls: controls({ n: { value: 6, text: "6" } }), say: "six" });
  assert.equal(one(".mg-words").textContent, "six");
  assert.equal(range.getAttribute("aria-valuetext"), "6");
  assert.equal(range.style.getPropertyValue("--at"), "60%");
  assert.equal(model.told.length, 2);
});

test("two controls that wait are both told", () => {
  const { model, one, slide, answer } = open();
  for (const value of [4, 5]) slide(value);
  one("[type=checkbox]").click();
  [...document.querySelectorAll(".mg-buttons button")].at(-1).click();
  for (let k = 0; k < 4; k++) answer();
  assert.deepEqual(model.told.map(({ number, ...rest }) => rest), [{ set: "n", value: 4 }, { set: "n", value: 5 }, { set: "big", value: false }, { press: "seven" }]);
});

test("a press stays between what was set before it and after it", () => {
  const { model, slide, answer } = open();
  for (const value of [4, 5]) slide(value);
  [...document.querySelectorAll(".mg-buttons button")].at(-1).click();
  for (const value of [6, 7]) slide(value);
  for (let k = 0; k < 4; k++) answer();
  assert.deepEqual(model.told.map(({ number, ...rest }) => rest), [{ set: "n", value: 4 }, { set: "n", value: 5 }, { press: "seven" }, { set: "n", value: 7 }]);
});

test("moments step, several lines are taken with Shift+Enter, many options are a list, a sheet takes numbers", () => {
  const texts = [..."abcdefghij"];
  const extra = [
    { kind: "moments", name: "at", label: "line", value: 1, min: 0, max: 3, on: "run next line ▸", text: "1 of 3", hint: "" },
    { kind: "text", name: "lines", label: "program", value: "a", rows: 3, hint: "" },
    { kind: "choice", name: "op", label: "op", value: 2, texts, hint: "" },
    { kind: "sheet", name: "cells", label: "ledger", value: 0, head: ["node"], hint: "", cells: [["a", { key: 0, value: "", mood: "", title: "first" }]] },
  ];
  const { model, one, answer } = open({ controls: extra });
  const told = () => (({ set, value }) => [set, value])(model.told.at(-1));
  const press = (e, key, more = {}) => e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  [...document.querySelectorAll(".mg-bar button")].find((b) => b.textContent === "run next line ▸").click();
  assert.deepEqual(told(), ["at", 2]);
  answer();
  for (const [name, to] of [["Home", 0], ["End", 3], ["ArrowRight", 2]]) {
    press(one(".mg-bar .mg-slider"), name); // as under a graph
    assert.deepEqual(told(), ["at", to]);
    answer();
  }
  const area = one("textarea");
  area.value = "a\nb";
  press(area, "Enter");
  assert.deepEqual(told(), ["at", 2], "Enter begins a line");
  press(area, "Enter", { shiftKey: true });
  assert.deepEqual(told(), ["lines", "a\nb"]);
  answer();
  one("select.mg-button").value = "7";
  one("select.mg-button").dispatchEvent(new Event("change"));
  assert.deepEqual(told(), ["op", 7]);
  answer();
  const cell = one(".mg-sheet input");
  assert.equal(cell.getAttribute("aria-label"), "first");
  cell.value = "14";
  press(cell, "Enter");
  assert.deepEqual(told(), ["cells", [0, "14"]]);
  answer({ controls: [...extra.slice(0, 3), { ...extra[3], value: 1, cells: [["a", { key: 0, value: "14", mood: "wrong", title: "first" }]] }] });
  assert.equal(one(".mg-sheet input"), cell, "the cell stays, with the focus in it");
  assert.equal(cell.dataset.mood, "wrong");
  assert.equal(cell.getAttribute("aria-invalid"), "true");
});

test("choices, boxes, lines and buttons", () => {
  const { model, one, answer } = open();
  const key = (e, name) => e.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  key(one("[role=radio][aria-checked=true]"), "ArrowRight"); // from the last one round to the first
  answer();
  one("[type=checkbox]").click();
  answer();
  one("[type=text]").value = "ab";
  key(one("[type=text]"), "Enter");
  answer();
  [...document.querySelectorAll(".mg-buttons button")].at(-1).click();
  answer();
  assert.deepEqual(model.told.map(({ number, ...rest }) => rest), [{ set: "k", value: 0 }, { set: "big", value: false }, { set: "t", value: "ab" }, { press: "seven" }]);
});

test("controls that a move adds or takes away", () => {
  const { model, one } = open();
  const range = one("[type=range]");
  model.set("scene", { ...cases.lesson, controls: cases.lesson.controls.slice(0, 1) });
  assert.equal(one("[type=range]"), range, "what stays is not made again");
  assert.equal(one("[role=radiogroup]"), null);
  model.set("scene", cases.lesson);
  assert.ok(one("[role=radiogroup]"));
});

test("without a kernel the picture stays and the controls are off, also in a saved notebook", () => {
  for (const more of [{}, { layout: { comm_live: false } }]) {
    document.body.replaceChildren();
    const model = fakeModel({ scene: cases.lesson, ...more });
    render({ model, el: document.body, fail() {} });
    if (!more.layout) {
      assert.equal(document.querySelector(".mg-lost"), null);
      model.fire("comm_live_update");
    }
    assert.match(document.querySelector(".mg-lost").textContent, /Run the cell again/);
    assert.ok([...document.querySelectorAll("button, input")].every((e) => e.disabled));
  }
});

test("a scene that cannot be drawn is a failure in words; a lesson that is gone listens to nothing", () => {
  const { model, errors, destroy } = open();
  model.set("scene", { svg: "" });
  assert.equal(errors.length, 1);
  destroy();
  model.set("scene", { ...cases.lesson, say: "later" });
  assert.equal(document.body.children.length, 0);
});
