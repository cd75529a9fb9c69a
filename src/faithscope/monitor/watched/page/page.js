"use strict";
(() => {
  const drawings = JSON.parse(document.getElementById("charts").textContent);
  // Charts are drawn when they are first seen: their width is that of their place on the page.
  async function draw(element) {
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: drawings.config, tooltip: { disableDefaultStyle: true } };
    const spec = { ...drawings.specs[element.id], width: "container", autosize: { type: "fit-x", contains: "padding" } };
    element.dataset.drawn = "yes";
    await vegaEmbed(element, spec, options);
  }
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !entry.target.dataset.drawn) draw(entry.target);
    }
  }, { rootMargin: "600px" });
  document.querySelectorAll(".drawing").forEach((element) => seen.observe(element));

  // Light and dark: every color, also of charts, is a variable of the page.
  const theme = document.getElementById("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    theme.setAttribute("aria-pressed", String(name === "dark"));
  }
  setTheme(prefersDark.matches ? "dark" : "light");
  prefersDark.addEventListener("change", () => setTheme(prefersDark.matches ? "dark" : "light"));
  theme.addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
})();
