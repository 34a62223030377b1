"""Reads what latlas exports with readers that share no code with it: Python's csv and json,
jq, Google Benchmark's compare.py, and hyperfine's own arithmetic done again. Then imports
what it exported and compares medians.

Usage: read_exports.py LATLAS RUN.json DIRECTORY"""

import csv
import io
import json
import math
import os
import statistics
import subprocess
import sys

latlas, document, directory = sys.argv[1:4]
env = {**os.environ, "LATLAS_DATA_DIR": os.path.join(directory, "data"), "NO_COLOR": "1"}
passed = 0


def run(*command, **more):
    done = subprocess.run(command, env=env, capture_output=True, text=True, **more)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return done.stdout


def export(which, kind):
    path = os.path.join(directory, kind)
    run(latlas, "export", which, "--format", kind, "-o", path)
    with open(path, newline="") as file:
        return path, file.read()


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-5)


def figures(run):
    """Row, point and estimate of every figure of a document."""
    for row in run["rows"]:
        outcome = row["outcome"]
        if "figure" in outcome:
            yield row, (), outcome["figure"]
        elif "level" in outcome:
            yield row, (), outcome["level"]["estimate"]
        elif "curve" in outcome:
            for point in outcome["curve"]["points"]:
                yield row, (point["x"],), point["estimate"]
        elif "map" in outcome:
            for point in outcome["map"]["points"]:
                yield row, (point["y"], point["x"]), point["estimate"]
        else:
            yield row, (), None


def in_unit(row, ns):
    unit = row["unit"]
    if unit == "time":
        return ns
    if unit == "frequency":
        return 1 / ns
    return unit["bandwidth"]["bytes_per_op"] / ns


kept = json.load(open(document))
expected = {(row["id"], at): (row, e) for row, at, e in figures(kept)}

# CSV and JSON lines: every figure of the document, value by value.
_, text = export(document, "csv")
assert "\r\n" in text
records = list(csv.DictReader(io.StringIO(text)))
assert len(records) == len(expected), (len(records), len(expected))
_, text = export(document, "jsonl")
objects = [json.loads(line) for line in text.splitlines()]
assert len(objects) == len(expected)
assert text == run(latlas, "show", document, "--json")
KEYS = {"ns": "ns_per_op", "GB/s": "gb_per_s", "GHz": "ghz", "count": "count", "bytes": "bytes"}
for record, line in zip(records, objects):
    value = record["quiet"] or record["typical"]
    assert value == "" or float(value) == line[KEYS[line["unit"]]], (record, line)
    assert record["verdict"] == line["verdict"] and None not in line.values(), line
for record, (row, at, estimate) in zip(records, figures(kept)):
    assert record["row"] == row["id"], record
    places = [int(p.split("=")[1]) for p in record["point"].split(";") if p]
    assert tuple(places) == at, record
    if estimate is None:
        assert record["verdict"] == "not available" and record["reason"]
        assert record["quiet"] == record["typical"] == ""
    elif estimate["below_ns"] is None and estimate["quiet"]:
        assert close(float(record["quiet"]), in_unit(row, estimate["quiet"]["ns"]["value"]))
        ns = estimate["quiet"]["ns"]
        ends = [record["quiet_low"], record["quiet_high"]]
        if row["unit"] in ("time", "frequency") or ns["low"] > 0:
            assert float(ends[0]) <= float(ends[1]), record
        else:
            # A speed whose time may be 0 has no upper end.
            assert float(ends[0]) <= float(record["quiet"]) and ends[1] == "", record
    passed += 1
jq = subprocess.run(
    ["jq", "-r", "select(.verdict == \"ok\") | .row"],
    input=text, capture_output=True, text=True, check=True,
).stdout.splitlines()
assert jq == [o["row"] for o in objects if o["verdict"] == "ok"]
passed += 1

# Google Benchmark: its own compare.py, of the run against itself.
path, text = export(document, "google-benchmark")
entries = json.loads(text)["benchmarks"]
medians = [e for e in entries if e.get("aggregate_name") == "median"]
for median in medians:
    times = [
        e["real_time"]
        for e in entries
        if e["run_type"] == "iteration" and e["name"] == median["run_name"]
    ]
    assert close(median["real_time"], statistics.median(times)), median
    passed += 1
report = os.path.join(directory, "report.json")
compare = "/usr/share/benchmark/compare.py"
run(sys.executable, compare, "--no-color", "-d", report, "benchmarks", path, path)
compared = json.load(open(report))
names = {e["name"] for e in entries if not e.get("error_occurred")}
by_name = {c["name"]: c["measurements"] for c in compared}
# It adds a mean over all of its own.
assert set(by_name) - {"OVERALL_GEOMEAN"} == names, set(by_name) ^ names
for name in names:
    assert all(m["time"] == 0 for m in by_name[name]), name
passed += 1

# hyperfine: the statistics of its own scripts, from `times`.
path, text = export(document, "hyperfine")
results = json.loads(text)["results"]
for result in results:
    times = result["times"]
    assert math.isclose(result["median"], statistics.median(times), rel_tol=1e-9), result
    assert math.isclose(result["mean"], statistics.fmean(times), rel_tol=1e-9)
    assert result["min"] == min(times) and result["max"] == max(times)
    passed += 1
assert len(results) >= 20

# Bencher: the shape of its published schema.
_, text = export(document, "bencher")
for name, measures in json.loads(text).items():
    for metric in measures.values():
        assert set(metric) <= {"value", "lower_value", "upper_value"}
        assert metric.get("lower_value", -math.inf) <= metric["value"]
    assert len(name) <= 1024
    passed += 1

# Out and in again.
for kind, scale in (("hyperfine", 1e9), ("google-benchmark", 1)):
    path, text = export(document, kind)
    again = json.loads(run(latlas, "import", path, "--document"))
    found = [e["typical"]["ns"]["value"] for _, _, e in figures(again) if e]
    if kind == "hyperfine":
        there = [r["median"] * scale for r in json.loads(text)["results"]]
    else:
        groups = {}
        for e in json.loads(text)["benchmarks"]:
            if e["run_type"] == "iteration" and not e.get("error_occurred"):
                groups.setdefault(e["name"], []).append(e["real_time"])
        there = [statistics.median(times) for times in groups.values()]
    assert len(found) == len(there), (kind, len(found), len(there))
    for a, b in zip(found, there):
        assert close(a, b), (kind, a, b)
        passed += 1

print(f"exports read: {passed} passed, 0 failed")
