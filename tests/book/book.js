// What the pages do beside their pictures: the theme that views look at, predictions, and names that the theme leaves out.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => {
    const chosen = document.body.dataset.theme;
    document.body.dataset.jpThemeLight = String(chosen === "light" || (chosen !== "dark" && !dark.matches));
  };
  new MutationObserver(theme).observe(document.body, { attributeFilter: ["data-theme"] });
  dark.addEventListener("change", theme);
  theme();
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Chapters");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  for (const pre of document.querySelectorAll("pre")) if (pre.scrollWidth > pre.clientWidth) pre.tabIndex = 0;

  const answers = [...document.querySelectorAll(".cell.tag_mg-answer")];
  for (const [k, form] of [...document.querySelectorAll(".mg-guess")].entries()) {
    const answer = answers[k];
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const guess = form.elements.guess;
      if (!guess.value.trim()) return guess.focus();
      guess.readOnly = true;
      form.querySelector("button").remove();
      answer.classList.add("mg-open");
      answer.tabIndex = -1;
      answer.focus();
    });
  }
})();
