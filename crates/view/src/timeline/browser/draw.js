// The canvas: lanes, names, the axis and what a search found.

const box = document.getElementById("lanes");
const [sheet, canvas] = [box.querySelector(".sheet"), box.querySelector("canvas")];
let context = canvas.getContext("2d");
const whole = { from: 0, to: Math.max(1, names.duration_ns) };
let view = { ...whole };
let colours = [];
let look = {};
let isAsked = false;
let image = null;
// Width of what is drawn, and pixels of each of its own: those of the screen, or of paper.
let paperWidth = 0;
// The box as it is: asked for once a frame, since each question lays the page out.
const room = { wide: 0, high: 0, top: 0 };
function askRoom() {
  [room.wide, room.high, room.top] = [box.clientWidth, box.clientHeight, box.scrollTop];
}
const wideNow = () => paperWidth || room.wide;
const scaleNow = () => (paperWidth ? 2 : devicePixelRatio);
// Width of the lanes' names.
const gutter = () => (wideNow() < 600 ? 84 : 176);
// The most that the box may be high.
const mostHigh = () => Math.max(160, Math.round(innerHeight * (pinned || range ? 0.52 : 0.76)));

function recolour() {
  colours = palette(scaleNow());
  const { color, backgroundColor } = getComputedStyle(box);
  look = { ink: color, ground: backgroundColor, soft: getComputedStyle(document.getElementById("status")).color, font: getComputedStyle(document.body).fontFamily, scale: scaleNow() };
  look.groundWord = word(look.ground.match(/[\d.]+/g).map(Number));
}
function redraw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(draw);
}

const xOf = (t) => gutter() + ((t - view.from) / (view.to - view.from)) * (wideNow() - gutter());
const timeAt = (x) => view.from + ((x - gutter()) / (wideNow() - gutter())) * (view.to - view.from);

function draw() {
  isAsked = false;
  askRoom();
  const [wide, high] = [wideNow(), room.high];
  if (!isLoaded || wide <= gutter()) return;
  if (look.scale !== scaleNow()) recolour();
  drawOn(canvas, wide, high, rowsSeen(high));
  overlay();
}

// Draws rows on a canvas: those that are fixed, and those below them.
function drawOn(canvas, wide, high, [fixed, scrolled]) {
  const scale = scaleNow();
  const [width, tall] = [Math.round(wide * scale), Math.round(high * scale)];
  if (canvas.width !== width || canvas.height !== tall) {
    [canvas.width, canvas.height] = [width, tall];
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
  }
  if (image?.width !== width || image.height !== tall) {
    const data = context.createImageData(width, tall);
    image = { data, pixels: new Int32Array(data.data.buffer), width, height: tall, scale };
  }
  image.left = Math.round(gutter() * scale);
  image.pixels.fill(look.groundWord);
  const named = [];
  for (const [rows, least] of [[scrolled, fixedEnd], [fixed, AXIS]]) {
    const row = (y) => Math.round(Math.max(least, y) * scale);
    for (const lane of rows) {
      if (lane.isGroup) continue;
      const top = shownTop(lane);
      const at = (from, size) => [row(top + from), row(top + from + size)];
      paintRuns(image, lane, view, ...at(lane.state, BAND.state), colours, named);
      if (lane.calls?.from.length) paintCalls(image, lane.calls, view, ...at(lane.call + 1, BAND.call - 1), colours[CALL]);
      if (lane.memory?.from.length) paintCalls(image, lane.memory, view, ...at(lane.bottom + 1, BAND.memory - 1), colours[MEMORY]);
    }
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.putImageData(image.data, 0, 0);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const runs = Map.groupBy ? Map.groupBy(named, ([lane]) => lane) : grouped(named);
  for (const [rows, least] of [[scrolled, fixedEnd], [fixed, AXIS]]) {
    context.save();
    context.beginPath();
    context.rect(0, least, wide, (rows === fixed ? fixedEnd : high) - least);
    context.clip();
    for (const lane of rows) {
      if (lane.isGroup) drawGroup(lane, wide);
      else drawTexts(lane, runs.get(lane) ?? [], scale);
    }
    context.restore();
  }
  if (fixedEnd > AXIS) {
    context.fillStyle = look.soft;
    context.fillRect(0, fixedEnd - 2, wide, 1);
  }
  drawAxis(wide);
}
function grouped(named) {
  const all = new Map();
  for (const one of named) if (!all.get(one[0])?.push(one)) all.set(one[0], [one]);
  return all;
}

// Widths of texts, which are asked for again in each frame.
const widths = new Map();
let widthsNow = new Map();
function widthOf(text) {
  let width = widthsNow.get(text);
  if (width === undefined) {
    if (widthsNow.size > 20_000) widthsNow.clear();
    widthsNow.set(text, (width = context.measureText(text).width));
  }
  return width;
}
// The longest of some texts that fits; of the last one a part, if that is allowed.
function fitting(texts, room, isCut) {
  const whole = texts.find((text) => widthOf(text) <= room);
  if (whole !== undefined || !isCut) return whole ?? "";
  const letters = [...texts.at(-1)];
  let [low, high] = [1, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(`${letters.slice(0, middle).join("")}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}

// A name that is cut keeps its number, which tells threads of one name apart.
function numbered(label, room) {
  if (widthOf(label) <= room) return label;
  const number = label.match(/ \d+$/)?.[0] ?? "";
  if (widthOf(number) > 0.75 * room) return fitting([label], room, true);
  return ended(fitting([label.slice(0, label.length - number.length)], room - widthOf(number), true)) + number;
}

function font(size, weight = "") {
  const name = `${weight} ${size}px ${look.font}`;
  context.font = name;
  if (!widths.has(name)) widths.set(name, new Map());
  widthsNow = widths.get(name);
}

function drawGroup(group, wide) {
  const top = shownTop(group);
  font(12, "600");
  context.fillStyle = look.ink;
  const isFolded = folded.has(group.key);
  context.fillText(isFolded ? "▸" : "▾", 4, top + 13);
  const name = fitting([group.label], Math.min(wide - 30, 420), true);
  context.fillText(name, 17, top + 13);
  const after = 17 + widthOf(name) + 10;
  font(12);
  context.fillStyle = look.soft;
  const ran = group.ran ? `, ${duration(group.ran)} on CPUs` : "";
  context.fillText(fitting([`${group.shown} ${group.key === "cpus" ? "CPU" : "thread"}${group.shown === 1 ? "" : "s"}${ran}`, ""], wide - after - 8, false), after, top + 13);
  context.fillRect(0, top - 3, wide, 0.5);
}

// The name of a lane and of what in it has the room.
function drawTexts(lane, runs, scale) {
  const top = shownTop(lane);
  drawPosts(lane, top);
  font(11);
  const text = (left, right, texts, y, { ink, css, isPatterned }) => {
    const fits = fitting(texts, right - left - 6, false);
    if (!fits) return;
    context.fillStyle = css;
    // No pattern behind letters.
    if (isPatterned) context.fillRect(left + 1, y - 10, widthOf(fits) + 4, 13);
    context.fillStyle = ink;
    context.fillText(fits, left + 3, y);
  };
  for (const [, run, x0, x1] of runs) text(x0 / scale, x1 / scale, stateTexts(lane, run), top + lane.state + 13, colours[lane.runs.shadeOf[lane.runs.what[run]]]);
  const least = (26 * (view.to - view.from)) / (wideNow() - gutter());
  const below = ({ from, to, longest }, nameOf, y, shade) => {
    for (let i = Math.max(0, find(from, view.from)); i < from.length && from[i] < view.to; i++) {
      if (longest[(i / BLOCK) | 0] < least) i = (((i / BLOCK) | 0) + 1) * BLOCK - 1;
      else if (to[i] - from[i] >= least) {
        const [left, right] = [Math.max(gutter(), xOf(from[i])), Math.min(wideNow(), xOf(to[i]))];
        if (right - left > 24) text(left, right, [nameOf(i)], y, colours[shade]);
      }
    }
  };
  if (lane.calls?.from.length) below(lane.calls, (i) => callName(lane.calls.number[i]), top + lane.call + 10, CALL);
  if (lane.memory?.from.length) below(lane.memory, (i) => names.memory[lane.memory.operation[i]], top + lane.bottom + 10, MEMORY);
  drawHits(lane, top);
  font(13);
  context.fillStyle = look.ink;
  const isAbove = above.has(lane.key);
  if (isAbove) context.fillText("★", 2, top + lane.state + 13.5);
  context.fillText(numbered(lane.label, gutter() - 24), 17, top + lane.state + 13.5);
}

// Signposts: a bracket over what they span, or a stroke in each column. States are boxes: the shape tells them
// apart where colours don't.
const BRACKET = 2;
function drawPosts({ posts }, top) {
  if (!posts?.from.length) return;
  const drawn = new Array(POSTS).fill(-1);
  font(11);
  const colour = colours[POST];
  for (let i = find(posts.reach, view.from) + 1; i < posts.from.length && posts.from[i] < view.to; i++) {
    const from = posts.from[i];
    const to = isNaN(posts.to[i]) ? from : posts.to[i];
    if (to < view.from) continue;
    const [left, right] = [Math.max(gutter(), xOf(from)), Math.min(wideNow(), xOf(to))];
    if (right < drawn[posts.level[i]] + 1) continue;
    drawn[posts.level[i]] = Math.max(right, left + 1);
    const y = top + posts.level[i] * BAND.post;
    context.fillStyle = colour.css;
    context.fillRect(left, y, Math.max(1.5, right - left - 0.5), BAND.post - 1);
    if (right - left <= 3 * BRACKET) continue;
    context.fillStyle = look.ground;
    context.fillRect(left + BRACKET, y + BRACKET, right - left - 0.5 - 2 * BRACKET, BAND.post - 1 - BRACKET);
    if (right - left <= 24) continue;
    context.fillStyle = look.ink;
    context.fillText(fitting([names.signposts[posts.name[i]] ?? "?"], right - left - 8, true), left + 4, y + 11);
  }
}

// What a search found in a lane: a triangle on the begin of each, as many as there is room for. Its edge has
// the ground's colour, so that it is seen on whatever it touches.
const TRIANGLE = { wide: 11, high: 8 };
function drawHits(lane, top) {
  const perPixel = (view.to - view.from) / (wideNow() - gutter());
  const marks = new Path2D();
  const mark = (x, y) => marks.addPath(new Path2D(`M${x - TRIANGLE.wide / 2} ${y}h${TRIANGLE.wide}l${-TRIANGLE.wide / 2} ${TRIANGLE.high}z`));
  for (const { band, at, index } of hits.get(lane) ?? []) {
    if (band === "thread") {
      mark(gutter() - 6, top + lane.state + 5);
      continue;
    }
    for (let i = Math.max(0, find(at, view.from)); i < at.length && at[i] < view.to; ) {
      const x = Math.round(xOf(at[i]));
      if (x >= gutter()) mark(x, top + bandOf({ lane, band, index: index[i] })[0] - GAP + 1);
      i = findFrom(at, at[i] + TRIANGLE.wide * perPixel, i) + 1;
    }
  }
  [context.fillStyle, context.strokeStyle, context.lineWidth] = [colours[HIT].css, look.ground, 2];
  context.stroke(marks);
  context.fill(marks);
}

// Times at round steps; where they would be too long, from a round one on.
function drawAxis(wide) {
  const span = view.to - view.from;
  const least = (span * 90) / Math.max(90, wide - gutter());
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, power * [1, 2, 5, 10].find((factor) => power * factor >= least));
  const round = 10 ** Math.ceil(Math.log10(span) + 1);
  const base = view.from > 1000 * span ? Math.floor(view.from / round) * round : 0;
  const [unit, size] = UNITS.find(([, size]) => (base ? round / 10 : view.to) >= size) ?? UNITS.at(-1);
  const digits = Math.max(0, Math.round(Math.log10(size)) - Math.floor(Math.log10(step) + 1e-9));
  font(12);
  context.fillStyle = look.soft;
  context.fillRect(0, AXIS - 1, wide, 0.5);
  if (base) context.fillText(fitting([`${base / 1e6} ms +`, "+"], gutter() - 8, true), 6, 16);
  for (let t = Math.ceil((view.from - base) / step) * step; t <= view.to - base; t += step) {
    const x = xOf(t + base);
    context.fillRect(x, AXIS - 6, 1, 6);
    const text = `${(t / size).toFixed(digits)} ${unit}`;
    const width = widthOf(text);
    if (x + width / 2 < wide && x - width / 2 > gutter() - 8) context.fillText(text, x - width / 2, 15);
  }
}
