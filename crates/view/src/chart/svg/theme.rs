//! Colours: the hues of Okabe and Ito (2008), which people who see colours
//! otherwise can tell apart, each so dark or light that it has a contrast of 3:1
//! and that neighbours differ in grey too; and cividis (Nuñez et al. 2018) for
//! maps.

use crate::shade::{Shade, variables};

/// On paper, in the dark, or as the page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on nearly black.
    Dark,
    /// In the colours of a page that includes [`Theme::variables`].
    Page,
}

/// In the order of their use.
const ON_LIGHT: [&str; 8] =
    ["#0f63b4", "#d75f03", "#115c3d", "#b25491", "#713e00", "#3391ca", "#3c3c46", "#96773c"];
const ON_DARK: [&str; 8] =
    ["#8bd5ff", "#db9501", "#088d65", "#f6e947", "#cc79a7", "#ffb98a", "#4a91ea", "#dddddd"];

/// The same where a page says whether it is light or dark.
const SERIES: [&str; 8] = [
    "var(--c0)",
    "var(--c1)",
    "var(--c2)",
    "var(--c3)",
    "var(--c4)",
    "var(--c5)",
    "var(--c6)",
    "var(--c7)",
];
const BANDS: [&str; 2] = ["var(--band0)", "var(--band1)"];

/// Cividis at equal steps.
const CIVIDIS: [[u8; 3]; 9] = [
    [0, 34, 78],
    [26, 56, 111],
    [66, 78, 108],
    [96, 101, 110],
    [125, 124, 120],
    [156, 149, 118],
    [189, 174, 107],
    [223, 201, 88],
    [254, 232, 56],
];

impl Theme {
    /// The colours that pictures in a page need besides the page's own, as CSS.
    pub fn variables() -> String {
        let mut all = String::from(":root{");
        for (at, name) in SERIES.iter().enumerate() {
            let [light, dark] = [Theme::Light, Theme::Dark].map(|theme| theme.colour(at));
            all += &format!("{}:light-dark({light},{dark});", inside(name));
        }
        for (at, name) in BANDS.iter().enumerate() {
            let [light, dark] = [Theme::Light, Theme::Dark].map(|theme| theme.band(at));
            all += &format!("{}:light-dark({light},{dark});", inside(name));
        }
        all + &variables() + "}\n"
    }

    /// Behind everything.
    pub(super) fn ground(self) -> &'static str {
        self.pick("#ffffff", "#16181d", "var(--card)")
    }

    /// Text.
    pub(super) fn ink(self) -> &'static str {
        self.pick("#1c1e21", "#e8eaed", "var(--ink)")
    }

    /// Text of less weight, axes.
    pub(super) fn soft(self) -> &'static str {
        self.pick("#5a5f66", "#a6adb7", "var(--soft)")
    }

    /// Lines of a grid.
    pub(super) fn grid(self) -> &'static str {
        self.pick("#e3e5e8", "#2c3038", "var(--grid)")
    }

    /// Every other shaded stretch.
    pub(super) fn band(self, at: usize) -> &'static str {
        match at.is_multiple_of(2) {
            true => self.pick("#eef3f8", "#1e2732", BANDS[0]),
            false => self.pick("#f7f2e9", "#2a261d", BANDS[1]),
        }
    }

    /// The colour of what a thread does.
    pub(super) fn shade(self, shade: Shade) -> &'static str {
        let [light, dark, page] = shade.colours;
        self.pick(light, dark, page)
    }

    /// The colour of a series by its place.
    pub(super) fn colour(self, at: usize) -> &'static str {
        match self {
            Theme::Light => ON_LIGHT[at % ON_LIGHT.len()],
            Theme::Dark => ON_DARK[at % ON_DARK.len()],
            Theme::Page => SERIES[at % SERIES.len()],
        }
    }

    /// The colour of a share of a map's scale, 0 to 1, and whether text on it
    /// must be light.
    pub(super) fn on_map(share: f64) -> (String, bool) {
        let steps = (CIVIDIS.len() - 1) as f64;
        let place = share.clamp(0.0, 1.0) * steps;
        let below = (place as usize).min(CIVIDIS.len() - 2);
        let rest = place - below as f64;
        let mixed = |at: usize| {
            let (a, b) = (CIVIDIS[below][at], CIVIDIS[below + 1][at]);
            (f64::from(a) + (f64::from(b) - f64::from(a)) * rest).round() as u8
        };
        let [r, g, b] = [mixed(0), mixed(1), mixed(2)];
        (format!("#{r:02x}{g:02x}{b:02x}"), share < 0.5)
    }

    fn pick(self, light: &'static str, dark: &'static str, page: &'static str) -> &'static str {
        match self {
            Theme::Light => light,
            Theme::Dark => dark,
            Theme::Page => page,
        }
    }
}

/// `--c0` of `var(--c0)`.
fn inside(variable: &str) -> &str {
    variable.trim_start_matches("var(").trim_end_matches(')')
}

#[cfg(test)]
mod tests;
