// Where each lane is, and what is at a place of it. Lengths are CSS pixels; bands of a
// lane from top to bottom: signposts, states, calls, operations on memory.

const AXIS = 26;
const BAND = { state: 18, call: 12, memory: 12, post: 14, group: 22 };
// Signposts within each other that have a band of their own.
const POSTS = 12;
const GAP = 5;

// Those that have a place, from top to bottom, and all; with the headings of groups among those.
let lanes = [];
let everyLane = [];
let groups = [];
let isLoaded = false;
// Height of all that has a place; down to where lanes are fixed above those that scroll.
let height = 0;
let fixedEnd = AXIS;
const sparse = document.getElementById("sparse");
const order = document.getElementById("order");
// What is folded and what stands above all others, by their keys.
const folded = new Set();
const above = new Set();
const byId = new Map();

function place(loaded) {
  everyLane = loaded;
  const byKey = new Map();
  const group = (key, label) => byKey.get(key) ?? byKey.set(key, { key, label, lanes: [], isGroup: true }).get(key);
  for (const [at, lane] of everyLane.entries()) {
    const levels = lane.posts ? lane.posts.level.reduce((most, level) => Math.max(most, level + 1), 0) : 0;
    lane.state = levels * BAND.post;
    lane.call = lane.state + BAND.state;
    lane.bottom = lane.call + (lane.calls?.from.length ? BAND.call : 0);
    lane.height = lane.bottom + (lane.memory?.from.length ? BAND.memory : 0);
    const { thread } = lane;
    lane.number = at;
    lane.ran = thread ? timesBetween(lane, 0, whole.to)[0] : 0;
    lane.key = thread ? String(thread.id) : `cpu${lane.cpu}`;
    if (thread && !byId.get(thread.id)?.push(lane)) byId.set(thread.id, [lane]);
    lane.group = thread ? group(`p${thread.process}`, "") : group("cpus", "CPUs");
    lane.group.lanes.push(lane);
  }
  groups = [...byKey.values()];
  for (const one of groups) {
    one.ran = one.lanes.reduce((sum, { ran }) => sum + ran, 0);
    one.first = one.lanes[0].number;
    const process = one.lanes[0].thread?.process;
    if (process === undefined) continue;
    const { thread } = one.lanes.find(({ thread }) => thread.id === process) ?? one.lanes[0];
    one.label = process ? `${thread.name || "process"} ${process}` : "Process not recorded";
  }
  isLoaded = true;
}

const isByActivity = () => order.value === "activity";
const sorted = (all) => (isByActivity() ? [...all].sort((a, b) => b.ran - a.ran || a.number - b.number) : all);

// Gives each lane its place; with the switch, those of threads that live in what is seen.
function arrange({ from, to }) {
  const isThere = ({ thread }) => !sparse.checked || !thread || (thread.from_ns < to && thread.to_ns > from);
  for (const lane of everyLane) [lane.top, lane.isFixed] = [null, false];
  lanes = [];
  let top = AXIS + GAP;
  const put = (one, high) => {
    one.top = top;
    lanes.push(one);
    top += high + GAP;
  };
  const raised = everyLane.filter(({ key }) => above.has(key));
  for (const lane of raised) put(lane, lane.height);
  // What is fixed leaves half of the room to the others.
  const isFixed = top < mostHigh() / 2;
  for (const lane of raised) lane.isFixed = isFixed;
  fixedEnd = isFixed && raised.length > 0 ? top : AXIS;
  const [cpus, processes] = [groups.filter(({ key }) => key === "cpus"), groups.filter(({ key }) => key !== "cpus")];
  if (isByActivity()) processes.sort((a, b) => b.ran - a.ran || a.first - b.first);
  for (const group of [...cpus, ...processes]) {
    const own = group.lanes.filter((lane) => isThere(lane) && !above.has(lane.key));
    group.shown = own.length;
    group.top = null;
    if (own.length === 0) continue;
    put(group, BAND.group - GAP);
    if (!folded.has(group.key)) for (const lane of group.key === "cpus" ? own : sorted(own)) put(lane, lane.height);
  }
  height = top;
}

const heightOf = (row) => (row.isGroup ? BAND.group - GAP : row.height);
const shownTop = (row) => (row.isFixed ? row.top : row.top - room.top);

// The rows that are seen in a box of this height.
function rowsSeen(high) {
  const fixed = lanes.filter(({ isFixed }) => isFixed);
  const [low, end] = [room.top + fixedEnd, room.top + high];
  const seen = [];
  for (let i = rowAt(low) ; i < lanes.length && lanes[i].top < end; i++) if (!lanes[i].isFixed) seen.push(lanes[i]);
  return [fixed, seen];
}

// The place of the first row that ends below a height.
function rowAt(y) {
  let [low, high] = [0, lanes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lanes[middle].top + heightOf(lanes[middle]) + GAP / 2 <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The row at a height of the box.
function rowUnder(y) {
  if (y < AXIS) return null;
  const row = lanes[rowAt(y < fixedEnd ? y : y + room.top)];
  return row && y >= shownTop(row) - GAP / 2 ? row : null;
}

// The lane of a thread's number at a time; numbers are used again.
function laneOf(id, at) {
  const all = byId.get(id);
  return all?.find(({ thread }) => thread.from_ns <= at && at <= thread.to_ns) ?? all?.at(-1);
}

// What is at a height of the box and a time; `slack` is how far from a moment one may point.
function hit(y, at, slack) {
  const lane = rowUnder(y);
  if (!lane || lane.isGroup) return null;
  const inside = y - shownTop(lane);
  if (inside < lane.state) {
    const level = (Math.max(0, inside) / BAND.post) | 0;
    const index = postAt(lane.posts, level, at, slack);
    return index < 0 ? null : { lane, band: "post", index };
  }
  if (inside >= lane.bottom && lane.memory?.from.length) {
    const index = find(lane.memory.from, at + slack);
    if (index >= 0 && lane.memory.to[index] >= at - slack) return { lane, band: "memory", index };
  } else if (inside >= lane.call && lane.calls?.from.length) {
    const index = find(lane.calls.from, at + slack);
    if (index >= 0 && lane.calls.to[index] >= at - slack) return { lane, band: "call", index };
  }
  return stateAt(lane, at);
}

// The one that was entered last, of those of this level.
function postAt(posts, level, at, slack) {
  for (let i = find(posts.from, at + slack), steps = 0; i >= 0 && steps < 1e5; i--, steps++) {
    if (posts.level[i] === level && (isNaN(posts.to[i]) ? posts.from[i] : posts.to[i]) >= at - slack) return i;
  }
  return -1;
}

function stateAt(lane, at) {
  const { at: ends, what } = lane.runs;
  const index = find(ends, at);
  if (index >= 0 && index < what.length) return { lane, band: "state", index };
  const inside = lane.samples?.at.length > 1 && at >= lane.samples.at[0] && at < lane.samples.at.at(-1);
  return inside ? { lane, band: "sample", index: find(lane.samples.at, at) } : null;
}

// Begin and end of what is pointed at.
function timesOf({ lane, band, index }) {
  const ends = {
    state: () => [lane.runs.at[index], lane.runs.at[index + 1]],
    sample: () => [lane.samples.at[index], lane.samples.at[index + 1]],
    call: () => [lane.calls.from[index], lane.calls.to[index]],
    post: () => [lane.posts.from[index], isNaN(lane.posts.to[index]) ? lane.posts.from[index] : lane.posts.to[index]],
    memory: () => [lane.memory.from[index], lane.memory.from[index] + Math.max(0, lane.memory.lengths[index])],
  };
  return ends[band]();
}

// Top and height of what is pointed at, in its lane.
function bandOf({ lane, band, index }) {
  if (band === "post") return [lane.posts.level[index] * BAND.post, BAND.post];
  if (band === "call") return [lane.call, BAND.call];
  if (band === "memory") return [lane.bottom, BAND.memory];
  return [lane.state, BAND.state];
}

// Wake-ups that belong to what is pointed at: the one that ended or began a wait, and
// those that a running thread did; with the lanes they go between.
let wakeupsKnown = { item: null, edges: [] };
function wakeupsOf(item) {
  if (item?.band !== "state" || !item.lane.thread) return [];
  if (wakeupsKnown.item !== item) wakeupsKnown = { item, edges: edgesOf(item) };
  return wakeupsKnown.edges;
}
function edgesOf(item) {
  const [from, to] = timesOf(item);
  const isRunning = item.lane.runs.shadeOf[item.lane.runs.what[item.index]] === 0;
  const edges = [];
  for (const lane of isRunning ? everyLane : [item.lane]) {
    const times = lane.woken?.at ?? [];
    for (let i = find(times, from - 0.5) + 1; i < times.length && times[i] <= to; i++) {
      const [by, cpu] = names.wakers[lane.woken.waker[i]];
      const isOfIt = lane === item.lane;
      if (isOfIt || by === item.lane.thread.id) edges.push({ at: times[i], isOfIt, by, cpu, from: laneOf(by, times[i]), to: lane });
    }
  }
  return edges;
}
