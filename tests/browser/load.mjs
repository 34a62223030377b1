// How long a page takes: node load.mjs PAGE [TIMES]. Prints the milliseconds from
// the request to the first paint and to the load event, of each time, and the
// median. Asserts nothing: a time is the machine's.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { start } from "./browser.mjs";

const file = pathToFileURL(resolve(process.argv[2])).href;
const times = Number(process.argv[3] ?? 11);
const browser = await start();
const all = [];
for (let i = 0; i < times; i++) {
  const page = await browser.context.newPage();
  await page.goto(file);
  const one = await page.evaluate(async () => {
    while (performance.getEntriesByType("paint").length === 0) await new Promise(requestAnimationFrame);
    return [performance.getEntriesByType("paint")[0].startTime, performance.getEntriesByType("navigation")[0].loadEventEnd];
  });
  all.push(one);
  console.log(inWords(one));
  await page.close();
}
await browser.end();
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const medians = [0, 1].map((i) => median(all.map((one) => one[i])));
console.log(`median of ${times}: ${inWords(medians)}`);

function inWords(one) {
  const [paint, load] = one.map((ms) => ms.toFixed(0));
  return `first paint ${paint} ms, load ${load} ms`;
}
