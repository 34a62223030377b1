//! From the runs to what may be said of each control.
//!
//! Each control, job and load is four comparisons: of the time, of its spread,
//! of context switches and of migrations; all of a document are one family. Benjamini and Hochberg's
//! procedure picks those that are significant ([`benjamini_hochberg`]): with no
//! effect anywhere, the chance that any is significant is at most [`LEVEL`] for all
//! together. The intervals are as wide as that asks for (Benjamini and
//! Yekutieli, J. Am. Stat. Assoc. 100, 2005, 71-81: level 1 - q R / m where R
//! of m are significant), and so one holds 1 exactly where nothing is significant.

use super::counts::Counts;
use super::figures::figures;
use super::spread::Spreads;
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
    spreads: Option<Spreads>,
    switches: Option<Counts>,
    migrations: Option<Counts>,
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
    let p_values: Vec<f64> = found
        .iter()
        .flat_map(|f| f.p_values)
        .map(|p| p.unwrap_or(1.0))
        .collect();
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
    let spreads = Spreads::of(&values[0], &values[1]);
    let switches = Counts::of(off, on, |run| Some(run.voluntary + run.involuntary));
    let migrations = Counts::of(off, on, |run| run.migrations);
    let p_values = [
        interleaved::p_value(&values[0], &values[1]),
        spreads.as_ref().map(Spreads::p_value),
        switches.as_ref().and_then(Counts::p_value),
        migrations.as_ref().and_then(Counts::p_value),
    ];
    Some(Found {
        control,
        block,
        on,
        off,
        values,
        spreads,
        switches,
        migrations,
        p_values,
    })
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
        switches: counts(&found.switches, significant[2], level),
        migrations: counts(&found.migrations, significant[3], level),
    }
}

fn counts(counts: &Option<Counts>, significant: bool, level: f64) -> Option<CountChange> {
    Some(counts.as_ref()?.change(significant, level))
}

fn change(ratio: Option<Interval>, p_value: Option<f64>, significant: bool) -> Change {
    let verdict = match ratio {
        None => Verdict::CannotTell,
        Some(ratio) if significant && ratio.value < 1.0 => Verdict::Better,
        Some(_) if significant => Verdict::Worse,
        Some(_) => Verdict::NoEffectShown,
    };
    Change {
        smallest: ratio.map(|r| (r.value / r.low).max(r.high / r.value) - 1.0),
        ratio,
        p_value,
        verdict,
    }
}
