//! What is around: the host below, load, other processes, and what of files is
//! in memory. `Documentation/accounting/psi.rst`, proc_meminfo(5),
//! kernel_lockdown(7).

use super::look::Busy;
use super::power::{battery, low_power, qos, thermal};
use super::sight::{Sight, Told, field};
use super::{Control, Tuned};
use model::machine::Fact;
use model::noise::control::{Group, Kind, State, Who};
use sys::files::{bracketed, kib_field};

const fn seen(
    id: &'static str,
    title: &'static str,
    group: Group,
    look: fn(&Sight) -> Told,
) -> Control {
    Control::told(id, title, group, Tuned::Never("it is only shown"), look)
}

/// The same of something that no machine of ours has.
const fn never_here(control: Control) -> Control {
    Control {
        fixtures_only: true,
        ..control
    }
}

pub(super) const CONTROLS: &[Control] = &[
    seen("page-cache", "files in memory", Group::Memory, page_cache),
    seen("swap", "pages on disk", Group::Memory, swap),
    seen("noisiest", "who takes the CPU now", Group::Around, noisiest),
    seen(
        "load",
        "threads that ran or waited for a disk, over 1, 5 and 15 minutes",
        Group::Around,
        load,
    ),
    seen(
        "pressure",
        "share of the last 10 s in which somebody waited",
        Group::Around,
        pressure,
    ),
    seen(
        "steal",
        "time that the hypervisor gave to others",
        Group::Around,
        steal,
    ),
    never_here(seen(
        "battery",
        "where the power comes from",
        Group::Around,
        battery,
    )),
    never_here(seen("thermal", "heat", Group::Around, thermal)),
    seen(
        "lockdown",
        "what the kernel keeps even from root",
        Group::Around,
        lockdown,
    ),
    never_here(seen(
        "qos",
        "quality of service of this process (macOS)",
        Group::Around,
        qos,
    )),
    never_here(seen(
        "low-power",
        "Low Power Mode (macOS)",
        Group::Around,
        low_power,
    )),
];

/// Pages not yet written that are worth waiting for.
const MUCH_DIRTY_BYTES: u64 = 64 << 20;

fn page_cache(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/meminfo";
    let text = match sight.read(SOURCE) {
        Ok(text) => text,
        Err(told) => return *told,
    };
    let (Some(cached), Some(dirty)) = (kib_field(&text, "Cached"), kib_field(&text, "Dirty"))
    else {
        return Told::absent(
            Kind::AbsentInKernel,
            format!("{SOURCE} has no Cached and Dirty"),
        );
    };
    let dirty = dirty + kib_field(&text, "Writeback").unwrap_or(0);
    let now = format!(
        "{} MiB cached, {} MiB not yet written",
        cached >> 20,
        dirty >> 20
    );
    if dirty < MUCH_DIRTY_BYTES {
        let drop = format!(
            "sync; echo 3 | {}tee /proc/sys/vm/drop_caches",
            sight.sudo()
        );
        return Told::information(now, SOURCE)
            .wanting(
                "warm, or cold each time",
                "the first to read a file pays for all that follow",
            )
            .set_by(Who::Root, drop)
            .hindered(sight.hindrance("/proc/sys/vm/drop_caches"));
    }
    Told::new(now, SOURCE, State::Improvable)
        .wanting("written", "the kernel writes it during the run otherwise")
        .set_by(Who::Anybody, "sync".into())
}

fn swap(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/meminfo";
    let text = match sight.read(SOURCE) {
        Ok(text) => text,
        Err(told) => return *told,
    };
    match (kib_field(&text, "SwapTotal"), kib_field(&text, "SwapFree")) {
        (Some(0), _) => Told::new("none".into(), SOURCE, State::Good),
        (Some(total), Some(free)) => {
            let used = total.saturating_sub(free) >> 20;
            let swappiness = sight.scene.files.read("/proc/sys/vm/swappiness");
            let swappiness = swappiness.map_or(String::new(), |n| format!(", swappiness {n}"));
            let now = format!("{used} of {} MiB used{swappiness}", total >> 20);
            Told::information(now, SOURCE)
        }
        _ => Told::absent(
            Kind::AbsentInKernel,
            format!("{SOURCE} says nothing of swap"),
        ),
    }
}

/// Share of a CPU that is worth a word, and the one that disturbs.
const WORTH_A_WORD: f64 = 0.05;
const DISTURBS: f64 = 0.10;

fn noisiest(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/PID/stat";
    if let Err(told) = sight.read("/proc/stat") {
        return *told;
    }
    let own = field(&sight.status, "Pid").and_then(|pid| pid.parse().ok());
    let Some(mut busy) = sight.after.busy_since(&sight.before, own) else {
        return Told {
            now: Fact::unknown("no time passed between two looks at /proc/stat"),
            ..Told::new(String::new(), SOURCE, State::Unknown)
        };
    };
    busy.retain(|one| one.share >= WORTH_A_WORD);
    if busy.is_empty() {
        return Told::new("nobody above 5 % of a CPU".into(), SOURCE, State::Good);
    }
    let texts: Vec<String> = busy.iter().take(3).map(in_words).collect();
    let more = busy.len().saturating_sub(3);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let now = format!("{}{more}", texts.join(", "));
    match busy.iter().find(|one| !one.kernel && one.share >= DISTURBS) {
        None => Told::information(now, SOURCE),
        Some(worst) => {
            let told = Told::new(now, SOURCE, State::Improvable).wanting(
                "nobody",
                "whoever else runs takes CPU, caches and memory bandwidth",
            );
            let ours = sight.root || belongs_to_us(sight, worst.pid);
            let may_stop = own.is_some_and(|own| sight.after.may_stop(worst.pid, own));
            match ours && may_stop {
                false => told,
                // However the command ends, the other one goes on.
                true => told.set_by(
                    Who::Anybody,
                    format!(
                        "sh -c 'trap \"kill -CONT {0}\" EXIT; trap \"exit 130\" INT TERM HUP; \
                         kill -STOP {0}; COMMAND'",
                        worst.pid
                    ),
                ),
            }
        }
    }
}

fn in_words(one: &Busy) -> String {
    let kernel = if one.kernel { ", the kernel's" } else { "" };
    format!(
        "{} ({}{kernel}) {:.0} %",
        one.name,
        one.pid,
        one.share * 100.0
    )
}

fn belongs_to_us(sight: &Sight, pid: u32) -> bool {
    let status = sight.scene.files.read(&format!("/proc/{pid}/status"));
    let user = |status: &str| {
        let ids = field(status, "Uid")?;
        ids.split_whitespace().next().map(str::to_owned)
    };
    let theirs = status.ok().and_then(|status| user(&status));
    theirs.is_some() && theirs == user(&sight.status)
}

fn load(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/loadavg";
    match sight.read(SOURCE) {
        Err(told) => *told,
        Ok(text) => {
            let three: Vec<&str> = text.split_whitespace().take(3).collect();
            Told::information(three.join(", "), SOURCE)
        }
    }
}

fn pressure(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/pressure";
    let of = |what: &str| {
        let text = sight.scene.files.read(&format!("{SOURCE}/{what}")).ok()?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let share = some
            .split_whitespace()
            .find_map(|pair| pair.strip_prefix("avg10="))?;
        Some(format!("{what} {share} %"))
    };
    let texts: Vec<String> = ["cpu", "io", "memory"].into_iter().filter_map(of).collect();
    match (texts.is_empty(), sight.absent().without_proc()) {
        (false, _) => Told::information(texts.join(", "), SOURCE),
        (true, true) => Told::absent(Kind::NotOnThisSystem, "there is no /proc here"),
        (true, false) => Told::absent(
            Kind::AbsentInKernel,
            "this kernel was built or started without pressure figures (psi=1)",
        ),
    }
}

fn steal(sight: &Sight) -> Told {
    const SOURCE: &str = "/proc/stat";
    if let Err(told) = sight.read(SOURCE) {
        return *told;
    }
    let percent = |share: Option<f64>| share.map(|share| format!("{:.1} %", share * 100.0));
    let now = percent(sight.after.steal_since(&sight.before));
    let ever = percent(sight.after.steal_ever());
    let text = match (now, ever) {
        (Some(now), Some(ever)) => format!("{now} now, {ever} since the start"),
        (None, Some(ever)) => format!("{ever} since the start"),
        _ => return Told::absent(Kind::AbsentInKernel, format!("{SOURCE} does not count it")),
    };
    match &sight.hypervisor {
        Some(name) => {
            let why =
                format!("{name} decides who gets the processor: only its owner can change that");
            let told = Told::information(text, SOURCE);
            told.hindered(Some(model::noise::control::Hindrance {
                kind: Kind::AbsentInVm,
                why,
            }))
        }
        None => Told::information(text, SOURCE),
    }
}

fn lockdown(sight: &Sight) -> Told {
    const PATH: &str = "/sys/kernel/security/lockdown";
    let text = match sight.scene.files.read(PATH) {
        Ok(text) => text,
        Err(_) if sight.absent().without_sys() => {
            return Told::absent(Kind::NotOnThisSystem, "there is no /sys here");
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Told::absent(Kind::NoPrivilege, format!("{PATH} may not be read"));
        }
        Err(_) => {
            return Told::absent(
                Kind::AbsentInKernel,
                format!("there is no {PATH}: not built, or securityfs is not mounted"),
            );
        }
    };
    Told::information(bracketed(&text).unwrap_or(text), PATH)
}
