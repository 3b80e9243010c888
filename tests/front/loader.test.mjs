// What a view does when its code does not arrive: a sentence and the kernel's picture, and the next view tries again.
import loader from "../../widgets/front/src/loader.js";
import { assert, fakeModel, test } from "./harness.mjs";

const packed = (text) => new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();

test("a module that does not load leaves a sentence and a picture, and the next view tries again", async () => {
  let asked = 0;
  const [css, code] = await Promise.all([packed(".mg-root{}"), packed("export default is no module")]);
  const front = { key: "1", css, get code() { asked++; return code; } };
  const hidden = { get: (name) => front[name], on() {}, off() {} };
  for (const turn of [1, 2]) {
    const model = fakeModel({ front: "IPY_MODEL_abc", part: "graph" });
    model.widget_manager = { get_model: async (id) => (assert.equal(id, "abc"), hidden) };
    const el = document.createElement("div");
    document.body.append(el);
    await loader.render({ model, el });
    assert.match(el.textContent, /^The live view cannot be drawn here \(.+\)\. Run the cell again/);
    assert.deepEqual(model.told, [{ type: "save", kind: "svg" }]);
    model.fire("msg:custom", { type: "file", mime: "image/svg+xml", name: "y.svg" }, [new Uint8Array([60])]);
    assert.equal(el.querySelectorAll("img").length, 1);
    assert.equal(asked, turn, "the failed load is not remembered");
  }
});
