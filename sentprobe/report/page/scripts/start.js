// What the other scripts share; the theme; copying. Data is inserted as textContent only: no text becomes markup.
"use strict";
window.sentprobe = (() => {
  const root = document.documentElement;
  root.classList.replace("no-js", "js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  /** An element with this text; children may be elements. */
  function make(tag, text, attributes) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    return element;
  }

  function option(value, text) {
    return make("option", text, { value: String(value) });
  }

  /** Tell screen readers. */
  function announce(text) {
    byId("status").textContent = text;
  }

  // Theme: that of the system until the button is used; print is always light
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = byId("theme");
  function label() {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
  }
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();

  // Copying: what a button copies, by name
  const copies = {};
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { // a page opened as a file may have no clipboard
      const area = make("textarea", null, { "aria-hidden": "true", class: "sr" });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }
  document.addEventListener("click", async (event) => {
    const pressed = event.target.closest("[data-copy], [data-copy-code]");
    if (!pressed) return;
    const code = pressed.parentElement.querySelector("code");
    const done = await copy(pressed.dataset.copy ? copies[pressed.dataset.copy]() : code.textContent);
    const name = pressed.dataset.name || (pressed.dataset.name = pressed.textContent);
    pressed.textContent = done ? "Copied" : "Copying failed";
    announce(pressed.textContent);
    setTimeout(() => (pressed.textContent = name), 1500);
  });

  // What is wider than its frame says so, until its end is in view
  const frames = new ResizeObserver((seen) => seen.forEach((s) => cue(s.target)));
  function cue(frame) {
    const wide = frame.scrollWidth > frame.clientWidth + 1;
    frame.classList.toggle("more", wide && frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 1);
    let line = frame.nextElementSibling;
    if (!line?.classList.contains("cue")) {
      if (!wide) return;
      line = make("p", "Scroll sideways for more \u2192", { class: "cue", "aria-hidden": "true" });
      frame.after(line);
    }
    line.hidden = !wide;
  }
  function watch(frame) {
    frames.observe(frame);
    frame.addEventListener("scroll", () => cue(frame), { passive: true });
  }
  document.querySelectorAll(".scroll").forEach(watch);

  // In print details are open, except for long lists, passed checks and tables of controls; afterwards they are closed again
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open]):not(.numbers, .long, .passed, .group)")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  return { data, byId, make, option, announce, watch, copies };
})();
