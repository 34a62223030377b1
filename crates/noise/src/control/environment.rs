//! The environment: memory, other processes, the host, power and heat.
//! `Documentation/accounting/psi.rst`, proc_meminfo(5), kernel_lockdown(7),
//! `Documentation/ABI/testing/sysfs-class-power`,
//! `Documentation/driver-api/thermal/sysfs-api.rst`.

use super::activity::Busy;
use super::context::{ControlContext, Status, StatusResult, hindrance};
use super::system::field;
use model::machine::Fact;
use model::noise::control::{HindranceKind, Privilege, ValueState};
use model::phrases::several;
use model::share::percent;
use std::io::ErrorKind;
use sys::files::{bracketed, kib_field};

/// Dirty pages worth waiting for.
const MUCH_DIRTY_BYTES: u64 = 64 << 20;

pub(super) fn page_cache(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/meminfo";
    let text = context.read_or_status(SOURCE)?;
    let (Some(cached), Some(dirty)) = (kib_field(&text, "Cached"), kib_field(&text, "Dirty"))
    else {
        let why = format!("{SOURCE} has no Cached and Dirty");
        return Ok(Status::absent(HindranceKind::AbsentInKernel, why));
    };
    let dirty = dirty + kib_field(&text, "Writeback").unwrap_or(0);
    let now = format!("{} MiB cached, {} MiB dirty", cached >> 20, dirty >> 20);
    if dirty >= MUCH_DIRTY_BYTES {
        return Ok(Status::new(now, SOURCE, ValueState::Improvable)
            .wanting("written back", "writeback would run during the measurement")
            .set_by(Privilege::AnyUser, "sync"));
    }
    let drop = format!("sync; echo 3 | {}tee /proc/sys/vm/drop_caches", context.sudo());
    Ok(Status::information(now, SOURCE)
        .wanting("always warm, or always cold", "the first read of a file pays for all later ones")
        .set_by(Privilege::Root, drop)
        .hindered(context.hindrance("/proc/sys/vm/drop_caches")))
}

pub(super) fn swap(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/meminfo";
    let text = context.read_or_status(SOURCE)?;
    Ok(match (kib_field(&text, "SwapTotal"), kib_field(&text, "SwapFree")) {
        (Some(0), _) => Status::new("none", SOURCE, ValueState::Good),
        (Some(total), Some(free)) => {
            let used = total.saturating_sub(free) >> 20;
            let swappiness = context.system.files.read("/proc/sys/vm/swappiness");
            let swappiness = swappiness.map_or(String::new(), |n| format!(", swappiness {n}"));
            let now = format!("{used} of {} MiB used{swappiness}", total >> 20);
            Status::information(now, SOURCE)
        }
        _ => Status::absent(HindranceKind::AbsentInKernel, format!("{SOURCE} has no swap")),
    })
}

/// Shares of a CPU that are worth printing, and that disturb.
const WORTH_PRINTING: f64 = 0.05;
const DISTURBS: f64 = 0.10;
/// Where all processes are seen, some time is always of those that ended, or of less than a tick.
const ENDED: f64 = 0.25;

pub(super) fn busiest(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/PID/stat";
    const PRINTED: usize = 3;
    context.read_or_status("/proc/stat")?;
    let own = field(&context.status, "Pid").and_then(|pid| pid.parse().ok());
    let Some(ran) = context.after.ran_since(&context.before, own) else {
        return Ok(Status {
            now: Fact::unknown("no time passed between two readings of /proc/stat"),
            ..Status::new("", SOURCE, ValueState::Unknown)
        });
    };
    let sees_all = context.after.sees_all();
    let (least, whose) = match sees_all {
        true => (ENDED, "processes that have ended"),
        false => (DISTURBS, "processes not visible here"),
    };
    let hidden = ran.unexplained >= least && (!sees_all || ran.of_busy > 0.5);
    let mut busy = ran.processes;
    busy.retain(|one| one.share >= WORTH_PRINTING);
    let mut now = match busy.is_empty() {
        true => "none above 5 % of a CPU".to_owned(),
        false => several(&busy.iter().map(Busy::to_string).collect::<Vec<_>>(), PRINTED),
    };
    match (hidden, sees_all) {
        (true, _) => now += &format!("; {whose}: {} of a CPU", percent(ran.unexplained)),
        (false, false) => now += "; other processes are not visible here",
        (false, true) => {}
    }
    let disturbs = |one: &&Busy| !one.kernel && one.share >= DISTURBS;
    let worst = busy.iter().find(disturbs);
    if worst.is_none() && !hidden {
        return Ok(match busy.is_empty() && sees_all {
            true => Status::new(now, SOURCE, ValueState::Good),
            false => Status::information(now, SOURCE),
        });
    }
    let status = Status::new(now, SOURCE, ValueState::Improvable)
        .wanting("none", "other processes take CPU time, cache and memory bandwidth");
    let Some(worst) = worst else {
        return Ok(status);
    };
    let ours = context.root || is_same_user(context, worst.pid);
    let may_stop = own.is_some_and(|own| context.after.may_stop(worst.pid, own));
    if !ours || !may_stop {
        return Ok(status);
    }
    // However the command ends, the other process continues.
    let stop = format!(
        "sh -c 'trap \"kill -CONT {0}\" EXIT; trap \"exit 130\" INT TERM HUP; \
         kill -STOP {0}; COMMAND'",
        worst.pid
    );
    Ok(status.set_by(Privilege::AnyUser, stop))
}

fn is_same_user(context: &ControlContext, pid: u32) -> bool {
    let status = context.system.files.read(&format!("/proc/{pid}/status"));
    let user = |status: &str| {
        let ids = field(status, "Uid")?;
        ids.split_whitespace().next().map(str::to_owned)
    };
    let theirs = status.ok().and_then(|status| user(&status));
    theirs.is_some() && theirs == user(&context.status)
}

pub(super) fn load(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/loadavg";
    let text = context.read_or_status(SOURCE)?;
    let three: Vec<&str> = text.split_whitespace().take(3).collect();
    Ok(Status::information(three.join(", "), SOURCE))
}

pub(super) fn pressure(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/pressure";
    let of = |what: &str| {
        let text = context.system.files.read(&format!("{SOURCE}/{what}")).ok()?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let share = some.split_whitespace().find_map(|pair| pair.strip_prefix("avg10="))?;
        Some(format!("{what} {share} %"))
    };
    let texts: Vec<String> = ["cpu", "io", "memory"].into_iter().filter_map(of).collect();
    Ok(match texts.is_empty() {
        false => Status::information(texts.join(", "), SOURCE),
        true if context.no_proc() => context.missing(SOURCE).into(),
        true => Status::absent(
            HindranceKind::AbsentInKernel,
            "this kernel was built or booted without PSI (psi=1)",
        ),
    })
}

pub(super) fn steal(context: &ControlContext) -> StatusResult {
    const SOURCE: &str = "/proc/stat";
    context.read_or_status(SOURCE)?;
    let now = context.after.steal_since(&context.before).map(percent);
    let ever = context.after.steal_since_boot().map(percent);
    let text = match (now, ever) {
        (Some(now), Some(ever)) => format!("{now} now, {ever} since boot"),
        (None, Some(ever)) => format!("{ever} since boot"),
        _ => {
            let why = format!("{SOURCE} has no steal time");
            return Ok(Status::absent(HindranceKind::AbsentInKernel, why));
        }
    };
    let of_host = context.hypervisor.as_ref().map(|name| {
        let why = format!("{name} schedules the CPUs: only its owner can change that");
        hindrance(HindranceKind::AbsentInVm, why)
    });
    Ok(Status::information(text, SOURCE).hindered(of_host))
}

pub(super) fn lockdown(context: &ControlContext) -> StatusResult {
    const PATH: &str = "/sys/kernel/security/lockdown";
    Ok(match context.system.files.read(PATH) {
        Ok(text) => Status::information(bracketed(&text).unwrap_or(text), PATH),
        Err(_) if context.no_sys() => context.missing(PATH).into(),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Status::absent(HindranceKind::NoPrivilege, format!("{PATH} may not be read"))
        }
        Err(_) => Status::absent(
            HindranceKind::AbsentInKernel,
            format!("no {PATH}: not built, or securityfs is not mounted"),
        ),
    })
}

pub(super) fn battery(context: &ControlContext) -> StatusResult {
    const SUPPLIES: &str = "/sys/class/power_supply";
    let files = context.system.files;
    let read = |name: &str, file: &str| files.read(&format!("{SUPPLIES}/{name}/{file}")).ok();
    let mut texts = Vec::new();
    let mut discharging = false;
    for name in &files.names(SUPPLIES) {
        // The battery of a mouse or a headset.
        if read(name, "scope").as_deref() == Some("Device") {
            continue;
        }
        match read(name, "type").as_deref() {
            Some("Battery") => {
                let status = read(name, "status").unwrap_or_else(|| "status unknown".into());
                let capacity = read(name, "capacity").map_or(String::new(), |c| format!(", {c} %"));
                discharging |= status == "Discharging";
                texts.push(format!("{name} {}{capacity}", status.to_lowercase()));
            }
            Some("Mains" | "USB") => {
                let online = match read(name, "online").as_deref() {
                    Some("1") => "connected",
                    _ => "not connected",
                };
                texts.push(format!("{name} {online}"));
            }
            _ => {}
        }
    }
    if texts.is_empty() {
        return Ok(not_in_class(context, "power supply", SUPPLIES));
    }
    let now = texts.join("; ");
    Ok(match discharging {
        false => Status::information(now, SUPPLIES),
        true => Status::new(now, SUPPLIES, ValueState::Improvable)
            .wanting("mains", "firmware and drivers save energy on battery"),
    })
}

pub(super) fn thermal(context: &ControlContext) -> StatusResult {
    if let Some(power) = &context.apple {
        return Ok(apple(&power.thermal));
    }
    const ZONES: &str = "/sys/class/thermal";
    let files = context.system.files;
    let mut texts: Vec<String> = files
        .names(ZONES)
        .iter()
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(|zone| {
            let read = |file: &str| files.read(&format!("{ZONES}/{zone}/{file}")).ok();
            let millidegrees: f64 = read("temp")?.parse().ok()?;
            Some(format!("{} {} °C", read("type")?, millidegrees / 1000.0))
        })
        .collect();
    let (before, after) = (context.before.throttles, context.after.throttles);
    texts.extend(after.map(|count| format!("cores throttled {count} times since boot")));
    if texts.is_empty() {
        return Ok(not_in_class(context, "sensor", ZONES));
    }
    let now = texts.join("; ");
    Ok(match before < after {
        false => Status::information(now, ZONES),
        true => Status::new(now, ZONES, ValueState::Improvable)
            .wanting("cooler", "cores are being throttled now"),
    })
}

/// No device of a class of /sys.
fn not_in_class(context: &ControlContext, what: &str, class: &str) -> Status {
    let why = format!("no {what} in {class}");
    match (&context.apple, &context.hypervisor) {
        (Some(_), _) => elsewhere(),
        (_, Some(_)) => Status::absent(HindranceKind::AbsentInVm, why),
        _ => Status::absent(HindranceKind::NotOnThisSystem, why),
    }
}

pub(super) fn qos(context: &ControlContext) -> StatusResult {
    let Some(power) = &context.apple else {
        return Ok(elsewhere());
    };
    Ok(apple(&power.qos)
        .wanting("user interactive", "lower classes get slower cores, later")
        .set_by(
            Privilege::AnyUser,
            "taskpolicy -c utility COMMAND # a lower class; only the program itself can raise it",
        ))
}

pub(super) fn low_power(context: &ControlContext) -> StatusResult {
    let Some(power) = &context.apple else {
        return Ok(elsewhere());
    };
    let status = apple(&power.low_power)
        .wanting("off", "it keeps the clock low")
        .set_by(Privilege::Root, "sudo pmset -a lowpowermode 0");
    let state = match status.now.get().map(String::as_str) {
        Some("on") => ValueState::Improvable,
        Some("off") => ValueState::Good,
        _ => status.state,
    };
    Ok(Status { state, ..status })
}

fn apple(fact: &Fact<String>) -> Status {
    let state = match fact.get() {
        Some(_) => ValueState::Information,
        None => ValueState::Unknown,
    };
    Status { now: fact.clone(), ..Status::new("", "", state) }
}

fn elsewhere() -> Status {
    Status::absent(HindranceKind::NotOnThisSystem, "Apple systems only")
}
