// The range that is measured: time by state of all threads together, and by program on each CPU; the
// tables of figures show what each thread did in it.

const measured = document.getElementById("range");

function measure(from, to) {
  [from, to] = [Math.round(from), Math.round(to)];
  range = to > from ? { from, to } : null;
  settle();
  showRange();
  overlaySoon();
  keepAddress();
}

function statesOfAll() {
  const sums = new Float64Array(names.kinds.length);
  const threads = threadsInRange();
  for (const [, times] of threads) for (let kind = 0; kind < sums.length; kind++) sums[kind] += times[kind];
  const states = names.kinds.map((name, kind) => [name, sums[kind]]).filter(([, ns]) => ns > 0).sort(([, a], [, b]) => b - a);
  return `${threads.length} thread${threads.length === 1 ? "" : "s"}: ${states.map(([name, ns]) => `${name} ${duration(ns)}`).join(", ") || "nothing recorded"}. `;
}

function cpuRows() {
  return everyLane.filter(({ thread }) => !thread).map((lane) => {
    const times = timesBetween(lane, range.from, range.to);
    const sum = (from, to) => times.slice(from, to).reduce((a, b) => a + b, 0);
    const sums = new Map();
    occupied(lane.runs, range.from, range.to, sums);
    const most = [...sums].filter(([name]) => name !== "idle").sort(([, a], [, b]) => b - a).slice(0, 3);
    const parts = [sum(PROCESS, OTHER), sum(OTHER, OTHER + GREYS), times[IDLE], times[LOST] + times[UNKNOWN] + times[NOT_TRACED]];
    return [lane.label, ...parts.map((ns) => (ns ? time(ns) : "-")), most.map(([name, ns]) => `${name} ${duration(ns)}`).join(", ")];
  });
}

function showRange() {
  measured.hidden = !range;
  if (range) {
    measured.querySelector("h3").textContent = `Range: ${duration(range.to - range.from)} from ${moment(range.from)} to ${moment(range.to)}`;
    measured.querySelector(".states").replaceChildren(statesOfAll(), element("a", { href: "#figures", textContent: "Figures of this range" }));
    putCells(measured.querySelector("table"), cpuRows());
  }
  showFigures();
}
