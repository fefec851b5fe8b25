// The bot's reasoning: for every decision its ranges and strategy as grids.
import { api, chips, el, find, percent, seconds, signed } from "./page.js";
import { STREETS, actionWords, trace } from "./betting.js";
import { CLASSES, actionColours, drawGrid, heat, mixed, placeOf } from "./grid.js";

const METHODS = {
  blueprint: "looked up in the blueprint",
  "flop book": "looked up in the flop book, which was solved in advance",
  "depth-limited": "solved to the end of the street",
  exact: "solved to the end of the hand",
  "exact, safe": "solved to the end of the hand, by safe re-solving",
};

export async function showThoughts(hand) {
  const { thoughts, shown_down: shown } = await api(`/v1/hands/${hand.id}/thoughts`);
  const section = find("thoughts");
  const tabs = find("thought-tabs");
  section.hidden = false;
  if (!thoughts.length) {
    tabs.replaceChildren();
    find("thought").replaceChildren(el("p", { class: "dim", text: "Fathom had nothing to decide in this hand." }));
  } else {
    const buttons = thoughts.map((thought) => {
      const before = trace(thought.betting).at(-1);
      const words = `${STREETS[before.street]}: ${actionWords(before, thought.action)}`;
      return el("button", { type: "button", text: words, onclick: () => choose(thought, before) });
    });
    const choose = (thought, before) => {
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(thoughts[at] === thought)));
      find("thought").replaceChildren(...oneThought(thought, before, hand, shown));
    };
    tabs.replaceChildren(...buttons);
    choose(thoughts.at(-1), trace(thoughts.at(-1).betting).at(-1));
  }
  section.focus({ preventScroll: true });
  const calmly = matchMedia("(prefers-reduced-motion: reduce)").matches;
  section.scrollIntoView({ behavior: calmly ? "auto" : "smooth", block: "start" });
}

function oneThought(thought, before, hand, shown) {
  const told = thought.details;
  const actions = Object.keys(told.strategy_grid);
  const colours = actionColours(actions);
  const names = actions.map((action) => actionWords(before, action));
  const top = Math.max(...told.own_range, 1e-9);
  const topTheirs = Math.max(...told.opponent_range, 1e-9);
  const held = shown && hand.bot_hole ? placeOf(...hand.bot_hole) : -1;
  const mine = placeOf(...hand.hole);
  const facts = [
    METHODS[thought.method] ?? "neither solved nor looked up",
    thought.iterations ? `${chips(thought.iterations)} iterations` : null,
    `in ${seconds(thought.seconds)}`,
    told.exploitability_pct !== null && told.exploitability_pct !== undefined
      ? `exploitable by ${told.exploitability_pct.toFixed(2)} % of the pot in its own game`
      : null,
  ].filter(Boolean);
  const shares = told.range_strategy ?? Object.fromEntries(actions.map((action) => [action, rangeShare(told, action)]));
  const tell = (place) => {
    const parts = names.map((name, a) => {
      const value = told.value_grid?.[actions[a]]?.[place];
      return `${name} ${percent(told.strategy_grid[actions[a]][place])}${value === undefined ? "" : ` (${signed(value)})`}`;
    });
    return `${CLASSES[place]}: ${parts.join(", ")}`;
  };
  const box = (title, grid) => el("div", {}, el("h3", { text: title }), grid);
  return [
    el("p", {}, el("b", { text: `${STREETS[before.street]}, pot ${chips(before.spent[0] + before.spent[1])}. ` }), `Fathom chose to ${actionWords(before, thought.action)}: ${facts.join(", ")}.`),
    doubt(thought, before),
    el(
      "ul",
      { class: "legend" },
      actions.map((action, a) => {
        const mark = el("i", { "aria-hidden": "true" });
        mark.style.background = colours[a];
        return el("li", {}, mark, `${names[a]} ${percent(shares[action] ?? 0, 1)}`);
      }),
    ),
    told.values
      ? el("p", {
          text: `It held ${hand.bot_hole.join(" ")}: ${actions
            .map((action, a) => `${names[a]} ${percent(told.strategy?.[action] ?? 0)}${told.values[action] === null ? "" : `, worth ${signed(told.values[action])} chips`}`)
            .join("; ")}.`,
        })
      : null,
    el(
      "div",
      { class: "grids" },
      box("Its strategy by hand", drawGrid({ label: "Strategy of Fathom", held, tell, paint: (place) => mixed(actions.map((action) => told.strategy_grid[action][place]), colours, Math.max(0.25, told.own_range[place] / top) * (told.own_range[place] / top > 0.004 ? 1 : 0)) })),
      box("Its range, as you can know it", drawGrid({ label: "Range of Fathom", held, tell: (place) => `${CLASSES[place]}: ${percent(told.own_range[place] / top)} of its hands are still there`, paint: (place) => heat(told.own_range[place] / top) })),
      box("Your range, as it estimated it", drawGrid({ label: "Your range as Fathom saw it", held: mine, tell: (place) => `${CLASSES[place]}: ${percent(told.opponent_range[place] / topTheirs)}${place === mine ? ", which is what you had" : ""}`, paint: (place) => heat(told.opponent_range[place] / topTheirs) })),
    ),
  ].filter(Boolean);
}

// A warning if the decision was not solved well. Looking up preflop decisions is normal and needs none.
function doubt(thought, before) {
  const told = thought.details;
  const words =
    told.converged === false
      ? [`This strategy is not converged. `, `It is exploitable for about ${told.exploitability_pct.toFixed(1)} % of the pot; the frequencies and values below are not final.`]
      : thought.method === "blueprint" && before.street > 0
        ? ["There was no time to solve this. ", "Fathom looked its action up in the blueprint, which is coarser."]
        : thought.method in METHODS
          ? null
          : ["There was no time to decide. ", "Fathom checked or folded."];
  return words && el("p", { class: "warning", role: "note" }, el("b", { text: words[0] }), `${words[1]} With more thinking time it plays better.`);
}

function rangeShare(told, action) {
  const total = told.own_range.reduce((sum, weight) => sum + weight, 0) || 1;
  return told.own_range.reduce((sum, weight, place) => sum + weight * told.strategy_grid[action][place], 0) / total;
}
