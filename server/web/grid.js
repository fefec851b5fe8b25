// 13 × 13 grids of starting hands: pairs on the diagonal, suited above, offsuit below; cells numbered by row.
import { colour, el } from "./page.js";
import { RANKS } from "./cards.js";

export const CLASSES = Array.from({ length: 169 }, (_, place) => {
  const row = Math.floor(place / 13);
  const column = place % 13;
  if (row === column) return RANKS[row] + RANKS[row];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
});
export const COMBINATIONS = CLASSES.map((name) => (name.length === 2 ? 6 : name[2] === "s" ? 4 : 12));

export function placeOf(first, second) {
  const [a, b] = [RANKS.indexOf(first[0]), RANKS.indexOf(second[0])].sort((x, y) => x - y);
  return first[1] === second[1] ? a * 13 + b : b * 13 + a;
}

// A colour for each action: folds blue, calls green, raises warmer with size.
export function actionColours(actions) {
  const raises = actions.filter((action) => !/^(f|c|x|k|fold|check|call)/i.test(action));
  const shades = ["--raise-1", "--raise-2", "--raise-3", "--raise-4", "--allin"];
  return actions.map((action) => {
    if (/^f/i.test(action)) return colour("--fold");
    if (/^(c|x|k)/i.test(action)) return colour("--call");
    const at = raises.indexOf(action);
    const shade = raises.length === 1 ? 2 : Math.round((at * (shades.length - 1)) / (raises.length - 1));
    return colour(shades[shade]);
  });
}

// Draws a grid that can be explored with the arrow keys or the pointer.
//   label  accessible name
//   paint  (place) -> [CSS background, whether it is dark behind the name], or null for none
//   tell   (place) -> the caption of one cell
export function drawGrid({ label, paint, tell, held = -1 }) {
  const caption = el("p", { class: "grid-caption", "aria-live": "polite" });
  const cells = CLASSES.map((name, place) => {
    const [background, isDark] = paint(place) ?? [null, false];
    const cell = el("div", { text: name, "aria-hidden": "true" });
    if (background) cell.style.background = background;
    cell.classList.toggle("full", isDark);
    if (place === held) cell.classList.add("held");
    return cell;
  });
  let at = -1;
  const show = (place) => {
    if (at >= 0) cells[at].classList.remove("at");
    at = place;
    if (place < 0) return;
    cells[place].classList.add("at");
    caption.textContent = tell(place);
  };
  const box = el("div", { class: "grid13", role: "application", tabindex: "0", "aria-label": `${label}. Use the arrow keys to move between hands.` }, cells);
  box.addEventListener("pointermove", (event) => {
    const place = cells.indexOf(event.target);
    if (place >= 0 && place !== at) show(place);
  });
  box.addEventListener("pointerdown", (event) => {
    const place = cells.indexOf(event.target);
    if (place >= 0) show(place);
  });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -13, ArrowDown: 13, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = at < 0 ? 0 : at + step;
    if (next >= 0 && next < 169) show(next);
  });
  if (held >= 0) show(held);
  return el("div", { class: "grid-box" }, box, caption);
}

// A cell's background: action frequencies side by side, with a height proportional to the hand's weight.
export function mixed(shares, colours, weight = 1) {
  const stops = [];
  let from = 0;
  shares.forEach((share, at) => {
    if (share < 0.004) return;
    const to = from + 100 * share;
    stops.push(`${colours[at]} ${from.toFixed(1)}% ${to.toFixed(1)}%`);
    from = to;
  });
  if (!stops.length || weight < 0.004) return null;
  const height = Math.max(12, 100 * Math.min(1, weight));
  return [`linear-gradient(90deg, ${stops.join(", ")}) bottom / 100% ${height.toFixed(0)}% no-repeat var(--sunk)`, height > 60];
}

export const heat = (share) => (share < 0.004 ? null : [`rgba(${colour("--heat")}, ${(0.12 + 0.88 * Math.min(1, share)).toFixed(3)})`, share > 0.6]);
