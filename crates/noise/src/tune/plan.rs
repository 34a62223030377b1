//! From what was asked to steps.

use super::Step;
use crate::change::Change;
use crate::control::{UnknownControl, changes};
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
