// The ladder: sorted by a click on a heading, filtered by words, group and
// verdict. Every line is there from the start; nothing is made here.

function ladder(table) {
  const body = table.tBodies[0];
  const all = [...body.rows];
  const lines = all.filter((row) => row.dataset.at !== undefined);
  const groups = all.filter((row) => row.classList.contains("group"));
  const heads = [...table.querySelectorAll("th[aria-sort]")];
  const control = (id) => document.getElementById(id);
  // A row's name and its probe's title.
  const said = ({ cells: [{ firstChild }] }) => `${firstChild.textContent} ${firstChild.title ?? ""}`.toLowerCase();

  // Of a line: whether it has no figure, the kind of what it is compared by
  // (times, speeds and counts are no sizes of one kind), and that.
  function keyOf(row, head) {
    if (head.dataset.key === "id") return [0, 0, (row.querySelector("th a") ?? row.cells[0]).textContent];
    const cell = row.cells[head.cellIndex];
    const { sort, class: kind } = cell?.dataset ?? {};
    // A time as another unit says it.
    const sign = { "in-seconds": 1, "per-frame": -1 }[head.dataset.key];
    if (sign && cell?.textContent) return [0, 0, sign * Number(row.querySelector(".c-value").dataset.sort)];
    return sort === undefined ? [1, 0, Number(row.dataset.at)] : [0, Number(kind ?? 0), Number(sort)];
  }
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);

  function sort(head, next) {
    for (const other of heads) other.setAttribute("aria-sort", other === head ? next : "none");
    const keyed = lines.map((row) => [keyOf(row, head), row]);
    // What has no figure stays below, whichever way.
    const sign = ([missing]) => (next === "descending" && !missing ? -1 : 1);
    keyed.sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || sign(a) * compare(a[2], b[2]));
    body.append(...(next === "none" ? all : keyed.map(([, row]) => row)));
    filter();
  }

  function filter() {
    const words = control("find").value.toLowerCase().split(/\s+/);
    const [group, state] = ["group", "verdict"].map((id) => control(id).value);
    const isOf = ({ dataset }) => (!group || dataset.group === group) && (!state || dataset.state === state);
    for (const row of lines) row.hidden = !(isOf(row) && words.every((word) => said(row).includes(word)));
    // Rows without a figure are folded, but not from one who looks for some.
    table.classList.toggle("filtered", Boolean(words.join("") || group || state));
    const shown = lines.filter((row) => row.getClientRects().length > 0);
    const isSorted = heads.some((head) => head.getAttribute("aria-sort") !== "none");
    for (const row of groups) row.hidden = isSorted || !shown.some(({ dataset }) => dataset.group === row.dataset.group);
    control("nothing").hidden = shown.length > 0;
    control("count").textContent = `${shown.length === lines.length ? "" : `${shown.length} of `}${lines.length} rows`;
  }

  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => {
      // Up, down, and back to the order of the catalogue.
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
      sort(head, next);
      // A minus says that the most comes first.
      keep("sort", { ascending: head.dataset.key, descending: `-${head.dataset.key}` }[next] ?? null, null);
    });
  }
  control("find").addEventListener("input", filter);
  for (const id of ["group", "verdict", "gone"]) control(id)?.addEventListener("change", filter);
  const [, sign, key] = (asked.get("sort") ?? "").match(/^(-?)(.+)$/) ?? [];
  const head = heads.find(({ dataset }) => dataset.key === key);
  if (head) sort(head, sign ? "descending" : "ascending");
  filter();
  // The head stays in sight where the table needs no scrolling of its own.
  const region = table.parentElement;
  new ResizeObserver(() => region.classList.toggle("fits", table.scrollWidth <= region.clientWidth)).observe(table);
}

document.querySelectorAll("table.ladder").forEach(ladder);
