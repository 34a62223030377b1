// Pictures to take along: as SVG and PNG what is seen, with its title and its key; as
// CSV its figures. They go to the clipboard, or, where there is none, to a file.

const NS = "http://www.w3.org/2000/svg";
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order"];
const KINDS = { svg: "image/svg+xml", png: "image/png", csv: "text/csv" };

// A copy of an element that looks the same without the page's style.
function alone(element) {
  const copy = element.cloneNode(false);
  if (element.nodeType !== Node.ELEMENT_NODE) return copy;
  const style = getComputedStyle(element);
  if (style.display === "none") return document.createTextNode("");
  for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name));
  for (const name of ["class", "style"]) copy.removeAttribute(name);
  copy.append(...[...element.childNodes].map(alone));
  return copy;
}

function element(name, attributes, text = "") {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// The picture as a document of its own, with sizes in px as on the screen.
function drawingOf(figure) {
  const svg = [...figure.querySelectorAll(".chart svg")].find(isSeen);
  const frame = svg.getBoundingClientRect();
  const heading = figure.querySelector("h3");
  const keys = [...figure.querySelectorAll('.legend button[aria-pressed="true"]')];
  const [pad, above] = [12, 34];
  const { color, fontFamily } = getComputedStyle(figure);
  const { top } = figure.querySelector(".legend")?.getBoundingClientRect() ?? frame;
  const shift = above - top;
  const [width, height] = [frame.width + 2 * pad, frame.bottom + shift + 28].map(Math.ceil);
  const all = element("svg", { xmlns: NS, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": fontFamily, fill: color });
  const text = (x, y, size, words, weight = 400) => all.append(element("text", { x, y, "font-size": size, "font-weight": weight }, words));
  const place = (part, rect) => {
    const { width, height, left, top } = rect;
    const copy = alone(part);
    for (const [key, value] of Object.entries({ x: left - frame.left + pad, y: top + shift, width, height })) copy.setAttribute(key, value);
    all.append(copy);
  };
  all.append(element("rect", { width: "100%", height: "100%", fill: getComputedStyle(figure).backgroundColor }));
  text(pad, 22, 16, heading.dataset.title, 600);
  for (const key of keys) {
    const sample = key.querySelector("svg");
    const rect = sample.getBoundingClientRect();
    place(sample, rect);
    text(rect.right - frame.left + pad + 4, rect.bottom + shift - 3, 12, key.textContent.trim());
  }
  place(svg, frame);
  text(pad, height - 10, 11, document.querySelector("main").dataset.source ?? document.title);
  return { text: new XMLSerializer().serializeToString(all), width, height };
}

async function painted({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, KINDS.png));
}

// The figures: ~ stands for the first field of the line above.
function wholeCsv(short) {
  let first = "";
  const whole = (line) => {
    if (line.startsWith("~,")) return first + line.slice(1);
    [first] = line.match(/^(?:"(?:[^"]|"")*"|[^,]*)/);
    return line;
  };
  return short.split("\n").map(whole).join("\n");
}

// The picture's content, and what the clipboard knows it as.
function contentOf(figure, kind) {
  if (kind === "png") return [painted(drawingOf(figure)), KINDS.png];
  const text = kind === "csv" ? wholeCsv(figure.dataset.csv) : drawingOf(figure).text;
  return [Promise.resolve(new Blob([text], { type: "text/plain" })), "text/plain"];
}

// Gives it to the clipboard, or, where there is none, to a file of that name.
async function offer(button, content, type, download) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ [type]: content })]);
    say(button, "copied");
  } catch {
    const file = new Blob([await content], { type: KINDS[download.split(".").pop()] ?? type });
    const href = URL.createObjectURL(file);
    Object.assign(document.createElement("a"), { href, download }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    say(button, `saved as ${download}`);
  }
}

async function copy(figure, button) {
  const kind = button.dataset.as;
  const [content, type] = contentOf(figure, kind);
  await offer(button, content, type, `${figure.id.slice(2)}.${kind}`);
}

for (const figure of document.querySelectorAll("figure.picture")) {
  const buttons = figure.querySelector(".copy");
  buttons.hidden = false;
  for (const button of buttons.querySelectorAll("button")) button.addEventListener("click", () => copy(figure, button));
}
