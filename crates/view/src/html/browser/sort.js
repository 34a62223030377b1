// Tables of figures: sorted by a click on a heading, filtered by words, long ones folded to their
// first rows. Without this script all are in sight; with it those of a very long table that are
// folded are a text, which becomes rows when one of them is asked for.

// A table with fewer rows is read faster than a word is typed.
const LEAST_FILTERED = 13;
// Rows that are shown at a time: all of most tables.
const STEP = 1000;
const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
const tableNames = new Set();

// What stands in the address: the region's name, whatever else has it.
function nameOf(table) {
  const base = slug(table.closest("[aria-label]")?.getAttribute("aria-label") ?? "") || "table";
  let name = base;
  for (let count = 2; tableNames.has(name); count++) name = `${base}-${count}`;
  tableNames.add(name);
  return name;
}

// The rows of a text, which goes.
const rowsOf = (text) => () => {
  const rest = document.createElement("template");
  rest.innerHTML = text.textContent;
  text.remove();
  return rest.content.querySelectorAll("tbody tr");
};

function sortable(table) {
  const name = nameOf(table);
  const region = table.closest(".scroll") ?? table;
  // A row, with the notes below it.
  function linesOf(rows) {
    const lines = [];
    for (const row of rows) {
      if (row.classList.contains("titles")) continue;
      if (row.cells[0]?.classList.contains("why") && lines.length) lines.at(-1).push(row);
      else lines.push([row]);
    }
    return lines;
  }
  const bodies = [...table.tBodies].map((body) => {
    const lines = linesOf(body.rows);
    return { body, lines, own: lines, shown: lines };
  });
  let all = bodies.flatMap(({ lines }) => lines);
  // Rows that are not made yet: how many, and what makes them. Its own are a text until then.
  const text = table.dataset.far ? table.nextElementSibling : null;
  let ownFar = text && { count: Number(table.dataset.far), rows: rowsOf(text) };
  let far = ownFar;
  const farCount = () => far?.count ?? 0;
  function fetchRows() {
    if (!far) return;
    const lines = linesOf(far.rows());
    for (const row of lines.flat()) row.classList.add("out");
    bodies[0].body.append(...lines.flat());
    bodies[0].lines.push(...lines);
    if (far === ownFar) ownFar = null;
    far = null;
    all = bodies.flatMap(({ lines }) => lines);
  }

  // Numbers first, by kind and size, then texts, then what is empty: these two below, whichever way.
  function keyOf([row], at) {
    const cell = row.cells[at];
    const text = cell?.textContent.trim() ?? "";
    if (cell?.dataset.sort !== undefined) return [0, Number(cell.dataset.class ?? 0), Number(cell.dataset.sort)];
    return [text === "" || text === "-" ? 2 : 1, 0, text];
  }
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);

  const heads = [...table.tHead.rows[0].cells]
    .map((cell, at) => ({ cell, at, key: slug(cell.textContent) || String(at) }))
    .filter(({ cell, at }) => cell.tagName === "TH" && (all.length === 0 || far || new Set(all.map((line) => String(keyOf(line, at)))).size > 1));
  for (const head of heads) {
    if (heads.some(({ key, at }) => key === head.key && at < head.at)) head.key += `-${head.at}`;
    head.isNumbers = all.some((line) => keyOf(line, head.at)[0] === 0);
    head.button = Object.assign(document.createElement("button"), { type: "button", textContent: head.cell.textContent });
    head.cell.replaceChildren(head.button);
    head.cell.setAttribute("aria-sort", "none");
    head.button.addEventListener("click", () => {
      const [first, second] = head.isNumbers ? ["descending", "ascending"] : ["ascending", "descending"];
      const next = { none: first, [first]: second, [second]: "none" }[head.cell.getAttribute("aria-sort")];
      sort(head, next);
      // A minus says that the most comes first.
      keep(`${name}.sort`, { ascending: head.key, descending: `-${head.key}` }[next] ?? null, null);
    });
  }

  let sorting = [null, "none"];
  function sort(head, next) {
    fetchRows();
    sorting = [head, next];
    for (const { cell } of heads) cell.setAttribute("aria-sort", cell === head.cell ? next : "none");
    for (const one of bodies) {
      const keyed = one.lines.map((line) => [keyOf(line, head.at), line]);
      const sign = ([kind]) => (next === "descending" && kind < 2 ? -1 : 1);
      keyed.sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || sign(a) * compare(a[2], b[2]));
      one.shown = next === "none" ? one.lines : keyed.map(([, line]) => line);
      one.body.append(...one.shown.flat());
    }
    show();
  }

  const tools = Object.assign(document.createElement("div"), { className: "controls of-table" });
  const find = Object.assign(document.createElement("input"), { type: "search", placeholder: "word", autocomplete: "off" });
  const count = Object.assign(document.createElement("p"), { className: "count" });
  count.setAttribute("role", "status");
  const label = document.createElement("label");
  label.append("Filter ", find);
  const folded = Number(table.dataset.folded ?? Infinity);
  const more = Object.assign(document.createElement("button"), { type: "button", className: "more", hidden: true });
  more.setAttribute("aria-expanded", "false");
  // How many rows are shown beyond the first ones.
  let open = 0;
  // Those that are meant and not shown.
  let left = 0;
  const onPaper = Object.assign(document.createElement("p"), { className: "on-paper" });

  // A hidden row stays on paper, where it is not one of thousands.
  function show() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length || open) fetchRows();
    const isMeant = (line) => words.every((word) => line.some((row) => row.textContent.toLowerCase().includes(word)));
    const folds = all.length + farCount() > folded;
    const most = folded + open;
    let [meant, seen] = [0, 0];
    for (const { body, shown } of bodies) {
      const before = seen;
      for (const line of shown) {
        const is = isMeant(line);
        meant += is;
        const isSeen = is && seen < most;
        seen += isSeen;
        for (const row of line) row.classList.toggle("out", !isSeen);
      }
      body.classList.toggle("out", seen === before);
    }
    meant += farCount();
    const total = all.length + farCount();
    count.textContent = seen === total ? `${total} rows` : `${seen} of ${total} shown`;
    onPaper.textContent = table.dataset.far && seen < total ? `${total - seen} of ${total} rows are not printed.` : "";
    more.hidden = !folds || (meant === seen && !open);
    left = meant - seen;
    more.textContent = left ? `Show ${Math.min(STEP, left)} more` : "Show fewer rows";
    more.setAttribute("aria-expanded", String(open > 0));
  }

  if (all.length + farCount() >= LEAST_FILTERED) {
    find.setAttribute("aria-label", `Filter ${region.getAttribute("aria-label") ?? "table"}`);
    tools.append(label, count);
    region.before(tools);
    find.value = asked.get(`${name}.find`) ?? "";
    find.addEventListener("input", () => {
      keep(`${name}.find`, find.value, "");
      show();
    });
  }
  region.after(more, onPaper);
  more.addEventListener("click", () => {
    open = left ? open + STEP : 0;
    show();
  });
  // Other rows for a while (null: its own again), in the order that is chosen; those that nobody sees yet are
  // made later.
  table.addEventListener("rows", ({ detail }) => {
    for (const [at, one] of bodies.entries()) {
      for (const row of one.lines.flat()) row.remove();
      one.lines = detail ? linesOf(at ? [] : detail.rows) : one.own;
      one.shown = one.lines;
      one.body.append(...one.lines.flat());
    }
    far = detail ? detail.far : ownFar;
    all = bodies.flatMap(({ lines }) => lines);
    if (sorting[0]) sort(...sorting);
    else show();
  });
  const [, sign, key] = (asked.get(`${name}.sort`) ?? "").match(/^(-?)(.+)$/) ?? [];
  const head = heads.find((head) => head.key === key);
  if (head) sort(head, sign ? "descending" : "ascending");
  else show();
}

document.querySelectorAll("table.sorted").forEach(sortable);
