// How long a page takes: node load.mjs PAGE [TIMES]. Prints the milliseconds from
// the request to the load event, to where it can draw (pictures that come near the
// view are drawn from then on), and to the last picture if all are asked for, of
// each time, and the median. Asserts nothing: a time is the machine's.

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
    await window.latlas.ready;
    const ready = performance.now();
    window.latlas.all();
    return [performance.getEntriesByType("navigation")[0].loadEventEnd, ready, performance.now()];
  });
  all.push(one);
  console.log(told(one));
  await page.close();
}
await browser.end();
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const medians = [0, 1, 2].map((i) => median(all.map((one) => one[i])));
console.log(`median of ${times}: ${told(medians)}`);

function told(one) {
  const [load, ready, drawn] = one.map((ms) => ms.toFixed(0));
  return `load ${load} ms, ready ${ready} ms, all pictures ${drawn} ms`;
}
