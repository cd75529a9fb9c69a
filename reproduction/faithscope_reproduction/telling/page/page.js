"use strict";
(() => {
  const drawings = JSON.parse(document.getElementById("charts").textContent);
  // Figures are drawn when they are first seen: their width is that of their place on the page.
  async function draw(element) {
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: drawings.config, tooltip: { disableDefaultStyle: true } };
    const spec = { ...drawings.specs[element.id], width: "container", autosize: { type: "fit-x", contains: "padding" } };
    await vegaEmbed(element, spec, options);
    element.dataset.drawn = "yes";
  }
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !entry.target.dataset.drawn) draw(entry.target);
    }
  }, { rootMargin: "600px" });
  document.querySelectorAll(".drawing").forEach((element) => seen.observe(element));
})();
