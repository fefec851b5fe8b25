// Solves a spot over /v1/solve and shows it node by node.
import { calm, chips, colour, el, events, fail, find, percent, say, seconds, startPage } from "./page.js";
import { RANKS, cardElement, cardName, suitMark } from "./cards.js";
import { CLASSES, COMBINATIONS, actionColours, drawGrid, heat, mixed, placeOf } from "./grid.js";
import { drawLines } from "./chart.js";
import { readRange, writeRange } from "./ranges.js";

const SEATS = { oop: "Out of position", ip: "In position" };
const DEFAULTS = { oop: "22+,A2s+,KTs+,QJs,JTs,ATo+,KQo", ip: "22+,A2s+,K9s+,QTs+,J9s+,T9s,98s,87s,A8o+,KJo+" };
const TARGET_PCT = 0.3; // target exploitability, in % of the pot
const FIELDS = ["board", "pot", "stack", "menu"];

let ranges = { ...DEFAULTS };
let seat = "oop";
let path = []; // [{ action, name }]
let solving = null;
let track = [];
let result = null;

// ---- the spot

function renderBoard() {
  const cards = find("board").value.match(/[2-9TJQKAtjqka][cdhsCDHS]/g) ?? [];
  find("board-cards").replaceChildren(...cards.slice(0, 5).map((card) => cardElement(card[0].toUpperCase() + card[1].toLowerCase())));
}

function renderPainter() {
  const { weights, rest } = readRange(ranges[seat]);
  find("range-label").textContent = seat === "oop" ? "Range of the player first to act" : "Range of the player in position";
  if (find("range").value !== ranges[seat]) find("range").value = ranges[seat];
  for (const name of Object.keys(SEATS)) find(`show-${name}`).setAttribute("aria-pressed", String(name === seat));
  const cells = CLASSES.map((name, place) => {
    const cell = el("div", { role: "gridcell", tabindex: "-1", "aria-selected": String(weights[place] > 0), "aria-label": `${name} ${percent(weights[place])}`, text: name });
    colourCell(cell, weights[place]);
    return cell;
  });
  cells[0].tabIndex = 0;
  const rows = Array.from({ length: 13 }, (_, row) => el("div", { role: "row", class: "grid-row" }, cells.slice(row * 13, row * 13 + 13)));
  const grid = el("div", { class: "grid13 painter", role: "grid", "aria-multiselectable": "true", "aria-label": `${SEATS[seat]}: hands in the range. Space or Enter toggles a hand, arrow keys move.` }, rows);
  let brush = null;
  const paint = (place, weight) => {
    weights[place] = weight;
    colourCell(cells[place], weight);
    cells[place].setAttribute("aria-selected", String(weight > 0));
    cells[place].setAttribute("aria-label", `${CLASSES[place]} ${percent(weight)}`);
    ranges[seat] = writeRange(weights, rest);
    find("range").value = ranges[seat];
  };
  grid.addEventListener("pointerdown", (event) => {
    const place = cells.indexOf(event.target);
    if (place < 0) return;
    brush = weights[place] > 0 ? 0 : 1;
    paint(place, brush);
    event.target.releasePointerCapture?.(event.pointerId);
  });
  grid.addEventListener("pointermove", (event) => {
    if (brush === null || !event.buttons) return;
    const place = cells.indexOf(document.elementFromPoint(event.clientX, event.clientY));
    if (place >= 0 && weights[place] !== brush) paint(place, brush);
  });
  addEventListener("pointerup", () => (brush = null));
  grid.addEventListener("keydown", (event) => {
    const at = cells.indexOf(event.target);
    const step = { ArrowUp: -13, ArrowDown: 13, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && at + step >= 0 && at + step < 169) {
      cells[at].tabIndex = -1;
      cells[at + step].tabIndex = 0;
      cells[at + step].focus();
    } else if (event.key === " " || event.key === "Enter") paint(at, weights[at] > 0 ? 0 : 1);
    else return;
    event.preventDefault();
  });
  find("painter").replaceChildren(el("div", { class: "grid-box" }, grid));
}

function colourCell(cell, weight) {
  const [background, isDark] = heat(weight) ?? ["", false];
  cell.style.background = background;
  cell.classList.toggle("full", isDark);
}

function choose(name) {
  seat = name;
  renderPainter();
}

const wanted = () => ({ board: find("board").value.replace(/\s/g, ""), pot: Number(find("pot").value), stack: Number(find("stack").value), menu: find("menu").value, ...ranges });

// Stores the spot in the page's address, so that it can be linked to.
function remember() {
  const spot = wanted();
  const query = new URLSearchParams(Object.entries(spot).map(([name, value]) => [name, String(value)]));
  if (path.length) query.set("node", path.map((step) => step.action).join("/"));
  history.replaceState(null, "", `/study?${query}`);
}

function recall() {
  const query = new URLSearchParams(location.search);
  for (const name of FIELDS) if (query.has(name)) find(name).value = query.get(name);
  for (const name of Object.keys(SEATS)) if (query.has(name)) ranges[name] = query.get(name);
  if (query.get("node")) path = query.get("node").split("/").map((action) => ({ action, name: action }));
  return query.has("board");
}

// ---- solving

async function solve() {
  solving?.abort();
  const mine = (solving = new AbortController());
  calm();
  track = [];
  remember();
  find("stop").hidden = false;
  find("progress-text").textContent = "Building the tree…";
  const body = { ...wanted(), target_pct: TARGET_PCT };
  if (path.length) body.node = path.map((step) => step.action).join("/");
  try {
    await events("/v1/solve", (name, told) => {
      if (solving !== mine) return;
      if (name === "progress") {
        track.push(told);
        renderProgress();
      } else if (name === "result") {
        result = told.result;
        track.push({ seconds: result.seconds, exploitability_pct: result.exploitability_pct, iterations: result.iterations });
        renderProgress(true);
        renderNode();
        say(`Solved to ${result.exploitability_pct.toFixed(2)} % of the pot in ${result.iterations} iterations. ${renderDoubt()}`);
      } else if (name === "failed") refused(told.detail);
    }, { body, method: "POST", signal: mine.signal });
  } catch (error) {
    if (error.name !== "AbortError") {
      fail(error);
      find("progress-text").textContent = "Not solved.";
    }
  } finally {
    if (solving === mine) {
      solving = null;
      find("stop").hidden = true;
    }
  }
}

// The end of a line is not an error: either the next card must be chosen, or the hand is over.
function refused(detail) {
  if (path.length && /the next card comes/.test(detail)) {
    find("progress-text").textContent = "A card comes: choose it.";
    renderCards();
  } else if (path.length && /nothing to decide/.test(detail)) {
    const over = path.at(-1).name;
    path = path.slice(0, -1);
    remember();
    find("progress-text").textContent = `After ${over} the hand is over: nothing is left to decide.`;
    say(find("progress-text").textContent);
  } else fail(new Error(detail));
}

function renderCards() {
  find("doubt").hidden = true;
  const dead = [...(find("board").value.match(/../g) ?? []), ...path.map((step) => step.action)].map((card) => card.toLowerCase());
  const rows = [..."shdc"].map((suit) => el("div", { class: "deck-row" }, [...RANKS].map((rank) => {
    const card = rank + suit;
    return el("button", { type: "button", class: `deck-card ${suit}`, "aria-label": cardName(card), disabled: dead.includes(card.toLowerCase()), onclick: () => follow({ action: card, name: card }) }, rank === "T" ? "10" : rank, suitMark(suit));
  })));
  renderPath();
  find("node-text").replaceChildren(el("b", { text: "Which card comes?" }));
  find("actions").replaceChildren();
  find("grids").replaceChildren(el("div", { class: "deck", role: "group", "aria-label": "Next card" }, rows));
  find("solution").hidden = false;
  find("grids").querySelector("button:not(:disabled)").focus({ preventScroll: true });
}

function stop() {
  solving?.abort();
  solving = null;
  find("stop").hidden = true;
  find("progress-text").textContent = "Stopped.";
}

function renderProgress(done = false) {
  const last = track.at(-1);
  if (last) find("progress-text").textContent = `${last.exploitability_pct.toFixed(last.exploitability_pct < 1 ? 2 : 1)} % of the pot after ${chips(last.iterations)} iterations${done ? `, ${seconds(result.seconds)}` : ""}`;
  drawLines(find("c-progress"), { times: track.map((point) => point.iterations), series: [{ name: "exploitability", colour: colour("--accent"), values: track.map((point) => Math.max(point.exploitability_pct, 1e-4)) }], format: (value) => `${Number(value.toPrecision(2))} %`, logarithmic: true, ends: ["", `${chips(last?.iterations ?? 0)} iterations`] });
}

// Warns if a solve ran out of time before its target. Returns the warning, for the live region.
function renderDoubt() {
  const missed = result.exploitability_pct > TARGET_PCT;
  const left = `The solution is exploitable for ${result.exploitability_pct.toFixed(result.exploitability_pct < 10 ? 2 : 0)} % of the pot, the target was ${TARGET_PCT} %`;
  const [title, more] = result.converged
    ? ["Stopped before its target. ", `${left}: small frequencies may still change.`]
    : ["Not converged. ", `${left}: the strategy below may still change a lot.`];
  const advice = " Fewer bet sizes, narrower ranges or a later street solve faster.";
  find("doubt").replaceChildren(el("b", { text: title }), more, advice);
  find("doubt").hidden = !missed;
  return missed ? title + more : "";
}

// ---- the node

function renderNode() {
  const node = result.node;
  find("solution").hidden = false;
  const actions = node.actions;
  const colours = actionColours(actions.map((action) => action.action));
  renderPath();
  const other = node.actor === "oop" ? "ip" : "oop";
  find("node-text").replaceChildren(
    el("b", { text: `${SEATS[node.actor]} to act, pot ${chips(node.pot)}. ` }),
    `Expects ${node.players[node.actor].ev?.toFixed(1) ?? "–"} chips of it with an equity of ${node.players[node.actor].equity === null ? "–" : percent(node.players[node.actor].equity, 1)}.`,
  );
  find("actions").replaceChildren(...actions.map((action, a) => {
    const mark = el("i", { "aria-hidden": "true" });
    mark.style.background = colours[a];
    const words = ` ${percent(action.frequency, 1)}${action.ev === null ? "" : `, EV ${action.ev.toFixed(0)}`}`;
    return el("li", {}, el("button", { type: "button", title: "Go there", onclick: () => follow(action) }, mark, el("span", {}, action.name, el("span", { class: "dim", text: words }))));
  }));
  const acting = classes(node.players[node.actor].hands, actions.length);
  const waiting = classes(node.players[other].hands, 0);
  const top = Math.max(...acting.map((cell) => cell.weight), 1e-9);
  const topOther = Math.max(...waiting.map((cell) => cell.weight), 1e-9);
  find("grids").replaceChildren(
    box(`${SEATS[node.actor]}: strategy`, drawGrid({
      label: `Strategy of the player ${SEATS[node.actor].toLowerCase()}`,
      paint: (place) => (acting[place].weight ? mixed(acting[place].shares, colours, Math.max(0.2, acting[place].weight / top)) : null),
      tell: (place) => (acting[place].weight ? `${CLASSES[place]}: ${actions.map((action, a) => `${action.name} ${percent(acting[place].shares[a])}`).join(", ")}; EV ${acting[place].ev.toFixed(0)}, equity ${percent(acting[place].equity)}` : `${CLASSES[place]}: not here`),
    })),
    box(`${SEATS[other]}: range`, drawGrid({
      label: `Range of the player ${SEATS[other].toLowerCase()}`,
      paint: (place) => heat(waiting[place].weight / topOther),
      tell: (place) => (waiting[place].weight ? `${CLASSES[place]}: EV ${waiting[place].ev.toFixed(0)}, equity ${percent(waiting[place].equity)}` : `${CLASSES[place]}: not here`),
    })),
  );
}

function renderPath() {
  const crumbs = [el("button", { type: "button", text: "Root", "aria-current": path.length ? null : "true", onclick: () => goTo(0) })];
  path.forEach((step, at) => crumbs.push(el("span", { class: "dim", "aria-hidden": "true", text: "›" }), el("button", { type: "button", text: step.name, "aria-current": at === path.length - 1 ? "true" : null, onclick: () => goTo(at + 1) })));
  find("path").replaceChildren(...crumbs);
}

const box = (title, grid) => el("div", {}, el("h3", { text: title }), grid);

// Aggregates hands by class, each weighted by its reach.
function classes(hands, count) {
  const cells = CLASSES.map(() => ({ weight: 0, ev: 0, equity: 0, shares: new Array(count).fill(0) }));
  for (const [name, hand] of Object.entries(hands)) {
    const cell = cells[placeOf(name.slice(0, 2), name.slice(2))];
    cell.weight += hand.weight;
    cell.ev += hand.weight * (hand.ev ?? 0);
    cell.equity += hand.weight * (hand.equity ?? 0);
    for (let a = 0; a < count; a++) cell.shares[a] += hand.weight * (hand.strategy[a] ?? 0);
  }
  for (const cell of cells) {
    if (!cell.weight) continue;
    cell.ev /= cell.weight;
    cell.equity /= cell.weight;
    cell.shares = cell.shares.map((share) => share / cell.weight);
  }
  cells.forEach((cell, place) => (cell.weight /= COMBINATIONS[place]));
  return cells;
}

function follow(action) {
  path = [...path, { action: action.action, name: action.name }];
  solve();
}

function goTo(length) {
  path = path.slice(0, length);
  solve();
}

function start() {
  const linked = recall();
  startPage(() => {
    renderPainter();
    if (result) {
      renderProgress(true);
      renderNode();
    }
  });
  renderBoard();
  find("board").addEventListener("input", renderBoard);
  find("range").addEventListener("change", (event) => {
    ranges[seat] = event.target.value.trim() || "random";
    renderPainter();
  });
  for (const name of Object.keys(SEATS)) find(`show-${name}`).addEventListener("click", () => choose(name));
  find("solve").addEventListener("click", () => {
    path = [];
    solve();
  });
  find("stop").addEventListener("click", stop);
  find("link").addEventListener("click", async () => {
    remember();
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
      find("link").textContent = "Copied";
    } catch {
      find("link").textContent = "It is in the address bar";
    }
  });
  addEventListener("resize", () => track.length && renderProgress(Boolean(result)));
  if (linked) solve();
}

start();
