// Search: the next thread, call or signpost by its name, from what was found last on.

const asked = document.getElementById("find");
const status = document.getElementById("status");
let last = null;

const matches = (words) => (name) => words.every((word) => name.toLowerCase().includes(word));
const numbersOf = (all, isIt) => new Set(Object.entries(all).filter(([, name]) => isIt(name)).map(([number]) => Number(number)));

// Whether a place lies behind another: later, or at the same time further below.
const isAfter = ([t, y, z], [u, v, w]) => t > u || (t === u && (y > v || (y === v && z > w)));
const BANDS = ["state", "post", "call"];

// The first place behind one that a search finds, and what kind of thing it is.
function next(isIt, behind) {
  const [calls, posts] = [numbersOf(names.calls, isIt), numbersOf(names.signposts, isIt)];
  let best = null;
  const offer = (key, item) => {
    if (isAfter(key, behind) && (!best || isAfter(best.key, key))) best = { key, item };
  };
  everyLane.forEach((lane, y) => {
    if (!lane.thread) return;
    if (isIt(lane.label)) offer([lane.thread.from_ns, y, 0], { ...stateAt(lane, lane.runs.at[0]), lane });
    for (const [band, all, kinds, from] of [["post", posts, lane.posts.name, lane.posts.from], ["call", calls, lane.calls.number, lane.calls.from]]) {
      if (all.size === 0) continue;
      for (let i = Math.max(0, find(from, behind[0] - 0.5)); i < from.length; i++) {
        const key = [from[i], y, BANDS.indexOf(band)];
        if (best && !isAfter(best.key, key)) break;
        if (all.has(kinds[i]) && isAfter(key, behind)) {
          offer(key, { lane, band, index: i });
          break;
        }
      }
    }
  });
  return best;
}

function search() {
  const words = asked.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!isLoaded || words.length === 0) return;
  const start = [-1, -1, -1];
  const isIt = matches(words);
  const text = words.join(" ");
  let found = next(isIt, last?.text === text ? last.key : start);
  const isAgain = !found && last?.text === text;
  if (isAgain) found = next(isIt, start);
  last = found && { text, key: found.key };
  status.textContent = found ? `${isAgain ? "From the beginning again: " : ""}${found.item.lane.label}, ${moment(found.key[0])}` : `No thread, call or signpost is called “${asked.value.trim()}”`;
  if (!found) return;
  if (found.item.band) choose(found.item);
  else reveal(found.item.lane);
}

document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
