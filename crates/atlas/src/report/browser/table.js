// The ladder: sorted by a click on a heading, filtered by words, group and
// verdict. Every line is there from the start; nothing is made here.

function ladder() {
  const table = document.querySelector("table.ladder");
  if (!table) return;
  const body = table.tBodies[0];
  const lines = [...body.rows].filter((row) => row.dataset.at !== undefined);
  const groups = [...body.rows].filter((row) => row.classList.contains("group"));
  const heads = [...table.querySelectorAll("th[aria-sort]")];
  const control = (id) => document.getElementById(id);
  // Of a line: whether it has no figure, what it can be compared with, by what.
  function keyOf(row, head) {
    if (head.dataset.key === "id") return [0, 0, (row.querySelector("th a") ?? row.cells[0]).textContent];
    const cell = row.cells[head.cellIndex];
    const value = cell?.dataset.sort;
    if (value === undefined) return [1, 0, Number(row.dataset.at)];
    // Times, speeds and counts are no sizes of one kind.
    return [0, Number(cell.dataset.class ?? 0), Number(value)];
  }

  function sort(head) {
    const now = head.getAttribute("aria-sort");
    // Up, down, and back to the order of the catalogue.
    const next = { none: "ascending", ascending: "descending", descending: "none" }[now];
    for (const other of heads) other.setAttribute("aria-sort", other === head ? next : "none");
    if (next === "none") {
      const all = [...lines, ...groups];
      const place = (row) => (row.dataset.at !== undefined ? Number(row.dataset.at) : firstOf(row) - 0.5);
      all.sort((a, b) => place(a) - place(b)).forEach((row) => body.append(row));
    } else {
      const sign = next === "ascending" ? 1 : -1;
      const keyed = lines.map((row) => [keyOf(row, head), row]);
      keyed.sort(([a], [b]) => {
        // What has no figure stays below, whichever way.
        if (a[0] !== b[0]) return a[0] - b[0];
        if (a[0] === 1) return a[2] - b[2];
        if (a[1] !== b[1]) return a[1] - b[1];
        const by = typeof a[2] === "string" ? a[2].localeCompare(b[2]) : a[2] - b[2];
        return sign * by;
      });
      keyed.forEach(([, row]) => body.append(row));
    }
    filter();
  }

  function firstOf(group) {
    return Number(lines.find((row) => row.dataset.group === group.dataset.group).dataset.at);
  }

  function filter() {
    const words = control("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = control("group").value;
    const state = control("verdict").value;
    const sorted = heads.some((head) => head.getAttribute("aria-sort") !== "none");
    const shown = new Set();
    let count = 0;
    for (const row of lines) {
      const said = row.dataset.said;
      const fits =
        words.every((word) => said.includes(word)) &&
        (!group || row.dataset.group === group) &&
        (!state || row.dataset.state === state);
      row.hidden = !fits;
      if (fits) {
        shown.add(row.dataset.group);
        count += 1;
      }
    }
    for (const row of groups) row.hidden = sorted || !shown.has(row.dataset.group);
    control("nothing").hidden = count > 0;
    control("count").textContent =
      count === lines.length ? `${count} rows` : `${count} of ${lines.length} rows`;
  }

  for (const head of heads) head.querySelector("button").addEventListener("click", () => sort(head));
  control("find").addEventListener("input", filter);
  for (const id of ["group", "verdict"]) control(id).addEventListener("change", filter);
  filter();
}

