// A film on a fake model: each moment's picture and words, stepping, playing to the end.
import { render } from "../../widgets/front/src/film.js";
import { assert, cases, fakeModel, test } from "./harness.mjs";

test("every moment is the one that Python draws", () => {
  const { ground, takes, moments } = cases.film;
  const model = fakeModel({ ground, takes, take: 0, at: 0, names: ["step", "take"] });
  const stop = render({ model, el: document.body });
  const drawn = () =>
    [...document.querySelectorAll(".film *")].map((e) =>
      ["points", "transform", "visibility"].map((name) => e.getAttribute(name)).concat(e.children.length ? "" : e.textContent),
    );
  const plain = document.createElement("div");
  moments.forEach(({ take, at, svg, says }) => {
    model.set("take", take);
    model.set("at", at);
    const now = drawn();
    assert.equal(document.querySelector(".say").textContent, says);
    plain.innerHTML = svg;
    const python = [...plain.querySelectorAll("svg > :not(rect) , svg > :not(rect) *")];
    assert.equal(now.length, python.length);
    python.forEach((e, k) => {
      const [points, transform, visibility, text] = now[k];
      assert.equal(points, e.getAttribute("points"));
      assert.equal(transform, e.getAttribute("transform"));
      assert.equal(visibility === "hidden", e.getAttribute("visibility") === "hidden", `moment ${at}`);
      assert.equal(text, e.children.length ? "" : e.textContent);
    });
  });
  stop();
});

test("buttons and keys step; the kernel hears where the film rests", () => {
  const { ground, takes } = cases.film;
  const model = fakeModel({ ground, takes, take: 0, at: 1, names: ["step", "take"] });
  render({ model, el: document.body });
  const root = document.querySelector(".mg-film");
  const press = (what) => root.querySelector(`[data-do="${what}"]`).click();
  press("1");
  assert.equal(model.get("at"), 2);
  press("-1");
  press("-1");
  press("-1");
  assert.equal(model.get("at"), 0, "there is nothing before the first moment");
  root.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
  assert.equal(model.get("at"), takes[0].says.length - 1);
  root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  assert.equal(model.get("at"), takes[0].says.length - 2);
  assert.equal(root.querySelector("output").textContent, `${takes[0].says.length - 2} of ${takes[0].says.length - 1}`);
});
