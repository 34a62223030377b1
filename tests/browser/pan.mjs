// What a timeline costs: node pan.mjs PAGE. Prints when it is drawn, and the CPU time of the page's
// thread (task time in thread ticks: others on the machine don't count) for each frame of zooming and
// of panning, and for each movement of the pointer. Asserts nothing: a time is the machine's.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { start } from "./browser.mjs";

const TIMES = Number(process.argv[3] ?? 120);
const browser = await start();
const page = await browser.context.newPage();
await page.setViewportSize({ width: 1440, height: 900 });
await page.goto(pathToFileURL(resolve(process.argv[2])).href);
await page.waitForSelector("#lanes[data-drawn]");
const [paint, drawn] = await page.evaluate(() => [performance.getEntriesByType("paint")[0].startTime, Number(document.getElementById("lanes").dataset.drawn)]);
console.log(`first paint ${paint.toFixed(0)} ms, timeline drawn ${drawn} ms`);
const cdp = await browser.context.newCDPSession(page);
await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
const cpu = async () => {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
};

// Of each of many steps, the time that its frame takes.
async function costs(name, step) {
  const all = [];
  for (let i = 0; i < TIMES; i++) {
    const before = await cpu();
    await step(i);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    all.push((await cpu()) - before);
  }
  all.sort((a, b) => a - b);
  const at = (share) => all[Math.min(all.length - 1, Math.floor(share * all.length))].toFixed(1);
  console.log(`${name.padEnd(8)} median ${at(0.5)} ms, p95 ${at(0.95)} ms of ${TIMES}`);
}
const key = (key, shiftKey = false) =>
  page.evaluate(([key, shiftKey]) => void document.getElementById("lanes").dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, cancelable: true })), [key, shiftKey]);
await costs("nothing", () => {});
const box = await page.locator("#lanes").boundingBox();
await page.evaluate(() => document.getElementById("whole").click());
await costs("hover", (i) => page.mouse.move(box.x + 200 + ((i * 137) % (box.width - 250)), box.y + 60 + ((i * 53) % Math.min(box.height - 80, 600))));
await costs("zoom", (i) => key(i % 16 < 8 ? "+" : "-"));
await page.evaluate(() => document.getElementById("whole").click());
await key("+");
await costs("pan", (i) => key(i % 4 < 2 ? "ArrowRight" : "ArrowLeft", true));
const { usedSize } = await cdp.send("Runtime.getHeapUsage");
console.log(`heap ${(usedSize / 1e6).toFixed(0)} MB`);
await browser.end();
