//! Controls of the measured processes, as a campaign's file gives them.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Controls of the measured processes: options of `latlas run` of the same names.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "they are documented as options of `latlas run`")]
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

    pub(super) fn arguments(&self) -> Vec<String> {
        fn given(name: &str, value: Option<impl ToString>) -> Option<String> {
            value.map(|value| format!("--{name}={}", value.to_string()))
        }
        let flag = |name: &str, on: bool| on.then(|| format!("--{name}"));
        let dir = self.dir.as_ref().map(|dir| dir.display());
        [
            given("pin", self.pin),
            given("nice", self.nice),
            given("autogroup", self.autogroup),
            given("fifo", self.fifo),
            given("shield", self.shield.as_ref()),
            given("core-kind", self.core_kind.as_ref()),
            given("dir", dir),
            given("seed", self.seed),
            given("peer", self.peer.as_ref()),
            flag("cold", self.cold),
            flag("in-process", self.in_process),
            flag("no-controls", self.no_controls),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
