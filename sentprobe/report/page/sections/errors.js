// Errors: one set and one encoder at a time.
"use strict";
(() => {
  const { data, byId, make, option } = window.sentprobe;
  const NS = "http://www.w3.org/2000/svg";
  const WIDE = 110;
  const sets = byId("errors-set");
  if (!sets) return;
  const encoders = byId("errors-encoder");
  const { names, columns, errors, first, best, predicts } = data.sections.errors;
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const whole = (n) => n.toLocaleString("en");
  const points = (share) => (100 * share).toFixed(1);
  const shade = (share) => `s${Math.round(10 * share)}`;

  /** A cell that isolates the direction of its text. */
  function named(tag, text, scope) {
    const cell = make(tag, null, scope ? { scope } : {});
    cell.append(make("bdi", text));
    return cell;
  }

  function matrix(labels, counts) {
    const table = make("table", null, { class: "matrix" });
    table.append(make("caption", "Rows: true labels. Columns: predicted labels.", { class: "sr" }));
    const head = table.createTHead().insertRow();
    head.append(make("th", "true ╲ predicted", { scope: "col" }));
    for (const label of labels) head.append(named("th", label, "col"));
    const body = table.createTBody();
    counts.forEach((row, i) => {
      const line = body.insertRow();
      line.append(named("th", labels[i], "row"));
      const all = sum(row) || 1;
      row.forEach((n, j) => line.append(make("td", whole(n), { class: shade(n / all) + (i === j ? " right" : "") })));
    });
    return table;
  }

  function list(heads, rows) {
    const table = make("table", null, { class: "plain" });
    const head = table.createTHead().insertRow();
    heads.forEach(([title, number]) => head.append(make("th", title, number ? { scope: "col", class: "num" } : { scope: "col" })));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach((value, i) => {
        if (heads[i][1]) line.append(make("td", value, { class: "num" }));
        else line.append(named(i ? "td" : "th", value, i ? null : "row"));
      });
    }
    return table;
  }

  function sentence(segments) {
    const paragraph = make("p", null, { class: "sentence", dir: "auto" });
    segments.forEach((part, i) => {
      if (!(i % 2)) return paragraph.append(part);
      const mark = make("mark");
      mark.append(make("span", "[marked: ", { class: "sr" }), part, make("span", "]", { class: "sr" }));
      paragraph.append(mark);
    });
    return paragraph;
  }

  /** How rows of sets without labels are wrong. */
  const UNLABELLED = {
    neighbours: (wrong, n, share) => `${wrong} of ${n} test rows are wrong: precision@1 ${share} %.`,
    margins: (wrong, n) => `${wrong} of ${n} test rows: the contrast is nearer than the positive, or as near.`,
  };
  const labelled = (wrong, n, share) => `${wrong} of ${n} test rows are wrong: accuracy ${share} %.`;

  function rowsOf(rows, kind) {
    return rows.map(([segments, truth, predicted, confidence, source]) => {
      const item = make("li");
      const facts = make("p", null, { class: "facts" });
      if (kind === "margins") facts.append("positive: ", make("bdi", truth), make("br"), "contrast: ", make("bdi", predicted), make("br"), `nearer by ${confidence.toFixed(3)}`);
      else if (kind === "neighbours") facts.append("nearest: ", make("bdi", predicted), ` (cosine ${confidence.toFixed(2)}); right: `, make("bdi", truth));
      else facts.append("true ", make("bdi", truth), ", predicted ", make("bdi", predicted), ` with probability ${confidence.toFixed(2)}`);
      if (source) facts.append("; ", make("bdi", source));
      item.append(sentence(segments), facts);
      return item;
    });
  }

  function informative(rows) {
    return rows.map(([segments, label, bits, source]) => {
      const item = make("li");
      const facts = make("p", null, { class: "facts" });
      facts.append("labelled ", make("bdi", label), `: ${bits < 0 ? "−" : ""}${Math.abs(bits).toFixed(2)} bits`);
      if (source) facts.append("; ", make("bdi", source));
      item.append(sentence(segments), facts);
      return item;
    });
  }

  /** A fraction and its interval on a line from 0 to 100. */
  function drawn(value, low, high) {
    const svg = document.createElementNS(NS, "svg");
    for (const [name, value] of Object.entries({ width: WIDE, height: 14, class: "interval", "aria-hidden": "true" })) svg.setAttribute(name, value);
    const at = (share) => (4 + share * (WIDE - 8)).toFixed(1);
    const shapes = [
      ["line", { class: "axis", x1: at(0), x2: at(1), y1: 7, y2: 7 }],
      ...[0, 0.5, 1].map((x) => ["line", { class: "axis", x1: at(x), x2: at(x), y1: 3, y2: 11 }]),
      ["line", { class: "range", x1: at(low), x2: at(high), y1: 7, y2: 7 }],
      ["circle", { class: "dot", cx: at(value), cy: 7, r: 3.5 }],
    ];
    for (const [tag, attributes] of shapes) {
      const shape = document.createElementNS(NS, tag);
      for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
      svg.append(shape);
    }
    return svg;
  }

  function bins(counts, title) {
    const rows = counts.map(([low, high, n, right, below, above]) => [
      low === high ? String(low) : `${low}–${high}`, whole(n), `${points(right / n)} (${points(below / 1000)}–${points(above / 1000)})`,
    ]);
    const table = list([[title], ["rows", true], ["accuracy (%)", true]], rows);
    table.tHead.rows[0].append(make("th", "0 to 100", { "aria-hidden": "true" }));
    counts.forEach(([, , n, right, below, above], i) => {
      const cell = make("td", null, { "aria-hidden": "true" });
      cell.append(drawn(right / n, below / 1000, above / 1000));
      table.tBodies[0].rows[i].append(cell);
    });
    return table;
  }

  function fill() {
    const set = Number(sets.value);
    const { labels, columns: columnErrors } = errors[set];
    const kind = predicts[set];
    const near = kind in UNLABELLED;
    const selected = columnErrors[Number(encoders.value)];
    const n = sum(selected.length.map((b) => b[2]));
    const right = sum(selected.length.map((b) => b[3]));
    byId("errors-sum").textContent = (UNLABELLED[kind] || labelled)(whole(n - right), whole(n), points(right / n));
    byId("errors-codes").textContent = errors[set].codes ? `In the set: ${errors[set].codes}.` : "";
    for (const id of ["errors-matrix", "errors-bias"]) byId(id).hidden = near;
    byId("errors-length").hidden = near && selected.length.length < 2;
    byId("errors-by-probe").hidden = near;
    byId("errors-by-cosine").hidden = kind !== "neighbours";
    byId("errors-by-margin").hidden = kind !== "margins";
    if (near) {
      // what is retrieved is not one of a few labels
    } else if (selected.confusion) {
      byId("errors-confusion").replaceChildren(matrix(labels, selected.confusion));
      const counts = labels.map((label, j) => [label, sum(selected.confusion[j]), sum(selected.confusion.map((row) => row[j]))]);
      const rows = counts.map(([label, truth, predicted]) => [label, whole(truth), whole(predicted), `${predicted === truth ? "" : predicted > truth ? "+" : "−"}${whole(Math.abs(predicted - truth))}`]);
      byId("errors-counts").replaceChildren(list([["Label"], ["true", true], ["predicted", true], ["difference", true]], rows));
    } else {
      const rows = selected.pairs.map(([truth, predicted, count]) => [truth, predicted, whole(count)]);
      byId("errors-confusion").replaceChildren(list([["True"], ["Predicted"], ["rows", true]], rows));
      byId("errors-counts").replaceChildren(make("p", `${whole(labels.length)} labels are too many to list.`, { class: "muted" }));
    }
    byId("errors-lengths").replaceChildren(bins(selected.length, "Tokens"));
    byId("errors-target").hidden = !selected.target;
    if (selected.target) byId("errors-targets").replaceChildren(bins(selected.target, "Rows with the form"));
    byId("errors-list").replaceChildren(...rowsOf(selected.errors, kind));
    for (const end of ["doubtful", "easiest"]) {
      const rows = errors[set][end] || [];
      byId(`errors-${end}-part`).hidden = !rows.length;
      byId(`errors-${end}`).replaceChildren(...informative(rows));
    }
    if (!selected.errors.length) byId("errors-list").append(make("li", near ? "None." : "None with a known probability."));
  }

  function choose() {
    const columnErrors = errors[Number(sets.value)].columns;
    const before = encoders.value;
    encoders.replaceChildren(...columnErrors.flatMap((column, i) => (column ? [option(i, columns[i])] : [])));
    const available = [...encoders.options].map((o) => o.value);
    encoders.value = available.includes(before) ? before : available.includes(String(best[Number(sets.value)])) ? String(best[Number(sets.value)]) : available[0];
    fill();
  }

  sets.replaceChildren(...errors.flatMap((columnErrors, i) => (columnErrors ? [option(i, names[i])] : [])));
  if (first !== null) sets.value = String(first);
  sets.addEventListener("change", choose);
  encoders.addEventListener("change", fill);
  choose();
})();
