// Converts ranges between text and weights of the 169 classes. Single hands (AhKd) stay text.
import { RANKS } from "./cards.js";
import { CLASSES } from "./grid.js";

const rankOf = (character) => RANKS.indexOf(character.toUpperCase());
const place = (high, low, kind) => (high === low ? high * 13 + low : kind === "s" ? high * 13 + low : low * 13 + high);

// The classes of one entry such as QQ+, A5s-A2s or AK; null if it has another form.
function entryPlaces(entry) {
  if (/^(random|any|all|\*)$/i.test(entry)) return CLASSES.map((_, at) => at);
  if (/^none$/i.test(entry)) return [];
  const parts = /^([2-9tjqka])([2-9tjqka])([so]?)(?:(\+)|-([2-9tjqka])([2-9tjqka])([so]?))?$/i.exec(entry);
  if (!parts) return null;
  let [high, low] = [rankOf(parts[1]), rankOf(parts[2])];
  if (high > low) [high, low] = [low, high];
  const kinds = high === low ? [""] : parts[3] ? [parts[3].toLowerCase()] : ["s", "o"];
  const found = [];
  const add = (a, b) => kinds.forEach((kind) => found.push(place(a, b, kind)));
  if (parts[4]) {
    if (high === low) for (let rank = high; rank >= 0; rank--) add(rank, rank);
    else if (low === high + 1) for (let step = 0; high - step >= 0; step++) add(high - step, low - step);
    else for (let kicker = low; kicker > high; kicker--) add(high, kicker);
  } else if (parts[5]) {
    let [otherHigh, otherLow] = [rankOf(parts[5]), rankOf(parts[6])];
    if (otherHigh > otherLow) [otherHigh, otherLow] = [otherLow, otherHigh];
    if (otherHigh === high) for (let kicker = Math.min(low, otherLow); kicker <= Math.max(low, otherLow); kicker++) add(high, kicker);
    else if (otherLow - otherHigh === low - high) for (let top = Math.min(high, otherHigh); top <= Math.max(high, otherHigh); top++) add(top, top + low - high);
    else return null;
  } else add(high, low);
  return found;
}

// Returns { weights, rest }; rest are the entries that a grid cannot show.
export function readRange(text) {
  const weights = new Array(169).fill(0);
  const rest = [];
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
    const [name, weight] = entry.split(":");
    const places = entryPlaces(name);
    const share = weight === undefined ? 1 : weight.endsWith("%") ? Number(weight.slice(0, -1)) / 100 : Number(weight);
    if (places === null || !(share >= 0 && share <= 1)) rest.push(entry);
    else for (const at of places) weights[at] = share;
  }
  return { weights, rest };
}

export function writeRange(weights, rest = []) {
  if (weights.every((weight) => weight === 1) && !rest.length) return "random";
  const entries = [];
  const suffix = (weight) => (weight === 1 ? "" : `:${Number(weight.toFixed(3))}`);
  // Runs of equal weight, best hand first; written with a + if they start with the best.
  const runs = (places, name, canPlus) => {
    for (let at = 0; at < places.length; ) {
      const weight = weights[places[at]];
      let end = at;
      while (end + 1 < places.length && weights[places[end + 1]] === weight) end++;
      if (weight > 0) {
        if (end === at) entries.push(name(at) + suffix(weight));
        else if (at === 0 && canPlus) entries.push(`${name(end)}+${suffix(weight)}`);
        else entries.push(`${name(at)}-${name(end)}${suffix(weight)}`);
      }
      at = end + 1;
    }
  };
  const row = Array.from({ length: 13 }, (_, at) => at);
  runs(row.map((rank) => place(rank, rank, "")), (at) => RANKS[at] + RANKS[at], true);
  for (const kind of ["s", "o"]) {
    for (let high = 0; high < 12; high++) {
      const kickers = row.slice(high + 1);
      runs(kickers.map((low) => place(high, low, kind)), (at) => RANKS[high] + RANKS[kickers[at]] + kind, true);
    }
  }
  return [...entries, ...rest].join(",") || "none";
}
