//! What an experiment recorded.

use super::conduct::Conducted;
use super::planned::AbPlan;
use meter::controls::ControlRemark;
use model::noise::effect::{Effects, How, Workload};
use model::recording::{About, Recording};
use model::run::Run;

/// A shorter command has few scheduler ticks and migrations, ms.
pub const SHORT_MS: f64 = 50.0;

/// What the document has besides the runs.
pub struct DocumentContext {
    /// When, by what and on what.
    pub about: About,
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

pub fn ab_document(plan: &AbPlan, conducted: Conducted, context: DocumentContext) -> Run {
    let remarks =
        [conducted.cut.iter().cloned().collect(), remarks(&context), of_controls(plan, &context)]
            .concat();
    let (how, controls) = (context.how, plan.controls.clone());
    let effects = Effects { how, controls, blocks: conducted.blocks };
    let mut run = Run::recorded(context.about, Recording::Effects(effects), conducted.partial);
    run.conditions.remarks = remarks;
    run
}

fn remarks(context: &DocumentContext) -> Vec<String> {
    let mut remarks = Vec::new();
    if context.how.cpus.len() == 1 {
        remarks
            .push("one CPU only: latlas shares it with the jobs, and pinning has no effect".into());
    }
    if context.about.program.profile == "debug" {
        remarks.push("debug build: the jobs do the same work slower".into());
    }
    if let Some(why) = &context.no_autogroups {
        remarks.push(format!(
            "no autogroups here: a load in another session weighs as one in the same: {why}"
        ));
    }
    let memory = context.how.work.iter().find(|w| w.workload == Workload::Memory);
    if let Some(work) = memory.filter(|work| work.bytes <= context.last_level_bytes) {
        remarks.push(format!(
            "the memory job uses {} MiB, not more than the last-level cache ({} MiB): it is not \
             bound by memory",
            work.bytes >> 20,
            context.last_level_bytes >> 20
        ));
    }
    if let Some(run_ms) = context.short_run_ms {
        remarks.push(format!(
            "a run takes {run_ms:.0} ms: too short to show effects of scheduler controls (use at \
             least {SHORT_MS:.0} ms)"
        ));
    }
    remarks.extend(context.seen.iter().cloned());
    remarks
}

/// What the settings of the jobs do to figures, each once.
fn of_controls(plan: &AbPlan, context: &DocumentContext) -> Vec<String> {
    let arms = plan.blocks.iter().flat_map(|block| &block.arms);
    let mut all = Vec::new();
    for arm in arms {
        let remarks = arm.asked.remarks(context.how.cpus.len()).into_iter();
        // Only `run` and `exec` raise their own priority.
        for remark in remarks.filter(|remark| *remark != ControlRemark::OnlyCpu) {
            if !all.contains(&remark) {
                all.push(remark);
            }
        }
    }
    all.iter().map(ControlRemark::to_string).collect()
}
