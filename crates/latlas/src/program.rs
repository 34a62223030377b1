//! This program in the Run document.

use model::machine::Machine;
use model::recording::About;
use model::run::Program;
use std::path::{Path, PathBuf};

/// As [`meter::program::program`], with what the build knows.
pub fn program(machine: &Machine) -> Program {
    Program {
        commit: option_env!("LATLAS_COMMIT").map(str::to_owned),
        target: env!("LATLAS_TARGET").into(),
        profile: env!("LATLAS_PROFILE").into(),
        ..meter::program::program("latlas", env!("CARGO_PKG_VERSION"), machine)
    }
}

/// What to type for this program, where `latlas` alone would not run it: its path as it was typed.
pub(crate) fn typed_name() -> Option<String> {
    let own = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    name_to_type(&own, &on_path, &std::env::args().next()?)
}

fn name_to_type(own: &Path, on_path: &[PathBuf], typed: &str) -> Option<String> {
    let mut installed =
        on_path.iter().filter_map(|directory| directory.join("latlas").canonicalize().ok());
    let is_installed = installed.next().is_some_and(|first| Some(first) == own.canonicalize().ok());
    (!is_installed && typed.contains('/')).then(|| typed.to_owned())
}

/// What a run says of itself that began then, by [`sys::monotonic_raw_ns`].
pub(crate) fn about(machine: Machine, started_unix_ms: u64, began_ns: u64) -> About {
    About {
        id: uuid::Uuid::new_v4().to_string(),
        started_unix_ms,
        wall_ms: sys::monotonic_raw_ns().saturating_sub(began_ns) / 1_000_000,
        program: program(&machine),
        machine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_on_path_is_typed_with_its_path() {
        let home = tempfile::tempdir().expect("a directory");
        let own = home.path().join("latlas");
        std::fs::write(&own, "").expect("written");
        let on_path = [home.path().to_owned()];
        assert_eq!(name_to_type(&own, &on_path, "latlas"), None);
        assert_eq!(name_to_type(&own, &on_path, "target/release/latlas"), None);
        let typed = name_to_type(&own, &[], "target/release/latlas");
        assert_eq!(typed.as_deref(), Some("target/release/latlas"));
    }
}
