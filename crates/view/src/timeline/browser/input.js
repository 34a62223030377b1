// Mouse, wheel, fingers and keys.

const back = document.getElementById("whole");
const LEAST_NS = 20;

// Shows a part of the trace: no more than there is, no less than can be told apart.
function show(from, to) {
  const span = clamp(to - from, Math.min(LEAST_NS, whole.to), whole.to);
  const start = clamp((from + to - span) / 2, 0, whole.to - span);
  view = { from: start, to: start + span };
  back.disabled = span === whole.to;
  if (sparse.checked) settle();
  redraw();
}

// Makes room for the lanes.
function settle() {
  arrange(view);
  box.querySelector(".room").style.height = `${height}px`;
}
sparse.addEventListener("change", () => {
  if (!isLoaded) return;
  settle();
  redraw();
});
const zoom = (t, factor) => show(t - (t - view.from) * factor, t + (view.to - t) * factor);
const pan = (share) => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
const middle = () => (view.from + view.to) / 2;
const centreOf = (item) => clamp(timesOf(item).reduce((a, b) => a + b) / 2, view.from, view.to);

// The box with all that is known about a place, or nothing.
function tell(item, x, y, lines = item && linesOf(item)) {
  if (current !== item) redraw();
  current = item;
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
  tip.style.left = `${clamp(x + 14, 8, root.clientWidth - tip.offsetWidth - 8) + scrollX}px`;
  const below = y + 16 + tip.offsetHeight <= innerHeight;
  tip.style.top = `${(below ? y + 16 : Math.max(8, y - tip.offsetHeight - 12)) + scrollY}px`;
}

// The time at which keys go from lane to lane.
let chosenAt = 0;

// Scrolls to a lane.
function reveal(lane) {
  if (lane.top === null) return;
  const [top, bottom] = [lane.top - AXIS - GAP, lane.top + lane.height + GAP];
  if (top < box.scrollTop) box.scrollTop = top;
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  redraw();
}

// Chooses a place by keys or by a search: it comes into sight, large enough to be seen.
function choose(item, at) {
  if (!item) return;
  const [from, to] = timesOf(item);
  const span = view.to - view.from;
  if (item.band !== "sample" && to - from < span / 400) show((from + to) / 2 - Math.max(10, to - from) * 20, (from + to) / 2 + Math.max(10, to - from) * 20);
  else if (to < view.from || from > view.to) show((from + to - span) / 2, (from + to + span) / 2);
  reveal(item.lane);
  chosenAt = at ?? centreOf(item);
  const { left, top } = canvas.getBoundingClientRect();
  const [inside, size] = bandOf(item);
  tell(item, left + xOf(centreOf(item)), top + item.lane.top - box.scrollTop + inside + size);
}

// The stretch before or after, or at the same time in another lane.
function step(by) {
  const { lane, band, index } = current;
  const counts = { state: lane.runs.what.length, sample: (lane.samples?.at.length ?? 0) - 1, call: lane.calls?.from.length, post: lane.posts?.from.length, moment: lane.moments?.at.length };
  choose({ lane, band, index: clamp(index + by, 0, counts[band] - 1) });
}
function change(by) {
  const at = clamp(chosenAt, ...timesOf(current));
  for (let i = lanes.indexOf(current.lane) + by; i >= 0 && i < lanes.length; i += by) {
    const item = stateAt(lanes[i], at);
    if (item) return choose(item, at);
  }
}
function first() {
  for (const lane of lanes) {
    const item = stateAt(lane, Math.max(view.from, lane.runs.at[0]));
    if (item && timesOf(item)[0] < view.to) return choose(item);
  }
}

const KEYS = {
  "+": () => zoom(current ? centreOf(current) : middle(), 0.5),
  "-": () => zoom(current ? centreOf(current) : middle(), 2),
  ArrowRight: (isMoving) => (isMoving ? pan(0.2) : current ? step(1) : first()),
  ArrowLeft: (isMoving) => (isMoving ? pan(-0.2) : current ? step(-1) : first()),
  ArrowDown: (isMoving) => (isMoving ? (box.scrollTop += 60) : current ? change(1) : first()),
  ArrowUp: (isMoving) => (isMoving ? (box.scrollTop -= 60) : current ? change(-1) : first()),
  Home: () => show(0, view.to - view.from),
  End: () => show(whole.to - (view.to - view.from), whole.to),
  Enter: () => {
    if (!current) return;
    const [from, to] = timesOf(current);
    show(from - (to - from), to + (to - from));
  },
  Escape: () => {
    tell(null);
    show(0, whole.to);
  },
};
const SAME = { "=": "+", d: "→", a: "←", w: "+", s: "-" };
box.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !isLoaded) return;
  const key = SAME[event.key] ?? event.key;
  if (key === "→" || key === "←") pan(key === "→" ? 0.2 : -0.2);
  else if (KEYS[key]) KEYS[key](event.shiftKey);
  else return;
  event.preventDefault();
});

// Drawn with the button down: a stretch to look at; with Shift or a finger it moves.
let start = null;
const brush = Object.assign(document.createElement("div"), { className: "brush", hidden: true });
box.append(brush);
box.addEventListener("pointerdown", (event) => {
  const { left } = canvas.getBoundingClientRect();
  if (event.button !== 0 || event.clientX - left < gutter() || event.clientX - left > box.clientWidth) return;
  start = { x: event.clientX, isMoving: event.shiftKey || event.pointerType === "touch" };
  box.setPointerCapture(event.pointerId);
});
box.addEventListener("pointermove", ({ clientX, clientY }) => {
  const { left, top } = canvas.getBoundingClientRect();
  const wide = box.clientWidth - gutter();
  if (start?.isMoving) {
    pan((start.x - clientX) / wide);
    start.x = clientX;
  } else if (start) {
    brush.hidden &&= Math.abs(clientX - start.x) < 6;
    Object.assign(brush.style, { left: `${Math.min(start.x, clientX) - left}px`, width: `${Math.abs(clientX - start.x)}px`, top: `${box.scrollTop}px`, height: `${box.clientHeight}px` });
    tell(null);
  } else if (isLoaded) {
    const [x, y] = [clientX - left, clientY - top + box.scrollTop];
    const slack = (3 * (view.to - view.from)) / wide;
    const lane = lanes.find(({ top, height }) => y >= top && y <= top + height);
    if (x < gutter()) tell(null, clientX, clientY, lane && threadLines(lane));
    else tell(clientY - top < AXIS ? null : hit(y, timeAt(x), slack), clientX, clientY);
  }
});
box.addEventListener("pointerup", ({ clientX }) => {
  const { left } = canvas.getBoundingClientRect();
  if (start && !brush.hidden) show(...[start.x, clientX].map((x) => clamp(timeAt(x - left), view.from, view.to)).sort((a, b) => a - b));
});
box.addEventListener("lostpointercapture", () => {
  start = null;
  brush.hidden = true;
});
for (const name of ["pointerleave", "blur"]) box.addEventListener(name, () => tell(null));
box.addEventListener("dblclick", () => show(0, whole.to));
box.addEventListener("scroll", redraw);
box.addEventListener("wheel", (event) => {
  const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!event.ctrlKey && !isSideways) return;
  event.preventDefault();
  if (event.ctrlKey) zoom(timeAt(event.clientX - canvas.getBoundingClientRect().left), 1.3 ** Math.sign(event.deltaY));
  else pan((event.deltaX || event.deltaY) / box.clientWidth);
}, { passive: false });

document.getElementById("in").addEventListener("click", () => zoom(middle(), 0.5));
document.getElementById("out").addEventListener("click", () => zoom(middle(), 2));
back.addEventListener("click", () => show(0, whole.to));
