//! This program in the Run document.

use model::machine::Machine;
use model::run::Program;

/// Version, commit and target, and the emulator if there is one.
pub(crate) fn program(machine: &Machine) -> Program {
    Program {
        name: "latlas".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: option_env!("LATLAS_COMMIT").map(str::to_owned),
        target: env!("LATLAS_TARGET").into(),
        profile: env!("LATLAS_PROFILE").into(),
        emulated: machine
            .emulated
            .get()
            .and_then(|emulator| emulator.name())
            .map(str::to_owned),
    }
}
