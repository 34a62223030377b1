//! What the figures depend on apart from machine and job.

use model::filesystem::Filesystem;
use model::machine::Fact;
use model::qos::QosConditions;
use sys::files::{NoAutogroups, Tree};

/// Reads them.
pub fn now(filesystem: Filesystem) -> QosConditions {
    QosConditions {
        power: sys::power::source(&Tree::system()),
        autogroups: autogroups_here(),
        root: sys::filesystem::user() == 0,
        filesystem,
        load_before: sys::load_average().map(|[minute, ..]| minute),
    }
}

/// Whether autogroups act here.
pub fn autogroups_here() -> Fact<bool> {
    autogroups(sys::controls::autogroups())
}

fn autogroups(act: Result<(), NoAutogroups>) -> Fact<bool> {
    match act {
        Ok(()) => Fact::known(true),
        // On Apple systems nothing is predicted by weights.
        Err(NoAutogroups::Apple | NoAutogroups::NoProc) => {
            Fact::unknown("the scheduler's weights are not known here")
        }
        Err(_) => Fact::known(false),
    }
}
