// Looks at the page that is sent to others (`latlas report --share`) in a browser: SHARED is the page, RUN the
// document that it was made of.
//
// Five questions that a reader asks of it, and the clicks that each takes:
//   1. How many loads from the cache does a durable write cost?            0 (the usual unit)
//   2. How many system calls is that? (another unit)                       1
//   3. Is this machine slow or fast among others, and at what?             0 to 1 (scroll, or "Among other machines")
//   4. Can I rely on that figure?                                          0 (the mark, the word and the interval)
//   5. How do I show this row, so set, to somebody else?                   1 (the row's link, which is copied)

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { open, start } from "./browser.mjs";

const { SHARED } = process.env;
assert.ok(SHARED && process.env.RUN, "SHARED and RUN name files");
const RUN = JSON.parse(readFileSync(process.env.RUN, "utf8"));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => (browser = await start()));
after(async () => await browser.end());

async function on(look, check) {
  const { page, complaints, requests } = await open(browser, SHARED, look);
  try {
    await check(page);
    assert.deepEqual(complaints, [], "the page complains");
    assert.deepEqual(requests, [], "the page asks for something");
  } finally {
    await page.close();
  }
}

// The time of a row, computed here from the document: that of this run.
function nsOf(key) {
  const row = RUN.rows.find(({ id }) => id === key);
  const estimate = row?.outcome.figure ?? row?.outcome.level?.estimate;
  return (estimate?.quiet ?? estimate?.typical)?.ns.value ?? null;
}

// `1/2.1 million` as a number, with half of its last digit as a share.
function read(text) {
  const [, over, number, word] = text.match(/^(1\/)?([0-9.]+)(?: (thousand|million|billion))?$/) ?? assert.fail(text);
  const value = Number(number) * { thousand: 1e3, million: 1e6, billion: 1e9, undefined: 1 }[word];
  const digits = number.replace(".", "").replace(/^0+/, "").replace(/0+$/, "").length;
  return { value: over ? 1 / value : value, share: digits === 1 ? 0.55 : digits === 2 ? 0.055 : 0.0055 };
}

const lines = (page) => page.evaluate(() => [...document.querySelectorAll(".rates tbody tr")].filter((row) => row.getClientRects().length).map((row) => ({
  key: row.dataset.key, words: row.querySelector(".op").textContent, count: row.querySelector(".in-units").textContent, half: row.cells[3].textContent, is: row.matches(".unit"),
})));

// That every ratio is the document's.
function check(all, unit) {
  const of = nsOf(unit);
  let seen = 0;
  for (const { key, count, is } of all) {
    const ns = key.includes("@") ? null : nsOf(key);
    if (ns === null || count === "-") continue;
    // A row of several modes is at its first large one.
    if (RUN.rows.find(({ id }) => id === key).outcome.figure?.modes?.length > 1) continue;
    const { value, share } = read(count);
    assert.ok(Math.abs(value / (ns / of) - 1) <= share, `${key} in ${unit}: ${count} is not ${ns / of}`);
    assert.equal(is, key === unit);
    seen += 1;
  }
  assert.ok(seen >= Math.min(5, all.length), `only ${seen} ratios`);
  return seen;
}

const unitNow = (page) => page.locator("#unit").inputValue();

test("every operation in the time of the usual unit, and of any that is chosen", async (t) => {
  assert.ok(statSync(SHARED).size <= 500_000, `${statSync(SHARED).size} bytes`);
  t.diagnostic(`${statSync(SHARED).size} bytes`);
  await on({}, async (page) => {
    const usual = await unitNow(page);
    check(await lines(page), usual);
    const texts = (all) => all.map(({ count, half }) => [count, half]);
    const before = texts(await lines(page));
    // By the list, and by a click on an operation.
    const other = (await lines(page)).findLast(({ key, count }) => count !== "-" && !key.includes("@") && nsOf(key));
    await page.locator("#unit").selectOption(other.key);
    check(await lines(page), other.key);
    assert.notDeepEqual(texts(await lines(page)), before);
    await page.locator(`.rates tr[data-key="${usual}"] button.op`).click();
    assert.equal(await unitNow(page), usual);
    // What the script writes is what the page was made with.
    assert.deepEqual(texts(await lines(page)), before);
    const shown = (await lines(page)).length;
    if (await page.locator("#all").count()) {
      await page.locator("#all").check();
      const all = await lines(page);
      assert.ok(all.length > shown);
      check(all, usual);
    }
  });
});

test("the address keeps unit and row", async () => {
  await on({}, async (page) => {
    const { key } = (await lines(page)).findLast(({ key, count }) => count !== "-" && !key.includes("@") && nsOf(key));
    const usual = await unitNow(page);
    await page.locator("#unit").selectOption(key);
    await page.waitForURL((url) => url.searchParams.get("unit") === key);
    await page.locator(`.rates tr[data-key="${usual}"] .here`).click();
    await page.waitForURL((url) => url.hash === `#rate-${usual}` && url.searchParams.get("unit") === key);
    await page.reload();
    assert.equal(await unitNow(page), key);
    check(await lines(page), key);
    assert.ok(await page.locator(`.rates tr[data-key="${usual}"]:target`).isVisible());
    // The usual one is not in the address.
    await page.locator("#unit").selectOption(usual);
    await page.waitForURL((url) => !url.searchParams.has("unit"));
  });
});

test("a unit that has no time is named", async () => {
  await on({}, async (page) => {
    const usual = await unitNow(page);
    const address = new URL(page.url());
    const without = await page.evaluate(() => document.querySelector(".rates tr[data-why]")?.dataset);
    for (const [unit, said] of [["<b>no\u202e row", "no operation"], ...(without ? [[without.key, without.why]] : [])]) {
      address.searchParams.set("unit", unit);
      await page.goto(address.href);
      assert.equal(await unitNow(page), usual);
      assert.ok((await page.locator("#rate-message").textContent()).includes(said), said);
      check(await lines(page), usual);
    }
  });
});

test("copied as text, Markdown and picture", async () => {
  await on({}, async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    const all = await lines(page);
    const of = async (kind, ending) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#rates [data-as=${kind}]`).click()]);
      assert.equal(download.suggestedFilename(), `exchange-rate.${ending}`);
      return readFileSync(await download.path());
    };
    const text = (await of("text", "txt")).toString().split("\n");
    const markdown = (await of("markdown", "md")).toString();
    const records = markdown.split("\n").filter((line) => line.startsWith("| ")).slice(1);
    assert.equal(records.length, all.length);
    for (const [at, { words, count, half }] of all.entries()) {
      const line = text.find((line) => line.startsWith(words) && line.includes(` ${count} `));
      assert.ok(line, `${words} ${count} as text`);
      const cells = records[at].split(" | ").map((cell) => cell.replace(/^\| /, "").replace(/\\/g, ""));
      assert.deepEqual(cells.slice(0, 2), [words, [count, half].filter(Boolean).join(" ")]);
    }
    const svg = (await of("svg", "svg")).toString();
    const drawn = await page.evaluate((text) => {
      const { documentElement: svg } = new DOMParser().parseFromString(text, "image/svg+xml");
      return { name: svg.tagName, texts: [...svg.querySelectorAll("text")].map((e) => e.textContent), plain: !text.includes("var(") };
    }, svg);
    assert.deepEqual([drawn.name, drawn.plain], ["svg", true]);
    for (const { count, half } of all) assert.ok(drawn.texts.includes([count, half].filter(Boolean).join(" ")), count);
    const png = await of("png", "png");
    assert.ok(png.subarray(1, 4).toString() === "PNG" && png.readUInt32BE(16) === 1800, "twice 900 px");
  });
});

test("it names no host, and loads at once", async (t) => {
  const text = readFileSync(SHARED, "utf8");
  const host = RUN.machine.hostname.value;
  if (host?.length > 3) assert.ok(!text.includes(host), host);
  await on({}, async (page) => {
    const [ready] = await page.evaluate(() => performance.getEntriesByType("navigation").map(({ loadEventEnd }) => loadEventEnd));
    // A time is the machine's: it is said, and asserted only where something is wrong for sure.
    t.diagnostic(`ready after ${ready.toFixed(0)} ms`);
    assert.ok(ready < 20_000);
  });
});

for (const [width, scheme] of [[390, "light"], [1280, "light"], [1280, "dark"], [2560, "light"]]) {
  test(`no rule of accessibility is broken, ${scheme}, ${width} px`, async () => {
    await on({ width, scheme }, async (page) => {
      const session = await page.context().newCDPSession(page);
      const run = (expression) => session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
      await run(AXE);
      const { result, exceptionDetails } = await run(
        "axe.run(document, { resultTypes: ['violations'] }).then((r) => ({ passes: r.passes.length, violations: r.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`) }))",
      );
      assert.equal(exceptionDetails, undefined);
      assert.ok(result.value.passes > 10, "axe looked");
      assert.deepEqual(result.value.violations, []);
      const { scrollWidth, clientWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth }));
      assert.ok(scrollWidth <= clientWidth, `${scrollWidth} px wide`);
    });
  });
}

test("without a script, and on paper, the table is there", async () => {
  const page = await browser.context.newPage();
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setScriptExecutionDisabled", { value: true });
  await page.goto(new URL(`file://${SHARED}`).href);
  const counts = await page.locator(".rates .in-units:visible").allTextContents();
  assert.ok(counts.includes("1") && counts.every(Boolean));
  await page.emulateMedia({ media: "print" });
  assert.equal((await page.locator(".rates .in-units:visible").count()), counts.length);
  await page.close();
});
