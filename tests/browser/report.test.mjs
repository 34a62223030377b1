// Looks at the report in a browser. REPORT is the page, RUN the document that it
// was made of, REPORT_TWO a page of two runs.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { open, start } from "./browser.mjs";

const REPORT = process.env.REPORT;
const REPORT_TWO = process.env.REPORT_TWO;
assert.ok(REPORT && REPORT_TWO && process.env.RUN, "REPORT, REPORT_TWO and RUN name files");
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
    const pictures = await page.evaluate(() =>
      [...document.querySelectorAll(".chart[data-chart]")].map((place) => {
        const { chart, instance } = window.latlas.drawn.get(place.dataset.chart) ?? {};
        const box = place.getBoundingClientRect();
        const series = instance.getModel().getSeries();
        return {
          id: place.dataset.chart,
          body: chart.body,
          width: box.width,
          height: box.height,
          shapes: place.querySelectorAll("svg path").length,
          colours: new Set([...place.querySelectorAll("svg path")].map((p) => p.getAttribute("stroke") + p.getAttribute("fill"))).size,
          // What the library holds of each series that is not an interval.
          counts: series.filter((s) => s.subType !== "custom" && s.name !== "").map((s) => s.getData().count()),
          // Marks that stand on the ground.
          marks: series
            .filter((s) => s.subType !== "custom" && s.name !== "")
            .map((s) => {
              const data = s.getData();
              let there = 0;
              for (let i = 0; i < data.count(); i++) if (data.getItemGraphicEl(i)) there += 1;
              return there;
            }),
        };
      }),
    );
    assert.ok(pictures.length >= 12, `only ${pictures.length} pictures`);
    for (const kind of ["lines", "bars", "heat", "dots"]) {
      assert.ok(pictures.some((p) => p.body.kind === kind), `no picture of kind ${kind}`);
    }
    for (const { id, body, width, height, shapes, colours, counts, marks } of pictures) {
      assert.ok(width > 300 && height > 100, `${id} is ${width} x ${height}`);
      assert.ok(colours >= 2, `${id} has one colour`);
      const expected = {
        lines: () => body.series.map((line) => line.points.filter((p) => placed(body.y, p.y)).length),
        bars: () => body.parts.map((part) => part.values.length),
        heat: () => [body.cells.filter((cell) => placed(body.value, cell.value)).length],
        dots: () => {
          const names = [...new Set(body.rows.flatMap((row) => row.others.map((o) => o.name)))];
          const of = (name) => body.rows.flatMap((row) => row.others.filter((o) => o.name === name && placed(body.value, o.value))).length;
          return [body.rows.filter((row) => placed(body.value, row.value)).length, ...names.map(of)];
        },
      }[body.kind]();
      assert.deepEqual(counts, expected, `${id}: points handed over`);
      if (body.kind === "lines") {
        // An ideal has a line and no marks.
        const drawn = body.series.map((line) => (line.is === "ideal" ? 0 : line.points.filter((p) => !body.y.log || p.y > 0).length));
        assert.deepEqual(marks, drawn, `${id}: marks drawn`);
      }
      const total = expected.reduce((a, b) => a + b, 0);
      assert.ok(total > 0 && shapes >= Math.min(total, 3), `${id}: ${shapes} shapes for ${total} figures`);
    }
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
    const words = { ok: "ok", noisy: "noisy", two_states: "two states", cannot_tell: "can't tell", invalid: "invalid" };
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
        assert.equal(line.sort, undefined, row.id);
        assert.ok(line.typical, row.id);
        checked += 1;
        continue;
      }
      const unit = row.unit;
      const of = (ns) => (unit.bandwidth ? unit.bandwidth.bytes_per_op / ns : unit === "frequency" ? 1 / ns : ns);
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
        : line.points.map((p) => ({ names: [line.name], at: 1, figures: [[2, p.y]], interval: [3, p], quantity: body.y.quantity })),
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
    const tables = await page.evaluate(() =>
      [...window.latlas.drawn.values()].map(({ chart, place }) => ({
        chart,
        lines: [...place.closest("figure").querySelectorAll(".figures-of .scroll > table:first-child tbody tr")].map((tr) =>
          [...tr.cells].map((cell) => cell.textContent),
        ),
      })),
    );
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
          sameInterval(lines[at][cell], low, high, what);
        }
      }
    }
    for (const [kind, count] of Object.entries(checked)) assert.ok(count > 0, `${kind}: no figure`);
  });
});

test("pictures hold the document's figures", async () => {
  await on(REPORT, {}, async (page) => {
    const charts = await page.evaluate(() => [...window.latlas.drawn.values()].map(({ chart }) => chart));
    const bodyOf = (id) => charts.find((chart) => chart.id === id)?.body;
    // Of modes that lie apart by a fifth, the first with a sixth of the operations.
    const mode = ({ modes = [] }) => {
      const all = modes.map((m) => m.typical.ns.value);
      const least = Math.min(...all.map(Math.abs));
      const apart = all.length > 1 && Math.max(...all) - Math.min(...all) > least / 5;
      return apart ? modes.find((m) => m.share >= 1 / 6)?.typical : null;
    };
    const first = (estimate) => (estimate.quiet ?? mode(estimate) ?? estimate.typical)?.ns.value;
    // By another way than the program's: bars, cells and dots.
    const life = bodyOf("thread.lifecycle");
    assert.ok(life, "the life of a thread");
    for (const part of life.parts) {
      const row = RUN.rows.find((r) => r.id === `thread.lifecycle/${part.name}`);
      assert.equal(part.values[0], first(figureOf(row).estimate), row.id);
    }
    const cells = RUN.rows.find((r) => r.id === "memory.core_to_core").outcome.map.points;
    assert.deepEqual(
      bodyOf("memory.core_to_core").cells.map((cell) => cell.value).sort(),
      cells.map((p) => first(p.estimate)).filter((ns) => ns != null).sort(),
    );
    for (const dot of bodyOf("thread.lifecycle.parts").rows) {
      assert.equal(dot.value, first(figureOf(RUN.rows.find((r) => r.id === dot.id)).estimate), dot.id);
    }
    const latency = bodyOf("memory.latency");
    const told = RUN.rows.find((r) => r.id === "memory.latency").outcome.curve.points.filter((p) => first(p.estimate) != null);
    assert.deepEqual(latency.series[0].points.map((p) => [p.x, p.y]), told.map((p) => [p.x, first(p.estimate)]));
  });
});

test("a mouse over a point tells its figure, interval and verdict", async () => {
  await on(REPORT, {}, async (page) => {
    const place = page.locator('.chart[data-chart="memory.latency"]');
    await place.scrollIntoViewIfNeeded();
    const target = await page.evaluate(() => {
      const { chart, instance } = window.latlas.drawn.get("memory.latency");
      const points = chart.body.series[0].points;
      const index = Math.floor(points.length / 3);
      const point = points[index];
      return { point, index, at: instance.convertToPixel({ gridIndex: 0 }, [point.x, point.y]) };
    });
    const box = await place.boundingBox();
    await page.mouse.move(box.x + target.at[0], box.y + target.at[1], { steps: 3 });
    const tip = place.locator("div", { hasText: "working set" }).last();
    await tip.waitFor({ state: "visible" });
    const said = await tip.innerText();
    const line = said.split("\n").find((text) => text.includes("one dependent load"));
    same(line.split(": ")[1], target.point.y, "tooltip");
    // In the very words of the program's table.
    const cells = await page.evaluate((at) => [...document.querySelectorAll("#p-memory\\.latency .figures-of table tbody")][0].rows[at].cells[2].textContent, target.index);
    assert.ok(line.split(": ")[1].startsWith(`${cells} [`) || line.split(": ")[1].startsWith(`${cells},`), `${line} is not ${cells}`);
    if (target.point.low != null) {
      const [, low, high] = line.match(/\[(.*) to (.*)\]/);
      same(low, target.point.low, "lower end");
      same(high, target.point.high, "upper end");
    }
    assert.ok(line.includes(target.point.verdict.replaceAll("_", " ").replace("cannot", "can't")), line);
  });
});

const visible = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("table.ladder tbody tr[data-at]")]
      .filter((tr) => !tr.hidden)
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
      const cells = await page.evaluate((at) => [...document.querySelectorAll("table.ladder tbody tr[data-at]")]
        .map((tr) => tr.cells[at]).filter((td) => td?.dataset.sort !== undefined)
        .map((td) => [Number(td.dataset.class ?? 0), Number(td.dataset.sort)]), at);
      // On a busy machine few rows have a quiet figure; each that has one is there.
      const quiet = RUN.rows.filter((row) => figureOf(row)?.quiet && figureOf(row).ns).length;
      assert.ok(cells.length >= Math.min(20, key === "typical" ? 20 : quiet / 2), `${key}: ${cells.length}`);
      assert.deepEqual(cells, [...cells].sort(([a, x], [b, y]) => a - b || x - y), key);
    }
  });
});

test("sorting by a heading, both ways and back", async () => {
  await on(REPORT, {}, async (page) => {
    const heading = page.locator("table.ladder th[data-key=value]").first();
    const times = async () => (await visible(page)).filter((line) => line.sort !== undefined && line.unit === "0").map((line) => Number(line.sort));
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
  const axis = (page) => page.evaluate(() => document.querySelector('.chart[data-chart="memory.latency"] svg text').getAttribute("fill"));
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
    assert.ok(await page.evaluate(() => window.latlas.drawn.size) >= 12);
  });
});

test("pictures are drawn when they come near the view", async () => {
  await on(REPORT, { lazy: true }, async (page) => {
    const drawn = (id) => page.evaluate((id) => window.latlas.drawn.has(id), id);
    assert.equal(await drawn("noise.clock"), false);
    const top = () => page.evaluate(() => document.querySelector("#methods").getBoundingClientRect().top + scrollY);
    const before = await top();
    await page.locator('.chart[data-chart="noise.clock"]').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => window.latlas.drawn.has("noise.clock"));
    await page.evaluate(() => window.latlas.all());
    assert.equal(await top(), before, "nothing moved");
  });
});

test("a picture that can't be drawn leaves the others alone", async () => {
  await on(REPORT, { lazy: true }, async (page) => {
    const said = await page.evaluate(() => {
      const init = echarts.init;
      echarts.init = (place, ...more) => {
        if (place.dataset.chart === "noise.clock") throw new Error("no luck");
        return init(place, ...more);
      };
      window.latlas.all();
      return document.querySelector('.chart[data-chart="noise.clock"]').textContent;
    });
    assert.match(said, /could not be drawn \(no luck\)/);
    const count = await page.locator(".chart[data-chart]").count();
    assert.equal(await page.evaluate(() => window.latlas.drawn.size), count - 1);
  });
});

test("a part less than nothing is set after the one before it", async () => {
  await on(REPORT, {}, async (page) => {
    // The library's own places of the bars, of made-up parts.
    const places = await page.evaluate(() => {
      const { chart, instance } = window.latlas.drawn.get("thread.lifecycle");
      const strategies = instance.getOption().series.map((s) => s.stackStrategy);
      const values = [10000, -3000, 20000];
      instance.setOption({ series: strategies.map((_, i) => ({ data: chart.body.categories.map(() => values[i] ?? 0) })) });
      const data = instance.getModel().getSeriesByIndex(2).getData();
      return { strategies, end: data.get(data.getCalculationInfo("stackResultDimension"), 0) };
    });
    assert.ok(places.strategies.every((s) => s === "all"), places.strategies.join());
    assert.equal(places.end, 27000);
  });
});

test("intervals without an end run to the edge of the picture", async () => {
  await on(REPORT, {}, async (page) => {
    const found = await page.evaluate(() => {
      const { chart, place } = window.latlas.drawn.get("memory.latency");
      const before = place.querySelectorAll("svg path").length;
      for (const point of chart.body.series[0].points) Object.assign(point, { low: -1, high: undefined });
      document.querySelector("#theme").click();
      const { instance } = window.latlas.drawn.get("memory.latency");
      const series = instance.getModel().getSeries().find((s) => s.subType === "custom" && s.name === chart.body.series[0].name);
      const box = instance.getModel().getComponent("grid").coordinateSystem.getRect();
      const lines = [];
      const data = series.getData();
      for (let i = 0; i < data.count(); i++) {
        const group = data.getItemGraphicEl(i);
        lines.push(group.children().map((c) => [c.shape.y1, c.shape.y2]));
      }
      return { before, lines, top: box.y, bottom: box.y + box.height };
    });
    assert.ok(found.lines.length > 5);
    for (const caps of found.lines) {
      assert.equal(caps.length, 1, "no cap at an open end");
      assert.deepEqual(caps[0].map(Math.round), [found.bottom, found.top].map(Math.round));
    }
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
        return figures.filter((tr) => ![".c-verdict", ".says"].some((of) => seen(tr.querySelector(of)))
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
    for (let i = 0; i < 40; i++) {
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
    for (const name of ["find", "group", "verdict", "human", "frames", "id", "value", "cycles", "scroll"]) {
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
    const folded = await page.evaluate(() => [...document.querySelectorAll("details.folded li")].filter((e) => !e.checkVisibility({ contentVisibilityAuto: true })).length);
    assert.equal(folded, 0, "folded notes are printed");
    const seen = await page.evaluate(() => ({
      ground: getComputedStyle(document.body).backgroundColor,
      pressed: [...document.querySelectorAll("button.theme, .controls, nav")].filter((e) => e.offsetParent).length,
      rows: [...document.querySelectorAll("table.ladder tbody tr[data-at]")].filter((e) => e.getBoundingClientRect().height > 0).length,
    }));
    assert.deepEqual(seen, { ground: "rgb(255, 255, 255)", pressed: 0, rows: RUN.rows.length });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const inked = await page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(inked, "light");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  });
});

test("two runs: the others are drawn, and compared row by row", async () => {
  await on(REPORT_TWO, {}, async (page) => {
    const rows = await page.evaluate(() => [...document.querySelectorAll("table.compared tbody tr")].map((tr) => [tr.cells[0].textContent, tr.dataset.finding]));
    assert.ok(rows.length >= 20, `${rows.length} rows`);
    const findings = ["different", "same within noise", "can't tell"];
    assert.ok(rows.every(([, finding]) => findings.includes(finding)));
    const curves = await page.evaluate(() => {
      const { chart, instance } = window.latlas.drawn.get("memory.latency");
      const series = instance.getModel().getSeries().filter((s) => s.subType === "line" && s.name !== "");
      return chart.body.series.map((line, at) => ({ name: line.name, is: line.is, colour: series[at].get(["lineStyle", "color"]) }));
    });
    const theirs = curves.filter((line) => line.is === "reference");
    assert.ok(theirs.length >= 1);
    // In the colour of the same curve of ours.
    for (const line of theirs) {
      assert.equal(line.colour, curves.find((own) => own.is === "measured" && line.name.startsWith(`${own.name}: `)).colour, line.name);
    }
    // The picture says what the table says, row by row.
    const ratios = await page.evaluate(() => window.latlas.drawn.get("comparison").chart.body.rows.map((row) => [row.id, row.reason]));
    assert.equal(ratios.length, rows.length);
    for (const [at, [id, reason]] of ratios.entries()) {
      // The table also names what is compared: p10, or a mode.
      const [of, finding] = rows[at];
      assert.ok(`${of} `.startsWith(`${id} `) && (reason === finding || reason.startsWith(`${finding}:`) || reason.startsWith(`${finding};`)), `${id}: ${reason}, not ${finding}`);
    }
    // Each line of the ladder has the other run's figure.
    const other = await page.evaluate(() => [...document.querySelectorAll("table.ladder td.run")].filter((td) => td.dataset.sort).length);
    assert.ok(other >= 20, `${other} figures`);
  });
});

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
    assert.match(await page.locator(".chart .undrawn").first().innerText(), /figures are below/);
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
      const tries = { fetch: () => fetch("data:text/plain,x"), worker: () => new Worker("data:text/javascript,0") };
      const image = new Promise((resolve) => {
        const i = new Image();
        i.onload = () => resolve("loaded");
        i.onerror = () => resolve("refused");
        i.src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
      });
      const fetched = await tries.fetch().then(() => "fetched", () => "refused");
      return [fetched, await image];
    });
    assert.deepEqual(refused, ["refused", "refused"]);
  }).catch((error) => {
    // The browser says so on the console, which is what was asked for.
    if (!/the page complains/.test(error.message) || !/Content Security Policy/.test(error.message + JSON.stringify(error.actual))) throw error;
  });
});

test("the page of a default run keeps to 1.5 MB", async () => {
  const { size } = statSync(REPORT);
  console.log(`page: ${size} bytes`);
  assert.ok(size <= 1.5e6, `${size} bytes`);
});
