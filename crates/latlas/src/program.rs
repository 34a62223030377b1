//! This program in the Run document.

use model::machine::Machine;
use model::run::Program;

/// As [`meter::program::program`], with what the build knows.
pub(crate) fn program(machine: &Machine) -> Program {
    Program {
        commit: option_env!("LATLAS_COMMIT").map(str::to_owned),
        target: env!("LATLAS_TARGET").into(),
        profile: env!("LATLAS_PROFILE").into(),
        ..meter::program::program("latlas", env!("CARGO_PKG_VERSION"), machine)
    }
}
