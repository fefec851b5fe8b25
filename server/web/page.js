// Shared by all pages: DOM helpers, number formats, API requests with their key, the theme switch.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const find = (id) => document.getElementById(id);

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const chips = (value) => whole.format(value).replace("-", "−");
export const signed = (value, digits = 0) => {
  const text = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    Math.abs(value),
  );
  return Number(value.toFixed(digits)) === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
};
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
export const seconds = (value) => (value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`);

// Storage may be disabled or full: values are then kept in memory only.
const memory = new Map();
export const store = {
  get(name, otherwise = null) {
    try {
      const text = localStorage.getItem(`fathom.${name}`);
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return memory.has(name) ? memory.get(name) : otherwise;
    }
  },
  set(name, value) {
    memory.set(name, value);
    try {
      localStorage.setItem(`fathom.${name}`, JSON.stringify(value));
    } catch {
      // Kept in memory until the page is closed.
    }
  },
};

export class ApiError extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export async function request(path, options = {}) {
  const headers = { ...(options.headers ?? {}) };
  const key = store.get("key");
  if (key) headers.Authorization = `Bearer ${key}`;
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: options.method ?? (options.body === undefined ? "GET" : "POST"),
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "Fathom does not respond. Is `fathom serve` running?");
  }
  if (response.status === 401 || (response.status === 403 && key)) {
    if (await askForKey(response.status)) return request(path, options);
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new ApiError(response.status, problem.code ?? "", problem.detail ?? response.statusText);
  }
  return response;
}

export const api = async (path, options) => (await request(path, options)).json();

// Server-sent events over fetch: EventSource cannot send a key.
export async function events(path, take, options = {}) {
  const response = await request(path, {
    ...options,
    headers: { Accept: "text/event-stream", ...(options.headers ?? {}) },
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "unreachable", "The connection to Fathom was lost. Reload the page.");
    });
    if (done) return;
    waiting += value;
    for (let end = waiting.indexOf("\n\n"); end >= 0; end = waiting.indexOf("\n\n")) {
      const block = waiting.slice(0, end);
      waiting = waiting.slice(end + 2);
      let name = "message";
      let data = "";
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data) take(name, JSON.parse(data));
    }
  }
}

let asking = null;
function askForKey(status) {
  asking ??= new Promise((answer) => {
    const input = el("input", { type: "password", id: "key-input", autocomplete: "off", required: true });
    const close = (given) => {
      dialog.close();
      dialog.remove();
      asking = null;
      answer(given);
    };
    const dialog = el(
      "dialog",
      { class: "dialog", "aria-labelledby": "key-title" },
      el("h2", { id: "key-title", text: "This Fathom requires an API key" }),
      el("p", {
        text:
          status === 401
            ? "Its administrator can create one with “fathom keys add NAME”. The key is stored in this browser."
            : "Your key does not have the scope this page needs. Enter another one.",
      }),
      el("label", { for: "key-input", text: "Key" }),
      input,
      el(
        "div",
        { class: "row end" },
        el("button", { type: "button", class: "quiet", onclick: () => close(false), text: "Not now" }),
        el("button", {
          type: "button",
          class: "primary",
          text: "Use it",
          onclick: () => {
            if (!input.value.trim()) return input.focus();
            store.set("key", input.value.trim());
            close(true);
          },
        }),
      ),
    );
    dialog.addEventListener("cancel", () => close(false));
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}

export function say(text) {
  const live = find("live");
  if (live) live.textContent = text;
}

export function fail(error) {
  const bar = find("error");
  if (!bar || error.name === "AbortError") return;
  bar.textContent = error.message;
  bar.hidden = false;
}

export function calm() {
  const bar = find("error");
  if (bar) bar.hidden = true;
}

// For actions that cannot be undone: the first click asks for confirmation, the second one acts.
export function twice(button, act) {
  const words = button.textContent;
  let waiting = 0;
  const rest = () => {
    clearTimeout(waiting);
    waiting = 0;
    button.textContent = words;
  };
  button.addEventListener("click", () => {
    if (waiting) {
      rest();
      act();
      return;
    }
    button.textContent = "Forget all?";
    waiting = setTimeout(rest, 4000);
  });
  button.addEventListener("blur", rest);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function startPage(onTheme = () => {}) {
  const button = find("theme");
  const show = () => {
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
    button.title = button.getAttribute("aria-label");
    button.dataset.shows = isDark() ? "sun" : "moon";
    onTheme();
  };
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("fathom.theme", next);
    } catch {
      // Not stored: applies to this visit only.
    }
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
