// The page of a fleet: opens quietly, by script or without, on a phone too; nothing of a document is markup; every
// row has a dot for each host that has a figure. FLEET is the page, FLEET_JSON the same as JSON.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { open, start } from "./browser.mjs";

const { FLEET, FLEET_JSON } = process.env;
assert.ok(FLEET && FLEET_JSON, "FLEET and FLEET_JSON name files");
const FACTS = JSON.parse(readFileSync(FLEET_JSON, "utf8"));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => (browser = await start()));
after(async () => await browser.end());

for (const look of [{}, { width: 400, scheme: "dark" }]) {
  test(`the page is quiet and within its width (${JSON.stringify(look)})`, async () => {
    const begun = performance.now();
    const { page, complaints, requests } = await open(browser, FLEET, look);
    console.log(`opened in ${Math.round(performance.now() - begun)} ms, ${statSync(FLEET).size} bytes`);
    try {
      assert.ok(statSync(FLEET).size <= 2e6, "at most 2 MB");
      const seen = await page.evaluate(() => ({
        images: document.querySelectorAll("img, iframe, object").length,
        hosts: document.querySelectorAll("article").length,
        dots: [...document.querySelectorAll("#rows .strip")].map((s) => s.querySelector("path").getAttribute("d").split("h0").length - 1),
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        hidden: [...document.querySelectorAll("#rows .scroll")].map((s) => s.scrollWidth - s.clientWidth),
      }));
      assert.equal(seen.images, 0, "a host's name is no markup");
      assert.equal(seen.hosts, FACTS.hosts.length);
      assert.deepEqual(seen.dots, FACTS.rows.map((row) => row.figures.length));
      assert.equal(seen.wide, 0, "nothing is beyond the page");
      assert.ok(seen.hidden.every((pixels) => pixels <= 0), `rows are in sight: ${seen.hidden}`);
      const link = page.locator("#outliers a").first();
      const href = await link.getAttribute("href");
      await link.click();
      assert.equal(await page.locator(href).isVisible(), true);
      // From outside the page, whose policy lets it run no other script.
      const session = await page.context().newCDPSession(page);
      const run = (expression) => session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
      await run(AXE);
      const { result } = await run("axe.run(document, { resultTypes: ['violations'] }).then((r) => ({ passes: r.passes.length, violations: r.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`) }))");
      assert.ok(result.value.passes > 10, "axe looked");
      assert.deepEqual(result.value.violations, []);
      assert.deepEqual(complaints, []);
      assert.deepEqual(requests, []);
    } finally {
      await page.close();
    }
  });
}
