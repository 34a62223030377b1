//! Settings of this process, inherited by the commands it starts: affinity,
//! nice, autogroup, policy, timer slack. Read from /proc/self, so that a copied
//! tree shows the process it was copied from. sched(7).

use super::context::{ControlContext, Status, StatusResult};
use super::system::field;
use crate::cpus::{cpu_ranges, in_words, parse_cpus};
use model::noise::control::{HindranceKind, Privilege, ValueState};
use sys::proc_stat::Stat;

pub(super) fn affinity(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/self/status";
    context.read_or_status(SOURCE)?;
    let Some(cpus) = field(&context.status, "Cpus_allowed_list").and_then(parse_cpus) else {
        let why = format!("{SOURCE} has no Cpus_allowed_list");
        return Ok(Status::absent(HindranceKind::AbsentInKernel, why));
    };
    let online = context.system.online.len();
    let mut now = match cpus.len() {
        n if n > 1 && online > 0 => format!("{}, {n} of {online}", in_words(&cpus)),
        _ => in_words(&cpus),
    };
    for (kind, of_kind) in &context.kinds {
        let here: Vec<u32> = cpus.iter().copied().filter(|c| of_kind.contains(c)).collect();
        if !here.is_empty() {
            now.push_str(&format!("; {kind}: {}", cpu_ranges(&here).replace(',', ", ")));
        }
    }
    let quiet = context.system.quiet.iter().find(|cpu| cpus.contains(cpu));
    let best = quiet.or(cpus.last()).copied().unwrap_or(0);
    Ok(Status::good_if(cpus.len() == 1, now, SOURCE)
        .wanting("one CPU", "migrations lose cache contents; pinning alone removes migrations only")
        .set_by(Privilege::AnyUser, format!("taskset -c {best} COMMAND")))
}

/// A field of /proc/self/stat by its number in proc_pid_stat(5).
fn own_stat(context: &ControlContext, number: usize) -> Result<i64, Box<Status>> {
    let stat = context.read_or_status("/proc/self/stat")?;
    let value = Stat::from_line(&stat).and_then(|stat| stat.field_number(number));
    value.ok_or_else(|| {
        let why = format!("/proc/self/stat has no number in field {number}");
        Box::new(Status::absent(HindranceKind::AbsentInKernel, why))
    })
}

/// Field 18 is the priority: -2 to -100 for real-time threads.
pub(super) fn policy(context: &ControlContext) -> StatusResult {
    const POLICY: usize = 41;
    let (policy, priority) = (own_stat(context, POLICY)?, own_stat(context, 18)?);
    // include/uapi/linux/sched.h
    let (name, state) = match policy {
        0 => ("SCHED_OTHER".to_owned(), ValueState::Improvable),
        1 => (format!("SCHED_FIFO, priority {}", -1 - priority), ValueState::Good),
        2 => (format!("SCHED_RR, priority {}", -1 - priority), ValueState::Good),
        3 => ("SCHED_BATCH".to_owned(), ValueState::Improvable),
        5 => ("SCHED_IDLE".to_owned(), ValueState::Improvable),
        6 => ("SCHED_DEADLINE".to_owned(), ValueState::Good),
        other => (format!("policy {other}"), ValueState::Information),
    };
    let why = format!("it preempts all ordinary tasks of every session; {}", throttling(context));
    let status = Status::new(name, "/proc/self/stat", state).wanting("SCHED_FIFO", &why);
    // Priority 1 is enough: ordinary threads have none.
    let most = context.limit("Max realtime priority");
    let allowed = most.is_some_and(|most| most >= 1);
    Ok(context.raised_by(status, allowed, "chrt --fifo 1 COMMAND"))
}

/// What a busy real-time thread loses on this machine. Until Linux 6.12 the
/// kernel throttles it for the rest of each period (sched_rt_runtime_us); since
/// then a fair server gives ordinary threads 50 ms of each second, unless
/// configured otherwise, while they wait (kernel/sched/deadline.c,
/// dl_server_start), and throttling remains with CONFIG_RT_GROUP_SCHED only.
pub(super) fn throttling(context: &ControlContext) -> String {
    let number = |name: &str| -> Option<i64> {
        let path = format!("/proc/sys/kernel/{name}");
        context.system.files.read(&path).ok()?.parse().ok()
    };
    let throttled = match (number("sched_rt_runtime_us"), number("sched_rt_period_us")) {
        (Some(runtime), Some(period)) if runtime >= 0 && period > runtime => format!(
            "RT throttling stops a busy task for {} ms of each {} ms",
            (period - runtime) as f64 / 1000.0,
            period as f64 / 1000.0
        ),
        (Some(_), Some(_)) => "RT throttling is off".to_owned(),
        _ => "RT throttling is unknown".to_owned(),
    };
    match has_fair_server(context) {
        Some(true) => format!(
            "ordinary tasks that wait get 50 ms of each second (fair server); with \
             CONFIG_RT_GROUP_SCHED: {throttled}"
        ),
        Some(false) => throttled,
        None => format!("{throttled}, since Linux 6.12 only while ordinary tasks wait"),
    }
}

/// Whether the kernel is 6.12 or later; `None` if unknown.
fn has_fair_server(context: &ControlContext) -> Option<bool> {
    let release = context.system.files.read("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next()?.parse::<u32>().ok();
    Some((number()?, number()?) >= (6, 12))
}

pub(super) fn nice(context: &ControlContext) -> StatusResult {
    let value = own_stat(context, 19)?;
    let why = match context.system.files.autogroups() {
        Ok(()) => "CPU time before other tasks, within this session only while autogroups are on",
        Err(_) => "CPU time before other tasks, within its control group if that has a CPU weight",
    };
    let status = Status::good_if(value <= -10, value.to_string(), "/proc/self/stat");
    let status = status.wanting("-10", why);
    Ok(context.raised_by(status, may_be_nice(context), "nice -n -10 COMMAND"))
}

/// Whether the resource limit allows -10: it is 20 minus the lowest nice value
/// (getrlimit(2)).
fn may_be_nice(context: &ControlContext) -> bool {
    let limit = context.limit("Max nice priority");
    limit.is_some_and(|most| most >= 30)
}

pub(super) fn autogroup(context: &ControlContext) -> StatusResult {
    const OWN: &str = "/proc/self/autogroup";
    let files = context.system.files;
    let enabled = files.read("/proc/sys/kernel/sched_autogroup_enabled").ok();
    if enabled.as_deref() == Some("0") {
        let now = "autogroups are off: nice values weigh across sessions";
        return Ok(Status::information(now, OWN));
    }
    let text = context.read_or_status(OWN)?;
    // No advice that latlas exec refuses.
    if let Err(why) = files.autogroups() {
        return Ok(Status::information(format!("{text}, no effect: {why}"), OWN));
    }
    let Some(nice) = text.rsplit(' ').next().and_then(|n| n.parse::<i64>().ok()) else {
        return Ok(Status::information(text, OWN));
    };
    let status = Status::good_if(nice <= -10, text, OWN).wanting(
        "-10, in a separate session",
        "sessions share the CPU by the nice values of their autogroups",
    );
    // The same privilege as for nice (kernel/sched/autogroup.c).
    let command = "setsid --wait sh -c 'echo -10 > /proc/self/autogroup; exec COMMAND'";
    Ok(context.raised_by(status, may_be_nice(context), command))
}

pub(super) fn timer_slack(context: &ControlContext) -> StatusResult {
    const OWN: &str = "/proc/self/timerslack_ns";
    let text = context.read_or_status(OWN)?;
    let Ok(ns) = text.parse::<u64>() else {
        return Ok(Status::information(text, OWN));
    };
    let (now, state) = match ns {
        0 | 1 => (format!("{ns} ns"), ValueState::Good),
        ns => (format!("{} us", ns as f64 / 1000.0), ValueState::Information),
    };
    Ok(Status::new(now, OWN, state)
        .wanting(
            "1 ns",
            "timers of ordinary threads may be late by this; it matters if the work sleeps",
        )
        .set_by(Privilege::AnyUser, "sh -c 'echo 1 > /proc/self/timerslack_ns; exec COMMAND'"))
}
