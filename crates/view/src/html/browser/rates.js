// The exchange rate: every operation in the time of the one that is chosen, as text,
// Markdown and picture, too. Which one is in the address (address.js).

function rates(part) {
  const table = part.querySelector("table");
  const select = document.getElementById("unit");
  const message = document.getElementById("rate-message");
  if (!select) return;
  const lines = [...table.tBodies[0].rows];
  const wordsOf = (row) => row.querySelector(".op").textContent;
  const magnitude = (value) => Math.floor(Math.log10(Math.abs(value)));

  // Three digits, fewer where half of the interval says that the last mean nothing.
  function digits(value, half) {
    const last = Math.max(magnitude(value) - 2, half > 0 ? magnitude(half) : -12);
    return last > 0 ? String(Math.round(value / 10 ** last) * 10 ** last) : value.toFixed(Math.min(-last, 12));
  }
  function countText(value, relative) {
    if (value < 0.1) return `1/${countText(1 / value, relative)}`;
    if (value === 1 && relative === 0) return "1";
    const scales = [[1e9, " billion"], [1e6, " million"], [1e3, " thousand"]];
    const [size, name] = scales.find(([size]) => value >= Math.max(size, 1e4) * 0.9995) ?? [1, ""];
    return digits(value / size, (value * relative) / size) + name;
  }
  function ratio(row, unit) {
    const [a, b] = [row, unit].map(({ dataset }) => ({ ns: Number(dataset.ns), half: Number(dataset.half) }));
    return row === unit ? { value: 1, half: 0 } : { value: a.ns / b.ns, half: Math.hypot(a.half, b.half) };
  }
  const unitRow = () => lines.find(({ dataset }) => dataset.key === select.value && dataset.ns);

  function set() {
    const unit = unitRow();
    for (const row of lines) {
      row.classList.toggle("unit", row === unit);
      row.querySelector(".op").setAttribute("aria-pressed", String(row === unit));
      if (!row.dataset.ns) continue;
      const { value, half } = ratio(row, unit);
      row.querySelector(".in-units").textContent = countText(value, half);
      row.querySelector(".half").textContent = half < 0.01 ? "" : `±${(half * 100).toFixed(0)} %`;
    }
    table.tHead.rows[0].cells[2].textContent = `× ${wordsOf(unit)}`;
    message.textContent = "";
  }

  // A click on an operation makes it the unit.
  for (const row of lines) {
    const words = row.querySelector(".op");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "op", textContent: words.textContent });
    button.title = row.dataset.why ? `can't be the unit: ${row.dataset.why}` : "Use as the unit";
    button.disabled = !row.dataset.ns;
    words.replaceWith(button);
    button.addEventListener("click", () => {
      select.value = row.dataset.key;
      select.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  select.addEventListener("input", set);
  set();
  // A link may name what this run has no time of.
  const wanted = asked.get("unit");
  if (wanted !== null && wanted !== select.value) {
    const row = lines.find(({ dataset }) => dataset.key === wanted);
    message.textContent = row ? `${wordsOf(row)} can't be the unit: ${row.dataset.why}` : "This run has no operation of the unit that the link names.";
  }

  // What is seen, as cells.
  const seen = () => lines.filter(isSeen).map((row) => {
    const [, time, count, half] = [...row.cells].map((cell) => cell.textContent);
    return { name: wordsOf(row), doubt: row.querySelector(".why")?.textContent ?? "", time, count: [count, half].filter(Boolean).join(" "), row };
  });
  const title = () => document.querySelector("h1").textContent.trim();
  const head = () => `1 unit = ${wordsOf(unitRow())}, ${unitRow().cells[1].textContent}`;
  const source = () => document.querySelector("main").dataset.source;

  function text() {
    const all = seen();
    const widest = (of) => Math.max(...all.map((line) => of(line).length));
    const [names, counts] = [widest(({ name }) => name), widest(({ count }) => count)];
    const line = ({ name, count, time, doubt }) => `${name.padEnd(names)}  ${count.padStart(counts)}  ${time.padStart(8)}  ${doubt}`.trimEnd();
    return [title(), head(), "", ...all.map(line), "", source(), ""].join("\n");
  }
  function markdown() {
    const plain = (words) => words.replace(/[\\`*_{}[\]<>()#+!|~&@-]/g, "\\$&");
    const line = ({ name, count, time, doubt }) => `| ${[name, count, time, doubt].map(plain).join(" | ")} |`;
    const unit = plain(wordsOf(unitRow()));
    return [`### ${plain(title())}`, "", `| operation | × ${unit} | time | |`, "|:---|---:|---:|:---|", ...seen().map(line), "", plain(source()), ""].join("\n");
  }
  // The table as a drawing: names, counts, marks.
  function drawingOfRates() {
    const all = seen();
    const [width, line, above, left] = [900, 24, 76, 250];
    const height = above + line * all.length + 40;
    const style = getComputedStyle(part);
    const ground = getComputedStyle(part.querySelector(".scroll")).backgroundColor;
    const soft = getComputedStyle(part.querySelector(".notes")).color;
    const svg = element("svg", { xmlns: NS, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": style.fontFamily, fill: style.color });
    const put = (x, y, size, words, more = {}) => svg.append(element("text", { x, y, "font-size": size, ...more }, words));
    const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
    svg.append(element("rect", { width: "100%", height: "100%", fill: ground }));
    put(16, 30, 19, cut(title(), 86), { "font-weight": 600 });
    put(16, 54, 14, cut(head(), 110), { fill: soft });
    for (const [at, { name, count, time, doubt, row }] of all.entries()) {
      const y = above + line * at + 16;
      put(left, y, 14, cut(name, 34), { "text-anchor": "end" });
      put(left + 170, y, 14, count, { "text-anchor": "end", "font-weight": 600 });
      put(left + 250, y, 12, time, { "text-anchor": "end", fill: soft });
      const circle = row.querySelector("circle");
      if (circle) {
        const [from, long] = [left + 266, width - 120 - left - 266];
        const x = from + (parseFloat(circle.getAttribute("cx")) / 100) * long;
        const colour = getComputedStyle(row.querySelector(".reach")).stroke;
        const hollow = circle.matches(".hollow");
        svg.append(element("line", { x1: from, x2: x, y1: y - 5, y2: y - 5, stroke: colour, "stroke-opacity": 0.4 }));
        svg.append(element("circle", { cx: x, cy: y - 5, r: 5, stroke: colour, "stroke-width": 2, fill: hollow ? ground : colour }));
      }
      put(width - 110, y, 12, cut(doubt, 16), { fill: soft });
    }
    put(16, height - 14, 12, cut(source(), 130), { fill: soft });
    return { text: new XMLSerializer().serializeToString(svg), width, height };
  }
  const contents = {
    text: () => [Promise.resolve(new Blob([text()], { type: "text/plain" })), "text/plain", "txt"],
    markdown: () => [Promise.resolve(new Blob([markdown()], { type: "text/plain" })), "text/plain", "md"],
    svg: () => [Promise.resolve(new Blob([drawingOfRates().text], { type: "text/plain" })), "text/plain", "svg"],
    png: () => [painted(drawingOfRates()), KINDS.png, "png"],
  };
  const buttons = part.querySelector(".copy");
  buttons.hidden = false;
  for (const button of buttons.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const [content, type, ending] = contents[button.dataset.as]();
      offer(button, content, type, `exchange-rate.${ending}`);
    });
  }
}

const exchange = document.getElementById("rates");
if (exchange) rates(exchange);
