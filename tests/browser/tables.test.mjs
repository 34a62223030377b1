// Tables of the pages in a browser: sorted by value, filtered, kept in the address, whole on paper.
// TIMELINE is the page of a trace with many threads, TIMELINE_MANY of one with thousands, REPORT that of
// a run of all rows.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { open, start } from "./browser.mjs";

const { TIMELINE, TIMELINE_MANY, REPORT } = process.env;
assert.ok(TIMELINE && TIMELINE_MANY && REPORT, "TIMELINE, TIMELINE_MANY and REPORT name pages");

let browser;
before(async () => (browser = await start()));
after(async () => await browser.end());

async function on(hash, look, check) {
  const { page, complaints, requests } = await open(browser, TIMELINE, { ...look, hash });
  try {
    await check(page);
    assert.deepEqual([complaints, requests], [[], []]);
  } finally {
    await page.close();
  }
}

const region = (page, name) => page.getByRole("region", { name, exact: true });
const head = (page, name, column) => region(page, name).locator("thead th", { hasText: column });
// What the cells of a column in sight are sorted by, from the top.
const keys = (page, name, at) =>
  region(page, name).evaluate((part, at) => {
    const rows = [...part.querySelectorAll("tbody tr:not(.out)")];
    return rows.map((row) => Number(row.cells[at].dataset.sort));
  }, at);
const falls = (list) => list.every((value, at) => at === 0 || list[at - 1] >= value);

test("a click on a heading sorts by value, another the other way, a third as it was", async () => {
  await on("", {}, async (page) => {
    const running = head(page, "Threads", "running");
    const before = await region(page, "Threads").locator("tbody").innerText();
    await running.getByRole("button").click();
    assert.equal(await running.getAttribute("aria-sort"), "descending");
    assert.ok(falls(await keys(page, "Threads", 1)));
    await running.getByRole("button").press("Enter");
    assert.equal(await running.getAttribute("aria-sort"), "ascending");
    const up = await keys(page, "Threads", 1);
    assert.ok(falls(up.reverse()) && up.length > 2);
    await running.getByRole("button").press("Space");
    assert.equal(await running.getAttribute("aria-sort"), "none");
    assert.equal(await region(page, "Threads").locator("tbody").innerText(), before);
  });
});

test("a filter counts what it shows, and the address keeps filter and order", async () => {
  await on("", {}, async (page) => {
    const name = "Threads";
    const rows = await region(page, name).locator("tbody tr").count();
    // A thread's number is its own, or nearly.
    const word = (await region(page, name).locator("tbody th").nth(1).innerText()).trim();
    await page.getByRole("searchbox", { name: `Filter ${name}` }).fill(word);
    const shown = await region(page, name).locator("tbody tr:visible").count();
    assert.ok(shown > 0 && shown < rows, `${shown} of ${rows}`);
    const count = page.locator(".of-table .count").first();
    assert.equal(await count.innerText(), `${shown} of ${rows} shown`);
    await head(page, name, "blocked").getByRole("button").click();
    await page.waitForFunction(() => location.search.includes("sort"));
    const address = new URL(page.url());
    assert.equal(address.searchParams.get("threads.find"), word);
    assert.equal(address.searchParams.get("threads.sort"), "-blocked");
    await page.reload();
    assert.equal(await region(page, name).locator("tbody tr:visible").count(), shown);
    assert.equal(await head(page, name, "blocked").getAttribute("aria-sort"), "descending");
    // On paper the table is whole.
    await page.emulateMedia({ media: "print" });
    assert.equal(await region(page, name).locator("tbody tr:visible").count(), rows);
  });
});

test("the longest call leads to its place in the timeline", async () => {
  await on("", {}, async (page) => {
    const links = await region(page, "System calls").locator("td a").evaluateAll((all) => all.map((a) => a.hash));
    assert.ok(links.length > 0);
    for (const link of links) {
      const [, from, to] = link.match(/^#from=(\d+)&to=(\d+)&thread=\d+$/) ?? assert.fail(link);
      assert.ok(Number(from) < Number(to), link);
    }
  });
});

test("without a script every row is there and nothing can be pressed", async () => {
  const { page } = await open(browser, TIMELINE, {});
  try {
    const rows = await region(page, "Threads").locator("tbody tr").count();
    const bare = await page.context().browser()?.newContext({ javaScriptEnabled: false });
    if (!bare) return;
    const still = await bare.newPage();
    await still.goto(page.url());
    assert.equal(await still.locator("#figures thead button").count(), 0);
    assert.equal(await region(still, "Threads").locator("tbody tr:visible").count(), rows);
    await bare.close();
  } finally {
    await page.close();
  }
});

test("a report has at most twelve pages of A4, and nothing on them is cut", async () => {
  const { page } = await open(browser, REPORT, { width: 718 });
  try {
    await page.emulateMedia({ media: "print" });
    const wider = await page.evaluate(() =>
      [...document.querySelectorAll("main *:not(svg *)")]
        .filter((part) => part.clientWidth > 0 && !part.closest(".hidden, svg") && part.getBoundingClientRect().right > innerWidth + 1)
        .map((part) => part.outerHTML.slice(0, 80)));
    assert.deepEqual(wider, []);
    const pdf = await page.pdf({ format: "A4", printBackground: true, preferCSSPageSize: true });
    const count = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
    assert.ok(count <= 12, `${count} pages`);
  } finally {
    await page.close();
  }
});

test("the link to a row is called by its name and costs no line", async () => {
  const { page } = await open(browser, REPORT);
  try {
    const links = await page.locator("table.ladder tr[id] .here").evaluateAll((all) =>
      all.map((link) => [link.getAttribute("aria-label"), link.closest("tr").id, link.previousSibling.textContent.length]));
    assert.ok(links.length > 10);
    for (const [label, id] of links) assert.equal(label, `Link to ${id.replace(/^row-/, "")}`);
    const off = await page.locator("table.ladder tr[id]:visible .here").evaluateAll((all) =>
      all.filter((link) => {
        const name = link.parentElement.firstChild;
        const range = document.createRange();
        range.selectNodeContents(name);
        return Math.abs(range.getBoundingClientRect().bottom - link.getBoundingClientRect().bottom) > 8;
      }).length);
    assert.equal(off, 0, "links on a line of their own");
  } finally {
    await page.close();
  }
});

test("rows of a table of thousands are elements once they are asked for", async () => {
  const { page, complaints } = await open(browser, TIMELINE_MANY);
  const threads = Number((await page.textContent("h1")).match(/(\d+) threads/)[1]);
  assert.ok(threads > 1000);
  const rows = () => region(page, "Threads").locator("tbody tr").count();
  const count = () => page.locator(".of-table", { has: page.getByRole("searchbox", { name: "Filter Threads" }) }).locator(".count").textContent();
  const few = await rows();
  assert.ok(few < 100, `${few} rows`);
  assert.equal(await count(), `${few} of ${threads} shown`);
  // The first of a sort may be one of those.
  await head(page, "Threads", "thread").getByRole("button").click();
  assert.equal(await rows(), threads);
  const names = await region(page, "Threads").locator("tbody tr:visible th").allInnerTexts();
  const all = await region(page, "Threads").locator("tbody th").allTextContents();
  const collator = new Intl.Collator(undefined, { numeric: true });
  assert.deepEqual(names, all.sort(collator.compare).slice(0, few));
  const own = pathToFileURL(TIMELINE_MANY).href;
  await page.goto(own);
  const last = all.at(-1);
  await page.getByRole("searchbox", { name: "Filter Threads" }).fill(last);
  assert.deepEqual(await region(page, "Threads").locator("tbody tr:visible th").allInnerTexts(), [last]);
  assert.equal(await count(), `1 of ${threads} shown`);
  // On paper they would be hundreds of pages.
  await page.goto(own);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("p.on-paper:visible").allTextContents().then((texts) => texts.find(Boolean)), `${threads - few} of ${threads} rows are not printed.`);
  assert.deepEqual(complaints, []);
  await page.close();
  const plain = await browser.context.newPage();
  const protocol = await browser.context.newCDPSession(plain);
  await protocol.send("Emulation.setScriptExecutionDisabled", { value: true });
  await plain.goto(own);
  assert.equal(await plain.locator('[aria-label="Threads"] tbody tr:visible').count(), threads);
  await plain.close();
});

test("a range over thousands of threads makes the rows that are in sight, the others when they are asked for", async () => {
  const { page, complaints } = await open(browser, TIMELINE_MANY);
  const threads = Number((await page.textContent("h1")).match(/(\d+) threads/)[1]);
  const names = () => region(page, "Threads").locator("tbody th").allTextContents();
  await page.waitForSelector("#lanes[data-drawn]");
  const few = await names();
  await page.evaluate(() => {
    window.made = 0;
    const make = Document.prototype.createElement;
    Document.prototype.createElement = function (...all) {
      window.made++;
      return make.apply(this, all);
    };
    location.hash = `#range=0-${JSON.parse(document.getElementById("head").textContent).duration_ns}`;
  });
  await page.waitForSelector("#in-range:not([hidden])");
  const made = await page.evaluate(() => window.made);
  assert.ok(made < threads / 2, `${made} elements for ${threads} threads`);
  assert.equal((await names()).length, few.length);
  assert.match(await page.textContent("#in-range"), /No row is left out/);
  await head(page, "Threads", "thread").getByRole("button").click();
  const all = await names();
  assert.equal(new Set(all).size, threads);
  // Another range has rows of its own, the whole those that it had.
  await page.evaluate(() => (location.hash = "#range=0-1000"));
  await page.waitForFunction((threads) => document.querySelectorAll('[aria-label="Threads"] tbody tr').length < threads, threads);
  await page.locator("#in-range button").click();
  assert.deepEqual((await names()).sort(), all.sort());
  assert.deepEqual(complaints, []);
  await page.close();
});
