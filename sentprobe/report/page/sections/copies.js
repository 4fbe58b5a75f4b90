// The table of scores as Markdown, LaTeX and CSV: what is shown of it, in its order.
(() => {
  "use strict";
  const { byId, data, copies } = window.sentprobe;
  const table = byId("scores");
  if (!table) return;
  const escapes = data.sections.results.escapes;

  const visible = (element) => element && !element.hidden && getComputedStyle(element).display !== "none";
  const line = (text) => (text || "").replace(/\s+/g, " ").trim();

  /** The parts of a cell that can be seen. */
  function parts(cell) {
    const sup = cell.querySelector("sup");
    const mark = sup ? [...sup.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE || visible(node)).map((node) => node.textContent).join("") : "";
    const bold = cell.classList.contains("best") && Number(getComputedStyle(cell).fontWeight) > 500;
    return { text: line(cell.firstChild?.data), margin: line(cell.querySelector("small")?.textContent), mark: line(mark), bold };
  }

  /** Headings and rows, without what is hidden. */
  function shown() {
    const head = [...table.tHead.rows[0].cells];
    const columns = head.flatMap((cell, i) => (visible(cell) ? [i] : []));
    const title = (cell) => {
      if (cell.dataset.kind === "rows") return "test";
      const more = [...cell.querySelectorAll(".more")].map((part) => line(part.textContent.replace(/^, /, "")));
      return [line((cell.querySelector(".name") || cell).textContent), ...more].join(", ");
    };
    const name = (cell) => [cell.querySelector(".label"), ...cell.querySelectorAll(".tag")].map((part) => line(part.textContent)).join(", ");
    return {
      heads: columns.map((i) => title(head[i])),
      rows: [...table.tBodies[0].rows].filter(visible).map((row) => [
        { text: name(row.cells[0]), margin: "", mark: "", bold: false },
        ...columns.slice(1).map((i) => parts(row.cells[i])),
      ]),
    };
  }

  const notes = () => [...document.querySelectorAll("#results .legend li, #results .failure")].map((item) => line(item.textContent));
  /** What is wrong with the data, which stands above the table wherever it is pasted. */
  const errors = () => [...document.querySelectorAll("#data-errors summary, #data-errors li")].map((item) => line(item.textContent));
  const gains = () => (table.classList.contains("gains") ? ["Points above the best baseline."] : []);

  const inMarkdown = (text) => [...text].map((c) => (escapes.markdown.includes(c) ? `&#${c.codePointAt(0)};` : c)).join("");
  const inLatex = (text) => [...text].map((c) => escapes.latex[c] ?? c).join("").replaceAll("--", "-{}-").replaceAll("--", "-{}-");
  const inCsv = (text) => {
    const guarded = !/^[+\u2212-]?[\d.,]+$/.test(text) && /^ *[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
  };
  const joined = (...some) => some.filter(Boolean).join(" ");

  copies.markdown = () => {
    const { heads, rows } = shown();
    const cell = ({ text, margin, mark, bold }) => joined(bold ? `**${inMarkdown(text)}**` : inMarkdown(text), inMarkdown(margin), inMarkdown(mark));
    const lines = [heads.map(inMarkdown), heads.map((_, i) => (i ? "---:" : "---")), ...rows.map((row) => row.map(cell))];
    const [heading, ...findings] = errors().map(inMarkdown);
    const above = heading ? [`**${heading}**`, "", ...findings.map((finding) => `- ${finding}`), ""] : [];
    return [...above, ...lines.map((cells) => `| ${cells.join(" | ")} |`), "", ...[...gains(), ...notes()].map((note) => `- ${inMarkdown(note)}`), ""].join("\n");
  };
  copies.latex = () => {
    const { heads, rows } = shown();
    const cell = ({ text, margin, mark, bold }) => joined(bold ? `\\textbf{${inLatex(text)}}` : inLatex(text), inLatex(margin) + (mark ? `\\textsuperscript{${inLatex(mark)}}` : ""));
    const lines = [heads.map(inLatex), ...rows.map((row) => row.map(cell))].map((cells) => `${cells.join(" & ")} \\\\`);
    const [heading, ...findings] = errors().map(inLatex);
    const above = heading ? [`\\par{\\footnotesize\\textbf{${heading}} ${findings.join(" ")}\\par}`, ""] : [];
    const begin = ["% \\usepackage{booktabs}", ...above, `\\begin{tabular}{l${"r".repeat(heads.length - 1)}}`, "\\toprule"];
    return [...begin, lines[0], "\\midrule", ...lines.slice(1), "\\bottomrule", "\\end{tabular}", ...[...gains(), ...notes()].map((note) => `% ${note}`), ""].join("\n");
  };
  copies.csv = () => {
    const { heads, rows } = shown();
    const wide = heads.map((_, i) => rows.some((row) => row[i].margin || row[i].mark));
    const spread = (values, i) => (wide[i] ? values : values.slice(0, 1));
    const lines = [
      heads.flatMap((head, i) => spread([head, `${head}, margin`, `${head}, mark`], i)),
      ...rows.map((row) => row.flatMap(({ text, margin, mark }, i) => spread([text.replace("\u2212", "-"), margin, mark], i))),
    ];
    return `${lines.map((cells) => cells.map(inCsv).join(",")).join("\n")}\n`;
  };
})();
