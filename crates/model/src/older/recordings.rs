//! Documents of schema 6 and before that held one recording, each with a header of its own:
//! read for one release.

use crate::cpu_history::CpuHistory;
use crate::limits::TRACE;
use crate::machine::{Fact, Machine};
use crate::misfit;
use crate::noise::effect::Effects;
use crate::noise::osnoise::Interruptions;
use crate::program::Program;
use crate::qos::Qos;
use crate::qos::knobs::Knobs;
use crate::run::Run;
use crate::run::recording::{About, Recording};
use crate::trace::{Clocks, Trace};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// What their headers had in common.
#[derive(Deserialize)]
struct Header {
    #[serde(alias = "began_unix_ms")]
    started_unix_ms: Option<u64>,
    /// These three of a trace.
    began: Option<Clocks>,
    architecture: Option<String>,
    kernel: Option<String>,
    #[serde(default)]
    wall_ms: u64,
    program: Option<Program>,
    machine: Option<Machine>,
    hostname: Option<String>,
    cpu_model: Option<String>,
    partial: Option<String>,
    #[serde(default)]
    remarks: Vec<String>,
}

/// The run in such a document; `None` if it is none.
pub fn recorded(json: &[u8]) -> Option<Run> {
    let header: Header = misfit::read_json_within(json, &TRACE).ok()?;
    let recording = || {
        body::<Interruptions>(json)
            .map(Recording::Interruptions)
            .or_else(|| body::<CpuHistory>(json).map(Recording::CpuHistory))
            .or_else(|| body::<Effects>(json).map(Recording::Effects))
            .or_else(|| body::<Qos>(json).map(Recording::Qos))
            .or_else(|| body::<Knobs>(json).map(Recording::Knobs))
    };
    let recording = match header.began {
        Some(_) => Recording::Trace(Box::new(body::<Trace>(json)?)),
        None => recording()?,
    };
    let began_unix_ms = header.began.map(|began| began.real_ns / 1_000_000);
    let not_said = "the document of an older latlas does not say";
    let unknown = || Machine {
        hostname: header.hostname.clone().map_or(Fact::unknown(not_said), Fact::known),
        cpu_model: header.cpu_model.clone().map_or(Fact::unknown(not_said), Fact::known),
        kernel: header.kernel.clone().map_or(Fact::unknown(not_said), Fact::known),
        ..Machine::unknown(header.architecture.as_deref().unwrap_or("unknown"), not_said)
    };
    let wall_ms = match &recording {
        Recording::CpuHistory(history) => history.duration_ns() / 1_000_000,
        Recording::Interruptions(of) => of.asked_ms,
        Recording::Trace(of) => of.duration_ns / 1_000_000,
        _ => 0,
    };
    let about = About {
        id: digest_id(json),
        started_unix_ms: header.started_unix_ms.or(began_unix_ms)?,
        wall_ms: header.wall_ms.max(wall_ms),
        program: header.program.unwrap_or_else(program),
        machine: header.machine.unwrap_or_else(unknown),
    };
    let mut run = Run::recorded(about, recording, header.partial);
    run.conditions.remarks = header.remarks;
    Some(run)
}

fn body<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    serde_json::from_slice(misfit::without_mark(json)).ok()
}

fn program() -> Program {
    Program {
        name: "latlas".into(),
        version: "unknown".into(),
        commit: None,
        target: "unknown".into(),
        profile: "release".into(),
        emulated: None,
    }
}

/// A UUID (version 8) of the document: it is the same whenever it is read.
fn digest_id(json: &[u8]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(json)[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = crate::phrases::hexadecimal(&bytes);
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}
