//! `latlas noise measure`: what takes the CPU from a thread that only spins.

use crate::arguments::noise::measure::MeasureOptions;
use crate::command::measured::{lock, stop_on_signals};
use crate::command::recorded::{Destination, about};
use anyhow::bail;
use meter::commands::placement::{Placement, PlacementError};
use meter::osnoise::{OsnoiseRequest, measure_together};
use model::machine::Machine;
use model::noise::osnoise::{Interruptions, Osnoise};
use model::recording::Recording;
use model::run::Run;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock::Counter;

/// Parts of the span: the width of the picture.
const STRETCHES: usize = 80;

/// Length of the clock's calibration.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Spins, prints what it saw.
pub(super) fn measure(options: &MeasureOptions) -> anyhow::Result<ExitCode> {
    if let Some(cpu) = options.cpu {
        Placement::check_cpu(cpu)?;
    }
    let destination = Destination::from_options(&options.run, &[], false)?;
    let _lock = lock("latlas noise measure", Some(options.span), options.run.wait)?;
    let machine = sys::machine_facts(Path::new("/"));
    let (cpus, not_pinned) = cpus(options, &machine)?;
    let stop = stop_on_signals()?;
    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let interruptions = Interruptions {
        asked_ms: options.span.as_millis() as u64,
        cpus: spin(&cpus, options.span, stop)?
            .into_iter()
            .map(|osnoise| Osnoise { not_pinned: not_pinned.clone(), ..osnoise })
            .collect(),
    };
    let about = about(machine, started_unix_ms, began_ns);
    let interrupted = stop.load(Ordering::Relaxed);
    let partial = interrupted.then(|| "interrupted: results up to then".into());
    let is_known = interruptions.cpus.iter().all(Osnoise::has_cause);
    let run = Run::recorded(about, Recording::Interruptions(interruptions), partial);
    destination.finish(&run, (true, is_known))
}

/// Where to spin, and why a thread can't be kept anywhere, if it can't.
type Places = (Vec<Option<u32>>, Option<String>);

fn cpus(options: &MeasureOptions, machine: &Machine) -> anyhow::Result<Places> {
    if options.all_cpus {
        return match sys::allowed_cpus() {
            Ok(all) => Ok((all.into_iter().map(Some).collect(), None)),
            Err(why) => bail!("threads can't be kept on CPUs here: {why}; leave --all-cpus out"),
        };
    }
    if let Some(cpu) = options.cpu {
        let chosen = Placement::choose(Some(Some(cpu)), machine)?;
        return Ok((vec![chosen.cpu()], None));
    }
    Ok(anywhere_else(Placement::choose(Some(None), machine).map(|quietest| quietest.cpu())))
}

/// Better anywhere than not at all: the document says why.
fn anywhere_else(chosen: Result<Option<u32>, PlacementError>) -> Places {
    match chosen {
        Ok(quietest) => (vec![quietest], None),
        Err(why) => (vec![None], Some(why.to_string())),
    }
}

fn spin(cpus: &[Option<u32>], span: Duration, stop: &AtomicBool) -> anyhow::Result<Vec<Osnoise>> {
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        bail!("the clock {} can't be calibrated: it does not advance evenly", counter.name());
    }
    let requests: Vec<OsnoiseRequest> =
        cpus.iter().map(|&cpu| OsnoiseRequest { cpu, span, stretches: STRETCHES }).collect();
    let all = measure_together(&requests, counter, &calibration, stop);
    Ok(all.into_iter().map(|one| one.map(|(osnoise, _)| osnoise)).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meter::placement::NotPinned;

    #[test]
    fn why_it_is_kept_on_no_cpu_is_not_lost() {
        let (cpus, why) = anywhere_else(Err(NotPinned::Refused("no such call".into()).into()));
        assert_eq!(cpus, [None]);
        assert!(why.expect("a reason").contains("no such call"));
        assert_eq!(anywhere_else(Ok(Some(3))), (vec![Some(3)], None));
    }
}
