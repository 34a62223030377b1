//! From what was asked to steps.

use super::Step;
use crate::change::Change;
use crate::control::{UnknownControl, changes, hindrance_to_set};
use model::machine::Machine;
use sys::files::Files;

/// The name of the shield among controls.
const SHIELD: &str = "shield";

/// Why something can't be planned.
#[derive(thiserror::Error, Debug)]
pub enum PlanError {
    /// A name that is no control.
    #[error(transparent)]
    Unknown(#[from] UnknownControl),
    #[error("{0:?} is not a CPU: use offline=3")]
    NoCpu(String),
    #[error("a shield needs CPUs besides those of other tasks, and there is only one: use --cpus")]
    NoShieldCpus,
}

/// A control that was named and can't be set on this machine.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
#[error("can't set {name} here: {why}")]
pub struct NotSettable {
    /// As it was named.
    pub name: String,
    pub why: String,
}

/// The first of the named controls that has no step because it can't be set here; one that has its
/// good value already has none either, and is not meant.
pub fn not_settable(
    files: &dyn Files,
    machine: &Machine,
    (only, cpus): (&[String], &[u32]),
    steps: &[Step],
) -> Option<NotSettable> {
    let no_step = |name: &&String| {
        let of_it = |step: &Step| matches!(step, Step::Set(change) if change.control == **name);
        !steps.iter().any(of_it)
    };
    only.iter().filter(no_step).find_map(|name| {
        let why = match name.split_once('=') {
            Some((_, cpu)) => {
                let path = cpu_online(cpu.parse().ok()?);
                (!files.exists(&path)).then(|| format!("there is no {path}"))?
            }
            None => hindrance_to_set(files, machine, name, cpus)?,
        };
        Some(NotSettable { name: name.clone(), why })
    })
}

/// The file that takes a CPU offline.
pub fn cpu_online(cpu: u32) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/online")
}

/// Steps for these controls (all of the default set if none is named), with
/// these CPUs kept quiet and, with `shield`, shielded.
pub fn plan(files: &dyn Files, only: &[String], cpus: &[u32]) -> Result<Vec<Step>, PlanError> {
    let mut controls = Vec::new();
    let mut offline = Vec::new();
    let mut shielded = false;
    for name in only {
        match name.split_once('=') {
            _ if name == SHIELD => shielded = true,
            Some(("offline", cpu)) => {
                let cpu: u32 = cpu.parse().map_err(|_| PlanError::NoCpu(name.clone()))?;
                offline.push(cpu);
            }
            _ => controls.push(name.clone()),
        }
    }
    let mut steps = Vec::new();
    if only.is_empty() || !controls.is_empty() {
        steps.extend(changes(files, &controls, cpus)?.into_iter().map(Step::Set));
    }
    // What takes interrupts along comes after their masks, and the shield last:
    // undone in reverse, each finds what it left.
    steps.extend(offline.into_iter().map(|cpu| {
        Step::Set(Change { control: "offline".into(), path: cpu_online(cpu), wanted: "0".into() })
    }));
    if shielded {
        if cpus.is_empty() {
            return Err(PlanError::NoShieldCpus);
        }
        steps.push(Step::Shield { cpus: cpus.to_vec() });
    }
    Ok(steps)
}
