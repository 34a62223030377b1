// The page of a fleet: opens quietly, by script or without, on a phone too; nothing of a document is markup; every
// row has a dot for each host that has a figure, which names the host and leads to its line; hosts are sorted and filtered. FLEET is the page, FLEET_JSON the same as JSON.

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
        hosts: document.querySelectorAll("#hosts tr[id]").length,
        dots: [...document.querySelectorAll("#rows .strip")].map((s) => s.querySelector("path").getAttribute("d").split("h0").length - 1),
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        hidden: [...document.querySelectorAll("#rows .scroll")].map((s) => s.scrollWidth - s.clientWidth),
      }));
      assert.equal(seen.images, 0, "a host's name is no markup");
      assert.equal(seen.hosts, FACTS.hosts.length);
      assert.deepEqual(seen.dots, FACTS.rows.map((row) => row.figures.length));
      assert.equal(seen.wide, 0, "nothing is beyond the page");
      assert.ok(seen.hidden.every((pixels) => pixels <= 0), `rows are in sight: ${seen.hidden}`);
      // Of a fleet whose outliers are all of a group no host is named by itself.
      const link = page.locator("#outliers a").first();
      if (await link.count()) {
        const href = await link.getAttribute("href");
        await link.click();
        assert.equal(await page.locator(href).isVisible(), true);
      }
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

async function opened(run) {
  const { page, complaints } = await open(browser, FLEET, {});
  try {
    await run(page);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

test("a dot names its host and its figure, and leads to the host's line", () =>
  opened(async (page) => {
    const row = FACTS.rows.findIndex(({ figures }) => figures.length > 2);
    const strip = page.locator("#rows .strip").nth(row);
    await strip.scrollIntoViewIfNeeded();
    // Of the first dot in the order of the figures: the fastest host.
    const at = await strip.evaluate((svg) => {
      const [, x, y] = svg.querySelector("path").getAttribute("d").match(/^m(\d+) (\d+)h0/);
      const { left, top, width, height } = svg.getBoundingClientRect();
      return [left + (x / 1000) * width, top + (y / 20) * height];
    });
    await page.mouse.move(...at);
    const tip = page.locator(".tip");
    const host = FACTS.hosts[FACTS.rows[row].figures[0].host].name;
    const figure = await strip.evaluate((svg) => `${svg.dataset.figures.split("|")[0]} ${svg.dataset.unit ?? ""}`.trim());
    const lines = await tip.locator("p").allTextContents();
    assert.ok(lines.includes(`${host}: ${figure}`), `${lines} of ${host}: ${figure}`);
    await page.mouse.click(...at);
    const target = await page.evaluate(() => document.querySelector(":target")?.querySelector("th").firstChild.textContent);
    assert.equal(lines.some((line) => line.startsWith(`${target}: `)), true, target);
    await page.mouse.move(5, 5);
    assert.equal(await tip.isHidden(), true);
  }));

test("all strips have one axis", () =>
  opened(async (page) => {
    const heads = await page.locator("#rows th .ticks, #groups th .ticks").allTextContents();
    assert.ok(heads.length > 1 && heads.every((ticks) => ticks === heads[0]), `${heads}`);
    assert.match(heads[0], /^-\d+ %median\+\d+ %$/);
    const reach = Number(heads[0].match(/\d+/)[0]) / 100;
    const ends = await page.locator("#rows .strip").evaluateAll((strips) => strips.map((svg) => [Number(svg.querySelector("path").getAttribute("d").match(/^m(\d+)/)[1]), Boolean(svg.querySelector(".beyond"))]));
    for (const [at, { id, figures, quantiles }] of FACTS.rows.entries()) {
      const place = 500 + ((figures[0].value_ns / quantiles.median_ns - 1) / reach) * 500;
      assert.ok(Math.abs(ends[at][0] - Math.max(0, place)) <= 0.6, `${id}: ${ends[at][0]}, ${place}`);
      const away = figures.map(({ value_ns }) => Math.abs(value_ns / quantiles.median_ns - 1));
      assert.equal(ends[at][1], away.some((one) => one > reach), `${id}: what lies beyond is marked`);
    }
  }));

test("hosts are sorted by a click and filtered by words", () =>
  opened(async (page) => {
    const names = () => page.locator("#hosts tr[id]:visible th").evaluateAll((heads) => heads.map((head) => head.firstChild.textContent));
    const before = await names();
    await page.locator("#hosts thead").getByRole("button", { name: "quiet samples" }).click();
    const sorted = await page.locator("#hosts tr[id] td:nth-child(3)").allTextContents();
    const shares = sorted.map((text) => Number.parseFloat(text));
    assert.ok(shares.every((share, at) => at === 0 || share <= shares[at - 1]), `${shares}`);
    const odd = FACTS.hosts.filter((host) => host.facts.microcode === "0x10").map(({ name }) => name);
    await page.locator("#hosts").getByRole("searchbox").fill("microcode 0x10");
    assert.deepEqual((await names()).sort(), odd.sort());
    await page.locator("#hosts").getByRole("searchbox").fill("");
    assert.equal((await names()).length, before.length);
  }));

test("a host's name of 300 characters leaves the dots in sight", () =>
  opened(async (page) => {
    const widths = await page.evaluate(() => {
      const note = document.querySelector("#rows td.why");
      note.textContent = `${"n".repeat(300)} +40 %`;
      return [note.closest("table").scrollWidth, note.closest(".scroll").clientWidth];
    });
    assert.ok(widths[0] <= widths[1] + 1, `${widths}`);
  }));
