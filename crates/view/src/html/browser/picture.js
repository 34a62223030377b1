// Pictures: pointing at a figure, zooming, hiding curves. A mark names its row of
// the picture's table (data-n), so that every text shown here is the page's own.

const textsOf = (row) => [...row.cells].map((cell) => cell.textContent);
const centre = ({ left, right }) => (left + right) / 2;
// checkVisibility() does not look at groups of an SVG that are hidden.
const isSeen = (element) => element.getClientRects().length > 0 && element.getBoundingClientRect().width > 0;

// What the rows of the marks say: where they are, then a line for each figure.
function linesOf(figure, marks) {
  const table = figure.querySelector(".figures-of table");
  const head = textsOf(table.tHead.rows[0]);
  const rows = [...new Set(marks.map((mark) => mark.dataset.n))].map((n) => textsOf(table.tBodies[0].rows[n]));
  const named = (text, at) => (head[at] === "95 % interval" ? `${head[at]} ${text}` : text);
  const figures = (cells) => cells.map((text, at) => (at > 1 && text ? named(text, at) : "")).filter(Boolean).join(", ");
  const [first] = rows;
  if (figure.matches(".lines")) return [`${head[1]} ${first[1]}`, ...rows.map((cells) => `${cells[0]}: ${figures(cells)}`)];
  if (figure.matches(".heat")) return [`${head[0]} ${first[0]}, ${head[1]} ${first[1]}`, figures(first)];
  return [`${head[0]} ${first[0]}`, ...first.slice(1).map((text, at) => text && `${head[at + 1]}: ${text}`).filter(Boolean)];
}

function picture(figure) {
  const chart = figure.querySelector(".chart");
  const svgs = [...chart.querySelectorAll("svg")];
  const reset = figure.querySelector(".reset");
  const shown = () => svgs.find(isSeen);
  const canZoom = svgs[0].dataset.x !== undefined;
  // The axis's ends in an svg's own units, and the share of it that is seen.
  const endsOf = (svg) => svg.dataset.x.split(" ").map(Number);
  let view = [0, 1];
  // Where the button went down, whether the axis moves with it, and what marks the
  // stretch from there.
  let start = null;
  let isPanning = false;
  const brush = Object.assign(document.createElement("div"), { className: "brush", hidden: true });
  chart.append(brush);

  // Marks that are seen with their places on the screen.
  let places = null;
  let current = null;
  function placesNow() {
    places ??= [...shown().querySelectorAll("[data-n], [data-tip]")].filter(isSeen).map((mark) => ({ mark, box: mark.getBoundingClientRect() }));
    return places;
  }
  function forget() {
    places = null;
    show(null);
  }
  function show(place) {
    current?.mark.classList.remove("at");
    current = place;
    tip.hidden = !place;
    if (!place) return;
    const { mark, box } = place;
    mark.classList.add("at");
    // Of curves all that have a figure at this x.
    const isThere = (other) => other.mark.dataset.n && Math.abs(centre(other.box) - centre(box)) < 0.7;
    const marks = figure.matches(".lines") ? placesNow().filter(isThere).map((other) => other.mark) : [];
    const lines = mark.dataset.tip?.split("\n") ?? linesOf(figure, [mark, ...marks]);
    tip.replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
    const below = box.bottom + 10 + tip.offsetHeight <= innerHeight;
    tip.style.left = `${clamp(centre(box) + 12, 8, root.clientWidth - tip.offsetWidth - 8) + scrollX}px`;
    tip.style.top = `${(below ? box.bottom + 10 : Math.max(8, box.top - tip.offsetHeight - 10)) + scrollY}px`;
  }
  function nearest({ clientX, clientY }) {
    const beyond = (at, from, to) => Math.max(from - at, 0, at - to);
    let best = { away: 40, place: null };
    for (const place of placesNow()) {
      const { left, right, top, bottom } = place.box;
      const away = Math.hypot(beyond(clientX, left, right), beyond(clientY, top, bottom));
      if (away < best.away) best = { away, place };
    }
    return best.place;
  }

  // A place on the screen as a share of the part of the axis that is seen.
  function shareAt(clientX) {
    const svg = shown();
    const [left, right] = endsOf(svg);
    return (new DOMPoint(clientX, 0).matrixTransform(svg.getScreenCTM().inverse()).x - left) / (right - left);
  }
  function zoom(low, high) {
    [low, high] = [Math.max(0, low), Math.min(1, high)];
    if (high - low < 0.001) return;
    view = [low, high];
    reset.hidden = high - low === 1;
    for (const svg of svgs) {
      const [left, right] = endsOf(svg);
      const to = (x) => left + (x - left - low * (right - left)) / (high - low);
      for (const element of svg.querySelectorAll(".move :not(g)")) move(element, to, left, right);
      numbers(svg, to, left, right, reset.hidden);
      cut(svg, left, right, reset.hidden);
    }
    forget();
  }
  // Part of what is seen, by its shares.
  const zoomTo = (a, b) => zoom(...[a, b].map((share) => view[0] + share * (view[1] - view[0])));
  const zoomAt = (share, factor) => zoomTo(share - share * factor, share + (1 - share) * factor);
  const all = () => canZoom && zoom(0, 1);
  // As much of the axis as before, further right or left.
  function pan(by) {
    const step = clamp(by * (view[1] - view[0]), -view[0], 1 - view[1]);
    zoom(view[0] + step, view[1] + step);
  }

  chart.addEventListener("pointerdown", (event) => {
    const share = canZoom && event.button === 0 ? shareAt(event.clientX) : -1;
    if (share < 0 || share > 1) return;
    start = event.clientX;
    isPanning = event.shiftKey && !reset.hidden;
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointermove", (event) => {
    if (start === null) return show(nearest(event));
    if (isPanning) {
      pan(shareAt(start) - shareAt(event.clientX));
      start = event.clientX;
      return;
    }
    brush.hidden &&= Math.abs(event.clientX - start) < 6;
    const left = chart.getBoundingClientRect().left;
    brush.style.left = `${Math.min(start, event.clientX) - left}px`;
    brush.style.width = `${Math.abs(event.clientX - start)}px`;
    show(null);
  });
  chart.addEventListener("pointerup", (event) => {
    if (!brush.hidden) zoomTo(...[start, event.clientX].map((x) => clamp(shareAt(x), 0, 1)).sort((a, b) => a - b));
  });
  chart.addEventListener("lostpointercapture", () => {
    start = null;
    brush.hidden = true;
  });
  chart.addEventListener("pointerenter", forget);
  for (const name of ["pointerleave", "blur"]) chart.addEventListener(name, () => show(null));
  chart.addEventListener("dblclick", all);
  function wheel(event) {
    const isSideways = !reset.hidden && Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!canZoom || !(event.ctrlKey || isSideways)) return;
    event.preventDefault();
    if (event.ctrlKey) zoomAt(shareAt(event.clientX), event.deltaY < 0 ? 0.8 : 1.25);
    else pan(event.deltaX / chart.clientWidth);
  }
  chart.addEventListener("wheel", wheel, { passive: false });
  reset.addEventListener("click", () => {
    all();
    chart.focus();
  });
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const factor = canZoom && { "+": 0.67, "=": 0.67, "-": 1.5 }[event.key];
    if (step && event.shiftKey && canZoom) {
      pan(step / 5);
    } else if (step) {
      places = null;
      const at = placesNow().findIndex(({ mark }) => mark === current?.mark);
      show(placesNow()[at < 0 && step < 0 ? places.length - 1 : at + step] ?? current);
    } else if (factor) {
      zoomAt(current ? shareAt(centre(current.box)) : 0.5, factor);
    } else if (event.key === "Escape") {
      all();
      forget();
    } else return;
    event.preventDefault();
  });
  for (const button of figure.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const isOff = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!isOff));
      for (const part of chart.querySelectorAll(`[data-s="${button.dataset.s}"]`)) part.classList.toggle("off", isOff);
      forget();
    });
  }
}

// Moves an element along the axis, from where it was drawn.
function move(element, to, left, right) {
  const number = (name) => Number(element.getAttribute(name));
  const set = (name, value) => element.setAttribute(name, value);
  if (element.tagName === "polyline") {
    element.drawn ??= element.getAttribute("points").split(" ").map((point) => point.split(","));
    set("points", element.drawn.map(([x, y]) => `${to(Number(x)).toFixed(1)},${y}`).join(" "));
  } else if (element.tagName === "rect") {
    element.drawn ??= [number("x"), number("x") + number("width")];
    const [from, end] = element.drawn.map((x) => clamp(to(x), left, right));
    set("x", from);
    set("width", end - from);
  } else {
    const { x, width } = element.getBBox();
    const at = (element.drawn ??= x + width / 2);
    set("transform", `translate(${(to(at) - at).toFixed(2)} 0)`);
    element.classList.toggle("out", to(at) < left - 1 || to(at) > right + 1);
  }
}

// Curves end where the axis ends; of the whole, marks at its ends have the room that they need.
function cut(svg, left, right, isWhole) {
  for (const edge of svg.querySelectorAll("clipPath rect")) {
    edge.drawn ??= { x: edge.getAttribute("x"), width: edge.getAttribute("width") };
    withAttributes(edge, isWhole ? edge.drawn : { x: left, width: right - left });
  }
}

// The axis's numbers: of the levels that the page has, the closest that fits.
function numbers(svg, to, left, right, isWhole) {
  const group = svg.querySelector(".ticks");
  group.drawn ??= [...group.children];
  if (isWhole) return group.replaceChildren(...group.drawn);
  const tickOf = (text) => [to(Number.parseFloat(text)), text.slice(text.indexOf(" ") + 1)];
  const inside = (level) => level.split("|").map(tickOf).filter(([x]) => x >= left && x <= right);
  const fits = (level) => level.every(([x, label], at) => at === 0 || x - level[at - 1][0] > 7 * label.length + 8);
  const level = svg.dataset.ticks.split("||").map(inside).findLast(fits) ?? [];
  const [rule, name] = ["line", "text"].map((kind) => group.drawn.map((drawn) => (drawn.matches(kind) ? drawn : drawn.querySelector(kind))).find(Boolean));
  const rules = level.map(([x]) => withAttributes(rule.cloneNode(), { x1: x, x2: x }));
  const names = level.map(([x, label]) => {
    const made = withAttributes(name.cloneNode(), { x });
    made.textContent = label;
    return made;
  });
  // What they have in common may stand in a group around them.
  const around = (drawn, all) => {
    const group = drawn.parentNode;
    if (!group?.matches("g:not(.ticks)")) return all;
    const own = group.cloneNode();
    own.append(...all);
    return [own];
  };
  group.replaceChildren(...around(rule, rules), ...around(name, names));
}

function withAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

document.querySelectorAll("figure.picture").forEach(picture);
