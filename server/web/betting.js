// Replays a hand's betting in ACPC notation, step by step. Position 0 is the big blind, 1 the button.

export const BIG_BLIND = 100;
export const STACK = 20000;
const BLINDS = [100, 50];
export const STREETS = ["Pre-flop", "Flop", "Turn", "River"];
export const BOARD_SIZE = [0, 3, 4, 5];

// All states of a hand, the deal first: chips put in, each player's last action on the street, who is next.
export function trace(betting) {
  let now = { street: 0, spent: [...BLINDS], before: [0, 0], last: ["", ""], actor: 1, by: -1, action: "", words: "" };
  const states = [now];
  for (const token of betting.match(/f|c|r\d+|\//g) ?? []) {
    if (token === "/") {
      // A street begins: part of the step before it.
      now = { ...now, street: now.street + 1, before: [...now.spent], last: ["", ""], actor: 0, by: -1, action: "/", words: STREETS[now.street + 1] };
      states.push(now);
      continue;
    }
    const me = now.actor;
    const spent = [...now.spent];
    const most = Math.max(...spent);
    let words;
    if (token === "f") words = "folds";
    else if (token === "c") {
      words = spent[me] === most ? "checks" : most === STACK ? "calls all-in" : `calls ${most - spent[me]}`;
      spent[me] = most;
    } else {
      const total = Number(token.slice(1));
      const onStreet = total - now.before[me];
      words = total >= STACK ? `all-in ${onStreet}` : most > now.before[1 - me] ? `raises to ${onStreet}` : `bets ${onStreet}`;
      spent[me] = total;
    }
    const last = [...now.last];
    last[me] = words;
    now = { ...now, spent, last, actor: 1 - me, by: me, action: token, words };
    states.push(now);
  }
  return states;
}

// An action in words, given the state before it.
export function actionWords(state, action) {
  const me = state.actor;
  const most = Math.max(...state.spent);
  if (action === "f") return "fold";
  if (action === "c") return state.spent[me] === most ? "check" : "call";
  const total = Number(action.slice(1));
  if (total >= STACK) return "all-in";
  return `${most > state.before[1 - me] ? "raise to" : "bet"} ${(total - state.before[me]).toLocaleString("en")}`;
}
