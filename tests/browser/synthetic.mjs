// Writes a trace of a given number of segments: node synthetic.mjs SEGMENTS THREADS [sched] | zstd > FILE.
// The threads of two CPUs take turns: each runs, is preempted or blocked, is woken by the one
// that runs. With calls, faults, stacks, signposts and a lost stretch in the first few threads.

const SEGMENTS = Number(process.argv[2] ?? 20000);
const THREADS = Number(process.argv[3] ?? 16);
// With "sched": states, switches and wake-ups only.
const IS_SCHED = process.argv[4] === "sched";
const CPUS = 2;

// Numbers that look random, the same each time (Park and Miller's generator).
let seed = 7;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;

const FIRST = 1000;
const threads = Array.from({ length: THREADS }, (_, at) => ({
  id: FIRST + at, process: FIRST, name: at === 0 ? "main </script><b>" : `worker${at % 4}`, created_by: at ? FIRST : null,
  from_ns: 0, to_ns: 0, ended: at % 2 === 1, segments: [], calls: [], faults: [], signposts: [], left: [], since: 0, was: [10, 0],
}));
const cpus = Array.from({ length: CPUS }, (_, id) => ({ id, at: 0, running: null, switches: [], lost: [] }));
const wakeups = [];
let count = 0;

// Ends what a thread does, and begins something else.
function become(thread, at, state) {
  if (at > thread.since) {
    thread.segments.push([thread.since, at - thread.since, ...thread.was]);
    if (thread.was[0] === 0 && !IS_SCHED) thread.left.push([at, thread.segments.length % 4]);
    count += 1;
  }
  [thread.since, thread.was] = [at, state];
}

const threadsOf = cpus.map(({ id }) => threads.filter((_, at) => at % CPUS === id));
for (let turn = 0; count < SEGMENTS; turn++) {
  const cpu = cpus[turn % CPUS];
  const own = threadsOf[cpu.id];
  const next = own[random(own.length)];
  if (next === cpu.running) continue;
  const at = cpu.at + 800 + random(turn % 49 === 0 ? 400_000 : 12_000);
  const out = cpu.running;
  if (next.was[0] >= 5) {
    const woken = at - 300 - random(400);
    become(next, Math.max(woken, next.since), [1, 0]);
    wakeups.push([next.since, next.id, out ? out.id : null, cpu.id]);
  }
  cpu.switches.push([at, out?.id ?? 0, 1, next.id]);
  if (out) {
    const isPreempted = random(4) === 0;
    if (!isPreempted && !IS_SCHED) out.calls.push([at - 500, 0, 202, [0x7f0012345678, 128, random(3)], 0]);
    if (!IS_SCHED && random(3) === 0) out.faults.push([at - 600, 0x7f0000000000 + 4096 * random(1000), random(2)]);
    become(out, at, isPreempted ? [2, next.id] : [5, 203]);
  }
  const call = next.calls.at(-1);
  if (call && call[1] === 0) call[1] = at + 100 - call[0];
  become(next, at, [0, cpu.id]);
  [cpu.running, cpu.at] = [next, at];
}
const end = Math.max(...cpus.map(({ at }) => at)) + 1000;
for (const thread of threads) {
  become(thread, end, [10, 0]);
  thread.to_ns = end;
  for (const call of thread.calls) if (call[1] === 0) [call[1], call[4]] = [end - call[0], null];
}
// Some are created when they are first seen.
for (const thread of threads.slice(12)) {
  thread.segments.shift();
  thread.from_ns = thread.segments[0]?.[0] ?? end;
}
// A stretch of the second thread that is lost, on its CPU too.
const long = threads[1].segments.findIndex(([, duration]) => duration > 30_000);
const [from, duration] = threads[1].segments[long];
threads[1].segments[long].splice(2, 2, 9, 0);
cpus[1].lost.push([from, from + duration]);
threads[0].signposts = [[0, Math.floor(end / 2), 0], [Math.floor(end / 10), Math.floor(end / 10), 1], [Math.floor(end / 4), null, 2]];

const trace = {
  schema: 1, target: { command: ["./synthetic", "--of", String(SEGMENTS)] }, ended: { exited: 0 }, tier: "full", gaps: [], architecture: "x86_64",
  kernel: "6.18.0", cpu_count: CPUS, ring_bytes: 8388608, began: { raw_ns: 5e9, boot_ns: 6e9, real_ns: 1.7e18 }, duration_ns: end,
  threads: threads.map(({ since, was, ...thread }) => thread),
  cpus: cpus.map(({ id, switches, lost }) => ({ id, switches, lost })),
  wakeups: wakeups.sort((a, b) => a[0] - b[0]), call_names: { 202: "futex" }, other_names: { 77: "hog" },
  signpost_names: ["frame", "decode <i>", "deadline missed"],
  stacks: {
    modules: ["/usr/bin/prog"], frames: [{ function: "main", module: 0 }, { function: "handle <b>", module: 0 }, { module: 0, offset: 4096 }],
    nodes: [[0, null], [1, 0], [2, 1], [2, 0]],
  },
  losses: { records: 0, breaks: 1, repaired: 0, unpaired_calls: 0, unread_bytes: 0, signposts: 0 },
};
process.stdout.write(JSON.stringify(trace));
