// Push/fold with ten big blinds, compared with the equilibrium.
import { api, calm, chips, colour, el, fail, find, percent, say, signed, startPage, store, twice } from "./page.js";
import { cardName, handName, showCards } from "./cards.js";
import { CLASSES, drawGrid, mixed } from "./grid.js";
import { sparkline } from "./spark.js";

const KEPT = 5000;
const EVEN = 0.0005;

let hand = null;
let chart = null;
let busy = false;

const played = () => store.get("pushfold", []);

// ---- the table

function render() {
  const over = Boolean(hand?.finished);
  showCards(find("you-cards"), hand ? hand.hole : [null, null]);
  showCards(find("bot-cards"), hand?.bot_hole ?? (hand ? ["back", "back"] : [null, null]));
  showCards(find("board"), [...(hand?.board ?? []), ...Array(5 - (hand?.board.length ?? 0)).fill(null)]);
  const seats = hand ? (hand.position === 1 ? ["Small blind", "Big blind"] : ["Big blind", "Small blind"]) : ["", ""];
  find("you-seat").textContent = seats[0];
  find("bot-seat").textContent = seats[1];
  find("you-did").textContent = hand?.all_in === null || !hand ? "" : hand.all_in ? "all-in" : "folds";
  find("bot-did").textContent = hand?.bot_all_in === null || !hand ? "" : hand.bot_all_in ? (hand.position === 1 ? "calls" : "all-in") : "folds";
  find("act").hidden = busy || !hand || over;
  find("between").hidden = busy || Boolean(hand && !over);
  find("result").hidden = busy || !over;
  if (hand && !over) find("allin").firstChild.textContent = hand.position === 1 ? "All-in " : "Call all-in ";
  if (over) {
    find("result").textContent = headline();
    find("review").textContent = reviewWords();
    find("deal").firstChild.textContent = "Next hand ";
  }
}

function headline() {
  if (hand.bot_hole) {
    const [you, bot] = [hand.hole, hand.bot_hole].map((hole) => handName([...hole, ...hand.board]));
    if (hand.chips === 0) return `Split pot: both have ${you}`;
    return hand.chips > 0 ? `You win 10 big blinds with ${you}` : `Fathom wins 10 big blinds with ${bot}`;
  }
  if (hand.chips > 0) return `Fathom folds. You win ${hand.chips === 1 ? "a big blind" : "half a big blind"}`;
  return `You fold and lose ${hand.chips === -1 ? "a big blind" : "half a big blind"}`;
}

function reviewWords() {
  const review = hand.review;
  if (!review) return "Fathom folded its small blind: you had no decision.";
  const should = review.equilibrium > 0.995 ? "always goes all-in" : review.equilibrium < 0.005 ? "always folds" : `goes all-in ${percent(review.equilibrium)} of the time`;
  if (review.cost < EVEN) return `Correct: with ${review.hand} the equilibrium ${should}.`;
  return `With ${review.hand} the equilibrium ${should}. Your choice costs ${review.cost.toFixed(2)} big blinds on average.`;
}

async function ask(work) {
  if (busy) return;
  busy = true;
  calm();
  render();
  try {
    take(await work());
  } catch (error) {
    fail(error);
    say(error.message);
  } finally {
    busy = false;
    render();
    const lost = document.activeElement === document.body || document.activeElement?.closest("[hidden]");
    if (lost) find(hand && !hand.finished ? "allin" : "deal").focus({ preventScroll: true });
  }
}

function take(answer) {
  hand = answer;
  if (answer.session) store.set("pushfold.session", answer.session);
  if (!hand.finished) {
    const before = hand.position === 0 ? "Fathom is all-in. " : "";
    say(`${before}You hold ${hand.hole.map(cardName).join(" and ")}, ${hand.seat}. All-in or fold?`);
    return;
  }
  const review = hand.review;
  store.set("pushfold", [...played(), { position: hand.position, chips: hand.chips, allIn: hand.all_in, hand: review?.hand ?? null, cost: review?.cost ?? 0, should: review?.equilibrium ?? null }].slice(-KEPT));
  say(`${headline()}. ${reviewWords()}`);
  renderScore();
  renderCharts();
  if (review) showPool();
}

const deal = () => ask(() => api("/v1/pushfold/hands", { body: { session: store.get("pushfold.session") } }));

function act(action) {
  if (!hand || hand.finished || busy) return;
  const { number } = hand;
  return ask(() => api("/v1/pushfold/actions", { body: { session: store.get("pushfold.session"), number, action } }));
}

// ---- results

function renderScore() {
  const all = played();
  const score = find("score");
  const total = all.reduce((sum, past) => sum + past.chips, 0);
  score.textContent = signed(total, Number.isInteger(total) ? 0 : 1);
  score.className = `big-number ${total > 0 ? "win" : total < 0 ? "lose" : ""}`;
  find("score-detail").textContent = all.length ? `${all.length} hand${all.length > 1 ? "s" : ""}, ${signed(total / all.length, 3)} per hand` : "No hand played yet.";
  let sum = 0;
  find("spark").replaceChildren(...(all.length ? [sparkline(all.map((past) => (sum += past.chips)), `Running profit: ${signed(total, 1)} big blinds`)] : []));
  const decided = all.filter((past) => past.allIn !== null);
  const wrong = decided.filter((past) => past.cost >= EVEN);
  find("accuracy").textContent = decided.length ? percent(1 - wrong.length / decided.length) : "–";
  find("accuracy-detail").textContent = decided.length ? `${decided.length} decisions; mistakes cost ${wrong.reduce((cost, past) => cost + past.cost, 0).toFixed(2)} big blinds in total` : "Every decision is compared with the equilibrium.";
  find("mistakes").replaceChildren(...wrong.slice(-30).toReversed().map((past) => el("li", {}, el("b", { text: past.hand }), ` ${past.position === 1 ? "small" : "big"} blind: ${past.allIn ? "all-in" : "fold"}, costs ${past.cost.toFixed(2)}`)));
}

function renderCharts() {
  if (!chart) return;
  const red = colour("--raise-3");
  const blue = colour("--sunk");
  const boxes = [["Small blind: go all-in", 1, chart.push, chart.push_gain], ["Big blind: call", 0, chart.call, chart.call_gain]].map(([title, position, strategy, gain]) => {
    const mine = new Map();
    for (const past of played()) {
      if (past.position !== position || past.allIn === null) continue;
      const known = mine.get(past.hand) ?? { seen: 0, wrong: 0 };
      known.seen += 1;
      known.wrong += past.cost >= EVEN ? 1 : 0;
      mine.set(past.hand, known);
    }
    const grid = drawGrid({
      label: title,
      paint: (place) => mixed([strategy[place], 1 - strategy[place]], [red, blue]),
      tell: (place) => {
        const own = mine.get(CLASSES[place]);
        return `${CLASSES[place]}: all-in ${percent(strategy[place])}, ${gain[place] >= 0 ? "gains" : "loses"} ${Math.abs(gain[place]).toFixed(2)} over folding${own ? `. You: ${own.seen} times, ${own.wrong} wrong` : ""}`;
      },
    });
    const cells = grid.querySelector(".grid13").children;
    for (let place = 0; place < 169; place++) {
      if (strategy[place] < 0.4) cells[place].classList.remove("full");
      const own = mine.get(CLASSES[place]);
      if (own) cells[place].classList.add("mark", ...(own.wrong ? ["wrong"] : []));
    }
    return el("div", {}, el("h3", { text: title }), grid);
  });
  find("charts").replaceChildren(...boxes);
}

async function showChart() {
  chart = await api("/v1/pushfold/chart");
  find("chart-note").textContent = `Solved exactly in ${chips(chart.iterations)} iterations: nobody can win more than ${chart.exploitability.toExponential(0).replace("e-", " · 10⁻").replace(/⁻(\d+)$/, (_, n) => `⁻${[...n].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`)} big blinds per hand against it. The small blind expects ${signed(chart.value, 4)}.`;
  renderCharts();
}

async function showPool() {
  const report = await api("/v1/pushfold/report");
  if (!report.decisions) {
    find("pool").replaceChildren(el("p", { class: "dim", text: "No decisions yet." }));
    return;
  }
  const seat = (name) => {
    const found = report.positions[name];
    const rows = found.misplayed.slice(0, 6).map((past) => el("tr", {}, el("td", {}, el("b", { text: past.hand })), el("td", { class: "number", text: String(past.seen) }), el("td", { class: "number", text: percent(past.all_in) }), el("td", { class: "number", text: percent(past.equilibrium) }), el("td", { class: "number", text: past.cost.toFixed(2) })));
    return el("div", {},
      el("h3", { text: `Players in the ${name}` }),
      el("p", { class: "dim", text: found.all_in === null ? "No decisions yet." : `${found.decisions} decisions, ${found.classes_seen} of 169 hand classes seen, all-in ${percent(found.all_in)}, ${found.misplayed.length} classes misplayed.` }),
      rows.length ? el("table", {}, el("thead", {}, el("tr", {}, el("th", { text: "Misplayed" }), ...["seen", "all-in", "equilibrium", "costs"].map((text) => el("th", { class: "number", text })))), el("tbody", {}, rows)) : null);
  };
  find("pool").replaceChildren(
    el("p", {}, "The equilibrium wins ", el("b", { text: `${signed(report.bot_value, 3)} big blinds per hand` }), ` from the ${chips(report.decisions)} decisions made here: `, ["small blind", "big blind"].map((name) => `${signed(report.positions[name].bot_value, 3)} in the ${name} (${signed(report.positions[name].game_value, 3)} against itself)`).join(", "), "."),
    el("div", { class: "pool-seats" }, seat("small blind"), seat("big blind")),
  );
}

function start() {
  startPage(() => {
    renderScore();
    renderCharts();
  });
  find("deal").addEventListener("click", deal);
  find("fold").addEventListener("click", () => act("fold"));
  find("allin").addEventListener("click", () => act("allin"));
  find("refresh").addEventListener("click", () => showPool().catch(fail));
  twice(find("forget"), () => {
    store.set("pushfold", []);
    renderScore();
    renderCharts();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog")) return;
    const key = event.key.toLowerCase();
    if (!find("act").hidden && key === "f") act("fold");
    else if (!find("act").hidden && (key === "a" || key === "c")) act("allin");
    else if (!find("between").hidden && key === "n") deal();
  });
  render();
  showChart().catch(fail);
  showPool().catch(fail);
}

start();
