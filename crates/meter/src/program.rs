//! The program that measures, in the Run document.

use model::machine::Machine;
use model::program::Program;

/// Of a program that uses this library: its name and version, and the emulator if there is one. The
/// commit is not known.
pub fn program(name: &str, version: &str, machine: &Machine) -> Program {
    let emulator = machine.emulated.get().and_then(|emulator| emulator.present_name());
    Program {
        name: name.into(),
        version: version.into(),
        commit: None,
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        profile: if cfg!(debug_assertions) { "debug".into() } else { "release".into() },
        emulated: emulator.map(str::to_owned),
    }
}
