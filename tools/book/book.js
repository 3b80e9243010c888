// What the pages do beside their pictures: the theme that views look at, predictions, and names that the theme leaves out.
(() => {
  const [dark, paper] = ["(prefers-color-scheme: dark)", "print"].map((media) => matchMedia(media));
  const theme = () => {
    const chosen = document.body.dataset.theme;
    document.body.dataset.jpThemeLight = String(paper.matches || chosen === "light" || (chosen !== "dark" && !dark.matches));
  };
  new MutationObserver(theme).observe(document.body, { attributeFilter: ["data-theme"] });
  for (const media of [dark, paper]) media.addEventListener("change", theme);
  theme();
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // there no page may fetch another
  document.querySelector("link[media='not all']").media = "all"; // the views' own style sheet, which no text needs
  document.body.dataset.mgLook = "whole"; // views that were there before it look at the page's colours again (theme.js)
  // Where there is room for notes in the margin, the headings of the page go under its chapter.
  const [headings, chapter] = [".toc-tree", ".sidebar-tree .current-page"].map((where) => document.querySelector(where));
  const wide = headings && chapter && matchMedia("(min-width: 80em)").matches;
  if (wide) chapter.append(headings);
  document.body.classList.toggle("mg-wide", !!wide);
  document.querySelector("#search-results")?.before(Object.assign(document.createElement("h1"), { textContent: "Search" }));
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Chapters");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  const up = document.querySelector(".back-to-top"); // stands outside of every landmark, with a picture that says nothing
  if (up) {
    const nav = Object.assign(document.createElement("nav"), { ariaLabel: "This page" });
    up.replaceWith(nav);
    nav.append(up);
    up.querySelector("svg").ariaHidden = "true";
  }
  const reach = () => {
    for (const one of document.querySelectorAll("pre, .mg-live:not([data-live])")) if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
  };
  reach();
  const formulas = [...document.querySelectorAll(".math")];
  const fit = () => {
    for (const one of formulas) one.style.fontSize = "";
    const rooms = formulas.map((one) => one.clientWidth / one.scrollWidth);
    formulas.forEach((one, k) => {
      if (rooms[k] < 1) one.style.fontSize = `${Math.max(0.8, 0.99 * rooms[k])}em`;
    });
  };
  document.fonts.ready.then(fit);
  addEventListener("resize", fit);
  const folded = document.querySelectorAll("article details:not(.mg-live details)"); // paper cannot be opened
  addEventListener("beforeprint", () => folded.forEach((part) => part.toggleAttribute("open", true)));
  for (const form of document.querySelectorAll(".mg-guess")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const empty = [...form.querySelectorAll("input")].find((field) => !field.value.trim());
      if (empty) return empty.focus();
      for (const field of form.querySelectorAll("input")) field.readOnly = true;
      form.querySelector("button").remove();
      for (const waits of document.querySelectorAll(`[data-waits="${form.dataset.for}"]`)) waits.remove();
      const answers = [...document.querySelectorAll(`.tag_mg-for-${form.dataset.for}`)];
      for (const answer of answers) answer.classList.add("mg-open");
      reach();
      const first = answers[0].querySelector(".cell_output");
      first.tabIndex = -1;
      first.focus();
    });
  }
})();
