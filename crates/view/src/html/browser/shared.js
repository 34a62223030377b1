// What every page of ours has: a box for what is pointed at, and light or dark.

const root = document.documentElement;
const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
tip.setAttribute("role", "status");
document.body.append(tip);

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// Light or dark is the system's choice, until the button is pressed.
function theme() {
  const button = document.getElementById("theme");
  if (!button) return;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  system.addEventListener("change", show);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  button.hidden = false;
  show();
}
theme();
