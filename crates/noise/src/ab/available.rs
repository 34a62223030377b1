//! Which controls can be compared on this machine.

use super::control::{Mechanism, Spec};
use meter::controls::RequestedControls;
use model::setting::Setting;
use sys::files::Files;
use sys::files::bracketed;

pub(super) const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// Which processes get huge pages.
/// Makes every process get them.
pub(super) const FOR_ALL: &str = "always";

/// Why a control can't be compared here.
#[derive(thiserror::Error, Debug)]
pub enum Unavailable {
    /// No CPU to pin to.
    #[error("{0}")]
    NoPin(NoPin),
    #[error("compared only if named: it takes CPUs offline in each round")]
    OnlyByName,
    #[error("system-wide: needs root")]
    NeedsRoot,
    /// Neither a command is compared nor `--apply` given.
    #[error("changes the whole system while it is compared: needs --apply or a command (-- CMD)")]
    NeedsApply,
    /// The kernel or the machine lacks it, by `noise show`.
    #[error("{0}")]
    Shown(String),
    #[error("nothing to set: {0}")]
    NothingToSet(String),
    /// No such control of `noise tune`.
    #[error(transparent)]
    Plan(#[from] crate::tune::PlanError),
    /// Refused for a process.
    #[error(transparent)]
    Refused(#[from] meter::controls::ControlError),
    #[error("can't {action} {path}: {error}")]
    File { action: &'static str, path: &'static str, error: std::io::Error },
    #[error("every process gets huge pages already; no-thp is the reverse")]
    AlreadyAlways,
    #[error("THP is {0}: no process gets huge pages without asking")]
    NotAlways(String),
    /// Absent in a test.
    #[error("{0}")]
    Other(&'static str),
}

/// Why no CPU can be pinned to.
#[derive(thiserror::Error, Clone, Debug)]
pub enum NoPin {
    #[error("no CPU to pin to")]
    NoCpu,
    /// Choosing one failed.
    #[error("{0}")]
    Placement(String),
}

/// What trying a control shows of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// What it is on this machine with the control on.
    pub on: Option<String>,
    /// And off: the value that was found.
    pub off: Option<String>,
}

/// Whether a control of a process, or the page cache, can be set here: it is
/// tried on a process that does nothing else, and read back.
pub fn try_out(
    spec: &Spec,
    asked: &RequestedControls,
    files: &dyn Files,
) -> Result<Here, Unavailable> {
    let mut here = Here::default();
    match spec.kind {
        Mechanism::System => {}
        Mechanism::Cache => may_drop_cache()?,
        Mechanism::Process => {
            if spec.sets.contains(&Setting::TransparentHugePages(false)) {
                huge_pages_for_all(files)?;
            }
            asked.try_out()?;
            // A session is an autogroup, without a nice value.
            if spec.name == "session" {
                let why = sys::controls::autogroups().err();
                here.on = why.map(|why| format!("no autogroup here: {why}"));
            }
        }
    }
    Ok(here)
}

/// Whether the page cache may be dropped, without doing it.
fn may_drop_cache() -> Result<(), Unavailable> {
    const SWITCH: &str = "/proc/sys/vm/drop_caches";
    sys::page_cache::may_drop_all().map_err(|error| Unavailable::File {
        action: "write",
        path: SWITCH,
        error,
    })
}

/// Whether processes get huge pages without asking.
pub fn huge_pages_for_all(files: &dyn Files) -> Result<(), Unavailable> {
    match chosen(files)? {
        word if word == FOR_ALL => Ok(()),
        word => Err(Unavailable::NotAlways(word)),
    }
}

/// The chosen word; all words if none is marked.
pub(super) fn chosen(files: &dyn Files) -> Result<String, Unavailable> {
    let now = files.read(HUGE_PAGES);
    let now = now.map_err(|error| Unavailable::File { action: "read", path: HUGE_PAGES, error })?;
    Ok(bracketed(&now).unwrap_or(now))
}
