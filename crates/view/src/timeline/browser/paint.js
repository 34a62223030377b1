// The lanes as pixels. A column in which one thing is so has its colour; in any other
// the heights are the shares of its time, so that nothing is left out however many
// stretches there are.

// Colours of the key's swatches, each with that of its stripes, as pixels.
function palette() {
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
    return { css: backgroundColor, main: word(main), stripe: word(stripe), ink, isStriped: word(main) !== word(stripe) };
  });
}
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const word = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;

// Fills a box of an image, with stripes where the shade has them.
function fill(image, x0, x1, y0, y1, { main, stripe, isStriped }) {
  const { pixels, width, scale } = image;
  const [period, end] = [6 * scale, Math.min(y1, image.height) * width];
  for (let row = Math.max(0, y0) * width; row < end; row += width) {
    if (x1 - x0 < 16) for (let x = x0; x < x1; x++) pixels[row + x] = main;
    else pixels.fill(main, row + x0, row + x1);
    if (!isStriped) continue;
    const y = row / width;
    for (let x = x0; x < x1; x++) if ((x + y) % period < 2 * scale) pixels[row + x] = stripe;
  }
}

const sums = new Float64Array(SHADES);
// Heights of shades in a column, from below.
function mixed(image, x, y0, y1, colours) {
  let total = 0;
  for (let shade = 0; shade < SHADES; shade++) total += sums[shade];
  if (!(total > 0)) return;
  let [below, bottom] = [0, y1];
  for (let shade = 0; shade < SHADES; shade++) {
    if (!(sums[shade] > 0)) continue;
    below += sums[shade];
    let top = y1 - Math.round((below / total) * (y1 - y0));
    // What is lost is seen, however short.
    if (shade === LOST) top = Math.max(y0, Math.min(top, bottom - 2 * image.scale));
    if (top < bottom) fill(image, x, x + 1, top, bottom, colours[shade]);
    bottom = Math.min(bottom, top);
  }
}

// Stretches without a gap, or samples, over the columns of an image.
function paintRuns(image, lane, view, y0, y1, colours) {
  const { at, what, shadeOf } = lane.runs;
  const isSampled = what.length === 0 && lane.samples?.at.length > 1;
  const add = isSampled ? (t, sign) => addSampled(lane.samples, t, sign, sums) : (t, sign) => addUntil(lane.runs, t, sign, sums);
  const [from, to] = isSampled ? [lane.samples.at[0], lane.samples.at.at(-1)] : [at[0], at[what.length]];
  const perPixel = (view.to - view.from) / (image.width - image.left);
  const columnOf = (t) => image.left + Math.floor((t - view.from) / perPixel);
  const end = Math.min(image.width, columnOf(to) + 1);
  for (let x = Math.max(image.left, columnOf(from)); x < end; ) {
    const begin = view.from + (x - image.left) * perPixel;
    const i = find(at, Math.max(begin, from));
    if (!isSampled && begin >= from && i < what.length) {
      const whole = Math.min(end, columnOf(at[i + 1]));
      if (whole > x) {
        // A line between stretches that are alike.
        const gap = whole - x > 5 * image.scale && at[i] > view.from ? image.scale : 0;
        fill(image, x + gap, whole, y0, y1, colours[shadeOf[what[i]]]);
        x = whole;
        continue;
      }
    }
    sums.fill(0);
    add(begin + perPixel, 1);
    add(begin, -1);
    mixed(image, x, y0, y1, colours);
    x++;
  }
}

// Calls, as high as the share of a column that they take.
function paintCalls(image, { calls }, view, y0, y1, colour) {
  const perPixel = (view.to - view.from) / (image.width - image.left);
  const until = (t) => {
    const i = find(calls.from, t);
    return i < 0 ? 0 : calls.sums[i] + Math.min(t, calls.to[i]) - calls.from[i];
  };
  let before = until(view.from);
  for (let x = image.left; x < image.width; x++) {
    const after = until(view.from + (x + 1 - image.left) * perPixel);
    const share = (after - before) / perPixel;
    if (share > 0) fill(image, x, x + 1, y1 - Math.max(image.scale, Math.round(Math.min(1, share) * (y1 - y0))), y1, colour);
    before = after;
  }
}

// Moments, one mark a column.
function paintMoments(image, { moments: { at } }, view, y0, y1, colour) {
  const perPixel = (view.to - view.from) / (image.width - image.left);
  for (let i = find(at, view.from - perPixel) + 1; i < at.length && at[i] < view.to; ) {
    const x = image.left + Math.floor((at[i] - view.from) / perPixel);
    if (x >= image.left) fill(image, x, Math.min(image.width, x + image.scale), y0, y1, colour);
    i = Math.max(i + 1, find(at, view.from + (x + 1 - image.left) * perPixel - 1e-6) + 1);
  }
}
