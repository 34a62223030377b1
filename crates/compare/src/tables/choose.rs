//! Which of several runs a table is filled in from.

use super::{Here, here};
use model::machine::Machine;
use model::run::Run;

/// Whether a run is latlas's own of this machine: of the same host and CPU,
/// emulated only if this program is, too, and by the same. Neither another
/// program's results nor commands say what an operation costs here.
pub fn is_of(run: &Run, machine: &Machine, emulated: Option<&str>) -> bool {
    let named = |m: &Machine| [&m.hostname, &m.cpu_model].map(|fact| fact.get().cloned());
    let own = run.imported.is_none() && run.is_of_rows();
    own && named(&run.machine) == named(machine) && run.emulator() == emulated
}

/// How many of these rows the run has a figure of, or why they can't be measured; one that is invalid
/// may have a figure the next time.
pub fn rows_held(run: &Run, ids: &[String]) -> usize {
    let unknown = |here| matches!(here, Here::NotMeasured { .. } | Here::Invalid { .. });
    let known = |id: &&String| !unknown(here(Some(run), id));
    ids.iter().filter(known).count()
}

/// Of runs that come newest first, the one that holds most of these rows, the
/// newest of several; none where none holds any. Stops at a run that holds all.
pub fn fullest(runs: impl Iterator<Item = Run>, ids: &[String]) -> Option<Run> {
    let mut best: Option<(usize, Run)> = None;
    for run in runs {
        let held = rows_held(&run, ids);
        if held > best.as_ref().map_or(0, |(most, _)| *most) {
            best = Some((held, run));
        }
        if held == ids.len() {
            break;
        }
    }
    best.map(|(_, run)| run)
}
