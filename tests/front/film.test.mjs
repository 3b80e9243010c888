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
  const press = (text) => [...document.querySelectorAll(".mg-choice button")].find((b) => b.textContent.includes(text)).click();
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
  assert.equal(document.querySelector(".mg-choice button").disabled, true);
  slide(step, says.length - 1);
  assert.equal(document.querySelectorAll(".mg-choice button")[2].disabled, true);
  assert.equal(document.querySelector(".mg-value").textContent, `${says.length - 1} of ${says.length - 1}`);
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
