// The page of `hyperheat explore`: lists, filters, tabs, and what the server says of what is chosen.
"use strict";

const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const latest = new Map(); // the newest request for each part of the page

/** Put what the server answers into a part of the page; true if nothing newer was asked for meanwhile. */
async function load(target, address) {
  const mine = {};
  latest.set(target, mine);
  target.classList.add("busy");
  let text, ok;
  try {
    const answer = await fetch(address, { credentials: "omit" });
    [text, ok] = [await answer.text(), answer.ok];
  } catch {
    [text, ok] = ["The server does not answer. Is hyperheat explore still running?", false];
  }
  if (latest.get(target) !== mine) return false;
  target.classList.remove("busy");
  if (ok) {
    target.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  } else {
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.setAttribute("role", "alert");
    problem.innerText = new DOMParser().parseFromString(text, "text/html").body.textContent.trim();
    target.replaceChildren(problem);
  }
  return ok;
}

// Tabs: a click or an arrow key chooses one.

function choose_tab(tab) {
  for (const other of all('[role="tab"]', tab.parentElement)) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (tab.id === "tab-graph") draw();
}

for (const list of all('[role="tablist"]')) {
  const tabs = all('[role="tab"]', list);
  list.addEventListener("click", (event) => event.target.role === "tab" && choose_tab(event.target));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = tabs[(at + step + tabs.length) % tabs.length];
    choose_tab(next);
    next.focus();
  });
}

// Lists: arrow keys, Home and End move, Enter and clicks choose. One item is in the tab order.

function visible_items(list) {
  return all('[role="option"]', list).filter((item) => !item.hidden);
}

function hold_focus(list) {
  const items = visible_items(list);
  const kept = items.find((item) => item.tabIndex === 0) ?? items[0];
  for (const item of all('[role="option"]', list)) item.tabIndex = item === kept ? 0 : -1;
}

function make_list(list, open) {
  const choose = (item) => {
    for (const other of all('[role="option"]', list)) {
      other.setAttribute("aria-selected", String(other === item));
      other.tabIndex = other === item ? 0 : -1;
    }
    item.focus();
    open(item);
  };
  list.addEventListener("click", (event) => {
    const item = event.target.closest('[role="option"]');
    if (item) choose(item);
  });
  list.addEventListener("keydown", (event) => {
    const items = visible_items(list);
    const at = items.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      if (at >= 0) choose(items[at]);
    } else if (next === undefined) {
      return;
    } else if (items[next]) {
      items[Math.max(at, 0)].tabIndex = -1;
      items[next].tabIndex = 0;
      items[next].focus();
    }
    event.preventDefault();
  });
  hold_focus(list);
}

// Code: findings, files, functions and places.

let shown = null; // {file, line} of the function that is shown
let drawn = null; // the function that the drawing is of

async function open_function(file, line, at) {
  shown = { file, line };
  drawn = null;
  const loaded = load(byId("panel-heat"), `function?file=${file}&line=${line}`);
  if (!byId("panel-graph").hidden) draw();
  if (at) open_place(`at=${at}`);
  else byId("details").replaceChildren();
  if (!(await loaded)) return;
  byId("head").replaceChildren(byId("panel-heat").querySelector(".head"));
  mark_places();
}

async function open_place(name) {
  const { file, line } = shown;
  if (!(await load(byId("details"), `place?file=${file}&line=${line}&${name}`))) return;
  mark_places();
  const why = byId("why");
  if (why) load(why, why.dataset.address);
}

/** Outline the pieces of the place that the details are about, and keep one piece in the tab order. */
function mark_places() {
  const pieces = all("#panel-heat [data-places]");
  const chosen = byId("why") && new URLSearchParams(byId("why").dataset.address.split("?")[1]).get("place");
  for (const piece of pieces) {
    piece.classList.toggle("chosen", piece.dataset.places.split(" ").includes(chosen));
    piece.tabIndex = -1;
  }
  const first = pieces.find((piece) => piece.classList.contains("chosen")) ?? pieces[0];
  if (first) {
    first.tabIndex = 0;
    if (chosen) first.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

const innermost = (piece) => `place=${piece.dataset.places.split(" ")[0]}`;

function move_in_code(event) {
  const pieces = all("#panel-heat [data-places]");
  const at = pieces.indexOf(document.activeElement);
  if (at < 0) return;
  const line = (piece) => piece.closest(".line").offsetTop;
  const here = line(pieces[at]);
  const next = {
    ArrowRight: () => pieces[at + 1],
    ArrowLeft: () => pieces[at - 1],
    ArrowDown: () => pieces.find((piece) => line(piece) > here),
    ArrowUp: () => pieces.findLast((piece) => line(piece) < here),
  }[event.key]?.();
  if (event.key === "Enter" || event.key === " ") open_place(innermost(pieces[at]));
  else if (!event.key.startsWith("Arrow")) return;
  event.preventDefault();
  if (!next) return;
  pieces[at].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// The hypergraph.

async function draw(relations) {
  if (!shown || (drawn === `${shown.file} ${shown.line}` && !relations)) return;
  drawn = `${shown.file} ${shown.line}`;
  const chosen = relations ? `&relations=${relations.join(",")}` : "";
  const panel = byId("panel-graph");
  const focused = relations && (document.activeElement.value ?? null);
  if (!(await load(panel, `graph?file=${shown.file}&line=${shown.line}${chosen}`))) return;
  const same = focused !== null && panel.querySelector(`#relations input[value="${CSS.escape(focused)}"]`);
  if (same) same.focus();
  const first = panel.querySelector(".hyperedge");
  if (first) first.setAttribute("tabindex", "0");
}

function switch_relations(event) {
  const boxes = all('#relations input[name="relation"]');
  if (event.target.id === "all-calls") {
    for (const box of all('input[name="relation"]', event.target.closest("fieldset"))) box.checked = event.target.checked;
  }
  draw(boxes.filter((box) => box.checked).map((box) => box.value));
}

/** Show some edges alone, a single one with the parts of its nodes; without any, show all again. */
function choose_edges(edges) {
  const drawing = document.querySelector(".overlay");
  if (!drawing) return;
  const numbers = new Set(edges.map((edge) => edge.dataset.edge));
  const nodes = new Set(edges.flatMap((edge) => edge.dataset.nodes.split(" ")));
  drawing.classList.toggle("chosen", edges.length > 0);
  drawing.classList.toggle("one", edges.length === 1);
  for (const part of all("[data-edge]", drawing)) part.classList.toggle("chosen", numbers.has(part.dataset.edge));
  for (const place of all("[data-node]", drawing)) place.classList.toggle("chosen", nodes.has(place.dataset.node));
}

function tell_edges(title, edges) {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const list = document.createElement("ul");
  list.className = "edges";
  for (const edge of edges) {
    const [item, button] = [document.createElement("li"), document.createElement("button")];
    button.type = "button";
    button.textContent = edge.getAttribute("aria-label");
    button.addEventListener("click", () => choose_edges([edge]));
    item.append(button);
    list.append(item);
  }
  byId("details").replaceChildren(heading, list);
}

function choose_in_drawing(target) {
  const edge = target.closest(".hyperedge") ?? edge_of(target.closest(".spokes"));
  const place = target.closest(".place");
  if (edge) {
    choose_edges([edge]);
    tell_edges(`Edge e${edge.dataset.edge}`, [edge]);
  } else if (place) {
    const edges = all(".hyperedge").filter((one) => one.dataset.nodes.split(" ").includes(place.dataset.node));
    choose_edges(edges);
    tell_edges(place.querySelector("title").textContent, edges);
  } else {
    choose_edges([]);
  }
}

function edge_of(spokes) {
  return spokes && document.querySelector(`.hyperedge[data-edge="${spokes.dataset.edge}"]`);
}

function move_in_drawing(event) {
  const edge = event.target.closest(".hyperedge");
  if (!edge) return;
  const lane = all(".hyperedge", edge.parentElement);
  const lanes = all(".overlay > g").filter((group) => group.querySelector(".hyperedge"));
  const at = lane.indexOf(edge);
  const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  let next = { ArrowDown: lane[at + 1], ArrowUp: lane[at - 1] }[event.key];
  if (beside) {
    const other = lanes[lanes.indexOf(edge.parentElement) + beside];
    const top = (one) => one.querySelector(".box").y.baseVal.value;
    next = other && all(".hyperedge", other).reduce((a, b) => (Math.abs(top(a) - top(edge)) <= Math.abs(top(b) - top(edge)) ? a : b));
  }
  if (event.key === "Enter" || event.key === " ") choose_in_drawing(edge);
  else if (!event.key.startsWith("Arrow")) return;
  event.preventDefault();
  if (!next) return;
  edge.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

// Filters and order of the findings.

function filter_findings() {
  const wanted = new FormData(byId("filters"));
  const words = wanted.get("search").toLowerCase().split(/\s+/).filter(Boolean);
  const tiers = wanted.getAll("tier");
  const list = byId("findings");
  const items = all('[role="option"]', list);
  for (const item of items) {
    const text = item.textContent.toLowerCase() + " " + item.dataset.kind.toLowerCase();
    item.hidden = !(
      tiers.includes(item.dataset.tier) &&
      [item.dataset.kind, ""].includes(wanted.get("kind")) &&
      [item.dataset.path, ""].includes(wanted.get("path")) &&
      words.every((word) => text.includes(word))
    );
  }
  const by_sure = (a, b) => b.dataset.sure - a.dataset.sure;
  const by_text = (name) => (a, b) => (a.dataset[name] < b.dataset[name] ? -1 : a.dataset[name] > b.dataset[name] ? 1 : 0);
  const by_place = (a, b) => by_text("path")(a, b) || a.dataset.start - b.dataset.start;
  const orders = { sure: by_sure, tier: by_text("tier"), kind: by_text("kind"), path: by_place };
  items.sort((a, b) => orders[wanted.get("sort")](a, b) || by_sure(a, b) || by_place(a, b));
  list.append(...items);
  const count = items.filter((item) => !item.hidden).length;
  byId("status").textContent = `${count} of ${items.length} findings`;
  hold_focus(list);
}

function start_code() {
  make_list(byId("findings"), (item) => open_function(item.dataset.file, item.dataset.line, item.dataset.at));
  make_list(byId("files"), (item) => open_function(item.dataset.file, item.dataset.line));
  byId("filters").addEventListener("input", filter_findings);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  filter_findings();
  byId("panel-heat").addEventListener("click", (event) => {
    const piece = event.target.closest("[data-places]");
    if (!piece) return;
    piece.focus();
    open_place(innermost(piece));
  });
  byId("panel-heat").addEventListener("keydown", move_in_code);
  byId("head").addEventListener("change", (event) => {
    if (event.target.id === "function") open_function(event.target.dataset.file, event.target.value);
  });
  byId("panel-graph").addEventListener("change", switch_relations);
  byId("panel-graph").addEventListener("submit", (event) => event.preventDefault());
  byId("panel-graph").addEventListener("click", (event) => event.target.closest(".canvas") && choose_in_drawing(event.target));
  byId("panel-graph").addEventListener("keydown", move_in_drawing);
  byId("details").addEventListener("click", (event) => {
    const other = event.target.closest("button[data-place]");
    if (other) open_place(`place=${other.dataset.place}`);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (document.querySelector(".overlay.chosen")) return choose_edges([]);
    const chosen = document.querySelector('.choices [aria-selected="true"]:not([hidden])');
    chosen?.focus();
  });
}

// Statements: the form of a question, answers and evidence.

function question() {
  const fields = new URLSearchParams(new FormData(byId("question")));
  return fields.toString();
}

function start_statements() {
  const form = byId("question");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    byId("details").replaceChildren();
    if (!(await load(byId("answers"), `answers?${question()}`))) return;
    const list = byId("answers").querySelector('[role="listbox"]');
    if (!list) return;
    const asked = question();
    make_list(list, (item) => load(byId("details"), `evidence?${asked}&rank=${item.dataset.rank}`));
    list.querySelector('[role="option"]')?.click();
  });
  let waiting;
  form.addEventListener("input", (event) => {
    const list = event.target.list;
    if (!list) return;
    clearTimeout(waiting);
    const text = encodeURIComponent(event.target.value);
    waiting = setTimeout(() => load(list, `names?of=${event.target.dataset.of}&text=${text}`), 120);
  });
  byId("more").addEventListener("click", () => {
    const row = byId("qualifiers").firstElementChild.cloneNode(true);
    for (const input of all("input", row)) input.value = "";
    byId("qualifiers").append(row);
    row.querySelector("input").focus();
  });
  byId("examples").addEventListener("click", (event) => {
    const example = event.target.closest("[data-example]");
    if (!example) return;
    const { main, qualifiers } = JSON.parse(example.dataset.example);
    for (const name of ["subject", "relation", "object"]) form.elements[name].value = main[name];
    while (byId("qualifiers").children.length > Math.max(qualifiers.length, 1)) byId("qualifiers").lastElementChild.remove();
    while (byId("qualifiers").children.length < qualifiers.length) byId("more").click();
    all("#qualifiers > div").forEach((row, place) => {
      const inputs = all("input", row);
      [inputs[0].value, inputs[1].value] = qualifiers[place] ?? ["", ""];
    });
    form.requestSubmit();
  });
}

if (document.body.dataset.page === "code") start_code();
else start_statements();
