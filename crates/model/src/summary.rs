//! What the index holds of machines, runs and rows.

use crate::campaign::Job;
use crate::estimate::Verdict;
use crate::host_facts::HostFacts;
use crate::keyed::HasId;
use crate::machine::Fact;
use crate::run::{Bound, FigureAt, Row, Run, Scale};
use crate::stats::Interval;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// What one figure is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The row.
    pub id: String,
    /// The point on its curve or map; empty for a single figure.
    pub at: Vec<u64>,
    /// The mode, where the row ran in several.
    pub mode: Option<String>,
}

impl Key {
    /// Row, point and mode in words.
    pub fn label(&self) -> String {
        let mut name = self.id.clone();
        if !self.at.is_empty() {
            let at: Vec<String> = self.at.iter().map(u64::to_string).collect();
            name = format!("{name} at {}", at.join(" x "));
        }
        match &self.mode {
            Some(mode) => format!("{name} ({mode})"),
            None => name,
        }
    }
}

/// By what a machine is known again: a hash of its host name, its CPU's model
/// and signature, and the emulator, in hexadecimal digits.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct MachineKey(pub String);

impl MachineKey {
    /// The machine that a run was made on.
    pub fn from_run(run: &Run) -> MachineKey {
        MachineKey::of_machine(&run.machine, run.emulator())
    }

    /// A machine by what is known of it, and the emulator it is made up by.
    pub fn of_machine(m: &crate::machine::Machine, emulator: Option<&str>) -> MachineKey {
        let signature = m.cpu_signature.get().map(ToString::to_string);
        let known = [
            m.hostname.get().map(String::as_str),
            m.cpu_model.get().map(String::as_str),
            signature.as_deref(),
            emulator,
        ];
        let text = known.map(|fact| fact.unwrap_or("?")).join("\n");
        MachineKey(crate::phrases::hexadecimal(&Sha256::digest(text)[..6]))
    }
}

/// What may move a figure on one machine from one run to the next.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Setup"))]
pub struct RunSetup {
    /// Kernel, if known.
    pub kernel: Option<String>,
    /// Version of the program that measured.
    pub version: String,
    /// Its commit, if known.
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    /// Frequency governor of the CPUs, if known.
    pub governor: Option<String>,
    /// CPUs online, if known.
    pub cpus: Option<usize>,
    /// Controls in force for the workers, if known.
    pub controls: Option<String>,
}

/// A kept run in a line.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct KeptRun {
    /// UUID.
    pub id: String,
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// How long it took, ms.
    pub wall_ms: u64,
    /// On which machine.
    pub machine: MachineKey,
    /// Its host name, where known.
    pub host: Option<String>,
    /// The machine in a line.
    pub machine_line: String,
    /// What else may move its figures.
    pub setup: RunSetup,
    /// What hosts of a fleet may differ in.
    #[serde(default)]
    pub facts: HostFacts,
    /// How much was measured.
    pub scale: Scale,
    /// Rows it has.
    pub rows: u32,
    /// Why it is not whole, if so.
    pub partial: Option<String>,
    /// The job of a campaign that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// Another program measured it.
    pub imported: bool,
    /// It is of commands (`latlas exec`) or of a recording, not of rows.
    pub commands: bool,
    /// What was run, as one would type it: `overview`, `run --quick`, `cpu.*`,
    /// `gzip -kc part`.
    #[serde(default)]
    pub what: String,
    /// The canaries' quiet ratio, if later runs of the machine may take it from
    /// this one ([`crate::gate::Gate::teaches`]).
    pub quiet_ratio: Option<f64>,
    /// Median cycle of the core's clock, ns, where the run measured it.
    #[serde(default)]
    pub cycle_ns: Option<f64>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The document.
    pub path: PathBuf,
}

impl KeptRun {
    /// What a document tells, without tags, which no document holds.
    pub fn from_run(run: &Run, path: PathBuf) -> KeptRun {
        let m = &run.machine;
        let text = |fact: &Fact<String>| fact.get().cloned();
        let applied = run.conditions.applied.as_ref();
        KeptRun {
            id: run.id.clone(),
            started_unix_ms: run.started_unix_ms,
            wall_ms: run.wall_ms,
            machine: MachineKey::from_run(run),
            host: text(&m.hostname),
            machine_line: m.one_line(),
            setup: RunSetup {
                kernel: text(&m.kernel),
                version: run.program.version.clone(),
                commit: run.program.commit.clone(),
                profile: run.program.profile.clone(),
                governor: m.governor.get().map(ToString::to_string),
                cpus: m.online_cpus.get().map(Vec::len),
                controls: applied.map(|applied| applied.in_force().join(", ")),
            },
            facts: HostFacts::from_run(run),
            scale: run.plan.scale,
            rows: run.rows.len() as u32,
            partial: run.partial.clone(),
            job: run.job.clone(),
            imported: run.imported.is_some(),
            commands: !run.is_of_rows(),
            what: what(run),
            quiet_ratio: run.gate.teaches(),
            cycle_ns: run.core_clock.as_ref().map(|clock| clock.cycle_ns.value),
            tags: Vec::new(),
            path,
        }
    }
}

fn what(run: &Run) -> String {
    if run.imported.is_some() {
        return "imported".into();
    }
    if let Some(record) = &run.commands {
        return record.what();
    }
    let scale = match run.plan.scale {
        Scale::Quick => " --quick",
        Scale::Default => "",
        Scale::Full => " --full",
    };
    match run.plan.asked.join(" ") {
        asked if asked.is_empty() => format!("run{scale}"),
        asked => format!("{asked}{scale}"),
    }
}

/// A machine in a line.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Machine"))]
pub struct MachineSummary {
    /// By what it is known again.
    pub key: MachineKey,
    /// Its host name, where known.
    pub host: Option<String>,
    /// What it is.
    pub line: String,
    /// Kept runs of it.
    pub runs: usize,
    /// When the newest began, ms since 1970 UTC.
    pub newest_unix_ms: u64,
}

impl HasId for MachineSummary {
    fn id(&self) -> (&str, &[u64]) {
        (&self.key.0, &[])
    }
}

impl MachineSummary {
    /// What people call it: its host name, else its key.
    pub fn display_name(&self) -> &str {
        self.host.as_deref().unwrap_or(&self.key.0)
    }

    /// Whether a name means it: its host name in any case, or at least four
    /// digits that its key begins with.
    pub fn is_called(&self, name: &str) -> bool {
        let key = name.to_ascii_lowercase();
        let by_key = key.len() >= 4 && self.key.0.starts_with(&key);
        by_key || self.host.as_ref().is_some_and(|host| host.eq_ignore_ascii_case(name))
    }
}

/// One figure of one run: a row, or one point of a curve or map.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptResult {
    /// The row.
    pub row: String,
    /// The point; empty for a single figure.
    pub at: Vec<u64>,
    /// What its time follows.
    pub bound: Bound,
    /// Unit it is shown in.
    pub unit: Unit,
    /// The figure to show first (quiet, else typical), 95 % interval of its run
    /// alone: ns per operation; counts and bytes as they are.
    pub value_ns: Option<Interval>,
    /// Whether that is the quiet figure: a typical one is another quantity, and
    /// the two are no one history.
    pub quiet: bool,
    /// The mode that it is of, where modes lie apart: each is a quantity of its
    /// own, too.
    pub mode: Option<String>,
    /// The same in clock cycles, where known.
    pub cycles: Option<Interval>,
    /// If set, it can't be distinguished from 0: it is below this many ns.
    pub below_ns: Option<f64>,
    /// How far to trust it; absent where it was not measured.
    pub verdict: Option<Verdict>,
    /// The verdict's reason, or why it was not measured.
    pub reason: String,
}

impl KeptResult {
    /// The figure if it may be set against those of other runs, ns (counts and
    /// bytes as they are): its verdict is ok and it can be distinguished from 0.
    pub fn reliable(&self) -> Option<f64> {
        let known = self.verdict == Some(Verdict::Ok) && self.below_ns.is_none();
        self.value_ns.filter(|_| known).map(|value| value.value)
    }

    /// The summary of a row's figure.
    pub fn from_row(row: &Row, figure: FigureAt) -> KeptResult {
        let estimate = figure.estimate;
        KeptResult {
            row: row.id.clone(),
            bound: figure.bound,
            at: figure.at,
            unit: row.unit,
            value_ns: estimate.ns_of_run(),
            quiet: estimate.quiet.is_some(),
            mode: estimate.mode().map(str::to_owned),
            cycles: estimate.quiet.and_then(|quiet| quiet.cycles),
            below_ns: estimate.below_ns,
            verdict: Some(estimate.verdict),
            reason: estimate.reason.clone(),
        }
    }

    /// The summary of a row that has no figure.
    pub fn unavailable(row: &Row, reason: &str) -> KeptResult {
        KeptResult {
            row: row.id.clone(),
            at: Vec::new(),
            bound: row.bound,
            unit: row.unit,
            value_ns: None,
            quiet: false,
            mode: None,
            cycles: None,
            below_ns: None,
            verdict: None,
            reason: reason.to_owned(),
        }
    }
}
