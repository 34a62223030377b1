//! What will run: which arms of which job, with which load, how often, and how
//! long that may take.

use super::available::{Here, Unavailable};
use super::control::{self, COLD, Mechanism, NONE, PIN, Spec};
use super::duration::{run_ms, settling_ms};
use super::planned::{AbPlan, AbRequest, Length, PlannedArm, PlannedBlock};
use super::toggle::ToggleError;
use meter::controls::RequestedControls;
use model::compare::finding::LEVEL;
use model::noise::applied::Settings;
use model::noise::effect::judge::COMPARISONS;
use model::noise::effect::{Control, Load, Workload};
use std::collections::BTreeMap;
use std::time::Duration;

/// Rounds when nothing else is asked for: what fits about four and a half
/// minutes. Of sixteen even the most careful test of a whole table can tell an
/// effect that is always there; these are enough for one that is mostly.
pub const ROUNDS: u32 = 24;
/// Below this many no interval of one comparison alone would be there.
pub const LEAST_ROUNDS: u32 = 6;
/// Most rounds that a time is turned into.
pub const MOST_ROUNDS: u32 = 1000;
/// Time that a command gets when nothing else is asked for, if that is enough
/// for the fewest rounds.
const COMMAND_TIME: Duration = Duration::from_secs(120);
/// Most rounds of a short command when nothing else is asked for.
const COMMAND_ROUNDS: u32 = 100;

/// Slack of the timers of the job that sleeps, in all states, ns: the least
/// there is (`PR_SET_TIMERSLACK`, prctl(2)).
const WAKEUP_SLACK_NS: u64 = 1;

/// Where no round can be spared, so many times the expected time is allowed: jobs
/// may be that much slower than when they were tried.
const SLACK: f64 = 1.1;

/// Lays out the request. `available` tries whether a control can be set here.
pub fn plan(
    request: &AbRequest,
    mut available: impl FnMut(&Spec, &RequestedControls) -> Result<Here, Unavailable>,
) -> AbPlan {
    let unnamed = request.controls.is_empty();
    let specs: Vec<&Spec> = match unnamed {
        true => control::ALL.iter().collect(),
        false => request.controls.clone(),
    };
    let controls: Vec<Control> = specs
        .iter()
        .map(|spec| {
            let pin = match spec.pins() {
                true => request.pin.clone().map(drop).map_err(Unavailable::NoPin),
                false => Ok(()),
            };
            // First: that the machine lacks it says more.
            let tried = pin.and_then(|()| available(spec, &request.controls_for(spec)));
            let tried = match unnamed && spec.only_by_name() {
                true => tried.and(Err(Unavailable::OnlyByName)),
                false => tried,
            };
            described(spec, tried, request)
        })
        .collect();
    lay_out(request, controls)
}

impl AbPlan {
    /// Takes these controls out, each for its reason.
    pub fn leave_out(&mut self, refused: &BTreeMap<String, ToggleError>, request: &AbRequest) {
        for control in &mut self.controls {
            if let Some(why) = refused.get(&control.name) {
                control.unavailable = Some(why.to_string());
            }
        }
        *self = lay_out(request, std::mem::take(&mut self.controls));
    }

    /// Runs in all, those that count for nothing too.
    pub fn run_count(&self) -> u64 {
        let arms: usize = self.blocks.iter().map(|block| block.arms.len()).sum();
        arms as u64 * u64::from(self.rounds + 1)
    }
}

/// The fewest rounds by which one effect alone can be shown that is there in
/// each of them: its p-value, 2 / 2^n, must be below the level's share of each
/// comparison of the family.
fn least_rounds(effects: usize) -> u32 {
    let comparisons = (COMPARISONS * effects.max(1)) as f64;
    (1.0 + (comparisons / LEVEL).log2()).ceil() as u32
}

/// Blocks of the controls that are available.
fn lay_out(request: &AbRequest, controls: Vec<Control>) -> AbPlan {
    let usable: Vec<&Spec> = controls
        .iter()
        .filter(|control| control.unavailable.is_none())
        .filter_map(|control| control::control_named(&control.name))
        .collect();
    let busy = request.busy_per_cpu * request.cpus.len() as u32;
    let blocks = blocks(request, &usable);
    let round_ms: f64 = blocks.iter().map(|b| b.round_ms).sum();
    let settling_ms: f64 = blocks.iter().map(|b| settling_ms(b.load)).sum();
    let of_command = request.workloads.contains(&Workload::Command);
    let least_rounds = match of_command {
        true => least_rounds(usable.len() * blocks.len()),
        false => LEAST_ROUNDS,
    };
    let fitting = |time: Duration, most: u32| {
        let most_ms = time.as_secs_f64() * 1e3;
        // One more for the warming up.
        let fit = ((most_ms - settling_ms) / round_ms.max(1e-3) - 1.0).floor();
        fit.clamp(f64::from(least_rounds), f64::from(most)) as u32
    };
    let rounds = match request.length {
        Length::Rounds(rounds) => rounds,
        Length::Time(time) => fitting(time, MOST_ROUNDS),
        Length::Usual if of_command => fitting(COMMAND_TIME, COMMAND_ROUNDS),
        Length::Usual => ROUNDS,
    };
    let expected_ms = (round_ms * f64::from(rounds + 1) + settling_ms) as u64;
    // One round less than the fewest shows nothing.
    let enough_ms = match rounds > least_rounds {
        true => expected_ms,
        false => (expected_ms as f64 * SLACK).ceil() as u64,
    };
    let (most_ms, most_rounds) = match request.length {
        Length::Rounds(_) => (None, rounds),
        Length::Time(time) => (Some(enough_ms.max(time.as_millis() as u64)), MOST_ROUNDS),
        Length::Usual => (Some(enough_ms), rounds),
    };
    AbPlan { controls, expected_ms, blocks, rounds, most_rounds, least_rounds, most_ms, busy }
}

fn described(spec: &Spec, tried: Result<Here, Unavailable>, request: &AbRequest) -> Control {
    let (on_arm, off_arm) = spec.arms();
    let (here, unavailable) = match tried {
        Ok(here) => (here, None),
        Err(why) => (Here::default(), Some(why.to_string())),
    };
    let with = |general: &str, here: Option<String>| match here {
        Some(here) => format!("{general}: {here}"),
        None => general.into(),
    };
    let cpu = request.pin.as_ref().map_or("CPU".into(), u32::to_string);
    Control {
        name: spec.name.into(),
        on: with(&spec.on(), here.on),
        off: with(spec.off, here.off),
        on_arm: on_arm.into(),
        off_arm: off_arm.into(),
        needs: spec.needs().map(Into::into),
        apply: spec.apply(&cpu),
        unavailable,
    }
}

impl AbRequest {
    /// What is requested for the process of the arm with this control on.
    fn controls_for(&self, spec: &Spec) -> RequestedControls {
        spec.requested(&self.cpus, self.pin.as_ref().ok().copied())
    }

    /// The arm with a control on.
    fn arm_with(&self, spec: &Spec) -> PlannedArm {
        let (on, _) = spec.arms();
        PlannedArm {
            name: on.into(),
            asked: self.controls_for(spec),
            cold: on == COLD,
            toggle: (spec.kind == Mechanism::System).then(|| spec.name.into()),
        }
    }

    /// An arm without any control, but pinned or cold.
    fn without(&self, name: &str) -> PlannedArm {
        let plain = || Settings { cpus: self.cpus.clone(), ..Settings::default() };
        let settings = match control::control_named(name).filter(|spec| spec.name == PIN) {
            Some(pin) => self.controls_for(pin).settings,
            None => plain(),
        };
        PlannedArm {
            name: name.into(),
            asked: RequestedControls { settings, groups: Vec::new() },
            cold: name == COLD,
            toggle: None,
        }
    }
}

fn blocks(request: &AbRequest, usable: &[&Spec]) -> Vec<PlannedBlock> {
    let mut pairs: Vec<(Workload, Load)> = Vec::new();
    for &workload in &request.workloads {
        pairs.extend(request.loads.iter().map(|&load| (workload, load)));
    }
    // Their own job: what the others do is no matter of files.
    if !request.workloads.contains(&Workload::Command) {
        pairs.push((Workload::Files, Load::None));
    }
    pairs
        .into_iter()
        .filter_map(|(workload, load)| block(request, usable, workload, load))
        .collect()
}

/// `None` where no control is to be tried there.
fn block(
    request: &AbRequest,
    usable: &[&Spec],
    workload: Workload,
    load: Load,
) -> Option<PlannedBlock> {
    let mut arms = vec![request.without(NONE)];
    for spec in usable.iter().filter(|spec| spec.applies_to(workload)) {
        let (_, off) = spec.arms();
        for arm in [request.arm_with(spec), request.without(off)] {
            if arms.iter().all(|there| there.name != arm.name) {
                arms.push(arm);
            }
        }
    }
    if workload == Workload::Wakeup {
        // A real-time thread has no slack: with the usual one of the others, its
        // lack would pass for the priority's doing.
        for arm in &mut arms {
            arm.asked.settings.timer_slack_ns = Some(WAKEUP_SLACK_NS);
        }
    }
    let round_ms = arms.iter().map(|arm| run_ms(request, workload, load, arm));
    (arms.len() > 1).then(|| PlannedBlock {
        workload,
        load,
        round_ms: round_ms.sum(),
        arms: arms.clone(),
    })
}
