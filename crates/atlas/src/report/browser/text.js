// Numbers of an axis as text: three digits and a unit, as the page's tables
// have them (words.rs).

function digits(value) {
  const log = value === 0 || !isFinite(value) ? 0 : Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(20, Math.max(0, 2 - log)));
}

// Divisor and name of the unit that suits a time.
function timeUnit(ns) {
  const size = Math.abs(ns);
  if (size < 1e4) return [1, "ns"];
  if (size < 1e7) return [1e3, "µs"];
  if (size < 1e10) return [1e6, "ms"];
  return [1e9, "s"];
}

function bytesText(bytes) {
  for (const [size, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${name}`;
  }
  for (const [size, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (bytes >= 8 * size) return `${(bytes / size).toFixed(1)}${name}`;
  }
  return `${Math.round(bytes)}B`;
}

// A document may say any number: what is no date stays one.
function timeText(unixMs) {
  const date = new Date(unixMs);
  if (isNaN(date)) return `${unixMs} ms`;
  return date.toISOString().replace("T", " ").slice(0, 19) + " UTC";
}

const TEXTS = {
  nanoseconds: (v) => {
    const [scale, name] = timeUnit(v);
    return `${digits(v / scale)} ${name}`;
  },
  bytes: bytesText,
  gigabytes_per_second: (v) =>
    Math.abs(v) < 1 ? `${digits(v * 1e3)} MB/s` : `${digits(v)} GB/s`,
  cycles: (v) => `${digits(v)} cycles`,
  ratio: (v) => `${digits(v)}x`,
  percent: (v) => `${digits(v)} %`,
  count: (v) => (Number.isInteger(v) ? `${v}` : digits(v)),
  unix_milliseconds: timeText,
};

function text(axis, value) {
  return TEXTS[axis.quantity](value);
}

// Names of an axis's ticks: no digits that say nothing, 1 µs for 1000 ns.
function tick(axis, value) {
  const short = (v) => String(Number(v.toPrecision(3)));
  switch (axis.quantity) {
    case "nanoseconds": {
      if (value === 0) return "0";
      // A power of ten comes as one that is a little less.
      const size = Math.abs(value) * (1 + 1e-9);
      const [scale, name] =
        size < 1e3 ? [1, "ns"] : size < 1e6 ? [1e3, "µs"] : size < 1e9 ? [1e6, "ms"] : [1e9, "s"];
      return `${short(value / scale)} ${name}`;
    }
    case "gigabytes_per_second":
      return value !== 0 && Math.abs(value) < 1 ? `${short(value * 1e3)} MB/s` : `${short(value)} GB/s`;
    case "cycles":
      return short(value);
    case "ratio":
      return `${short(value)}x`;
    case "percent":
      return `${short(value)} %`;
    case "count":
      return Math.abs(value) >= 1e4 ? value.toExponential(0).replace("+", "") : short(value);
    case "unix_milliseconds":
      return timeText(value).slice(0, 10);
    default:
      return text(axis, value);
  }
}

const VERDICTS = {
  ok: "ok",
  noisy: "noisy",
  two_states: "two states",
  cannot_tell: "can't tell",
  invalid: "invalid",
};

// Strings of a document come from anywhere, and a tooltip is HTML.
function escaped(string) {
  const of = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return String(string).replace(/[&<>"']/g, (c) => of[c]);
}

// A figure in full: value, interval and verdict.
function figureText(axis, value, low, high, verdict) {
  let said = text(axis, value);
  const [from, to] = [low, high].map((end) => (end == null ? null : text(axis, end)));
  if (from && to) said += ` [${from} to ${to}]`;
  else if (from) said += ` [from ${from}, no upper end]`;
  else if (to) said += ` [up to ${to}, no lower end]`;
  if (verdict) said += `, ${VERDICTS[verdict]}`;
  return said;
}

