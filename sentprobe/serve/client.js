// What the live pages share: elements of text, and requests to the server of the page.
(() => {
  "use strict";
  // make("td", "none", "–"), or with children in the place of the text; never HTML
  function make(tag, cls, ...inside) {
    const element = document.createElement(tag);
    if (cls) element.className = cls;
    element.append(...inside.filter((part) => part !== null));
    return element;
  }

  async function ask(path, body) {
    const options = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      throw new Error("The server does not respond; is `sentprobe serve` still running?");
    }
    const found = await response.json();
    if (!response.ok) throw new Error(found.error);
    return found;
  }

  window.sentprobe.live = { make, ask };
})();
