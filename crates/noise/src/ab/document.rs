//! From what was measured to the document.

use super::conduct::Conducted;
use super::plan::Plan;
use model::machine::Machine;
use model::noise::effect::{Effects, How, SCHEMA, Workload, judge};
use model::run::Program;

/// A command shorter than this has few ticks of the scheduler, and hardly ever
/// leaves its CPU, ms.
pub const SHORT_MS: f64 = 50.0;

/// What is known beside the runs.
pub struct Beside {
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// How long it took, ms.
    pub wall_ms: u64,
    /// What measured.
    pub program: Program,
    /// The machine.
    pub machine: Machine,
    /// How.
    pub how: How,
    /// Last level of the caches, bytes; 0 where it is not known.
    pub last_level_bytes: u64,
    /// Why there are no autogroups in force here, if so.
    pub no_autogroups: Option<String>,
    /// How long a run of the user's command took, if that is too short, ms.
    pub short_run_ms: Option<f64>,
    /// What else was seen, one sentence each.
    pub seen: Vec<String>,
}

/// The document with the effects of all controls of the plan.
pub fn document(plan: &Plan, conducted: Conducted, beside: Beside) -> Effects {
    let effects = judge::effects(&plan.controls, &conducted.blocks);
    Effects {
        schema: SCHEMA,
        started_unix_ms: beside.started_unix_ms,
        wall_ms: beside.wall_ms,
        remarks: [
            conducted.cut.iter().cloned().collect(),
            remarks(&beside),
            of_controls(plan, &beside),
        ]
        .concat(),
        program: beside.program,
        machine: beside.machine,
        how: beside.how,
        controls: plan.controls.clone(),
        blocks: conducted.blocks,
        effects,
        partial: conducted.partial,
    }
}

fn remarks(beside: &Beside) -> Vec<String> {
    let mut remarks = Vec::new();
    if beside.how.cpus.len() == 1 {
        remarks.push(
            "only one CPU is used: latlas shares it with the jobs, and pinning can do nothing"
                .into(),
        );
    }
    if beside.program.profile == "debug" {
        remarks.push("this is a debug build: its jobs are the same work, done slower".into());
    }
    if let Some(why) = &beside.no_autogroups {
        remarks.push(format!(
            "no autogroups are in force here, so that a load of another session weighs as one of \
             the same: {why}"
        ));
    }
    let memory = beside
        .how
        .work
        .iter()
        .find(|w| w.workload == Workload::Memory);
    if let Some(work) = memory.filter(|work| work.bytes <= beside.last_level_bytes) {
        remarks.push(format!(
            "the memory job has {} MiB, not more than the last level of the caches ({} MiB): it is \
             not bound by memory",
            work.bytes >> 20,
            beside.last_level_bytes >> 20
        ));
    }
    if let Some(run_ms) = beside.short_run_ms {
        remarks.push(format!(
            "a run of the command takes {run_ms:.0} ms: too short to be moved or to lose its CPU \
             often, so that controls of the scheduler can hardly show what they do (at least \
             {SHORT_MS:.0} ms)"
        ));
    }
    remarks.extend(beside.seen.iter().cloned());
    remarks
}

/// What a reader must know of what was set for the jobs, each said once.
fn of_controls(plan: &Plan, beside: &Beside) -> Vec<String> {
    let arms = plan.blocks.iter().flat_map(|block| &block.arms);
    let mut all: Vec<String> = Vec::new();
    for arm in arms {
        for remark in arm.asked.remarks(beside.how.cpus.len()) {
            // That latlas is before them holds for `run` and `exec`.
            if !all.contains(&remark) && !remark.contains("latlas itself") {
                all.push(remark);
            }
        }
    }
    all
}
