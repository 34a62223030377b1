//! Controls of the measured processes, as a campaign's file gives them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// Controls of the measured processes: options of `latlas run` of the same names.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Controls {
    pub pin: Option<u32>,
    pub nice: Option<i32>,
    pub autogroup: Option<i32>,
    pub fifo: Option<u8>,
    pub shield: Option<String>,
    pub core_kind: Option<String>,
    pub dir: Option<PathBuf>,
    pub seed: Option<u64>,
    pub peer: Option<String>,
    pub cold: bool,
    pub in_process: bool,
    pub no_controls: bool,
}

impl Controls {
    pub(super) fn is_default(&self) -> bool {
        *self == Controls::default()
    }

    /// As options, each by its own name.
    pub(super) fn arguments(&self) -> Vec<String> {
        let argument = |(name, value): (String, Value)| {
            let name = name.replace('_', "-");
            match value {
                Value::Null | Value::Bool(false) => None,
                Value::Bool(true) => Some(format!("--{name}")),
                Value::String(text) => Some(format!("--{name}={text}")),
                other => Some(format!("--{name}={other}")),
            }
        };
        match serde_json::to_value(self) {
            Ok(Value::Object(all)) => all.into_iter().filter_map(argument).collect(),
            // Its texts come from a file of TOML, and are Unicode.
            _ => Vec::new(),
        }
    }
}
