//! Detection of levels (caches, DRAM) in synthetic and measured latency curves. `levels.rs`: levels that must
//! be found; `no_level.rs`: what must not be one; `doubt.rs`: levels marked as doubtful; `names.rs`: how they
//! are named; `any_curve.rs`: properties of any curve; `measured.rs`: curves of a busy machine.

mod any_curve;
mod doubt;
mod levels;
mod measured;
mod no_level;
mod odd_input;

#[path = "../dice/mod.rs"]
mod dice;
mod names;

use dice::Dice;
use model::plateau::{Plateau, Point};
use proptest::prelude::*;

/// The levels of a machine that states no caches.
fn found_levels(points: &[Point]) -> Vec<Plateau> {
    model::plateau::find_plateaus(points, &[])
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Runs of a noisy test, and how many must succeed (98 %).
const SEEDS: u64 = 200;
const ENOUGH: usize = 196;

/// A level of a made curve: flat from one size to another, perhaps rising.
#[derive(Clone, Copy)]
struct MadeLevel {
    from: u64,
    to: u64,
    ns: f64,
    ns_at_end: f64,
}

fn level(from: u64, to: u64, ns: f64) -> MadeLevel {
    MadeLevel { from, to, ns, ns_at_end: ns }
}

fn leaning(from: u64, to: u64, ns: f64, ns_at_end: f64) -> MadeLevel {
    MadeLevel { from, to, ns, ns_at_end }
}

/// Four sizes an octave.
fn sizes(from: u64, to: u64) -> Vec<u64> {
    (0..)
        .map(|k| (from as f64 * (k as f64 / 4.0).exp2()).round() as u64)
        .take_while(|&bytes| bytes <= to)
        .collect()
}

fn point(bytes: u64, ns: f64) -> Point {
    Point { bytes, ns, low: ns * 0.99, high: ns * 1.01, two_states: false }
}

/// The curve through the levels, with a straight ramp (in logarithms) between
/// one level's end and the next one's start.
fn curve(levels: &[MadeLevel]) -> Vec<Point> {
    let knots: Vec<(f64, f64)> = levels
        .iter()
        .flat_map(|l| [(l.from, l.ns), (l.to, l.ns_at_end)])
        .map(|(bytes, ns)| ((bytes as f64).log2(), ns.log2()))
        .collect();
    sizes(levels[0].from, levels[levels.len() - 1].to)
        .into_iter()
        .map(|bytes| {
            let x = (bytes as f64).log2();
            let right = knots.iter().position(|k| k.0 >= x - 1e-9).unwrap_or(knots.len() - 1);
            let (a, b) = (knots[right.max(1) - 1], knots[right.max(1)]);
            let part = if b.0 > a.0 { ((x - a.0) / (b.0 - a.0)).clamp(0.0, 1.0) } else { 1.0 };
            point(bytes, (a.1 + part * (b.1 - a.1)).exp2())
        })
        .collect()
}

fn noisy(points: &[Point], share: f64, random: &mut Dice) -> Vec<Point> {
    points
        .iter()
        .map(|p| point(p.bytes, p.ns * (1.0 + share * (2.0 * random.uniform() - 1.0))))
        .collect()
}

fn plateau_names(found: &[Plateau]) -> Vec<&str> {
    found.iter().map(|l| l.name.as_str()).collect()
}

/// Says what is wrong with the levels found, if anything: names, figures
/// within 6 %, ends within two points, all certain.
fn compare(found: &[Plateau], expected: &[(&str, MadeLevel)]) -> Result<(), String> {
    compare_within(2, found, expected)
}

/// The same with the ends within a number of points.
fn compare_within(
    points: u32,
    found: &[Plateau],
    expected: &[(&str, MadeLevel)],
) -> Result<(), String> {
    let wanted: Vec<&str> = expected.iter().map(|e| e.0).collect();
    if plateau_names(found) != wanted {
        return Err(format!("{:?} instead of {wanted:?}: {found:#?}", plateau_names(found)));
    }
    for (f, (name, e)) in found.iter().zip(expected) {
        let middle = (e.ns * e.ns_at_end).sqrt();
        let far =
            |a: u64, b: u64| (a as f64 / b as f64).log2().abs() > f64::from(points) / 4.0 + 0.01;
        if (f.ns / middle - 1.0).abs() > 0.06 {
            return Err(format!("{name}: {} ns instead of {middle}", f.ns));
        }
        if far(f.from_bytes, e.from) || far(f.to_bytes, e.to) {
            return Err(format!(
                "{name}: {} … {} instead of {} … {}",
                f.from_bytes, f.to_bytes, e.from, e.to
            ));
        }
        if !f.certain {
            return Err(format!("{name}: {:?}", f.reason));
        }
    }
    Ok(())
}

/// The curve as it is, and with 5 % of noise in at least 98 % of the seeds.
#[track_caller]
fn finds(expected: &[(&str, MadeLevel)]) {
    let levels: Vec<MadeLevel> = expected.iter().map(|e| e.1).collect();
    let clean = curve(&levels);
    compare(&found_levels(&clean), expected).expect("without noise");
    succeeds(|random| compare(&found_levels(&noisy(&clean, 0.05, random)), expected));
}

#[track_caller]
fn succeeds(attempt: impl Fn(&mut Dice) -> Result<(), String>) {
    let failures: Vec<(u64, String)> =
        (0..SEEDS).filter_map(|seed| attempt(&mut Dice(seed)).err().map(|e| (seed, e))).collect();
    let good = SEEDS as usize - failures.len();
    println!("{good} of {SEEDS} seeds: {}", std::panic::Location::caller());
    assert!(
        good >= ENOUGH,
        "only {good} of {SEEDS} seeds: {:#?}",
        &failures[..failures.len().min(5)]
    );
}

/// The 2-core Zen 3 VM that the findings come from.
fn zen3() -> Vec<(&'static str, MadeLevel)> {
    vec![
        ("L1", level(KIB, 32 * KIB, 1.4)),
        ("L2", leaning(38 * KIB, 256 * KIB, 4.2, 4.9)),
        ("L3", leaning(720 * KIB, 10 * MIB, 14.0, 20.0)),
        ("DRAM", leaning(64 * MIB, 256 * MIB, 90.0, 98.0)),
    ]
}

/// `zen3`, with the slow decay of its L3: 40 ns at 20 MiB, 60 at 32.
fn zen3_curve() -> Vec<Point> {
    let l = zen3();
    let decay = leaning(20 * MIB, 32 * MIB, 40.0, 60.0);
    curve(&[l[0].1, l[1].1, l[2].1, decay, l[3].1])
}

fn intel() -> Vec<(&'static str, MadeLevel)> {
    vec![
        ("L1", level(KIB, 48 * KIB, 1.2)),
        ("L2", level(64 * KIB, 1280 * KIB, 4.0)),
        ("L3", level(2 * MIB, 16 * MIB, 20.0)),
        ("DRAM", level(48 * MIB, 256 * MIB, 90.0)),
    ]
}
