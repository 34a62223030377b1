// The five questions that a reader asks of each page, and the way to the answer: at most two clicks, after which it is
// on the screen of a laptop. Of the page that is sent they stand in shared.test.mjs, with what is pressed.
//
// A way is a list of steps: a click on what a selector names, or `text -> selector`, which types into it (clicked
// first). An answer is a selector and the words that stand there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, start } from "./browser.mjs";

const { REPORT, REPORT_TWO, TIMELINE, FLEET, QOS, NOISE } = process.env;
const MOST = 2;

const PAGES = {
  "a report": [REPORT, [
    ["What does a system call cost beside a load from memory?", [], "#overview", /system call/i],
    ["How far can I trust these figures?", [], ".trust", /\d+ of \d+ results ok/],
    ["What does starting a thread cost?", ["nav >> text=All rows", "thread.lifecycle -> #find"], "table.ladder tr:visible >> text=/^thread.lifecycle/", /thread/],
    ["Where does memory get slower?", [], "#h-stairs", /working-set size/],
    ["Which machine and kernel is this?", ["nav >> text=Machine"], "#machine", /kernel/],
  ]],
  "a report of two runs": [REPORT_TWO, [
    ["Did anything change?", [], "#answer", /\d+ of \d+ rows differ|no row/i],
    ["What changed most, and by how much?", [], "#answer svg", /\[[\d.]+, [\d.]+\]/],
    ["What differs between the machines?", [], "#answer dt >> text=machine", /machine/],
    ["Is this row slower now?", ["nav >> text=Comparison"], "h2 >> text=/^Compared/", /Compared/],
    ["How large must a change be to be seen?", ["nav >> text=Comparison"], "#comparison, #compared", /change|inconclusive|differ/i],
  ]],
  "a timeline": [TIMELINE, [
    ["Which threads ran most?", [], "#order", /CPU time/],
    ["Why did this slice wait, and who had the CPU?", ["lane"], "#slice dd", /from [\d.]+ ms to/],
    ["Where is the longest call?", ["nav >> text=Figures", "[aria-label='System calls'] a[href^='#from=']"], "#slice h3", /./],
    ["How often was it preempted for more than 0.1 ms?", ["preempted > 0.1 ms -> #find"], "#found", /\d+ found/],
    ["What happened in these milliseconds?", ["ruler"], "#range", /threads?: .*running/],
  ]],
  "a fleet": [FLEET, [
    ["Which hosts are outliers, and what have they in common?", [], "#outliers", /microcode|by itself|firmware/],
    ["By how much are they slower, and in which rows?", [], "#outliers", /\+\d+(\.\d+)? %/],
    ["Is the campaign complete?", [], "dd", /complete|of \d+|unknown/],
    ["How is this one host?", ["nav >> text=Hosts", "n0008 -> #hosts input[type=search]"], "#hosts tr:visible th", /n0008/],
    ["How far do hosts spread in a row?", ["nav >> text=Rows"], "#rows .strip", /^/],
  ]],
  "quality of service": [QOS, [
    ["Does the lower level get what the kernel promises?", [], "h3 >> text=/^Share of the CPU time/", /lower level/],
    ["What follows?", [], "h3 >> text=Conclusions", /Conclusions/],
    ["How sure is that share?", [], "figure", /interval/],
    ["On which CPUs did the jobs run?", [], "main", /Where the jobs ran/],
    ["Which kernel is this?", ["nav >> text=Machine"], "#machine", /kernel/],
  ]],
  "effects of controls": [NOISE, [
    ["Does a control help?", [], "main p", /\d+ of \d+ controls? made/],
    ["Which one, and how many cases were better?", [], "main table", /better/],
    ["What does it cost to set, and what does it need?", [], "main table", /to set.*needs/],
    ["By how much, for each job?", [], "h3 >> text=Control by control", /Control/],
    ["Which machine is this?", ["nav >> text=Machine"], "#machine", /kernel/],
  ]],
};

let browser;
before(async () => (browser = await start()));
after(async () => await browser.end());

// A step; how many clicks it takes.
async function take(page, step) {
  const [, words, field] = step.match(/^(.*) -> (.*)$/) ?? [];
  if (field) {
    await page.locator(field).click();
    await page.keyboard.type(words);
    await page.waitForTimeout(400);
    return;
  }
  const { x, y, width } = step === "lane" || step === "ruler" ? await page.locator("#lanes").boundingBox() : {};
  if (step === "lane") await page.mouse.click(x + width / 2, y + 155);
  else if (step === "ruler") {
    await page.mouse.move(x + width / 2, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 200, y + 10, { steps: 3 });
    await page.mouse.up();
  } else await page.locator(step).first().click();
  await page.waitForTimeout(200);
}

for (const [name, [file, questions]] of Object.entries(PAGES)) {
  test(`five questions of ${name}`, { skip: !file && "no such page is given" }, async () => {
    assert.equal(questions.length, 5);
    for (const [question, way, selector, words] of questions) {
      assert.ok(way.length <= MOST, `${question} takes ${way.length} clicks`);
      const { page } = await open(browser, file);
      await page.setViewportSize({ width: 1280, height: 800 });
      if (file === TIMELINE) await page.waitForSelector("#lanes[data-drawn]");
      for (const step of way) await take(page, step);
      const answers = await page.locator(selector).evaluateAll((all) => all.map((one) => ({ text: one.textContent, top: one.getBoundingClientRect().top, bottom: one.getBoundingClientRect().bottom, high: one.getBoundingClientRect().height })));
      const isSeen = answers.some(({ text, top, bottom, high }) => words.test(text) && high > 0 && bottom > 60 && top < 760);
      assert.ok(isSeen, `${question} ${JSON.stringify(answers.map(({ text, top }) => [Math.round(top), text.slice(0, 60)]).slice(0, 4))}`);
      await page.close();
    }
  });
}
