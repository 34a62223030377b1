//! `latlas selftest`: this machine against itself.

use super::run::{keep, stop_on_signals, where_to_keep};
use crate::arguments::selftest::SelftestOptions;
use crate::progress::Bar;
use crate::{UNRELIABLE, catalogue, output, program, selection};
use atlas::compare::operand::without_samples;
use atlas::compare::selftest::{SelfTest, selftest as judge};
use atlas::render;
use meter::conduct::conduct;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::run::{Run, Scale};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Change that counts as none in the comparison of the sets.
const MARGIN: f64 = 0.05;
/// A slow drift of the machine falls on both letters alike.
const ORDER: [char; 4] = ['A', 'B', 'B', 'A'];

/// Measures sets, alternated, and says what they could tell.
pub(crate) fn selftest(catalogue: &[Probe], options: &SelftestOptions) -> anyhow::Result<ExitCode> {
    let texts = catalogue::texts(catalogue);
    let machine = sys::machine(Path::new("/"));
    let scale = match options.quick {
        true => Scale::Quick,
        false => Scale::Default,
    };
    let mut request = Request {
        scale,
        rows: selection::rows(&texts, &options.rows, scale)?,
        asked: options.rows.clone(),
        pin: options.pin,
        dir: options.dir.clone(),
        ..Request::default()
    };
    let place = match options.keep {
        true => where_to_keep(false)?,
        false => None,
    };
    let letters: Vec<char> = ORDER.repeat(options.rounds as usize);
    let first = plan(catalogue, &request, &machine)?;
    eprintln!("latlas: {}", estimate(&first, letters.len()));

    let stop = stop_on_signals()?;
    let mut sets: Vec<(char, Run)> = Vec::new();
    for (number, letter) in letters.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        eprintln!("latlas: set {} of {} ({letter})", number + 1, letters.len());
        // Another order of visits in each, as in runs that are made anew.
        request.seed = fastrand::u64(..1 << 32);
        let plan = plan(catalogue, &request, &machine)?;
        let run = measure(catalogue, &plan, &machine, stop)?;
        if let Some(why) = &run.partial {
            eprintln!("latlas: this set is left out: {why}");
            break;
        }
        keep(&run, place.as_ref());
        // Many sets with their samples would fill a small machine's memory.
        sets.push((*letter, without_samples(run)));
    }
    let whole = sets.len() == letters.len();
    if sets.len() < 2 {
        eprintln!(
            "latlas: {} of {} sets were measured, and it takes two to say anything: let it run longer",
            sets.len(),
            letters.len()
        );
        return Ok(ExitCode::from(UNRELIABLE));
    }
    let test = judge(&sets, MARGIN)?;
    let text = match options.json {
        true => serde_json::to_string_pretty(&test)? + "\n",
        false => render::selftest(&test, output::colored(options.color)),
    };
    output::print(&text)?;
    Ok(exit_code(&test, whole))
}

fn measure(
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
        "{sets} sets of about {set:.0} s each, {:.0} s in all; Ctrl-C ends it with what there is",
        set * sets as f64
    )
}

fn exit_code(test: &SelfTest, whole: bool) -> ExitCode {
    let told = test.rows.iter().any(|row| row.alone.is_some());
    match whole && told && test.false_alarms.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}
