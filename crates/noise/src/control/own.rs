//! What this process has for itself, and gives to the commands it starts:
//! CPUs, nice, autogroup, policy, timer slack. Read from /proc/self, so that a
//! copied tree tells of the process it was copied from. sched(7), cpuset(7).

use super::isolation::{cpuset, isolated, nohz_full};
use super::look::after_name;
use super::places::{in_words, ranges};
use super::sight::{Sight, Told, field};
use super::{Control, Tuned};
use model::noise::control::{Group, Kind, State, Who};
use sys::files::cpu_list;

const OF_A_PROCESS: Tuned =
    Tuned::Never("it is of one process: give it to latlas run or latlas exec");

const fn own(
    id: &'static str,
    title: &'static str,
    group: Group,
    look: fn(&Sight) -> Told,
) -> Control {
    Control::told(id, title, group, OF_A_PROCESS, look)
}

pub(super) const CONTROLS: &[Control] = &[
    own(
        "affinity",
        "CPUs that this process may run on",
        Group::Cores,
        affinity,
    ),
    own(
        "cpuset",
        "the cpuset that this process is in",
        Group::Cores,
        cpuset,
    ),
    Control {
        tuned: Tuned::Never("it is set when the kernel starts"),
        ..own(
            "isolcpus",
            "CPUs that the scheduler leaves alone",
            Group::Cores,
            isolated,
        )
    },
    Control {
        tuned: Tuned::Never("it is set when the kernel starts"),
        ..own(
            "nohz-full",
            "CPUs without a tick while one thread runs",
            Group::Cores,
            nohz_full,
        )
    },
    own(
        "policy",
        "how this process is scheduled",
        Group::Scheduler,
        policy,
    ),
    own(
        "autogroup",
        "nice value of this session",
        Group::Scheduler,
        autogroup,
    ),
    own("nice", "nice value of this process", Group::Scheduler, nice),
    own(
        "timer-slack",
        "how late a timer of this process may be",
        Group::Scheduler,
        timer_slack,
    ),
];

fn affinity(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/self/status";
    if let Err(told) = sight.read(SOURCE) {
        return *told;
    }
    let Some(cpus) = field(&sight.status, "Cpus_allowed_list").and_then(cpu_list) else {
        return Told::absent(
            Kind::AbsentInKernel,
            format!("{SOURCE} names no Cpus_allowed_list"),
        );
    };
    let online = sight.scene.online.len();
    let mut now = match cpus.len() {
        n if n > 1 && online > 0 => format!("{}, {n} of {online}", in_words(&cpus)),
        _ => in_words(&cpus),
    };
    for (kind, of_kind) in &sight.kinds {
        let here: Vec<u32> = cpus
            .iter()
            .copied()
            .filter(|c| of_kind.contains(c))
            .collect();
        if !here.is_empty() {
            now.push_str(&format!("; {kind}: {}", ranges(&here)));
        }
    }
    let pinned = cpus.len() == 1;
    let best = sight
        .scene
        .quiet
        .iter()
        .find(|cpu| cpus.contains(cpu))
        .or(cpus.last());
    let state = if pinned {
        State::Good
    } else {
        State::Improvable
    };
    Told::new(now, SOURCE, state)
        .wanting("one CPU", "a thread that moves leaves its caches behind; alone this removes migrations and nothing else")
        .set_by(
            Who::Anybody,
            format!("taskset -c {} COMMAND", best.copied().unwrap_or(0)),
        )
}

/// A field of /proc/self/stat by its number in proc_pid_stat(5).
fn own_stat(sight: &Sight, number: usize) -> Result<i64, Box<Told>> {
    let stat = sight.read("/proc/self/stat")?;
    let value = after_name(&stat).and_then(|fields| fields.get(number - 3)?.parse().ok());
    value.ok_or_else(|| {
        let why = format!("/proc/self/stat has no number in field {number}");
        Box::new(Told::absent(Kind::AbsentInKernel, why))
    })
}

/// Field 18 is the priority; -2 to -100 for real-time threads.
fn policy(sight: &Sight) -> Told {
    const POLICY: usize = 41;
    let (policy, priority) = match (own_stat(sight, POLICY), own_stat(sight, 18)) {
        (Ok(policy), Ok(priority)) => (policy, priority),
        (Err(told), _) | (_, Err(told)) => return *told,
    };
    // include/uapi/linux/sched.h
    let (name, state) = match policy {
        0 => ("SCHED_OTHER".to_owned(), State::Improvable),
        1 => (
            format!("SCHED_FIFO, priority {}", -1 - priority),
            State::Good,
        ),
        2 => (format!("SCHED_RR, priority {}", -1 - priority), State::Good),
        3 => ("SCHED_BATCH".to_owned(), State::Improvable),
        5 => ("SCHED_IDLE".to_owned(), State::Improvable),
        6 => ("SCHED_DEADLINE".to_owned(), State::Good),
        other => (format!("policy {other}"), State::Information),
    };
    // Priority 1 is enough: no ordinary thread has any.
    let limit = sight
        .limit("Max realtime priority")
        .is_some_and(|most| most >= 1);
    let (who, sudo, hindrance) = sight.raising(limit);
    let why = format!(
        "it runs before everything ordinary, whatever the session; {}",
        lost_by_spinning(sight)
    );
    Told::new(name, "/proc/self/stat", state)
        .wanting("SCHED_FIFO", &why)
        .set_by(who, format!("{sudo}chrt --fifo 1 COMMAND"))
        .hindered(hindrance)
}

/// What a real-time thread that never waits loses on this machine. Until Linux
/// 6.12 the kernel stops such threads for the rest of each period
/// (sched_rt_runtime_us); since then a server for ordinary threads takes 50 ms
/// of each second, unless configured otherwise, while such threads wait
/// (kernel/sched/deadline.c, dl_server_start), and the old rule holds only with
/// CONFIG_RT_GROUP_SCHED.
pub(super) fn lost_by_spinning(sight: &Sight) -> String {
    let number = |name: &str| -> Option<i64> {
        let path = format!("/proc/sys/kernel/{name}");
        sight.scene.files.read(&path).ok()?.parse().ok()
    };
    let throttled = match (number("sched_rt_runtime_us"), number("sched_rt_period_us")) {
        (Some(runtime), Some(period)) if runtime >= 0 && period > runtime => format!(
            "if it never waits it loses {} ms of each {} ms (rt-throttling)",
            (period - runtime) as f64 / 1000.0,
            period as f64 / 1000.0
        ),
        (Some(_), Some(_)) => "it is never throttled (rt-throttling)".to_owned(),
        _ => "whether the kernel throttles it is not known".to_owned(),
    };
    match has_fair_server(sight) {
        Some(true) => format!(
            "if it never waits, ordinary threads that wait get 50 ms of each second unless the \
             kernel was told otherwise; with CONFIG_RT_GROUP_SCHED: {throttled}"
        ),
        Some(false) => throttled,
        None => format!("{throttled}, or since Linux 6.12 only while ordinary threads wait"),
    }
}

/// Whether the kernel is 6.12 or later; `None` where it does not tell.
fn has_fair_server(sight: &Sight) -> Option<bool> {
    let release = sight.scene.files.read("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next()?.parse::<u32>().ok();
    Some((number()?, number()?) >= (6, 12))
}

fn nice(sight: &Sight) -> Told {
    let value = match own_stat(sight, 19) {
        Ok(value) => value,
        Err(told) => return *told,
    };
    let state = if value <= -10 {
        State::Good
    } else {
        State::Improvable
    };
    let (who, sudo, hindrance) = sight.raising(may_be_nice(sight));
    let why = match sight.scene.files.autogroups() {
        Ok(()) => {
            "it comes before others, but while autogroups are on those of its own session only"
        }
        Err(_) => {
            "it comes before others, within its control group where that has a share of the CPU"
        }
    };
    Told::new(value.to_string(), "/proc/self/stat", state)
        .wanting("-10", why)
        .set_by(who, format!("{sudo}nice -n -10 COMMAND"))
        .hindered(hindrance)
}

/// Whether the limit of nice values lets this process have -10: it is 20 minus
/// the lowest value (getrlimit(2)).
fn may_be_nice(sight: &Sight) -> bool {
    let limit = sight.limit("Max nice priority");
    limit.is_some_and(|most| most >= 30)
}

fn autogroup(sight: &Sight) -> Told {
    const OWN: &str = "/proc/self/autogroup";
    let enabled = sight
        .scene
        .files
        .read("/proc/sys/kernel/sched_autogroup_enabled")
        .ok();
    if enabled.as_deref() == Some("0") {
        return Told::information(
            "autogroups are off: nice counts between sessions".into(),
            OWN,
        );
    }
    let text = match sight.read(OWN) {
        Ok(text) => text,
        Err(told) => return *told,
    };
    // What latlas exec refuses is no advice.
    if let Err(why) = sight.scene.files.autogroups() {
        return Told::information(format!("{text}, which means nothing: {why}"), OWN);
    }
    let Some(nice) = text.rsplit(' ').next().and_then(|n| n.parse::<i64>().ok()) else {
        return Told::information(text, OWN);
    };
    let state = if nice <= -10 {
        State::Good
    } else {
        State::Improvable
    };
    // The kernel asks for the same right as for nice (kernel/sched/autogroup.c).
    let (who, sudo, hindrance) = sight.raising(may_be_nice(sight));
    Told::new(text, OWN, state)
        .wanting(
            "-10, in a session of its own",
            "a session's share of the CPU is what counts beside other sessions",
        )
        .set_by(
            who,
            format!("{sudo}setsid --wait sh -c 'echo -10 > /proc/self/autogroup; exec COMMAND'"),
        )
        .hindered(hindrance)
}

fn timer_slack(sight: &Sight) -> Told {
    const OWN: &str = "/proc/self/timerslack_ns";
    let text = match sight.read(OWN) {
        Ok(text) => text,
        Err(told) => return *told,
    };
    let Ok(ns) = text.parse::<u64>() else {
        return Told::information(text, OWN);
    };
    let now = match ns {
        0 | 1 => format!("{ns} ns"),
        ns => format!("{} us", ns as f64 / 1000.0),
    };
    let told = Told::information(now, OWN)
        .wanting(
            "1 ns",
            "timers of ordinary threads are late by up to this; it matters where the work sleeps",
        )
        .set_by(
            Who::Anybody,
            "sh -c 'echo 1 > /proc/self/timerslack_ns; exec COMMAND'".into(),
        );
    match ns {
        0 | 1 => Told {
            state: State::Good,
            ..told
        },
        _ => told,
    }
}
