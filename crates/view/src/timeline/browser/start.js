// Loads the trace and draws it; again when its size or its colours change, and for paper.

const cpuLanes = new Map();

async function begin() {
  try {
    const all = lanesOf(reader(await unpacked()));
    for (const lane of all) if (!lane.thread) cpuLanes.set(lane.cpu, lane);
    askRoom();
    recolour();
    place(all);
  } catch (error) {
    status.textContent = `The timeline can't be drawn: ${error.message}`;
    return;
  }
  settle();
  show(...names.shown);
  apply();
  count();
  draw();
  box.dataset.drawn = performance.now().toFixed(0);
}

// On paper nothing scrolls: the lanes stand in pictures below each other, each on one page.
const PAPER = { width: 1000, high: 560, most: 60 };
const paper = document.getElementById("paper");
function print() {
  if (!isLoaded || paper.childElementCount) return;
  const [screen, theme] = [context, root.dataset.theme];
  root.dataset.theme = "light";
  paperWidth = PAPER.width;
  recolour();
  const rows = lanes.filter(({ isGroup }) => !isGroup).slice(0, PAPER.most);
  const places = lanes.map((row) => [row, row.top, row.isFixed]);
  const fixed = fixedEnd;
  fixedEnd = AXIS;
  for (let i = 0; i < rows.length; ) {
    let top = AXIS + GAP;
    const part = [];
    for (; i < rows.length && (part.length === 0 || top + rows[i].height < PAPER.high); i++) {
      // As if fixed: where scrolling does not matter.
      [rows[i].top, rows[i].isFixed] = [top, true];
      part.push(rows[i]);
      top += rows[i].height + GAP;
    }
    const sheet = document.createElement("canvas");
    paper.append(sheet);
    context = sheet.getContext("2d");
    drawOn(sheet, PAPER.width, top, [[], part]);
  }
  for (const [row, top, isFixed] of places) [row.top, row.isFixed] = [top, isFixed];
  fixedEnd = fixed;
  [context, paperWidth] = [screen, 0];
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  recolour();
  const left = lanes.filter(({ isGroup }) => !isGroup).length - rows.length;
  const hidden = everyLane.length - lanes.filter(({ isGroup }) => !isGroup).length;
  const texts = [`${moment(view.from)} to ${moment(view.to)} of ${moment(whole.to)}.`];
  if (left > 0) texts.push(`${left} more lanes are not printed.`);
  if (hidden > 0) texts.push(`${hidden} lanes are folded or hidden.`);
  paper.append(element("p", { textContent: texts.join(" ") }));
}
window.addEventListener("beforeprint", print);
window.addEventListener("afterprint", () => {
  paper.replaceChildren();
  redraw();
});

let [wasWide, wasHigh] = [0, 0];
new ResizeObserver(() => {
  if (box.clientWidth === wasWide && box.clientHeight === wasHigh) return;
  [wasWide, wasHigh] = [box.clientWidth, box.clientHeight];
  redraw();
}).observe(box);
window.addEventListener("resize", () => {
  windowSize = [root.clientWidth, innerHeight];
  settle();
});
new MutationObserver(() => {
  recolour();
  redraw();
}).observe(root, { attributeFilter: ["data-theme"] });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  recolour();
  redraw();
});
begin();
