"""Compares a trace of latlas with strace, the kernel's accounting, Perfetto, and stacks with perf's."""

import json
import sys
from collections import Counter
from pathlib import Path

directory = Path(sys.argv[1])


def recorded(name):
    return json.loads((directory / name).read_text())["recordings"][0]["trace"]


trace = recorded("t.json")
failures = []


def check(right, text):
    print(("ok    " if right else "WRONG ") + text)
    if not right:
        failures.append(text)


child, cpu_s = (directory / "cpu.txt").read_text().split()
of_process = [thread for thread in trace["threads"] if thread["process"] == int(child)]
RUNNING = 0
states = [s for thread in of_process for s in thread.get("segments", [])]
running_s = sum(s[1] for s in states if s[2] == RUNNING) / 1e9
share = running_s / float(cpu_s) - 1
accounted = f"running {running_s:.6f} s, accounted {cpu_s} s: {share:+.3%}"
if sys.argv[2:] == ["accounted"]:
    print(accounted)
    sys.exit(abs(share) >= 0.005)

check(trace["tier"] == "full", f"tier {trace['tier']}")
check(trace["losses"]["records"] == 0, "no record lost")
breaks, repaired = trace["losses"]["breaks"], trace["losses"]["repaired"]
print(f"      {breaks} breaks in the chain, {repaired} without effect or repaired")

# Calls whose number does not depend on timing (futex does).
names = {int(number): name for number, name in trace["call_names"].items()}
calls = Counter(
    names[call[2]]
    for thread in trace["threads"]
    for call in thread.get("calls", [])
    if call[4] is not None
)
counted = {}
for line in (directory / "strace.txt").read_text().splitlines():
    fields = line.split()
    if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
        counted[fields[-1]] = int(fields[3])
for name in ["getppid", "mmap", "munmap", "clone3", "wait4", "openat", "write"]:
    check(calls[name] == counted.get(name, 0), f"{name}: {calls[name]}, strace {counted.get(name, 0)}")

check(abs(share) < 0.005 or breaks, accounted)
faults = sum(len(t.get("faults", [])) for t in of_process)
check(faults >= 50 * 256, f"{faults} page faults, 12800 of them on purpose")

marks = Counter(
    trace["signpost_names"][mark[2]]
    for thread in of_process
    for mark in thread.get("signposts", [])
)
MARKED = {"round trip": 20000, "answered": 20000, "answer": 1, "block": 50}
check(marks == MARKED, f"signposts {dict(marks)}")
check(trace["losses"]["signposts"] == 0, "no signpost dropped")
# Clocks agree: each round trip has its calls within.
for thread in of_process:
    trips = [m for m in thread.get("signposts", []) if trace["signpost_names"][m[2]] == "round trip"]
    futexes = [c for c in thread.get("calls", []) if names[c[2]] == "futex" and c[4] is not None]
    spans = iter(trips)
    span = next(spans, None)
    outside = 0
    for call in futexes if trips else []:
        while span and span[0] + span[1] < call[0]:
            span = next(spans, None)
        inside = span and span[0] <= call[0] and call[0] + call[1] <= span[0] + span[1]
        outside += trips[0][0] <= call[0] <= trips[-1][0] and not inside
    if trips:
        check(outside == 0, f"{len(futexes)} calls of futex, {outside} not within a round trip")

STATES = ["Running", "R", "R", "R", "R", "S", "D", "T", "unknown", "unknown", "unknown"]
ours = Counter()
for thread in trace["threads"]:
    for segment in thread.get("segments", []):
        ours[thread["id"], STATES[segment[2]]] += segment[1]
theirs = {}
for line in (directory / "states.txt").read_text().splitlines()[1:]:
    thread, state, ns = line.split("\t")
    theirs[int(thread), state] = int(ns)
first = trace["threads"][0]["id"]
traced = {thread["id"] for thread in trace["threads"]}
# Perfetto knows the chain of switches only.
if breaks:
    print("      states not compared with Perfetto")
for thread in sorted(traced) if not breaks else []:
    differ = {
        state: ours[thread, state] - theirs.get((thread, state), 0)
        for state in ["Running", "R", "S", "D", "T"]
    }
    differ = {state: ns for state, ns in differ.items() if ns}
    # The first thread is shown from its first switch on.
    if thread == first:
        differ = {state: ns for state, ns in differ.items() if state != "Running" or ns < 0}
    # Woken while it was about to leave its CPU: runnable, and not blocked.
    if set(differ) == {"R", "S"} and differ["R"] == -differ["S"] > 0:
        print(f"      thread {thread}: {differ['R']} ns woken before they left their CPU")
        differ = {}
    check(not differ, f"states of thread {thread} as in Perfetto {differ or ''}")

lines = (directory / "slices.txt").read_text().splitlines()[1:]
rows = [line.rsplit("\t", 3) for line in lines]
slices = {name: count for name, count, _, _ in rows}
times = {name: (int(total), int(first)) for name, _, total, first in rows}
for name in ["getppid", "mmap", "munmap", "page fault"]:
    all_faults = sum(len(thread.get("faults", [])) for thread in trace["threads"])
    wanted = all_faults if name == "page fault" else calls[name]
    check(int(slices.get(name, 0)) == wanted, f"{name} in Perfetto: {slices.get(name)}")

for name, count in MARKED.items():
    check(int(slices.get(name, 0)) == count, f"{name} in Perfetto: {slices.get(name)}")

# Stamps are the same, too: sums of lengths, and the first.
began_ns = trace["began"]["raw_ns"]
every_call = [c for t in trace["threads"] for c in t.get("calls", []) if names[c[2]] == "getppid"]
every_trip = [
    m
    for t in trace["threads"]
    for m in t.get("signposts", [])
    if trace["signpost_names"][m[2]] == "round trip"
]
for name, all_of in [("getppid", every_call), ("round trip", every_trip)]:
    wanted = (sum(one[1] for one in all_of), began_ns + min(one[0] for one in all_of))
    check(times.get(name) == wanted, f"{name} in Perfetto: {wanted[0]} ns in all, from {wanted[1]} on")

of_thread = dict(line.split("\t") for line in (directory / "names.txt").read_text().splitlines()[1:])
named = {str(t["id"]): t["name"] for t in trace["threads"]} | trace["other_names"]
ran = {str(switch[3]) for cpu in trace["cpus"] for switch in cpu["switches"]} - {"0"}
wrong = [tid for tid in ran if of_thread.get(tid) != named.get(tid)]
check(not wrong, f"names of {len(ran)} threads in Perfetto {wrong or ''}")

# Functions of the program itself: names of the C library depend on its debugging information.
blocks = recorded("s.json")
table = blocks["stacks"]


def functions(node):
    names = []
    while node is not None:
        place, node = table["nodes"][node]
        frame = table["frames"][place]
        if "module" in frame and table["modules"][frame["module"]].endswith("/blocks"):
            names.append(frame.get("function", "?"))
    return tuple(names)


left = [one for thread in blocks["threads"] for one in thread.get("left", [])]
unwound = {functions(node) for _, node in left} - {()}
of_perf = set()
for sample in (directory / "perf-stacks.txt").read_text().split("\n\n"):
    lines = [line.split() for line in sample.splitlines() if line.endswith("/blocks)")]
    of_perf.add(tuple(line[1] for line in lines))
of_perf -= {()}
wanted = {("inner", "outer", "main", "_start"), ("waits", "begin")}
check(wanted <= unwound, f"stacks of known functions: {sorted(unwound)}")
# A thread may be preempted anywhere.
check(wanted <= of_perf, f"the same in perf script: {sorted(of_perf)}")
innermost = Counter(table["frames"][table["nodes"][node][0]].get("function") for _, node in left)
lines = (directory / "perfetto-stacks.txt").read_text().splitlines()[1:]
of_perfetto = dict(line.split("\t") for line in lines)
sleeps = innermost["clock_nanosleep"]
check(int(of_perfetto.get("clock_nanosleep", 0)) == sleeps > 0, f"{sleeps} sleeps in Perfetto's samples")

sys.exit(f"{len(failures)} differences" if failures else 0)
