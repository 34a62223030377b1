// What is said of a place of the timeline.

const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
// Functions of a stack that are listed.
const STACK_LINES = 40;

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

const isRightToLeft = (text) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(text);
// A name that reads from right to left ends with a mark (U+200E), so that its number stands after it.
const ended = (name) => (isRightToLeft(name) ? `${name}\u200e` : name);

// A thread with its number, if that is one of the system (Thread::has_number).
const titleOf = ({ name, id }) => (name ? (id < 2 ** 31 ? `${ended(name)} ${id}` : name) : String(id));
function threadName(id) {
  const name = names.names[id];
  return name ? `${ended(name)} ${id}` : `thread ${id}`;
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

const wakerText = ({ by, cpu }) => (by === null ? `an interrupt on CPU ${cpu}` : by === 0 ? `the idle task of CPU ${cpu}` : `${threadName(by)} on CPU ${cpu}`);
// The end of one stretch is the begin of the next: a wake-up is said of both.
function ownWakeups(item) {
  const [from, to] = timesOf(item);
  return wakeupsOf(item).filter(({ isOfIt, at }) => isOfIt && (at === from || at === to));
}
const woken = (item) => [...new Set(wakeupsOf(item).filter(({ isOfIt }) => !isOfIt).map((edge) => edge.to))];

function callText({ calls }, index) {
  const [a, b, c, isBack, value] = detailsOf(calls.details, 5, index);
  const returned = isBack ? ` = ${returnedText(BigInt.asIntN(64, value))}` : ", not returned";
  const name = callName(calls.number[index]);
  return `${name}(${argumentTexts(name, [a, b, c]).join(", ")})${returned}`;
}

// Of calls of the allocator.
const NO_ADDRESS = 4n;
function memoryText({ memory }, index) {
  const [access, address, size] = detailsOf(memory.details, 3, index);
  const by = [" on a load", " on a store", " on an instruction"][Number(access)] ?? "";
  const much = size > 0n ? `, ${size - 1n} bytes` : "";
  const where = access === NO_ADDRESS ? "" : ` at ${hex(address)}`;
  return `${names.memory[memory.operation[index]]}${by}${where}${much}`;
}

// The functions that a thread was in while it did not run, the innermost first.
function stackTexts({ stacks }, index) {
  const at = find(stacks.place, index);
  return at < 0 || stacks.place[at] !== index ? [] : wholeStack(stacks.stack[at], STACK_LINES);
}
function wholeStack(stack, most) {
  const texts = [];
  let next = stack;
  while (names.stacks[next] && texts.length < most) {
    const [frame, caller] = names.stacks[next];
    texts.push(names.frames[frame] ?? "?");
    if (caller === null || caller >= next) return texts;
    next = caller;
  }
  return [...texts, "…"];
}

// What it is, in one line.
function nameOf({ lane, band, index }) {
  if (band === "call") return callText(lane, index);
  if (band === "memory") return memoryText(lane, index);
  if (band === "post") return names.signposts[lane.posts.name[index]] ?? "unknown signpost";
  if (band === "sample") return "no states recorded";
  return stateTexts(lane, index)[0];
}

// How long it takes, and when that is.
function timeText(item) {
  const { lane, band, index } = item;
  const [from, to] = timesOf(item);
  if (band === "memory" && lane.memory.lengths[index] < 0) return `at ${moment(from)}; its end is not recorded`;
  return to > from ? `${duration(to - from)} from ${moment(from)} to ${moment(to)}` : `at ${moment(from)}`;
}

// What is said where the pointer is: the panel has the rest.
function linesOf(item) {
  const { lane, band, index } = item;
  const name = band === "call" ? callName(lane.calls.number[index]) : nameOf(item);
  const lines = [lane.label, name, timeText(item)];
  if (lane.thread && band === "state") lines.push(...ownWakeups(item).map((edge) => `woken by ${wakerText(edge)} at ${moment(edge.at)}`));
  return lines;
}

// What is said where there is no stretch: of the thread.
function threadLines({ thread, cpu, ran, posts }) {
  if (!thread) return [`CPU ${cpu}`];
  const by = thread.created_by === null ? [] : [`created by ${threadName(thread.created_by)}`];
  const process = thread.process ? [`process ${thread.process}`] : [];
  const seen = `seen from ${moment(thread.from_ns)} to ${moment(thread.to_ns)}${thread.ended ? ", ended" : ""}`;
  const deeper = posts.deeper ? [`${posts.deeper} signposts within ${POSTS} others share the last band`] : [];
  return [thread.name ? titleOf(thread) : `thread ${thread.id}`, ...process, ...by, seen, `${duration(ran)} on CPUs`, ...deeper];
}
