// Looks at the timeline of a trace in a browser. TIMELINE is the page of a trace by
// synthetic.mjs, TRACE its run as JSON, TIMELINE_LARGE a page of a million segments.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
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
const told = (page) => page.locator(".tip:not([hidden]) p").allTextContents();
const stackOf = (node) => {
  const { frames, nodes } = TRACE.stacks;
  const [frame, caller] = nodes[node];
  return [`at ${frames[frame].function ?? "prog+0x1000"}`, ...(caller === null ? [] : stackOf(caller))];
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

test("a step by keys tells of each segment what the document says", async () => {
  await on(TIMELINE, {}, async (page) => {
    const [thread] = TRACE.threads;
    // Past the CPUs to the first thread, at the trace's begin; then segment by segment.
    await press(page, "ArrowRight", ...TRACE.cpus.map(() => "ArrowDown"));
    const seen = new Set();
    for (const [from, duration, code, detail] of thread.segments.slice(0, 40)) {
      const lines = await told(page);
      const kind = KINDS[code];
      seen.add(kind);
      assert.equal(lines[0], `${thread.name} ${thread.id}`);
      assert.ok(lines[1].startsWith(kind), `${lines[1]} is not ${kind}`);
      if (kind === "running") assert.equal(lines[1], `running on CPU ${detail}`);
      if (kind === "preempted") assert.match(lines[1], new RegExp(`^preempted by worker. ${detail}$`));
      if (kind === "blocked" && detail) assert.equal(lines[1], "blocked in futex");
      assert.ok(lines[2].endsWith(`from ${moment(from)} to ${moment(from + duration)}`), lines[2]);
      const wakeup = TRACE.wakeups.find(([at, id]) => id === thread.id && at === from);
      if (wakeup) assert.ok(lines[3].startsWith("woken by ") && lines[3].includes(wakeup[2] === null ? "interrupt" : ` ${wakeup[2]} `), lines[3]);
      const stack = lines.filter((line) => line.startsWith("at "));
      const left = thread.left.findLast(([at]) => at <= from);
      if (kind === "preempted" || (kind === "blocked" && left)) assert.deepEqual(stack, stackOf(left[1]));
      if (kind === "running") assert.deepEqual(stack, []);
      await press(page, "ArrowRight");
    }
    for (const kind of ["running", "runnable", "preempted", "blocked"]) assert.ok(seen.has(kind), `no ${kind}`);
  });
});

test("the lane of a CPU shows what its switches say", async () => {
  await on(TIMELINE, {}, async (page) => {
    await press(page, "ArrowRight");
    const { switches } = TRACE.cpus[0];
    for (const [index, [at, , , into]] of switches.slice(0, 30).entries()) {
      await press(page, "ArrowRight");
      const lines = await told(page);
      assert.equal(lines[0], "CPU 0");
      assert.ok(lines[1].endsWith(` ${into}`), `${lines[1]} is not ${into}`);
      assert.ok(lines[2].endsWith(`from ${moment(at)} to ${moment(switches[index + 1][0])}`), lines[2]);
    }
  });
});

test("search goes from call to call, to signposts and threads", async () => {
  await on(TIMELINE, {}, async (page) => {
    const all = TRACE.threads.flatMap((thread) => thread.calls.map(([from]) => [from, `${thread.name} ${thread.id}`])).sort(([a], [b]) => a - b);
    await page.fill("#find", "futex");
    for (const [from, label] of all.slice(0, 5)) {
      await page.press("#find", "Enter");
      const lines = await told(page);
      assert.equal(lines[0], label);
      assert.match(lines[1], /^futex\(0x7f0012345678, 0x80, 0x[0-2]\)/);
      assert.ok(lines[2].includes(`from ${moment(from)} `), lines[2]);
    }
    await page.fill("#find", "deadline");
    await page.press("#find", "Enter");
    assert.equal((await told(page))[1], "deadline missed");
    await page.fill("#find", "worker3 1011");
    await page.press("#find", "Enter");
    assert.equal((await told(page))[0], "worker3 1011");
    await page.fill("#find", "nothing like it");
    await page.press("#find", "Enter");
    assert.match(await page.textContent("#status"), /No thread, call or signpost/);
  });
});

test("lost stretches are hatched, in the thread's lane and in the CPU's", async () => {
  await on(TIMELINE, {}, async (page) => {
    const lost = TRACE.threads[1].segments.find(([, , code]) => code === 9);
    await page.fill("#find", `worker1 ${TRACE.threads[1].id}`);
    await page.press("#find", "Enter");
    for (let steps = 0; (await told(page))[1] !== "lost"; steps++) {
      assert.ok(steps < TRACE.threads[1].segments.length, "no lost segment");
      await press(page, "ArrowRight");
    }
    assert.ok((await told(page))[2].includes(moment(lost[0])));
    await press(page, "Enter");
    await page.waitForTimeout(100);
    const stripes = (await colours(page))[await shade(page, "lost", "color")] ?? 0;
    assert.ok(stripes > 1000, `${stripes} pixels of stripes`);
    await press(page, "ArrowUp");
    for (let up = 0; up < 2 && !(await told(page))[0].startsWith("CPU 1"); up++) await press(page, "ArrowUp");
    assert.deepEqual((await told(page)).slice(0, 2), ["CPU 1", "lost"]);
  });
});

test("zoomed out, the shares of colours are those of the states' time", async () => {
  await on(TIMELINE, { width: 1440 }, async (page) => {
    const counts = await colours(page);
    const time = (thread, codes) => thread.segments.filter(([, , code]) => codes.includes(code)).reduce((sum, [, ns]) => sum + ns, 0);
    const seen = TRACE.threads.slice(0, 10);
    const [preempted, blocked] = [[2], [5, 6]].map((codes) => seen.reduce((sum, thread) => sum + time(thread, codes), 0));
    const [p, b] = [counts[await shade(page, "preempted", "backgroundColor")], counts[await shade(page, "blocked", "backgroundColor")]];
    assert.ok(Math.abs(p / b / (preempted / blocked) - 1) < 0.2, `${p} to ${b} pixels, ${preempted} to ${blocked} ns`);
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
    const at = async () => Number((await told(page)).join(" ").match(/(?:from|at) ([\d.]+) ms/)[1]);
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
    assert.equal((await told(page))[0], `${thread.name} ${thread.id}`);
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
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
      });
    });
  }
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
