// Words of both languages in two dimensions, before and after mapping, as SVG with text nodes.
(() => {
  "use strict";
  const { data, byId } = window.sentprobe;
  const { ask, make, shown, short, look_up, map } = window.sentprobe.words;
  const panels = byId("panels"), drawing = byId("drawing"), list = byId("pairs");
  const MOST = 50, FONT = 12, HEIGHT = 13, GAP = 5, EDGE = 12, LONGEST = 22, OUTSIDE = 0.02;
  const pen = document.createElement("canvas").getContext("2d");
  let found = null, request = 0, width = 0;

  function svg(tag, attributes, ...inside) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  }
  const label = (word) => short(shown(word), LONGEST);

  // Points in pixels, with room at the edges for labels; few outliers are outside, or all others would be in the middle
  function scaled(points, wide, high) {
    const range = (k, size, edge) => {
      const values = points.map((point) => point[k]).sort((a, b) => a - b), out = Math.floor(OUTSIDE * values.length);
      const low = values[out], span = values[values.length - 1 - out] - low || 1;
      return (value) => edge + ((value - low) / span) * (size - 2 * edge);
    };
    const x = range(0, wide, Math.min(60, wide / 6)), y = range(1, high, EDGE);
    return points.map((point) => [x(point[0]), high - y(point[1])]);
  }

  const overlaps = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const dot = ([x, y]) => [x - 4, y - 4, x + 4, y + 4];

  // Where the label of a point can go: right of it, left, above or below
  function places([x, y], long) {
    const half = HEIGHT / 2;
    return [
      [x + GAP, y - half, x + GAP + long, y + half], [x - GAP - long, y - half, x - GAP, y + half],
      [x - long / 2, y - 5 - HEIGHT, x + long / 2, y - 5], [x - long / 2, y + 5, x + long / 2, y + 5 + HEIGHT],
    ];
  }

  // Pairs in order, as long as both labels fit in all panels; returns [pair, boxes of its labels by panel] of each
  function choose(words, views, wide, high) {
    const n = words.length / 2, taken = views.map(() => []), chosen = [];
    pen.font = `${FONT}px ${getComputedStyle(panels).fontFamily}`;
    for (let pair = 0; pair < n && chosen.length < MOST; pair += 1) {
      const own = views.map((points, v) => fit(words, points, pair, n, taken[v], wide, high));
      if (own.includes(null)) continue;
      own.forEach((boxes, v) => taken[v].push(...boxes, dot(views[v][pair]), dot(views[v][pair + n])));
      chosen.push([pair, own]);
    }
    return chosen;
  }

  function fit(words, points, pair, n, taken, wide, high) {
    const dots = [points[pair], points[pair + n]];
    const around = [...taken, ...dots.map(dot)], boxes = [];
    const inside = ([left, top, right, bottom]) => left >= 0 && right <= wide && top >= 0 && bottom <= high;
    if (dots.map(dot).some((one) => !inside(one) || taken.some((box) => overlaps(one, box)))) return null;
    for (const [k, one] of dots.entries()) {
      const long = pen.measureText(label(words[pair + k * n])).width + 2;
      const box = places(one, long).find((place) => inside(place) && !around.some((other) => overlaps(place, other)));
      if (!box) return null;
      boxes.push(box);
      around.push(box);
    }
    return boxes;
  }

  function panel(title, points, chosen, v, wide, high) {
    const { words } = found, n = words.length / 2;
    const groups = chosen.map(([pair, own]) => {
      const [one, two] = [points[pair], points[pair + n]];
      const title = `${shown(words[pair])} (${data.names[0]}) – ${shown(words[pair + n])} (${data.names[1]})`;
      const marks = [
        svg("circle", { class: "source", cx: one[0], cy: one[1], r: 3.5 }),
        svg("rect", { class: "target", x: two[0] - 3, y: two[1] - 3, width: 6, height: 6 }),
      ];
      const labels = own[v].map((box, k) => {
        const text = svg("text", { class: k ? "target" : "source", x: (box[0] + box[2]) / 2, y: box[3] - 3, "text-anchor": "middle" }, label(words[pair + k * n]));
        text.addEventListener("click", () => {
          look_up(words[pair + k * n].word);
          byId("words").scrollIntoView();
        });
        return text;
      });
      return svg("g", { "data-pair": pair }, svg("title", {}, title), svg("line", { x1: one[0], y1: one[1], x2: two[0], y2: two[1] }), ...marks, ...labels);
    });
    const image = svg("svg", { viewBox: `0 0 ${wide} ${high}`, height: high, role: "img", "aria-label": `${title}: ${chosen.length} translation pairs in two dimensions` }, ...groups);
    return make("figure", "", make("figcaption", "", title), image);
  }

  function draw() {
    if (!found) return;
    const views = [["Before mapping", found.before], [`After mapping: ${map.selectedOptions[0]?.textContent ?? "final"}`, found.after]].filter((view) => view[1]);
    panels.replaceChildren(...views.map((view) => make("figure", "", make("figcaption", "", view[0]))));
    width = panels.clientWidth;
    if (!width) return; // not laid out yet: the observer below draws it then
    const wide = Math.floor(panels.firstChild.clientWidth) - 2, high = Math.round(Math.min(1.25 * wide, 720));
    const points = views.map((view) => scaled(view[1], wide, high));
    const chosen = choose(found.words, points, wide, high);
    panels.replaceChildren(...views.map((view, v) => panel(view[0], points[v], chosen, v, wide, high)));
    const n = found.words.length / 2;
    list.hidden = !chosen.length;
    list.querySelector("ul").replaceChildren(...chosen.map(([pair]) => make("li", "", make("bdi", "", shown(found.words[pair])), " – ", make("bdi", "", shown(found.words[pair + n])))));
    drawing.textContent = chosen.length ? "" : "There are no pairs of words that are each other’s translations.";
  }

  async function load() {
    const own = ++request;
    drawing.textContent = found ? "" : "Choosing words…";
    try {
      const made = await ask("/picture", { map: map.value || "final" });
      if (own !== request) return;
      found = made;
      draw();
    } catch (error) {
      if (own === request) drawing.textContent = error.message;
    }
  }

  // A pair that is pointed at stands out in both panels
  panels.addEventListener("mouseover", (event) => {
    const group = event.target.closest("g");
    panels.classList.toggle("choosing", Boolean(group));
    for (const one of panels.querySelectorAll("g")) one.classList.toggle("on", Boolean(group) && one.dataset.pair === group.dataset.pair);
  });
  panels.addEventListener("mouseleave", () => {
    panels.classList.remove("choosing");
    for (const one of panels.querySelectorAll("g.on")) one.classList.remove("on");
  });
  new ResizeObserver(() => {
    if (panels.clientWidth !== width) draw();
  }).observe(panels);
  document.addEventListener("map", load);
  load();
})();
