"use strict";
(() => {
  const drawings = JSON.parse(document.getElementById("charts").textContent);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const views = new Map();
  // Charts are drawn when they are first shown: their width is that of their place on the page.
  async function draw(element, spec = drawings.specs[element.id]) {
    if (!spec || element.clientWidth === 0) return;
    element.dataset.drawn = "yes";
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: drawings.config, tooltip: { disableDefaultStyle: true } };
    views.get(element.id)?.finalize();
    const { view } = await vegaEmbed(element, { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } }, options);
    views.set(element.id, view);
    view.addEventListener("click", (_, item) => pickNamed(item?.datum?.name));
  }
  const drawShown = () => all(".drawing:not([data-drawn])").forEach((element) => draw(element));
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
  // One explainer at a time, or all; #explainer=NAME links to one.
  const pickers = all(".pick");
  const names = drawings.names;
  function pick(value, { link = true } = {}) {
    if (!pickers.length) return drawShown();
    pickers.forEach((picker) => { picker.value = value; });
    for (const part of all(".pickable")) part.hidden = value !== "all" && part.dataset.explainer !== value;
    all("section").forEach((section) => {
      const parts = all(".pickable", section);
      const empty = parts.length > 0 && parts.every((part) => part.hidden);
      section.querySelector(".nothing-here")?.remove();
      if (empty) {
        const note = document.createElement("p");
        note.className = "nothing nothing-here";
        note.textContent = "Nothing here for this explainer.";
        section.append(note);
      }
    });
    drawShown();
    if (link) history.replaceState(null, "", value === "all" ? "#explainer=" : "#explainer=" + encodeURIComponent(names[value]));
  }
  function pickNamed(name) {
    const place = names.indexOf(name);
    if (pickers.length && place >= 0) pick(String(place));
  }
  function follow() {
    const hash = location.hash;
    if (hash.startsWith("#explainer=")) {
      let name = hash.slice("#explainer=".length);
      try { name = decodeURIComponent(name); } catch { /* a broken link picks nothing */ }
      const place = names.indexOf(name);
      if (place >= 0 || name === "") {
        pick(place >= 0 ? String(place) : "all", { link: false });
        document.querySelector(".picker")?.scrollIntoView();
      }
    } else if (hash.startsWith("#means-")) {
      document.getElementById("means").open = true;
      document.getElementById(hash.slice(1))?.scrollIntoView();
    }
  }
  pickers.forEach((picker) => picker.addEventListener("change", () => pick(picker.value)));
  pick(String(drawings.about), { link: false });
  addEventListener("hashchange", follow);
  follow();
  // Tables are sorted by the column whose heading is chosen; a second time, the other way round.
  function sortBy(heading) {
    const table = heading.closest("table");
    const column = [...heading.parentNode.children].indexOf(heading);
    const down = heading.getAttribute("aria-sort") === "ascending";
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.children[column].dataset.value ?? row.children[column].textContent.trim();
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === ""); // what has no number stays last
      const numbers = [Number(x), Number(y)];
      const sign = numbers.some(Number.isNaN) ? x.localeCompare(y) : numbers[0] - numbers[1];
      return down ? -sign : sign;
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(order));
  }
  all(".sort").forEach((button) => button.addEventListener("click", () => sortBy(button.closest("th"))));
  // On narrow screens every line of a table is a card: its cells say what they are, and stay cells.
  for (const table of all("table.sortable")) {
    const labels = all("thead th", table).map((heading) => heading.textContent.trim());
    table.setAttribute("role", "table");
    all("thead, tbody", table).forEach((part) => part.setAttribute("role", "rowgroup"));
    for (const row of all("tr", table)) {
      row.setAttribute("role", "row");
      [...row.children].forEach((cell, column) => {
        const head = cell.tagName === "TH" ? (cell.scope === "col" ? "columnheader" : "rowheader") : "cell";
        cell.setAttribute("role", head);
        cell.dataset.label = labels[column];
      });
    }
  }
  // The filter narrows verdicts, the picture and the table.
  const filter = document.getElementById("filter");
  function narrowed(spec, shown) {
    const copy = structuredClone(spec);
    const kept = new Set();
    for (const [name, rows] of Object.entries(copy.datasets)) {
      copy.datasets[name] = rows.filter((row) => shown.has(row.name));
      copy.datasets[name].forEach((row) => kept.add(row.line));
    }
    const lines = copy.layer[0].encoding.y.scale.domain.length;
    copy.height *= kept.size / lines;
    const trim = (list) => list.filter((line) => kept.has(line));
    for (const { encoding: { y } } of copy.layer) {
      y.scale.domain = trim(y.scale.domain);
      if (y.axis) y.axis.values = trim(y.axis.values);
    }
    return copy;
  }
  filter?.addEventListener("input", () => {
    const wanted = filter.value.trim().toLocaleLowerCase();
    const shown = new Set(names.filter((name) => name.toLocaleLowerCase().includes(wanted)));
    all("[data-name]").forEach((part) => { part.hidden = !shown.has(part.dataset.name); });
    all("#overview tbody tr").forEach((row) => { row.hidden = !shown.has(row.cells[0].textContent); });
    document.getElementById("filtered").textContent = wanted ? `${shown.size} of ${names.length} explainers` : "";
    const picture = document.getElementById("chart-picture");
    if (shown.size) draw(picture, narrowed(drawings.specs[picture.id], shown));
  });
  // Of two rows side by side only the features farthest apart are shown at first.
  for (const button of all(".more")) {
    const rows = all(".rest", button.parentNode);
    const few = button.textContent;
    const toggle = () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? few : `Show ${rows.length} more feature${rows.length === 1 ? "" : "s"}`;
      rows.forEach((row) => { row.hidden = !open; });
    };
    button.addEventListener("click", toggle);
    toggle();
  }
  // On paper stands the essential; "Print everything" prints all sections, with all folds open.
  let closed = [];
  const root = document.documentElement;
  document.getElementById("whole")?.addEventListener("click", () => {
    root.classList.add("whole");
    drawShown();
    print();
  });
  addEventListener("beforeprint", () => {
    if (!root.classList.contains("whole")) return;
    closed = all("details:not([open])");
    closed.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => {
    closed.forEach((fold) => { fold.open = false; });
    closed = [];
    root.classList.remove("whole");
  });
})();
