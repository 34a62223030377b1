// What is said of a place of the timeline.

const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
// Functions of a stack that are listed.
const STACK_LINES = 16;

// A length of time in three digits.
function duration(ns) {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  const [unit, size] = UNITS.find(([, size]) => Number((ns / size).toPrecision(3)) >= 1);
  const digits = (ns / size).toPrecision(3);
  return `${digits.includes("e") ? Number(digits) : digits} ${unit}`;
}
// A moment to the nanosecond.
const moment = (ns) => `${(ns / 1e6).toFixed(6)} ms`;
const hex = (value) => `0x${value.toString(16)}`;

function threadName(id) {
  const name = names.names[id];
  return name ? `${name} ${id}` : `thread ${id}`;
}
const callName = (number) => names.calls[number] ?? `call ${number}`;

// A state with its details; the shorter ones are for stretches with less room.
function stateTexts({ thread, runs }, index) {
  if (!thread) {
    const what = names.occupants[runs.what[index]];
    if (what.thread > 0) return [threadName(what.thread), names.names[what.thread] ?? String(what.thread)];
    return [{ unknown: "unknown", lost: "lost", not_traced: "no traced thread" }[what] ?? "idle"];
  }
  const [kind, detail, isHeld] = names.states[runs.what[index]];
  const name = names.kinds[kind];
  if (name === "running") return [`running on CPU ${detail}`, `CPU ${detail}`];
  if (name === "preempted") return [`preempted by ${detail === 0 ? "no thread (CPU quota)" : threadName(detail)}`, name];
  if (name !== "blocked") return [name];
  const held = isHeld ? " (uninterruptible)" : "";
  return detail === null ? [name + held, name] : [`blocked in ${callName(detail)}${held}`, `blocked in ${callName(detail)}`, callName(detail)];
}

function wakeupTexts(item) {
  const edges = wakeupsOf(item);
  const [from, to] = timesOf(item);
  const waker = ({ by, cpu }) => (by === null ? `an interrupt on CPU ${cpu}` : by === 0 ? `the idle task of CPU ${cpu}` : `${threadName(by)} on CPU ${cpu}`);
  // The end of one stretch is the begin of the next: it is said of both.
  const own = edges.filter(({ isOfIt, at }) => isOfIt && (at === from || at === to)).map((edge) => `woken by ${waker(edge)} at ${moment(edge.at)}`);
  const woken = [...new Set(edges.filter(({ isOfIt }) => !isOfIt).map((edge) => edge.to.label))];
  return [...own, ...(woken.length ? [`woke ${woken.slice(0, 5).join(", ")}${woken.length > 5 ? " and others" : ""}`] : [])];
}

function callText({ calls }, index) {
  const [a, b, c, isBack, value] = detailsOf(calls.details, 5, index);
  const returned = isBack ? ` = ${returnedText(BigInt.asIntN(64, value))}` : ", not returned";
  return `${callName(calls.number[index])}(${[a, b, c].map(hex).join(", ")})${returned}`;
}
// The kernel's codes of errors are small negative numbers, addresses large ones.
const returnedText = (value) => (value > 0xffffffn ? hex(value) : String(value));

function momentText({ moments }, index) {
  const [code, address, size] = detailsOf(moments.details, 3, index);
  if (code === 4n) return `mapped ${size} bytes at ${hex(address)}`;
  const by = ["on a load", "on a store", "on an instruction", ""][Number(code)];
  return `page fault ${by} at ${hex(address)}`.replace("  ", " ");
}

// The functions that a thread was in while it did not run, the innermost first.
function stackTexts({ stacks }, index) {
  const at = find(stacks.place, index);
  if (at < 0 || stacks.place[at] !== index) return [];
  const texts = [];
  let next = stacks.stack[at];
  while (names.stacks[next] && texts.length < STACK_LINES) {
    const [frame, caller] = names.stacks[next];
    texts.push(`at ${names.frames[frame] ?? "?"}`);
    if (caller === null || caller >= next) return texts;
    next = caller;
  }
  return [...texts, "…"];
}

// What it is, in one line.
function nameOf({ lane, band, index }) {
  if (band === "call") return callText(lane, index);
  if (band === "moment") return momentText(lane, index);
  if (band === "post") return names.signposts[lane.posts.name[index]] ?? "unknown signpost";
  if (band === "sample") return "no states recorded";
  return stateTexts(lane, index)[0];
}

// Everything about it, line by line.
function linesOf(item) {
  const { lane, band, index } = item;
  const [from, to] = timesOf(item);
  const lines = [lane.label, nameOf(item)];
  lines.push(to > from ? `${duration(to - from)} from ${moment(from)} to ${moment(to)}` : `at ${moment(from)}`);
  if (band === "sample") {
    const { running } = lane.samples;
    lines.push(`${duration(running[index + 1] - running[index])} of it on a CPU`);
  }
  if (!lane.thread) return lines;
  lines.push(...wakeupTexts(item));
  if (band === "state") lines.push(...stackTexts(lane, index));
  if (band === "state" || band === "moment") {
    const call = find(lane.calls.from, from);
    if (call >= 0 && lane.calls.to[call] > from) lines.push(`in ${callText(lane, call)}, ${duration(lane.calls.to[call] - lane.calls.from[call])}`);
    for (let level = 0; level < POSTS; level++) {
      const post = postAt(lane.posts, level, from, 0);
      if (post >= 0 && lane.posts.to[post] > from) lines.push(`in signpost ${nameOf({ lane, band: "post", index: post })}`);
    }
  }
  return lines;
}

// What is said where there is no stretch: of the thread.
function threadLines({ thread, cpu }) {
  if (!thread) return [`CPU ${cpu}`];
  const by = thread.created_by === null ? [] : [`created by ${threadName(thread.created_by)}`];
  const process = thread.process ? [`process ${thread.process}`] : [];
  return [thread.name ? `${thread.name} ${thread.id}` : `thread ${thread.id}`, ...process, ...by, `seen from ${moment(thread.from_ns)} to ${moment(thread.to_ns)}${thread.ended ? ", ended" : ""}`];
}
