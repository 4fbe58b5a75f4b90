// Translate a word: asks the server of the page. Answers are inserted as text nodes, never as HTML.
(() => {
  "use strict";
  const { data, byId } = window.sentprobe, { make, ask } = window.sentprobe.live;
  const form = byId("ask"), box = byId("word"), map = byId("map"), answer = byId("answer");
  const SIDES = { source: 0, target: 1 }, EVERY = 1500;
  let request = 0, timer = null, listed = "";

  const shown = (word) => word.shown || word.word;
  // At most so many characters of it; titles have the rest
  function short(text, most = 60) {
    const letters = [...text];
    return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
  }
  const name = (side) => data.names[SIDES[side]];
  const other = (side) => (side === "source" ? "target" : "source");
  const number = (value) => value.toFixed(3).replace(/^-0\.000$/, "0.000").replace("-", "−");

  function tell(message, bad = false, where = "told") {
    byId(where).textContent = message;
    byId(where).classList.toggle("bad", bad);
  }

  // The maps, and whether CSLS is ready

  async function look() {
    const now = await ask("/status");
    const text = JSON.stringify(now.maps);
    if (text !== listed) {
      const chosen = map.value || "final";
      map.replaceChildren(...now.maps.map((one) => new Option(one.label, one.name)));
      map.value = now.maps.some((one) => one.name === chosen) ? chosen : "final";
      listed = text;
    }
    return now.csls;
  }

  async function wait() {
    clearTimeout(timer);
    let own;
    try {
      own = (await look())[map.value];
    } catch (error) {
      return tell(error.message, true, "csls");
    }
    if (own.state === "ready") return translate(false);
    if (own.state === "failed") return tell(`CSLS is not available: ${own.error}`, true, "csls");
    const far = own.state === "computing" ? `: ${Math.floor(100 * own.share)} %` : " after that of another map";
    tell(`CSLS is being computed${far}. NN and neighbours are complete.`, false, "csls");
    timer = setTimeout(wait, EVERY);
  }

  // Requests

  async function translate(focus) {
    const own = ++request, word = box.value.trim();
    clearTimeout(timer);
    if (!word) return tell("Type a word.", true);
    try {
      const found = await ask("/translate", { word, map: map.value || "final" });
      if (own !== request) return;
      show(found, focus);
      if (found.csls === "ready") tell("", false, "csls");
      else wait();
    } catch (error) {
      if (own === request) tell(error.message, true);
    }
  }

  function look_up(word, focus = true) {
    box.value = word;
    translate(focus);
  }

  // Answers

  function link(word) {
    const button = make("button", "word", make("bdi", "", short(shown(word))));
    button.type = "button";
    button.title = `${shown(word)}: word ${word.rank.toLocaleString("en")} by frequency`;
    button.addEventListener("click", () => look_up(word.word));
    return button;
  }

  // With the places of words in another list, rows say what they were there; otherwise they have bars
  function list(title, detail, words, places) {
    const caption = make("caption", "", title, make("small", "", make("bdi", "", detail)));
    if (!words) return make("table", "", caption, make("tbody", "", make("tr", "", make("td", "waiting", "not ready yet"))));
    const rows = words.map((word, i) => {
      const first = make("th", "", link(word));
      first.scope = "row";
      const beside = places ? moved(places.get(word.word), i) : bar(word.score);
      return make("tr", "", first, make("td", "", make("span", "score", beside, make("span", "", number(word.score)))));
    });
    return make("table", "", caption, make("tbody", "", ...rows));
  }

  function bar(score) {
    const inside = make("i"), made = make("span", "bar", inside);
    inside.style.width = `${100 * Math.max(0, Math.min(1, score))}%`;
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  function moved(before, now) {
    return before === now ? null : make("span", "moved", before === undefined ? "not in NN" : `NN ${before + 1}`);
  }

  function block(found) {
    const own = name(found.side), there = name(other(found.side));
    const heading = make("h3", "", make("bdi", "", shown(found)), " ", make("small", "", make("bdi", "", own), `, word ${found.rank.toLocaleString("en")} by frequency`));
    heading.tabIndex = -1;
    const places = new Map(found.nn.map((word, i) => [word.word, i]));
    const lists = make(
      "div", "lists",
      list("NN: cosine", `in ${there}`, found.nn),
      list("CSLS", `in ${there}`, found.csls, places),
      list("Neighbours: cosine", `in ${own}`, found.neighbours),
    );
    return make("article", "found", heading, lists);
  }

  function show(found, focus) {
    const blocks = found.sides.map(block);
    if (!blocks.length && found.suggestions.length) {
      blocks.push(make("ul", "suggestions", ...found.suggestions.map((word) => {
        const button = make("button", "", make("bdi", "", short(shown(word))), " ", make("small", "", make("bdi", "", name(word.side))));
        button.type = "button";
        button.addEventListener("click", () => look_up(word.word));
        return make("li", "", button);
      })));
    }
    answer.replaceChildren(...blocks);
    if (!found.sides.length) tell(`Neither language has a vector of “${short(found.typed)}”.${found.suggestions.length ? " Similar spellings:" : ""}`, true);
    else {
      const first = found.sides[0], word = `“${short(shown(first))}”`;
      const instead = found.instead ? `“${short(found.typed)}” has no vector; this is ${word}. ` : "";
      tell(instead + (found.sides.length > 1 ? `${word} is a word of both languages.` : `${word} is a word of ${name(first.side)} only.`));
    }
    const heading = answer.querySelector("h3, button");
    if (focus && heading) heading.focus();
  }

  // Events

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    translate(false);
  });
  map.addEventListener("change", () => {
    translate(false);
    document.dispatchEvent(new Event("map"));
  });
  window.sentprobe.words = { ask, make, shown, short, look_up, map };
  look().then(() => translate(false), (error) => tell(error.message, true));
})();
