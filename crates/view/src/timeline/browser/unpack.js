// The lanes, in the order in which `pack.rs` writes them.

function callsOf(read) {
  const from = read.times();
  const lengths = read.numbers(from.length, Float64Array);
  const number = read.numbers(from.length, Uint32Array);
  return spans({ from, to: from.map((at, i) => at + lengths[i]), number, details: read.within() });
}

// With the time of all up to each, and the longest of each block.
function spans(all) {
  const { from, to } = all;
  all.sums = new Float64Array(from.length + 1);
  all.longest = new Float64Array(Math.ceil(from.length / BLOCK));
  for (let i = 0; i < from.length; i++) {
    all.sums[i + 1] = all.sums[i] + to[i] - from[i];
    all.longest[(i / BLOCK) | 0] = Math.max(all.longest[(i / BLOCK) | 0], to[i] - from[i]);
  }
  return all;
}

// Operations on memory. One whose end is not recorded is a moment, which has a length only to be seen.
function memoryOf(read) {
  const from = read.times();
  const lengths = read.numbers(from.length, Float64Array).map((length) => length - 1);
  const operation = read.numbers(from.length, Uint8Array);
  const to = from.map((at, i) => at + Math.max(1e-3, lengths[i]));
  return spans({ from, to, lengths, operation, details: read.within() });
}

function postsOf(read) {
  const from = read.times();
  const [to, reach, name, level] = [new Float64Array(from.length), new Float64Array(from.length), new Uint32Array(from.length), new Uint8Array(from.length)];
  // Ends of those that are open, the outer ones first.
  const open = [];
  let deeper = 0;
  for (let i = 0; i < from.length; i++) {
    const length = read.number();
    to[i] = length ? from[i] + length - 1 : NaN;
    name[i] = read.number();
    while (open.length && open.at(-1) <= from[i]) open.pop();
    level[i] = Math.min(open.length, POSTS - 1);
    deeper += open.length >= POSTS;
    if (length) open.push(to[i]);
    // How far those up to here go.
    reach[i] = Math.max(i ? reach[i - 1] : 0, length ? to[i] : from[i]);
  }
  return { from, to, reach, name, level, deeper };
}

// Stretches of a lane by their places, with the stacks with which the thread had left its CPU.
function stacksOf(read) {
  const place = read.times();
  return { place, stack: read.numbers(place.length, Uint32Array) };
}

// The lanes from top to bottom: CPUs, then threads.
function lanesOf(read) {
  const states = names.states.map(([kind]) => kind);
  const threads = names.threads.map((thread) => {
    const runs = read.runs(thread.from_ns, states);
    return {
      thread,
      label: titleOf(thread),
      runs,
      samples: { at: read.times(), running: read.times() },
      faults: read.times(),
      calls: callsOf(read),
      memory: memoryOf(read),
      posts: postsOf(read),
      stacks: stacksOf(read),
      woken: wokenOf(read, runs),
    };
  });
  const shadeOf = shadesOnCpus();
  const own = lanesByNumber(threads);
  const cpus = names.cpus.map((cpu) => ({ cpu, label: `CPU ${cpu}`, runs: runsOfCpu(read, own, shadeOf) }));
  return [...cpus, ...threads];
}

// What is on a CPU has the colour of its process; where there is one process, of its thread.
function shadesOnCpus() {
  const processes = new Map();
  const isSeveral = new Set(names.threads.map(({ process }) => process)).size > 1;
  const counts = new Map();
  const ofThread = new Map();
  for (const { id, process } of names.threads) {
    if (!processes.has(process)) processes.set(process, processes.size);
    const [p, at] = [processes.get(process), counts.get(process) ?? 0];
    counts.set(process, at + 1);
    const [hue, lightness] = isSeveral ? [p % HUES, at % 2] : [at % HUES, Math.floor(at / HUES) % 2];
    ofThread.set(id, PROCESS + 2 * hue + lightness);
  }
  const greyOf = (text) => [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973, 7) % GREYS;
  return names.occupants.map((one) => {
    if (one === "lost") return LOST;
    if (one === "not_traced") return NOT_TRACED;
    if (one === "unknown") return UNKNOWN;
    if (one.thread === 0) return IDLE;
    return ofThread.get(one.thread) ?? OTHER + greyOf(names.names[one.thread] ?? String(one.thread));
  });
}

// The lanes of each number, which is used again, by their begins.
function lanesByNumber(threads) {
  const own = new Map();
  for (const { thread, runs } of threads) {
    if (runs.what.length === 0) continue;
    if (!own.has(thread.id)) own.set(thread.id, { lanes: [] });
    own.get(thread.id).lanes.push(runs);
  }
  for (const same of own.values()) {
    same.lanes.sort((a, b) => a.at[0] - b.at[0]);
    same.begins = Float64Array.from(same.lanes, (runs) => runs.at[0]);
  }
  return own;
}

// A CPU's lane: where a thread ran, its end is that of the thread's own stretch.
function runsOfCpu(read, own, shadeOf) {
  const marks = read.numbers(read.number(), Uint32Array);
  const lengths = reader(read.within());
  const at = new Float64Array(marks.length + 1);
  for (let i = 0; i < marks.length; i++) {
    if (marks[i] % 2 === 0) {
      at[i + 1] = at[i] + lengths.number();
      continue;
    }
    const { lanes, begins } = own.get(names.occupants[marks[i] >> 1].thread);
    const runs = lanes[find(begins, at[i])];
    at[i + 1] = runs?.at[find(runs.at, at[i]) + 1] ?? at[i];
  }
  return summed({ at, what: marks.map((mark) => mark >> 1), shadeOf });
}

// When a thread was woken, and by what.
function wokenOf(read, runs) {
  const begins = read.times().map((place) => runs.at[place]);
  const others = read.times();
  const waker = read.numbers(begins.length + others.length, Uint32Array);
  if (others.length === 0) return { at: begins, waker };
  const all = [...begins, ...others].map((at, i) => [at, waker[i]]).sort(([a], [b]) => a - b);
  return { at: Float64Array.from(all, ([at]) => at), waker: Uint32Array.from(all, ([, waker]) => waker) };
}

// The numbers of one entry among many of as many numbers each, as large as they are.
function detailsOf(bytes, each, index) {
  let at = 0;
  for (let skip = each * index; skip > 0; at++) if (bytes[at] < 128) skip--;
  return Array.from({ length: each }, () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  });
}
