// A film on a fake model: each moment's picture and words, stepping, playing to the end. Nobody is asked for a picture.
import { render } from "../../widgets/front/src/lesson.js";
import { assert, cases, fakeModel, test } from "./harness.mjs";

function open() {
  const { film, scene } = cases.film;
  const model = fakeModel({ scene, film, children: [] });
  const destroy = render({ model, el: document.body, fail: (error) => { throw error; } });
  const [step, take] = document.querySelectorAll("[type=range]");
  const slide = (range, value) => {
    range.value = value;
    range.dispatchEvent(new Event("input"));
  };
  const press = (text) => [...document.querySelectorAll(".mg-bar button")].find((b) => b.textContent.includes(text)).click();
  const said = () => document.querySelector(".mg-words").textContent;
  return { model, destroy, step, take, slide, press, said, says: film.takes[0].says };
}

test("every moment is the one that Python draws", () => {
  const { step, take, slide, said, destroy } = open();
  const drawn = () =>
    [...document.querySelectorAll(".film *")].map((e) =>
      ["points", "transform", "visibility"].map((name) => e.getAttribute(name)).concat(e.children.length ? "" : e.textContent),
    );
  const plain = document.createElement("div");
  cases.film.moments.forEach(({ take: k, at, svg, says }) => {
    slide(take, k);
    slide(step, at);
    const now = drawn();
    assert.equal(said(), says);
    plain.innerHTML = svg;
    const python = [...plain.querySelectorAll("svg > :not(rect) , svg > :not(rect) *")].filter((e) => !e.matches(".film"));
    assert.equal(now.length, python.length);
    python.forEach((e, n) => {
      const [points, transform, visibility, text] = now[n];
      assert.equal(points, e.getAttribute("points"));
      assert.equal(transform, e.getAttribute("transform"));
      assert.equal(visibility === "hidden", e.getAttribute("visibility") === "hidden", `moment ${at}`);
      assert.equal(text, e.children.length ? "" : e.textContent);
    });
  });
  destroy();
});

test("buttons step, there is nothing before the first and after the last moment, and the kernel hears where the film rests", () => {
  const { model, step, slide, press, said, says } = open();
  press("step");
  assert.equal(said(), says[1]);
  press("back");
  assert.equal(said(), says[0]);
  press("back");
  assert.equal(said(), says[0]);
  slide(step, says.length - 1);
  press("step ▸");
  assert.equal(said(), says.at(-1));
  assert.equal(document.querySelector(".mg-clock").textContent, `${says.length - 1} / ${says.length - 1}`);
  assert.deepEqual(model.told[0], { set: "at", value: 1, number: 1 });
  model.set("scene", { ...cases.film.scene, answers: 1 });
  assert.equal(said(), says.at(-1), "an old answer does not turn the film back");
  assert.deepEqual(model.told[1], { set: "at", value: says.length - 1, number: 2 });
});

test("when the kernel is gone, the film goes on and tells nobody", () => {
  const { model, step, slide, said, says } = open();
  model.fire("comm_live_update");
  slide(step, 2);
  assert.equal(said(), says[2]);
  assert.deepEqual(model.told, []);
});

/** The scene in which the kernel has every control where it was told, after so many answers. */
const answered = (answers, values) => ({
  ...cases.film.scene,
  answers,
  controls: cases.film.scene.controls.map((c) => ({ ...c, value: values[c.name] ?? c.value })),
});
const sent = (model) => model.told.map(({ number, ...rest }) => rest);

test("a step after another take moves the moments, not the takes, however slow the kernel is", () => {
  const { model, step, take, slide, press, said } = open();
  const { takes } = cases.film.film;
  slide(take, 1);
  press("step");
  assert.equal(said(), takes[1].says[1]);
  model.set("scene", answered(1, { which: 1 }));
  assert.deepEqual(sent(model), [{ set: "which", value: 1 }, { set: "at", value: 1 }]);
  model.set("scene", answered(2, { which: 1, at: 1 }));
  assert.equal(said(), takes[1].says[1]);
  assert.deepEqual([step.value, take.value], ["1", "1"]);
});

test("a kernel that answers while the film plays does not turn it back", async () => {
  const { model, take, slide, press, said, says, destroy } = open();
  const until = async (text) => {
    for (let k = 0; k < 200 && said() !== text; k++) await new Promise((go) => setTimeout(go, 5));
    assert.equal(said(), text);
  };
  press("step");
  press("play");
  await until(says[2]);
  model.set("scene", answered(1, { at: 1 }));
  assert.equal(said(), says[2]);
  slide(take, 1);
  model.set("scene", answered(2, { at: 1, which: 1 }));
  await until(cases.film.film.takes[1].says[3]);
  for (let k = 0; k < 200 && model.told.length < 3; k++) await new Promise((go) => setTimeout(go, 5));
  assert.deepEqual(sent(model).at(-1), { set: "at", value: 3 }, "it is told where it rests");
  model.set("scene", answered(3, { at: 3, which: 1 }));
  assert.equal(said(), cases.film.film.takes[1].says[3]);
  destroy();
});

test("what waits is told in its order: a newer take before the moment that was chosen after an older one", () => {
  const { model, step, take, slide } = open();
  slide(step, 1);
  slide(take, 1);
  slide(step, 3);
  slide(take, 0);
  for (const answers of [1, 2, 3]) model.set("scene", answered(answers, {}));
  assert.deepEqual(sent(model), [{ set: "at", value: 1 }, { set: "which", value: 0 }, { set: "at", value: 3 }]);
});
