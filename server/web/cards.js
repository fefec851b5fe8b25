// Cards as DOM elements, and names of poker hands.
import { el, svg } from "./page.js";

const PATHS = {
  h: "M12 21C5 15 2 11.5 2 7.8 2 5 4.2 3 6.8 3 9 3 11 4.3 12 6.4 13 4.3 15 3 17.2 3 19.8 3 22 5 22 7.8 22 11.5 19 15 12 21Z",
  d: "M12 1.5 20 12 12 22.5 4 12Z",
  s: "M12 2C6 8 2.5 11 2.5 14.6c0 2.6 2 4.4 4.4 4.4 1.6 0 3-.8 4-2.2-.2 2-.9 3.6-2.4 5.2h7c-1.5-1.6-2.2-3.2-2.4-5.2 1 1.4 2.4 2.2 4 2.2 2.4 0 4.4-1.8 4.4-4.4C21.5 11 18 8 12 2Z",
  c: "M12 2a4.6 4.6 0 0 1 3.9 7 4.6 4.6 0 1 1-2.6 8.3c.2 1.8.9 3.2 2.2 4.7h-7c1.3-1.5 2-2.9 2.2-4.7A4.6 4.6 0 1 1 8.1 9 4.6 4.6 0 0 1 12 2Z",
};
const SUITS = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
const NAMES = { T: "ten", J: "jack", Q: "queen", K: "king", A: "ace", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine" };
export const RANKS = "AKQJT98765432";

export const cardName = (card) => `${NAMES[card[0]]} of ${SUITS[card[1]]}`;

export function suitMark(suit) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[suit] }));
}

export function cardElement(card, classes = "") {
  if (card === "back") return el("div", { class: `card back ${classes}`, role: "img", "aria-label": "a card, face down" });
  if (!card) return el("div", { class: `card empty ${classes}`, "aria-hidden": "true" });
  const rank = card[0] === "T" ? "10" : card[0];
  const node = el("div", { class: `card ${card[1]} ${classes}`, role: "img", "aria-label": cardName(card) });
  node.append(el("span", { class: "rank", "aria-hidden": "true", text: rank }), suitMark(card[1]));
  return node;
}

// Replaces only the cards that changed, so that the others are not animated again.
export function showCards(box, cards) {
  cards.forEach((card, at) => {
    const old = box.children[at];
    const key = card ?? "";
    if (old && old.dataset.card === key) return;
    const node = cardElement(card, card && card !== "back" ? "new" : "");
    node.dataset.card = key;
    node.style.animationDelay = `${(at % 3) * 70}ms`;
    if (old) old.replaceWith(node);
    else box.append(node);
  });
  while (box.children.length > cards.length) box.lastChild.remove();
}

const plural = (rank) => (rank === "6" ? "sixes" : `${NAMES[rank]}s`);

export function handName(cards) {
  // The best hand of five to seven cards, in words.
  const counts = {};
  const suits = {};
  for (const [rank, suit] of cards) {
    counts[rank] = (counts[rank] ?? 0) + 1;
    (suits[suit] ??= []).push(rank);
  }
  const having = (n) => [...RANKS].filter((rank) => counts[rank] === n);
  const straight = (ranks) => {
    const row = `${RANKS}A`;
    for (let at = 0; at + 5 <= row.length; at++) if ([...row.slice(at, at + 5)].every((rank) => ranks.includes(rank))) return row[at];
    return null;
  };
  const flush = Object.values(suits).find((ranks) => ranks.length >= 5);
  if (flush) {
    const high = straight(flush);
    if (high) return high === "A" ? "a royal flush" : `a straight flush, ${NAMES[high]} high`;
  }
  const [four] = having(4);
  if (four) return `four ${plural(four)}`;
  const threes = having(3);
  const pairs = having(2);
  if (threes.length > 1 || (threes.length && pairs.length)) return `a full house, ${plural(threes[0])} full of ${plural(threes[1] ?? pairs[0])}`;
  if (flush) return `a flush, ${NAMES[[...RANKS].find((rank) => flush.includes(rank))]} high`;
  const high = straight(Object.keys(counts));
  if (high) return `a straight, ${NAMES[high]} high`;
  if (threes.length) return `three ${plural(threes[0])}`;
  if (pairs.length > 1) return `two pair, ${plural(pairs[0])} and ${plural(pairs[1])}`;
  if (pairs.length) return `a pair of ${plural(pairs[0])}`;
  return `${NAMES[[...RANKS].find((rank) => counts[rank])]} high`;
}
