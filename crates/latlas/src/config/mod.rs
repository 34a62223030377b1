//! The user's configuration file: defaults for options that are set again and
//! again. It is read in one place, before any command, and becomes defaults of
//! the command line itself ([`apply`]); so a flag beats it, and no command knows
//! of it. `latlas config` tells what it says.

mod apply;
mod file;
mod keys;
mod place;
mod start;

pub(crate) use file::{ConfigError, Read};
pub(crate) use keys::{Key, keys};
pub(crate) use place::{Place, of_user};
pub(crate) use start::{arguments, checked};

use crate::arguments::Color;
use model::run::Scale;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// What the file may say. Every key is optional; an unknown one is an error.
#[derive(Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "latlas configuration")]
pub(crate) struct Configuration {
    /// Where runs are kept: an absolute path. LATLAS_DATA_DIR beats it.
    pub(crate) data_dir: Option<PathBuf>,
    /// How runs are measured: latlas, latlas run, latlas selftest, and latlas table --measure.
    pub(crate) run: RunDefaults,
    /// What is set for measured processes: latlas, latlas run and latlas exec.
    pub(crate) controls: ControlDefaults,
    /// How results are printed.
    pub(crate) look: LookDefaults,
    /// What counts as a change.
    pub(crate) gate: GateDefaults,
    /// latlas serve.
    pub(crate) serve: ServeDefaults,
}

/// Defaults of measuring.
#[derive(Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunDefaults {
    /// How much is measured.
    pub(crate) scale: Option<Scale>,
    /// The CPU to measure on.
    pub(crate) pin: Option<u32>,
    /// Time for measuring, such as "30s" or "2m".
    pub(crate) budget: Option<String>,
    /// The directory for files of the rows about files and disks: an absolute path.
    pub(crate) dir: Option<PathBuf>,
}

/// Defaults of the controls.
#[derive(Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ControlDefaults {
    /// Nice value, -20 to 19.
    pub(crate) nice: Option<i32>,
    /// Nice value of the autogroup, -20 to 19.
    pub(crate) autogroup: Option<i32>,
    /// Priority of SCHED_FIFO, 1 to 98.
    pub(crate) fifo: Option<u32>,
    /// CPUs that everybody else is moved off, such as "2-3".
    pub(crate) shield: Option<String>,
}

/// Defaults of printing.
#[derive(Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LookDefaults {
    /// Published tables to set beside.
    pub(crate) vs: Option<Vec<String>>,
    /// Every column and every point.
    pub(crate) wide: Option<bool>,
    /// Scale 1 ns to 1 s.
    pub(crate) human: Option<bool>,
    /// Count operations per frame.
    pub(crate) frames: Option<bool>,
    /// When to colour. NO_COLOR beats it.
    pub(crate) color: Option<Color>,
}

/// Defaults of comparing.
#[derive(Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GateDefaults {
    /// How close to 1 the interval of a ratio must lie for "the same", such as "5%".
    pub(crate) margin: Option<String>,
    /// Exit 1 if a row's time surely grew by more, such as "10%": latlas compare, and latlas run
    /// with a baseline.
    pub(crate) fail_above: Option<String>,
}

/// Defaults of the server.
#[derive(Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServeDefaults {
    /// Address and port, such as "127.0.0.1:8080".
    pub(crate) listen: Option<String>,
}

/// JSON Schema of the file: `docs/config-schema.json`.
pub(crate) fn schema() -> serde_json::Value {
    schemars::schema_for!(Configuration).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_in_docs_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config-schema.json");
        let mut generated = serde_json::to_string_pretty(&schema()).expect("schema");
        generated.push('\n');
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &generated).expect("docs can be written");
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            kept == generated,
            "docs/config-schema.json differs from the types: UPDATE_DOCS=1 cargo test -p latlas"
        );
    }
}
