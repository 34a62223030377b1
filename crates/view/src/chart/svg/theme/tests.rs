//! Every colour is seen on its ground, and differs from its neighbours in grey and
//! by people who lack a kind of cone.

use super::*;

/// Grounds that pictures of each theme stand on: their own, the page's, cards'.
const GROUNDS: [(&[&str], &[&str]); 2] =
    [(&ON_LIGHT, &["#ffffff", "#f7f7f4"]), (&ON_DARK, &["#16181d", "#131519", "#1b1e24"])];
/// WCAG 2.1, 1.4.11: graphical objects.
const CONTRAST: f64 = 3.0;
/// Just seen side by side is 2.3 (Mahy et al. 1994); thin lines and small marks
/// need more.
const APART: f64 = 15.0;
/// Least distance in lightness of neighbours.
const APART_IN_GREY: f64 = 12.0;

/// Linear light of each channel, 0 to 1.
fn light(colour: &str) -> [f64; 3] {
    let of = |at: usize| {
        let byte = u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour");
        let share = f64::from(byte) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    [of(1), of(3), of(5)]
}

fn multiply(matrix: &[[f64; 3]; 3], [r, g, b]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[x, y, z]| x * r + y * g + z * b)
}

const TO_XYZ: [[f64; 3]; 3] = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
];
/// As all see, and without a kind of cone: Machado, Oliveira and Fernandes 2009,
/// severity 1.
const SIGHTS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    // Protanopia.
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    // Deuteranopia.
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    // Tritanopia.
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

fn contrast(a: &str, b: &str) -> f64 {
    let [a, b] = [a, b].map(|colour| multiply(&TO_XYZ, light(colour))[1] + 0.05);
    a.max(b) / a.min(b)
}

/// CIE 1976 L*, a*, b*.
fn lab(light: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = multiply(&TO_XYZ, light.map(|share| share.clamp(0.0, 1.0)));
    let root = |t: f64| match t > 216.0 / 24389.0 {
        true => t.cbrt(),
        false => (24389.0 / 27.0 * t + 16.0) / 116.0,
    };
    let [x, y, z] = [x / 0.95047, y, z / 1.08883].map(root);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

#[test]
fn the_arithmetic_is_that_of_the_standards() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-4);
    // WCAG's own example of the least grey for text: 4.54.
    assert!((contrast("#767676", "#ffffff") - 4.54).abs() < 0.01);
    let red = lab(light("#ff0000"));
    assert!(distance(red, [53.24, 80.09, 67.20]) < 0.1, "{red:?}");
}

#[test]
fn every_colour_is_seen_on_its_ground() {
    for (colours, grounds) in GROUNDS {
        for colour in colours {
            for ground in grounds {
                let contrast = contrast(colour, ground);
                assert!(contrast >= CONTRAST, "{colour} on {ground}: {contrast:.2}");
            }
        }
    }
}

#[test]
fn colours_are_told_apart_by_all_and_neighbours_in_grey() {
    for (colours, _) in GROUNDS {
        for (at, a) in colours.iter().enumerate() {
            for (other, b) in colours.iter().enumerate().skip(at + 1) {
                for sight in &SIGHTS {
                    let [a_seen, b_seen] = [a, b].map(|c| lab(multiply(sight, light(c))));
                    let apart = distance(a_seen, b_seen);
                    assert!(apart >= APART, "{a} and {b}: {apart:.1}");
                }
                let [a_grey, b_grey] = [a, b].map(|c| lab(light(c))[0]);
                let apart = (a_grey - b_grey).abs();
                assert!(other > at + 1 || apart >= APART_IN_GREY, "{a}, {b}: {apart:.1}");
            }
        }
    }
}

/// The colours of a page's variable, light and dark.
fn of_page(name: &str) -> [&'static str; 2] {
    let style = include_str!("../../../html/browser/page.css");
    let rest = style.split_once(name).unwrap_or_else(|| panic!("no {name}")).1;
    let values = rest.split_once("light-dark(").expect("two colours").1;
    let (values, _) = values.split_once(')').expect("an end");
    let (light, dark) = values.split_once(", ").expect("two");
    [light, dark]
}

/// Topics, and what was published, share a picture; verdicts share a bar.
#[test]
fn topics_and_verdicts_are_told_apart_by_all() {
    let topics = [".t-cpu", ".t-memory", ".t-kernel", ".t-threads", ".t-io", "--published:"];
    let verdicts = ["--good:", "--noisy:", "--two:", "--unsure:", "--bad:"];
    for names in [&topics[..], &verdicts] {
        for (theme, (_, grounds)) in GROUNDS.iter().enumerate() {
            let colours: Vec<&str> = names.iter().map(|name| of_page(name)[theme]).collect();
            for (at, a) in colours.iter().enumerate() {
                for ground in *grounds {
                    assert!(contrast(a, ground) >= CONTRAST, "{a} on {ground}");
                }
                for b in &colours[at + 1..] {
                    for sight in &SIGHTS {
                        let [a_seen, b_seen] = [a, b].map(|c| lab(multiply(sight, light(c))));
                        let apart = distance(a_seen, b_seen);
                        assert!(apart >= APART, "{a} and {b}: {apart:.1}");
                    }
                }
            }
        }
    }
}

/// On grey paper too: by lightness, or by height and fill.
#[test]
fn states_are_told_apart_in_grey() {
    use crate::shade::state_shade;
    use model::trace::StateKind;
    let kinds = [StateKind::Running, StateKind::Runnable, StateKind::Preempted, StateKind::Blocked];
    for theme in [0, 1] {
        for (at, a) in kinds.map(state_shade).iter().enumerate() {
            for b in &kinds.map(state_shade)[at + 1..] {
                let [a_grey, b_grey] = [a, b].map(|shade| lab(light(shade.colours[theme]))[0]);
                let is_by_shape = (a.height, a.rails) != (b.height, b.rails);
                let is_by_grey = (a_grey - b_grey).abs() >= APART_IN_GREY;
                assert!(is_by_shape, "{} and {} have one shape", a.name, b.name);
                let both_high = a.height.min(b.height) > 0.5;
                assert!(is_by_grey || !both_high, "{} and {}", a.name, b.name);
            }
        }
    }
}

/// A thread that runs is followed by its being preempted everywhere, at widths of a pixel.
#[test]
fn preempted_stands_out_from_running() {
    use crate::shade::state_shade;
    use model::trace::StateKind;
    let [running, preempted] =
        [StateKind::Running, StateKind::Preempted].map(|kind| state_shade(kind).colours);
    for theme in [0, 1] {
        let contrast = contrast(running[theme], preempted[theme]);
        assert!(contrast >= CONTRAST, "{} and {}: {contrast:.2}", running[theme], preempted[theme]);
    }
}

/// States and the lanes below them stand side by side in any order.
#[test]
fn what_a_thread_does_is_told_apart_by_all() {
    use crate::shade::{CALL, MEMORY, state_shade};
    use model::trace::StateKind;
    let kinds = [StateKind::Running, StateKind::Runnable, StateKind::Preempted, StateKind::Blocked];
    let shades: Vec<Shade> = kinds.map(state_shade).into_iter().chain([CALL, MEMORY]).collect();
    for (theme, (_, grounds)) in GROUNDS.iter().enumerate() {
        for (at, a) in shades.iter().enumerate() {
            let colour = a.colours[theme];
            for ground in *grounds {
                assert!(contrast(colour, ground) >= CONTRAST, "{} on {ground}", a.name);
            }
            for b in &shades[at + 1..] {
                for sight in &SIGHTS {
                    let seen = [colour, b.colours[theme]].map(|c| lab(multiply(sight, light(c))));
                    let apart = distance(seen[0], seen[1]);
                    assert!(apart >= APART, "{} and {}: {apart:.1}", a.name, b.name);
                }
            }
        }
    }
}
