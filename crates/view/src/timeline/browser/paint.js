// The lanes as pixels. A column in which one thing is so has its colour; in any other
// the heights are the shares of its time, so that nothing is left out however many
// stretches there are.

// Colours of the key's swatches, each with that of its pattern, as tiles of pixels.
function palette(scale) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const pixel = (colour) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return probe.getImageData(0, 0, 1, 1).data;
  };
  return [...document.querySelectorAll("[data-shade]")].map((swatch) => {
    const { backgroundColor, color } = getComputedStyle(swatch);
    const [main, stripe] = [backgroundColor, color].map(pixel);
    const light = [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => sum + weight * linear(main[at] / 255), 0);
    // Text on it: whichever of black and white has the higher contrast.
    const ink = light > 0.179 ? "#000" : "#fff";
    const one = { css: backgroundColor, main: word(main), ink, isPatterned: word(main) !== word(stripe), size: 1, tile: null };
    if (one.isPatterned) patterned(one, word(stripe), swatch.dataset.pattern, scale);
    return one;
  });
}
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const word = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;

// The patterns of timeline.css, of which a swatch names one.
const PATTERNS = {
  up: (x, y, size) => (x + y) % size < size / 3,
  down: (x, y, size) => (x - y + size) % size < size / 2,
  across: (x, y, size) => (2 * y) % size < size / 2,
  dots: (x, y, size) => x < size / 3 && y < size / 3,
};
function patterned(colour, stripe, name, scale) {
  const size = 2 * Math.max(3, Math.round(3 * scale));
  colour.size = size;
  colour.tile = new Int32Array(size * size);
  const isStripe = PATTERNS[name] ?? PATTERNS.up;
  for (let i = 0; i < size * size; i++) colour.tile[i] = isStripe(i % size, (i / size) | 0, size) ? stripe : colour.main;
}

// Fills a box of an image.
function fill(image, x0, x1, y0, y1, { main, tile, size }) {
  const { pixels, width } = image;
  const end = Math.min(y1, image.height);
  for (let y = Math.max(0, y0); y < end; y++) {
    const row = y * width;
    if (tile) {
      const from = (y % size) * size;
      for (let x = x0; x < x1; x++) pixels[row + x] = tile[from + (x % size)];
    } else if (x1 - x0 < 16) for (let x = x0; x < x1; x++) pixels[row + x] = main;
    else pixels.fill(main, row + x0, row + x1);
  }
}

// Heights of shades in a column, from below.
function mixed(image, x, y0, y1, colours, shades, times) {
  let total = 0;
  for (let k = 0; k < shades.length; k++) total += times[k];
  if (!(total > 0)) return;
  const { pixels, width, height } = image;
  const perShare = (y1 - y0) / total;
  let below = 0;
  let bottom = y1 | 0;
  for (let k = 0; k < shades.length; k++) {
    if (!(times[k] > 0)) continue;
    below += times[k];
    let top = (y1 - below * perShare + 0.5) | 0;
    // What is lost is seen, however short.
    if (shades[k] === LOST) top = Math.max(y0, Math.min(top, bottom - Math.ceil(2 * image.scale))) | 0;
    if (top >= bottom) continue;
    const { main, tile, size } = colours[shades[k]];
    // Most of a frame's time goes here: one column, from above.
    const end = bottom < height ? bottom : height;
    let at = (top * width + x) | 0;
    if (!tile) for (let y = top; y < end; y++, at += width) pixels[at] = main;
    else for (let y = top; y < end; y++, at += width) pixels[at] = tile[(y % size) * size + (x % size)];
    bottom = top;
  }
}

// Stretches without a gap over the columns of an image. Those that have the room for a name are
// handed on.
function paintRuns(image, lane, view, y0, y1, colours, named) {
  const { at, what, shadeOf, shades } = lane.runs;
  if (what.length === 0) return paintSamples(image, lane, view, y0, y1, colours);
  const { left, width, scale } = image;
  const perPixel = (view.to - view.from) / (width - left);
  const columnOf = (t) => left + Math.floor((t - view.from) / perPixel);
  const [first, last] = [at[0], at[what.length]];
  const end = Math.min(width, columnOf(last) + 1);
  let x = Math.max(left, columnOf(first));
  if (x >= end) return;
  let [before, after] = [new Float64Array(shades.length), new Float64Array(shades.length)];
  let run = Math.max(0, find(at, view.from + (x - left) * perPixel));
  // Whether the sums before this column are known.
  let isKnown = false;
  while (x < end) {
    const begin = view.from + (x - left) * perPixel;
    if (begin >= first && run < what.length) {
      const whole = Math.min(end, columnOf(at[run + 1]));
      if (whole > x) {
        // A line between stretches that are alike.
        const gap = whole - x > 5 * scale && at[run] > view.from ? Math.ceil(scale) : 0;
        fill(image, x + gap, whole, y0, y1, colours[shadeOf[what[run]]]);
        if (whole - x > 26 * scale) named.push([lane, run, x, whole]);
        x = whole;
        run = findFrom(at, view.from + (x - left) * perPixel, run);
        isKnown = false;
        continue;
      }
    }
    if (!isKnown) sumUntil(lane.runs, Math.max(begin, first), Math.min(run, what.length), before);
    const until = Math.min(begin + perPixel, last);
    run = Math.min(findFrom(at, until, run), what.length);
    sumUntil(lane.runs, until, run, after);
    for (let k = 0; k < before.length; k++) before[k] = after[k] - before[k];
    mixed(image, x, y0, y1, colours, shades, before);
    [before, after, isKnown] = [after, before, true];
    x++;
  }
}

// Where only sums are known.
const EVERY_SHADE = Array.from({ length: names.kinds.length }, (_, at) => at);
function paintSamples(image, { samples }, view, y0, y1, colours) {
  if (!(samples?.at.length > 1)) return;
  const perPixel = (view.to - view.from) / (image.width - image.left);
  const columnOf = (t) => image.left + Math.floor((t - view.from) / perPixel);
  const end = Math.min(image.width, columnOf(samples.at.at(-1)) + 1);
  const times = new Float64Array(EVERY_SHADE.length);
  for (let x = Math.max(image.left, columnOf(samples.at[0])); x < end; x++) {
    const begin = view.from + (x - image.left) * perPixel;
    times.fill(0);
    addSampled(samples, begin + perPixel, 1, times);
    addSampled(samples, begin, -1, times);
    mixed(image, x, y0, y1, colours, EVERY_SHADE, times);
  }
}

// Calls or operations on memory, as high as the share of a column that they take.
function paintCalls(image, calls, view, y0, y1, colour) {
  const { from, to, sums } = calls;
  const perPixel = (view.to - view.from) / (image.width - image.left);
  let i = find(from, view.from);
  const until = (t) => {
    i = i < 0 ? find(from, t) : findFrom(from, t, i);
    return i < 0 ? 0 : sums[i] + Math.min(t, to[i]) - from[i];
  };
  let before = until(view.from);
  for (let x = image.left; x < image.width; x++) {
    // Nothing until the next begins.
    if ((i < 0 || to[i] <= view.from + (x - image.left) * perPixel) && i + 1 < from.length) {
      const next = image.left + Math.floor((from[i + 1] - view.from) / perPixel);
      if (next > x) {
        x = next - 1;
        continue;
      }
    }
    const after = until(view.from + (x + 1 - image.left) * perPixel);
    const share = (after - before) / perPixel;
    if (share > 0) fill(image, x, x + 1, y1 - Math.max(Math.ceil(image.scale), Math.round(Math.min(1, share) * (y1 - y0))), y1, colour);
    before = after;
  }
}
