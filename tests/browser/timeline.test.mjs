// Looks at the timeline of a trace in a browser. TIMELINE is the page of a trace by
// synthetic.mjs, TRACE its run as JSON, TIMELINE_LARGE a page of a million segments.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { open, start } from "./browser.mjs";

const { TIMELINE, TIMELINE_LARGE } = process.env;
assert.ok(TIMELINE && TIMELINE_LARGE && process.env.TRACE, "TIMELINE, TIMELINE_LARGE and TRACE name files");
const TRACE = JSON.parse(readFileSync(process.env.TRACE, "utf8")).recordings[0].trace;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const KINDS = ["running", "runnable", "preempted", "yielded", "preempted or yielded", "blocked", "blocked", "stopped", "blocked or runnable", "lost", "unknown"];

let browser;
before(async () => (browser = await start()));
after(async () => await browser.end());

async function on(file, look, check) {
  const { page, complaints, requests } = await open(browser, file, look);
  try {
    await page.waitForSelector("#lanes[data-drawn]");
    await check(page);
    assert.deepEqual(complaints, [], "the page complains");
    assert.deepEqual(requests, [], "the page asks for something");
  } finally {
    await page.close();
  }
}

const press = async (page, ...keys) => {
  await page.focus("#lanes");
  for (const key of keys) await page.keyboard.press(key);
};
// The lines of the box at the pointer.
const hover = async (page) => (await page.locator(".tip:not([hidden]) p").allTextContents()).flatMap((text) => text.split("\n"));
// The panel of the pinned slice: whose it is, what, and its facts by name.
const panel = (page) =>
  page.evaluate(() => {
    const slice = document.getElementById("slice");
    if (slice.hidden) return null;
    const [, label, what] = slice.querySelector("h3").textContent.match(/^(.*?\d): (.*)$/s);
    const facts = {};
    for (const name of slice.querySelectorAll("dt")) {
      const lines = name.nextElementSibling.querySelectorAll("li");
      facts[name.textContent] = lines.length ? [...lines].map((line) => line.textContent) : name.nextElementSibling.textContent;
    }
    return { label, what, facts };
  });
const find = async (page, text) => {
  await page.fill("#find", text);
  await page.press("#find", "Enter");
};
const found = (page) => page.textContent("#found");
// The address as it is once it has been written.
async function address(page) {
  await page.waitForTimeout(350);
  return Object.fromEntries(new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)));
}
const KIND = (thread, codes) => thread.segments.filter(([, , code]) => codes.includes(code));
const stackOf = (node) => {
  const { frames, nodes } = TRACE.stacks;
  const [frame, caller] = nodes[node];
  return [frames[frame].function ?? "prog+0x1000", ...(caller === null ? [] : stackOf(caller))];
};
const moment = (ns) => `${(ns / 1e6).toFixed(6)} ms`;
// Colours of the canvas, with how many pixels each has.
const colours = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("#lanes canvas");
    const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const pixels = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const counts = {};
    for (const pixel of pixels) counts[pixel] = (counts[pixel] ?? 0) + 1;
    return counts;
  });
const shade = (page, name, of) =>
  page.evaluate(([name, of]) => {
    const [r, g, b] = getComputedStyle(document.querySelector(`.shades .${name}`))[of].match(/[\d.]+/g).map(Number);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }, [name, of]);

// Pixels of a colour, as a style has it: a mixed one is in parts of 1.
const near = (counts, colour) => {
  const on = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part * (colour.startsWith("color(") ? 255 : 1));
  const isNear = (pixel) => [0, 8, 16].every((bits, at) => Math.abs(((pixel >>> bits) & 255) - on[at]) <= 2);
  return Object.entries(counts).reduce((sum, [pixel, count]) => sum + (isNear(Number(pixel)) ? count : 0), 0);
};

test("a step by keys pins each slice with what the document says of it", async () => {
  await on(TIMELINE, {}, async (page) => {
    const [thread] = TRACE.threads;
    await page.selectOption("#order", "appearance");
    // Past the CPUs to the first thread, at the trace's begin; then segment by segment.
    await press(page, "ArrowRight", ...TRACE.cpus.map(() => "ArrowDown"));
    const seen = new Set();
    for (const [from, duration, code, detail] of thread.segments.slice(0, 40)) {
      const { label, what, facts } = await panel(page);
      const kind = KINDS[code];
      seen.add(kind);
      assert.equal(label, `${thread.name} ${thread.id}`);
      assert.ok(what.startsWith(kind), `${what} is not ${kind}`);
      if (kind === "running") assert.equal(what, `running on CPU ${detail}`);
      if (kind === "preempted") assert.match(what, new RegExp(`^preempted by worker. ${detail}$`));
      if (kind === "blocked" && detail) assert.equal(what, "blocked in futex");
      assert.ok(facts.time.endsWith(`from ${moment(from)} to ${moment(from + duration)}`), facts.time);
      const wakeup = TRACE.wakeups.find(([at, id]) => id === thread.id && at === from);
      if (wakeup) assert.ok(facts["woken by"].includes(wakeup[2] === null ? "interrupt" : ` ${wakeup[2]} `), facts["woken by"]);
      const left = thread.left.findLast(([at]) => at <= from);
      if (kind === "preempted" || (kind === "blocked" && left)) assert.deepEqual(facts.stack, stackOf(left[1]));
      if (kind === "running") assert.equal(facts.stack, undefined);
      await press(page, "ArrowRight");
    }
    for (const kind of ["running", "runnable", "preempted", "blocked"]) assert.ok(seen.has(kind), `no ${kind}`);
    await press(page, "Escape");
    assert.equal(await panel(page), null);
  });
});

test("the lane of a CPU shows what its switches say", async () => {
  await on(TIMELINE, {}, async (page) => {
    await press(page, "ArrowRight");
    const { switches } = TRACE.cpus[0];
    for (const [index, [at, , , into]] of switches.slice(0, 30).entries()) {
      await press(page, "ArrowRight");
      const { label, what, facts } = await panel(page);
      assert.equal(label, "CPU 0");
      assert.ok(what.endsWith(` ${into}`), `${what} is not ${into}`);
      assert.ok(facts.time.endsWith(`from ${moment(at)} to ${moment(switches[index + 1][0])}`), facts.time);
    }
  });
});

test("search goes from hit to hit in both directions, and counts them", async () => {
  await on(TIMELINE, {}, async (page) => {
    const calls = TRACE.threads.flatMap((thread) => thread.calls.map(([from, duration]) => ({ from, duration, label: `${thread.name} ${thread.id}` })));
    calls.sort((a, b) => a.from - b.from);
    const found = () => page.textContent("#found");
    await page.fill("#find", "futex");
    // Calls, and states of being blocked in them, in the order of time.
    const waits = TRACE.threads.flatMap((thread) => thread.segments.filter(([, , code, detail]) => KINDS[code] === "blocked" && detail));
    const times = [...calls.map(({ from }) => from), ...waits.map(([from]) => from)].sort((a, b) => a - b);
    for (const from of times.slice(0, 5)) {
      await page.press("#find", "Enter");
      const slice = await panel(page);
      assert.match(slice.what, /^(blocked in futex$|futex\(0x7f0012345678, FUTEX_WAIT_PRIVATE, [0-2]\) = 0$)/);
      assert.ok(slice.facts.time.includes(`from ${moment(from)} `), slice.facts.time);
      if (slice.what.startsWith("futex(")) assert.ok(calls.some((call) => call.from === from && call.label === slice.label));
    }
    assert.equal(await found(), `5 of ${times.length}`);
    await page.press("#find", "Shift+Enter");
    assert.ok((await panel(page)).facts.time.includes(`from ${moment(times[3])} `));
    assert.equal(await found(), `4 of ${times.length}`);
    // A duration: as many as the document has.
    const limit = 100_000;
    const long = calls.filter(({ duration }) => duration > limit).length + waits.filter(([, ns]) => ns > limit).length;
    await page.fill("#find", `futex > ${limit / 1000} us`);
    await page.press("#find", "Enter");
    assert.equal(await found(), `1 of ${long}`);
    // A state, on lanes of threads.
    const preempted = TRACE.threads.flatMap((thread) => thread.segments.filter(([, , code]) => KINDS[code] === "preempted")).length;
    await page.fill("#find", "preempted");
    await page.press("#find", "Enter");
    assert.equal(Number((await found()).split(" ").at(-1)), preempted, await found());
    await page.fill("#find", "deadline");
    await page.press("#find", "Enter");
    assert.equal((await panel(page)).what, "deadline missed");
    await page.fill("#find", "worker3 1011");
    await page.press("#find", "Enter");
    assert.equal((await panel(page)).label, "worker3 1011");
    await page.fill("#find", "nothing like it");
    await page.press("#find", "Enter");
    assert.equal(await found(), "nothing found");
  });
});

test("a click pins a slice, and the address brings it back with the zoom and the search", async () => {
  let address;
  let before;
  await on(TIMELINE, {}, async (page) => {
    const { x, y, width } = await page.locator("#lanes").boundingBox();
    await page.fill("#find", "futex");
    await page.press("#find", "Enter");
    await page.mouse.click(x + width * 0.6, y + 200);
    before = await panel(page);
    assert.ok(before, "nothing is pinned");
    await page.waitForTimeout(400);
    address = new URL(page.url()).hash;
  });
  await on(TIMELINE, { hash: address }, async (page) => {
    assert.deepEqual(await panel(page), before);
    assert.equal(await page.inputValue("#find"), "futex");
    assert.equal(await page.locator("#whole").isDisabled(), false, "the whole is shown");
  });
});

test("a drag over the ruler measures a range: states of each thread add up to it", async () => {
  await on(TIMELINE, {}, async (page) => {
    const { x, y, width } = await page.locator("#lanes").boundingBox();
    await page.mouse.move(x + width * 0.4, y + 12);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.7, y + 12, { steps: 4 });
    await page.mouse.up();
    const { from, to } = await page.evaluate(() => {
      const [, from, to] = document.querySelector("#range h3").textContent.match(/from ([\d.]+) ms to ([\d.]+) ms/);
      return { from: from * 1e6, to: to * 1e6 };
    });
    assert.ok(from > 0 && to > from && to < TRACE.duration_ns, `${from} to ${to}`);
    const rows = await page.evaluate(() => {
      const ns = (text) => (text === "-" ? 0 : parseFloat(text) * { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 }[text.split(" ")[1]]);
      const table = document.querySelector('#figures [aria-label="Threads"] table');
      return [...table.tBodies[0].rows].map((row) => [row.cells[0].textContent, [...row.cells].slice(1, -2).map((cell) => ns(cell.textContent))]);
    });
    assert.ok(rows.length > 1);
    for (const [label, times] of rows) {
      const thread = TRACE.threads.find(({ name, id }) => `${name} ${id}` === label);
      const overlap = (begin, end) => Math.max(0, Math.min(end, to) - Math.max(begin, from));
      const lived = overlap(thread.segments[0][0], thread.segments.at(-1)[0] + thread.segments.at(-1)[1]);
      const running = thread.segments.filter(([, , code]) => code === 0).reduce((sum, [at, ns]) => sum + overlap(at, at + ns), 0);
      assert.ok(Math.abs(times.reduce((a, b) => a + b, 0) - lived) <= lived * 0.01 + 100, `${label}: ${times} are not ${lived}`);
      assert.ok(Math.abs(times[0] - running) <= running * 0.01 + 10, `${label}: running ${times[0]} is not ${running}`);
    }
    // Sorted by the time on CPUs, then by a click the other way round.
    const first = rows.map(([, [running]]) => running);
    assert.deepEqual(first, [...first].sort((a, b) => b - a));
    await press(page, "Escape");
    assert.equal(await page.isHidden("#range"), true);
  });
});

// What the tables of figures show, by their names.
const tables = (page) =>
  page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#figures .scroll > table")].map((table) => [
    table.parentElement.getAttribute("aria-label"),
    [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
  ])));
const measured = async (page, from, to) => {
  await page.evaluate((hash) => (location.hash = hash), `#range=${from}-${to}`);
  await page.waitForSelector("#in-range:not([hidden])");
};

test("the figures of a range that is the whole are those of the page", async () => {
  await on(TIMELINE, {}, async (page) => {
    const before = await tables(page);
    await measured(page, 0, TRACE.duration_ns);
    const ranged = await tables(page);
    for (const [name, rows] of Object.entries(before)) assert.deepEqual(ranged[name].sort(), rows.sort(), name);
    assert.ok((await page.textContent("#in-range")).includes("No row is left out."));
  });
});

test("the tables show what a range has, and count what they leave out, until the whole is asked for", async () => {
  const [from, to] = [0.62, 0.66].map((share) => Math.round(share * TRACE.duration_ns));
  const touches = (begin, end) => begin < to && end > from;
  let hash;
  await on(TIMELINE, {}, async (page) => {
    const before = await tables(page);
    await measured(page, from, to);
    const now = await tables(page);
    const calls = TRACE.threads.flatMap(({ calls }) => calls).filter(([at, ns, , , returned]) => returned !== null && touches(at, at + ns));
    assert.equal(now["System calls"].length, 1);
    assert.equal(Number(now["System calls"][0][1]), calls.length);
    const longest = Math.max(...calls.map(([at, ns]) => Math.min(at + ns, to) - Math.max(at, from)));
    assert.equal(now["System calls"][0][5], `${(longest / 1e3).toPrecision(3)} µs`);
    const preempted = TRACE.threads.flatMap((thread) => KIND(thread, [2])).filter(([at, ns]) => touches(at, at + ns));
    assert.equal(now.Preemptions.reduce((sum, [, , times]) => sum + Number(times), 0), preempted.length);
    const faults = TRACE.threads.flatMap(({ faults }) => faults).filter(([at]) => at >= from && at <= to);
    assert.equal(now.Threads.reduce((sum, row) => sum + Number(row.at(-1)), 0), faults.length);
    const ran = TRACE.threads.flatMap((thread) => KIND(thread, [0])).filter(([at, ns]) => touches(at, at + ns));
    assert.equal(now.Threads.reduce((sum, row) => sum + Number(row.at(-2)), 0), ran.length);
    // No signpost touches it.
    assert.deepEqual(now.Signposts, []);
    assert.match(await page.textContent("#in-range"), /rows are left out: .*3 of 3 signposts/);
    // It is sorted as the others, and the longest leads to its slice.
    await page.getByRole("region", { name: "Threads", exact: true }).locator("thead button", { hasText: "faults" }).click();
    const sorted = (await tables(page)).Threads.map((row) => Number(row.at(-1)));
    assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
    await page.getByRole("region", { name: "Threads", exact: true }).locator("thead button", { hasText: "faults" }).click({ clickCount: 2 });
    assert.equal((await address(page)).range, `${from}-${to}`);
    hash = await page.evaluate(() => location.hash);
    await page.locator("#in-range button").click();
    assert.deepEqual(await tables(page), before);
    assert.equal(await page.isHidden("#range"), true);
    assert.equal((await address(page)).range, undefined);
  });
  await on(TIMELINE, { hash }, async (page) => assert.deepEqual((await tables(page)).Signposts, [], "the address keeps it"));
});

test("a figure leads to its slice", async () => {
  await on(TIMELINE, {}, async (page) => {
    const link = page.locator('#figures a[href*="thread="]').first();
    const asks = new URLSearchParams((await link.getAttribute("href")).slice(1));
    await link.click();
    await page.waitForTimeout(300);
    const shown = await panel(page);
    const thread = TRACE.threads.find(({ id }) => id === Number(asks.get("thread")));
    if (shown) assert.equal(shown.label, `${thread.name} ${thread.id}`);
    const [from, to] = ["from", "to"].map((name) => Number(new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name)));
    assert.ok(from <= Number(asks.get("from")) && to >= Number(asks.get("to")), `${from} to ${to}`);
  });
});

test("on paper every lane stands, and what is not there is counted", async () => {
  await on(TIMELINE, {}, async (page) => {
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const { widest, sheets, text } = await page.evaluate(() => {
      const all = [...document.querySelectorAll("#paper canvas")];
      return { widest: Math.max(...all.map((one) => parseFloat(one.style.width))), sheets: all.length, text: document.querySelector("#paper p").textContent };
    });
    assert.ok(sheets >= 1 && widest <= 1000, `${sheets} pictures, ${widest} px`);
    assert.ok(text.includes(moment(TRACE.duration_ns)) && !text.includes("not printed"), text);
  });
});

test("who had the CPU while a thread was preempted adds up to that time", async () => {
  await on(TIMELINE, {}, async (page) => {
    const thread = TRACE.threads[4];
    const at = thread.segments.findIndex(([, duration, code], i) => code === 2 && duration > 50_000 && thread.segments[i + 1]?.[2] === 0);
    const [from, duration] = thread.segments[at];
    const cpu = TRACE.cpus[thread.segments[at + 1][3]];
    // What the switches of that CPU say.
    const sums = new Map();
    cpu.switches.forEach(([time, , , into], i) => {
      const ns = Math.min(cpu.switches[i + 1]?.[0] ?? TRACE.duration_ns, from + duration) - Math.max(time, from);
      if (ns > 0) sums.set(into, (sums.get(into) ?? 0) + ns);
    });
    await page.evaluate((hash) => (location.hash = hash), `#slice=state:${thread.id}@${from}`);
    await page.waitForSelector("#slice:not([hidden])");
    const [text] = (await panel(page)).facts["CPU meanwhile"].split("\n");
    const ns = (value, unit) => Number(value) * { ns: 1, "µs": 1e3, ms: 1e6 }[unit];
    const said = new Map([...text.matchAll(/worker\d (\d+) ([\d.]+) (ns|µs|ms)|main .*? (\d+) ([\d.]+) (ns|µs|ms)/g)].map((m) => [Number(m[1] ?? m[4]), ns(m[2] ?? m[5], m[3] ?? m[6])]));
    for (const [id, ns] of [...sums].sort(([, a], [, b]) => b - a).slice(0, 5)) assert.ok(Math.abs(said.get(id) - ns) <= ns * 0.006, `${id}: ${ns} ns, ${text}`);
  });
});

test("a signpost says how long the thread was in each state within it", async () => {
  await on(TIMELINE, {}, async (page) => {
    const [thread] = TRACE.threads;
    const [from, duration] = thread.signposts[1];
    await page.evaluate((hash) => (location.hash = hash), `#slice=post:${thread.id}@${from}`);
    await page.waitForSelector("#slice:not([hidden])");
    const { what, facts } = await panel(page);
    assert.equal(what, "decode <i>");
    const ran = KIND(thread, [0]).reduce((sum, [at, ns]) => sum + Math.max(0, Math.min(at + ns, from + duration) - Math.max(at, from)), 0);
    const [, percent] = facts["states within"].match(/running [\d.]+ .s \(([\d.]+) %\)/);
    assert.ok(Math.abs(percent - (100 * ran) / duration) < 0.6, `${percent} %, ${ran} of ${duration} ns`);
  });
});

test("the address keeps zoom, range, slice, search and filters, and opens on them", async () => {
  await on(TIMELINE, {}, async (page) => {
    const thread = TRACE.threads[5];
    const [from] = KIND(thread, [2])[3];
    await find(page, "preempted > 0.3 ms");
    await page.evaluate((hash) => (location.hash = hash), `#slice=state:${thread.id}@${from}`);
    await page.waitForSelector("#slice:not([hidden])");
    await press(page, "+", "+", "m");
    await page.check("#sparse");
    await page.selectOption("#order", "appearance");
    await press(page, "p");
    const kept = await address(page);
    assert.equal(kept.slice, `state:${thread.id}@${from}`);
    assert.equal(kept.find, "preempted > 0.3 ms");
    assert.deepEqual([kept.alive, kept.order, kept.top], ["1", "appearance", String(thread.id)]);
    assert.ok(Number(kept.to) - Number(kept.from) < TRACE.duration_ns);
    const [slice, count, entries] = [await panel(page), await found(page), await page.evaluate(() => history.length)];
    await press(page, "+", "-", "+", "-");
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => history.length), entries, "an entry for each zoom");
    const hash = await page.evaluate(() => location.hash);
    const { page: other, complaints } = await open(browser, TIMELINE, { hash });
    await other.waitForSelector("#lanes[data-drawn]");
    assert.deepEqual(await panel(other), slice);
    assert.equal((await found(other)).split(" of ").at(-1).split(" ")[0], count.split(" of ").at(-1).split(" ")[0]);
    assert.deepEqual([await other.isChecked("#sparse"), await other.inputValue("#order")], [true, "appearance"]);
    assert.deepEqual(await address(other), kept);
    assert.deepEqual(complaints, []);
    await other.close();
  });
});

test("an address of nonsense harms nothing", async () => {
  for (const hash of ["#from=9&to=3", "#from=-1&to=1e99", "#slice=state:99999@5", "#slice=post:1000@x", "#thread=1&from=a&to=b", "#find=%3Cb%3E", "#%ff", "#range=5-1&fold=..&top=%22"]) {
    await on(TIMELINE, { hash }, async (page) => assert.ok((await colours(page))[await shade(page, "running", "backgroundColor")] > 500, hash));
  }
});

test("lanes fold by process and stay at the top", async () => {
  await on(TIMELINE, {}, async (page) => {
    const high = () => page.evaluate(() => [document.querySelector("#lanes .room").offsetHeight, document.getElementById("lanes").offsetHeight]);
    const [all] = await high();
    await page.click("#fold");
    const [folded, box] = await high();
    assert.ok(folded < 140 && box <= folded + 4, `${folded} px in ${box}`);
    const { top } = await address(page);
    assert.equal(top, undefined);
    // What is found in a folded process is shown.
    await find(page, "deadline");
    assert.equal((await high())[0], all);
    await page.evaluate(() => document.getElementById("raise").click());
    const { x, y } = await page.locator("#lanes").boundingBox();
    await page.evaluate(() => (document.getElementById("lanes").scrollTop = 300));
    await page.waitForTimeout(100);
    await page.mouse.move(x + 40, y + 70);
    assert.match((await hover(page))[0], /^main .* 1000$/, "it does not scroll away");
  });
});

test("two fingers zoom", async () => {
  await on(TIMELINE, { width: 390 }, async (page) => {
    const cdp = await browser.context.newCDPSession(page);
    const { x, y } = await page.locator("#lanes").boundingBox();
    const at = (...xs) => xs.map((one, id) => ({ x: x + one, y: y + 80, id }));
    await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(200, 240) });
    for (let i = 1; i <= 5; i++) await cdp.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(200 - 10 * i, 240 + 10 * i) });
    await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    const { from, to } = await address(page);
    const share = (to - from) / TRACE.duration_ns;
    assert.ok(share > 0.2 && share < 0.4, `${share} of the trace`);
    assert.equal(await panel(page), null, "no click");
  });
});

test("paper has every lane, in light", async () => {
  await on(TIMELINE, { scheme: "dark" }, async (page) => {
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 720, height: 1000 });
    const sheets = await page.evaluate(() => [...document.querySelectorAll("#paper canvas")].map((sheet) => {
      const copy = Object.assign(document.createElement("canvas"), { width: sheet.width, height: sheet.height }).getContext("2d", { willReadFrequently: true });
      copy.drawImage(sheet, 0, 0);
      const { data } = copy.getImageData(sheet.width - 60, 60, 50, sheet.height - 60);
      return { wide: Math.round(sheet.getBoundingClientRect().width), high: sheet.getBoundingClientRect().height, isDrawn: new Set(new Uint32Array(data.buffer)).size > 1, corner: [...copy.getImageData(0, 0, 1, 1).data] };
    }));
    assert.ok(sheets.length > 1);
    for (const { wide, high, isDrawn, corner } of sheets) {
      assert.ok(wide <= 720 && high < 900, `${wide} x ${high}`);
      assert.ok(isDrawn, "nothing at the right end");
      assert.ok(corner[0] > 230, "on a dark ground");
    }
    assert.match(await page.textContent("#paper p"), /^0\.000000 ms to .* of .* ms\.$/, "nothing is left out");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator("#paper > *").count(), 0);
  });
});

test("the pointer draws no lane again", async () => {
  await on(TIMELINE, {}, async (page) => {
    await page.evaluate(() => {
      window.puts = 0;
      const put = CanvasRenderingContext2D.prototype.putImageData;
      CanvasRenderingContext2D.prototype.putImageData = function (...all) {
        window.puts++;
        return put.apply(this, all);
      };
    });
    const { x, y } = await page.locator("#lanes").boundingBox();
    for (let i = 0; i < 20; i++) await page.mouse.move(x + 300 + 20 * i, y + 150 + i);
    await page.waitForTimeout(100);
    assert.ok((await hover(page)).length > 1, "it says what is there");
    assert.equal(await page.evaluate(() => window.puts), 0);
    await press(page, "+");
    await page.waitForTimeout(100);
    assert.ok((await page.evaluate(() => window.puts)) > 0);
  });
});

test("pointing at the same slice writes no text again", async () => {
  await on(TIMELINE, {}, async (page) => {
    await find(page, "running > 0.2 ms");
    await press(page, "Enter");
    const { x, y } = await page.locator("#lanes").boundingBox();
    // The middle of the pinned slice, which is a third of what is shown.
    const { top, left, width } = await page.evaluate(() => document.querySelector("#lanes .pinned").getBoundingClientRect().toJSON());
    assert.ok(width > 100 && left > x && top > y);
    await page.mouse.move(left + 20, top + 9);
    await page.waitForTimeout(50);
    assert.match((await hover(page))[1], /^running/);
    await page.evaluate(() => {
      window.changes = 0;
      new MutationObserver((all) => (window.changes += all.length)).observe(document.querySelector(".tip"), { childList: true, characterData: true, subtree: true });
    });
    for (let i = 1; i < 20; i++) await page.mouse.move(left + 20 + 3 * i, top + 9);
    await page.waitForTimeout(50);
    assert.equal(await page.evaluate(() => window.changes), 0);
  });
});

test("a move of the pointer lays out its box and the time on the ruler, not the page", async () => {
  await on(TIMELINE, {}, async (page) => {
    const { x, y, width } = await page.locator("#lanes").boundingBox();
    const protocol = await browser.context.newCDPSession(page);
    const layouts = [];
    protocol.on("Tracing.dataCollected", ({ value }) => layouts.push(...value.filter(({ name, args }) => name === "Layout" && args.beginData)));
    const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const move = async (i) => {
      await page.mouse.move(x + 260 + i * ((width - 700) / 40), y + 120 + (i % 5) * 47);
      await frame();
    };
    await move(0);
    await protocol.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["devtools.timeline", "disabled-by-default-devtools.timeline.stack"] } });
    for (let i = 1; i <= 40; i++) await move(i);
    const complete = new Promise((done) => protocol.once("Tracing.tracingComplete", done));
    await protocol.send("Tracing.end");
    await complete;
    assert.ok(layouts.length > 0, "they were counted");
    const forced = layouts.filter(({ args }) => args.beginData.stackTrace?.length);
    assert.equal(forced.length, 0, "none is forced by a question of the script");
    // Where nothing is pointed at the box goes: that is one of all.
    const whole = layouts.filter(({ args }) => !args.beginData.partialLayout);
    assert.ok(whole.length <= layouts.length / 4, `${whole.length} of ${layouts.length} lay the page out`);
  });
});

test("without a script the picture of the lanes stands there", async () => {
  const page = await browser.context.newPage();
  const protocol = await browser.context.newCDPSession(page);
  await protocol.send("Emulation.setScriptExecutionDisabled", { value: true });
  await page.goto(pathToFileURL(TIMELINE).href);
  assert.equal(await page.locator("noscript svg").count(), 1);
  assert.ok((await page.locator("noscript svg").first().boundingBox()).height > 100);
  await page.close();
});

test("lost stretches are hatched, in the thread's lane and in the CPU's", async () => {
  await on(TIMELINE, {}, async (page) => {
    const lost = TRACE.threads[1].segments.find(([, , code]) => code === 9);
    await page.fill("#find", `worker1 ${TRACE.threads[1].id}`);
    await page.press("#find", "Enter");
    for (let steps = 0; (await panel(page)).what !== "lost"; steps++) {
      assert.ok(steps < TRACE.threads[1].segments.length, "no lost segment");
      await press(page, "ArrowRight");
    }
    assert.ok((await panel(page)).facts.time.includes(moment(lost[0])));
    await press(page, "Enter");
    await page.waitForTimeout(100);
    const stripes = (await colours(page))[await shade(page, "lost", "color")] ?? 0;
    assert.ok(stripes > 1000, `${stripes} pixels of stripes`);
    await press(page, "ArrowUp");
    for (let up = 0; up < 20 && !(await panel(page)).label.startsWith("CPU 1"); up++) await press(page, "ArrowUp");
    const { label, what } = await panel(page);
    assert.deepEqual([label, what], ["CPU 1", "lost"]);
  });
});

test("zoomed out, the shares of colours are those of the states' time", async () => {
  await on(TIMELINE, { width: 1440 }, async (page) => {
    const counts = await colours(page);
    const time = (thread, codes) => thread.segments.filter(([, , code]) => codes.includes(code)).reduce((sum, [, ns]) => sum + ns, 0);
    const [running, blocked] = [[0], [5, 6]].map((codes) => TRACE.threads.reduce((sum, thread) => sum + time(thread, codes), 0));
    const [r, b] = [counts[await shade(page, "running", "backgroundColor")], near(counts, await page.evaluate(() => getComputedStyle(document.querySelector(".shades .blocked")).backgroundColor))];
    assert.ok(Math.abs(r / b / (running / blocked) - 1) < 0.15, `${r} to ${b} pixels, ${running} to ${blocked} ns`);
  });
});

test("mouse: a stretch is zoomed by a drag, moved with Shift, left by a double click", async () => {
  await on(TIMELINE, {}, async (page) => {
    const { x, y, width } = await page.locator("#lanes").boundingBox();
    const stretch = async (from, to) => {
      await page.mouse.move(x + width * from, y + 150);
      await page.mouse.down();
      await page.mouse.move(x + width * to, y + 150, { steps: 4 });
      await page.mouse.up();
    };
    const end = () => page.locator("#whole").isDisabled();
    assert.equal(await end(), true);
    await stretch(0.4, 0.5);
    assert.equal(await end(), false);
    // What is pointed at is within what was drawn over.
    await page.mouse.move(x + width * 0.6, y + 150);
    const at = async () => Number((await hover(page)).join(" ").match(/(?:from|at) ([\d.]+) ms/)[1]);
    const before = await at();
    assert.ok(before > (TRACE.duration_ns / 1e6) * 0.2 && before < (TRACE.duration_ns / 1e6) * 0.5, `${before} ms`);
    await page.keyboard.down("Shift");
    await stretch(0.8, 0.3);
    await page.keyboard.up("Shift");
    await page.mouse.move(x + width * 0.6, y + 151);
    assert.ok((await at()) > before, "moved");
    await page.mouse.dblclick(x + width * 0.6, y + 150);
    assert.equal(await end(), true);
  });
});

test("threads that do not live in what is seen can be hidden", async () => {
  await on(TIMELINE, {}, async (page) => {
    const height = () => page.evaluate(() => document.querySelector("#lanes .room").offsetHeight);
    const all = await height();
    await page.check("#sparse");
    assert.equal(await height(), all, "all live in the whole trace");
    const first = Math.min(...TRACE.threads.slice(12).map(({ from_ns }) => from_ns));
    for (let span = TRACE.duration_ns; span > first; span /= 2) await press(page, "+");
    await press(page, "Home");
    assert.ok((await height()) < all - 3 * 30, `${await height()} px of ${all}`);
    // A search finds one that is hidden.
    const thread = TRACE.threads.at(-1);
    await page.fill("#find", `${thread.name} ${thread.id}`);
    await page.press("#find", "Enter");
    assert.equal((await panel(page)).label, `${thread.name} ${thread.id}`);
    await page.uncheck("#sparse");
    assert.equal(await height(), all);
  });
});

for (const scheme of ["light", "dark"]) {
  for (const width of [1440, 390]) {
    test(`axe finds nothing at ${width} px, ${scheme}`, async () => {
      await on(TIMELINE, { width, scheme }, async (page) => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, "the page scrolls sideways");
        // With all that can be open.
        await find(page, "preempted > 0.3 ms");
        await press(page, "m");
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
      });
    });
  }
}

// Pixels of a part of the page as it is seen, with a deficiency or without.
async function pixels(page, clip) {
  const shot = (await page.screenshot({ clip })).toString("base64");
  return page.evaluate(async (shot) => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${shot}`;
    await picture.decode();
    const copy = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(picture, 0, 0);
    const { data } = copy.getImageData(0, 0, picture.width, picture.height);
    return Array.from({ length: picture.height }, (_, y) => Array.from({ length: picture.width }, (_, x) => [...data.subarray(4 * (y * picture.width + x), 4 * (y * picture.width + x) + 3)]));
  }, shot);
}
const lightness = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => sum + weight * ((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))(colour[at] / 255), 0);
const contrast = (a, b) => {
  const [dark, light] = [lightness(a), lightness(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};

for (const scheme of ["light", "dark"]) {
  test(`without red cones a signpost is a bracket and a hit a triangle, each seen on its ground (${scheme})`, async () => {
    await on(TIMELINE, { scheme }, async (page) => {
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setEmulatedVisionDeficiency", { type: "protanopia" });
      await page.evaluate(() => document.querySelector(".shades").scrollIntoView({ block: "center" }));
      const key = await page.locator(".shades").boundingBox();
      const whole = await pixels(page, { x: 0, y: key.y - 2, width: 1280, height: key.height + 4 });
      const ground = whole[0][0];
      for (const [name, x, y] of [["post", 0.5, 0.1], ["wakeup", 0.5, 0.3], ["found", 0.5, 0.3]]) {
        const box = await page.locator(`.shades .${name}`).boundingBox();
        const [inside, beside] = [[x, y], [0.04, 0.96]].map(([x, y]) => whole[Math.round(box.y - key.y + 2 + y * box.height)][Math.round(box.x + x * box.width)]);
        console.log(`${scheme}, protanopia: ${name} ${contrast(inside, ground).toFixed(1)} to 1 on its ground`);
        assert.ok(contrast(inside, ground) >= 3, `${name}: ${contrast(inside, ground).toFixed(2)}`);
        if (name !== "post") assert.deepEqual(beside, ground, `${name} has a shape`);
      }
      await find(page, "decode");
      await page.waitForTimeout(100);
      const [post, hit] = [await shade(page, "post", "backgroundColor"), await shade(page, "found", "backgroundColor")];
      // How wide each shape is, from the top: a triangle gets no wider, of a bracket only the top is whole.
      const widths = (colour) =>
        page.evaluate((colour) => {
          const canvas = document.querySelector("#lanes canvas");
          const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height }).getContext("2d", { willReadFrequently: true });
          copy.drawImage(canvas, 0, 0);
          const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
          const pixels = new Uint32Array(data.buffer);
          const lines = Array.from({ length: canvas.height }, (_, y) => pixels.subarray(y * canvas.width, (y + 1) * canvas.width).filter((pixel) => pixel === colour).length);
          return lines.filter(Boolean);
        }, colour);
      const triangle = await widths(hit);
      assert.ok(triangle.length > 4 && triangle.every((wide, at) => at === 0 || wide <= triangle[at - 1]) && triangle[0] > 2 * triangle.at(-1), `triangle: ${triangle}`);
      const bracket = await widths(post);
      assert.ok(bracket.length > 10 && Math.max(...bracket) > 4 * Math.min(...bracket), `bracket: ${bracket}`);
    });
  });
}

test("the timeline follows the theme", async () => {
  await on(TIMELINE, { scheme: "light" }, async (page) => {
    const light = await shade(page, "running", "backgroundColor");
    assert.ok((await colours(page))[light] > 500);
    await page.click("#theme");
    await page.waitForTimeout(100);
    const dark = await shade(page, "running", "backgroundColor");
    assert.notEqual(dark, light);
    const counts = await colours(page);
    assert.ok(counts[dark] > 500 && !(counts[light] > 500));
  });
});

test("a million segments keep to 6 MB, and are drawn", async () => {
  const { size } = statSync(TIMELINE_LARGE);
  console.log(`timeline of a million segments: ${size} bytes`);
  assert.ok(size <= 6e6, `${size} bytes`);
  await on(TIMELINE_LARGE, {}, async (page) => {
    console.log(`drawn after ${await page.getAttribute("#lanes", "data-drawn")} ms`);
    assert.ok((await colours(page))[await shade(page, "running", "backgroundColor")] > 500);
  });
});
