//! Pictures of the noise around a run.

use super::decimate::extremes;
use super::figure::{joined, linear, log};
use super::maker::Maker;
use super::source::{ChartSource, Drawn, Picture};
use super::{
    Axis, BarPart, Bars, Body, Chart, ChartLine, CurveKind, Lines, Point, Quantity, Section,
    Stretches, number,
};
use crate::render::header::conditions_in_words;
use model::figure::time;
use model::noise::osnoise::{Osnoise, OsnoiseAround};
use model::sample::{Sample, flag};
use model::stats;

pub(super) const PICTURES: &[Maker] = &[
    Maker::Own("noise.gaps.before", before),
    Maker::Own("noise.gaps.after", after),
    Maker::Own("noise.clock", clock),
];

/// Stretches whose median cycle is drawn.
const STRETCHES: usize = 60;
/// Readings of the clock's picture: each is a shape that a browser has to draw.
const MOST: usize = 122;

fn before(source: &ChartSource) -> Drawn {
    let around = around(source)?;
    let mut picture = osnoise(&around.before, "before", "OS noise just before the run")?;
    picture.chart.notes.push(conditions_in_words(source.run).join("; "));
    Ok(picture)
}

fn after(source: &ChartSource) -> Drawn {
    let after = around(source)?.after.as_ref();
    let after = after.ok_or("the run ended before anything was watched after it")?;
    osnoise(after, "after", "OS noise just after the run")
}

fn around<'r>(source: &ChartSource<'r>) -> Result<&'r OsnoiseAround, String> {
    let osnoise = source.run.conditions.osnoise.as_ref();
    osnoise.ok_or_else(|| "OS noise was not measured in this run".into())
}

/// How many gaps were how long, by what had the CPU.
fn osnoise(osnoise: &Osnoise, when: &str, title: &str) -> Drawn {
    let watched = time(osnoise.watched_ns() as f64);
    let bins = osnoise.causes.iter().map(|c| c.histogram.len()).max();
    let Some(last) = bins.filter(|&bins| bins > 0) else {
        return Err(format!("no detour in {watched} {when} the run"));
    };
    let count = |histogram: &[u64], bin: usize| histogram.get(bin).copied().unwrap_or(0);
    let any = |&bin: &usize| osnoise.causes.iter().any(|c| count(&c.histogram, bin) > 0);
    let first = (0..last).find(any).unwrap_or(0);
    let parts = osnoise.causes.iter().map(|cause| BarPart {
        name: cause.cause.words().into(),
        colour: Some(cause.cause as usize),
        values: (first..last).map(|bin| Some(count(&cause.histogram, bin) as f64)).collect(),
    });
    let lost = time(osnoise.lost_ns as f64);
    let mut notes = vec![format!(
        "{} detours took {lost} of {watched} measured {when} the run.",
        osnoise.detours
    )];
    notes.extend(osnoise.remarks.iter().cloned());
    Ok(Picture {
        chart: Chart {
            id: format!("noise.gaps.{when}"),
            title: title.into(),
            caption: "Detours: times in which a spinning thread did not run, by length and by \
                      what had the CPU."
                .into(),
            section: Section::Noise,
            body: Body::Bars(Bars {
                label: "length of the detour, from".into(),
                categories: (first..last).map(|bin| time(bin_start(bin))).collect(),
                value: linear("detours", Quantity::Count),
                parts: parts.collect(),
                lying: false,
                apart: 0,
                stretches: Some(Stretches {
                    axis: log("length of the detour", Quantity::Nanoseconds),
                    edges: (first..=last).map(bin_start).collect(),
                }),
            }),
            notes,
        },
        rows: Vec::new(),
    })
}

/// Where a bin of detours begins, ns.
fn bin_start(bin: usize) -> f64 {
    (1_u64 << bin.min(63)) as f64
}

/// The core clock over the run, as the canaries beside samples saw it.
fn clock(source: &ChartSource) -> Drawn {
    let mut readings: Vec<(u32, f64)> = Vec::new();
    for cell in &source.run.cells {
        let samples = cell.samples.samples().map_err(|damage| damage.to_string())?;
        let ordinary = samples.iter().filter(|s| !s.has(flag::WAITED_FOR_QUIET));
        let positive = |ns: &f64| *ns > 0.0;
        let ghz = |s: &Sample| s.cycle_ns().filter(positive).map(|ns| 1.0 / ns);
        readings.extend(ordinary.filter_map(|s| Some((s.at_ms, ghz(s)?))));
    }
    if readings.is_empty() {
        return Err("the core clock was not measured in this run".into());
    }
    readings.sort_by_key(|&(at_ms, _)| at_ms);
    let medians = medians(&readings);
    let near = near(&readings, &medians);
    let drawn = extremes(&near, MOST, |&(_, ghz)| ghz);
    let mut notes = vec![format!(
        "{} of {} readings are drawn: the highest and the lowest of each interval. The line is \
         the median of all in each of {} intervals.",
        drawn.len(),
        readings.len(),
        medians.len()
    )];
    let beyond = readings.len() - near.len();
    if beyond > 0 {
        let ends = ends(readings.iter().map(|r| r.1)).map(|ghz| number(Quantity::Gigahertz, ghz));
        notes.push(format!(
            "{beyond} readings lie more than 10 % beyond the line's lowest and highest point and \
             are not drawn; all are from {} to {}.",
            ends[0], ends[1]
        ));
    }
    Ok(Picture {
        chart: Chart {
            id: "noise.clock".into(),
            title: "The core's clock over the run".into(),
            caption: "Core frequency, measured next to the samples. Rows bound by the core \
                      are measured in cycles, so that this does not move them."
                .into(),
            section: Section::Noise,
            body: Body::Lines(Lines::new(
                linear("into the run", Quantity::Nanoseconds),
                Axis { from_zero: false, ..linear("core clock", Quantity::Gigahertz) },
                vec![
                    ChartLine {
                        name: "single readings".into(),
                        is: CurveKind::Measured,
                        points: drawn.into_iter().map(reading).collect(),
                        joined: false,
                    },
                    joined("median", CurveKind::Measured, medians),
                ],
            )),
            notes,
        },
        rows: Vec::new(),
    })
}

/// A reading: ms into the run, and GHz.
fn reading((at_ms, ghz): (u32, f64)) -> Point {
    Point::bare(f64::from(at_ms) * 1e6, ghz)
}

fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
        [low.min(value), high.max(value)]
    })
}

/// The readings at most a tenth below or above all medians: the clock does not
/// jump for a single one, and a few that do would press the others into a line.
fn near(readings: &[(u32, f64)], medians: &[Point]) -> Vec<(u32, f64)> {
    let [low, high] = ends(medians.iter().map(|point| point.y));
    let near = low * 0.9..=high * 1.1;
    let kept = readings.iter().filter(|(_, ghz)| near.contains(ghz));
    kept.copied().collect()
}

/// The median of each of equal stretches of the readings, which lie in the
/// order of time, at the middle one's time.
fn medians(readings: &[(u32, f64)]) -> Vec<Point> {
    let each = readings.len().div_ceil(STRETCHES).max(1);
    let of = |stretch: &[(u32, f64)]| {
        let (at_ms, _) = stretch.get(stretch.len() / 2)?;
        let ghz = stats::median(stretch.iter().map(|r| r.1))?;
        Some(reading((*at_ms, ghz)))
    };
    readings.chunks(each).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_far_from_all_medians_are_left_out() {
        // A clock that halves is drawn; one reading that is no clock is not.
        let ghz = |at: u32| if at < 100 { 4.0 } else { 2.0 };
        let mut readings: Vec<(u32, f64)> = (0..200).map(|at| (at, ghz(at))).collect();
        readings[50].1 = 0.002;
        readings[60].1 = 4.39;
        readings[70].1 = 4.41;
        let near = near(&readings, &medians(&readings));
        assert_eq!(near.len(), 198);
        assert!(near.contains(&(60, 4.39)) && near.contains(&(150, 2.0)));
    }
}
