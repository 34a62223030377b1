// Colours: those of Okabe and Ito (Color Universal Design, 2008), which people
// with any colour vision tell apart; lighter ones on a dark ground. The page's
// own come from its style sheet.

const LINES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#2f8fc4", "#5c5c5c"],
  dark: ["#56b4e9", "#f0894a", "#2fc49a", "#e09ac2", "#e6b450", "#9ad0f0", "#b5b5b5"],
};
const SYMBOLS = ["circle", "rect", "triangle", "diamond"];
// From little to much; perceptually even (viridis, Smith and van der Walt 2015),
// without its darkest end in the dark.
const HEAT = {
  light: ["#fde725", "#7ad151", "#22a884", "#2a788e", "#414487", "#440154"],
  dark: ["#3b528b", "#2c728e", "#21918c", "#28ae80", "#7ad151", "#fde725"],
};

function look() {
  const dark = document.documentElement.dataset.theme === "dark";
  const css = getComputedStyle(document.documentElement);
  const of = (name) => css.getPropertyValue(name).trim();
  return {
    lines: dark ? LINES.dark : LINES.light,
    heat: dark ? HEAT.dark : HEAT.light,
    ink: of("--ink"),
    soft: of("--soft"),
    grid: of("--grid"),
    ground: of("--card"),
    band: of("--band"),
    font: of("--font"),
    narrow: window.matchMedia("(max-width: 640px)").matches,
  };
}

