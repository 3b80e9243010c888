// Names for ipywidgets' controls that have none for a screen reader: the handles of sliders, the buttons of Play, fields with only a title.
// What lives here: one invisible element in a lesson that watches over the lesson's controls. What does not: any control.

/** @param {Element} box */
function name(box) {
  for (const handle of box.querySelectorAll(".noUi-handle:not([aria-label])")) {
    const label = handle.closest(".jupyter-widgets")?.querySelector(".widget-label")?.textContent?.trim();
    handle.setAttribute("aria-label", label || "value");
  }
  for (const icon of box.querySelectorAll(".widget-play button .fa")) {
    icon.parentElement?.setAttribute("aria-label", icon.matches(".fa-stop") ? "stop" : icon.matches(".fa-pause") ? "pause" : "play");
  }
  for (const field of box.querySelectorAll("input[title]")) field.setAttribute("aria-label", field.getAttribute("title") ?? "");
}

/** @param {{ el: HTMLElement }} context */
function render({ el }) {
  el.style.display = "none";
  const watch = new MutationObserver(() => el.parentElement && name(el.parentElement));
  let tries = 600;
  let frame = requestAnimationFrame(function begin() {
    const box = el.parentElement;
    if (!box) {
      if (tries--) frame = requestAnimationFrame(begin);
      return;
    }
    name(box);
    watch.observe(box, { childList: true, subtree: true, attributes: true, attributeFilter: ["title", "class"] });
  });
  return () => {
    cancelAnimationFrame(frame);
    watch.disconnect();
  };
}

export default { render };
