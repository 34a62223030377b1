// The trace as the page carries it (`pack.rs`): names in JSON, and one compressed block
// of numbers of seven bits a byte.

const names = JSON.parse(document.getElementById("head").textContent);
// Shades after those of states, in the order of the key of the page: seven hues of two lightnesses for
// processes, three greys for other programs.
const [HUES, GREYS] = [7, 3];
const PROCESS = names.kinds.length;
const OTHER = PROCESS + 2 * HUES;
const [IDLE, NOT_TRACED, CALL, MEMORY, POST, WAKEUP, HIT] = Array.from({ length: 7 }, (_, at) => OTHER + GREYS + at);
// Those of states and of what is on a CPU.
const SHADES = CALL;
const LOST = names.kinds.indexOf("lost");
const UNKNOWN = names.kinds.indexOf("unknown");
// Runs of a block, whose sums are kept.
const BLOCK = 16;

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

// Time of each shade that occurs up to every block of runs, and the longest run of each block.
function summed(runs) {
  const { at, what, shadeOf } = runs;
  const isThere = new Uint8Array(SHADES);
  for (let i = 0; i < what.length; i++) isThere[shadeOf[what[i]]] = 1;
  runs.shades = [...isThere.keys()].filter((shade) => isThere[shade]);
  const count = runs.shades.length;
  const placeOf = new Uint8Array(SHADES);
  runs.shades.forEach((shade, place) => (placeOf[shade] = place));
  // Of each run the place of its shade among those.
  runs.place = new Uint8Array(what.length);
  const blocks = Math.ceil(what.length / BLOCK);
  runs.sums = new Float64Array((blocks + 1) * count);
  runs.longest = new Float64Array(blocks);
  const sum = new Float64Array(count);
  for (let i = 0; i < what.length; i++) {
    if (i % BLOCK === 0) runs.sums.set(sum, (i / BLOCK) * count);
    const length = at[i + 1] - at[i];
    runs.place[i] = placeOf[shadeOf[what[i]]];
    sum[runs.place[i]] += length;
    if (length > runs.longest[(i / BLOCK) | 0]) runs.longest[(i / BLOCK) | 0] = length;
  }
  runs.sums.set(sum, blocks * count);
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

// The same from a place on, of which a time further on is looked for.
function findFrom(times, at, from) {
  let [low, step] = [from, 1];
  while (low + step < times.length && times[low + step] <= at) [low, step] = [low + step, 2 * step];
  let high = Math.min(times.length, low + step);
  low = Math.max(0, low);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// The time of each shade of a lane up to a moment in one of its runs, by the places of shades.
function sumUntil({ at, place, sums, shades }, moment, run, into) {
  const count = shades.length;
  const block = (run / BLOCK) | 0;
  for (let k = 0; k < count; k++) into[k] = sums[block * count + k];
  for (let i = block * BLOCK; i < run; i++) into[place[i]] += at[i + 1] - at[i];
  if (run < place.length) into[place[run]] += moment - at[run];
}

// Time of each shade of a lane between two moments.
function timesBetween(lane, from, to) {
  const times = new Float64Array(SHADES);
  const { runs, samples } = lane;
  if (runs.what.length === 0) {
    if (samples?.at.length > 1) {
      addSampled(samples, to, 1, times);
      addSampled(samples, from, -1, times);
    }
    return times;
  }
  const sum = new Float64Array(runs.shades.length);
  for (const [moment, sign] of [[to, 1], [from, -1]]) {
    if (moment <= runs.at[0]) continue;
    sumUntil(runs, Math.min(moment, runs.at.at(-1)), Math.min(find(runs.at, moment), runs.what.length), sum);
    runs.shades.forEach((shade, k) => (times[shade] += sign * sum[k]));
  }
  return times;
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
