// No label of a picture is cut off, whatever font a reader has: on the page, and
// in the files of `plot`. REPORT is the page, RUN the document that it was made
// of, LATLAS the program.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, start } from "./browser.mjs";

const { REPORT, RUN, LATLAS } = process.env;
assert.ok(REPORT && RUN && LATLAS, "REPORT, RUN and LATLAS name files");
const FONTS = ["DejaVu Sans", "Liberation Sans", "system-ui"];

let browser;
let directory;
before(async () => {
  browser = await start();
  directory = mkdtempSync(join(tmpdir(), "latlas-labels-"));
});
after(async () => {
  await browser.end();
  rmSync(directory, { recursive: true, force: true });
});

// Texts that end beyond what is seen of their drawing, by more than a pixel's
// rounding; and how many were looked at.
const look = (page, drawings) =>
  page.evaluate((drawings) => {
    const cut = [];
    let count = 0;
    for (const svg of document.querySelectorAll(drawings)) {
      const seen = svg.getBoundingClientRect();
      if (seen.width === 0) continue;
      const chart = svg.closest("[data-chart]")?.dataset.chart ?? "";
      for (const text of svg.querySelectorAll("text")) {
        const at = text.getBoundingClientRect();
        const beyond = Math.max(seen.left - at.left, at.right - seen.right, seen.top - at.top, at.bottom - seen.bottom);
        count += 1;
        if (beyond > 0.5) cut.push(`${chart}: ${text.textContent} by ${beyond.toFixed(1)} px`);
      }
    }
    return { cut, count };
  }, drawings);

for (const font of FONTS) {
  for (const width of [1280, 390]) {
    test(`labels on the page in ${font} at ${width} px`, async () => {
      const { page } = await open(browser, REPORT, { width });
      await page.addStyleTag({ content: `:root { --font: "${font}" !important; }`.replace('"system-ui"', "system-ui") });
      const { cut, count } = await look(page, "svg[role=img]");
      assert.ok(count > 200, `only ${count} labels`);
      assert.deepEqual(cut, []);
      await page.close();
    });
  }

  test(`labels in files in ${font}`, async () => {
    const ids = JSON.parse(execFileSync(LATLAS, ["plot", "--list", RUN, "--json"])).pictures.map(({ id }) => id);
    for (const id of ids) {
      for (const size of [["--width", "85mm", "--bare"], ["--width", "60mm"], ["--width", "860"]]) {
        const svg = execFileSync(LATLAS, ["plot", id, RUN, ...size, "-o", "-"], { encoding: "utf8", maxBuffer: 1e8 });
        const file = join(directory, `${id}.svg`);
        writeFileSync(file, svg.replace(/font-family="[^"]*"/, `font-family="${font}"`));
        const { page } = await open(browser, file);
        const { cut, count } = await look(page, "svg[role=img]");
        assert.ok(count > 3, `${id}: only ${count} labels`);
        assert.deepEqual(cut, [], `${id} ${size.join(" ")}`);
        await page.close();
      }
    }
  });
}
