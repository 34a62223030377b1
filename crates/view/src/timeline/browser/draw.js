// The canvas: lanes, names, the axis, what is pointed at, and wake-ups.

const box = document.getElementById("lanes");
const canvas = box.querySelector("canvas");
const context = canvas.getContext("2d");
const whole = { from: 0, to: Math.max(1, names.duration_ns) };
let view = { ...whole };
// What is pointed at, or chosen by keys.
let current = null;
let colours = [];
let look = {};
let isAsked = false;
// Width of the lanes' names.
const gutter = () => (box.clientWidth < 600 ? 84 : 168);

function recolour() {
  colours = palette();
  const { color, backgroundColor } = getComputedStyle(box);
  look = { ink: color, ground: backgroundColor, soft: getComputedStyle(document.getElementById("status")).color, font: getComputedStyle(document.body).fontFamily };
  look.groundWord = word(look.ground.match(/[\d.]+/g).map(Number));
}
function redraw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(draw);
}

const xOf = (t) => gutter() + ((t - view.from) / (view.to - view.from)) * (box.clientWidth - gutter());
const timeAt = (x) => view.from + ((x - gutter()) / (box.clientWidth - gutter())) * (view.to - view.from);

function draw() {
  isAsked = false;
  const scale = Math.max(1, Math.round(devicePixelRatio));
  const [wide, high] = [box.clientWidth, box.clientHeight];
  if (canvas.width !== wide * scale || canvas.height !== high * scale) {
    [canvas.width, canvas.height] = [wide * scale, high * scale];
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
  }
  if (!isLoaded || wide <= gutter()) return;
  const data = context.createImageData(canvas.width, canvas.height);
  const image = { pixels: new Int32Array(data.data.buffer), width: canvas.width, height: canvas.height, left: gutter() * scale, scale };
  image.pixels.fill(look.groundWord);
  const scrolled = box.scrollTop;
  const seen = lanesFrom(scrolled + AXIS, scrolled + high);
  const row = (y) => Math.max(AXIS, Math.round(y - scrolled)) * scale;
  for (const lane of seen) {
    const at = (from, size) => [row(lane.top + from), row(lane.top + from + size)];
    paintRuns(image, lane, view, ...at(lane.state, BAND.state), colours);
    if (lane.calls?.from.length) paintCalls(image, lane, view, ...at(lane.call + 1, BAND.call - 1), colours[SHADE.call]);
    if (lane.moments?.at.length) paintMoments(image, lane, view, ...at(lane.moment + 1, BAND.moment - 1), colours[SHADE.moment]);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.putImageData(data, 0, 0);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.save();
  context.beginPath();
  context.rect(0, AXIS, wide, high - AXIS);
  context.clip();
  context.translate(0, -scrolled);
  for (const lane of seen) {
    drawPosts(lane);
    drawNames(lane);
    context.font = `13px ${look.font}`;
    context.fillStyle = look.ink;
    context.fillText(fitting([lane.label], gutter() - 14, true), 6, lane.top + lane.state + 13.5);
  }
  if (current && current.lane.top !== null) drawCurrent();
  context.restore();
  drawAxis(wide);
}

// The longest of some texts that fits; of the last one a part, if that is allowed.
function fitting(texts, room, isCut) {
  const whole = texts.find((text) => context.measureText(text).width <= room);
  if (whole !== undefined || !isCut) return whole ?? "";
  let text = texts.at(-1);
  while (text.length > 1 && context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
  return `${text}…`;
}

// Names in stretches that have the room.
function drawNames(lane) {
  context.font = `11px ${look.font}`;
  const room = (28 * (view.to - view.from)) / (box.clientWidth - gutter());
  const { at, what, shadeOf, longest } = lane.runs;
  const text = (from, to, texts, y, { ink, css, isStriped }) => {
    const [left, right] = [Math.max(gutter(), xOf(from)), Math.min(box.clientWidth, xOf(to))];
    if (right - left <= 24) return;
    const fits = fitting(texts, right - left - 6, false);
    context.fillStyle = css;
    // No stripes behind letters.
    if (isStriped) context.fillRect(left + 1, y - 10, fits && context.measureText(fits).width + 4, 13);
    context.fillStyle = ink;
    context.fillText(fits, left + 3, y);
  };
  for (let i = Math.max(0, find(at, view.from)); i < what.length && at[i] < view.to; i++) {
    if (longest[(i / BLOCK) | 0] < room) i = (((i / BLOCK) | 0) + 1) * BLOCK - 1;
    else if (at[i + 1] - at[i] >= room) text(at[i], at[i + 1], stateTexts(lane, i), lane.top + lane.state + 13, colours[shadeOf[what[i]]]);
  }
  const { calls } = lane;
  if (!calls) return;
  for (let i = Math.max(0, find(calls.from, view.from)); i < calls.from.length && calls.from[i] < view.to; i++) {
    if (calls.to[i] - calls.from[i] >= room) text(calls.from[i], calls.to[i], [callName(calls.number[i])], lane.top + lane.call + 10.5, colours[SHADE.call]);
  }
}

// Signposts: a box or a stroke in each column.
function drawPosts(lane) {
  const { posts } = lane;
  const drawn = new Array(POSTS).fill(-1);
  context.font = `11px ${look.font}`;
  if (!posts) return;
  for (let i = find(posts.reach, view.from) + 1; i < posts.from.length && posts.from[i] < view.to; i++) {
    const from = posts.from[i];
    const to = isNaN(posts.to[i]) ? from : posts.to[i];
    if (to < view.from) continue;
    const [left, right] = [Math.max(gutter(), xOf(from)), Math.min(box.clientWidth, xOf(to))];
    if (right < drawn[posts.level[i]] + 1) continue;
    drawn[posts.level[i]] = Math.max(right, left + 1);
    const top = lane.top + posts.level[i] * BAND.post;
    const colour = colours[SHADE.post];
    context.fillStyle = colour.css;
    context.fillRect(left, top, Math.max(1.5, right - left - 0.5), BAND.post - 1);
    context.fillStyle = colour.ink;
    const name = names.signposts[posts.name[i]] ?? "?";
    if (right - left > 24) context.fillText(fitting([name], right - left - 6, true), left + 3, top + 10.5);
  }
}

// What is pointed at, and who woke whom.
function drawCurrent() {
  const [from, to] = timesOf(current);
  const [inside, size] = bandOf(current);
  const left = Math.max(gutter(), xOf(from));
  context.strokeStyle = look.ink;
  context.lineWidth = 2;
  if (xOf(to) >= gutter()) context.strokeRect(left, current.lane.top + inside, Math.max(2, Math.min(box.clientWidth, xOf(to)) - left), size);
  context.strokeStyle = context.fillStyle = colours[SHADE.wakeup].css;
  for (const edge of wakeupsOf(current)) {
    const x = xOf(edge.at);
    if (!edge.from || edge.from === edge.to || edge.from.top === null || edge.to.top === null || x < gutter() || x > box.clientWidth) continue;
    const isDown = edge.to.top > edge.from.top;
    const y0 = edge.from.top + edge.from.state + BAND.state / 2;
    const y1 = edge.to.top + edge.to.state + (isDown ? 0 : BAND.state);
    context.beginPath();
    context.moveTo(x, y0);
    context.lineTo(x, y1);
    context.stroke();
    context.beginPath();
    context.arc(x, y0, 3, 0, 7);
    context.moveTo(x, y1);
    context.lineTo(x - 4, y1 + (isDown ? -7 : 7));
    context.lineTo(x + 4, y1 + (isDown ? -7 : 7));
    context.fill();
  }
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
  context.font = `12px ${look.font}`;
  context.fillStyle = look.soft;
  if (base) context.fillText(fitting([`${base / 1e6} ms +`, "+"], gutter() - 8, true), 6, 16);
  for (let t = Math.ceil((view.from - base) / step) * step; t <= view.to - base; t += step) {
    const x = xOf(t + base);
    context.fillRect(x, AXIS - 6, 1, 6);
    const text = `${(t / size).toFixed(digits)} ${unit}`;
    const width = context.measureText(text).width;
    if (x + width / 2 < wide && x - width / 2 > gutter() - 8) context.fillText(text, x - width / 2, 15);
  }
}
