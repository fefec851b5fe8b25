// Live status of the daemon, from /v1/events.
import { calm, chips, colour, el, events, fail, find, percent, say, seconds, signed, startPage } from "./page.js";
import { drawLines, legend } from "./chart.js";

const KEPT = 300;
const STREETS = ["preflop", "flop", "turn", "river"];
const RETRY_MS = 2000;

let points = [];
let version = "";
let state = null;

const megabytes = (value) => (value >= 1024 ? `${(value / 1024).toFixed(1)} GB` : `${Math.round(value)} MB`);
const count = (value) => chips(value);
const total = (counts) => Object.values(counts).reduce((sum, value) => sum + value, 0);

function connect() {
  events("/v1/events", (name, body) => {
    calm();
    if (name === "history") {
      points = body.points;
      version = body.version;
    } else points = [...points, body].slice(-KEPT);
    render();
  })
    .then(() => lost("The event stream has ended"))
    .catch((error) => {
      if (error.status === 401 || error.status === 403) return fail(error);
      lost("Fathom does not respond");
    });
}

function lost(words) {
  show(false, `${words}; reconnecting`);
  setTimeout(connect, RETRY_MS);
}

function show(good, words) {
  const line = find("state");
  line.className = `state ${good ? "good" : "bad"}`;
  line.textContent = words;
  if (state !== good) {
    state = good;
    say(words);
  }
}

function render() {
  const last = points.at(-1);
  if (!last) return;
  show(last.ready, last.ready ? `Ready, up ${duration(last.uptime_seconds)}, version ${version}` : "No worker is warm yet");
  renderTiles(last);
  const times = points.map((point) => point.at);
  const palette = ["--raise-1", "--accent", "--call", "--raise-4", "--fold", "--allin"].map(colour);
  lines("street", times, STREETS.map((street, at) => ({ name: street, colour: palette[at], values: points.map((point) => point.streets[street]?.p95 ?? null) })), seconds);
  const methods = [...new Set(points.flatMap((point) => Object.keys(point.methods)))].slice(0, palette.length);
  lines("method", times, methods.map((method, at) => ({ name: method, colour: palette[at], values: points.map((point) => point.methods[method]?.p50 ?? null) })), seconds);
  lines("margin", times, [
    { name: "median", colour: palette[1], values: points.map((point) => point.margin.p50) },
    { name: "1st percentile", colour: palette[3], values: points.map((point) => point.margin.p1) },
  ], (value) => (value < 0 ? `−${seconds(-value)}` : seconds(value)));
  lines("load", times, [
    { name: "waiting", colour: palette[0], values: points.map((point) => point.queue) },
    { name: "running", colour: palette[1], values: points.map((point) => point.running) },
  ], count, true);
  lines("memory", times, [
    { name: "daemon", colour: palette[1], values: points.map((point) => point.memory_bytes / 2 ** 20) },
    { name: "workers (private)", colour: palette[2], values: points.map((point) => point.pool.reduce((sum, worker) => sum + worker.own_mb, 0)) },
  ], megabytes);
  renderTables(last);
}

function lines(name, times, series, format, whole = false) {
  drawLines(find(`c-${name}`), { times, series, format, whole });
  legend(find(`l-${name}`), series, format);
}

function renderTiles(last) {
  const made = total(last.decisions);
  const fell = (last.decisions.blueprint ?? 0) + (last.decisions.check_fold ?? 0);
  const busy = last.workers.busy ?? last.running;
  const tiles = [
    [String(last.decisions_per_second), "decisions per second"],
    [chips(made), "decisions in total"],
    [`${busy} of ${last.pool.length}`, "workers busy"],
    [chips(last.margin.late), "late in the last half minute", last.margin.late > 0],
    [made ? percent(fell / made, 1) : "–", "fallbacks (not solved)", made > 0 && fell / made > 0.05],
    [chips(total(last.hands)), "hands finished"],
  ];
  find("tiles").replaceChildren(...tiles.map(([value, words, alarm]) => el("div", { class: `tile ${alarm ? "alarm" : ""}` }, el("b", { text: value }), el("span", { text: words }))));
}

const heads = (...names) => el("thead", {}, el("tr", {}, names.map((name, at) => el("th", { class: at ? "number" : "", scope: "col", text: name }))));
const cells = (...values) => el("tr", {}, values.map((value, at) => el("td", { class: at ? "number" : "", text: value })));

function renderTables(last) {
  const matches = last.matches.map((match) => {
    const interval = match.mbb_interval === null ? "" : ` ± ${chips(match.mbb_interval)}`;
    return cells(match.opponent, match.state.replace("_", " "), chips(match.hands), signed(match.chips), `${signed(match.mbb_per_hand)}${interval}`, seconds(match.slowest_seconds));
  });
  const others = Object.entries(last.winnings).map(([name, won]) => cells(name, "at our table", "", signed(won), "", ""));
  find("matches").replaceChildren(
    matches.length || others.length
      ? el("table", {}, heads("Opponent", "State", "Hands", "Chips", "mbb per hand", "Slowest"), el("tbody", {}, matches, others))
      : el("p", { class: "dim", text: "No games yet. Matches on dealers and hands played on this daemon appear here." }),
  );
  const made = total(last.decisions) || 1;
  const rungs = { solved: "solved", best_so_far: "cut short, best so far", blueprint: "blueprint", check_fold: "check or fold" };
  const rows = Object.entries(rungs).map(([rung, words]) => cells(words, chips(last.decisions[rung] ?? 0), percent((last.decisions[rung] ?? 0) / made, 1)));
  const reasons = Object.entries(last.fallbacks).filter(([, times]) => times > 0).sort((a, b) => b[1] - a[1]);
  find("answers").replaceChildren(
    el("table", {}, heads("Rung", "decisions", "share"), el("tbody", {}, rows)),
    el("p", { class: "dim", text: reasons.length ? `Reasons: ${reasons.map(([why, times]) => `${why.split(" ").at(-1).replaceAll("_", " ")} (${chips(times)})`).join(", ")}.` : "No fallbacks." }),
  );
  find("workers").replaceChildren(
    last.pool.length
      ? el("table", {}, heads("Process", "state", "decisions", "private memory"), el("tbody", {}, last.pool.map((worker) => cells(String(worker.pid), worker.state, chips(worker.decisions), megabytes(worker.own_mb)))))
      : el("p", { class: "dim", text: "No worker pool." }),
    el("p", { class: "dim", text: `${chips(last.restarts)} replaced since the start. Event loop lag, 99th percentile: ${last.loop_lag.p99 === null ? "–" : seconds(last.loop_lag.p99)}.` }),
  );
}

function duration(value) {
  if (value < 120) return `${Math.round(value)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}

startPage(render);
addEventListener("resize", render);
connect();
