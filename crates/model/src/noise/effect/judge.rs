//! From the runs to what may be said of each control.
//!
//! Each control, job and load is four questions: of the time, of its spread,
//! of context switches and of migrations; all of a document are one family ([`Correction::FalseCoverage`]): with no
//! effect anywhere, the chance that any is shown is at most [`LEVEL`](crate::compare::finding::LEVEL) for all together.

use super::figures::run_medians;
use super::{Block, Change, Control, Effect, OneRun};
use crate::compare::exchange::Exchange;
use crate::compare::finding::{Correction, Finding, Samples, SummarizedSamples, judge};
use crate::interleaved::Rounds;

/// One effect before anything is said of it.
struct UnjudgedEffect<'a> {
    control: &'a Control,
    block: &'a Block,
    on: &'a [OneRun],
    off: &'a [OneRun],
    values: [Vec<f64>; 2],
    /// Spreads, switches and migrations.
    exchanges: [Option<Exchange>; 3],
}

/// Of each control, job and load.
pub const COMPARISONS: usize = 4;

/// The effects of all controls that were tried, in the order of the controls,
/// then of the blocks.
pub fn effects(controls: &[Control], blocks: &[Block]) -> Vec<Effect> {
    let found: Vec<UnjudgedEffect> = controls
        .iter()
        .flat_map(|control| blocks.iter().map(move |block| (control, block)))
        .filter_map(|(control, block)| found(control, block))
        .collect();
    let times: Vec<Rounds> = found.iter().map(|f| Rounds(&f.values[0], &f.values[1])).collect();
    let questions = found.iter().zip(&times).flat_map(|(found, time)| {
        let exchanges = found.exchanges.iter().map(|own| match own {
            Some(own) => own as &dyn Samples,
            None => &SummarizedSamples(None, None),
        });
        [time as &dyn Samples].into_iter().chain(exchanges)
    });
    let answers = judge(questions, Correction::FalseCoverage, None);
    found
        .iter()
        .zip(answers.as_chunks::<COMPARISONS>().0)
        .map(|(found, answers)| effect(found, answers))
        .collect()
}

fn found<'a>(control: &'a Control, block: &'a Block) -> Option<UnjudgedEffect<'a>> {
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
    let exchanges = [spreads, switches, migrations];
    Some(UnjudgedEffect { control, block, on, off, values, exchanges })
}

fn effect(
    found: &UnjudgedEffect,
    [time, spread, switches, migrations]: &[Finding; COMPARISONS],
) -> Effect {
    let counts = |answer: &Finding, at: usize| {
        Some(Change { found: *answer, counts: Some(found.exchanges[at].as_ref()?.means()) })
    };
    Effect {
        control: found.control.name.clone(),
        workload: found.block.workload,
        load: found.block.load,
        rounds: found.on.len() as u32,
        on: run_medians(found.on),
        off: run_medians(found.off),
        time: Change { found: *time, counts: None },
        spread: Change { found: *spread, counts: None },
        switches: counts(switches, 1),
        migrations: counts(migrations, 2),
    }
}
