// A picture's data as ECharts wants it: one function for each kind.

const HEIGHTS = {
  lines: () => 400,
  bars: (body) => (body.lying ? 110 + 30 * body.categories.length : 340),
  heat: (body) => Math.min(640, Math.max(260, 130 + 34 * body.y.length)),
  dots: (body) => 96 + 26 * body.rows.length,
};

function height(chart) {
  return HEIGHTS[chart.body.kind](chart.body);
}

function optionOf(chart, look, width) {
  const option = OPTIONS[chart.body.kind](chart.body, look, width);
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { fontFamily: look.font, color: look.soft },
    aria: { enabled: true, label: { description: `${chart.title}. ${chart.caption}` } },
    ...option,
    tooltip: {
      confine: true,
      backgroundColor: look.ground,
      borderColor: look.grid,
      textStyle: { color: look.ink, fontSize: 13 },
      ...option.tooltip,
    },
  };
}

function axisOf(axis, look, more) {
  return {
    type: axis.log ? "log" : axis.quantity === "unix_milliseconds" ? "time" : "value",
    logBase: 10,
    name: axis.label,
    nameLocation: "middle",
    nameTextStyle: { color: look.soft },
    axisLabel: { color: look.soft, hideOverlap: true, formatter: (value) => tick(axis, value) },
    axisLine: { show: true, lineStyle: { color: look.grid } },
    axisTick: { lineStyle: { color: look.grid } },
    splitLine: { lineStyle: { color: look.grid } },
    minorSplitLine: { show: false },
    ...more,
  };
}

// An axis upwards, with its name lying above it, where it is read without
// turning the head, and `above` what stands between.
function upwards(axis, look, above, more) {
  return axisOf(axis, look, { ...named(look, above, "end"), ...more });
}

function named(look, above, location) {
  return { nameLocation: location, nameGap: 9 + above, nameTextStyle: { color: look.soft, align: "left" } };
}

function legendOf(names, look, width) {
  const most = Math.max(20, Math.floor((width - 60) / 7));
  return {
    data: names,
    type: look.narrow ? "scroll" : "plain",
    top: 0,
    left: 0,
    itemWidth: 22,
    itemHeight: 9,
    // A name longer than the picture is cut; the figures below have it whole.
    formatter: (name) => (name.length > most ? `${name.slice(0, most - 1)}…` : name),
    textStyle: { color: look.ink },
    pageTextStyle: { color: look.ink },
    inactiveColor: look.grid,
  };
}

// Room for the legend's lines at this width.
function legendRoom(names, look, width) {
  if (names.length < 2) return 12;
  if (look.narrow) return 34;
  let lines = 1;
  let used = 0;
  for (const name of names) {
    const needs = 44 + 7 * name.length;
    if (used + needs > width && used > 0) {
      lines += 1;
      used = 0;
    }
    used += needs;
  }
  return 14 + 22 * lines;
}

// The least and the most; a call with every value as an argument would have an
// end of its own.
function extent(values) {
  return values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
}

// On a log axis the ends at the nearest 1, 2 or 5 of a decade, so that a curve
// fills its picture; intervals are inside. A whole power of two for bytes.
function ends(axis, values, room = 1.03) {
  const told = values.filter((v) => v != null && isFinite(v) && (!axis.log || v > 0));
  if (told.length === 0 || !axis.log) return {};
  const [low, high] = extent(told);
  if (axis.quantity === "bytes" || (axis.quantity === "count" && high / low <= 512)) {
    const [from, to] = [Math.floor(Math.log2(low)), Math.ceil(Math.log2(high))];
    // A tick every so many doublings, about eight in all.
    // The library sets a tick at each power of the base where there are less than
    // ten of them.
    return { min: 2 ** from, max: 2 ** to, logBase: 2 ** Math.max(1, Math.ceil((to - from) / 9)) };
  }
  const decade = (v) => 10 ** Math.floor(Math.log10(v));
  const down = [5, 2, 1].map((n) => n * decade(low)).find((v) => v <= low * 0.97) ?? decade(low) / 2;
  const up = [1, 2, 5, 10].map((n) => n * decade(high)).find((v) => v >= high * room) ?? decade(high) * 20;
  return { min: down, max: up };
}

// A linear axis that does not begin at 0.
const near = (axis) => !axis.log && !axis.from_zero && axis.quantity !== "unix_milliseconds";

// The ends of such an axis, on numbers that read well: it spans what the figures
// do, and as much again where their intervals reach, but at least 4 %, so that
// nothing does not look like much. What reaches further runs out of the picture.
function endsNear(points, bands) {
  if (points.length === 0) return {};
  const [least, most] = extent(points.map((p) => p.y));
  const reached = points.flatMap((p) => [p.low, p.high]).filter((v) => v >= least - (most - least) && v <= most + (most - least));
  const [low, high] = extent([least, most, ...reached]);
  const margin = Math.max((0.04 * Math.max(Math.abs(low), Math.abs(high)) - (high - low)) / 2, (high - low) * 0.08);
  const span = high - low + 2 * margin;
  if (!(span > 0)) return {};
  const power = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= span / 5) ?? power;
  const above = bands ? span * 0.15 : 0;
  return { min: Math.floor((low - margin) / step) * step, max: Math.ceil((high + margin + above) / step) * step };
}

// Names of times of day say the hour where days don't tell them apart.
function times(axis, values, look) {
  if (axis.quantity !== "unix_milliseconds" || values.length === 0) return {};
  const [low, high] = extent(values);
  // A single time, and marks at the edge, have room.
  const room = Math.max((high - low) * 0.03, 1000);
  // A document may say any number; what is no date is a number.
  const dates = low >= 0 && high <= 8.64e15;
  const days = (high - low) / 86_400_000;
  const [from, to] = days < 4 ? [5, 16] : days < 300 ? [5, 10] : [0, 10];
  return {
    min: low - room,
    max: high + room,
    type: dates ? "time" : "value",
    splitNumber: look.narrow ? 3 : 5,
    axisLabel: { color: look.soft, hideOverlap: true, formatter: (v) => (dates ? text(axis, v).slice(from, to) : text(axis, v)) },
  };
}

const hollow = (verdict) => verdict && verdict !== "ok";

// What a whisker is drawn from: a place, the figure and the ends of its interval.
// An end that the axis has no place for, or that has no bound, is open.
function whiskerOf(axis, at, value, low, high) {
  const placed = (v) => v != null && isFinite(v) && (!axis.log || v > 0);
  const open = [!placed(low), !placed(high)];
  return [at, open[0] ? value : low, open[1] ? value : high, Number(open[0]), Number(open[1])];
}

// Whiskers from low to high: `along` is the axis of the values. Those with an
// open end run to the end of the axis, and have no cap there.
function whiskers(name, data, colour, along, z) {
  return {
    name,
    type: "custom",
    data,
    z,
    silent: true,
    clip: true,
    tooltip: { show: false },
    itemStyle: { color: colour },
    encode: along === "y" ? { x: 0, y: [1, 2] } : { x: [1, 2], y: 0 },
    renderItem: ({ coordSys: box }, api) => {
      const at = api.value(0);
      const [a, b] = [1, 2].map((i) =>
        api.coord(along === "y" ? [at, api.value(i)] : [api.value(i), at]),
      );
      const open = [api.value(3) === 1, api.value(4) === 1];
      if (along === "y") {
        if (open[0]) a[1] = box.y + box.height;
        if (open[1]) b[1] = box.y;
      } else {
        if (open[0]) a[0] = box.x;
        if (open[1]) b[0] = box.x + box.width;
      }
      const cap = along === "y" ? [3, 0] : [0, 3];
      const line = (from, to) => ({
        type: "line",
        shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
        style: { stroke: colour, lineWidth: 1.2 },
      });
      const across = (p) => line([p[0] - cap[0], p[1] - cap[1]], [p[0] + cap[0], p[1] + cap[1]]);
      return { type: "group", children: [line(a, b), ...(open[0] ? [] : [across(a)]), ...(open[1] ? [] : [across(b)])] };
    },
  };
}

// The ends of intervals that an axis makes room for. One that says nothing (it
// spans more than three decades) would press everything else together: it runs
// out of the picture, and its ends are told by the tooltip and the table.
function endsOfInterval(low, high) {
  return low > 0 && high / low < 1e3 ? [low, high] : [];
}

// The place of a curve's colour and mark: of another run's, that of the same
// curve of ours.
function placeOf(series, at) {
  const line = series[at];
  if (line.is !== "reference") return at;
  const ours = series.findIndex((own) => own.is !== "reference" && line.name.startsWith(`${own.name}: `));
  return ours < 0 ? at : ours;
}

// Bands and marks belong into the picture where they are near its points: at
// most a factor of four, or a tenth of the axis, away.
function nearby(axis, points, xs) {
  const [low, high] = extent(points.map((p) => p.x));
  const tenth = (high - low) / 10;
  const [from, to] = axis.log ? [low / 4, high * 4] : [low - tenth, high + tenth];
  return xs.filter((x) => x >= from && x <= to);
}

// Height of the name of a mark, px.
const NAME_OF_MARK = 15;

// Where the names of marks stand: centred, but for those that would reach beyond
// the picture; above each other where they would lie on each other.
function placesOfNames(marks, axis, xs, range, width) {
  const [low, high] = extent(xs);
  // A linear axis without ends of ours begins at 0.
  const [from, to] = [range.min ?? Math.min(0, low), range.max ?? high];
  const scale = axis.log ? Math.log : (v) => v;
  // What stands beside the axis at least.
  const [left, right] = [30, 20];
  const taken = [];
  return marks.map((mark) => {
    const share = (scale(mark.x) - scale(from)) / (scale(to) - scale(from));
    const place = left + share * (width - 3 * left);
    const long = mark.name.length * 7;
    const align = place - long / 2 < left ? "left" : width - right - place < long / 2 ? "right" : "center";
    const begins = place - { left: 0, center: long / 2, right: long }[align];
    let row = taken.findIndex((names) => names.every(([first, last]) => begins > last || begins + long < first));
    if (row < 0) row = taken.push([]) - 1;
    taken[row].push([begins, begins + long]);
    return { align, row };
  });
}

function lines(body, look, width) {
  const names = body.series.map((line) => line.name);
  const samples = body.series.some((line) => !line.joined);
  const series = [];
  body.series.forEach((line, at) => {
    const same = placeOf(body.series, at);
    const colour = body.series[same].is === "ideal" ? look.soft : look.lines[same % look.lines.length];
    const many = line.points.length > 120;
    // What is not above 0 has no place on a logarithmic axis; a note says so.
    const placed = line.points.filter((p) => (!body.y.log || p.y > 0) && (!body.x.log || p.x > 0));
    const data = placed.map((point) => ({
      value: [point.x, point.y],
      point,
      itemStyle: hollow(point.verdict) ? { color: look.ground, borderColor: colour, borderWidth: 1.5 } : undefined,
    }));
    series.push({
      name: line.name,
      type: line.joined ? "line" : "scatter",
      data,
      symbol: line.is === "ideal" ? "none" : SYMBOLS[same % SYMBOLS.length],
      symbolSize: many ? 4 : 7,
      showAllSymbol: true,
      itemStyle: { color: colour, opacity: line.joined ? 1 : 0.55 },
      lineStyle: {
        color: colour,
        width: line.is === "measured" ? 2 : 1.5,
        type: { measured: "solid", reference: "dashed", ideal: "dotted" }[line.is],
      },
      emphasis: { scale: 1.6 },
      z: line.is === "measured" ? 4 : 3,
    });
    const told = placed.filter((p) => p.low != null || p.high != null);
    if (told.length > 0) {
      series.push(whiskers(line.name, told.map((p) => whiskerOf(body.y, p.x, p.y, p.low, p.high)), colour, "y", 2));
    }
  });
  const all = body.series.flatMap((line) => line.points);
  const beside = [...body.bands.flatMap((b) => [b.from, b.to]), ...body.marks.map((m) => m.x)];
  const xs = [...all.map((p) => p.x), ...nearby(body.x, all, beside)];
  const range = { ...ends(body.x, xs), ...times(body.x, xs, look) };
  const stand = placesOfNames(body.marks, body.x, xs, range, width);
  // The names of marks stand on top of the picture.
  const above = NAME_OF_MARK * Math.max(0, ...stand.map(({ row }) => row + 1));
  // On a series of their own, so that hiding a curve hides none of them.
  const ground = { name: "", type: "line", data: [], silent: true, tooltip: { show: false }, z: 1 };
  ground.markArea = {
    silent: true,
    // A linear axis that begins at 0 has no curve there.
    label: { position: body.y.log || near(body.y) ? "insideTop" : "insideBottom", color: look.ink, fontSize: 12 },
    data: body.bands.map((band, at) => [
      { name: band.name, xAxis: band.from, itemStyle: { color: look.band, opacity: at % 2 ? 0.55 : 1 } },
      { xAxis: band.to },
    ]),
  };
  ground.markLine = {
    silent: true,
    symbol: "none",
    lineStyle: { color: look.soft, type: "dashed", width: 1 },
    label: { position: "end", color: look.soft, fontSize: 11, distance: 3 },
    data: body.marks.map((mark, at) => ({
      name: mark.name,
      xAxis: mark.x,
      label: {
        formatter: mark.name.replace(/[{}]/g, ""),
        align: stand[at].align,
        offset: [0, -NAME_OF_MARK * stand[at].row],
      },
    })),
  };
  series.push(ground);
  const ys = all.flatMap((p) => [p.y, ...endsOfInterval(p.low, p.high)]);
  const said = (params) => {
    const point = params.data.point;
    const figure = figureText(body.y, point.y, point.low, point.high, point.verdict);
    return `${params.marker}${escaped(params.seriesName)}: <b>${escaped(figure)}</b>`;
  };
  const at = (x) => `${escaped(body.x.label)} ${escaped(text(body.x, x))}`;
  return {
    color: look.lines,
    legend: names.length > 1 ? legendOf(names, look, width) : undefined,
    grid: {
      left: 4,
      right: 28,
      top: legendRoom(names, look, width) + 22 + above,
      bottom: 34,
      containLabel: true,
    },
    xAxis: axisOf(body.x, look, { nameGap: 32, splitLine: { show: false }, ...range }),
    yAxis: upwards(body.y, look, above, {
      minorTick: { show: body.y.log },
      // Names of bands stand above the curves.
      ...(near(body.y) ? endsNear(all, body.bands.length > 0) : ends(body.y, ys, body.bands.length > 0 ? 1.6 : 1.03)),
    }),
    series,
    tooltip: {
      trigger: samples ? "item" : "axis",
      axisPointer: { type: "line", lineStyle: { color: look.soft } },
      formatter: (params) => {
        const all = [params].flat().filter((p) => p.data && p.data.point);
        if (all.length === 0) return "";
        return [at(all[0].data.point.x), ...all.map(said)].join("<br>");
      },
    },
  };
}

function bars(body, look, width) {
  const names = body.parts.map((part) => part.name);
  const category = {
    type: "category",
    data: body.categories,
    name: body.lying ? "" : body.label,
    nameLocation: "middle",
    nameGap: 34,
    nameTextStyle: { color: look.soft },
    inverse: body.lying,
    axisLabel: { color: look.ink, hideOverlap: !body.lying },
    axisLine: { lineStyle: { color: look.grid } },
    axisTick: { show: false },
  };
  const inside = ends(body.value, body.parts.flatMap((part) => part.values));
  const value = body.lying
    ? axisOf(body.value, look, { nameGap: 30, ...inside })
    : upwards(body.value, look, 0, inside);
  return {
    color: look.lines,
    legend: names.length > 1 ? legendOf(names, look, width) : undefined,
    grid: { left: 4, right: 28, top: legendRoom(names, look, width) + (body.lying ? 6 : 22), bottom: 34, containLabel: true },
    xAxis: body.lying ? value : category,
    yAxis: body.lying ? category : value,
    series: body.parts.map((part, at) => ({
      name: part.name,
      type: "bar",
      stack: body.parts.length > 1 ? "all" : undefined,
      // After each other, also where a part is less than 0: the library's usual
      // way is a stack above 0 and another one below.
      stackStrategy: "all",
      data: part.values.map((v) => (v == null ? "-" : v)),
      itemStyle: { color: look.lines[at % look.lines.length], borderColor: look.ground, borderWidth: 0.5 },
      barMaxWidth: 34,
    })),
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (params) => {
        const lines = params
          .filter((p) => p.value !== "-" && p.value != null)
          .map((p) => `${p.marker}${escaped(p.seriesName)}: <b>${escaped(text(body.value, p.value))}</b>`);
        return [`${escaped(body.label)} ${escaped(params[0].name)}`, ...lines].join("<br>");
      },
    },
  };
}

function heat(body, look, width) {
  const shade = (v) => (body.value.log ? Math.log10(v) : v);
  const placed = (cell) => !body.value.log || cell.value > 0;
  const cells = body.cells.filter(placed);
  const uncoloured = body.cells.filter((cell) => !placed(cell));
  const figure = (p) => text(body.value, p.data.cell.value).replace(/[{}]/g, "");
  const values = cells.map((cell) => cell.value);
  const [least, most] = values.length > 0 ? extent(values) : [1, 1];
  const [from, to] = [shade(least), shade(most)];
  const widest = extent([0, ...cells.map((cell) => text(body.value, cell.value).length)])[1];
  const few = (width - 90) / body.x.length > 7 * widest;
  const category = (names, name, more) => ({
    type: "category",
    data: names,
    name,
    nameLocation: "middle",
    nameTextStyle: { color: look.soft },
    axisLabel: { color: look.soft },
    axisLine: { show: false },
    axisTick: { show: false },
    splitArea: { show: false },
    ...more,
  });
  return {
    grid: { left: 4, right: 12, top: 28, bottom: 92, containLabel: true },
    xAxis: category(body.x, body.x_label, { nameGap: 26 }),
    yAxis: category(body.y, body.y_label, { ...named(look, 0, "start"), inverse: true }),
    visualMap: {
      type: "continuous",
      dimension: 2,
      seriesIndex: 0,
      min: from,
      max: to > from ? to : from + 1e-9,
      calculable: false,
      orient: "horizontal",
      left: "center",
      bottom: 0,
      itemHeight: 150,
      itemWidth: 12,
      text: values.length > 0 ? [text(body.value, most), text(body.value, least)] : undefined,
      formatter: (v) => text(body.value, body.value.log ? 10 ** v : v),
      inRange: { color: look.heat },
      textStyle: { color: look.ink },
    },
    series: [
      {
        type: "heatmap",
        data: cells.map((cell) => ({
          value: [cell.x, cell.y, shade(cell.value)],
          cell,
          itemStyle: { borderColor: hollow(cell.verdict) ? look.ink : look.ground, borderType: hollow(cell.verdict) ? "dashed" : "solid", borderWidth: 1.5 },
        })),
        label: {
          show: few,
          fontSize: 12,
          color: "#fff",
          textBorderColor: "rgba(0,0,0,.75)",
          textBorderWidth: 2.5,
          formatter: figure,
        },
      },
      // What a logarithmic scale has no colour for stands there as a number.
      {
        name: "",
        type: "scatter",
        data: uncoloured.map((cell) => ({ value: [cell.x, cell.y], cell })),
        symbolSize: 16,
        itemStyle: { color: "transparent" },
        label: { show: true, fontSize: 12, color: look.soft, formatter: figure },
      },
    ],
    tooltip: {
      formatter: (p) => {
        const { x, y, value, low, high, verdict } = p.data.cell;
        const at = `${escaped(body.y_label)} ${escaped(body.y[y])}, ${escaped(body.x_label)} ${escaped(body.x[x])}`;
        return `${at}<br><b>${escaped(figureText(body.value, value, low, high, verdict))}</b>`;
      },
    },
  };
}

function dots(body, look, width) {
  const rows = body.rows;
  const names = [...new Set(rows.flatMap((row) => row.others.map((other) => other.name)))];
  const drawn = (v) => v != null && (!body.value.log || v > 0);
  const mine = look.lines[0];
  const series = [
    {
      name: "this run",
      type: "scatter",
      symbolSize: 10,
      z: 5,
      itemStyle: { color: mine },
      data: rows.flatMap((row, at) =>
        drawn(row.value)
          ? [{
              value: [row.value, at],
              row,
              itemStyle: hollow(row.verdict) ? { color: look.ground, borderColor: mine, borderWidth: 2 } : undefined,
            }]
          : [],
      ),
    },
    whiskers(
      "this run",
      rows.flatMap((row, at) =>
        drawn(row.value) && (row.low != null || row.high != null)
          ? [whiskerOf(body.value, at, row.value, row.low, row.high)]
          : [],
      ),
      mine,
      "x",
      4,
    ),
    ...names.map((name, i) => ({
      name,
      type: "scatter",
      symbol: SYMBOLS[(i + 1) % SYMBOLS.length],
      symbolSize: 8,
      z: 3,
      itemStyle: { color: look.lines[(i + 1) % look.lines.length], opacity: 0.9 },
      data: rows.flatMap((row, at) =>
        row.others.filter((o) => o.name === name && drawn(o.value)).map((other) => ({ value: [other.value, at], row, other })),
      ),
    })),
  ];
  const values = rows.flatMap((row) => [
    row.value,
    ...endsOfInterval(row.low, row.high),
    ...row.others.map((o) => o.value),
  ]);
  const all = ["this run", ...names];
  const top = legendRoom(all, look, width);
  const marks = body.value.quantity === "ratio" ? [{ xAxis: 1 }] : [];
  series[0].markLine = { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: look.soft, type: "solid", width: 1 }, data: marks };
  return {
    color: look.lines,
    legend: names.length > 0 ? legendOf(all, look, width) : undefined,
    grid: { left: 8, right: 24, top: (names.length > 0 ? top : 12) + 6, bottom: 34, containLabel: true },
    xAxis: axisOf(body.value, look, { nameGap: 30, scale: true, ...ends(body.value, values) }),
    yAxis: {
      type: "category",
      data: rows.map((row) => row.id),
      inverse: true,
      axisLabel: { color: look.ink, interval: 0, width: look.narrow ? 130 : 320, overflow: "truncate" },
      axisLine: { show: false },
      axisTick: { show: false },
      splitLine: { show: true, lineStyle: { color: look.grid, type: "dotted" } },
    },
    series,
    tooltip: {
      formatter: (p) => {
        if (!p.data || !p.data.row) return "";
        const { row, other } = p.data;
        const said = other
          ? `${escaped(other.name)}: <b>${escaped(text(body.value, other.value))}</b>`
          : `<b>${escaped(figureText(body.value, row.value, row.low, row.high, row.verdict))}</b>${row.reason ? "<br>" + escaped(row.reason) : ""}`;
        return `${escaped(row.id)}<br>${said}`;
      },
    },
  };
}

const OPTIONS = { lines, bars, heat, dots };

