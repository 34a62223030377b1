// The panel of the pinned slice: all that is known of it, as text.

const panel = document.getElementById("slice");

// An element with what is in it: texts never become markup.
function element(name, properties, ...inside) {
  const one = Object.assign(document.createElement(name), properties);
  one.append(...inside);
  return one;
}

const WAITING = ["runnable", "preempted", "yielded", "preempted or yielded"].map((name) => names.kinds.indexOf(name));
// Waits of a slice that are followed to a CPU.
const MOST_WAITS = 20_000;
const MOST_OCCUPANTS = 8;

// Time by state within a slice.
function statesWithin({ lane, band }, [from, to]) {
  if (!lane.thread || band === "state" || !(to > from)) return "";
  const times = timesBetween(lane, from, to);
  const all = names.kinds.map((name, kind) => [name, times[kind]]).filter(([, ns]) => ns > 0).sort(([, a], [, b]) => b - a);
  return all.map(([name, ns]) => `${name} ${duration(ns)} (${((100 * ns) / (to - from)).toFixed(ns < (to - from) / 100 ? 1 : 0)} %)`).join(", ");
}

// What had the CPU while the thread was ready to run: on the CPU where it ran next.
function meanwhile({ lane }, [from, to]) {
  if (!lane.thread || lane.runs.what.length === 0) return "";
  const { at, what, shadeOf } = lane.runs;
  const sums = new Map();
  let [left, waits, open] = [0, 0, 0];
  for (let i = Math.max(0, find(at, from)); i < what.length && at[i] < to; i++) {
    if (!WAITING.includes(shadeOf[what[i]])) continue;
    const [begin, end] = [Math.max(at[i], from), Math.min(at[i + 1], to)];
    if (++waits > MOST_WAITS) {
      left += end - begin;
      continue;
    }
    let next = i + 1;
    while (next < what.length && WAITING.includes(shadeOf[what[next]])) next++;
    const cpu = shadeOf[what[next]] === 0 ? cpuLanes.get(names.states[what[next]][1]) : undefined;
    if (cpu) occupied(cpu.runs, begin, end, sums);
    else open += end - begin;
  }
  const all = [...sums].sort(([, a], [, b]) => b - a);
  const texts = all.slice(0, MOST_OCCUPANTS).map(([what, ns]) => `${what} ${duration(ns)}`);
  const others = all.slice(MOST_OCCUPANTS);
  if (others.length) texts.push(`${others.length} others ${duration(others.reduce((sum, [, ns]) => sum + ns, 0))}`);
  if (open > 0) texts.push(`not known ${duration(open)} (where it would run next is not recorded)`);
  if (left > 0) texts.push(`not looked at: ${waits - MOST_WAITS} waits, ${duration(left)}`);
  return texts.join(", ");
}

// Adds the time of each that had a CPU between two moments.
function occupied({ at, what }, from, to, sums) {
  for (let i = Math.max(0, find(at, from)); i < what.length && at[i] < to; i++) {
    const ns = Math.min(at[i + 1], to) - Math.max(at[i], from);
    if (ns <= 0) continue;
    const name = occupantText(what[i]);
    sums.set(name, (sums.get(name) ?? 0) + ns);
  }
}

// Why the slow operations that a slice is of, or is a part of, were slow.
function slowTexts({ thread }, [from]) {
  return names.slow.filter(([id, begin, end]) => id === thread.id && begin <= from && from < end).map(([, , , why]) => why);
}

// A link to what a thread does at a time.
function link(text, lane, at) {
  return element("a", { href: `#slice=state:${lane.key}@${Math.round(at)}`, textContent: text });
}

// The facts of a slice: a name and a text each, or what else stands there.
function factsOf(item) {
  const { lane, band, index } = item;
  const times = timesOf(item);
  const facts = [["time", [timeText(item)]]];
  const add = (name, ...inside) => inside.length && inside[0] && facts.push([name, inside]);
  if (band === "sample") add("running", `${duration(lane.samples.running[index + 1] - lane.samples.running[index])} of it on a CPU`);
  add("states within", statesWithin(item, times));
  add("CPU meanwhile", meanwhile(item, times));
  if (!lane.thread) return facts;
  for (const why of slowTexts(lane, times)) add("slow", why);
  for (const edge of ownWakeups(item)) {
    const text = wakerText(edge);
    add("woken by", edge.from ? link(text, edge.from, edge.at - 1) : text, ` at ${moment(edge.at)}`);
  }
  const others = woken(item);
  add("woke", others.slice(0, 12).map((one) => one.label).join(", ") + (others.length > 12 ? ` and ${others.length - 12} others` : ""));
  const edges = wakeupsOf(item).length;
  if (edges > MOST_ARROWS) add("arrows", `the first ${MOST_ARROWS} of ${edges} wake-ups`);
  if (band !== "call") {
    const call = find(lane.calls.from, times[0]);
    if (call >= 0 && lane.calls.to[call] > times[0]) add("in call", `${callText(lane, call)}, ${duration(lane.calls.to[call] - lane.calls.from[call])}`);
  }
  for (let level = 0; band !== "post" && level < POSTS; level++) {
    const post = postAt(lane.posts, level, times[0], 0);
    if (post >= 0 && lane.posts.to[post] > times[0]) add("in signpost", nameOf({ lane, band: "post", index: post }));
  }
  const stack = band === "state" ? stackTexts(lane, index) : [];
  if (stack.length) add("stack", element("ol", { className: "stack" }, ...stack.map((textContent) => element("li", { textContent }))));
  add("thread", threadLines(lane).slice(1).join(", "));
  return facts;
}

function showSlice() {
  panel.hidden = !pinned;
  if (!pinned) return;
  const { lane } = pinned;
  panel.querySelector("h3").textContent = `${lane.label}: ${nameOf(pinned)}`;
  panel.querySelector("dl").replaceChildren(...factsOf(pinned).flatMap(([name, inside]) => [element("dt", { textContent: name }), element("dd", {}, ...inside)]));
  panel.querySelector("#raise").textContent = above.has(lane.key) ? "Lower lane" : "Lane to the top";
}
