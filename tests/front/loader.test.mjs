// What a view does when its code does not arrive: a sentence and the kernel's picture, and the next view tries again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fakeModel, fakePage } from "./fake.mjs";

test("a module that does not load leaves a sentence and a picture, and the next view tries again", async () => {
  const body = fakePage();
  const said = console.error;
  console.error = () => {};
  globalThis.Image = window.Image;
  const loader = (await import("../../widgets/front/src/loader.js")).default;
  let asked = 0;
  const css = gzipSync(".mg-root{}");
  const front = { key: "1", css, get code() { asked++; return gzipSync("export default 1"); } }; // node imports no blob: it always fails
  const hidden = { get: (name) => front[name], on() {}, off() {} };
  for (const turn of [1, 2]) {
    const model = fakeModel({ front: "IPY_MODEL_abc", part: "graph" });
    model.widget_manager = { get_model: async (id) => (assert.equal(id, "abc"), hidden) };
    const el = document.createElement("div");
    body.append(el);
    await loader.render({ model, el });
    assert.match(el.textContent, /^The live view cannot be drawn here \(.+\)\. Run the cell again/);
    assert.deepEqual(model.told, [{ type: "save", kind: "svg" }]);
    model.fire("msg:custom", { type: "file", mime: "image/svg+xml", name: "y.svg" }, [new Uint8Array([60])]);
    assert.equal(el.querySelectorAll("img").length, 1);
    assert.equal(asked, turn, "the failed load is not remembered");
  }
  console.error = said;
});
