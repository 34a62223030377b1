// Loads the trace and draws it; again when its size or its colours change.

async function begin() {
  try {
    place(lanesOf(reader(await unpacked())));
  } catch (error) {
    status.textContent = `The timeline can't be drawn: ${error.message}`;
    return;
  }
  settle();
  box.style.height = `min(${height + 2}px, 78vh)`;
  recolour();
  draw();
  box.dataset.drawn = performance.now().toFixed(0);
}

new ResizeObserver(redraw).observe(box);
new MutationObserver(() => {
  recolour();
  redraw();
}).observe(root, { attributeFilter: ["data-theme"] });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  recolour();
  redraw();
});
begin();
