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
  keepAddress();
}

// Makes room for the lanes: no more than they need.
function settle() {
  if (!isLoaded) return;
  arrange(view);
  box.querySelector(".room").style.height = `${height}px`;
  box.style.height = `${Math.min(height + 2, mostHigh())}px`;
  redraw();
}
for (const control of [sparse, order]) {
  control.addEventListener("change", () => {
    settle();
    keepAddress();
  });
}
const zoom = (t, factor) => show(t - (t - view.from) * factor, t + (view.to - t) * factor);
const pan = (share) => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
const middle = () => (view.from + view.to) / 2;
const centreOf = (item) => clamp(timesOf(item).reduce((a, b) => a + b) / 2, view.from, view.to);

// The box with what is known about a place, or nothing.
let said = [];
// Whether those lines are of what is pointed at.
let isItemSaid = false;
let windowSize = [root.clientWidth, innerHeight];
function tell(item, x, y, lines) {
  const isSame = pointed?.lane === item?.lane && pointed?.index === item?.index && pointed?.band === item?.band;
  if (!isSame) pointed = item;
  if (item) lines = isSame && isItemSaid ? said : linesOf(item);
  isItemSaid = Boolean(item);
  if (tip.hidden === Boolean(lines)) tip.hidden = !lines;
  if (!lines) return;
  if (lines !== said) {
    const text = lines.join("\n");
    if (tipText.data !== text) tipText.data = text;
    said = lines;
  }
  // Never under the pointer, and without asking how large it is: nothing is laid out again.
  const [right, below] = [x + 340 < windowSize[0], y + 130 < windowSize[1]];
  const corner = `${right ? "" : "left"} ${below ? "" : "above"}`;
  if (tipLines.className !== corner) tipLines.className = corner;
  tip.style.transform = `translate(${right ? x + 14 : x - 14}px, ${below ? y + 16 : y - 12}px) translate(${right ? 0 : -100}%, ${below ? 0 : -100}%)`;
}
// One text, in a corner of a frame that is always as large: nothing but that text is laid out when it changes.
const tipText = document.createTextNode("");
const tipLines = element("p", {}, tipText);
tip.append(tipLines);
tip.classList.add("pointing");

// Keeps a slice in the panel below, or none.
function pin(item) {
  const wasOpen = Boolean(pinned);
  pinned = item;
  showSlice();
  status.textContent = item ? `${item.lane.label}: ${nameOf(item)}, ${timeText(item)}` : "";
  if (wasOpen !== Boolean(item)) settle();
  overlaySoon();
  keepAddress();
}

// The time at which keys go from lane to lane.
let chosenAt = 0;

// Scrolls to a lane.
function unfoldFor(lane) {
  if (lane.top !== null) return;
  folded.delete(lane.group.key);
  settle();
  // One that is not alive in what is seen is shown with the rest.
  if (lane.top === null && sparse.checked) {
    sparse.checked = false;
    settle();
  }
}
function reveal(lane) {
  unfoldFor(lane);
  if (lane.top === null || lane.isFixed) return;
  const [top, bottom] = [lane.top - fixedEnd - GAP - BAND.group, lane.top + lane.height + GAP];
  if (top < box.scrollTop) box.scrollTop = top;
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  redraw();
}

// Chooses a slice by keys, a search or a link: it comes into sight, large enough to be seen.
function choose(item, at) {
  if (!item) return;
  const [from, to] = timesOf(item);
  const span = view.to - view.from;
  if (item.band !== "sample" && to - from < span / 400) show((from + to) / 2 - Math.max(10, to - from) * 20, (from + to) / 2 + Math.max(10, to - from) * 20);
  else if (to <= view.from || from >= view.to) show((from + to - span) / 2, (from + to + span) / 2);
  chosenAt = at ?? centreOf(item);
  tell(null);
  pin(item);
  reveal(item.lane);
}

// The stretch before or after, or at the same time in another lane.
function step(by) {
  const { lane, band, index } = pinned;
  const counts = { state: lane.runs.what.length, sample: (lane.samples?.at.length ?? 0) - 1, call: lane.calls?.from.length, post: lane.posts?.from.length, memory: lane.memory?.from.length };
  choose({ lane, band, index: clamp(index + by, 0, counts[band] - 1) });
}
function change(by) {
  const at = clamp(chosenAt, ...timesOf(pinned));
  for (let i = lanes.indexOf(pinned.lane) + by; i >= 0 && i < lanes.length; i += by) {
    const item = lanes[i].isGroup ? null : stateAt(lanes[i], at);
    if (item) return choose(item, at);
  }
}
function first() {
  for (const lane of lanes) {
    const item = lane.isGroup ? null : stateAt(lane, Math.max(view.from, lane.runs.at[0] ?? 0));
    if (item && timesOf(item)[0] < view.to) return choose(item);
  }
}
function fold(group) {
  if (!folded.delete(group.key)) folded.add(group.key);
  settle();
  keepAddress();
}
function raise(lane) {
  if (!above.delete(lane.key)) above.add(lane.key);
  settle();
  showSlice();
  keepAddress();
}
function leave() {
  if (pinned) pin(null);
  else if (range) measure(0, 0);
  else show(0, whole.to);
}
const zoomTo = ([from, to]) => show(from - (to - from), to + (to - from));

const KEYS = {
  "+": () => zoom(pinned ? centreOf(pinned) : middle(), 0.5),
  "-": () => zoom(pinned ? centreOf(pinned) : middle(), 2),
  ArrowRight: (isMoving) => (isMoving ? pan(0.2) : pinned ? step(1) : first()),
  ArrowLeft: (isMoving) => (isMoving ? pan(-0.2) : pinned ? step(-1) : first()),
  ArrowDown: (isMoving) => (isMoving ? (box.scrollTop += 60) : pinned ? change(1) : first()),
  ArrowUp: (isMoving) => (isMoving ? (box.scrollTop -= 60) : pinned ? change(-1) : first()),
  Home: () => show(0, view.to - view.from),
  End: () => show(whole.to - (view.to - view.from), whole.to),
  Enter: () => pinned && zoomTo(timesOf(pinned)),
  m: () => pinned && measure(...timesOf(pinned)),
  p: () => pinned && raise(pinned.lane),
  f: () => pinned && fold(pinned.lane.group),
  "/": () => asked.focus(),
  Escape: leave,
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
panel.addEventListener("keydown", (event) => event.key === "Escape" && leave());

// With the button down: over the ruler a range is measured, over the lanes a stretch is drawn to look at; with
// Shift or a finger it moves. Two fingers zoom.
let start = null;
const fingers = new Map();
const brush = Object.assign(document.createElement("div"), { className: "brush", hidden: true });
box.append(brush);
const placeOf = ({ clientX, clientY }) => {
  const { left, top } = canvas.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
};
box.addEventListener("pointerdown", (event) => {
  const at = placeOf(event);
  if (event.button !== 0 || at.x > room.wide || !isLoaded) return;
  if (event.pointerType === "touch") fingers.set(event.pointerId, at);
  start = { ...at, at: timeAt(at.x), isRuler: at.y < AXIS && at.x >= gutter(), isName: at.x < gutter(), isMoving: event.shiftKey || event.pointerType === "touch", isFar: fingers.size > 1 };
  box.setPointerCapture(event.pointerId);
});
box.addEventListener("pointermove", (event) => {
  if (!isLoaded) return;
  const { x, y } = placeOf(event);
  const wide = room.wide - gutter();
  pointer = { x, isMeasuring: start?.isRuler };
  if (start && Math.hypot(x - start.x, y - start.y) > 4) start.isFar = true;
  if (fingers.has(event.pointerId) && fingers.size === 2) pinch(event.pointerId, { x, y });
  else if (start?.isRuler) {
    const [from, to] = [start.at, timeAt(clamp(x, gutter(), room.wide))].map((t) => clamp(t, view.from, view.to)).sort((a, b) => a - b);
    if (start.isFar) range = { from, to };
  } else if (start?.isName) tell(null);
  else if (start?.isMoving) {
    if (start.isFar) pan((start.x - x) / wide);
    if (start.isFar) start.x = x;
  } else if (start) {
    brush.hidden &&= Math.abs(x - start.x) < 6;
    Object.assign(brush.style, { left: `${Math.max(gutter(), Math.min(start.x, x))}px`, width: `${Math.abs(x - start.x)}px`, top: `${box.scrollTop}px`, height: `${box.clientHeight}px` });
    tell(null);
  } else {
    const row = rowUnder(y);
    const cursor = x < gutter() || row?.isGroup ? (row ? "pointer" : "") : y < AXIS ? "ew-resize" : "";
    if (box.style.cursor !== cursor) box.style.cursor = cursor;
    if (row?.isGroup) tell(null, event.clientX, event.clientY, [row.label, `Click to ${folded.has(row.key) ? "unfold" : "fold"}`]);
    else if (x < gutter()) tell(null, event.clientX, event.clientY, row && [...threadLines(row), `Click to ${above.has(row.key) ? "lower the lane" : "keep the lane at the top"}`]);
    else tell(hit(y, timeAt(x), (3 * (view.to - view.from)) / wide), event.clientX, event.clientY);
  }
  // Browsers hand on one movement a frame, before it is painted.
  overlay();
});
function pinch(id, at) {
  const other = [...fingers].find(([one]) => one !== id)[1];
  const was = fingers.get(id);
  const [before, after] = [Math.abs(was.x - other.x), Math.abs(at.x - other.x)].map((x) => Math.max(20, x));
  const t = timeAt((was.x + other.x) / 2);
  fingers.set(id, at);
  zoom(t, before / after);
}
box.addEventListener("pointerup", (event) => {
  if (!start) return;
  const { x, y } = placeOf(event);
  if (start.isRuler) measure(...(start.isFar ? [range?.from, range?.to] : [0, 0]));
  else if (!brush.hidden) show(...[start.x, x].map((x) => clamp(timeAt(x), view.from, view.to)).sort((a, b) => a - b));
  else if (!start.isFar && event.pointerId !== undefined) click(x, y);
});
function click(x, y) {
  const row = rowUnder(y);
  if (row?.isGroup) return fold(row);
  if (x < gutter()) return row && raise(row);
  const item = hit(y, timeAt(x), (3 * (view.to - view.from)) / (room.wide - gutter()));
  pin(item);
  if (!item) return;
  chosenAt = timeAt(x);
  // The room shrinks when the panel opens: the lane stays in sight.
  reveal(item.lane);
}
for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, ({ pointerId }) => fingers.delete(pointerId));
box.addEventListener("lostpointercapture", () => {
  start = null;
  brush.hidden = true;
});
for (const name of ["pointerleave", "blur"]) {
  box.addEventListener(name, () => {
    pointer = null;
    tell(null);
    overlaySoon();
  });
}
box.addEventListener("dblclick", (event) => {
  if (placeOf(event).x >= gutter()) show(0, whole.to);
});
box.addEventListener("scroll", () => {
  askRoom();
  redraw();
});
box.addEventListener("wheel", (event) => {
  const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!event.ctrlKey && !isSideways) return;
  event.preventDefault();
  if (event.ctrlKey) zoom(timeAt(placeOf(event).x), 1.3 ** (clamp(event.deltaY, -100, 100) / 100 || 0));
  else pan((event.deltaX || event.deltaY) / box.clientWidth);
}, { passive: false });

const press = (id, act) => document.getElementById(id).addEventListener("click", act);
press("in", () => zoom(pinned ? centreOf(pinned) : middle(), 0.5));
press("out", () => zoom(pinned ? centreOf(pinned) : middle(), 2));
press("whole", () => show(0, whole.to));
press("fold", () => {
  const all = groups.filter(({ key }) => key !== "cpus");
  const isAny = all.some(({ key }) => !folded.has(key));
  for (const { key } of all) isAny ? folded.add(key) : folded.delete(key);
  settle();
  keepAddress();
});
press("closer", () => pinned && zoomTo(timesOf(pinned)));
press("span", () => pinned && measure(...timesOf(pinned)));
press("raise", () => pinned && raise(pinned.lane));
press("unpin", () => pin(null));
press("copy", () => {
  history.replaceState(null, "", addressText());
  navigator.clipboard?.writeText(location.href).then(() => (status.textContent = "Link copied"), () => {});
});
press("range-in", () => range && show(range.from, range.to));
press("range-off", () => measure(0, 0));
