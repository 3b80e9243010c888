// A wide figure in a narrow place.
import { cut, stack } from "../../widgets/front/src/halves.js";
import { test } from "./harness.mjs";

const box = (left, right, top = 0, bottom = 10) => ({ left, right, top, bottom });
const equal = (a, b) => {
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
};

test("a figure is cut where nothing crosses, into the narrowest halves", () => {
  equal(cut([box(0, 100), box(120, 130), box(125, 300)]), [box(-4, 104, -4, 14), box(116, 304, -4, 14)]);
  equal(cut([box(0, 40), box(50, 190), box(200, 300)])?.map((b) => b.right), [194, 304]);
});

test("what something crosses is not cut", () => {
  equal(cut([box(0, 100), box(120, 300), box(50, 200)]), null);
  equal(cut([box(0, 100), box(105, 300)]), null);
});

test("two halves stand one above the other, larger than the whole was", () => {
  document.body.innerHTML = `<div style="width:340px"><svg width="600" height="100" viewBox="0 0 600 100" style="width:100%">
    <rect x="10" y="10" width="300" height="80"/><rect x="400" y="20" width="150" height="30"/></svg></div>`;
  const picture = document.querySelector("svg");
  equal(stack(picture, 340), true);
  const [above, below] = document.querySelectorAll("svg");
  equal(Math.round(above.getBoundingClientRect().width), 339);
  if (!(below.getBoundingClientRect().top >= above.getBoundingClientRect().bottom)) throw new Error("not below");
});

test("a half shrinks no further than the least scale, and is scrolled", () => {
  document.body.innerHTML = `<div style="width:150px;overflow:auto"><svg width="600" height="100" viewBox="0 0 600 100" style="width:100%">
    <rect x="10" y="10" width="300" height="80"/><rect x="400" y="20" width="150" height="30"/></svg></div>`;
  const picture = document.querySelector("svg");
  equal(stack(picture, 150, 0.84), true);
  equal(Math.round(picture.getBoundingClientRect().width), Math.round(0.84 * 308));
});
