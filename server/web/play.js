// The table: plays hands over /v1/hands.
import { ApiError, api, calm, chips, el, events, fail, find, say, signed, startPage, store, twice } from "./page.js";
import { BIG_BLIND, BOARD_SIZE, STACK, STREETS, trace } from "./betting.js";
import { cardName, handName, showCards, suitMark } from "./cards.js";
import { meanAndInterval, sparkline } from "./spark.js";
import { showThoughts } from "./thoughts.js";

const KEPT_HANDS = 100;
const KEPT_RESULTS = 5000;
// Shown while Fathom, on the button, acts first in a hand that has not been received yet.
const DEALT = { id: "", hole: ["back", "back"], bot_hole: null, board: [], betting: "", position: 0, finished: false, your_turn: false };
const FRACTIONS = [[1 / 3, "⅓"], [1 / 2, "½"], [3 / 4, "¾"], [1, "Pot"], [2, "2×"]];

let hand = null;
let replaying = null; // { hand, states, at }
let busy = false;
let pending = ""; // your action, until Fathom responds
let thinking = null; // { street, seconds, share, said }: progress of Fathom's decision

const played = () => store.get("hands", []);
const results = () => store.get("results", []);

// ---- rendering

function render() {
  const shown = replaying?.hand ?? (thinking && hand?.finished !== false ? DEALT : hand);
  const states = shown ? trace(shown.betting + (replaying ? "" : pending)) : null;
  const state = replaying ? replaying.states[replaying.at] : states?.at(-1);
  const isEnd = !replaying || replaying.at === replaying.states.length - 1;
  renderFelt(shown, state, isEnd);
  renderLog(shown, replaying ? replaying.states.slice(0, replaying.at + 1) : states);
  find("act").hidden = replaying !== null || busy || !hand?.your_turn;
  find("replay").hidden = replaying === null;
  find("between").hidden = replaying !== null || busy || Boolean(hand && !hand.finished);
  find("waiting").hidden = !busy || replaying !== null;
  find("thinking").hidden = !thinking || replaying !== null;
  if (!find("act").hidden) renderChoices(state);
  if (replaying) {
    find("replay-text").textContent = `Hand ${shown.number + 1}, step ${replaying.at + 1} of ${replaying.states.length}`;
    find("step-back").disabled = replaying.at === 0;
    find("step-on").disabled = isEnd;
  }
  find("think").hidden = !hand?.finished;
  if (hand?.finished) {
    find("between-text").textContent = resultWords(hand);
    find("deal").firstChild.textContent = "Next hand ";
  }
  renderHistory();
}

function renderFelt(shown, state, isEnd) {
  const over = Boolean(shown?.finished && isEnd);
  const you = shown ? shown.position : 1;
  const seats = [["you", you], ["bot", 1 - you]];
  for (const [name, position] of seats) {
    const seat = find(`seat-${name}`);
    find(`${name}-button`).hidden = !shown || position !== 1;
    const spent = state?.spent[position] ?? 0;
    const back = over ? STACK + (name === "you" ? shown.chips : -shown.chips) : STACK - spent;
    find(`${name}-stack`).textContent = chips(back);
    const onStreet = state ? spent - state.before[position] : 0;
    const bet = find(`${name}-bet`);
    bet.hidden = !onStreet || over;
    bet.textContent = chips(onStreet);
    const isThinking = name === "bot" && thinking && !replaying;
    find(`${name}-did`).textContent = isThinking ? "" : sizeWords(verb(state?.last[position] ?? "", name === "you"));
    seat.classList.toggle("turn", Boolean(shown && !over && !replaying && (busy ? name === "bot" : shown.your_turn && name === "you")));
    seat.classList.toggle("won", over && (name === "you" ? shown.chips > 0 : shown.chips < 0));
  }
  showCards(find("you-cards"), shown ? shown.hole : [null, null]);
  const bots = over && shown.bot_hole ? shown.bot_hole : shown ? ["back", "back"] : [null, null];
  showCards(find("bot-cards"), bots);
  const board = shown ? shown.board.slice(0, BOARD_SIZE[state.street]) : [];
  showCards(find("board"), [...board, ...Array(5 - board.length).fill(null)]);
  find("pot").textContent = shown ? `Pot ${chips(state.spent[0] + state.spent[1])}` : "Ready when you are.";
  find("result").hidden = !over;
  if (over) find("result").textContent = headline(shown);
}

// "Fathom calls", but "You call".
const verb = (words, mine) => (mine ? words.replace(/^(fold|check|call|bet|raise)s\b/, "$1") : words);
const sizeWords = (words) => words.replace(/\d+/g, (number) => chips(Number(number)));

function renderLog(shown, states) {
  const log = find("log");
  if (!shown) return log.replaceChildren();
  const lines = [];
  for (const state of states.slice(1)) {
    if (state.action === "/") {
      const cards = shown.board.slice(0, BOARD_SIZE[state.street]).slice(BOARD_SIZE[state.street - 1]);
      lines.push(el("li", { class: "street" }, `${STREETS[state.street]} `, cards.map(miniCard)));
    } else lines.push(el("li", {}, el("b", { text: state.by === shown.position ? "You" : "Fathom" }), sizeWords(verb(state.words, state.by === shown.position))));
  }
  log.replaceChildren(...lines);
  log.scrollTop = log.scrollHeight;
}

function miniCard(card) {
  return el("span", { class: `mini ${card[1]}` }, el("span", { text: card[0] === "T" ? "10" : card[0] }), suitMark(card[1]), el("span", { class: "unseen", text: ` of ${cardName(card).split(" of ")[1]}` }));
}

function renderHistory() {
  const current = replaying?.hand.id;
  const list = find("history");
  const rows = played().toReversed().map((past) =>
    el("li", {}, el("button", { type: "button", "aria-current": past.id === current ? "true" : null, onclick: () => startReplay(past) },
      el("span", { class: "unseen", text: `Replay hand ${past.number + 1}: ` }),
      past.hole.map(miniCard),
      el("span", { class: "dim", text: `${past.betting.split("/").length > 1 || past.bot_hole ? STREETS[Math.min(3, past.betting.split("/").length - 1)] : "Pre-flop"}${past.bot_hole ? ", showdown" : ""}` }),
      el("span", { class: `won ${past.chips > 0 ? "win" : past.chips < 0 ? "lose" : ""}`, text: signed(past.chips) }))));
  if (list.dataset.rows !== `${rows.length} ${current} ${played().at(-1)?.id}`) {
    list.dataset.rows = `${rows.length} ${current} ${played().at(-1)?.id}`;
    list.replaceChildren(...rows);
  }
}

function renderScore() {
  const all = results();
  const score = find("score");
  score.className = "big-number";
  if (!all.length) {
    score.textContent = "–";
    find("score-detail").textContent = "No hand played yet.";
    find("spark").replaceChildren();
    return;
  }
  const [mean, half] = meanAndInterval(all.map((won) => (won / BIG_BLIND) * 1000));
  score.textContent = signed(mean);
  score.classList.add(mean >= 0 ? "win" : "lose");
  const total = all.reduce((sum, won) => sum + won, 0);
  find("score-detail").textContent = `${signed(total)} chips in ${all.length} hand${all.length > 1 ? "s" : ""}${Number.isNaN(half) ? "" : `, ± ${chips(half)}`}`;
  let sum = 0;
  const totals = all.map((won) => (sum += won));
  find("spark").replaceChildren(sparkline(totals, `Running result over ${all.length} hands: ${signed(total)} chips`));
}

// ---- choices

function renderChoices(state) {
  const { fold, to_call: toCall, raise } = hand.legal;
  find("fold").disabled = !fold;
  const isAllIn = hand.position !== undefined && Math.max(...state.spent) >= STACK;
  find("call").firstChild.textContent = toCall ? (isAllIn ? "Call all-in " : `Call ${chips(toCall)} `) : "Check ";
  find("sizing").hidden = !raise;
  find("raise").disabled = !raise;
  if (!raise) {
    find("raise").firstChild.textContent = "Raise ";
    return;
  }
  const slider = find("slider");
  slider.min = raise.least;
  slider.max = raise.most;
  slider.step = 1;
  const buttons = FRACTIONS.map(([share, name], at) =>
    el("button", { type: "button", "data-size": sizeOf(share), "aria-label": `Bet ${name === "Pot" ? "the pot" : `${name} of the pot`}`, title: `Key ${at + 1}`, onclick: () => setAmount(sizeOf(share)) }, name));
  buttons.push(el("button", { type: "button", "data-size": raise.most, title: "Key A", onclick: () => setAmount(raise.most) }, "All-in"));
  find("fractions").replaceChildren(...buttons);
  setAmount(sizeOf(3 / 4));
}

// A raise by a fraction of the pot after the call, as a total over the hand.
function sizeOf(share) {
  const { least, most } = hand.legal.raise;
  const called = Math.max(...trace(hand.betting).at(-1).spent);
  return Math.min(most, Math.max(least, Math.round(called + share * 2 * called)));
}

function setAmount(total) {
  const { least, most } = hand.legal.raise;
  const state = trace(hand.betting).at(-1);
  const amount = Math.min(most, Math.max(least, Math.round(total)));
  const before = state.before[hand.position];
  const isRaise = Math.max(...state.spent) > state.before[1 - hand.position];
  find("slider").value = amount;
  find("amount").value = chips(amount - before);
  find("slider").setAttribute("aria-valuetext", `${chips(amount - before)} chips`);
  find("raise").dataset.total = amount;
  find("raise").firstChild.textContent = amount >= most ? "All-in " : `${isRaise ? "Raise to" : "Bet"} ${chips(amount - before)} `;
  for (const button of find("fractions").children) button.setAttribute("aria-pressed", String(Number(button.dataset.size) === amount));
}

// ---- words

function headline(over) {
  if (over.bot_hole) {
    const [you, bot] = [over.hole, over.bot_hole].map((hole) => handName([...hole, ...over.board]));
    if (over.chips === 0) return `Split pot: both have ${you}`;
    return over.chips > 0 ? `You win ${chips(over.chips)} with ${you}` : `Fathom wins ${chips(-over.chips)} with ${bot}`;
  }
  return over.chips > 0 ? `Fathom folds. You win ${chips(over.chips)}` : `You fold and lose ${chips(-over.chips)}`;
}

function resultWords(over) {
  if (!over.bot_hole) return over.chips > 0 ? "Fathom folded. Its cards stay hidden." : "You folded.";
  const [you, bot] = [over.hole, over.bot_hole].map((hole) => handName([...hole, ...over.board]));
  return `You had ${you}, Fathom ${bot}.`;
}

function announce(before) {
  const known = before && before.id === hand.id ? trace(before.betting).length : 1;
  const news = trace(hand.betting).slice(known).map((state) =>
    state.action === "/"
      ? `${STREETS[state.street]}: ${hand.board.slice(0, BOARD_SIZE[state.street]).slice(BOARD_SIZE[state.street - 1]).map(cardName).join(", ")}.`
      : `${state.by === hand.position ? "You" : "Fathom"} ${verb(state.words, state.by === hand.position)}.`);
  if (!before || before.id !== hand.id) news.unshift(`New hand. You hold ${hand.hole.map(cardName).join(" and ")}, ${hand.seat}.`);
  if (hand.finished) news.push(headline(hand));
  else if (hand.your_turn) news.push(hand.legal.to_call ? `Your turn, ${hand.legal.to_call} to call.` : "Your turn.");
  say(news.join(" "));
}

// ---- requests

async function ask(work) {
  if (busy) return;
  busy = true;
  calm();
  const before = hand;
  showThinking(null);
  render();
  try {
    take(await work());
  } catch (error) {
    fail(error);
    say(error.message);
  } finally {
    busy = false;
    pending = "";
    thinking = null;
    render();
    if (hand !== before) announce(before);
    focusOn();
  }
}

// Sends a request that Fathom may have to think about, and shows its progress.
async function play(path, body) {
  let answer = null;
  await events(path, (name, told) => {
    if (name === "thinking") showThinking(told);
    else if (name === "failed") throw new ApiError(told.status, told.code, told.detail);
    else answer = told;
  }, { body });
  if (!answer) throw new ApiError(0, "unreachable", "Fathom stopped before it acted. Reload the page to continue the hand.");
  return answer;
}

function showThinking(told) {
  const isNew = !thinking || told?.street !== thinking.street || told.seconds < thinking.seconds;
  const wasShown = thinking !== null;
  const reached = told ? Math.max(told.seconds / told.seconds_allowed, told.iterations / (told.most_iterations ?? Infinity)) : 0;
  const share = Math.min(1, isNew ? reached : Math.max(reached, thinking.share));
  thinking = told && { street: told.street, seconds: told.seconds, share, said: !isNew && thinking.said };
  const about = !told ? "" : told.street === "pre-flop" ? " before the flop" : ` about the ${told.street}`;
  find("thinking-text").textContent = `Fathom is thinking${about}`;
  find("thinking-far").textContent = told ? farWords(told) : "";
  find("thinking-bar").firstChild.style.transform = `scaleX(${share.toFixed(3)})`;
  // In steps of 10 %: a screen reader would announce every change.
  find("thinking-bar").setAttribute("aria-valuenow", String(10 * Math.floor(10 * share)));
  if (told && !thinking.said && told.seconds >= 1) {
    thinking.said = true;
    say(`${find("thinking-text").textContent}.`);
  }
  if (told && !wasShown) render();
}

function farWords(told) {
  const { iterations, seconds, seconds_allowed: allowed } = told;
  if (iterations === null && seconds > allowed + 1) return `still waking up, ${seconds.toFixed(0)} s`;
  const time = `${Math.min(seconds, allowed).toFixed(1)} of ${allowed.toFixed(1)} s`;
  return iterations === null ? time : `${chips(iterations)} iteration${iterations === 1 ? "" : "s"}, ${time}`;
}

function take(answer) {
  hand = answer;
  store.set("current", hand.finished ? null : hand.id);
  if (!hand.finished) return;
  const known = played();
  if (known.some((past) => past.id === hand.id)) return;
  store.set("hands", [...known, hand].slice(-KEPT_HANDS));
  store.set("results", [...results(), hand.chips].slice(-KEPT_RESULTS));
  renderScore();
}

function focusOn() {
  // Keeps keyboard focus on the next choice.
  const lost = document.activeElement === document.body || document.activeElement?.closest("[hidden]");
  if (!lost || replaying) return;
  const next = hand?.finished || !hand ? find("deal") : find("call");
  next.focus({ preventScroll: true });
}

function deal() {
  find("thoughts").hidden = true;
  return ask(async () => {
    const body = { opponent: "somebody at the table", explain: true };
    const budget = find("budget").value;
    if (budget) body.budget = Number(budget);
    const session = store.get("session");
    let answer;
    try {
      answer = await play("/v1/hands", session ? { ...body, session } : body);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "unknown-session") throw error;
      answer = await play("/v1/hands", body);
    }
    store.set("session", answer.session);
    return answer;
  });
}

function act(action) {
  if (!hand?.your_turn || busy || replaying) return;
  pending = action;
  return ask(async () => {
    try {
      return await play(`/v1/hands/${hand.id}/actions`, { action, betting: hand.betting });
    } catch (error) {
      // Already played in another window or before a reload: show the current state of the hand.
      if (error.code === "moved-on") return api(`/v1/hands/${hand.id}`);
      throw error;
    }
  });
}

const raise = () => hand?.legal?.raise && act(`r${find("raise").dataset.total}`);

async function goOn() {
  const current = store.get("current");
  if (!current) return;
  await ask(async () => {
    try {
      const path = `/v1/hands/${current}`;
      for (;;) {
        const told = await api(`${path}/thinking`);
        if (!told.thinking) return await api(path);
        hand ??= await api(path);
        showThinking(told);
        await new Promise((wake) => setTimeout(wake, 200));
      }
    } catch (error) {
      if (error.status === 404) {
        store.set("current", null);
        return hand;
      }
      throw error;
    }
  }).catch(fail);
}

// ---- replay

function startReplay(past) {
  const states = trace(past.betting);
  replaying = { hand: past, states, at: 0 };
  find("thoughts").hidden = true;
  render();
  find("step-on").focus();
}

function step(by) {
  if (!replaying) return;
  replaying.at = Math.min(replaying.states.length - 1, Math.max(0, replaying.at + by));
  const state = replaying.states[replaying.at];
  render();
  say(state.words ? `${state.by < 0 ? "" : state.by === replaying.hand.position ? "You " : "Fathom "}${verb(state.words, state.by === replaying.hand.position)}` : "The deal");
  if (document.activeElement?.disabled) find(by > 0 ? "step-back" : "step-on").focus();
}

function endReplay() {
  replaying = null;
  find("thoughts").hidden = true;
  render();
  focusOn();
}

// ---- wiring

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog, select, input[type=text]")) return;
  const key = event.key.toLowerCase();
  if (replaying) {
    if (event.target.closest(".grid13")) return;
    if (key === "arrowleft") step(-1);
    else if (key === "arrowright") step(1);
    else if (key === "escape") endReplay();
    return;
  }
  if (!find("act").hidden) {
    if (key === "f" && hand.legal.fold) act("f");
    else if (key === "c") act("c");
    else if (key === "r") raise();
    else if (key === "a" && hand.legal.raise) act(`r${hand.legal.raise.most}`);
    else if (/^[1-5]$/.test(key) && hand.legal.raise) setAmount(sizeOf(FRACTIONS[Number(key) - 1][0]));
    else return;
    event.preventDefault();
  } else if (key === "n" && !find("between").hidden) deal();
}

function readAmount() {
  const number = Number(find("amount").value.replace(/[^\d]/g, ""));
  if (hand?.legal?.raise) setAmount(number + trace(hand.betting).at(-1).before[hand.position]);
}

function start() {
  startPage(renderScore);
  find("deal").addEventListener("click", deal);
  find("fold").addEventListener("click", () => act("f"));
  find("call").addEventListener("click", () => act("c"));
  find("raise").addEventListener("click", raise);
  find("slider").addEventListener("input", (event) => setAmount(Number(event.target.value)));
  find("amount").addEventListener("change", readAmount);
  find("amount").addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      readAmount();
      raise();
    }
  });
  find("think").addEventListener("click", () => showThoughts(hand).catch(fail));
  find("replay-think").addEventListener("click", () => showThoughts(replaying.hand).catch(fail));
  find("thoughts-close").addEventListener("click", () => {
    find("thoughts").hidden = true;
    find(replaying ? "replay-think" : "think").focus();
  });
  find("step-back").addEventListener("click", () => step(-1));
  find("step-on").addEventListener("click", () => step(1));
  find("replay-end").addEventListener("click", endReplay);
  twice(find("forget"), () => {
    store.set("results", []);
    store.set("hands", []);
    renderScore();
    render();
    say("Your results are cleared.");
  });
  find("budget").value = store.get("budget", "");
  find("budget").addEventListener("change", (event) => store.set("budget", event.target.value));
  document.addEventListener("keydown", onKey);
  renderScore();
  render();
  goOn();
}

start();
