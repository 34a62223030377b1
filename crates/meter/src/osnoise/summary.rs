//! The document from the observations: totals by cause, histograms, shares with
//! intervals, the clock, and the span in stretches.

use super::attribute;
use super::observe::{Blind, Observations, Window};
use super::quiet::TURNS;
use model::noise::osnoise::{
    Cause, CauseTotal, Detector, Detour, Frequency, Osnoise, Stretch, lost_share,
};
use model::stats;

/// Longest detours that are listed.
const LISTED: usize = 10;

/// Quiet blocks that a window needs for a frequency.
const ENOUGH_BLOCKS: u64 = 16;

/// Sums up. `stretches` is the number of stretches that the span is divided
/// into; the windows are divided among them. What only the real thread knows
/// (its CPU, its number, the sources) is left to the caller.
pub fn summarize(observed: &Observations, ns_per_tick: f64, stretches: usize) -> Osnoise {
    let ns = |ticks: u64| (ticks as f64 * ns_per_tick).round() as u64;
    let mut all: Vec<Detour> = observed
        .records
        .iter()
        .zip(attribute::causes(observed, ns_per_tick))
        .map(|(record, parts)| Detour { at_ns: ns(record.at), lost_ns: ns(record.lost), parts })
        .collect();
    let span_ns = ns(observed.ticks);
    let readings = readings(observed, ns_per_tick);
    let in_readings_ns: u64 = readings.iter().map(|r| r.delayed_ns).sum();
    let grid = Grid { span_ns, stretches: stretches.max(1) };
    let stretches = grid.strip(observed, &all, &readings, ns_per_tick);
    let causes: Vec<CauseTotal> = Cause::ALL
        .into_iter()
        .filter_map(|cause| lost_to(cause, &all, &readings, &stretches))
        .collect();
    let quiet = observed.quiet;
    let summary = Osnoise {
        span_ns,
        blind_ns: readings.iter().map(|r| r.blind_ns).sum(),
        detector: Detector {
            adds: adds_of(1) as u64,
            block_ns: quiet.map_or(0.0, |q| q.block * ns_per_tick),
            overhead_ns: quiet.map_or(0.0, |q| q.overhead * ns_per_tick),
            threshold_ns: quiet.map_or(0.0, |q| (q.block + q.spread) * ns_per_tick),
            slower: observed.slower,
            broken_steps: observed.broken_steps,
        },
        detours: all.len() as u64,
        mixed: all.iter().filter(|detour| detour.parts.len() > 1).count() as u64,
        lost_ns: all.iter().map(|detour| detour.lost_ns).sum::<u64>() + in_readings_ns,
        in_readings_ns,
        share: lost_share(&stretches, |s| s.lost_ns.iter().sum()),
        causes,
        frequency: frequency(observed, ns_per_tick),
        stretches,
        run_delay_ns: observed.run_delay_ns,
        readings: observed.readings,
        reading_ns: observed.reading_ticks.map(ns),
        ..Osnoise::default()
    };
    all.sort_by_key(|detour| std::cmp::Reverse(detour.lost_ns));
    all.truncate(LISTED);
    Osnoise { longest: all, ..summary }
}

/// A stretch of readings. What was run delay in it is known, though nothing
/// watched: the rest alone is blind.
struct ReadingSpan {
    at_ns: u64,
    blind_ns: u64,
    delayed_ns: u64,
}

/// All stretches of readings, with the run delay that no detour holds: what fell
/// between two readings of one stretch, and what came after the last of them,
/// which shows as more run delay than the next detour is long.
fn readings(observed: &Observations, ns_per_tick: f64) -> Vec<ReadingSpan> {
    let ns = |ticks: u64| (ticks as f64 * ns_per_tick).round() as u64;
    let mut blind = observed.blind.clone();
    for record in &observed.records {
        let more_ns = record.run_delay_ns.unwrap_or(0);
        let more_ns = more_ns.saturating_sub(ns(record.lost));
        if more_ns == 0 {
            continue;
        }
        let before = blind.partition_point(|b| b.at <= record.at);
        match before.checked_sub(1) {
            Some(place) => blind[place].run_delay_ns += more_ns,
            None => blind.insert(0, Blind { at: 0, ticks: 0, run_delay_ns: more_ns }),
        }
    }
    blind
        .iter()
        .map(|b| ReadingSpan {
            at_ns: ns(b.at),
            blind_ns: ns(b.ticks).saturating_sub(b.run_delay_ns),
            delayed_ns: b.run_delay_ns,
        })
        .collect()
}

fn lost_to(
    cause: Cause,
    all: &[Detour],
    readings: &[ReadingSpan],
    stretches: &[Stretch],
) -> Option<CauseTotal> {
    let mut lost = CauseTotal {
        cause,
        detours: 0,
        lost_ns: 0,
        share: lost_share(stretches, |s| s.lost_ns.get(cause as usize).copied().unwrap_or(0)),
        longest_ns: 0,
        histogram: Vec::new(),
    };
    for detour in all {
        let part = detour.parts.iter().find(|part| part.cause == cause);
        if let Some(part) = part {
            lost.lost_ns += part.lost_ns;
            lost.longest_ns = lost.longest_ns.max(part.lost_ns);
        }
        if detour.parts.first().is_some_and(|first| first.cause == cause) {
            lost.detours += 1;
            let bin = detour.lost_ns.checked_ilog2().unwrap_or(0) as usize;
            if lost.histogram.len() <= bin {
                lost.histogram.resize(bin + 1, 0);
            }
            lost.histogram[bin] += 1;
        }
    }
    if cause == Cause::Scheduler {
        for reading in readings {
            lost.lost_ns += reading.delayed_ns;
            lost.longest_ns = lost.longest_ns.max(reading.delayed_ns);
        }
    }
    (lost.lost_ns > 0).then_some(lost)
}

/// The span in equal stretches. What lies across a border is divided.
struct Grid {
    span_ns: u64,
    stretches: usize,
}

impl Grid {
    fn border(&self, k: usize) -> u64 {
        (u128::from(self.span_ns) * k as u128 / self.stretches as u128) as u64
    }

    fn stretch(&self, at_ns: u64) -> usize {
        let k = u128::from(at_ns) * self.stretches as u128 / u128::from(self.span_ns.max(1));
        (k as usize).min(self.stretches - 1)
    }

    /// An amount of something that took so long, by stretch.
    fn divide(&self, at_ns: u64, ns: u64, amount_ns: u64) -> impl Iterator<Item = (usize, u64)> {
        let last = self.stretch((at_ns + ns).saturating_sub(1).max(at_ns));
        let mut put_ns = 0;
        (self.stretch(at_ns)..=last).map(move |k| {
            let passed = match k == last {
                true => 1.0,
                false => self.border(k + 1).saturating_sub(at_ns) as f64 / ns.max(1) as f64,
            };
            let until_ns = (amount_ns as f64 * passed).round() as u64;
            let part_ns = until_ns - put_ns;
            put_ns = until_ns;
            (k, part_ns)
        })
    }

    fn strip(
        &self,
        observed: &Observations,
        all: &[Detour],
        readings: &[ReadingSpan],
        ns_per_tick: f64,
    ) -> Vec<Stretch> {
        let stretch = |k: usize| Stretch {
            watched_ns: self.border(k + 1) - self.border(k),
            lost_ns: Vec::new(),
            ghz: ghz_of_stretch(k, self.stretches, observed, ns_per_tick),
        };
        let mut strip: Vec<Stretch> = (0..self.stretches).map(stretch).collect();
        for reading in readings {
            let at_ns = reading.at_ns + reading.delayed_ns;
            for (k, blind_ns) in self.divide(at_ns, reading.blind_ns, reading.blind_ns) {
                strip[k].watched_ns = strip[k].watched_ns.saturating_sub(blind_ns);
            }
        }
        let delays = readings.iter().filter(|reading| reading.delayed_ns > 0);
        let delays = delays.map(|r| (r.at_ns, r.delayed_ns, Cause::Scheduler, r.delayed_ns));
        let detours = all.iter().flat_map(|detour| {
            let parts = detour.parts.iter();
            parts.map(|part| (detour.at_ns, detour.lost_ns, part.cause, part.lost_ns))
        });
        for (at_ns, ns, cause, lost_ns) in delays.chain(detours) {
            for (k, lost_ns) in self.divide(at_ns, ns, lost_ns) {
                strip[k].lost_ns.resize(Cause::ALL.len(), 0);
                strip[k].lost_ns[cause as usize] += lost_ns;
            }
        }
        strip
    }
}

/// Cycles that a number of quiet blocks took: their adds.
fn adds_of(blocks: u64) -> f64 {
    (blocks * TURNS * u64::from(kernels::ADDS_PER_TURN)) as f64
}

/// The clock while these blocks ran, GHz. What of a block is not adds was
/// learned in ticks; it is work of the core as well, and takes as much longer
/// where the clock is slower.
fn ghz(window: Window, observed: &Observations, ns_per_tick: f64) -> Option<f64> {
    let quiet = observed.quiet?;
    let adds_ns = window.ticks as f64 * (1.0 - quiet.overhead / quiet.block) * ns_per_tick;
    (window.blocks >= ENOUGH_BLOCKS && adds_ns > 0.0).then(|| adds_of(window.blocks) / adds_ns)
}

/// The windows that begin in a stretch. A span that ended early has fewer
/// than it was to have.
fn ghz_of_stretch(
    k: usize,
    stretches: usize,
    observed: &Observations,
    ns_per_tick: f64,
) -> Option<f64> {
    let begin = |k: usize| {
        let ticks = (u128::from(observed.ticks) * k as u128).div_ceil(stretches as u128);
        let window = ticks.div_ceil(u128::from(observed.window_ticks.max(1)));
        (window as usize).min(observed.windows.len())
    };
    let mut sum = Window::default();
    for window in &observed.windows[begin(k)..begin(k + 1)] {
        sum.ticks += window.ticks;
        sum.blocks += window.blocks;
    }
    ghz(sum, observed, ns_per_tick)
}

fn frequency(observed: &Observations, ns_per_tick: f64) -> Option<Frequency> {
    let windows = observed.windows.iter();
    let all = stats::sorted(windows.filter_map(|&window| ghz(window, observed, ns_per_tick)));
    Some(Frequency {
        p1_ghz: stats::quantile_sorted(&all, 0.01)?,
        p50_ghz: stats::quantile_sorted(&all, 0.5)?,
        p99_ghz: stats::quantile_sorted(&all, 0.99)?,
        window_ns: (observed.window_ticks as f64 * ns_per_tick).round() as u64,
        windows: all.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::super::quiet::Quiet;
    use super::*;

    #[test]
    fn the_detectors_figures_are_in_ns() {
        let observed = Observations {
            quiet: Some(Quiet { block: 100.0, overhead: 6.0, spread: 10.0 }),
            slower: 2,
            broken_steps: 3,
            ..Observations::default()
        };
        let detector = summarize(&observed, 0.5, 1).detector;
        assert_eq!(detector.block_ns, 50.0);
        assert_eq!(detector.overhead_ns, 3.0);
        assert_eq!(detector.threshold_ns, 55.0);
        assert_eq!((detector.slower, detector.broken_steps), (2, 3));
    }
}
