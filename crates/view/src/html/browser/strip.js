// Strips of dots: pointing at a dot names what it is of, a click leads there.

// Where each dot lies, in thousandths of the width and twentieths of the height.
function dotsOf(svg) {
  let [x, y] = [0, 0];
  return (svg.dots ??= [...svg.querySelector("path").getAttribute("d").matchAll(/m(-?\d+) (-?\d+)h0/g)].map(([, right, down]) => {
    [x, y] = [x + Number(right), y + Number(down)];
    return { x: x / 1000, y: y / 20 };
  }));
}

// The dots in the place nearest to the pointer: several may lie on each other.
function dotsAt(svg, { clientX, clientY }) {
  const { left, top, width, height } = svg.getBoundingClientRect();
  const away = ({ x, y }) => Math.hypot(left + x * width - clientX, top + y * height - clientY);
  const dots = dotsOf(svg);
  const nearest = Math.min(...dots.map(away));
  if (nearest > 14) return [];
  const { x, y } = dots.find((dot) => away(dot) === nearest);
  return [...dots.keys()].filter((at) => dots[at].x === x && dots[at].y === y);
}

const MOST_NAMED = 8;

function strip(svg) {
  const to = svg.dataset.of.split(" ").map((name) => svg.dataset.to + name);
  const figures = svg.dataset.figures.split("|");
  const text = (at) => {
    const name = document.getElementById(to[at])?.querySelector("th").firstChild.textContent ?? to[at];
    return `${name}: ${figures[at]}${svg.dataset.unit ? ` ${svg.dataset.unit}` : ""}`;
  };
  svg.addEventListener("pointermove", (event) => {
    const at = dotsAt(svg, event);
    tip.hidden = at.length === 0;
    svg.style.cursor = at.length ? "pointer" : "";
    const more = at.length > MOST_NAMED ? [`and ${at.length - MOST_NAMED} more`] : [];
    const lines = [...at.slice(0, MOST_NAMED).map(text), ...more];
    tip.replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
    const box = svg.getBoundingClientRect();
    const below = box.bottom + 6 + tip.offsetHeight <= innerHeight;
    tip.style.left = `${clamp(event.clientX + 12, 8, root.clientWidth - tip.offsetWidth - 8) + scrollX}px`;
    tip.style.top = `${(below ? box.bottom + 6 : box.top - tip.offsetHeight - 6) + scrollY}px`;
  });
  svg.addEventListener("pointerleave", () => (tip.hidden = true));
  svg.addEventListener("click", (event) => {
    const [first] = dotsAt(svg, event);
    if (first !== undefined) location.hash = to[first];
  });
}

document.querySelectorAll(".strip[data-of]").forEach(strip);
