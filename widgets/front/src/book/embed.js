// One script tag puts a live graph into somebody else's page:
//   <script src="https://.../_static/embed.js" data-graph="(3*x + 2)**2" data-x="1" async></script>
// It becomes a frame of the book (embed.html), where Python starts when the reader asks for it. One cache serves every page.

const script = /** @type {HTMLScriptElement} */ (document.currentScript);
const about = new URLSearchParams(/** @type {Record<string, string>} */ ({ ...script.dataset }));
const frame = document.createElement("iframe");
frame.src = new URL(`../embed.html#${about}`, script.src).href;
frame.title = `A graph of ${script.dataset.graph}, step by step`;
frame.loading = "lazy";
frame.style.cssText = "width:100%;height:14rem;border:1px solid #8885;border-radius:10px;color-scheme:light dark";
script.after(frame);
addEventListener("message", ({ source, data }) => {
  if (source === frame.contentWindow && data?.minigrad > 0) frame.style.height = `${data.minigrad}px`;
});
