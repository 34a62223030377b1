// The page: its theme, its table, and its pictures once the drawing library is
// unpacked.

const root = document.documentElement;
// Pictures that stand on the page, and those that wait until they come near the
// view.
const drawn = new Map();
const waiting = new Map();
let ready;
// For tests and the curious: `ready` once the page can draw, `all` draws what
// still waits.
window.latlas = { drawn, all, ready: new Promise((resolve) => (ready = resolve)) };

function theme() {
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  function apply() {
    const dark = chosen ?? system.matches;
    root.dataset.theme = dark ? "dark" : "light";
    if (button) {
      button.hidden = false;
      button.setAttribute("aria-pressed", String(dark));
    }
    redraw();
  }
  system.addEventListener("change", apply);
  button?.addEventListener("click", () => {
    chosen = root.dataset.theme !== "dark";
    apply();
  });
  apply();
  // On paper everything is dark on light, whatever the screen shows.
  window.addEventListener("beforeprint", () => {
    all();
    root.dataset.theme = "light";
    for (const { place, instance } of drawn.values()) {
      place.style.width = "680px";
      instance.resize({ width: 680 });
    }
    redraw();
  });
  window.addEventListener("afterprint", () => {
    for (const { place, instance } of drawn.values()) {
      place.style.width = "";
      instance.resize({ width: "auto" });
    }
    apply();
  });
}

function redraw() {
  const colours = look();
  for (const { chart, place, instance } of [...drawn.values()]) {
    tried(place, () => instance.setOption(optionOf(chart, colours, place.clientWidth), { notMerge: true }));
  }
}

function draw(place) {
  const chart = waiting.get(place);
  if (!chart) return;
  waiting.delete(place);
  tried(place, () => {
    place.textContent = "";
    // A picture has a name for readers of screens, and no parts.
    place.setAttribute("role", "img");
    const instance = echarts.init(place, null, { renderer: "svg" });
    drawn.set(chart.id, { chart, place, instance });
    instance.setOption(optionOf(chart, look(), place.clientWidth));
  });
}

function all() {
  for (const place of [...waiting.keys()]) draw(place);
}

// One picture that fails leaves the others alone, and says so in its place.
function tried(place, step) {
  try {
    step();
  } catch (error) {
    drawn.get(place.dataset.chart)?.instance.dispose();
    drawn.delete(place.dataset.chart);
    place.removeAttribute("role");
    place.removeAttribute("aria-label");
    place.style.height = "";
    const why = document.createElement("p");
    why.className = "undrawn";
    why.textContent = `This picture could not be drawn (${error.message}). The figures are below as text.`;
    place.replaceChildren(why);
  }
}

// The script as text: base64 of gzip. The page's policy names it by its hash,
// so that nothing else could be run in its place.
async function unpacked(element) {
  const packed = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function undrawn(why) {
  for (const place of document.querySelectorAll(".chart .undrawn")) {
    place.parentElement.style.height = "";
    place.textContent = `${why} The figures are below as text.`;
  }
}

async function pictures() {
  const places = [...document.querySelectorAll(".chart[data-chart]")];
  if (places.length === 0) return;
  if (!("DecompressionStream" in window)) {
    undrawn("This browser can't unpack the drawing library (it lacks DecompressionStream).");
    return;
  }
  const data = JSON.parse(document.getElementById("latlas-data").textContent);
  const charts = new Map(data.charts.map((chart) => [chart.id, chart]));
  // All have their height from the start: nothing moves while one scrolls.
  for (const place of places) {
    const chart = charts.get(place.dataset.chart);
    if (chart) place.style.height = `${height(chart)}px`;
  }
  const script = document.createElement("script");
  script.textContent = await unpacked(document.getElementById("latlas-echarts"));
  document.head.append(script);
  if (!window.echarts) {
    undrawn("The drawing library did not start.");
    return;
  }
  for (const place of places) {
    const chart = charts.get(place.dataset.chart);
    if (chart) waiting.set(place, chart);
  }
  // Those that come near the view; without a way to know, all.
  if ("IntersectionObserver" in window) {
    const near = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          near.unobserve(target);
          draw(target);
        }
      },
      { rootMargin: "600px 0px" },
    );
    for (const place of waiting.keys()) near.observe(place);
  } else {
    all();
  }
  let later;
  window.addEventListener("resize", () => {
    clearTimeout(later);
    later = setTimeout(() => {
      for (const { instance } of drawn.values()) instance.resize();
      redraw();
    }, 100);
  });
}

// A link to a folded part opens it.
function unfold() {
  let name;
  try {
    name = decodeURIComponent(location.hash.slice(1));
  } catch {
    // A hash that is no text leads nowhere.
    return;
  }
  const target = name && document.getElementById(name);
  if (target && target.tagName === "DETAILS") target.open = true;
}

theme();
ladder();
window.addEventListener("hashchange", unfold);
unfold();
pictures().then(
  () => ready(),
  (error) => {
    undrawn(`The pictures could not be drawn (${error.message}).`);
    ready();
  },
);
