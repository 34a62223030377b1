// The trace as the page carries it (`pack.rs`): names in JSON, and one compressed block
// of numbers of seven bits a byte.

const names = JSON.parse(document.getElementById("head").textContent);
// Shades after those of states: see the key of the page.
const SHADE = { traced: [10, 11], other: 12, idle: 13, notTraced: 14, call: 15, moment: 16, post: 17, wakeup: 18 };
const SHADES = 15;
const LOST = names.kinds.indexOf("lost");
const UNKNOWN = names.kinds.indexOf("unknown");
// Runs of a block, whose sums are kept.
const BLOCK = 32;

async function unpacked() {
  const text = document.getElementById("data").textContent;
  const raw = atob(text);
  const packed = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function reader(bytes) {
  let at = 0;
  function number() {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    return value;
  }
  function numbers(count, Array) {
    const all = new Array(count);
    for (let i = 0; i < count; i++) all[i] = number();
    return all;
  }
  function times() {
    const all = numbers(number(), Float64Array);
    for (let i = 1; i < all.length; i++) all[i] += all[i - 1];
    return all;
  }
  // Stretches without a gap: their ends with the first begin, and what each is.
  function runs(from, shadeOf) {
    const count = number();
    const ends = new Float64Array(count + 1);
    ends[0] = from;
    for (let i = 0; i < count; i++) ends[i + 1] = ends[i] + number();
    return summed({ at: ends, what: numbers(count, Uint32Array), shadeOf });
  }
  function within() {
    const length = number();
    at += length;
    return bytes.subarray(at - length, at);
  }
  return { number, numbers, times, runs, within };
}

// Time of each shade up to every block of runs, and the longest run of each block.
function summed(runs) {
  const { at, what, shadeOf } = runs;
  const blocks = Math.ceil(what.length / BLOCK);
  runs.sums = new Float64Array((blocks + 1) * SHADES);
  runs.longest = new Float64Array(blocks);
  const sum = new Float64Array(SHADES);
  for (let i = 0; i < what.length; i++) {
    if (i % BLOCK === 0) runs.sums.set(sum, (i / BLOCK) * SHADES);
    const length = at[i + 1] - at[i];
    sum[shadeOf[what[i]]] += length;
    if (length > runs.longest[(i / BLOCK) | 0]) runs.longest[(i / BLOCK) | 0] = length;
  }
  runs.sums.set(sum, blocks * SHADES);
  return runs;
}

// The last place at or before a time, among ascending ones; -1 before all.
function find(times, at) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Adds the time of each shade up to a moment, times a sign.
function addUntil(runs, moment, sign, sums) {
  const { at, what, shadeOf } = runs;
  if (moment <= at[0]) return;
  const last = Math.min(find(at, moment), what.length);
  const block = (last / BLOCK) | 0;
  for (let shade = 0; shade < SHADES; shade++) sums[shade] += sign * runs.sums[block * SHADES + shade];
  for (let i = block * BLOCK; i < last; i++) sums[shadeOf[what[i]]] += sign * (at[i + 1] - at[i]);
  if (last < what.length) sums[shadeOf[what[last]]] += sign * (moment - at[last]);
}

// Where only sums are known: the share on a CPU from sample to sample; the rest is
// not told apart.
function addSampled({ at, running }, moment, sign, sums) {
  const i = find(at, moment);
  if (i < 0) return;
  const part = i + 1 < at.length ? (moment - at[i]) / Math.max(1, at[i + 1] - at[i]) : 0;
  const ran = running[i] - running[0] + part * (running[Math.min(i + 1, at.length - 1)] - running[i]);
  sums[0] += sign * ran;
  sums[names.kinds.indexOf("blocked or runnable")] += sign * (Math.min(moment, at.at(-1)) - at[0] - ran);
}
