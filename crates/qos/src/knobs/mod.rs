//! What each control of the Linux scheduler does here: shares of CPU time, wake-ups,
//! permissions. Threads that compete are processes of their own ([`job`]); this one only
//! sleeps while they run, and what they set ends with them.

pub mod job;
mod running;
mod turn;

use crate::running::JobError;
use job::{Competitor, CompetitorWork, PERIOD};
use model::machine::Fact;
use model::qos::knobs::{Knob, KnobRow, Knobs, Permission, Session, Shares, Wakes};
use model::qos::{Outcome, Setting};
use model::setting::IoPriority;
use model::setting::Policy::{Fifo, RoundRobin};
use running::Process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::cpu_weight::WeightGroup;
use sys::files::{Files, Tree};

/// The user as whom permissions are tried where this is root (`nobody`).
pub const UNPRIVILEGED: u32 = 65534;

/// Period of real-time throttling and of the fair server (sched(7)).
const REAL_TIME_PERIOD: Duration = Duration::from_secs(1);

/// The knobs of the table.
pub fn table_knobs() -> Vec<(Knob, Session)> {
    use Setting::{Autogroup, GroupIdle, GroupShares, Io, Nice, OneCpu, Policy, SliceNs};
    let of = |session, knobs: &[&[Setting]]| -> Vec<(Knob, Session)> {
        knobs.iter().map(|settings| (Knob(settings.to_vec()), session)).collect()
    };
    let same = of(
        Session::Same,
        &[
            &[],
            &[Nice(10)],
            &[Nice(19)],
            &[Nice(-10)],
            &[Setting::BATCH],
            &[Setting::IDLE],
            &[SliceNs(100_000)],
            &[SliceNs(100_000_000)],
            &[Policy(Fifo(10))],
            &[Policy(RoundRobin(10))],
            &[OneCpu],
            &[Io(IoPriority::BestEffort(7))],
            &[Io(IoPriority::Idle)],
        ],
    );
    let other = of(
        Session::Other,
        &[
            &[],
            &[Nice(19)],
            &[Autogroup(10)],
            &[Autogroup(19)],
            &[Autogroup(-10)],
            &[Setting::BATCH],
            &[Setting::IDLE],
            &[Setting::IDLE, Autogroup(19)],
            &[SliceNs(100_000)],
            &[GroupShares(100)],
            &[GroupIdle],
        ],
    );
    [same, other].concat()
}

/// How the knobs are measured.
#[derive(Clone, Debug)]
pub struct KnobPlan {
    pub knobs: Vec<(Knob, Session)>,
    pub rounds: u32,
    /// Seed of the order in each.
    pub seed: u64,
    /// Time over which shares are measured.
    pub share_window: Duration,
    /// Time over which wake-ups are measured.
    pub wakeup_window: Duration,
}

impl KnobPlan {
    /// Time that all takes, but for starting processes.
    pub fn duration(&self) -> Duration {
        let window = 2 * (self.share_window + self.wakeup_window) + 4 * running::SETTLING;
        let real_time = self.knobs.iter().filter(|(knob, _)| knob.is_real_time());
        let more = REAL_TIME_PERIOD.saturating_sub(self.share_window);
        let knobs = window * self.knobs.len() as u32 + 2 * more * real_time.count() as u32;
        knobs * self.rounds
    }
}

/// What is measured of a knob in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    OneCpu,
    AllCpus,
    OfSmallThread,
    OfDefaultThread,
}

const MEASURES: [Measure; 4] =
    [Measure::OneCpu, Measure::AllCpus, Measure::OfSmallThread, Measure::OfDefaultThread];

/// How CPU time was divided.
#[derive(Clone, Copy)]
struct Split {
    /// Of what both sides had, the part of the threads with the knob.
    share: f64,
    /// Of all time of the CPUs, what neither side had.
    of_others: f64,
}

/// What a knob's rounds gave.
#[derive(Default)]
struct KnobRounds {
    one_cpu: Vec<Split>,
    all_cpus: Vec<Split>,
    of_small_thread: Vec<Vec<u64>>,
    of_default_thread: Vec<Vec<u64>>,
}

/// The wake-ups of all rounds.
fn wakes(rounds: &[Vec<u64>], window: Duration) -> Wakes {
    let each = window.as_nanos() / (job::PERIOD + job::SMALL_WORK).as_nanos();
    Wakes::from_delays(&rounds.concat(), each as u64 * rounds.len() as u64)
}

/// Measures the knobs in interleaved rounds; with why it is not whole, if it is not. `progress` gets how many measurements are
/// done, and of how many. The calling thread must outlive the processes.
///
/// # Errors
/// If the threads can't be started at all.
pub fn measure_knobs(
    plan: &KnobPlan,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Knobs, Option<String>), JobError> {
    let cpus = sys::allowed_cpus()?;
    let autogroups = crate::conditions::autogroups_here();
    let root = sys::filesystem::user() == 0;
    let mut knobs = Knobs {
        rounds: plan.rounds,
        seed: plan.seed,
        share_window_ns: plan.share_window.as_nanos() as u64,
        wakeup_window_ns: plan.wakeup_window.as_nanos() as u64,
        period_ns: PERIOD.as_nanos() as u64,
        root,
        io_schedulers: io_schedulers(&Tree::system()),
        knobs: Vec::new(),
        autogroups,
        cpus,
    };
    for (knob, session) in &plan.knobs {
        knobs.knobs.push(unmeasured_knob(&knobs, knob, *session)?);
    }
    let mut collected: Vec<KnobRounds> = Vec::new();
    collected.resize_with(plan.knobs.len(), KnobRounds::default);
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut order: Vec<(usize, Measure)> =
        (0..plan.knobs.len()).flat_map(|at| MEASURES.map(|measure| (at, measure))).collect();
    let all = order.len() * plan.rounds as usize;
    let mut done = 0;
    let mut failed: Vec<String> = Vec::new();
    let mut partial = None;
    'rounds: for round in 0..plan.rounds {
        random.shuffle(&mut order);
        for &(at, what) in &order {
            if stop.load(Ordering::Relaxed) {
                partial = Some(format!("interrupted in round {}", round + 1));
                break 'rounds;
            }
            done += 1;
            progress(done, all);
            let row = &mut knobs.knobs[at];
            if row.not_available.is_some() {
                continue;
            }
            match measure_values(row, what, &knobs.cpus, plan, stop) {
                Ok(values) => values.add_to(&mut collected[at]),
                Err(JobError::Interrupted) => {}
                Err(error) => failed.push(format!(
                    "{} ({} session): {error}",
                    row.knob.label(),
                    row.session.text()
                )),
            }
        }
    }
    if let Some(first) = failed.first() {
        let count = failed.len();
        let text = format!("{count} of {done} measurements failed, the first of {first}");
        let before = partial.map(|before| format!("{before}; "));
        partial = Some(before.unwrap_or_default() + &text);
    }
    for (row, collected) in knobs.knobs.iter_mut().zip(collected) {
        for (shares, splits) in
            [(&mut row.one_cpu, collected.one_cpu), (&mut row.all_cpus, collected.all_cpus)]
        {
            shares.measured = splits.iter().map(|split| split.share).collect();
            shares.of_others = splits.iter().map(|split| split.of_others).collect();
        }
        row.of_small_thread = wakes(&collected.of_small_thread, plan.wakeup_window);
        row.of_default_thread = wakes(&collected.of_default_thread, plan.wakeup_window);
    }
    Ok((knobs, partial))
}

/// A knob before anything is measured: what is predicted, and who may turn it.
fn unmeasured_knob(knobs: &Knobs, knob: &Knob, session: Session) -> Result<KnobRow, JobError> {
    let cpus = knobs.cpus.len() as u32;
    let predicted = |cpus: u32| Shares {
        predicted: knobs
            .autogroups
            .get()
            .and_then(|&autogroups| knob.predicted(session, cpus, autogroups)),
        ..Shares::default()
    };
    let permission = running::tried(knob, None)?;
    let unprivileged = match knobs.root {
        false => Fact::known(permission.clone()),
        true => match running::tried(knob, Some(UNPRIVILEGED)) {
            Ok(permission) => Fact::known(permission),
            Err(error) => Fact::unknown(format!("not tried as uid {UNPRIVILEGED}: {error}")),
        },
    };
    Ok(KnobRow {
        knob: knob.clone(),
        session,
        not_available: not_available(&permission, knob, cpus),
        one_cpu: match knob.is_one(&Setting::OneCpu) {
            // Both have it there.
            true => Shares::default(),
            false => predicted(1),
        },
        all_cpus: predicted(cpus),
        of_small_thread: Wakes::default(),
        of_default_thread: Wakes::default(),
        permission,
        unprivileged,
    })
}

fn not_available(permission: &Permission, knob: &Knob, cpus: u32) -> Option<String> {
    match &permission.set {
        Outcome::Refused(error) => Some(format!("refused: {error}")),
        Outcome::Differs(read) => Some(format!("no effect: it is {read}")),
        _ if knob.is_one(&Setting::OneCpu) && cpus < 2 => Some("only one CPU is allowed".into()),
        _ => None,
    }
}

/// What a measurement gave.
enum Values {
    OneCpu(Split),
    AllCpus(Split),
    OfSmallThread(Vec<u64>),
    OfDefaultThread(Vec<u64>),
    Nothing,
}

impl Values {
    fn add_to(self, collected: &mut KnobRounds) {
        match self {
            Values::OneCpu(split) => collected.one_cpu.push(split),
            Values::AllCpus(split) => collected.all_cpus.push(split),
            Values::OfSmallThread(late) => collected.of_small_thread.push(late),
            Values::OfDefaultThread(late) => collected.of_default_thread.push(late),
            Values::Nothing => {}
        }
    }
}

fn measure_values(
    row: &KnobRow,
    what: Measure,
    cpus: &[u32],
    plan: &KnobPlan,
    stop: &AtomicBool,
) -> Result<Values, JobError> {
    let last = cpus.last().copied().unwrap_or(0);
    let none = Knob::default();
    let is_one_cpu = row.knob.is_one(&Setting::OneCpu);
    let thread = |knob: &Knob, cpus: &[u32], work: CompetitorWork| {
        let (knob, cpus) = (knob.clone(), cpus.to_vec());
        Competitor { knob, cpus, work }
    };
    // A busy thread for each CPU, kept there so that none is idle.
    let everywhere = |knob: &Knob| -> Vec<Competitor> {
        let each = cpus.iter();
        each.map(|&cpu| thread(knob, &[cpu], CompetitorWork::Busy)).collect()
    };
    let free = |knob: &Knob| vec![thread(knob, &[], CompetitorWork::Busy); cpus.len()];
    let [own, others] = match what {
        // It is a matter of where threads may run.
        Measure::OneCpu | Measure::OfDefaultThread if is_one_cpu => {
            return Ok(Values::Nothing);
        }
        Measure::OneCpu => {
            [&row.knob, &none].map(|knob| vec![thread(knob, &[last], CompetitorWork::Busy)])
        }
        Measure::AllCpus => [&row.knob, &none].map(free),
        Measure::OfSmallThread => {
            [vec![thread(&row.knob, &[], CompetitorWork::Small)], everywhere(&none)]
        }
        Measure::OfDefaultThread => {
            [everywhere(&row.knob), vec![thread(&none, &[], CompetitorWork::Small)]]
        }
    };
    let window = match what {
        // The part that is left to ordinary threads is given once in a second.
        Measure::OneCpu | Measure::AllCpus if row.knob.is_real_time() => {
            plan.share_window.max(REAL_TIME_PERIOD)
        }
        Measure::OneCpu | Measure::AllCpus => plan.share_window,
        Measure::OfSmallThread | Measure::OfDefaultThread => plan.wakeup_window,
    };
    let group = row.knob.is_group().then(|| turn::group(&row.knob, "knob")).transpose();
    let group =
        group.map_err(|outcome| JobError::Failed(outcome.why_not().unwrap_or_default().into()))?;
    let did = ran((own, others), row.session, group.as_ref(), window, stop)?;
    let cpu_ns = |did: &[job::Did]| did.iter().map(|did| did.cpu_ns).sum::<u64>() as f64;
    let late = |did: Vec<job::Did>| did.into_iter().flat_map(|did| did.late_ns).collect();
    let [own, others] = did;
    Ok(match what {
        Measure::OneCpu | Measure::AllCpus => {
            let (own, both) = (cpu_ns(&own), cpu_ns(&own) + cpu_ns(&others));
            let used = match what {
                Measure::OneCpu => 1.0,
                _ => cpus.len() as f64,
            };
            let split = Split {
                share: own / both,
                of_others: 1.0 - both / (window.as_nanos() as f64 * used),
            };
            match (both > 0.0, what) {
                (false, _) => Values::Nothing,
                (true, Measure::OneCpu) => Values::OneCpu(split),
                (true, _) => Values::AllCpus(split),
            }
        }
        Measure::OfSmallThread => Values::OfSmallThread(late(own)),
        Measure::OfDefaultThread => Values::OfDefaultThread(late(others)),
    })
}

/// Runs both sides at once, and gives what each thread of them did.
fn ran(
    (own, others): (Vec<Competitor>, Vec<Competitor>),
    session: Session,
    group: Option<&WeightGroup>,
    window: Duration,
    stop: &AtomicBool,
) -> Result<[Vec<job::Did>; 2], JobError> {
    let first = own.len();
    let mut processes = match session {
        Session::Same => vec![Process::start_competitors([own, others].concat(), stop)?],
        Session::Other => {
            vec![Process::start_competitors(own, stop)?, Process::start_competitors(others, stop)?]
        }
    };
    if let Some(group) = group {
        processes[0].join(group)?;
    }
    let mut did = running::window(&mut processes, window, stop)?;
    Ok(match session {
        Session::Same => {
            let mut own = did.pop().unwrap_or_default();
            let others = own.split_off(first.min(own.len()));
            [own, others]
        }
        Session::Other => {
            let others = did.pop().unwrap_or_default();
            [did.pop().unwrap_or_default(), others]
        }
    })
}

/// The I/O scheduler of each disk, as `vda mq-deadline`.
fn io_schedulers(files: &dyn Files) -> Fact<Vec<String>> {
    const DISKS: &str = "/sys/block";
    let of = |disk: String| {
        let text = files.read(&format!("{DISKS}/{disk}/queue/scheduler")).ok()?;
        // Disks have hardware behind them, loop devices have none.
        if !files.exists(&format!("{DISKS}/{disk}/device")) {
            return None;
        }
        // The one in use stands in brackets.
        let (_, rest) = text.split_once('[')?;
        let (name, _) = rest.split_once(']')?;
        Some(format!("{disk} {name}"))
    };
    let all: Vec<String> = files.names(DISKS).into_iter().filter_map(of).collect();
    match all.is_empty() {
        true => Fact::unknown(format!("no I/O scheduler in {DISKS}/*/queue/scheduler")),
        false => Fact::known(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_in_use_are_named() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |disk: &str, text: &str| {
            let directory = root.path().join("sys/block").join(disk).join("queue");
            std::fs::create_dir_all(&directory).expect("a directory");
            std::fs::write(directory.join("scheduler"), text).expect("a file");
        };
        let read = || io_schedulers(&Tree::new(root.path()));
        assert_eq!(read().value, None);
        write("vda", "none [mq-deadline] kyber\n");
        write("loop0", "[none] mq-deadline\n");
        let device = root.path().join("sys/block/vda/device");
        std::fs::create_dir_all(device).expect("a directory");
        assert_eq!(read().value, Some(vec!["vda mq-deadline".to_owned()]));
    }

    #[test]
    fn all_knobs_are_different() {
        let all = table_knobs();
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{one:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_refused_is_not_measured() {
        let permission = |set| Permission { set, undo: None };
        let idle = Knob(vec![Setting::Io(IoPriority::Idle)]);
        let why = |set: Outcome, knob: &Knob| not_available(&permission(set), knob, 1);
        assert_eq!(why(Outcome::ReadBack, &idle), None);
        let eperm = Outcome::Refused("EPERM".into());
        assert_eq!(why(eperm, &idle), Some("refused: EPERM".into()));
        let ignored = Outcome::Differs("slice 0 ns".into());
        assert_eq!(why(ignored, &idle), Some("no effect: it is slice 0 ns".into()));
        let one_cpu = Knob(vec![Setting::OneCpu]);
        assert!(why(Outcome::ReadBack, &one_cpu).is_some(), "of one CPU");
    }
}
