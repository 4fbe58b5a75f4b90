// Try a sentence: sends it to the server of the page. The response is inserted as text nodes, never as HTML.
(() => {
  "use strict";
  const section = document.getElementById("try-state");
  if (!section) return;
  const by = (id) => document.getElementById(id);
  const { make, ask } = window.sentprobe.live;
  const form = by("try-form"), status = by("try-status"), answer = by("try-answer"), go = by("try-go");
  const text = by("try-text"), first = by("try-first"), second = by("try-second");
  const EVERY = 5000, REFRESH = 10000, TRUTH = "gold label";
  let limits = { max_sentences: 20, max_sentence_length: 2000 }, offered = "", place = -1, request = 0;
  let running = false, touched = false;
  const opened = Date.now();

  // A name that may be broken after a character such as / or _
  function name(text) {
    const parts = text.split(/(?<=[/_:?=,.#-])(?=\w)/);
    return make("bdi", "", ...parts.flatMap((part, i) => (i ? [make("wbr"), part] : [part])));
  }
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const percent = (p) => (p > 0.995 ? "> 99 %" : p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`);

  function tell(message, bad = false) {
    status.textContent = message;
    status.classList.toggle("bad", bad);
  }

  // The state of the run

  async function look() {
    let now;
    try {
      now = await ask("/status");
    } catch (error) {
      if (!offered) tell(error.message, true);
      return;
    }
    limits = now;
    offer(now);
    progress(now.running);
    const results = now.results - Number(section.dataset.results);
    const failures = now.failures - Number(section.dataset.failures);
    const parts = [];
    if (results > 0) parts.push(plural(results, "new result"));
    if (failures > 0) parts.push(plural(failures, "new failure"));
    const grown = now.stamp === section.dataset.stamp ? "" : `${parts.join(" and ") || "The run has changed"}:`;
    // new results appear by themselves while a run is written, unless the reader is doing something
    const active = now.running !== null || running;
    if (grown && active && !touched && !document.hidden && Date.now() - opened >= REFRESH) return void location.reload();
    by("try-news").hidden = !grown || (active && !touched);
    if (by("try-grown").textContent !== grown) by("try-grown").textContent = grown;
    running = now.running !== null || (running && grown !== "");
  }

  function progress(now) {
    const line = by("try-running");
    const said = now ? `Running: ${now.done} of ${now.total}, ${now.action}` : "";
    line.hidden = !now;
    const incomplete = by("incomplete");
    if (incomplete) incomplete.hidden = Boolean(now);
    if (line.textContent !== said) line.textContent = said;
  }

  function offer(now) {
    const text = JSON.stringify([now.encoders, now.excluded]);
    if (text === offered) return;
    offered = text;
    by("try-none").textContent = "There are no stored probes yet. A run stores the probe of each finished set that has one training split; runs of older versions of sentprobe have none, and have to be repeated in a new folder.";
    by("try-none").hidden = now.encoders.length > 0;
    form.hidden = now.encoders.length === 0;
    const before = new Map([...form.querySelectorAll("#try-encoders input")].map((box) => [box.value, box.checked]));
    by("try-encoders").replaceChildren(...now.encoders.map((encoder, i) => {
      const box = make("input");
      box.type = "checkbox";
      box.name = "encoder";
      box.value = encoder.name;
      box.checked = before.has(encoder.name) ? before.get(encoder.name) : !encoder.baseline && !encoder.remote;
      const label = make("label", "", box, name(encoder.short));
      label.title = encoder.name;
      const item = make("li", "", label);
      if (encoder.remote) item.append(make("small", "", "sends your sentences to its server"));
      if (encoder.layers.length) {
        const select = make("select");
        select.id = `try-layer-${i}`;
        select.dataset.encoder = encoder.name;
        select.append(new Option("best on dev, per set", ""), ...encoder.layers.map((name) => new Option(name, name)));
        const of = make("label", "", "layer ", make("span", "sr", `of ${encoder.short} `));
        of.htmlFor = select.id;
        item.append(make("span", "", of, select));
      }
      return item;
    }));
  }

  // Requests

  const mode = () => form.elements.mode.value;
  const lines = (box) => box.value.split(/\r\n|\r|\n/).map((line) => line.trim()).filter(Boolean);

  function requestBody() {
    const compare = mode() === "compare";
    const sentences = compare ? [lines(first).join(" "), lines(second).join(" ")] : lines(text);
    const encoders = [...form.querySelectorAll("input[name=encoder]:checked")].map((box) => box.value);
    const layers = {};
    for (const select of form.querySelectorAll("select[data-encoder]")) {
      if (select.value && encoders.includes(select.dataset.encoder)) layers[select.dataset.encoder] = select.value;
    }
    if (!sentences.length || sentences.includes("")) throw new Error(compare ? "Type two sentences." : "Type a sentence.");
    if (sentences.length > limits.max_sentences) throw new Error(`At most ${limits.max_sentences} sentences at a time.`);
    if (sentences.some((sentence) => [...sentence].length > limits.max_sentence_length)) throw new Error(`A sentence may have at most ${limits.max_sentence_length} characters.`);
    if (!encoders.length) throw new Error("Choose at least one encoder.");
    return { sentences, encoders, layers, compare };
  }

  async function read(event) {
    event.preventDefault();
    const own = ++request;
    go.disabled = true;
    try {
      const body = requestBody();
      tell("Working. An encoder is loaded when it is first used, which may take a while.");
      const found = await ask("/read", body);
      if (own === request) show(found);
    } catch (error) {
      if (own === request) tell(error.message, true);
    } finally {
      if (own === request) go.disabled = false;
    }
  }

  function swap() {
    // each time the next two neighbours, from the middle on
    const words = lines(first).join(" ").split(/\s+/).filter(Boolean);
    if (words.length < 2) return tell("Type a sentence of at least two words to swap two of them.", true);
    place = place < 0 || place >= words.length - 1 ? Math.floor((words.length - 1) / 2) : place;
    const [one, two] = words.slice(place, place + 2);
    words.splice(place, 2, two, one);
    place = (place + 1) % (words.length - 1);
    second.value = words.join(" ");
    tell(`Swapped ${one} and ${two}.`);
  }

  // Answers

  function show(found) {
    const made = found.problems.map((problem) => make("p", "try-problem", make("b", "", name(problem.encoder)), `: ${problem.error}`));
    if (found.cosines) made.push(...compared(found));
    else made.push(...found.sentences.flatMap((sentence) => [heading(sentence), scroll(table(found.encoders, sentence), `“${sentence.text}”`), selections(sentence)]));
    if (found.excluded.length) {
      made.push(make("ul", "try-notes", ...found.excluded.map((left) => make("li", "", name(left.set), ` is not available. ${left.why}`))));
    }
    answer.replaceChildren(...made.filter((part) => part !== null));
    const sets = found.sentences.length ? found.sentences[0].sets.length : 0;
    const failed = new Set(found.problems.map((problem) => problem.encoder)).size;
    const readers = found.encoders.length - failed;
    const trouble = failed ? ` ${plural(failed, "encoder")} failed: see below.` : "";
    const changed = found.cosines ? ` ${plural(changes(found), "prediction")} changed.` : "";
    tell(`Classified ${plural(found.sentences.length, "sentence")}: ${plural(sets, "set")}, ${plural(readers, "encoder")}.${changed}${trouble}`, failed > 0 && readers === 0);
  }

  function heading(sentence) {
    return make("h3", "try-sentence", make("bdi", "", sentence.text), " ", make("small", "", plural(sentence.tokens, "token")));
  }

  function scroll(inside, of) {
    const box = make("div", "scroll", inside);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", `Predictions for ${of}`);
    return box;
  }

  function head(inside, span = 1) {
    const cell = make("th", "", inside);
    cell.scope = span > 1 ? "colgroup" : "col";
    cell.colSpan = span;
    return cell;
  }

  function rowHead(set) {
    const cell = make("th", "", name(set.set), set.question ? make("span", "question", set.question) : null);
    cell.scope = "row";
    cell.title = set.name;
    return cell;
  }

  function named(cell, title) {
    cell.dataset.head = title.replace(/([/_:?=,.#-])(?=\w)/g, "$1\u200b");
    return cell;
  }

  function table(encoders, sentence) {
    const several = encoders.length > 1;
    const heads = [head("set"), ...encoders.map((encoder) => head(name(encoder.short))), several ? head("agreement") : null, head(TRUTH)];
    const rows = sentence.sets.map((set) => make(
      "tr", "", rowHead(set),
      ...set.cells.map((cell, i) => named(reading(cell), encoders[i].short)),
      several ? named(agreement(set), "agreement") : null,
      named(truth(set.truth), TRUTH),
    ));
    return make("table", "try-table", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows));
  }

  function reading(cell) {
    if (!cell) return make("td", "none", "–");
    const found = make("td", "", make("div", "try-label", make("b", "", make("bdi", "", cell.shown)), make("span", "", percent(cell.probability))));
    const bar = make("div", "try-bar", ...cell.classes.map((one) => {
      const part = make("i");
      part.style.width = `${100 * one.probability}%`;
      return part;
    }));
    bar.setAttribute("aria-hidden", "true");
    const more = cell.classes.slice(1).map((one) => `${one.shown}: ${percent(one.probability)}`);
    if (cell.others) more.push(`${cell.others} others: ${percent(cell.rest)}`);
    if (cell.layer !== null) more.push(`layer ${cell.layer}`);
    found.append(bar, make("span", "try-more", more.join(" · ")));
    if (cell.correct !== null) found.append(make("span", cell.correct ? "try-correct" : "try-wrong", cell.correct ? "✓ correct" : "✗ wrong"));
    return found;
  }

  function agreement(set) {
    const { agreement: found } = set;
    if (!found) return make("td", "none", "–");
    if (found.n === found.of) return make("td", "", `all ${found.of} agree`);
    return make("td", "", found.n > 1 ? `${found.n} of ${found.of} agree` : "none agree");
  }

  function truth(found) {
    return make("td", `try-truth${found.labels.length ? "" : " none"}`, make("bdi", "", found.text));
  }

  // Words that give the maxima, of encoders that take the maximum over words

  function selections(sentence) {
    if (!sentence.selection.length) return null;
    const longest = Math.max(...sentence.selection.flatMap((found) => found.words.flatMap((word) => [word.share, word.untrained || 0])), 1e-9);
    return make("div", "try-selections", ...sentence.selection.map((found) => selection(found, longest)));
  }

  function selection(found, longest) {
    const title = make("caption", "", name(found.encoder), make("small", "", "share of dimensions whose maximum a word gives"));
    const both = found.untrained !== null && found.words.some((word) => word.untrained !== null);
    const heads = [head("word"), head(both ? "trained" : "share"), both ? head("untrained") : null];
    const rows = found.words.map((word) => {
      const first = make("th", "", make("bdi", "", word.word));
      first.scope = "row";
      return make("tr", "", first, share(word.share, longest), both ? share(word.untrained, longest, "before") : null);
    });
    return make("table", "try-words", title, make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows));
  }

  function share(value, longest, cls = "") {
    const bar = make("i", cls);
    bar.style.width = `${(100 * value) / longest}%`;
    bar.setAttribute("aria-hidden", "true");
    return make("td", "", make("span", "try-share", bar), make("span", "try-points", `${(100 * value).toFixed(1)} %`));
  }

  // Two sentences

  const differ = (one, two) => Boolean(one && two && one.label !== two.label);

  function changes(found) {
    const [one, two] = found.sentences;
    return one.sets.reduce((n, set, i) => n + set.cells.filter((cell, j) => differ(cell, two.sets[i].cells[j])).length, 0);
  }

  function compared(found) {
    const [one, two] = found.sentences;
    const cosines = make("dl", "try-cosines", ...found.encoders.map((encoder, i) => make("div", "", make("dt", "", name(encoder.short)), make("dd", "", cosine(found.cosines[i])))));
    const above = [head("set"), ...found.encoders.map((encoder) => head(name(encoder.short), 2))];
    above[0].rowSpan = 2;
    const below = found.encoders.flatMap(() => [head("first"), head("second")]);
    const rows = one.sets.map((set, i) => make("tr", "", rowHead(set), ...set.cells.flatMap((cell, j) => {
      const other = two.sets[i].cells[j];
      return [named(reading(cell), `${found.encoders[j].short}, first`), named(against(cell, other), "second")];
    })));
    const made = make("table", "try-table", make("thead", "", make("tr", "", ...above), make("tr", "", ...below)), make("tbody", "", ...rows));
    return [heading(one), heading(two), make("p", "try-kind", "Cosine similarity of the two vectors"), cosines, scroll(made, "the two sentences"), selections(one), selections(two)];
  }

  function against(one, two) {
    const cell = reading(two);
    if (differ(one, two)) {
      cell.classList.add("changed");
      cell.append(make("span", "try-more", `changed from ${one.shown}`));
    } else if (one && two) {
      const points = Math.round(100 * (two.probability - one.probability));
      cell.append(make("span", "try-more", points ? `same, ${points > 0 ? "+" : "−"}${Math.abs(points)} points` : "same"));
    }
    return cell;
  }

  function cosine(found) {
    const values = found.map((one) => one.value).filter((value) => value !== null);
    if (!values.length) return "– (one of them is zero, or missing)";
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(3).replace("-", "−"));
    const of = found.length > 1 ? ` (${found.length} layers)` : found[0].layer !== null ? ` (layer ${found[0].layer})` : "";
    return (low === high ? low : `${low} to ${high}`) + of;
  }

  // Events

  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => { touched = true; }, { capture: true, passive: true });
  function switched() {
    const compare = mode() === "compare";
    by("try-one").hidden = compare;
    by("try-two").hidden = !compare;
    go.textContent = compare ? "Compare" : "Classify";
    if (compare && !second.value.trim()) swap();
  }
  form.addEventListener("submit", read);
  form.addEventListener("change", (event) => event.target.name === "mode" && switched());
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  first.addEventListener("input", () => { place = -1; });
  by("try-swap").addEventListener("click", swap);
  by("try-reload").addEventListener("click", () => location.reload());
  setInterval(() => document.hidden || look(), EVERY);
  look();
  switched();
})();
