// The tables of figures while a range is measured: what happened in it, counted anew by the rules of
// `summary.rs`. All times are those within it.

// Titles of columns that are not the names of states.
const TITLES = { "preempted or yielded": "preempted/yielded", "blocked or runnable": "off CPU" };
const kindTitle = (kind) => TITLES[names.kinds[kind]] ?? names.kinds[kind];
// Times above a percentile, below which number it is not given.
const LEAST_ABOVE = 10;

// The part of a slice in the range; -1 if there is none.
function within(from, to) {
  if (to > from) return from < range.to && to > range.from ? Math.min(to, range.to) - Math.max(from, range.from) : -1;
  return from >= range.from && from <= range.to ? 0 : -1;
}

// Times by a key, each with the longest and what is counted besides.
function timesBy() {
  const all = new Map();
  const of = (key) => all.get(key) ?? all.set(key, { key, times: [], longest: null, open: 0, moments: 0, bytes: null, total: 0 }).get(key);
  function add(key, lane, from, to) {
    const ns = within(from, to);
    if (ns < 0) return;
    const one = of(key);
    one.times.push(ns);
    one.total += ns;
    if (!(one.longest?.ns >= ns)) one.longest = { ns, lane, from, to };
  }
  return { of, add, sorted: () => [...all.values()].sort((a, b) => b.total - a.total) };
}

// Cells of a row: a text, or what a number is sorted by with its text.
const time = (ns) => ({ sort: ns, text: ns > 0 && ns < 1000 ? `${ns.toPrecision(3)} ns` : duration(ns) });
const number = (n) => ({ sort: n, text: String(n) });
const sliceLink = ({ thread }, from, to) => `#from=${Math.round(from)}&to=${Math.round(to)}&thread=${thread.id}`;
const longest = ({ longest }) => (longest ? { ...time(longest.ns), href: sliceLink(longest.lane, longest.from, longest.to) } : "-");
function durationCells(name, one, count) {
  const times = Float64Array.from(one.times).sort();
  const percentile = (share) => {
    const rank = Math.max(1, Math.ceil(share * times.length));
    return times.length - rank >= LEAST_ABOVE ? time(times[rank - 1]) : "-";
  };
  return [name, number(count), times.length ? time(one.total) : "-", percentile(0.5), percentile(0.99), longest(one), one.open ? number(one.open) : "-"];
}

// Threads that live in the range, with their times by state in it.
let living = { range: null, threads: [] };
function threadsInRange() {
  const isAlive = ({ thread }) => thread && within(thread.from_ns, thread.to_ns) >= 0;
  if (living.range !== range) living = { range, threads: everyLane.filter(isAlive).map((lane) => [lane, timesBetween(lane, range.from, range.to)]) };
  return living.threads;
}
function threadsIn(titles) {
  const kinds = titles.map((title) => names.kinds.findIndex((_, kind) => kindTitle(kind) === title));
  const rows = [...threadsInRange()].sort(([a, [x]], [b, [y]]) => y - x || a.number - b.number);
  const { from, to } = range;
  return rows.map(([lane, times]) => () => titles.map((title, at) => {
    if (at === 0) return { text: lane.label, href: sliceLink(lane, Math.max(from, lane.thread.from_ns), Math.min(to, lane.thread.to_ns)) };
    if (kinds[at] >= 0) return times[kinds[at]] ? time(times[kinds[at]]) : "-";
    // Where only sums are known, they are not known of a range.
    if (lane.samples.at.length) return "-";
    return number(title === "faults" ? countIn(lane.faults, from, to) : switchedIn(lane.runs, from, to));
  }));
}
const countIn = (times, from, to) => find(times, to) - find(times, from - 0.5);
function switchedIn({ at, what, shadeOf }, from, to) {
  let count = 0;
  for (let i = Math.max(0, find(at, from)); i < what.length && at[i] < to; i++) count += shadeOf[what[i]] === 0;
  return count;
}

function callsIn() {
  const by = timesBy();
  for (const lane of everyLane) {
    if (!lane.calls?.from.length) continue;
    const { from, to, number, details } = lane.calls;
    const read = reader(details);
    for (let i = 0; i < from.length && from[i] <= range.to; i++) {
      for (let skip = 0; skip < 3; skip++) read.number();
      const isBack = read.number();
      read.number();
      if (isBack) by.add(number[i], lane, from[i], to[i]);
      else if (within(from[i], to[i]) >= 0) by.of(number[i]).open++;
    }
  }
  return by.sorted().map((one) => durationCells(callName(one.key), one, one.times.length));
}

function memoryIn() {
  const by = timesBy();
  for (const lane of everyLane) {
    if (!lane.memory?.from.length) continue;
    const { from, lengths, operation, details } = lane.memory;
    const read = reader(details);
    for (let i = 0; i < from.length && from[i] <= range.to; i++) {
      const [, , bytes] = [read.number(), read.number(), read.number()];
      if (within(from[i], from[i] + Math.max(0, lengths[i])) < 0) continue;
      const one = by.of(operation[i]);
      if (lengths[i] < 0) one.open++;
      else by.add(operation[i], lane, from[i], from[i] + lengths[i]);
      if (bytes > 0) one.bytes += bytes - 1;
    }
  }
  return by.sorted().map((one) => [...durationCells(names.memory[one.key], one, one.times.length + one.open), one.bytes === null ? "-" : { sort: one.bytes, text: size(one.bytes) }]);
}
function size(bytes) {
  const [power, name] = [[30, "GiB"], [20, "MiB"], [10, "KiB"]].find(([power]) => bytes >= 4 * 2 ** power) ?? [0, "B"];
  const value = bytes / 2 ** power;
  return `${power ? value.toFixed(value < 100 ? 1 : 0) : bytes}${name}`;
}

function signpostsIn() {
  const by = timesBy();
  for (const lane of everyLane) {
    const { from, to, name } = lane.posts ?? { from: [] };
    for (let i = 0; i < from.length && from[i] <= range.to; i++) {
      const end = isNaN(to[i]) ? from[i] : to[i];
      if (within(from[i], end) < 0) continue;
      if (isNaN(to[i])) by.of(name[i]).moments++;
      else if (end >= lane.thread.to_ns) by.of(name[i]).open++;
      else by.add(name[i], lane, from[i], end);
    }
  }
  return by.sorted().map((one) => durationCells(names.signposts[one.key] ?? "?", one, one.moments + one.times.length));
}

// States of threads by a key of each; none where it has none.
function statesBy(keyOf) {
  const by = timesBy();
  for (const lane of everyLane) {
    if (!lane.thread) continue;
    const { at, what } = lane.runs;
    for (let i = Math.max(0, find(at, range.from)); i < what.length && at[i] < range.to; i++) {
      const key = keyOf(lane, i);
      if (key) by.add(key, lane, at[i], at[i + 1]);
    }
  }
  return by.sorted();
}
function preemptionsIn() {
  const preempted = names.kinds.indexOf("preempted");
  const nameOf = (id) => (id === 0 ? "no thread (CPU quota)" : (names.names[id] ?? "?"));
  const rows = statesBy(({ thread, runs }, i) => {
    const [kind, by] = names.states[runs.what[i]];
    return kind === preempted ? JSON.stringify([thread.name, nameOf(by)]) : "";
  });
  return rows.map((one) => [...JSON.parse(one.key), number(one.times.length), time(one.total), longest(one)]);
}
function placesIn() {
  const runnable = names.kinds.indexOf("runnable");
  const rows = statesBy(({ thread, runs, stacks }, i) => {
    const at = find(stacks.place, i);
    const [kind] = names.states[runs.what[i]];
    return at >= 0 && stacks.place[at] === i && kind !== runnable ? JSON.stringify([thread.name, kind, stacks.stack[at]]) : "";
  });
  return rows.map((one) => {
    const [name, kind, stack] = JSON.parse(one.key);
    return [name, kindTitle(kind), number(one.times.length), time(one.total), longest(one), wholeStack(stack, Infinity).join(" < ")];
  });
}
