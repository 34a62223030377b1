//! What will run: which arms of which job, with which load, how often, and how
//! long that may take.

use super::control::{self, COLD, Kind, NONE, PIN, Spec};
use super::toggle::ToggleError;
use meter::controls::RequestedControls;
use model::compare::finding::LEVEL;
use model::noise::applied::Settings;
use model::noise::effect::judge::COMPARISONS;
use model::noise::effect::{Control, Load, Workload};
use serde::Serialize;
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

/// Where no round can be spared, so many times the expected time is allowed: jobs
/// may be that much slower than when they were tried.
const SLACK: f64 = 1.1;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Controls; none for all.
    pub controls: Vec<&'static Spec>,
    /// Loads.
    pub loads: Vec<Load>,
    /// Jobs.
    pub workloads: Vec<Workload>,
    /// How often, or how long.
    pub length: Length,
    /// How long a job is to take on a quiet CPU; a command, how long it took.
    pub job: Duration,
    /// Busy processes of a load for each CPU.
    pub busy_per_cpu: u32,
    /// The CPUs to use.
    pub cpus: Vec<u32>,
    /// The CPU for what is pinned, or why there is none.
    pub pin: Result<u32, NoPin>,
    /// What switching took that was tried, on and off, by the control, ms.
    pub switch_ms: BTreeMap<String, f64>,
}

/// Why a control can't be compared here.
#[derive(thiserror::Error, Debug)]
pub enum Unavailable {
    /// No CPU to pin to.
    #[error("{0}")]
    NoPin(NoPin),
    /// Named controls only.
    #[error("compared only if named: it takes CPUs offline in each round")]
    OnlyByName,
    /// System-wide controls need root.
    #[error("system-wide: needs root")]
    NeedsRoot,
    /// The kernel or the machine lacks it, by `noise show`.
    #[error("{0}")]
    Shown(String),
    /// Set already, or unknown.
    #[error("nothing to set: {0}")]
    NothingToSet(String),
    /// No such control of `noise tune`.
    #[error(transparent)]
    Plan(#[from] crate::tune::PlanError),
    /// Refused for a process.
    #[error(transparent)]
    Refused(#[from] meter::controls::ControlError),
    /// A file that can't be read or written.
    #[error("can't {action} {path}: {error}")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: &'static str,
        /// What the system said.
        error: std::io::Error,
    },
    /// THP is always.
    #[error("every process gets huge pages already; no-thp is the reverse")]
    AlreadyAlways,
    /// THP is not always.
    #[error("THP is {0}: no process gets huge pages without asking")]
    NotAlways(String),
    /// Absent in a test.
    #[error("{0}")]
    Other(&'static str),
}

/// Why no CPU can be pinned to.
#[derive(thiserror::Error, Clone, Debug)]
pub enum NoPin {
    /// None is left, or known.
    #[error("no CPU to pin to")]
    NoCpu,
    /// Choosing one failed.
    #[error("{0}")]
    Placement(String),
}

/// What trying a control shows of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// What it is on this machine with the control on.
    pub on: Option<String>,
    /// And off: the value that was found.
    pub off: Option<String>,
}

/// How much is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many rounds of each block, however long they take.
    Rounds(u32),
    /// No longer than this in all, if that is enough for the fewest rounds.
    Time(Duration),
    /// [`ROUNDS`], or of a command what fits two minutes; no longer than what
    /// that is expected to take, or a tenth more if those are the fewest rounds.
    Usual,
}

/// What will be done.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Plan {
    /// All that were asked for.
    pub controls: Vec<Control>,
    /// What is run.
    pub blocks: Vec<PlannedBlock>,
    /// Rounds of each block that are expected.
    pub rounds: u32,
    /// Most rounds, where jobs are faster than expected.
    pub most_rounds: u32,
    /// Fewest rounds that are planned, whatever the time.
    pub least_rounds: u32,
    /// Time that all may take, ms: then no more rounds are begun. Nothing where
    /// a number of rounds was asked for.
    pub most_ms: Option<u64>,
    /// Time that it takes if a load slows jobs down as it should, ms.
    pub expected_ms: u64,
    /// Busy processes of a load.
    pub busy: u32,
}

/// One job beside one load.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct PlannedBlock {
    /// The job.
    pub workload: Workload,
    /// The load.
    pub load: Load,
    /// The states by turns.
    pub arms: Vec<PlannedArm>,
    /// One round, expected, ms.
    pub round_ms: f64,
}

/// One state.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct PlannedArm {
    /// Its name.
    pub name: String,
    /// What is set for the job's process.
    pub asked: RequestedControls,
    /// Whether the page cache is dropped before.
    pub cold: bool,
    /// The control that is switched for the whole system meanwhile.
    pub toggle: Option<String>,
}

/// Lays out the request. `available` tries whether a control can be set here.
pub fn plan(
    request: &Request,
    mut available: impl FnMut(&Spec, &RequestedControls) -> Result<Here, Unavailable>,
) -> Plan {
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
            let tried = pin.and_then(|()| available(spec, &request.of(spec)));
            let tried = match unnamed && spec.only_by_name() {
                true => tried.and(Err(Unavailable::OnlyByName)),
                false => tried,
            };
            described(spec, tried, request)
        })
        .collect();
    lay_out(request, controls)
}

impl Plan {
    /// Takes these controls out, each for its reason.
    pub fn leave_out(&mut self, refused: &BTreeMap<String, ToggleError>, request: &Request) {
        for control in &mut self.controls {
            if let Some(why) = refused.get(&control.name) {
                control.unavailable = Some(why.to_string());
            }
        }
        *self = lay_out(request, std::mem::take(&mut self.controls));
    }

    /// Runs in all, those that count for nothing too.
    pub fn runs(&self) -> u64 {
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
fn lay_out(request: &Request, controls: Vec<Control>) -> Plan {
    let usable: Vec<&Spec> = controls
        .iter()
        .filter(|control| control.unavailable.is_none())
        .filter_map(|control| control::find(&control.name))
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
    Plan {
        controls,
        expected_ms,
        blocks,
        rounds,
        most_rounds,
        least_rounds,
        most_ms,
        busy,
    }
}

fn described(spec: &Spec, tried: Result<Here, Unavailable>, request: &Request) -> Control {
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
        on: with(spec.on, here.on),
        off: with(spec.off, here.off),
        on_arm: on_arm.into(),
        off_arm: off_arm.into(),
        needs: spec.needs.map(Into::into),
        apply: spec.apply.replace("{cpu}", &cpu),
        unavailable,
    }
}

impl Request {
    /// What is requested for the process of the arm with this control on.
    fn of(&self, spec: &Spec) -> RequestedControls {
        spec.requested(&self.cpus, self.pin.as_ref().ok().copied())
    }

    /// The arm with a control on.
    fn with(&self, spec: &Spec) -> PlannedArm {
        let (on, _) = spec.arms();
        PlannedArm {
            name: on.into(),
            asked: self.of(spec),
            cold: on == COLD,
            toggle: (spec.kind == Kind::System).then(|| spec.name.into()),
        }
    }

    /// An arm without any control, but pinned or cold.
    fn without(&self, name: &str) -> PlannedArm {
        let plain = || Settings {
            cpus: self.cpus.clone(),
            ..Settings::default()
        };
        let settings = match control::find(name).filter(|spec| spec.name == PIN) {
            Some(pin) => self.of(pin).settings,
            None => plain(),
        };
        PlannedArm {
            name: name.into(),
            asked: RequestedControls {
                settings,
                groups: Vec::new(),
            },
            cold: name == COLD,
            toggle: None,
        }
    }
}

fn blocks(request: &Request, usable: &[&Spec]) -> Vec<PlannedBlock> {
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
    request: &Request,
    usable: &[&Spec],
    workload: Workload,
    load: Load,
) -> Option<PlannedBlock> {
    let mut arms = vec![request.without(NONE)];
    for spec in usable.iter().filter(|spec| spec.applies_to(workload)) {
        let (_, off) = spec.arms();
        for arm in [request.with(spec), request.without(off)] {
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

/// What one run takes, expected: a job gets its share of a CPU, and most of it
/// where it is before the load; a sleeper is preferred, and late by a part of
/// that; memory is written before it is walked through.
fn run_ms(request: &Request, workload: Workload, load: Load, arm: &PlannedArm) -> f64 {
    const START_MS: f64 = 2.0;
    const DROP_MS: f64 = 100.0;
    /// Where it was not tried yet.
    const SWITCH_MS: f64 = 60.0;
    const FILES_MS: f64 = 20.0;
    const BEFORE_THE_LOAD: f64 = 1.2;
    let job_ms = request.job.as_secs_f64() * 1e3;
    let share = match load {
        Load::None => 1.0,
        _ if is_before(load, arm) => BEFORE_THE_LOAD,
        _ => 1.0 + f64::from(request.busy_per_cpu),
    };
    let work_ms = match workload {
        Workload::Cpu | Workload::Command => job_ms * share,
        Workload::Memory => 1.4 * job_ms * share,
        Workload::Wakeup => job_ms * (0.5 + 0.5 * share),
        Workload::Files => FILES_MS,
    };
    let drop_ms = if arm.cold { DROP_MS } else { 0.0 };
    let switch_ms = match &arm.toggle {
        Some(name) => request.switch_ms.get(name).copied().unwrap_or(SWITCH_MS),
        None => 0.0,
    };
    START_MS + work_ms + drop_ms + switch_ms
}

/// Whether an arm is before the load, so that it hardly waits for a CPU.
fn is_before(load: Load, arm: &PlannedArm) -> bool {
    let settings = &arm.asked.settings;
    let raised = |nice: Option<i32>| nice.is_some_and(|nice| nice < 0);
    settings.policy.is_some()
        || raised(settings.autogroup)
        || raised(settings.nice) && load == Load::SameSession
        || arm.toggle.as_deref() == Some("shield")
}

/// Slack of the timers of the job that sleeps, in all states, ns: the least
/// there is (`PR_SET_TIMERSLACK`, prctl(2)).
const WAKEUP_SLACK_NS: u64 = 1;

/// Time that a load gets before anything is measured beside it.
pub const SETTLING: Duration = Duration::from_millis(500);

fn settling_ms(load: Load) -> f64 {
    match load {
        Load::None => 0.0,
        _ => SETTLING.as_secs_f64() * 1e3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(controls: &[&str]) -> Request {
        let found = controls
            .iter()
            .map(|c| control::find(c).expect("a control"));
        Request {
            controls: found.collect(),
            loads: vec![Load::None, Load::SameSession, Load::OtherSession],
            workloads: vec![Workload::Cpu, Workload::Memory, Workload::Wakeup],
            length: Length::Rounds(ROUNDS),
            job: Duration::from_millis(60),
            busy_per_cpu: 1,
            cpus: vec![0, 1],
            pin: Ok(1),
            switch_ms: BTreeMap::new(),
        }
    }

    fn fine(_: &Spec, _: &RequestedControls) -> Result<Here, Unavailable> {
        Ok(Here::default())
    }

    fn names(block: &PlannedBlock) -> Vec<&str> {
        block.arms.iter().map(|arm| arm.name.as_str()).collect()
    }

    #[test]
    fn each_block_has_what_can_be_tried_and_the_one_it_is_set_against() {
        let plan = plan(&request(&["pin", "fifo", "cache"]), |spec, _| {
            match spec.name {
                "fifo" => Err(Unavailable::NeedsRoot),
                _ => Ok(Here::default()),
            }
        });
        assert_eq!(plan.blocks.len(), 10);
        for block in &plan.blocks[..9] {
            assert_eq!(names(block), ["none", "pin"]);
            assert_eq!(block.arms[0].asked.settings.cpus, [0, 1]);
            assert_eq!(block.arms[1].asked.settings.cpus, [1]);
        }
        let files = &plan.blocks[9];
        assert_eq!((files.workload, files.load), (Workload::Files, Load::None));
        assert_eq!(names(files), ["none", "cold"]);
        assert_eq!([files.arms[0].cold, files.arms[1].cold], [false, true]);
        let fifo = &plan.controls[1];
        assert_eq!(fifo.unavailable.as_deref(), Some("system-wide: needs root"));
        assert_eq!(plan.busy, 2);
    }

    #[test]
    fn what_refuses_later_is_taken_out() {
        let asked = request(&["pin", "thp"]);
        let mut plan = plan(&asked, fine);
        assert_eq!(names(&plan.blocks[0]), ["none", "pin", "thp"]);
        assert_eq!(plan.runs(), 9 * 3 * u64::from(ROUNDS + 1));
        let before_ms = plan.expected_ms;
        plan.leave_out(
            &BTreeMap::from([("thp".into(), ToggleError::AlreadySet)]),
            &asked,
        );
        assert_eq!(names(&plan.blocks[0]), ["none", "pin"]);
        assert_eq!(
            plan.controls[1].unavailable,
            Some(ToggleError::AlreadySet.to_string())
        );
        assert!(plan.expected_ms < before_ms);
    }

    #[test]
    fn what_has_no_cpu_to_be_pinned_to_says_so() {
        let no = Request {
            pin: Err(NoPin::NoCpu),
            ..request(&[])
        };
        let plan = plan(&no, fine);
        let unavailable: Vec<&str> = plan
            .controls
            .iter()
            .filter(|c| c.unavailable.as_deref() == Some("no CPU to pin to"))
            .map(|c| c.name.as_str())
            .collect();
        let expected = [
            "pin",
            "pin+nice",
            "autogroup+pin+nice",
            "shield",
            "irq-affinity",
        ];
        assert_eq!(unavailable, expected);
    }

    #[test]
    fn with_all_controls_it_ends_in_five_minutes() {
        let here = plan(&request(&[]), |spec, _| match spec.name {
            "turbo" | "smt" | "governor" => Err(Unavailable::Other("not in this machine")),
            // The one or the other: never both.
            "no-thp" => Err(Unavailable::NotAlways("madvise".into())),
            _ => Ok(Here::default()),
        });
        assert_eq!(here.controls.len(), control::ALL.len());
        assert!(here.expected_ms < 300_000, "{}", here.expected_ms);
        assert!(here.expected_ms > 60_000, "{}", here.expected_ms);
        // Toggles are off in all arms but their own.
        for arm in here.blocks.iter().flat_map(|block| &block.arms) {
            let own = arm.toggle.as_deref();
            assert!(own.is_none_or(|name| name == arm.name), "{arm:?}");
        }
    }

    #[test]
    fn what_pins_its_job_is_set_against_a_pinned_one() {
        for name in ["shield", "irq-affinity"] {
            let plan = plan(&request(&[name]), fine);
            let control = &plan.controls[0];
            assert_eq!(control.off_arm, "pin");
            assert!(control.apply.contains("pin=1") || control.apply.contains("shield 1"));
            for block in &plan.blocks {
                assert_eq!(
                    names(block),
                    ["none", name, "pin"],
                    "the pinned one is added"
                );
                assert_eq!(block.arms[1].asked, block.arms[2].asked);
                assert_eq!(block.arms[2].asked.settings.cpus, [1]);
                assert_eq!(block.arms[2].toggle, None);
            }
        }
    }

    #[test]
    fn what_takes_cpus_offline_is_tried_only_where_it_is_named() {
        let smt = |request: &Request| {
            let plan = plan(request, fine);
            let control = plan.controls.iter().find(|c| c.name == "smt");
            control.expect("a row").unavailable.clone()
        };
        let why = smt(&request(&[])).expect("not tried");
        assert_eq!(why, Unavailable::OnlyByName.to_string());
        assert_eq!(smt(&request(&["smt"])), None);
        let absent = plan(&request(&[]), |_, _| Err(Unavailable::Other("absent")));
        assert!(
            absent
                .controls
                .iter()
                .all(|c| c.unavailable.as_deref() == Some("absent"))
        );
    }

    #[test]
    fn every_sleeper_has_the_same_slack_and_nobody_else_another() {
        let plan = plan(&request(&["pin", "fifo"]), fine);
        for block in &plan.blocks {
            let expected = (block.workload == Workload::Wakeup).then_some(1);
            for arm in &block.arms {
                assert_eq!(arm.asked.settings.timer_slack_ns, expected, "{arm:?}");
            }
        }
    }

    #[test]
    fn switching_that_was_timed_counts_in_the_plan() {
        let expected_ms = |switch_ms: f64| {
            let timed = Request {
                switch_ms: BTreeMap::from([("thp".into(), switch_ms)]),
                ..request(&["thp"])
            };
            plan(&timed, fine).expected_ms
        };
        let runs = 9 * u64::from(ROUNDS + 1);
        assert_eq!(expected_ms(1010.0) - expected_ms(10.0), runs * 1000);
    }

    #[test]
    fn what_was_found_here_is_said() {
        let plan = plan(&request(&["thp", "session"]), |spec, _| {
            Ok(match spec.name {
                "thp" => Here {
                    off: Some("madvise".into()),
                    ..Here::default()
                },
                _ => Here::default(),
            })
        });
        assert_eq!(plan.controls[0].off, "as the system is set: madvise");
        assert_eq!(plan.controls[1].off, "as a command starts");
    }

    #[test]
    fn a_time_becomes_rounds() {
        let of = |seconds| {
            let timed = Request {
                length: Length::Time(Duration::from_secs(seconds)),
                ..request(&["pin"])
            };
            plan(&timed, fine)
        };
        assert_eq!(of(1).rounds, LEAST_ROUNDS);
        let minute = of(60);
        assert!(minute.rounds > LEAST_ROUNDS && minute.expected_ms <= 60_000);
        assert!(of(120).rounds > minute.rounds);
        assert_eq!(minute.most_ms, Some(60_000));
        // What is announced is what it may take.
        assert!(of(1).most_ms > Some(of(1).expected_ms));
    }

    #[test]
    fn a_command_is_the_only_job_and_gets_rounds_by_how_long_it_takes() {
        let of = |job, length| {
            let command = Request {
                workloads: vec![Workload::Command],
                loads: vec![Load::None],
                job,
                length,
                ..request(&["pin", "cache"])
            };
            plan(&command, fine)
        };
        let short = of(Duration::from_millis(10), Length::Usual);
        assert_eq!(short.blocks.len(), 1);
        assert_eq!(names(&short.blocks[0]), ["none", "pin", "cold"]);
        assert_eq!(short.rounds, COMMAND_ROUNDS);
        let second = of(Duration::from_secs(2), Length::Usual);
        assert!((15..20).contains(&second.rounds), "{}", second.rounds);
        assert!(second.expected_ms <= 120_000);
        assert_eq!(second.most_ms, Some(second.expected_ms));
        // However long, enough for one interval: the time says so.
        let long = of(Duration::from_secs(60), Length::Usual);
        // Eight comparisons: 2 / 2^9 is below 0.05 / 8.
        assert_eq!((long.rounds, long.least_rounds), (9, 9));
        assert!(long.expected_ms > 3 * 9 * 60_000);
        let most_ms = long.most_ms.expect("a time");
        assert_eq!(most_ms, (long.expected_ms as f64 * SLACK).ceil() as u64);
        let typed = of(Duration::from_secs(60), Length::Rounds(9));
        assert_eq!((typed.rounds, typed.most_ms), (9, None));
    }
}
