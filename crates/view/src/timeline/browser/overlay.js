// What lies over the canvas, which is not drawn again for it: the pointer's line, what is pointed at, the
// pinned slice, wake-ups and the range.

const over = sheet.querySelector("svg");
const ruler = sheet.querySelector(".ruler");
const rulerText = ruler.firstElementChild.appendChild(document.createTextNode(""));
// What is pointed at, and what a click or keys have chosen.
let pointed = null;
let pinned = null;
// A range that is measured.
let range = null;
// Where the pointer is, in the box.
let pointer = null;
let [overWide, overHigh] = [0, 0];

// The shapes, by their classes; one is drawn again when its path is another.
const shapes = new Map();
for (const name of ["range", "pinned", "wakes-pinned", "pointed", "wakes-pointed"]) {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("class", name.split("-")[0]);
  over.append(shape);
  shapes.set(name, { shape, path: "" });
}
function drawShape(name, path) {
  const one = shapes.get(name);
  if (one.path !== path) one.shape.setAttribute("d", (one.path = path));
}

function outline(item) {
  if (!item || item.lane.top === null) return "";
  const [from, to] = timesOf(item);
  const [inside, size] = bandOf(item);
  const top = shownTop(item.lane) + inside;
  const [left, right] = [Math.max(gutter(), xOf(from)), Math.min(room.wide - 1, xOf(to))];
  if (right < gutter() || left > room.wide || top < (item.lane.isFixed ? AXIS : fixedEnd) - size) return "";
  return `M${left.toFixed(1)} ${top}h${Math.max(2, right - left).toFixed(1)}v${size}h${(-Math.max(2, right - left)).toFixed(1)}z`;
}

// Who woke whom. The panel counts those that are not drawn.
const MOST_ARROWS = 64;
function arrows(item) {
  let all = "";
  for (const edge of wakeupsOf(item).slice(0, MOST_ARROWS)) {
    const x = xOf(edge.at);
    if (!edge.from || edge.from === edge.to || edge.from.top === null || edge.to.top === null || x < gutter() || x > room.wide) continue;
    const [from, to] = [shownTop(edge.from), shownTop(edge.to)];
    const isDown = to > from;
    const y0 = from + edge.from.state + BAND.state / 2;
    const y1 = to + edge.to.state + (isDown ? 0 : BAND.state);
    all += `M${x.toFixed(1)} ${y0}V${y1}m-4 ${isDown ? -7 : 7}l4 ${isDown ? 7 : -7}l4 ${isDown ? -7 : 7}`;
  }
  return all;
}

function overlay() {
  if (!isLoaded) return;
  const { wide, high } = room;
  const [left, right] = range ? [range.from, range.to].map((t) => clamp(xOf(t), gutter(), wide)) : [0, 0];
  drawShape("range", right > left ? `M${left.toFixed(1)} 0H${right.toFixed(1)}V${high}H${left.toFixed(1)}z` : "");
  for (const [name, item] of [["pinned", pinned], ["pointed", pointed === pinned ? null : pointed]]) {
    drawShape(name, outline(item));
    drawShape(`wakes-${name}`, item ? arrows(item) : "");
  }
  if (wide !== overWide || high !== overHigh) {
    [overWide, overHigh] = [wide, high];
    Object.assign(over.style, { width: `${wide}px`, height: `${high}px` });
    ruler.style.height = `${high}px`;
  }
  const isOver = Boolean(pointer && pointer.x >= gutter() && pointer.x < wide);
  if (ruler.hidden === isOver) ruler.hidden = !isOver;
  if (!isOver) return;
  ruler.style.transform = `translateX(${pointer.x}px)`;
  const at = range && pointer.isMeasuring ? `${duration(range.to - range.from)}` : moment(timeAt(pointer.x));
  if (at !== rulerText.data) rulerText.data = at;
  ruler.classList.toggle("left", pointer.x > wide - 140);
}
let isOverAsked = false;
function overlaySoon() {
  if (isOverAsked) return;
  isOverAsked = true;
  requestAnimationFrame(() => {
    isOverAsked = false;
    overlay();
  });
}
