//! Files that need more than their own content: switches with several
//! spellings, limits of the kernel, values printed with others.

use super::ValueFormat;
use super::file::{FileState, in_a_line};
use super::system::{CPUS, System, siblings};
use crate::cpus;

/// `no_turbo` is the inverse of `boost`.
pub(super) fn turbo(_: &System, file: FileState) -> Option<FileState> {
    let (off, words) = match file.path.ends_with("/no_turbo") {
        true => ("1", ValueFormat::Words(&[("0", "on"), ("1", "off")])),
        false => ("0", ValueFormat::Words(&[("1", "on"), ("0", "off")])),
    };
    Some(file.wanting(Some(off.to_owned()), words))
}

/// The modes of pstate drivers are printed with their names.
pub(super) fn driver(_: &System, mut file: FileState) -> Option<FileState> {
    for name in ["amd_pstate", "intel_pstate"] {
        if file.path.ends_with(&format!("/{name}/status")) {
            file.shown = format!("{name} is {}", file.shown);
        }
    }
    Some(file)
}

/// Only on and off can be changed into each other.
pub(super) fn online_switch(_: &System, file: FileState) -> Option<FileState> {
    match file.content() {
        Some("on" | "off") => Some(file),
        Some("forceoff") => Some(file.wanting(None, ValueFormat::Plain)),
        _ => None,
    }
}

/// The runtime with its period.
pub(super) fn rt_runtime(system: &System, mut file: FileState) -> Option<FileState> {
    let period = system.files.read("/proc/sys/kernel/sched_rt_period_us");
    file.shown = match (file.content(), period) {
        (Some("-1"), _) => "no limit".to_owned(),
        (Some(runtime), Ok(period)) => format!("{runtime} of {period} us"),
        _ => file.shown,
    };
    Some(file)
}

/// The kernel refuses every rate while its own limit is off
/// (kernel/events/core.c, perf_event_max_sample_rate_handler).
pub(super) fn sample_rate(system: &System, mut file: FileState) -> Option<FileState> {
    const SHARE: &str = "/proc/sys/kernel/perf_cpu_time_max_percent";
    let share = system.files.read(SHARE).ok();
    file.refused = share
        .filter(|share| share == "0" || share == "100")
        .map(|share| format!("the kernel refuses a rate while {SHARE} is {share}: set it to 25"));
    Some(file)
}

/// Managed interrupts, whose affinity is read-only, are left out.
pub(super) fn movable(_: &System, file: FileState) -> Option<FileState> {
    (!file.fixed).then_some(file)
}

/// How many interrupts may arrive on the quiet CPUs, which, and how many do
/// now. A read-only file marks a managed interrupt; older kernels make all
/// writable and refuse the write.
pub(super) fn interrupts(system: &System, files: &[FileState]) -> String {
    const NAMED: usize = 3;
    let number = |file: &FileState| file.path.split('/').nth(3).unwrap_or_default().to_owned();
    let all = system.expand("/proc/irq/<n>/smp_affinity").len();
    let managed = match all - files.len() {
        0 => String::new(),
        n => format!("; {n} more managed by the kernel"),
    };
    if system.housekeeping().is_empty() {
        return format!("{} interrupts, no core to spare{managed}", files.len());
    }
    let open: Vec<&FileState> = files.iter().filter(|file| !file.met).collect();
    let arrives = |file: &&&FileState| {
        let path = format!("/proc/irq/{}/effective_affinity", number(file));
        let now = system.files.read(&path).ok();
        let now = now.and_then(|mask| cpus::of_mask(&mask));
        now.is_some_and(|cpus| cpus.iter().any(|cpu| system.quiet.contains(cpu)))
    };
    let mut names: Vec<String> = open
        .iter()
        .take(NAMED)
        .map(|file| {
            let number = number(file);
            let actions = format!("/sys/kernel/irq/{number}/actions");
            match system.files.read(&actions) {
                Ok(name) if !name.is_empty() => format!("{number} {name}"),
                _ => number,
            }
        })
        .collect();
    if open.len() > NAMED {
        names.push("...".to_owned());
    }
    let names = match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    };
    format!(
        "{} of {} may arrive on {}{names}, {} do now{managed}",
        open.len(),
        files.len(),
        cpus::in_words(&system.quiet),
        open.iter().filter(arrives).count(),
    )
}

/// The SMT switch, and which CPUs are threads of one core.
pub(super) fn pairs_of_threads(system: &System, files: &[FileState]) -> String {
    match pairs(system).as_slice() {
        [] => in_a_line(files),
        pairs => format!("{}; sibling threads: {}", in_a_line(files), pairs.join(" ")),
    }
}

/// `thread_siblings_list` of each core with several threads online.
pub(super) fn pairs(system: &System) -> Vec<String> {
    let mut cores: Vec<Vec<u32>> = system
        .online
        .iter()
        .filter_map(|&cpu| siblings(system.files, cpu))
        .filter(|core| core.len() > 1)
        .collect();
    cores.sort();
    cores.dedup();
    let text = |core: &Vec<u32>| {
        let cpus: Vec<String> = core.iter().map(u32::to_string).collect();
        cpus.join(",")
    };
    cores.iter().map(text).collect()
}

/// The word, if the policy's list offers it; without a list, writing shows.
pub(super) fn offered(system: &System, path: &str, list: &str, word: &str) -> Option<String> {
    let policy = path.rsplit_once('/')?.0;
    let words = system.files.read(&format!("{policy}/{list}"));
    let missing = words.is_ok_and(|words| words.split_whitespace().all(|w| w != word));
    (!missing).then(|| word.to_owned())
}

/// The sustained frequency, kHz: of intel_pstate, then of the firmware (CPPC,
/// in MHz), then the highest, which is nominal where boost is a separate
/// switch. The drivers of Intel and AMD report the highest with turbo; without
/// the first two nothing is known then.
pub(super) fn nominal(system: &System, path: &str) -> Option<String> {
    let policy = path.rsplit_once('/')?.0;
    let read = |file: &str| system.files.read(&format!("{policy}/{file}")).ok();
    let khz = |text: Option<String>| text?.parse::<u64>().ok();
    let cppc = || {
        let cpus = cpus::parse_cpus(&read("affected_cpus")?)?;
        let path = format!("{CPUS}/cpu{}/acpi_cppc/nominal_freq", cpus.first()?);
        khz(system.files.read(&path).ok())?.checked_mul(1000).filter(|&khz| khz > 0)
    };
    let highest = || {
        let driver = read("scaling_driver").unwrap_or_default();
        let with_turbo = driver.starts_with("intel_") || driver.starts_with("amd-pstate");
        khz(read("cpuinfo_max_freq").filter(|_| !with_turbo))
    };
    let nominal = khz(read("base_frequency")).or_else(cppc).or_else(highest)?;
    Some(nominal.to_string())
}

/// A mask without the quiet CPUs and those that are offline (a mask with none
/// online is refused). CPUs that it lacks are not added: they are kept away on
/// purpose (isolcpus, an administrator). If none is left, it gets all
/// housekeeping CPUs. `None` if there are none.
pub(super) fn housekeeping(system: &System, now: Option<&str>) -> Option<String> {
    let others = system.housekeeping();
    if others.is_empty() {
        return None;
    }
    let wanted = match now.and_then(cpus::of_mask) {
        None => others,
        Some(now) if !now.iter().any(|cpu| system.quiet.contains(cpu)) => now,
        Some(mut now) => {
            now.retain(|cpu| system.online.contains(cpu) && !system.quiet.contains(cpu));
            if now.is_empty() { others } else { now }
        }
    };
    Some(cpus::mask(&wanted))
}
