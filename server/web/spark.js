// A running total as a line, with a line at zero.
import { svg } from "./page.js";

export function sparkline(totals, label) {
  const width = 300;
  const height = 64;
  const all = [0, ...totals];
  const low = Math.min(...all);
  const high = Math.max(...all);
  const span = high - low || 1;
  const x = (at) => (all.length < 2 ? 0 : (at * width) / (all.length - 1));
  const y = (value) => height - 4 - ((value - low) / span) * (height - 8);
  const step = Math.max(1, Math.floor(all.length / 600));
  const points = all.map((value, at) => [x(at), y(value)]).filter((_, at) => at % step === 0 || at === all.length - 1);
  const line = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
  const end = all[all.length - 1];
  const tint = end >= 0 ? "var(--win)" : "var(--lose)";
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  const zero = svg("line", { x1: 0, x2: width, y1: y(0), y2: y(0), "stroke-dasharray": "3 4", "vector-effect": "non-scaling-stroke" });
  zero.style.stroke = "var(--dim)";
  zero.style.opacity = ".6";
  const area = svg("polygon", { points: `0,${y(0)} ${line} ${width},${y(0)}` });
  area.style.fill = tint;
  area.style.opacity = ".12";
  const curve = svg("polyline", { points: line, fill: "none", "stroke-width": "2", "stroke-linejoin": "round", "vector-effect": "non-scaling-stroke" });
  curve.style.stroke = tint;
  picture.append(zero, area, curve);
  return picture;
}

// The mean and the half-width of its 95 % interval.
export function meanAndInterval(values) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return [mean, NaN];
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return [mean, 1.96 * Math.sqrt(variance / n)];
}
