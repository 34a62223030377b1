// How fast a timeline is: node pan.mjs PAGE. Prints the milliseconds until it is drawn, and
// the frames a second while it moves and while it zooms. Asserts nothing: a time is the machine's.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { start } from "./browser.mjs";

const SECONDS = 3;
const browser = await start();
const page = await browser.context.newPage();
await page.setViewportSize({ width: 1440, height: 900 });
await page.goto(pathToFileURL(resolve(process.argv[2])).href);
await page.waitForSelector("#lanes[data-drawn]");
const [paint, drawn] = await page.evaluate(() => [performance.getEntriesByType("paint")[0].startTime, Number(document.getElementById("lanes").dataset.drawn)]);
console.log(`first paint ${paint.toFixed(0)} ms, timeline drawn ${drawn} ms`);
// Keys, one a frame; after each round of them back to where it began.
const frames = (keys) =>
  page.evaluate(async ([keys, seconds]) => {
    const box = document.getElementById("lanes");
    const began = performance.now();
    let [count, last, longest] = [0, began, 0];
    while (last - began < 1000 * seconds) {
      const [key, shiftKey] = keys[count % keys.length];
      box.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, cancelable: true }));
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      [longest, last, count] = [Math.max(longest, now - last), now, count + 1];
    }
    return `${((1000 * count) / (last - began)).toFixed(1)} frames a second, the longest ${longest.toFixed(0)} ms`;
  }, [keys, SECONDS]);
const several = (count, ...keys) => keys.flatMap((key) => Array(count).fill(key));
console.log(`whole trace and back: ${await frames(several(8, ["+"], ["-"]))}`);
await page.evaluate(() => document.getElementById("in").click());
console.log(`half of it, moving:   ${await frames(several(2, ["ArrowRight", true], ["ArrowLeft", true]))}`);
await browser.end();
