"use strict";
(function () {
  var body = document.body, key = "sentprobe-judge/" + body.dataset.key + "/" + body.dataset.sheet;
  var person = document.getElementById("name"), done = document.getElementById("done");
  var kept = {};
  try { kept = JSON.parse(localStorage.getItem(key)) || {}; } catch (error) { kept = {}; }
  var fields = Array.prototype.slice.call(document.querySelectorAll("ol input"));
  var items = fields.map(function (field) { return field.name; })
    .filter(function (name, i, all) { return all.indexOf(name) === i; });
  var possible = Array.prototype.map.call(document.querySelectorAll("#answers option"), function (option) {
    return [option.value.toLowerCase(), option.textContent.toLowerCase()];
  }).reduce(function (all, names) { return all.concat(names); }, []);

  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, function (braces, name) { return name in values ? values[name] : braces; });
  }

  function answers() {
    var found = {};
    fields.forEach(function (field) {
      if (field.type === "radio" ? field.checked : field.value.trim()) { found[field.name] = field.value.trim(); }
    });
    return found;
  }

  function show() {
    var odd = fields.filter(function (field) {
      var wrong = field.type === "text" && field.value.trim() !== ""
        && possible.indexOf(field.value.trim().toLowerCase()) < 0;
      field.setAttribute("aria-invalid", String(wrong));
      return wrong;
    });
    done.textContent = fill(body.dataset.answered, { done: Object.keys(answers()).length, all: items.length })
      + (odd.length ? "; " + fill(body.dataset.odd, { n: odd.length }) : "");
  }

  function keep() {
    try { localStorage.setItem(key, JSON.stringify({ name: person.value, answers: answers() })); } catch (error) { /* full or off */ }
    show();
  }

  person.value = kept.name || "";
  fields.forEach(function (field) {
    var before = (kept.answers || {})[field.name];
    if (field.type === "radio") { field.checked = before === field.value; } else { field.value = before || ""; }
  });
  document.addEventListener("input", keep);
  document.getElementById("save").addEventListener("click", function () {
    var name = person.value.trim().replace(/[^\p{L}\p{N}_-]+/gu, "-"), found = answers();
    if (!name) {
      done.textContent = body.dataset.unnamed;
      person.focus();
      return;
    }
    var lines = ["annotator\titem\tlabel"].concat(items.map(function (item) {
      return [name, item, (found[item] || "").replace(/\s+/g, " ")].join("\t");
    }));
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/tab-separated-values" }));
    link.download = body.dataset.sheet + "." + name + ".tsv";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  show();
})();
