// The table of scores: sorted by any column, its encoders by any set; rows and columns filtered by name.
"use strict";
(() => {
  const { byId, make, announce, data } = window.sentprobe;
  const table = byId("scores");
  if (!table) return;
  const head = table.tHead.rows[0];
  const body = table.tBodies[0];
  /** What a cell is sorted by: what it shows. */
  const order = (cell) => {
    const value = table.classList.contains("gains") && cell.dataset.kind === "encoder" ? cell.dataset.gain : cell.dataset.order;
    return value === undefined ? null : Number(value);
  };

  /** Wrap what a heading says into a button. */
  const buttons = [];
  function wrap([around, sortButton]) {
    sortButton.append(...around.childNodes);
    around.append(sortButton);
  }
  function button(heading, around, title) {
    const sortButton = make("button", null, { type: "button", class: "sort", title });
    buttons.push([around, sortButton]);
    wrap(buttons.at(-1));
    sortButton.addEventListener("click", () => (heading.scope === "col" ? sortRows(heading) : sortColumns(heading)));
  }
  for (const heading of head.cells) button(heading, heading, "Sort the sets by this column");
  if (head.querySelectorAll('[data-kind="encoder"]').length > 1) {
    for (const row of body.rows) button(row.cells[0], row.cells[0].querySelector(".label"), `Sort the ${data.noun}s by this set`);
  }

  // Browsers leave buttons out of a heading that they repeat on the next sheet
  addEventListener("beforeprint", () => buttons.forEach(([, sortButton]) => sortButton.replaceWith(...sortButton.childNodes)));
  addEventListener("afterprint", () => buttons.forEach(wrap));

  /** Numbers fall at first and names rise; pressed again, the other way round. What has no number comes last. */
  function direction(heading, first) {
    const now = heading.getAttribute("aria-sort");
    const next = now ? (now === "ascending" ? "descending" : "ascending") : first;
    for (const sibling of heading.scope === "col" ? head.cells : [...body.rows].map((row) => row.cells[0])) {
      sibling.removeAttribute("aria-sort");
    }
    heading.setAttribute("aria-sort", next);
    return next === "ascending" ? 1 : -1;
  }
  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
  }

  function sortRows(heading) {
    const named = heading.dataset.kind === "set";
    const sign = direction(heading, named ? "ascending" : "descending");
    const at = heading.cellIndex;
    const key = (row) => (named ? row.dataset.name : order(row.cells[at]));
    body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b), sign)));
    announce(`Sets sorted by ${heading.textContent.trim()}, ${heading.getAttribute("aria-sort")}`);
  }

  function sortColumns(heading) {
    const sign = direction(heading, "descending");
    const headings = [...heading.parentElement.cells];
    const encoderIndices = headings.flatMap((cell, i) => (cell.dataset.kind === "encoder" ? [i] : []));
    const sorted = [...encoderIndices].sort((a, b) => compare(order(headings[a]), order(headings[b]), sign));
    for (const row of table.rows) {
      const cells = [...row.cells];
      const before = cells[encoderIndices[encoderIndices.length - 1] + 1] || null;
      for (const index of sorted) row.insertBefore(cells[index], before);
    }
    announce(`Columns sorted by ${heading.textContent.trim()}`);
  }

  // A table that fits needs no frame to scroll in, and its heading stays in view while the page is scrolled
  const frame = table.parentElement;
  new ResizeObserver(() => frame.classList.toggle("fits", table.offsetWidth <= frame.clientWidth)).observe(frame);

  // What is shown
  const sets = byId("find-sets");
  const encoders = byId("find-encoders");
  const typed = (field) => field?.value ?? "";
  const matches = (text, wanted) => wanted.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));
  function filter() {
    let columns = 0;
    [...head.cells].forEach((heading, i) => {
      if (heading.dataset.kind !== "encoder") return;
      const visible = matches(`${heading.textContent} ${heading.title}`, typed(encoders));
      columns += visible;
      for (const row of table.rows) row.cells[i].hidden = !visible;
    });
    let rows = 0;
    for (const row of body.rows) {
      row.hidden = !matches(row.dataset.name, typed(sets));
      rows += !row.hidden;
    }
    const all = head.querySelectorAll('[data-kind="encoder"]').length;
    byId("shown").textContent = rows === body.rows.length && columns === all ? "" : `${rows} of ${body.rows.length} sets, ${columns} of ${all} ${data.noun}s`;
  }
  sets?.addEventListener("input", filter);
  encoders?.addEventListener("input", filter);
  // Scores, or points above the best baseline, which are comparable across sets
  byId("gains")?.addEventListener("change", (event) => {
    const gains = event.target.checked;
    table.classList.toggle("gains", gains);
    for (const cell of table.querySelectorAll("td[data-gain]")) {
      const text = cell.firstChild;
      cell.dataset.score ??= text.data;
      const gain = Number(cell.dataset.gain);
      text.data = gains ? `${gain < 0 ? "\u2212" : "+"}${Math.abs(gain).toFixed(1)}` : cell.dataset.score;
    }
    announce(gains ? "Points above the best baseline" : "Scores");
  });
  byId("codes")?.addEventListener("change", (event) => table.classList.toggle("codes", event.target.checked));
  byId("all-baselines")?.addEventListener("change", (event) => table.classList.toggle("every", event.target.checked));
})();
