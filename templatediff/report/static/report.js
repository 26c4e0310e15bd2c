// The one script of the report. It reads data that the page holds, and writes text, never markup; it asks the network nothing.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  for (const tool of document.querySelectorAll(".needs-script")) tool.hidden = false;
  if (document.getElementById("leaves")) reader();
  if (document.getElementById("list")) list();
  if (document.getElementById("find")) find();
});

const made = (tag, attributes = {}, ...inside) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
};

const drawn = (tag, attributes, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
};

const folded = (text) => text.normalize("NFKC").toLocaleLowerCase();
const words = (text) => folded(text).split(/\s+/).filter(Boolean);
const counted = (count, word) => `${count.toLocaleString("en")} ${count === 1 ? word : word === "leaf" ? "leaves" : word + "s"}`;

// Calls `act` once the typing has paused.
const unhurried = (act) => {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(act, 120); };
};

// ---- a page: its leaves, their evidence, filters, search, keys

function evidenceOf(data) {
  let before = [];
  return data.leaves.map(([p, k, n, level, change, tokens, shared, rest, reasons, against, hidden]) => {
    before = before.slice(0, shared).concat(rest ? rest.split(" > ") : []);
    const said = (number) => data.words[number];
    return {
      p, k, n, level: said(level), change: said(change), tokens, hidden, selector: before.join(" > "),
      because: reasons.map(said), despite: against.map(said),
    };
  });
}

function reader() {
  const box = document.getElementById("leaves");
  const panel = document.getElementById("details");
  const told = document.getElementById("evidence");
  const count = document.getElementById("count");
  const search = document.getElementById("search");
  const leaves = [...box.children];
  const facts = evidenceOf(JSON.parse(document.getElementById("data").textContent));
  const place = new Map(leaves.map((leaf, number) => [leaf, number]));
  const texts = leaves.map((leaf) => folded(leaf.querySelector("p").textContent));
  const is = (leaf, label) => label === "all" || leaf.classList.contains(label);
  let shown = leaves;
  let chosen = null;

  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", "Leaves of the page");
  for (const leaf of leaves) {
    leaf.setAttribute("role", "option");
    leaf.setAttribute("aria-selected", "false");
    leaf.tabIndex = -1;
  }
  for (const radio of document.getElementsByName("show")) {
    radio.nextElementSibling.querySelector("b").textContent = leaves.filter((leaf) => is(leaf, radio.value)).length.toLocaleString("en");
  }

  const tell = (leaf, aloud) => {
    told.setAttribute("aria-live", aloud ? "polite" : "off");
    panel.classList.toggle("idle", !leaf);
    told.replaceChildren(...(leaf ? evidence(leaf, facts[place.get(leaf)]) : [made("p", {}, "Choose a leaf to see why it was kept or dropped.")]));
  };

  const choose = (leaf, focus = true) => {
    if (chosen) { chosen.setAttribute("aria-selected", "false"); chosen.tabIndex = -1; }
    chosen = leaf;
    if (!leaf) { if (shown.length) shown[0].tabIndex = 0; return tell(null, false); }
    leaf.setAttribute("aria-selected", "true");
    leaf.tabIndex = 0;
    if (focus) { leaf.focus({ preventScroll: true }); leaf.scrollIntoView({ block: "nearest" }); }
    tell(leaf, true);
  };

  const apply = () => {
    const label = document.querySelector("[name=show]:checked").value;
    const wanted = words(search.value);
    const found = (leaf) => wanted.every((word) => texts[place.get(leaf)].includes(word));
    shown = leaves.filter((leaf) => is(leaf, label) && found(leaf));
    // The most doubtful first; the order of the page breaks ties.
    if (label === "q") shown.sort((one, other) => doubt(facts[place.get(one)]) - doubt(facts[place.get(other)]) || place.get(one) - place.get(other));
    const visible = new Set(shown);
    for (const leaf of leaves) {
      leaf.hidden = !visible.has(leaf);
      leaf.classList.toggle("hit", wanted.length > 0 && visible.has(leaf));
      leaf.tabIndex = -1;
    }
    // Whatever is moved loses the focus: nothing is moved without need, and the chosen leaf gets it back.
    const focused = chosen !== null && document.activeElement === chosen;
    const order = label === "q" ? [...shown, ...leaves.filter((leaf) => leaf.hidden)] : leaves;
    if (order.some((leaf, number) => box.children[number] !== leaf)) box.append(...order);
    count.textContent = label === "all" && !wanted.length ? "" : shown.length ? counted(shown.length, "leaf") : "no leaf is like that";
    if (!visible.has(chosen)) return choose(null);
    chosen.tabIndex = 0;
    if (focused) chosen.focus();
  };

  const step = (by, from = chosen) => {
    if (!shown.length) return;
    const at = shown.indexOf(from);
    choose(shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + by, 0), shown.length - 1)]);
  };

  const nextDoubtful = () => {
    const at = shown.indexOf(chosen);
    const order = [...shown.slice(at + 1), ...shown.slice(0, at + 1)];
    const next = order.find((leaf) => is(leaf, "q"));
    if (next) choose(next); else count.textContent = "no doubtful leaf is shown";
  };

  const show = (label) => {
    const radio = [...document.getElementsByName("show")].find((one) => one.value === label);
    radio.checked = true;
    apply();
  };

  const keys = {
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    Home: () => choose(shown[0] ?? null), End: () => choose(shown.at(-1) ?? null), d: nextDoubtful,
    "/": () => search.focus(),
    1: () => show("all"), 2: () => show("q"), 3: () => show("k"), 4: () => show("d"),
    Escape: () => choose(null), Enter: () => {},
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    const inLeaf = box.contains(event.target);
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; apply(); step(1, null); event.preventDefault(); }
      if (event.key === "ArrowDown" || event.key === "Enter") { apply(); step(1, null); event.preventDefault(); }
      return;
    }
    if (/^(Arrow|Home|End|Enter)/.test(event.key) && !inLeaf) return;  // elsewhere these scroll, and move between the filters
    event.preventDefault();
    keys[event.key]();
  });
  search.addEventListener("input", unhurried(apply));
  for (const radio of document.getElementsByName("show")) radio.addEventListener("change", apply);
  box.addEventListener("click", (event) => {
    const leaf = event.target.closest("li");
    if (leaf) choose(leaf);
  });
  document.getElementById("close").addEventListener("click", () => choose(null));
  box.addEventListener("focusin", (event) => {
    const leaf = event.target.closest("li");
    if (leaf && leaf !== chosen) choose(leaf, false);
  });
  box.addEventListener("mouseover", (event) => {
    const leaf = event.target.closest("li");
    if (leaf) tell(leaf, false);
  });
  box.addEventListener("mouseleave", () => tell(chosen, false));

  tell(null, false);
  if (location.hash === "#doubtful" && leaves.some((leaf) => is(leaf, "q"))) show("q"); else apply();
}

const doubt = (fact) => Math.abs(fact.p - 0.5);

function evidence(leaf, fact) {
  const kept = leaf.classList.contains("k");
  const score = fact.p.toFixed(3).replace(/^0/, "");
  const parts = [made("h2", {}, kept ? "Kept" : "Dropped", leaf.classList.contains("q") ? ", doubtful" : "")];
  parts.push(scale(fact.p, `P(content) ${score}`));
  const listed = (rows) => {
    const list = made("dl");
    for (const [name, value] of rows) list.append(made("dt", {}, name), made("dd", {}, ...[value].flat()));
    return list;
  };
  if (fact.n && fact.n <= 30) parts.push(dots(fact.k, fact.n));
  parts.push(listed([["P(content)", score], ...(fact.n ? [["on", `${fact.k} of ${fact.n} other pages of the ${fact.level}`]] : [])]));
  for (const [title, said] of [["Because", fact.because], ["Despite", fact.despite]]) {
    if (said.length) parts.push(made("h3", {}, title), made("ul", {}, ...said.map((reason) => made("li", {}, reason))));
  }
  const rows = [["change", fact.change]];
  for (const mark of leaf.querySelectorAll("mark")) {
    const value = made("bdi", {}, mark.textContent.length > 120 ? mark.textContent.slice(0, 119) + "…" : mark.textContent);
    rows.push(["slot", [`${mark.dataset.type}: `, value]]);
  }
  rows.push(["tokens", String(fact.tokens)]);
  if (fact.hidden) rows.push(["hidden", "from readers, by its markup"]);
  parts.push(listed(rows), made("code", {}, fact.selector));
  return parts;
}

// Where the score lies between template and content.
function scale(p, label) {
  const x = 8 + p * 264;
  return drawn("svg", { viewBox: "0 0 280 34", role: "img", "aria-label": label },
    drawn("rect", { class: "zone", x: 8 + 0.4 * 264, y: 4, width: 0.2 * 264, height: 12 }),
    drawn("line", { class: "track", x1: 8, x2: 272, y1: 10, y2: 10 }),
    drawn("circle", { class: "needle", cx: x, cy: 10, r: 6 }),
    drawn("text", { x: 2, y: 31 }, "template"),
    drawn("text", { x: 278, y: 31, "text-anchor": "end" }, "content"));
}

// One dot a sibling: filled for those that have the text too.
function dots(k, n) {
  const rows = Math.ceil(n / 15);
  const picture = drawn("svg", { viewBox: `0 0 280 ${rows * 18 + 2}`, role: "img", "aria-label": `on ${k} of ${n} other pages` });
  for (let number = 0; number < n; number++) {
    picture.append(drawn("circle", { class: number < k ? "has" : "lacks", cx: 9 + (number % 15) * 18, cy: 10 + Math.floor(number / 15) * 18, r: 5.5 }));
  }
  return picture;
}

// ---- a list of pages

function list() {
  const body = document.querySelector("#list tbody");
  const narrow = document.getElementById("narrow");
  const order = document.getElementById("order");
  const count = document.getElementById("count");
  const rows = [...body.rows];
  const texts = rows.map((row) => folded(row.cells[0].textContent));
  const by = {
    0: () => 0,
    3: (one, other) => one.dataset.c - other.dataset.c,
    4: (one, other) => one.dataset.k - other.dataset.k,
    5: (one, other) => other.dataset.q - one.dataset.q,
  };
  const apply = () => {
    const wanted = words(narrow.value);
    let shown = 0;
    rows.forEach((row, number) => {
      row.hidden = !wanted.every((word) => texts[number].includes(word));
      shown += !row.hidden;
    });
    body.append(...[...rows].sort(by[order.value]));
    count.textContent = wanted.length ? counted(shown, "page") : "";
  };
  narrow.addEventListener("input", unhurried(apply));
  order.addEventListener("change", apply);
  apply();
}

// ---- all pages

function find() {
  const most = 200;
  const field = document.getElementById("find");
  const box = document.getElementById("found");
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll("script.rows")].flatMap((part) => JSON.parse(part.textContent));
  const texts = rows.map(([, title, path, site]) => folded(`${title} ${path} ${site}`));
  const apply = () => {
    const wanted = words(field.value);
    const found = rows.filter((row, number) => wanted.every((word) => texts[number].includes(word)));
    box.replaceChildren(...found.slice(0, most).map(([href, title, path, site, verdict, doubtful]) => made("li", {},
      made("a", { href }, made("bdi", {}, title)),
      made("span", { class: "quiet" }, made("bdi", { class: "path" }, path), ` · ${verdict}${doubtful ? ` · ${doubtful} doubtful` : ""}`))));
    count.textContent = counted(found.length, "page") + (found.length > most ? `, the first ${most} shown` : "");
  };
  field.addEventListener("input", unhurried(apply));
  apply();
  field.focus();
}
