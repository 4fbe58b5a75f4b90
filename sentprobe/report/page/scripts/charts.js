// Charts: drawn when they come into view, and the rest when the browser is idle, so that they are there for printing.
// Colours of text and lines are CSS variables, so a change of theme needs no redrawing.
"use strict";
(() => {
  const { data, byId, make, option } = window.sentprobe;
  const tip = byId("tip");
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const state = new Map();

  /** Rows are embedded by field; a field with repeated texts has each of them once, and indices. */
  function unpack(fields) {
    const columns = Object.entries(fields).map(([name, field]) => [name, field.texts ? field.at.map((i) => (i === null ? null : field.texts[i])) : field]);
    const n = columns.length ? columns[0][1].length : 0;
    return Array.from({ length: n }, (_, i) => Object.fromEntries(columns.map(([name, values]) => [name, values[i]])));
  }

  function tooltip(handler, event, item, value) {
    const text = value === null || value === undefined ? "" : typeof value === "object" ? value.text || Object.values(value).join("\n") : String(value);
    tip.hidden = !text;
    tip.textContent = text;
    if (!text) return;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below}px`;
  }
  addEventListener("scroll", () => (tip.hidden = true), { passive: true });

  /** The spec and rows that a figure shows now. */
  function current(name) {
    if (!state.has(name)) {
      const embedded = data.figures[name];
      state.set(name, { spec: Object.values(embedded.specs)[0], rows: unpack(embedded.rows) });
    }
    return state.get(name);
  }

  async function draw(figure) {
    const name = figure.dataset.chart;
    const { spec, rows } = current(name);
    const plot = figure.querySelector(".plot");
    const title = plot.getAttribute("aria-label");
    figure.dataset.drawn = "yes";
    if (!rows.length) return plot.replaceChildren();
    const { least, most } = data.figures[name];
    if (least) plot.style.minWidth = `${least}px`;
    if (most) plot.style.maxWidth = `${most}px`;
    // ast: expressions are interpreted, since the policy of the page forbids eval
    const view = await vegaEmbed(plot, { ...spec, data: { values: rows } }, {
      ast: true, actions: false, defaultStyle: false, renderer: "svg", tooltip, logLevel: 1, mode: "vega-lite",
    });
    figure.view?.finalize();
    figure.view = view;
    // the plot has a name, and the numbers are in a table: its hundreds of marks need not be read out
    plot.querySelector("svg")?.setAttribute("aria-hidden", "true");
    plot.setAttribute("role", "img"); // Vega has put its own in place of these
    plot.setAttribute("aria-label", title);
    plot.removeAttribute("aria-roledescription");
    plot.classList.add("drawn");
  }

  const waiting = new Set(figures);
  let queue = Promise.resolve();
  function soon(figure) {
    waiting.delete(figure);
    watcher.unobserve(figure);
    queue = queue.then(() => draw(figure)).catch((error) => {
      figure.querySelector(".plot").textContent = "This chart could not be drawn.";
      console.error(error);
    });
    return queue;
  }
  const watcher = new IntersectionObserver((seen) => seen.filter((s) => s.isIntersecting).forEach((s) => soon(s.target)), {
    rootMargin: "300px",
  });
  figures.forEach((figure) => watcher.observe(figure));
  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 200));
  function drawRest() {
    const [next] = waiting;
    if (!next) return;
    soon(next).then(() => idle(drawRest));
  }
  addEventListener("load", () => idle(drawRest));
  addEventListener("beforeprint", () => [...waiting].forEach(soon));

  /** Show other rows, or the same ones with another spec. */
  function show(name, change) {
    state.set(name, { ...current(name), ...change });
    const figure = figures.find((candidate) => candidate.dataset.chart === name);
    if (figure?.dataset.drawn) soon(figure);
    const numbers = figure?.querySelector(".numbers");
    if (numbers?.open) list(figure);
  }

  // The numbers of a chart, for those who cannot see it or want to copy them
  function list(figure) {
    const { rows } = current(figure.dataset.chart);
    const columns = data.figures[figure.dataset.chart].columns;
    const table = make("table", null, { class: "plain" });
    table.append(make("caption", figure.querySelector(".plot").getAttribute("aria-label"), { class: "sr" }));
    const head = table.createTHead().insertRow();
    for (const [, title] of columns) head.append(make("th", title, { scope: "col" }));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const [field] of columns) {
        const value = row[field];
        const number = typeof value === "number";
        const text = value === null || value === undefined ? "–" : number && !Number.isInteger(value) ? value.toFixed(2) : String(value);
        line.append(make("td", text, number ? { class: "num" } : { dir: "auto" }));
      }
    }
    const label = `Numbers: ${figure.querySelector(".plot").getAttribute("aria-label")}`; // regions differ in their names
    const scroll = make("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
    scroll.append(table);
    figure.querySelector(".numbers").replaceChildren(figure.querySelector(".numbers summary"), scroll);
  }
  for (const figure of figures) {
    figure.querySelector(".numbers").addEventListener("toggle", (event) => event.target.open && list(figure));
  }

  // Charts whose mode can be switched: scores, or ratios to a column or a language
  for (const figure of figures) {
    const mode = figure.querySelector("select.mode");
    if (!mode) continue;
    const name = figure.dataset.chart;
    const reference = figure.querySelector("label.reference");
    const choice = reference.querySelector("select");
    const change = () => {
      const embedded = data.figures[name];
      const relative = mode.value in embedded.ratios;
      reference.hidden = !relative;
      if (relative && choice.dataset.of !== mode.value) {
        choice.replaceChildren(...embedded.references[mode.value].map((text, i) => option(i, text)));
        choice.dataset.of = mode.value;
      }
      const ratios = relative ? embedded.ratios[mode.value][Number(choice.value)] : null;
      const rows = unpack(embedded.rows).map((row, i) => ({ ...row, ratio: ratios ? ratios[i] : null }));
      show(name, { rows, spec: embedded.specs[relative ? "relative" : mode.value] });
    };
    mode.addEventListener("change", change);
    choice.addEventListener("change", change);
  }
})();
