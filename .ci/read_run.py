"""Reads a Run document without any code of latlas: validates it against the schema and, from the
raw samples, computes the typical figure of every plain cell again and counts the samples of its
quiet one."""

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


BROKEN = 2 | 4 | 8 | 16 | 32 | 64


def readings(columns):
    """(b, c) of both ends of each sample, in per mille, and the visit it belongs to."""
    branch, capacity = list(columns["branch_permille"]), list(columns.get("capacity_permille", []))
    ends, visits = [], []
    for number, (samples, _, l1_load_ps) in enumerate(columns["visits"]):
        own = [branch.pop(0) for _ in range(samples + 1)]
        loads = [capacity.pop(0) if l1_load_ps else None for _ in range(samples + 1)]
        both = list(zip(own, loads))
        ends += [both[k : k + 2] for k in range(samples)]
        visits += [number] * samples
    assert not branch and not capacity
    return ends, visits


def quiet_samples(cell, gate, low_end):
    """How many samples are quiet by the rule in docs/method.md; of a figure from the low end,
    those whose own ends are, in whatever visit."""
    columns = cell["samples"]
    quiet_ratio, state = gate["quiet_ratio"], gate["state"]
    if state not in ("usable", "mostly_contended", "without_capacity") or "visits" not in columns:
        return 0

    def is_quiet(reading):
        b, c = reading
        by_capacity = state == "without_capacity" or (c is not None and 900 <= c <= 1150)
        return 0.985 <= b / 1000 / quiet_ratio <= 1.025 and by_capacity

    ends, visits = readings(columns)
    lost = {i for i, ns in columns.get("lost_ns", [])}
    broken = {i for i, bits in columns.get("flags", []) if bits & BROKEN}
    last_level = columns.get("last_level_ps") or [0] * len(ends)
    if low_end:
        lost = set()
    own = [
        i not in lost | broken
        and all(map(is_quiet, both))
        and columns["cycle_fs"][i] * 1e-6 <= (gate["fastest_cycle_ns"] or 1e9) * 1.6
        and last_level[i] / 1000 <= (gate["quiet_last_level_ns"] or 1e9) * 1.25
        for i, both in enumerate(ends)
    ]
    if low_end:
        return sum(own)
    calm = {}
    for both, visit in zip(ends, visits):
        calm.setdefault(visit, []).extend(map(is_quiet, both))
    half = {visit for visit, all_of_it in calm.items() if 2 * sum(all_of_it) >= len(all_of_it)}
    return sum(quiet and visit in half for quiet, visit in zip(own, visits))


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
    # An invalid result has no figure, but samples.
    if estimates[key]["verdict"] == "invalid":
        assert estimates[key]["typical"] is None and estimates[key]["quiet"] is None, key
        continue
    ours = estimates[key]["typical"]["ns"]["value"]
    theirs = typical_ns(cell, run["clock"]["ns_per_tick"])
    assert abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs)), (key, ours, theirs)
    quiet = estimates[key].get("quiet")
    if quiet and "visits" in cell["samples"]:
        counted = quiet_samples(cell, run["gate"], quiet.get("low_end", False))
        # In two states the quiet figure is the first state's.
        states = [mode["typical"]["samples"] for mode in estimates[key].get("modes", [])]
        assert quiet["samples"] == (states or [counted])[0], (key, states, quiet["samples"])
        assert counted == sum(states or [counted]), (key, counted, states)
    compared += 1
assert compared >= 20, f"only {compared} cells could be compared"
print(f"schema valid; {compared} passed, 0 failed")
