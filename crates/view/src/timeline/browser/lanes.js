// Where each lane is, and what is at a place of it. Lengths are CSS pixels; bands of a
// lane from top to bottom: signposts, states, calls, moments.

const AXIS = 26;
const BAND = { state: 18, call: 13, moment: 6, post: 14 };
// Signposts within each other that have a band of their own.
const POSTS = 4;
const GAP = 7;

// Those that have a place, and all.
let lanes = [];
let everyLane = [];
let isLoaded = false;
// Height of all lanes that have a place.
let height = 0;
const sparse = document.getElementById("sparse");

function place(loaded) {
  everyLane = loaded;
  for (const lane of everyLane) {
    const levels = lane.posts ? lane.posts.level.reduce((most, level) => Math.max(most, level + 1), 0) : 0;
    lane.state = levels * BAND.post;
    lane.call = lane.state + BAND.state;
    lane.moment = lane.call + (lane.calls?.from.length ? BAND.call : 0);
    lane.height = lane.moment + (lane.moments?.at.length ? BAND.moment : 0);
  }
  isLoaded = true;
}

// Gives each lane its place; with the switch, those of threads that live in what is seen.
function arrange({ from, to }) {
  const isThere = ({ thread }) => !sparse.checked || !thread || (thread.from_ns < to && thread.to_ns > from);
  lanes = everyLane.filter(isThere);
  for (const lane of everyLane) lane.top = null;
  let top = AXIS + GAP;
  for (const lane of lanes) {
    lane.top = top;
    top += lane.height + GAP;
  }
  height = top;
}

// The lanes that are seen between two heights.
const lanesFrom = (low, high) => lanes.filter(({ top, height }) => top + height > low && top < high);

// The lane of a thread's number at a time; numbers are used again.
function laneOf(id, at) {
  const all = everyLane.filter(({ thread }) => thread?.id === id);
  return all.find(({ thread }) => thread.from_ns <= at && at <= thread.to_ns) ?? all.at(-1);
}

// What is at a height of the lanes and a time; `slack` is how far from a moment one may point.
function hit(y, at, slack) {
  const lane = lanes.find(({ top, height }) => y >= top - GAP / 2 && y < top + height + GAP / 2);
  if (!lane) return null;
  const inside = y - lane.top;
  if (inside < lane.state) {
    const level = (Math.max(0, inside) / BAND.post) | 0;
    const index = postAt(lane.posts, level, at, slack);
    return index < 0 ? null : { lane, band: "post", index };
  }
  if (inside >= lane.moment && lane.moments?.at.length) {
    const { at: times } = lane.moments;
    const before = find(times, at);
    const near = [before, before + 1].filter((i) => i >= 0 && Math.abs(times[i] - at) <= slack);
    near.sort((a, b) => Math.abs(times[a] - at) - Math.abs(times[b] - at));
    if (near.length) return { lane, band: "moment", index: near[0] };
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
    moment: () => [lane.moments.at[index], lane.moments.at[index]],
  };
  return ends[band]();
}

// Top and height of what is pointed at, in its lane.
function bandOf({ lane, band, index }) {
  if (band === "post") return [lane.posts.level[index] * BAND.post, BAND.post];
  if (band === "call") return [lane.call, BAND.call];
  if (band === "moment") return [lane.moment, BAND.moment];
  return [lane.state, BAND.state];
}

// Wake-ups that belong to what is pointed at: the one that ended or began a wait, and
// those that a running thread did; with the lanes they go between.
function wakeupsOf(item) {
  if (item?.band !== "state" || !item.lane.thread) return [];
  const [from, to] = timesOf(item);
  const isRunning = item.lane.runs.shadeOf[item.lane.runs.what[item.index]] === 0;
  const edges = [];
  for (const lane of isRunning ? everyLane : [item.lane]) {
    const times = lane.woken?.at ?? [];
    for (let i = find(times, from - 0.5) + 1; i < times.length && times[i] <= to && edges.length < 64; i++) {
      const [by, cpu] = names.wakers[lane.woken.waker[i]];
      const isOfIt = lane === item.lane;
      if (isOfIt || by === item.lane.thread.id) edges.push({ at: times[i], isOfIt, by, cpu, from: laneOf(by, times[i]), to: lane });
    }
  }
  return edges;
}
