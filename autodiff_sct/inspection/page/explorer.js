"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const root = document.documentElement;
const details = document.getElementById("details");
const links = document.getElementById("links");
const hint = details.innerHTML;
let held = null; // the line that a click or the keyboard holds
let lit = []; // the lines that are lit up

// For the left side and for each view of the right one, the lines that stand for each line of the user's
const byPlace = new Map();
for (const side of [document.getElementById("primal"), ...all("#derived > .view")]) {
  const places = new Map();
  for (const line of all(".code li[data-at]", side)) {
    if (!places.has(line.dataset.at)) places.set(line.dataset.at, []);
    places.get(line.dataset.at).push(line);
  }
  byPlace.set(side, places);
}

// Stages

function showStage(name) {
  for (const view of all("#derived > .view")) view.hidden = view.dataset.stage !== name;
  document.getElementById("about").textContent = all(".stages input").find(i => i.value === name).dataset.about;
  choose(held && !held.closest("[hidden]") ? held : null);
}
for (const input of all(".stages input")) input.addEventListener("change", () => showStage(input.value));

// Lines and their counterparts

const inPrimal = line => line.closest("#primal") !== null;

function groupOf(at) {
  return [...byPlace].filter(([side]) => !side.hidden).flatMap(([, places]) => places.get(at) || []);
}

function counterparts(line) {
  if (!line || !line.dataset.at) return [];
  return groupOf(line.dataset.at).filter(other => inPrimal(other) !== inPrimal(line));
}

function light(line) {
  for (const other of lit) other.classList.remove("on");
  const group = line && line.dataset.at ? groupOf(line.dataset.at) : [];
  lit = line ? [line, ...group] : [];
  for (const other of lit) other.classList.add("on");
  draw(group);
  tell(line, group);
}

function choose(line) {
  for (const other of all(".code li.chosen")) other.classList.remove("chosen");
  for (const list of all(".code")) list.removeAttribute("aria-activedescendant");
  for (const option of all('.code li[aria-selected="true"]')) option.setAttribute("aria-selected", "false");
  held = line;
  if (line) {
    line.classList.add("chosen");
    line.setAttribute("aria-selected", "true");
    line.closest(".code").setAttribute("aria-activedescendant", line.id);
  }
  light(line);
}

// Bands from a line to its counterparts, one for each run of neighbouring lines of one sweep

function draw(group) {
  links.replaceChildren();
  const from = group.find(inPrimal);
  if (!from || getComputedStyle(links).display === "none") return;
  const frame = links.getBoundingClientRect();
  const pane = document.getElementById("primal").getBoundingClientRect();
  const box = line => line.getBoundingClientRect();
  const clamp = y => Math.min(Math.max(y, pane.top), pane.bottom) - frame.top;
  const x1 = pane.right - frame.left, x2 = document.getElementById("derived").getBoundingClientRect().left - frame.left;
  const runs = [];
  for (const line of group.filter(other => !inPrimal(other))) {
    const last = runs.at(-1);
    const near = last && last.sweep === line.dataset.sweep && box(line).top - last.bottom < 30;
    if (near) last.bottom = box(line).bottom;
    else runs.push({ sweep: line.dataset.sweep, top: box(line).top, bottom: box(line).bottom });
  }
  const [a, b] = [clamp(box(from).top), clamp(box(from).bottom)], middle = (x1 + x2) / 2;
  for (const run of runs) {
    const [c, d] = [run.top - frame.top, run.bottom - frame.top];
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x1},${a} C${middle},${a} ${middle},${c} ${x2},${c} L${x2},${d} C${middle},${d} ${middle},${b} ${x1},${b} Z`);
    path.setAttribute("class", run.sweep || "forward");
    links.append(path);
  }
}

// The chosen line in words

const SWEEPS = { forward: "forward sweep", reverse: "reverse sweep", again: "repeated", value: "value", tangent: "tangent", "": "this stage" };

function element(tag, text, name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
}

function tell(line, group) {
  if (!line) { details.innerHTML = hint; return; }
  const primal = group.find(inPrimal), derived = group.filter(other => !inPrimal(other));
  const head = element("p", "");
  const shown = primal || line;
  head.append(element("b", shown.dataset.place || `line ${line.dataset.no}`), "  ", element("code", shown.querySelector("code").textContent.trim()));
  const list = element("ul", "");
  for (const sweep of Object.keys(SWEEPS)) {
    const lines = derived.filter(other => (other.dataset.sweep || "") === sweep);
    if (!lines.length) continue;
    const item = element("li", "", sweep);
    item.append(element("b", `${SWEEPS[sweep]}, ${lines.length === 1 ? "line" : "lines"} ${ranges(lines.map(l => +l.dataset.no))}`));
    if (primal && primal.dataset[sweep]) item.append(element("span", `: ${primal.dataset[sweep]}`));
    list.append(item);
  }
  if (!inPrimal(line) && line.dataset.cost) list.append(element("li", `line ${line.dataset.no} alone: ${line.dataset.cost}`));
  const notes = new Set((inPrimal(line) ? derived : [line]).flatMap(other => (other.dataset.notes || "").split("\n")));
  for (const text of notes) if (text) list.append(element("li", text));
  if (!derived.length && inPrimal(line)) list.append(element("li", "nothing in this stage stands for this line alone"));
  details.replaceChildren(head, list);
}

function ranges(numbers) {
  const runs = [];
  for (const n of [...new Set(numbers)].sort((x, y) => x - y)) {
    if (runs.length && runs.at(-1)[1] === n - 1) runs.at(-1)[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

// Pointer and keyboard

document.addEventListener("pointerover", event => {
  const line = event.target.closest?.(".code li[data-at]") || held;
  if (line !== lit[0]) light(line);
});
document.addEventListener("click", event => {
  const line = event.target.closest?.(".code li[data-at]");
  if (line) choose(line === held ? null : line);
});

function move(list, step) {
  const lines = all("li[data-no]", list);
  const at = lines.indexOf(held);
  const next = lines[Math.min(Math.max(at < 0 ? 0 : at + step, 0), lines.length - 1)];
  choose(next);
  next.scrollIntoView({ block: "nearest" });
}

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 };

for (const list of all(".code")) {
  list.addEventListener("focus", () => { if (!held || held.closest(".code") !== list) move(list, 0); });
  list.addEventListener("keydown", event => {
    if (event.key in STEPS) move(list, STEPS[event.key]);
    else if (event.key === "Escape") choose(null);
    else if (event.key === "Enter") {
      const [other] = counterparts(held);
      if (!other) return;
      choose(other);
      other.closest(".code").focus({ preventScroll: true });
      other.scrollIntoView({ block: "nearest" });
    } else return;
    event.preventDefault();
  });
}
for (const type of ["scroll", "resize"]) window.addEventListener(type, () => light(held), { capture: true, passive: true });

// Theme

document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// The address names what is shown: #stage=reverse&line=0:9

const asked = new URLSearchParams(location.hash.slice(1));
if (asked.has("theme")) root.dataset.theme = asked.get("theme");
const input = all(".stages input").find(i => i.value === asked.get("stage")) || all(".stages input").find(i => i.checked);
input.checked = true;
showStage(input.value);
if (asked.has("line")) choose(groupOf(asked.get("line"))[0] || null);
