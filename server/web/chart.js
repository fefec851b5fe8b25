// Minimal line charts on a canvas, for the dashboard.
import { colour, el } from "./page.js";

// Round steps for an axis of about `wanted` lines.
function steps(low, high, whole) {
  const rough = Math.max((high - low) / 5 || 1, whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const marks = [];
  for (let mark = Math.ceil(low / step) * step; mark <= high + step * 1e-6; mark += step) marks.push(Math.abs(mark) < step * 1e-6 ? 0 : mark);
  return marks;
}

// Marks at 1, 2, 5, 10 … of a logarithmic axis, as logarithms; only powers of ten if the range is wide.
function powers(low, high) {
  const marks = [];
  for (let power = Math.floor(low); power <= high; power++) for (const digit of high - low > 3 ? [1] : [1, 2, 5]) marks.push(power + Math.log10(digit));
  return marks.filter((mark) => mark >= low - 0.01 && mark <= high + 0.01);
}

// series: [{ name, colour, values }], values as many as times; null leaves a gap.
export function drawLines(canvas, { times, series, format, zero = true, logarithmic = false, whole = false, ends = null }) {
  const box = canvas.parentElement.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.max(80, box.width), Math.max(60, box.height)];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  const shape = logarithmic ? (value) => Math.log10(Math.max(value, 1e-6)) : (value) => value;
  const all = series.flatMap((line) => line.values.filter((value) => value !== null && value !== undefined)).map(shape);
  let low = Math.min(...all, zero && !logarithmic ? 0 : Infinity);
  let high = Math.max(...all, zero && !logarithmic ? 0 : -Infinity);
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  if (high - low < 1e-9) high = low + (logarithmic ? 0.5 : Math.abs(low) * 0.2 || 1);
  if (!logarithmic) high += (high - low) * 0.06;
  const marks = logarithmic ? powers(low, high) : steps(low, high, whole);
  const texts = marks.map((mark) => format(logarithmic ? 10 ** mark : mark));
  const left = 10 + Math.max(24, ...texts.map((text) => pen.measureText(text).width));
  const [top, bottom] = [8, height - 20];
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 1;
  const x = (at) => left + ((times[at] - first) / (last - first || 1)) * (width - left - 8);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  marks.forEach((mark, at) => {
    pen.strokeStyle = colour(mark === 0 && low < 0 ? "--dim" : "--line");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(left, Math.round(y(mark)) + 0.5);
    pen.lineTo(width - 8, Math.round(y(mark)) + 0.5);
    pen.stroke();
    pen.fillStyle = colour("--dim");
    pen.fillText(texts[at], left - 6, y(mark));
  });
  pen.textBaseline = "alphabetic";
  if (times.length > 1) {
    pen.textAlign = "left";
    const ago = last - first;
    pen.fillText(ends?.[0] ?? (ago >= 90 ? `${Math.round(ago / 60)} min ago` : `${Math.round(ago)} s ago`), left, height - 5);
    pen.textAlign = "right";
    pen.fillText(ends?.[1] ?? "now", width - 8, height - 5);
  }
  pen.lineWidth = 2;
  pen.lineJoin = "round";
  for (const line of series) {
    pen.strokeStyle = pen.fillStyle = line.colour;
    pen.beginPath();
    let drawing = false;
    line.values.forEach((value, at) => {
      if (value === null || value === undefined) {
        drawing = false;
        return;
      }
      if (drawing) pen.lineTo(x(at), y(shape(value)));
      else pen.moveTo(x(at), y(shape(value)));
      drawing = true;
    });
    pen.stroke();
    const end = line.values.findLastIndex((value) => value !== null && value !== undefined);
    if (end >= 0) {
      pen.beginPath();
      pen.arc(x(end), y(shape(line.values[end])), 3, 0, 7);
      pen.fill();
    }
  }
}

export function legend(list, series, format) {
  list.replaceChildren(
    ...series.map((line) => {
      const mark = el("i", { "aria-hidden": "true" });
      mark.style.background = line.colour;
      const latest = line.values.findLast((value) => value !== null && value !== undefined);
      return el("li", {}, mark, `${line.name} `, el("b", { text: latest === undefined ? "–" : format(latest) }));
    }),
  );
}
