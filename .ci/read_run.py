"""Reads a Run document without any code of latlas: validates it against the schema and
computes the typical figure of every plain cell again from the raw samples."""

import json
import statistics
import sys

import jsonschema


def expand(pairs):
    return [value for value, count in pairs for _ in range(count)]


def typical_ns(cell, ns_per_tick):
    columns = cell["samples"]
    turns = expand(columns["turns"])
    first = columns["first_ticks"]
    second = columns.get("second_ticks") or [2 * f for f in first]
    plain = not columns.get("second_ticks")
    hunted = {i for i, bits in columns.get("flags", []) if bits & 1}
    values = [
        ((f if plain else s - f) * ns_per_tick) / (n * cell["ops_per_turn"])
        for i, (n, f, s) in enumerate(zip(turns, first, second))
        if i not in hunted
    ]
    return statistics.median(values)


schema = json.load(open(sys.argv[1]))
run = json.load(open(sys.argv[2]))
jsonschema.validate(run, schema)

estimates = {}
for row in run["rows"]:
    outcome = row["outcome"]
    if "figure" in outcome:
        estimates[row["id"], ()] = outcome["figure"]
    elif "curve" in outcome:
        for point in outcome["curve"]["points"]:
            estimates[row["id"], (point["x"],)] = point["estimate"]

compared = 0
for cell in run["cells"]:
    key = cell["row"], tuple(cell.get("at", []))
    if key not in estimates or cell["row"] == "cpu.frequency":
        continue
    ours = estimates[key]["typical"]["ns"]["value"]
    theirs = typical_ns(cell, run["clock"]["ns_per_tick"])
    assert abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs)), (key, ours, theirs)
    compared += 1
assert compared >= 20, f"only {compared} cells could be compared"
print(f"schema valid; {compared} passed, 0 failed")
