// The address keeps what is seen: zoom, range, pinned slice, search and filters, so that it can be sent on.

// A slice is named by its band, its thread or CPU, and when it begins.
const sliceText = ({ lane, band, index }) => `${band}:${lane.key}@${Math.round(timesOf({ lane, band, index })[0])}`;

function sliceOf(text) {
  const [, band, key, time] = text.match(/^(state|sample|call|post|memory):(\w+)@(\d+)$/) ?? [];
  if (!band) return null;
  const at = Number(time);
  const lane = key.startsWith("cpu") ? cpuLanes.get(Number(key.slice(3))) : laneOf(Number(key), at);
  if (!lane) return null;
  if (band === "state" || band === "sample") return stateAt(lane, at) ?? stateAt(lane, lane.runs.at[0] ?? 0);
  const all = { call: lane.calls, post: lane.posts, memory: lane.memory }[band];
  const index = all ? find(all.from, at) : -1;
  return index >= 0 ? { lane, band, index } : null;
}

function addressText() {
  const parts = [["from", Math.round(view.from)], ["to", Math.round(view.to)]];
  const add = (name, value) => value && parts.push([name, value]);
  if (range) add("range", `${Math.round(range.from)}-${Math.round(range.to)}`);
  if (pinned) add("slice", sliceText(pinned));
  add("find", query);
  add("order", order.value === "activity" ? "" : order.value);
  add("alive", sparse.checked ? "1" : "");
  add("fold", [...folded].join("."));
  add("top", [...above].join("."));
  return `#${parts.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%3A", ":").replaceAll("%40", "@")}`).join("&")}`;
}

let writing = 0;
let isApplying = false;
function keepAddress() {
  if (isApplying || !isLoaded) return;
  clearTimeout(writing);
  writing = setTimeout(() => {
    const text = addressText();
    if (text !== location.hash) history.replaceState(null, "", text);
  }, 200);
}

// Shows what an address asks for. One that names no part of the trace changes only what it names.
function apply() {
  const asks = new URLSearchParams(location.hash.slice(1));
  if (asks.has("thread")) return applySlice(asks);
  const numbers = (text, sign) => (text ?? "").split(sign).map((part) => (/^\d+$/.test(part) ? Number(part) : NaN));
  if (![...asks.keys()].some((name) => ["from", "range", "slice", "find", "thread"].includes(name))) return false;
  isApplying = true;
  const [from] = numbers(asks.get("from"), "-");
  const [to] = numbers(asks.get("to"), "-");
  const isWhole = to > from;
  if (isWhole) {
    order.value = asks.get("order") === "appearance" ? "appearance" : "activity";
    sparse.checked = asks.get("alive") === "1";
    for (const [keys, name] of [[folded, "fold"], [above, "top"]]) {
      keys.clear();
      for (const key of (asks.get(name) ?? "").split(".")) if (/^\w+$/.test(key)) keys.add(key);
    }
    asked.value = asks.get("find") ?? "";
  } else if (asks.has("find")) asked.value = asks.get("find");
  if (asked.value.trim() !== query) collect(asked.value.trim());
  if (asks.has("range") || isWhole) {
    const [begin, end] = numbers(asks.get("range"), "-");
    range = end > begin && begin < whole.to ? { from: begin, to: Math.min(end, whole.to) } : null;
    showRange();
  }
  const item = sliceOf(asks.get("slice") ?? "");
  if (isWhole) show(from, to);
  if (item && isWhole) pin(item);
  else if (item) choose(item);
  else if (isWhole) pin(null);
  settle();
  if (item) reveal(item.lane);
  count();
  isApplying = false;
  keepAddress();
  return true;
}
// A figure leads to a slice by its thread, begin and end; where there is no such slice, to that part.
function applySlice(asks) {
  const [id, from, to] = ["thread", "from", "to"].map((name) => Number(asks.get(name)));
  const lane = laneOf(id, from);
  if (!lane || !(to >= from)) return false;
  const exact = (band, all) => {
    for (let index = all ? find(all.from, from) : -1; index >= 0 && all.from[index] === from; index--) {
      const item = { lane, band, index };
      if (timesOf(item)[1] === to) return item;
    }
    return null;
  };
  const state = stateAt(lane, from);
  const isState = state?.band === "state" && timesOf(state)[0] === from && timesOf(state)[1] === to;
  const item = exact("post", lane.posts) ?? exact("call", lane.calls) ?? exact("memory", lane.memory) ?? (isState ? state : null);
  if (item) choose(item);
  else {
    show(from - (to - from) / 20, to + (to - from) / 20);
    pin(null);
    reveal(lane);
  }
  return true;
}

window.addEventListener("hashchange", () => {
  // Ours are written without this event.
  if (isLoaded && apply()) document.getElementById("timeline").scrollIntoView({ block: "start" });
});
