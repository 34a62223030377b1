// Looks at the report in a browser. REPORT is the page, RUN the document that it
// was made of, REPORT_TWO a page of RUN and QUICK. LATLAS is the program, whose
// `plot --json` has the figures of a picture.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, start } from "./browser.mjs";

const REPORT = process.env.REPORT;
const { REPORT_TWO, QUICK, LATLAS } = process.env;
assert.ok(REPORT && REPORT_TWO && QUICK && LATLAS && process.env.RUN, "REPORT, REPORT_TWO, RUN, QUICK and LATLAS name files");
const RUN = JSON.parse(readFileSync(process.env.RUN, "utf8"));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => (browser = await start()));
after(async () => await browser.end());

// A page of its own for each test, closed whatever becomes of it, and quiet.
async function on(file, look, check) {
  const { page, complaints, requests } = await open(browser, file, look);
  try {
    await check(page);
    assert.deepEqual(complaints, [], "the page complains");
    assert.deepEqual(requests, [], "the page asks for something");
  } finally {
    await page.close();
  }
}

// The one figure of an outcome, computed here from the document.
function figureOf(row) {
  const estimate = row.outcome.figure ?? row.outcome.level?.estimate;
  if (!estimate) return null;
  return { estimate, quiet: estimate.quiet?.ns ?? null, ns: (estimate.quiet ?? estimate.typical)?.ns ?? null };
}

// From ns into the unit that a row is shown in.
function unitOf({ unit }) {
  return (ns) => (unit.bandwidth ? unit.bandwidth.bytes_per_op / ns : unit === "frequency" ? 1 / ns : ns);
}

// The data of a picture of RUN, by the program.
const known = new Map();
function chartOf(id, ...more) {
  const key = [id, ...more].join(" ");
  if (!known.has(key)) known.set(key, JSON.parse(execFileSync(LATLAS, ["plot", id, process.env.RUN, ...more, "--json"], { maxBuffer: 1e8 })));
  return known.get(key);
}
const idsOn = (page) => page.evaluate(() => [...document.querySelectorAll(".chart[data-chart]")].map((e) => e.dataset.chart));
// Those that are of this run alone.
const chartsOn = async (page) => (await idsOn(page)).filter((id) => !id.startsWith("history.")).map((id) => chartOf(id));
// The drawing that is seen of a picture.
const drawing = (page, id) => page.locator(`.chart[data-chart="${id}"] svg[role=img]:visible`);

// Of two CPUs the map of pairs is a sentence.
const PAIRS = RUN.rows.find((r) => r.id === "memory.core_to_core").outcome.map.points;
const LIFE_KNOWN = ["create", "start", "procedure", "end", "join"].every(
  (part) => figureOf(RUN.rows.find((r) => r.id === `thread.lifecycle/${part}`))?.ns != null,
);
const KINDS = ["lines", "bars", "dots", ...(PAIRS.length > 1 ? ["heat"] : [])];

// Figures that a picture has a place for.
const placed = (axis, value) => value != null && (!axis.log || value > 0);

// A figure as text back to a number in the unit's base.
const SCALES = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, "GB/s": 1, "MB/s": 1e-3, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, GHz: 1, x: 1, "%": 1, cycles: 1, "": 1 };
function read(said) {
  const [, number, unit] = said.trim().match(/^(-?[0-9.]+) ?([^0-9 ]*)/) ?? assert.fail(`no figure: ${said}`);
  assert.ok(unit in SCALES, `unit of ${said}`);
  const decimals = number.split(".")[1]?.length ?? 0;
  // Half of the last digit, and a little for the arithmetic.
  return { value: Number(number) * SCALES[unit], half: 0.5001 * 10 ** -decimals * SCALES[unit] };
}

function same(said, exact, what) {
  const { value, half } = read(said);
  assert.ok(Math.abs(value - exact) <= half + Math.abs(exact) * 1e-9, `${what}: ${said} is not ${exact}`);
}

test("every picture is drawn, with as many marks as the data has", async () => {
  await on(REPORT, {}, async (page) => {
    const charts = await chartsOn(page);
    assert.ok(charts.length >= 12, `only ${charts.length} pictures`);
    for (const kind of KINDS) {
      assert.ok(charts.some(({ body }) => body.kind === kind), `no picture of kind ${kind}`);
    }
    for (const { id, body } of charts) {
      const { width, height, marks, colours } = await drawing(page, id).evaluate((svg) => {
        const { width, height } = svg.getBoundingClientRect();
        // Of a pair of CPUs there are two cells, and the bars of the distribution are no figures.
        const isOfPairs = svg.closest(".heat") !== null;
        const twice = new Map([...svg.querySelectorAll(isOfPairs ? "[data-n]" : "[data-n], [data-tip]")].map((mark, at) => [isOfPairs ? mark.dataset.n : at, mark]));
        const marks = [...twice.values()];
        const of = (mark) => mark.closest("[data-s]")?.dataset.s ?? "0";
        const counts = {};
        for (const mark of marks) counts[of(mark)] = (counts[of(mark)] ?? 0) + 1;
        const colours = new Set([...svg.querySelectorAll("*")].map((e) => getComputedStyle(e).fill + getComputedStyle(e).stroke)).size;
        return { width, height, marks: counts, colours };
      });
      assert.ok(width > 300 && height > 60, `${id} is ${width} x ${height}`);
      assert.ok(colours >= 3, `${id} has ${colours} colours`);
      // Of a curve of very many points only those to doubt have marks.
      const marked = (line, p) => !(line.joined && line.points.length > 200) || (p.verdict && p.verdict !== "ok");
      const expected = {
        // A band of many machines has none.
        lines: () => body.series.map((line) => (line.is === "population" ? [] : line.points).filter((p) => placed(body.y, p.y) && placed(body.x, p.x) && marked(line, p)).length),
        // Bars that lie have a stroke where there is nothing.
        bars: () => body.parts.map((part) => part.values.filter((v) => v != null && (body.lying || v !== 0)).length),
        heat: () => [body.cells.filter((cell) => placed(body.value, cell.value)).length],
        dots: () => {
          const names = [...new Set(body.rows.flatMap((row) => row.others.map((o) => o.name)))];
          const of = (name) => body.rows.flatMap((row) => row.others.filter((o) => o.name === name && placed(body.value, o.value))).length;
          const own = body.rows.filter((row) => placed(body.value, row.value)).length;
          // Quartiles are labels.
          return body.labelled ? [own] : [own, ...names.map(of)];
        },
      }[body.kind]();
      assert.deepEqual(expected.map((_, at) => marks[at] ?? 0), expected, `${id}: marks`);
    }
  });
});

test("marks stand where their figures are", async () => {
  await on(REPORT, {}, async (page) => {
    let checked = 0;
    for (const { id, body } of (await chartsOn(page)).filter(({ body }) => body.kind === "lines")) {
      const places = await drawing(page, id).evaluate((svg) =>
        [...svg.querySelectorAll("[data-s]")].map((series) =>
          [...series.querySelectorAll(".mark, [data-n]")].map((mark) => {
            const { x, y, width, height } = mark.getBBox();
            return [x + width / 2, y + height / 2];
          }),
        ),
      );
      const slopes = { x: [], y: [] };
      for (const [at, line] of body.series.entries()) {
        const points = line.points.filter((p) => placed(body.y, p.y) && placed(body.x, p.x));
        if (points.length !== places[at].length) continue;
        for (const [axis, pixels] of [["x", 0], ["y", 1]]) {
          // Samples of one x are spread.
          if (axis === "x" && !line.joined) continue;
          const value = (p) => (body[axis].log ? Math.log(p[axis]) : p[axis]);
          const all = points.map((p, i) => [value(p), places[at][i][pixels]]).sort(([a], [b]) => a - b);
          const [[low, from], [high, to]] = [all[0], all.at(-1)];
          if (!(high > low) || Math.abs(to - from) < 20) continue;
          const slope = (to - from) / (high - low);
          for (const [v, pixel] of all) assert.ok(Math.abs(from + (v - low) * slope - pixel) < 0.4, `${id}: ${line.name} at ${v}`);
          slopes[axis].push(slope);
          checked += all.length;
        }
      }
      for (const [axis, all] of Object.entries(slopes)) {
        for (const slope of all) assert.ok(Math.abs(slope / all[0] - 1) < 0.02, `${id}: one ${axis} axis for all`);
      }
    }
    assert.ok(checked > 200, `${checked} marks`);
  });
});

test("at 1280 px the ladder fits, and names of rows are whole", async () => {
  await on(REPORT, {}, async (page) => {
    const [wide, room] = await page.evaluate(() => {
      const scroll = document.querySelector("#ladder .scroll");
      return [scroll.scrollWidth, scroll.clientWidth];
    });
    assert.ok(wide <= room, `${wide} px in ${room}`);
    const broken = await page.evaluate(() => [...document.querySelectorAll("table.ladder th.c-row a[href^='#m-']")]
      .filter((a) => a.getClientRects().length > 1).map((a) => a.textContent));
    assert.deepEqual(broken, []);
  });
});

test("no text of a picture is cut off at its edge", async () => {
  await on(REPORT, {}, async (page) => {
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll(".chart[data-chart]")].flatMap((place) => {
        const outer = place.getBoundingClientRect();
        return [...place.querySelectorAll("svg text")]
          .filter((text) => text.getBoundingClientRect().width > 0)
          .map((text) => [text.textContent, text.getBoundingClientRect()])
          .filter(([, box]) => box.left < outer.left - 1 || box.right > outer.right + 1 || box.top < outer.top - 1 || box.bottom > outer.bottom + 1)
          .map(([words]) => `${place.dataset.chart}: ${words}`);
      }),
    );
    assert.deepEqual(cut, []);
  });
});

test("the ladder has every row of the document, with its figure, interval, cycles and verdict", async () => {
  await on(REPORT, {}, async (page) => {
    const lines = await page.evaluate(() =>
      [...document.querySelectorAll("table.ladder tbody tr[data-at]")].map((tr) => ({
        id: (tr.querySelector("th a") ?? tr.querySelector("th")).textContent,
        state: tr.dataset.state,
        value: tr.querySelector(".c-value")?.firstChild?.textContent ?? null,
        sort: tr.querySelector(".c-value")?.dataset.sort,
        typical: tr.querySelector(".c-typical")?.textContent ?? null,
        half: tr.querySelector(".c-value .half")?.textContent ?? null,
        cycles: tr.querySelector(".c-cycles")?.textContent ?? null,
        gone: tr.querySelector("td.gone")?.textContent ?? null,
      })),
    );
    assert.deepEqual(lines.map((line) => line.id), RUN.rows.map((row) => row.id));
    const words = { ok: "ok", noisy: "noisy", biased: "biased", two_states: "two states", inconclusive: "inconclusive", invalid: "invalid" };
    let checked = 0;
    for (const [at, row] of RUN.rows.entries()) {
      const line = lines[at];
      if (row.outcome.unavailable) {
        assert.ok(line.gone.endsWith(row.outcome.unavailable.reason), row.id);
        continue;
      }
      const figure = figureOf(row);
      if (!figure) {
        assert.equal(line.state, "curve", row.id);
        continue;
      }
      assert.equal(line.state, words[figure.estimate.verdict], row.id);
      if (figure.estimate.below_ns != null || !figure.ns) continue;
      if (!figure.quiet) {
        // A typical figure is none that is quiet: it stands in its own column.
        assert.equal(line.value, "-", row.id);
        // Of several modes one is shown.
        const shown = [figure.ns, ...(figure.estimate.modes ?? []).map(({ typical }) => typical.ns)];
        assert.ok(shown.some((ns) => Math.abs(Number(line.sort) / unitOf(row)(ns.value) - 1) < 1e-5), `${row.id} is sorted by ${line.sort}`);
        assert.ok(line.typical, row.id);
        checked += 1;
        continue;
      }
      const unit = row.unit;
      const of = unitOf(row);
      same(line.value, of(figure.ns.value), row.id);
      const half = unit.bandwidth || unit === "frequency"
        ? (of(figure.ns.value) * (figure.ns.high - figure.ns.low)) / 2 / figure.ns.value
        : (figure.ns.high - figure.ns.low) / 2;
      const scale = SCALES[line.value.trim().split(" ")[1]];
      const told = Number(line.half.replace(/[±*]/g, "")) * scale;
      // Rounded up to the figure's digits: never less than it is, never twice.
      const digit = 10 ** -(line.half.replace("*", "").split(".")[1]?.length ?? 0) * scale;
      assert.ok(told >= half * (1 - 1e-6) && told <= half + digit * 1.001, `${row.id}: ${line.half} is not ${half}`);
      checked += 1;
    }
    assert.ok(checked >= 20, `only ${checked} figures`);
  });
});

// The interval as text beside it, both ends read back.
function sameInterval(said, low, high, what) {
  if (low == null && high == null) return assert.equal(said, "", what);
  if (high == null) return same(said.match(/^from (.*), no upper end$/)[1], low, what);
  if (low == null) return same(said.match(/^up to (.*), no lower end$/)[1], high, what);
  const [, from, to] = said.match(/^(.*) to (.*)$/);
  same(from, low, what);
  same(to, high, what);
}

// What a picture's lines of text must be, from its data: cell for cell, as
// [text, number] where a number is to be read back.
const AS_TEXT = {
  lines: (body) =>
    body.series.flatMap((line) =>
      !line.joined && line.points.length > 120
        ? [null]
        : line.points.map((p) => ({ names: [line.name], at: 1, figures: [[2, p.y]], interval: [3, p], prefix: line.is === "population" ? "band: " : "", quantity: body.y.quantity })),
    ),
  bars: (body) =>
    body.categories.map((name, at) => ({ names: [name], figures: body.parts.map((part, i) => [i + 1, part.values[at]]), quantity: body.value.quantity })),
  heat: (body) =>
    body.cells.map((cell) => ({ names: [body.y[cell.y], body.x[cell.x]], figures: [[2, cell.value]], interval: [3, cell], quantity: body.value.quantity })),
  dots: (body) =>
    body.rows.map((row) => ({ names: [row.id], figures: row.value == null ? [] : [[1, row.value]], interval: [2, row], quantity: body.value.quantity })),
};

test("each picture's figures as text are its data", async () => {
  await on(REPORT, {}, async (page) => {
    const read = (id) =>
      page.locator(`.chart[data-chart="${id}"]`).evaluate((chart) =>
        [...chart.closest("figure").querySelectorAll(".figures-of .scroll > table:first-child tbody tr")].map((tr) =>
          [...tr.cells].map((cell) => cell.textContent),
        ),
      );
    const tables = [];
    for (const chart of await chartsOn(page)) tables.push({ chart, lines: await read(chart.id) });
    const checked = { lines: 0, bars: 0, heat: 0, dots: 0 };
    for (const { chart, lines } of tables) {
      const expected = AS_TEXT[chart.body.kind](chart.body);
      assert.equal(lines.length, expected.length, `${chart.id}: lines of text`);
      for (const [at, line] of expected.entries()) {
        if (line === null) continue;
        const what = `${chart.id} ${line.names.join()}`;
        assert.deepEqual(lines[at].slice(0, line.names.length), line.names, what);
        for (const [cell, value] of line.figures) {
          if (value == null) assert.equal(lines[at][cell], "not known", what);
          else same(lines[at][cell], value, what);
          checked[chart.body.kind] += 1;
        }
        if (line.interval) {
          const [cell, { low, high }] = line.interval;
          sameInterval(lines[at][cell].replace(line.prefix ?? "", ""), low, high, what);
        }
      }
    }
    for (const kind of KINDS) assert.ok(checked[kind] > 0, `${kind}: no figure`);
  });
});

test("pictures hold the document's figures", async () => {
  await on(REPORT, {}, async (page) => {
    const charts = await chartsOn(page);
    const bodyOf = (id) => charts.find((chart) => chart.id === id)?.body;
    // Of modes that lie apart by a fifth, the first with a sixth of the operations.
    const mode = ({ modes = [] }) => {
      const all = modes.map((m) => m.typical.ns.value);
      const least = Math.min(...all.map(Math.abs));
      const apart = all.length > 1 && Math.max(...all) - Math.min(...all) > least / 5;
      return apart ? modes.find((m) => m.share >= 1 / 6)?.typical : null;
    };
    const first = (estimate) => (estimate.quiet ?? mode(estimate) ?? estimate.typical)?.ns.value ?? null;
    // By another way than the program's: bars, cells and dots.
    const life = bodyOf("thread.lifecycle");
    // A busy machine may leave it without figures.
    assert.equal(life !== undefined, LIFE_KNOWN, "the life of a thread");
    for (const part of life?.parts ?? []) {
      const row = RUN.rows.find((r) => r.id === `thread.lifecycle/${part.name}`);
      assert.equal(part.values[0], first(figureOf(row).estimate), row.id);
    }
    if (PAIRS.length > 1) {
      assert.deepEqual(
        bodyOf("memory.core_to_core").cells.map((cell) => cell.value).sort(),
        PAIRS.map((p) => first(p.estimate)).filter((ns) => ns != null).sort(),
      );
    } else {
      assert.match(await page.locator("#threads").innerText(), /CPUs 0 and 1 hand over a cache line|handing over a cache line: /);
    }
    for (const dot of bodyOf("thread.lifecycle.parts")?.rows ?? []) {
      assert.equal(dot.value, first(figureOf(RUN.rows.find((r) => r.id === dot.id)).estimate), dot.id);
    }
    const latency = bodyOf("memory.latency");
    const told = RUN.rows.find((r) => r.id === "memory.latency").outcome.curve.points.filter((p) => first(p.estimate) != null);
    assert.deepEqual(latency.series[0].points.map((p) => [p.x, p.y]), told.map((p) => [p.x, first(p.estimate)]));
  });
});

const tipLines = (page) => page.locator(".tip:visible p").allInnerTexts();
// The middle of a mark of the first curve, on the screen.
async function middle(page, id, n) {
  const box = await drawing(page, id).locator(`[data-n="${n}"]`).first().boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

test("a mouse over a point shows its figure, interval and verdict", async () => {
  await on(REPORT, {}, async (page) => {
    await page.locator('.chart[data-chart="memory.latency"]').scrollIntoViewIfNeeded();
    const { points, name } = chartOf("memory.latency").body.series[0];
    const at = Math.floor(points.length / 3);
    const point = points[at];
    await page.mouse.move(...(await middle(page, "memory.latency", at)), { steps: 3 });
    const shown = await tipLines(page);
    assert.match(shown[0], /^working set /);
    same(shown[0].replace("working set ", ""), point.x, "where");
    const line = shown.find((text) => text.startsWith(`${name}: `));
    const [, value, low, high, verdict] = line.match(/: (.*), 95 % interval (.*) to (.*), (.*)$/);
    same(value, point.y, "tooltip");
    same(low, point.low, "lower end");
    same(high, point.high, "upper end");
    assert.equal(verdict, point.verdict.replaceAll("_", " ").replace("cannot", "can't"));
    await page.mouse.move(2, 2);
    assert.equal(await page.locator(".tip:visible").count(), 0);
    // The other kinds.
    for (const [id, text] of [...(LIFE_KNOWN ? [["thread.lifecycle", /^lives all lives\n.*create: /]] : []), ...(PAIRS.length > 1 ? [["memory.core_to_core", /\d ns, 95 % interval/]] : []), ...(LIFE_KNOWN ? [["thread.lifecycle.parts", /^row thread\.lifecycle\/.*\ntime: /]] : [])]) {
      await page.locator(`.chart[data-chart="${id}"]`).scrollIntoViewIfNeeded();
      await page.mouse.move(...(await middle(page, id, 0)), { steps: 3 });
      assert.match((await tipLines(page)).join("\n"), text, id);
    }
    // A sample that has no row of its own.
    await page.locator('.chart[data-chart="noise.clock"]').scrollIntoViewIfNeeded();
    const tip = await drawing(page, "noise.clock").locator("[data-tip]").first().getAttribute("data-tip");
    assert.match(tip, /^into the run .*\nsingle readings: .* GHz$/);
  });
});

test("the keyboard walks over the figures and zooms", async () => {
  await on(REPORT, {}, async (page) => {
    const chart = page.locator('.chart[data-chart="memory.latency"]');
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    const first = await tipLines(page);
    const [point, next] = chartOf("memory.latency").body.series[0].points;
    same(first[0].replace("working set ", ""), point.x, "first");
    await page.keyboard.press("ArrowRight");
    same((await tipLines(page))[0].replace("working set ", ""), next.x, "second");
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await tipLines(page), first);
    const reset = page.locator("#p-memory\\.latency .reset");
    await page.keyboard.press("+");
    assert.ok(await reset.isVisible());
    await page.keyboard.press("Escape");
    assert.ok(!(await reset.isVisible()));
    assert.equal(await page.locator(".tip:visible").count(), 0);
  });
});

test("a stretch of the x axis can be zoomed, and all of it shown again", async () => {
  await on(REPORT, {}, async (page) => {
    const id = "memory.latency";
    const svg = drawing(page, id);
    await svg.scrollIntoViewIfNeeded();
    const points = chartOf(id).body.series[0].points;
    const count = points.length;
    const xs = () => svg.evaluate((e) => [...e.querySelectorAll('[data-s="0"] [data-n]')].map((m) => { const b = m.getBoundingClientRect(); return b.left + b.width / 2; }));
    const labels = () => svg.locator(".ticks text").allTextContents();
    const [before, names] = [await xs(), await labels()];
    const [from, to] = [Math.floor(count / 3), Math.floor(count / 2)];
    const y = (await svg.boundingBox()).y + 150;
    const reset = page.locator("#p-memory\\.latency .reset");
    assert.ok(!(await reset.isVisible()));
    await page.mouse.move(before[from], y);
    await page.mouse.down();
    await page.mouse.move((before[from] + before[to]) / 2, y, { steps: 3 });
    assert.equal(await page.locator(`.chart[data-chart="${id}"] .brush:visible`).count(), 1);
    await page.mouse.move(before[to], y, { steps: 3 });
    await page.mouse.up();
    assert.ok(await reset.isVisible());
    assert.equal(await page.locator(`.chart[data-chart="${id}"] .brush:visible`).count(), 0);
    const [left, right] = await svg.evaluate((e) => e.dataset.x.split(" ").map((x) => new DOMPoint(Number(x), 0).matrixTransform(e.getScreenCTM()).x));
    const after = await xs();
    assert.ok(Math.abs(after[from] - left) < 4 && Math.abs(after[to] - right) < 4, `${after[from]} ${left} ${after[to]} ${right}`);
    // Curves end where the axis ends.
    const clip = () => svg.evaluate((e) => {
      const edge = e.querySelector("clipPath rect");
      const [x, width] = ["x", "width"].map((name) => Number(edge.getAttribute(name)));
      return [x, x + width].map((at, end) => at - Number(e.dataset.x.split(" ")[end]));
    });
    assert.deepEqual((await clip()).map(Math.round), [0, 0]);
    // Places in between keep their proportions.
    const share = (all, at) => (all[at] - all[from]) / (all[to] - all[from]);
    const between = Math.floor((from + to) / 2);
    assert.ok(Math.abs(share(before, between) - share(after, between)) < 0.01);
    const inside = await svg.evaluate((e) => [...e.querySelectorAll('[data-s="0"] [data-n]')].filter((m) => m.getBoundingClientRect().width > 0).length);
    assert.ok(inside >= to - from - 1 && inside <= to - from + 3, `${inside} marks`);
    const closer = await labels();
    assert.ok(closer.length >= 2, closer.join());
    for (const label of closer) {
      const { value } = read(label);
      assert.ok(value >= points[from].x * 0.9 && value <= points[to].x * 1.1, label);
    }
    // A figure is where its mark is now.
    await page.mouse.move(...(await middle(page, id, between)), { steps: 2 });
    same((await tipLines(page))[0].replace("working set ", ""), points[between].x, "zoomed");
    // What is zoomed is moved, by the mouse and by keys, as far as the axis goes.
    const zoomed = await xs();
    await page.keyboard.down("Shift");
    await page.mouse.move(left + 100, y);
    await page.mouse.down();
    await page.mouse.move(left + 150, y, { steps: 2 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const moved = (await xs()).map((x, at) => x - zoomed[at]);
    assert.ok(Math.abs(moved[between] - 50) < 2, `moved by ${moved[between]}`);
    await page.keyboard.press("Shift+ArrowRight");
    assert.ok((await xs())[between] < zoomed[between], "moved back");
    for (let i = 0; i < 20; i++) await page.keyboard.press("Shift+ArrowLeft");
    const end = await xs();
    assert.ok(end[0] >= left - 1 && end[0] < right, "as far as the axis goes");
    await page.keyboard.press("Shift+ArrowLeft");
    assert.deepEqual(await xs(), end);
    await reset.click();
    assert.ok(!(await reset.isVisible()));
    assert.deepEqual((await xs()).map(Math.round), before.map(Math.round));
    assert.deepEqual(await labels(), names);
    assert.ok((await clip()).every((beyond, end) => (end ? beyond : -beyond) > 3), "marks at the ends are whole again");
    await page.mouse.move(before[from], y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await reset.waitFor({ state: "visible" });
    assert.ok(Math.abs((await xs())[from] - before[from]) < 1, "what is pointed at stays");
    await page.mouse.dblclick(before[from], y);
    assert.ok(!(await reset.isVisible()));
  });
});

test("a name in the legend hides its curve and shows it again", async () => {
  await on(REPORT, {}, async (page) => {
    const figure = page.locator("#p-memory\\.bandwidth");
    const seen = (at) => drawing(page, "memory.bandwidth").evaluate((svg, at) => [...svg.querySelectorAll(`[data-s="${at}"] [data-n]`)].filter((m) => m.getBoundingClientRect().width > 0).length, at);
    const [first, second] = [await seen(0), await seen(1)];
    assert.ok(first > 3 && second > 3);
    const button = figure.locator(".legend button").first();
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.deepEqual([await seen(0), await seen(1)], [0, second]);
    await figure.locator(".chart").focus();
    await page.keyboard.press("ArrowRight");
    const name = (await button.innerText()).trim();
    assert.ok(!(await tipLines(page)).join("\n").includes(`${name}:`));
    await button.click();
    assert.equal(await seen(0), first);
  });
});

const visible = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("table.ladder tbody tr[data-at]")]
      .filter((tr) => tr.getClientRects().length > 0)
      .map((tr) => ({
        id: (tr.querySelector("th a") ?? tr.querySelector("th")).textContent,
        group: tr.dataset.group,
        state: tr.dataset.state,
        at: Number(tr.dataset.at),
        sort: tr.querySelector(".c-value")?.dataset.sort,
        unit: tr.querySelector(".c-value")?.dataset.class,
      })),
  );

test("what is sorted by size is of one kind", async () => {
  await on(REPORT, {}, async (page) => {
    for (const key of ["typical", "in-seconds", "per-frame"]) {
      if (key !== "typical") await page.check(key === "per-frame" ? "#frames" : "#human");
      const heading = page.locator(`table.ladder th[data-key=${key}]`);
      await heading.getByRole("button").click();
      const at = await heading.evaluate((th) => th.cellIndex);
      // Another scale of times has no numbers of its own to be sorted by.
      const sign = { typical: 0, "in-seconds": 1, "per-frame": -1 }[key];
      const cells = await page.evaluate(([at, sign]) => [...document.querySelectorAll("table.ladder tbody tr[data-at]")]
        .filter((tr) => (sign ? tr.cells[at]?.textContent : tr.cells[at]?.dataset.sort))
        .map((tr) => (sign ? [0, sign * Number(tr.querySelector(".c-value").dataset.sort)] : [Number(tr.cells[at].dataset.class ?? 0), Number(tr.cells[at].dataset.sort)])), [at, sign]);
      // On a busy machine few rows have a quiet figure; each that has one is there.
      const quiet = RUN.rows.filter((row) => figureOf(row)?.quiet && figureOf(row).ns).length;
      assert.ok(cells.length >= Math.min(20, key === "typical" ? 20 : quiet / 2), `${key}: ${cells.length}`);
      assert.deepEqual(cells, [...cells].sort(([a, x], [b, y]) => a - b || x - y), key);
    }
  });
});

test("sorting by a heading, both ways and back", async () => {
  await on(REPORT, {}, async (page) => {
    await page.check("#gone");
    const heading = page.locator("table.ladder th[data-key=value]").first();
    const times = async () => (await visible(page)).filter((line) => line.sort !== undefined && (line.unit ?? "0") === "0").map((line) => Number(line.sort));
    const unsorted = await times();
    await heading.getByRole("button").click();
    assert.equal(await heading.getAttribute("aria-sort"), "ascending");
    const up = await times();
    assert.deepEqual(up, [...unsorted].sort((a, b) => a - b));
    assert.notDeepEqual(up, unsorted);
    const all = await visible(page);
    const first = all.findIndex((line) => line.sort === undefined);
    assert.ok(first > 0 && all.slice(first).every((line) => line.sort === undefined), "what has no figure stays below");
    await heading.getByRole("button").click();
    assert.equal(await heading.getAttribute("aria-sort"), "descending");
    assert.deepEqual(await times(), [...up].reverse());
    await heading.getByRole("button").click();
    assert.equal(await heading.getAttribute("aria-sort"), "none");
    assert.deepEqual((await visible(page)).map((line) => line.at), RUN.rows.map((_, at) => at));
    const name = page.locator("table.ladder th[data-key=id]");
    await name.getByRole("button").click();
    const ids = (await visible(page)).map((line) => line.id);
    assert.deepEqual(ids, [...ids].sort((a, b) => a.localeCompare(b)));
  });
});

test("filters by words, group and verdict, together", async () => {
  await on(REPORT, {}, async (page) => {
    await page.fill("#find", "latency/L2 MEMORY");
    const found = (await visible(page)).map((line) => line.id);
    assert.ok(found.includes("memory.latency/L2") && !found.includes("memory.latency/L1"), found.join());
    await page.fill("#find", "no such row");
    assert.deepEqual(await visible(page), []);
    assert.ok(await page.locator("#nothing").isVisible());
    await page.fill("#find", "");
    await page.selectOption("#group", "cpu");
    const cpu = await visible(page);
    assert.equal(cpu.length, RUN.rows.filter((row) => row.id.startsWith("cpu.")).length);
    await page.selectOption("#group", "");
    await page.selectOption("#verdict", "ok");
    const ok = await visible(page);
    assert.equal(ok.length, RUN.rows.filter((row) => figureOf(row)?.estimate.verdict === "ok").length);
    assert.equal(await page.locator("#count").innerText(), `${ok.length} of ${RUN.rows.length} rows`);
    await page.selectOption("#verdict", "gone");
    assert.equal((await visible(page)).length, RUN.rows.filter((row) => row.outcome.unavailable).length);
  });
});

test("the first screen has the document's figures, and fits", async () => {
  for (const width of [1280, 1024, 390]) {
    await on(REPORT, { width }, async (page) => {
      const steps = page.locator(".steps li");
      assert.ok((await steps.count()) >= 15, `${await steps.count()} operations`);
      const rows = new Map(RUN.rows.map((row) => [row.id, row]));
      for (const step of await steps.all()) {
        const id = (await step.locator("a").getAttribute("href")).slice("#row-".length);
        const { estimate, ns } = figureOf(rows.get(id));
        const modes = estimate.quiet ? [] : (estimate.modes ?? []).map((mode) => mode.typical.ns.value);
        const cost = (await step.locator(".cost").innerText()).split(",")[0].trim();
        // A busy machine has rows without a figure.
        if (estimate.verdict === "invalid" || estimate.below_ns != null) {
          assert.match(cost, estimate.below_ns != null ? /^< / : /^-$/, id);
          continue;
        }
        const { value, half } = read(cost);
        assert.ok([ns.value, ...modes].some((exact) => Math.abs(exact - value) <= half + 1e-9), `${id}: ${value}`);
        assert.equal(await step.locator("circle.ok").count(), estimate.verdict === "ok" ? 1 : 0, id);
      }
      const counts = RUN.rows.map(figureOf).filter(Boolean).map(({ estimate }) => estimate.verdict);
      assert.equal(await page.locator(".squares i").count(), counts.length);
      assert.match(await page.locator(".trust").innerText(), new RegExp(`^${counts.filter((v) => v === "ok").length} of ${counts.length} results ok`));
      // What is chosen is shown, and no text of a line is cut or on another one.
      const shown = () => page.locator(".versus > span:visible").allInnerTexts();
      const before = await shown();
      await page.selectOption("#against", { index: 1 });
      assert.notDeepEqual(await shown(), before);
      const cut = await page.evaluate(() => {
        const box = (e) => {
          const range = document.createRange();
          range.selectNodeContents(e);
          return range.getBoundingClientRect();
        };
        const names = [...document.querySelectorAll(".steps li")].filter((li) => {
          const [name, drawing, line] = [box(li.querySelector("a")), li.querySelector("svg").getBoundingClientRect(), li.getBoundingClientRect()];
          return name.left < line.left - 1 || name.right > drawing.left || name.height > line.height + 1 || box(li.querySelector(".cost").firstChild).right > line.right + 1
            || [...li.querySelectorAll(".versus > span")].some((e) => e.offsetParent && box(e).right > line.right + 1);
        });
        const ticks = [...document.querySelectorAll(".scale div b")].filter((b) => b.offsetParent).map(box);
        const meet = ticks.filter((tick, at) => at && tick.left < ticks[at - 1].right);
        return [...names.map((li) => li.textContent), ...meet.map((tick) => `tick at ${tick.left}`)];
      });
      assert.deepEqual(cut, [], `${width} px`);
      await steps.first().locator("a").click();
      assert.ok(await page.locator("table.ladder tr:target").isVisible(), "it leads to its row");
    });
  }
});

test("a click on a dot of the first screen leads to its row; marks of others keep their names", async () => {
  await on(REPORT, { width: 1440 }, async (page) => {
    const line = page.locator(".steps li", { has: page.locator("svg svg title") }).first();
    const under = await line.evaluate((line) => {
      const { x, y, width, height } = line.querySelector("svg svg title").parentElement.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2).closest("svg")?.querySelector("title")?.textContent;
    });
    assert.match(under ?? "", /: .* [nµm]?s$/);
    const other = page.locator(".steps li:not(:has(svg svg))").first();
    const dot = await other.locator("circle").boundingBox();
    await page.mouse.click(dot.x + dot.width / 2, dot.y + dot.height / 2);
    assert.equal(await page.evaluate(() => location.hash), await other.locator("a").evaluate((link) => link.hash));
  });
});

test("switches show the human scale, frames and published tables", async () => {
  await on(REPORT, {}, async (page) => {
    const l2 = page.locator("table.ladder tr", { has: page.locator("a", { hasText: /^memory\.latency\/L2$/ }) });
    const ns = figureOf(RUN.rows.find((row) => row.id === "memory.latency/L2")).ns.value;
    const human = l2.locator(".c-human");
    assert.ok(!(await human.isVisible()));
    await page.check("#human");
    assert.ok(await human.isVisible());
    // 1 ns as 1 s.
    same(await human.innerText().then((t) => t.replace(" s", "")), ns, "human scale");
    const frames = l2.locator(".c-frames");
    assert.ok(!(await frames.isVisible()));
    await page.check("#frames");
    same(await frames.innerText().then((t) => t.replace(" M", "")), 1e9 / 60 / ns / 1e6, "per frame");
    const boxes = page.locator('input[id^="ref-"]');
    const columns = () => page.locator("table.ladder thead th.ref:visible").count();
    const before = await columns();
    await boxes.nth(1).check();
    assert.equal(await columns(), before + 1);
    const mark = page.locator("table.ladder svg rect.m1").first();
    const fill = () => mark.evaluate((rect) => getComputedStyle(rect).fill);
    const ticked = await fill();
    await boxes.nth(1).uncheck();
    assert.notEqual(await fill(), ticked, "its marks are coloured");
  });
});

test("a dark page is dark, on its own and by the button", async () => {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
  const bright = ([r, g, b]) => (r + g + b) / 3;
  const axis = (page) => page.evaluate(() => getComputedStyle(document.querySelector('.chart[data-chart="memory.latency"] svg text')).fill);
  await on(REPORT, { scheme: "dark" }, async (page) => {
    assert.ok(bright(await ground(page)) < 60);
    const [dark, shot] = [await axis(page), await page.screenshot()];
    await page.click("#theme");
    assert.ok(bright(await ground(page)) > 200);
    assert.notEqual(await axis(page), dark, "the pictures change too");
    assert.ok(!shot.equals(await page.screenshot()));
    await page.click("#theme");
    assert.equal(await axis(page), dark);
  });
});

test("a link that is no text leads nowhere and harms nothing", async () => {
  await on(REPORT, { hash: "#%" }, async (page) => {
    assert.ok((await idsOn(page)).length >= 12);
    assert.ok(await page.locator("#theme").isVisible());
  });
});

for (const width of [390, 768]) {
  test(`nothing sticks out of a page ${width} px wide`, async () => {
    await on(REPORT, { width }, async (page) => {
      for (const id of ["#human", "#frames"]) {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} px before ${id}`);
        await page.check(id);
      }
      const [wide, out] = await page.evaluate((width) => [
        document.documentElement.scrollWidth,
        [...document.querySelectorAll(".chart svg, figure, section, table.ladder")].filter((e) => e.getBoundingClientRect().right > width && !e.closest(".scroll")).length,
      ], width);
      assert.ok(wide <= width && out === 0, `${wide} px, ${out} elements outside`);
      // What the narrow table leaves out stands below the figure.
      const left = await page.evaluate(() => {
        const rows = [...document.querySelectorAll("table.ladder tbody tr[data-at]")].filter((tr) => tr.querySelector(".c-value"));
        const seen = (e) => e && getComputedStyle(e).display !== "none" && e.getBoundingClientRect().width > 0;
        const figures = rows.filter((tr) => tr.querySelector(".c-value").textContent.trim());
        return figures.filter((tr) => !seen(tr.querySelector(".c-verdict"))
          || (tr.querySelector(".c-value .half") && !seen(tr.querySelector(".c-value .half")))
          || (tr.querySelector(".instead") && !seen(tr.querySelector(".instead")))).length;
      });
      assert.equal(left, 0, "figures without interval or verdict");
    });
  });
}

test("everything can be reached and done with the keyboard", async () => {
  await on(REPORT, {}, async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    const reached = new Set();
    const first = await page.locator(".first a").count();
    for (let i = 0; i < 40 + first; i++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const e = document.activeElement;
        const outline = getComputedStyle(e).outlineStyle;
        return { name: e.id || e.closest("th")?.dataset.key || e.className, outline };
      });
      assert.notEqual(at.outline, "none", `${at.name}: focus can be seen`);
      if (at.name === "human") await page.keyboard.press("Space");
      if (at.name === "cycles") await page.keyboard.press("Enter");
      if (at.name === "find") await page.keyboard.type("cpu");
      reached.add(at.name);
    }
    for (const name of ["against", "find", "group", "verdict", "human", "frames", "gone", "id", "value", "cycles", "here"]) {
      assert.ok(reached.has(name), `${name} is not reached: ${[...reached].join(" ")}`);
    }
    assert.ok(await page.locator(".c-human:visible").count() > 0);
    assert.equal(await page.locator("th[data-key=cycles]").getAttribute("aria-sort"), "ascending");
  });
});

test("on paper: light, everything, nothing to press", async () => {
  await on(REPORT, { scheme: "dark" }, async (page) => {
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 100_000 && pdf.subarray(0, 5).toString() === "%PDF-");
    // A4 without its margins, narrower than many a screen.
    await page.setViewportSize({ width: 720, height: 1000 });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const columns = await page.evaluate(() => {
      const row = [...document.querySelectorAll("table.ladder tbody tr[data-at]")].find((tr) => tr.querySelector(".c-value[data-sort]"));
      const shown = (of) => getComputedStyle(row.querySelector(of)).display;
      return [".c-value", ".c-half", ".c-cycles", ".c-typical", ".c-verdict"].map(shown);
    });
    assert.deepEqual(columns, Array(5).fill("table-cell"));
    // What is folded stays so, and its summary counts it.
    const folded = await page.evaluate(() => [...document.querySelectorAll("details.folded:has(> ul.notes)")].map((e) => [e.querySelector("summary").textContent, e.querySelectorAll("li").length]));
    for (const [summary, count] of folded) assert.ok(summary.startsWith(`${count} notes`), summary);
    const seen = await page.evaluate(() => ({
      ground: getComputedStyle(document.body).backgroundColor,
      pressed: [...document.querySelectorAll("button.theme, .controls, nav")].filter((e) => e.offsetParent).length,
      rows: [...document.querySelectorAll("table.ladder tbody tr[data-at]")].filter((e) => e.getBoundingClientRect().height > 0).length,
    }));
    assert.deepEqual(seen, { ground: "rgb(255, 255, 255)", pressed: 0, rows: RUN.rows.length });
    const ink = await page.evaluate(() => getComputedStyle(document.querySelector(".chart svg text")).fill.match(/\d+/g).map(Number));
    assert.ok(ink.every((part) => part < 120), `pictures are inked, too: ${ink}`);
  });
});

test("two runs: the others are drawn, and compared row by row", async () => {
  await on(REPORT_TWO, {}, async (page) => {
    // A part of the table for each group, which its heading names; reasons stand in lines without a row's name.
    const rows = await page.evaluate(() => [...document.querySelectorAll("#comparison > details tbody")].flatMap((part) => {
      let row = "";
      const titles = part.querySelector(".titles") ?? part.parentElement.tHead.rows[0];
      return [...part.rows].filter((tr) => tr !== titles && tr.querySelector("th")).map((tr) => {
        const [name, finding] = [tr.cells[0], tr.cells[5]].map((cell) => cell.textContent.trim());
        const mode = name.match(/^└ (.*)$/);
        // A name also says what is compared: p10, or a mode.
        row = mode ? row : `${titles.cells[0].textContent}.${name}`;
        const of = mode ? `${row.replace(/ \(.*\)$/, "")} (${mode[1].replace(/ p10$/, "")})` : row;
        return [of, finding.split(/: | </)[0]];
      });
    }));
    assert.ok(rows.length >= 20, `${rows.length} rows`);
    // No figure: a busy machine left one of the two invalid.
    const findings = ["different", "same within noise", "inconclusive", "no figure"];
    assert.ok(rows.every(([, finding]) => findings.includes(finding)));
    const latency = chartOf("memory.latency", "--vs", QUICK).body.series;
    const colours = await drawing(page, "memory.latency").evaluate((svg) => [...svg.querySelectorAll("[data-s]")].sort((a, b) => a.dataset.s - b.dataset.s).map((series) => {
      // The others are drawn first. Published figures are marks without a line.
      const line = series.querySelector("polyline");
      return line && getComputedStyle(line).stroke;
    }));
    assert.equal(colours.length, latency.length);
    const curves = latency.map((line, at) => ({ name: line.name, is: line.is, colour: colours[at] }));
    const theirs = curves.filter((line) => line.is === "reference" && line.name.includes(": "));
    assert.ok(theirs.length >= 1);
    // In the colour of the same curve of ours.
    for (const line of theirs) {
      assert.equal(line.colour, curves.find((own) => own.is === "measured" && line.name.startsWith(`${own.name}: `)).colour, line.name);
    }
    // The picture says what the table says, row by row.
    const ratios = chartOf("comparison", "--vs", QUICK).body.rows.map(({ id, verdict, reason }) => [id, [verdict === "inconclusive" ? "inconclusive" : "", reason].filter(Boolean).join("; ")]);
    assert.equal(ratios.length, rows.length);
    // The picture has the largest change first, the table has the order of the rows.
    for (const [id, reason] of ratios) {
      // The table also names what is compared: p10, or a mode.
      const [of, found] = rows.find(([of]) => of === id) ?? rows.find(([of]) => `${of} `.startsWith(`${id} `)) ?? [];
      const finding = found === "no figure" ? "inconclusive" : found;
      assert.ok(`${of} `.startsWith(`${id} `) && (reason === finding || reason.startsWith(`${finding}:`) || reason.startsWith(`${finding};`)), `${id}: ${reason}, not ${finding}`);
    }
    // Each line of the ladder has the other run's figure.
    const other = await page.evaluate(() => [...document.querySelectorAll("table.ladder td.run")].filter((td) => td.dataset.sort).length);
    assert.ok(other >= 20, `${other} figures`);
  });
});

test("two runs: the answer and the first changes are on the first screen", async () => {
  await on(REPORT_TWO, { viewport: { width: 1280, height: 800 } }, async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const seen = await page.evaluate(() => {
      const bar = document.querySelector("nav.bar").getBoundingClientRect().bottom;
      const box = (of) => of.getBoundingClientRect();
      const marks = [...document.querySelectorAll("#answer .drawn svg [data-n]")].map(box).filter((at) => at.height > 0);
      const answer = document.querySelector("#answer .verdict p");
      return { text: answer.textContent, free: box(answer).top >= bar, below: box(answer).bottom, marks: marks.filter((at) => at.bottom <= 800).length };
    });
    assert.match(seen.text, /^\d+ of \d+ rows? differs?( \(.*\))?(, \d+ (is|are) inconclusive)?(, \d+ the same within noise)?\.$/);
    assert.ok(seen.free && seen.below <= 800, JSON.stringify(seen));
    assert.ok(seen.marks >= 5, `${seen.marks} changes above the fold`);
  });
});

for (const width of [390, 1280, 2560]) {
  test(`two runs: each line of the slope chart has both its marks, and no label covers another, ${width} px wide`, async () => {
    await on(REPORT_TWO, { width }, async (page) => {
      const { lines } = chartOf("slope", "--vs", QUICK).body;
      const seen = await page.evaluate(() => {
        const svg = [...document.querySelectorAll('.chart[data-chart="slope"] svg')].find((one) => one.getBoundingClientRect().width > 0);
        const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect().toJSON()]);
        return { boxes, marks: svg.querySelectorAll("[data-n]").length, frame: svg.getBoundingClientRect().toJSON() };
      });
      assert.equal(seen.marks, 2 * lines.length);
      for (const [at, [text, box]] of seen.boxes.entries()) {
        assert.ok(box.left >= seen.frame.left - 1 && box.right <= seen.frame.right + 1, `${text} is cut off`);
        for (const [other, there] of seen.boxes.slice(at + 1)) {
          const across = Math.min(box.right, there.right) - Math.max(box.left, there.left);
          // Boxes of letters are higher than the letters.
          const down = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
          assert.ok(across < 1 || down < box.height * 0.35, `${text} covers ${other}`);
        }
      }
    });
  });
}

test("a link to a folded method opens it", async () => {
  await on(REPORT, {}, async (page) => {
    const method = page.locator('[id="m-memory.latency"]');
    assert.equal(await method.evaluate((e) => e.open), false);
    await page.locator('table.ladder a[href="#m-memory.latency"]').first().click();
    assert.equal(await method.evaluate((e) => e.open), true);
    assert.match(await method.innerText(), /dependent load/);
  });
});

for (const [name, look] of Object.entries({
  light: {},
  dark: { scheme: "dark" },
  phone: { width: 390 },
})) {
  test(`axe finds nothing (${name})`, async () => {
    await on(REPORT, look, async (page) => {
      // Folded parts are part of the page.
      await page.evaluate(() => document.querySelectorAll("figure details, footer details").forEach((d) => (d.open = true)));
      // From outside the page, whose policy lets it run no other script.
      const session = await page.context().newCDPSession(page);
      const run = (expression) => session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
      await run(AXE);
      const { result, exceptionDetails } = await run(
        "axe.run(document, { resultTypes: ['violations'] }).then((r) => ({ passes: r.passes.length, violations: r.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`) }))",
      );
      assert.equal(exceptionDetails, undefined);
      assert.ok(result.value.passes > 10, "axe looked");
      assert.deepEqual(result.value.violations, []);
    });
  });
}

test("without a script the figures are there", async () => {
  const context = await browser.context.browser()?.newContext({ javaScriptEnabled: false });
  // A persistent context has no browser to ask: the policy is emulated instead.
  const page = await (context ?? browser.context).newPage();
  try {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setScriptExecutionDisabled", { value: true });
    await page.goto(new URL(`file://${REPORT}`).href);
    assert.ok(await drawing(page, "memory.latency").locator("[data-n]").count() > 10, "pictures are drawn");
    assert.ok(await page.locator("table.ladder tbody tr").count() > RUN.rows.length);
    await page.locator("#p-memory\\.latency details summary").last().click();
    assert.ok(await page.locator("#p-memory\\.latency table tbody tr").first().isVisible());
  } finally {
    await page.close();
    await context?.close();
  }
});

test("no request could leave: the policy forbids it", async () => {
  await on(REPORT, {}, async (page) => {
    // Beside the page's own check of requests: what a script tried would fail.
    const refused = await page.evaluate(async () => {
      const image = new Promise((resolve) => {
        const i = new Image();
        i.onload = () => resolve("loaded");
        i.onerror = () => resolve("refused");
        i.src = "http://127.0.0.1:9/x.gif";
      });
      const fetched = await fetch("data:text/plain,x").then(() => "fetched", () => "refused");
      return [fetched, await image];
    });
    assert.deepEqual(refused, ["refused", "refused"]);
  }).catch((error) => {
    // The browser says so on the console, which is what was asked for.
    if (!/the page complains/.test(error.message) || !/Content Security Policy/.test(error.message + JSON.stringify(error.actual))) throw error;
  });
});

test("texts of a document stay texts, in tables, legends and tooltips", async () => {
  const evil = `<img src=x onerror="document.title='hit'">'"&`;
  const directory = mkdtempSync(join(tmpdir(), "latlas-evil-"));
  try {
    const bad = structuredClone(RUN);
    // Another one, whatever it begins with.
    bad.id = `${bad.id.startsWith("e") ? "f" : "e"}${bad.id.slice(1)}`;
    bad.machine.hostname = { value: evil };
    for (const row of bad.rows) row.notes = [evil];
    for (const row of bad.rows) if (row.outcome.unavailable) row.outcome.unavailable.reason = evil;
    const [run, file] = [`${evil}.json`, "evil.html"].map((name) => join(directory, name));
    writeFileSync(run, JSON.stringify(bad));
    execFileSync(LATLAS, ["report", process.env.RUN, run, "-o", file, "--no-documents"]);
    await on(file, {}, async (page) => {
      const figure = page.locator("#p-memory\\.latency");
      assert.ok((await figure.locator(".legend").innerText()).includes(evil), "the legend shows it");
      await figure.locator(".chart").focus();
      await page.keyboard.press("ArrowRight");
      assert.ok((await tipLines(page)).join("\n").includes(evil), "the tooltip shows it");
      assert.equal(await page.locator("img").count(), 0);
      assert.notEqual(await page.title(), "hit");
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("every row and picture has a link of its own, and no name is given twice", async () => {
  await on(REPORT, {}, async (page) => {
    const { ids, links, rows, pictures } = await page.evaluate(() => ({
      ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
      links: [...document.querySelectorAll("a.here")].map((a) => a.getAttribute("href").slice(1)),
      rows: [...document.querySelectorAll("table.ladder tr[data-at]")].map((e) => e.id),
      pictures: [...document.querySelectorAll("figure.picture")].map((e) => e.id),
    }));
    assert.equal(new Set(ids).size, ids.length, "an id is given twice");
    assert.deepEqual(rows, RUN.rows.map(({ id }) => `row-${id}`));
    assert.deepEqual(links.toSorted(), [...rows, ...pictures].toSorted());
  });
});

test("what is chosen stands in the address, which shows it again", async () => {
  let address;
  const chosen = (page) => page.evaluate(() => ({
    words: document.getElementById("find").value,
    human: document.getElementById("human").checked,
    sort: document.querySelector("th[data-key=cycles]").getAttribute("aria-sort"),
    against: document.getElementById("against").value,
    table: document.getElementById("ref-iphone-x").checked,
    rows: [...document.querySelectorAll("table.ladder tr[data-at]")].filter((e) => e.getClientRects().length).map((e) => e.id),
  }));
  let before;
  await on(REPORT, {}, async (page) => {
    assert.equal(new URL(page.url()).search, "");
    await page.fill("#find", "cpu");
    await page.check("#human");
    await page.check("#ref-iphone-x");
    await page.selectOption("#against", "1");
    for (let i = 0; i < 2; i++) await page.click("th[data-key=cycles] button");
    await page.waitForFunction(() => location.search.includes("sort=-cycles"));
    await page.click('[id="row-cpu.div_i64"] a.here', { force: true });
    await page.waitForFunction(() => location.hash);
    address = new URL(page.url());
    before = await chosen(page);
  });
  assert.equal(address.hash, "#row-cpu.div_i64");
  assert.deepEqual(Object.fromEntries(address.searchParams), { find: "cpu", human: "on", "ref-iphone-x": "on", against: "1", sort: "-cycles" });
  assert.ok(before.rows.length > 20 && before.sort === "descending");
  await on(REPORT, { hash: address.search + address.hash }, async (page) => {
    assert.deepEqual(await chosen(page), before);
    // Back to what the page says by itself, nothing stays.
    await page.fill("#find", "");
    await page.uncheck("#human");
    await page.uncheck("#ref-iphone-x");
    await page.selectOption("#against", "0");
    await page.click("th[data-key=cycles] button");
    await page.waitForFunction(() => location.search === "");
  });
});

test("rows without a figure are folded until they are asked for", async () => {
  await on(REPORT, {}, async (page) => {
    const missing = RUN.rows.filter((row) => row.outcome.unavailable).map(({ id }) => id);
    const count = async () => (await visible(page)).filter(({ state }) => state === "gone").length;
    assert.ok(missing.length > 0);
    assert.equal(await count(), 0);
    assert.equal(await page.locator("#count").innerText(), `${RUN.rows.length - missing.length} of ${RUN.rows.length} rows`);
    await page.check("#gone");
    assert.equal(await count(), missing.length);
    await page.uncheck("#gone");
    await page.fill("#find", missing[0]);
    assert.ok((await count()) > 0, "one who looks for it finds it");
  });
  const [{ id }] = RUN.rows.filter((row) => row.outcome.unavailable);
  await on(REPORT, { hash: `#row-${id}` }, async (page) => assert.ok(await page.locator(`[id="row-${id}"]`).isVisible()));
});

test("the head of the table stays in sight", async () => {
  await on(REPORT, {}, async (page) => {
    const last = page.locator("table.ladder tr[data-at]:visible").last();
    await last.scrollIntoViewIfNeeded();
    const head = await page.locator("table.ladder thead th.c-axis").boundingBox();
    const bar = await page.locator("nav.bar").boundingBox();
    assert.ok(head.y >= bar.y + bar.height - 3 && head.y < 120, `at ${head.y}, below ${bar.y + bar.height}`);
  });
});

test("a picture is copied as SVG, PNG and CSV", async () => {
  await on(REPORT, {}, async (page) => {
    const of = async (id, kind) => {
      const button = page.locator(`[id="p-${id}"] [data-as=${kind}]`);
      // Without a clipboard it becomes a file.
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      assert.equal(download.suggestedFilename(), `${id}.${kind}`);
      return readFileSync(await download.path());
    };
    const cells = (line) => [...line.matchAll(/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g)].map(([, cell]) => cell);
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    const { body } = chartOf("memory.latency");
    const [head, ...records] = (await of("memory.latency", "csv")).toString().trim().split("\n").map(cells);
    assert.deepEqual(head.slice(1, 3), ["working set (bytes)", "time of a load (ns)"]);
    const digits = (number) => (Number.isInteger(number) ? number : Number(number.toPrecision(8)));
    const plain = (cell) => cell.replace(/^"(.*)"$/, "$1").replaceAll('""', '"');
    assert.deepEqual(records.map(([name, x, y]) => [plain(name), Number(x), Number(y)]), body.series.flatMap(({ name, points }) => points.map(({ x, y }) => [name, ...[x, y].map(digits)])));
    const svg = (await of("memory.bandwidth", "svg")).toString();
    const seen = await page.evaluate((text) => {
      const { documentElement: svg } = new DOMParser().parseFromString(text, "image/svg+xml");
      const all = [...svg.querySelectorAll("*")];
      return { name: svg.tagName, texts: all.filter((e) => e.tagName === "text").map((e) => e.textContent), variables: text.includes("var("), classes: all.filter((e) => e.hasAttribute("class")).length };
    }, svg);
    assert.deepEqual([seen.name, seen.variables, seen.classes], ["svg", false, 0]);
    const chart = chartOf("memory.bandwidth");
    for (const text of [chart.title, ...chart.body.series.map(({ name }) => name)]) assert.ok(seen.texts.includes(text), text);
    const png = await of("memory.latency", "png");
    assert.deepEqual([...png.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    assert.ok(png.length > 20_000, `${png.length} bytes`);
  });
});

// Pictures of stored runs come on top: up to 0.14 MB.
test("the page of a default run keeps to 1.2 MB, of two runs to 1.5 MB", async () => {
  const sizes = [REPORT, REPORT_TWO].map((file) => statSync(file).size);
  console.log(`pages: ${sizes.join(" and ")} bytes`);
  assert.ok(sizes[0] <= 1.2e6 && sizes[1] <= 1.5e6, `${sizes} bytes`);
});
