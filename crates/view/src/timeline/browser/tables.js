// Puts the figures of the range in the tables of the page, and takes them away again.

// What a table has in a range by the name of its region, and what its rows are called.
const RANGED = {
  Threads: [threadsIn, "threads"],
  "System calls": [callsIn, "system calls"],
  "Memory operations": [memoryIn, "memory operations"],
  Signposts: [signpostsIn, "signposts"],
  Preemptions: [preemptionsIn, "preemptions"],
  "Where threads waited": [placesIn, "places"],
};

// A row of a table like that of the page: its first cell names it.
function tableRow(cells, isNumber) {
  return element("tr", {}, ...cells.map((cell, at) => {
    const { text, sort, href } = typeof cell === "string" ? { text: cell } : cell;
    const inside = href ? element("a", { href }, folding(text)) : folding(text);
    const one = element(at === 0 ? "th" : "td", at === 0 ? { scope: "row" } : { className: isNumber[at] ? "" : text.length > 24 ? "words" : "text" }, inside);
    if (sort !== undefined) one.dataset.sort = sort;
    return one;
  }));
}
// A long text, such as a stack, is unfolded.
function folding(text) {
  const letters = [...text];
  if (letters.length <= 160) return isolated(text);
  const first = letters.slice(0, 100).join("").replace(/(.) \S*$/s, "$1");
  const left = element("span", { className: "half", textContent: `(${letters.length - [...first].length} more characters)` });
  return element("details", { className: "long" }, element("summary", {}, `${first}… `, left), text);
}
// A name that reads from right to left changes no order of what follows it, such as its number.
function isolated(text) {
  if (!isRightToLeft(text)) return text;
  const [, name, number] = text.match(/^(.*)( \d+)$/s) ?? [null, text, ""];
  return element("span", {}, element("bdi", { textContent: name }), number);
}

// Puts other rows in a table, or its own ones again; with those that are made when they are asked for.
function putRows(table, rows, far = null) {
  if (table.classList.contains("sorted")) table.dispatchEvent(new CustomEvent("rows", { detail: rows && { rows, far } }));
  else table.tBodies[0].replaceChildren(...(rows ?? ownRows.get(table).rows));
}
// Rows of cells, or of what gives a row's cells.
function putCells(table, all) {
  const isNumber = [...table.tHead.rows[0].cells].map((title) => title.classList.contains("n"));
  const made = (rows) => rows.map((row) => tableRow((typeof row === "function" ? row() : row).slice(0, isNumber.length), isNumber));
  // Of a very long table those that are in sight.
  const first = table.dataset.far ? Number(table.dataset.folded) : all.length;
  putRows(table, made(all.slice(0, first)), all.length > first ? { count: all.length - first, rows: () => made(all.slice(first)) } : null);
}
// A table of slices, such as the slowest operations, keeps those that touch the range.
function touching(rows) {
  return rows.filter((row) => {
    const asks = new URLSearchParams(row.querySelector("a").hash.slice(1));
    return within(Number(asks.get("from")), Number(asks.get("to"))) >= 0;
  });
}

const inRange = element("p", { id: "in-range", hidden: true });
inRange.setAttribute("role", "status");
document.querySelector("#figures h2").after(inRange);
// Rows of each table that can show a range, and how many they are with those that are not there yet.
const ownRows = new Map();
for (const table of document.querySelectorAll("#figures .scroll > table")) {
  const rows = [...table.tBodies[0].rows];
  const [rowsIn, name] = RANGED[table.parentElement.getAttribute("aria-label")] ?? [];
  const areSlices = !table.dataset.far && rows.every((row) => row.querySelector('a[href^="#from="]'));
  if (rowsIn || areSlices) ownRows.set(table, { rows, rowsIn, name: name ?? "slow operations", count: rows.length + Number(table.dataset.far ?? 0) });
}
const ofWholeTrace = [...document.querySelectorAll("#figures h3")].map(({ textContent }) => textContent).filter((name) => !RANGED[name]);

// Shows the figures of the range, or those of the whole trace again.
function showFigures() {
  inRange.hidden = !range;
  const left = [];
  let all = 0;
  for (const [table, { rows, rowsIn, name, count }] of ownRows) {
    if (!range) {
      putRows(table, null);
      continue;
    }
    const titles = [...table.tHead.rows[0].cells].map(({ textContent }) => textContent);
    const found = rowsIn ? rowsIn(titles) : touching(rows);
    if (rowsIn) putCells(table, found);
    else putRows(table, found);
    if (found.length >= count) continue;
    left.push(`${count - found.length} of ${count} ${name}`);
    all += count - found.length;
  }
  if (!range) return;
  const texts = [`Tables show ${duration(range.to - range.from)} from ${moment(range.from)} to ${moment(range.to)}: times are those within it.`];
  texts.push(all === 0 ? "No row is left out." : `${all === 1 ? "1 row is" : `${all} rows are`} left out: ${left.join(", ")}.`);
  texts.push(`Of the whole trace: ${ofWholeTrace.join(", ")}.`);
  const whole = element("button", { type: "button", textContent: "Whole trace" });
  whole.addEventListener("click", () => measure(0, 0));
  inRange.replaceChildren(`${texts.join(" ")} `, whole);
}
