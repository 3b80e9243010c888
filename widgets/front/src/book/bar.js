// The little script that every page loads: the bar under the title, the buttons at each cell, marks of what has passed. All else comes when
// somebody presses a button or touches code. A reader who never does pays for this file only.

const page = /** @type {any} */ (globalThis);
const address = /** @type {HTMLScriptElement} */ (document.currentScript).src;
/** @param {string} query */
const all = (query) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(query)]);
/** @type {object[]} */ const asked = [];
let coming = false;

/** Load the rest, and hand it what was pressed. @param {object} press */
function live(press) {
  asked.push(press);
  if (page.mgLive) return page.mgLive(asked.splice(0));
  if (coming) return;
  coming = true;
  const onload = () => page.mgLive(asked.splice(0));
  const onerror = () => {
    coming = false;
    all(".mgb-bar-say")[0].textContent = "The page's own script did not arrive. Are you online? Press again to try once more.";
  };
  document.head.append(Object.assign(document.createElement("script"), { src: address.replace("bar.js", "live.js"), onload, onerror }));
}

/** The buttons of a cell. @param {HTMLElement} cell @param {DOMStringMap} about of the bar: where its notebook can be opened */
function dressCell(cell, { notebook, away }) {
  const id = cell.dataset.cell;
  const input = /** @type {HTMLElement} */ (cell.querySelector(".cell_input"));
  const run = document.createElement("button");
  Object.assign(run, { className: "mgb-run", type: "button", title: "Run this cell, and before it what it needs (Shift+Enter)" });
  run.setAttribute("aria-label", "Run this cell");
  run.onclick = () => live({ do: "cell", cell: id });
  const tools = Object.assign(document.createElement("div"), { className: "mgb-tools" });
  if (away) {
    const title = "Open this cell in JupyterLab, on Binder (which takes a minute)";
    const href = away + notebook + encodeURIComponent(`#cell-id=${id}`);
    const link = Object.assign(document.createElement("a"), { className: "mgb-away", textContent: "↗", target: "_blank", href, title });
    link.setAttribute("aria-label", title);
    tools.append(link);
  }
  tools.append(run);
  input.append(tools);
  const edit = (/** @type {MouseEvent} */ { clientX: x, clientY: y }) => {
    if (getSelection()?.isCollapsed) live({ do: "edit", cell: id, x, y });
  };
  input.querySelector("pre")?.addEventListener("click", edit);
}

function dress() {
  const [bar] = all(".mgb-bar");
  if (!bar || bar.dataset.dressed) return;
  bar.dataset.dressed = "yes";
  /** @type {HTMLElement} */ (bar.querySelector("button")).onclick = () => live({ do: "page" });
  const place = /** @type {HTMLElement} */ (bar.parentElement);
  // Once Python is wanted the bar stays in sight: below, where the page's own place for it has scrolled away. Nothing else moves.
  page.mgFloat = () => {
    const { top, bottom, left } = place.getBoundingClientRect();
    const afloat = bar.dataset.state !== "none" && (bottom < 0 || top > innerHeight);
    if (afloat === bar.classList.contains("mgb-afloat")) return;
    place.style.minHeight = afloat ? `${place.offsetHeight}px` : "";
    Object.assign(bar.style, afloat ? { left: `${left}px`, width: `${place.offsetWidth}px` } : { left: "", width: "" });
    bar.classList.toggle("mgb-afloat", afloat);
    document.documentElement.style.setProperty("--mg-foot", afloat ? `${bar.offsetHeight}px` : "0px"); // what sticks, sticks above it
  };
  new IntersectionObserver(page.mgFloat).observe(place);
  for (const cell of all(".cell[data-cell]")) dressCell(cell, bar.dataset);
  for (const part of all("[data-exercise]"))
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-do]")))
      button.onclick = () => live({ do: button.dataset.do, exercise: part.dataset.exercise });
  /** @type {{passed?: string[], edited?: string[]}} */ let known = {};
  try {
    known = JSON.parse(localStorage.getItem("minigrad:marks") ?? "{}");
  } catch {} // then nothing is marked
  for (const part of all("[data-exercise]")) part.classList.toggle("mgb-passed", !!known.passed?.includes(part.dataset.exercise ?? ""));
  if (known.edited?.includes(bar.dataset.chapter ?? "") || page.mgLive) live({ do: "restore" });
}

document.addEventListener(
  "submit",
  (event) => {
    const form = /** @type {HTMLElement} */ (event.target);
    if (!form.matches(".mg-guess")) return;
    const values = [...form.querySelectorAll("input")].map((field) => field.value.trim());
    live({ do: "guess", exercise: form.dataset.for, values });
  },
  true,
);
page.mgDress = dress;
dress();
