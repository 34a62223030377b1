// Search: threads, states, calls, signposts, operations on memory and programs on CPUs by words, and by how
// long they take. Each lane keeps its hits in the order of time; the next one is looked for among them.

const asked = document.getElementById("find");
const status = document.getElementById("status");
// Of each lane lists of hits: { band, at, index }.
let hits = new Map();
let lists = [];
let total = 0;
let query = "";
// The key of the hit that is shown.
let last = null;

const SIZES = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
// `read > 1 ms`: words, and the least and the most of how long.
function parsed(text) {
  const [, words, sign, number, unit] = text.trim().match(/^(.*?)(?:([<>])=?\s*([\d.]+)\s*(ns|us|µs|ms|s))?$/i);
  const ns = sign ? Number(number) * SIZES[unit.toLowerCase()] : NaN;
  return { words: words.toLowerCase().split(/\s+/).filter(Boolean), least: sign === ">" ? ns : -1, most: sign === "<" ? ns : Infinity, isTimed: Boolean(sign) };
}

const BANDS = ["thread", "state", "post", "call", "memory"];
const occupantText = (number) => {
  const what = names.occupants[number];
  if (what.thread > 0) return threadName(what.thread);
  return { unknown: "unknown", lost: "lost", not_traced: "no traced thread" }[what] ?? "idle";
};
const stateWords = (_, number) => stateTexts({ thread: true, runs: { what: [number] } }, 0)[0];

// Looks for all that is meant by a text.
function collect(text) {
  const { words, least, most, isTimed } = parsed(text);
  [hits, lists, total, query, last] = [new Map(), [], 0, text, null];
  if (words.length === 0 && !isTimed) return;
  // Of the kinds of names those that have some words: the words are few, the lanes are many.
  const dictionaries = { state: names.states.map(stateWords), cpu: names.occupants.map((one, at) => (one.thread > 0 && byId.has(one.thread) ? "" : occupantText(at))), post: names.signposts, call: names.calls, memory: names.memory };
  const known = new Map();
  const meant = (of, words) => {
    const key = `${of} ${words.join(" ")}`;
    if (!known.has(key)) {
      const numbers = new Map();
      for (const [number, name] of Object.entries(dictionaries[of])) numbers.set(Number(number), name !== "" && words.every((word) => name.toLowerCase().includes(word)));
      known.set(key, { isMeant: numbers, isAny: [...numbers.values()].some(Boolean) });
    }
    return known.get(key);
  };
  for (const lane of everyLane) {
    const label = lane.label.replace("\u200e", "").toLowerCase();
    const rest = words.filter((word) => !label.includes(word));
    const add = (band, index, at) => {
      if (at.length === 0) return;
      if (!hits.has(lane)) hits.set(lane, []);
      const list = { lane, band, index, at };
      hits.get(lane).push(list);
      lists.push(list);
      total += at.length;
    };
    const isNamed = words.length > 0 && rest.length === 0;
    if (isNamed && !isTimed) add("thread", [0], [lane.runs.at[0] ?? 0]);
    // Of a lane that is called so all that takes as long; else what is called so.
    const wanted = isNamed ? (isTimed ? [] : words) : rest;
    const { runs, posts, calls, memory } = lane;
    const bands = [["state", lane.thread ? "state" : "cpu", runs.what, (i) => runs.at[i], (i) => runs.at[i + 1]]];
    if (posts) bands.push(["post", "post", posts.name, (i) => posts.from[i], (i) => (isNaN(posts.to[i]) ? posts.from[i] : posts.to[i])]);
    if (calls) bands.push(["call", "call", calls.number, (i) => calls.from[i], (i) => calls.to[i]]);
    if (memory) bands.push(["memory", "memory", memory.operation, (i) => memory.from[i], (i) => memory.to[i]]);
    for (const [band, of, what, from, to] of bands) {
      if (what.length === 0) continue;
      const { isMeant, isAny } = meant(of, wanted);
      if (!isAny) continue;
      const [index, at] = [[], []];
      for (let i = 0; i < what.length; i++) {
        if (!isMeant.get(what[i])) continue;
        const length = to(i) - from(i);
        if (isTimed && !(length > least && length < most)) continue;
        index.push(i);
        at.push(from(i));
      }
      add(band, index, at);
    }
  }
}

// Threads first, then by time, from the top down.
const keyOf = ({ band, lane, at }, i) => [band === "thread" ? 0 : 1, band === "thread" ? 0 : at[i], lane.number, BANDS.indexOf(band)];
const order2 = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];

// How many hits of a list stand before a key.
function before(list, key) {
  let [low, high] = [0, list.at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order2(keyOf(list, middle), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The hit after or before the last one; round again at the end.
function nextHit(isBack) {
  let best = null;
  const offer = (list, i) => {
    if (i < 0 || i >= list.at.length) return;
    const key = keyOf(list, i);
    if (!best || (isBack ? order2(key, best.key) > 0 : order2(key, best.key) < 0)) best = { key, list, i };
  };
  for (const list of lists) {
    if (!last) offer(list, isBack ? list.at.length - 1 : 0);
    else {
      const at = before(list, last);
      const isSame = at < list.at.length && order2(keyOf(list, at), last) === 0;
      offer(list, isBack ? at - 1 : at + (isSame ? 1 : 0));
    }
  }
  return best;
}

function search(isBack) {
  const text = asked.value.trim();
  if (!isLoaded) return;
  if (text !== query) collect(text);
  if (total === 0) return count();
  let found = nextHit(isBack);
  if (!found) {
    last = null;
    found = nextHit(isBack);
  }
  last = found.key;
  const { list, i } = found;
  const { lane, band } = list;
  unfoldFor(lane);
  const item = band === "thread" ? stateAt(lane, lane.runs.at[0] ?? lane.samples?.at[0] ?? 0) : { lane, band, index: list.index[i] };
  count();
  if (item) choose(item);
  else reveal(lane);
}

// Says which of how many is shown.
function count() {
  const out = document.getElementById("found");
  const isAsked = query !== "";
  const place = last && lists.reduce((sum, list) => sum + before(list, last), 1);
  out.textContent = !isAsked ? "" : total === 0 ? "nothing found" : last ? `${place} of ${total}` : `${total} found`;
  for (const id of ["next", "previous"]) document.getElementById(id).disabled = total === 0 && isAsked;
  redraw();
  keepAddress();
}

let waiting = 0;
asked.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (!isLoaded || asked.value.trim() === query) return;
    collect(asked.value.trim());
    count();
  }, 150);
});
asked.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  search(event.shiftKey);
});
document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("next").addEventListener("click", () => search(false));
document.getElementById("previous").addEventListener("click", () => search(true));
