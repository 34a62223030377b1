//! From the runs to what may be said of each control.
//!
//! Each control, job and load is four comparisons: of the time, of its spread,
//! of context switches and of migrations; all of a document are one family. Benjamini and Hochberg's
//! procedure picks those that are significant ([`benjamini_hochberg`]): with no
//! effect anywhere, the chance that any is significant is at most [`LEVEL`] for all
//! together. The intervals are as wide as that asks for (Benjamini and
//! Yekutieli, J. Am. Stat. Assoc. 100, 2005, 71-81: level 1 - q R / m where R
//! of m are significant), and so one holds 1 exactly where nothing is significant.

use super::exchange::Exchange;
use super::figures::figures;
use super::{Block, Change, Control, CountChange, Effect, OneRun, Verdict};
use crate::compare::finding::LEVEL;
use crate::compare::multiplicity::benjamini_hochberg;
use crate::interleaved;
use crate::stats::Interval;

/// One effect before anything is said of it.
struct Found<'a> {
    control: &'a Control,
    block: &'a Block,
    on: &'a [OneRun],
    off: &'a [OneRun],
    values: [Vec<f64>; 2],
    spreads: Option<Exchange>,
    switches: Option<Exchange>,
    migrations: Option<Exchange>,
    p_values: [Option<f64>; COMPARISONS],
}

/// Of each control, job and load.
pub const COMPARISONS: usize = 4;

/// The effects of all controls that were tried, in the order of the controls,
/// then of the blocks.
pub fn effects(controls: &[Control], blocks: &[Block]) -> Vec<Effect> {
    let found: Vec<Found> = controls
        .iter()
        .flat_map(|control| blocks.iter().map(move |block| (control, block)))
        .filter_map(|(control, block)| found(control, block))
        .collect();
    // One that can't be tested stays in the family: leaving it out would make
    // the others seem fewer.
    let p_values: Vec<f64> =
        found.iter().flat_map(|f| f.p_values).map(|p| p.unwrap_or(1.0)).collect();
    let significant = benjamini_hochberg(&p_values, LEVEL);
    let all = significant.iter().filter(|&&t| t).count().max(1);
    let level = 1.0 - LEVEL * all as f64 / p_values.len().max(1) as f64;
    found
        .into_iter()
        .zip(significant.as_chunks::<COMPARISONS>().0)
        .map(|(found, significant)| effect(&found, *significant, level))
        .collect()
}

fn found<'a>(control: &'a Control, block: &'a Block) -> Option<Found<'a>> {
    let on = &block.arm(&control.on_arm)?.runs;
    let off = &block.arm(&control.off_arm)?.runs;
    let rounds = on.len().min(off.len());
    let (on, off) = (&on[..rounds], &off[..rounds]);
    let judged = |runs: &[OneRun]| -> Vec<f64> {
        let of = |run: &OneRun| run.judged_ns(block.workload);
        runs.iter().map(of).collect()
    };
    let values = [judged(off), judged(on)];
    let spreads = Exchange::of_spreads(&values[0], &values[1]);
    let counts = |count: fn(&OneRun) -> Option<u64>| {
        Exchange::of_counts(off.iter().map(count), on.iter().map(count))
    };
    let switches = counts(|run| Some(run.voluntary + run.involuntary));
    let migrations = counts(|run| run.migrations);
    let p_value = |exchange: &Option<Exchange>| exchange.as_ref()?.p_value();
    let p_values = [
        interleaved::p_value(&values[0], &values[1]),
        p_value(&spreads),
        p_value(&switches),
        p_value(&migrations),
    ];
    Some(Found { control, block, on, off, values, spreads, switches, migrations, p_values })
}

fn effect(found: &Found, significant: [bool; COMPARISONS], level: f64) -> Effect {
    let [off, on] = &found.values;
    let time = interleaved::ratio_at(off, on, level);
    let spread = found.spreads.as_ref().and_then(|s| s.interval(level));
    Effect {
        control: found.control.name.clone(),
        workload: found.block.workload,
        load: found.block.load,
        rounds: on.len() as u32,
        on: figures(found.on),
        off: figures(found.off),
        time: change(time, found.p_values[0], significant[0]),
        spread: change(spread, found.p_values[1], significant[1]),
        switches: count_change(found.switches.as_ref(), significant[2], level),
        migrations: count_change(found.migrations.as_ref(), significant[3], level),
    }
}

fn change(ratio: Option<Interval>, p_value: Option<f64>, significant: bool) -> Change {
    Change {
        smallest: ratio.map(|r| (r.value / r.low).max(r.high / r.value) - 1.0),
        ratio,
        p_value,
        verdict: verdict(ratio, 1.0, significant),
    }
}

fn count_change(counts: Option<&Exchange>, significant: bool, level: f64) -> Option<CountChange> {
    let counts = counts?;
    let difference = counts.interval(level);
    let [off, on] = counts.means();
    Some(CountChange {
        on,
        off,
        smallest: difference.map(|d| (d.value - d.low).max(d.high - d.value)),
        difference,
        p_value: counts.p_value(),
        verdict: verdict(difference, 0.0, significant),
    })
}

/// The word, where less than what is `alike` in both is better.
fn verdict(value: Option<Interval>, alike: f64, significant: bool) -> Verdict {
    match value {
        None => Verdict::CannotTell,
        Some(value) if significant && value.value < alike => Verdict::Better,
        Some(_) if significant => Verdict::Worse,
        Some(_) => Verdict::NoEffectShown,
    }
}
