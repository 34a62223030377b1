//! `latlas selftest`: A/A test of this machine.

use super::measured::{keep, lock, stop_on_signals, writable_store};
use super::recorded::{Destination, about};
use crate::arguments::selftest::SelftestOptions;
use crate::progress::Bar;
use crate::{UNRELIABLE, catalogue, output, program, selection};
use compare::operand::without_samples;
use compare::selftest::selftest as judge;
use meter::conduct::conduct;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::recording::{Recording, Set, Sets};
use model::run::{Run, Scale};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Change that counts as none.
const MARGIN: f64 = 0.05;
/// A slow drift of the machine affects both letters equally.
const ORDER: [char; 4] = ['A', 'B', 'B', 'A'];

/// Measures alternating sets and prints the smallest detectable changes.
pub(crate) fn selftest(catalogue: &[Probe], options: &SelftestOptions) -> anyhow::Result<ExitCode> {
    let texts = catalogue::texts(catalogue);
    let mut machine = sys::machine_facts(Path::new("/"));
    let scale = match options.quick {
        true => Scale::Quick,
        false => Scale::Default,
    };
    let mut request = Request {
        scale,
        rows: selection::selected_rows(&texts, &options.rows, scale)?,
        asked: options.rows.clone(),
        pin: options.pin,
        dir: options.dir.clone(),
        ..Request::default()
    };
    let destination = Destination::from_options(&options.run, &[], false)?;
    let store = match options.keep {
        true => writable_store(false)?,
        false => None,
    };
    let letters: Vec<char> = ORDER.repeat(options.rounds as usize);
    let first = plan(catalogue, &request, &machine)?;
    output::message(format_args!("{}", estimate(&first, letters.len())));

    let takes = first.total() * letters.len() as u32;
    let lock = lock("latlas selftest", Some(takes), options.run.wait)?;
    if lock.waited() {
        machine = sys::machine_facts(Path::new("/"));
    }
    let stop = stop_on_signals()?;
    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let mut sets: Vec<(char, Run)> = Vec::new();
    for (number, &letter) in letters.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        output::message(format_args!("set {} of {} ({letter})", number + 1, letters.len()));
        // Another order of visits in each, as in new runs.
        request.seed = fastrand::u64(..1 << 32);
        let plan = plan(catalogue, &request, &machine)?;
        let run = measure_sets(catalogue, &plan, &machine, stop)?;
        if let Some(why) = &run.partial {
            output::message(format_args!("skipping this set: {why}"));
            break;
        }
        keep(&run, store.as_ref());
        // Samples of many sets would need much memory.
        sets.push((letter, without_samples(run)));
    }
    let whole = sets.len() == letters.len();
    if sets.len() < 2 {
        output::message(format_args!(
            "only {} of {} sets measured, at least 2 needed: let it run longer",
            sets.len(),
            letters.len()
        ));
        return Ok(ExitCode::from(UNRELIABLE));
    }
    let test = judge(&sets, MARGIN)?;
    let conclusive = test.rows.iter().any(|row| row.alone.is_some());
    let sets = sets.into_iter().map(|(arm, run)| Set { arm, run }).collect();
    let recording = Recording::Sets(Sets { margin: MARGIN, sets });
    let partial = (!whole).then(|| "interrupted: sets until then are kept".into());
    let run = Run::recorded(about(machine, started_unix_ms, began_ns), recording, partial);
    destination.finish(&run, (true, conclusive && test.false_alarms.is_empty()))
}

fn measure_sets(
    catalogue: &[Probe],
    plan: &Plan,
    machine: &model::machine::Machine,
    stop: &AtomicBool,
) -> anyhow::Result<Run> {
    let mut bar = Bar::on_stderr();
    let program = program::program(machine);
    let run = conduct(catalogue, plan, machine.clone(), program, &mut bar, stop);
    bar.clear();
    Ok(run?)
}

fn estimate(plan: &Plan, sets: usize) -> String {
    let set = plan.total().as_secs_f64();
    format!(
        "takes about {:.0} s ({sets} sets of {set:.0} s); press Ctrl-C to stop and print results so far",
        set * sets as f64
    )
}
