//! What takes a CPU away from everybody: devices' interrupts, the kernel's own
//! work, its watchdogs, samples. `Documentation/core-api/irq/irq-affinity.rst`,
//! `Documentation/core-api/workqueue.rst`, `Documentation/admin-guide/sysctl/kernel.rst`.

use super::part::Part;
use super::places::{Scene, cpus_of, in_words, mask_of, without};
use super::scheduler::switch;
use super::{Absent, Control, Settled, Stage, Tuned, What, not_in_proc, not_in_sys};
use model::noise::control::{Group, Kind};

const IRQS: &str = "/proc/irq";

pub(super) const CONTROLS: &[Control] = &[
    Control {
        id: "irq-affinity",
        title: "CPUs that devices interrupt",
        group: Group::Interrupts,
        tuned: Tuned::ByDefault,
        stage: Stage::Interrupts,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: each_irq,
            better: "not on the quiet CPUs",
            why: "an interrupt takes a few microseconds of whatever runs there",
            glob: "",
            absent: no_irqs,
            line: Some(who_interrupts),
        }),
    },
    Control {
        id: "default-irq-affinity",
        title: "CPUs that interrupts of new devices get",
        group: Group::Interrupts,
        tuned: Tuned::ByDefault,
        stage: Stage::Interrupts,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| others_only(scene, "/proc/irq/default_smp_affinity"),
            better: "not the quiet CPUs",
            why: "a device that comes later would interrupt them",
            glob: "",
            absent: no_irqs,
            line: None,
        }),
    },
    Control {
        id: "workqueues",
        title: "CPUs for the kernel's unbound work",
        group: Group::Interrupts,
        tuned: Tuned::ByDefault,
        stage: Stage::Interrupts,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| others_only(scene, "/sys/devices/virtual/workqueue/cpumask"),
            better: "not the quiet CPUs",
            why: "what the kernel does in the background can be done elsewhere",
            glob: "",
            absent: not_in_sys,
            line: None,
        }),
    },
    Control {
        id: "sample-rate",
        title: "samples a second that perf may take",
        group: Group::Interrupts,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: sample_rate,
            better: "1",
            why: "nobody's profiler can interrupt a run often then",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "nmi-watchdog",
        title: "a look at each CPU for a hang, by counters",
        group: Group::Interrupts,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| switch(scene, "/proc/sys/kernel/nmi_watchdog", "0"),
            better: "off",
            why: "it interrupts, and holds a hardware counter of every CPU",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "soft-watchdog",
        title: "a look at each CPU for a hang, by a timer",
        group: Group::Interrupts,
        tuned: Tuned::ByName("it interrupts every few seconds only, and tells of hangs"),
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| switch(scene, "/proc/sys/kernel/soft_watchdog", "0"),
            better: "off",
            why: "a timer every few seconds on every CPU",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "perf-cpu-time",
        title: "share of a CPU that perf's samples may take, percent",
        group: Group::Interrupts,
        tuned: Tuned::Never("the kernel lowers the sample rate by it; it is only shown"),
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| shown(scene, "/proc/sys/kernel/perf_cpu_time_max_percent"),
            better: "",
            why: "",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "perf-paranoid",
        title: "who may count events (perf_event_paranoid)",
        group: Group::Interrupts,
        tuned: Tuned::Never(
            "it is no noise: it decides what counters you may read; it is only shown",
        ),
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| shown(scene, "/proc/sys/kernel/perf_event_paranoid"),
            better: "",
            why: "",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
];

fn shown(scene: &Scene, path: &str) -> Vec<Part> {
    Part::shown_only(scene.files, path).into_iter().collect()
}

/// The kernel refuses every write of the rate while its own limit of the
/// samples is off (kernel/events/core.c, perf_event_max_sample_rate_handler).
fn sample_rate(scene: &Scene) -> Vec<Part> {
    const SHARE: &str = "/proc/sys/kernel/perf_cpu_time_max_percent";
    let part = Part::new(
        scene.files,
        "/proc/sys/kernel/perf_event_max_sample_rate",
        "1",
    );
    let share = scene.files.read(SHARE).ok();
    let unlimited = share.filter(|share| share == "0" || share == "100");
    part.map(|part| Part {
        refused: unlimited.map(|share| {
            format!("the kernel takes no rate while {SHARE} is {share}: set that to 25 first")
        }),
        ..part
    })
    .into_iter()
    .collect()
}

/// A mask of the whole system, freed of the quiet CPUs.
fn others_only(scene: &Scene, path: &str) -> Vec<Part> {
    freed(scene, path).into_iter().collect()
}

/// Each interrupt that may be moved, freed of the quiet CPUs. Those that the
/// kernel offers for reading only are left out.
fn each_irq(scene: &Scene) -> Vec<Part> {
    irqs(scene)
        .into_iter()
        .filter_map(|path| freed(scene, &path))
        .filter(|part| !part.fixed)
        .collect()
}

/// A mask that should hold what it holds now, without the quiet CPUs and those
/// that are offline (a mask with none online is refused). CPUs that it does not
/// hold are not added: somebody has kept it away from them (isolcpus, a
/// person). Where nothing of it is left, it gets all others.
fn freed(scene: &Scene, path: &str) -> Option<Part> {
    let others = scene.others();
    let now = scene.files.read(path).ok().and_then(|mask| cpus_of(&mask));
    let part = match now {
        _ if others.is_empty() => Part::shown_only(scene.files, path),
        Some(now) if !now.iter().any(|cpu| scene.quiet.contains(cpu)) => {
            Part::new(scene.files, path, &mask_of(&now))
        }
        Some(now) => {
            let online = |cpu: &u32| scene.online.contains(cpu);
            let now: Vec<u32> = now.into_iter().filter(online).collect();
            let left = without(&now, &scene.quiet);
            let wanted = if left.is_empty() { others } else { left };
            Part::new(scene.files, path, &mask_of(&wanted))
        }
        None => Part::new(scene.files, path, &mask_of(&others)),
    };
    part.map(Part::mask)
}

/// Masks of all interrupts, in the order of their numbers.
fn irqs(scene: &Scene) -> Vec<String> {
    let mut numbers: Vec<u32> = scene
        .files
        .names(IRQS)
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
        .into_iter()
        .map(|number| format!("{IRQS}/{number}/smp_affinity"))
        .filter(|path| scene.files.exists(path))
        .collect()
}

/// How many may come to the quiet CPUs, which, and how many do at this time.
/// That a file is offered for reading only tells an interrupt that the kernel
/// places alone; older kernels offer all of them and refuse the writing.
fn who_interrupts(scene: &Scene, parts: &[Part]) -> String {
    let number = |part: &Part| part.path.split('/').nth(3).unwrap_or_default().to_owned();
    let alone = irqs(scene).len() - parts.len();
    let alone = match alone {
        0 => String::new(),
        1 => "; 1 more is placed by the kernel alone".to_owned(),
        n => format!("; {n} more are placed by the kernel alone"),
    };
    if scene.others().is_empty() {
        return format!(
            "{} interrupts, and no core to spare from them{alone}",
            parts.len()
        );
    }
    let open: Vec<&Part> = parts.iter().filter(|part| !part.met).collect();
    let arrive = open
        .iter()
        .filter(|part| {
            let path = format!("{IRQS}/{}/effective_affinity", number(part));
            let now = scene.files.read(&path).ok().and_then(|mask| cpus_of(&mask));
            now.is_some_and(|cpus| cpus.iter().any(|cpu| scene.quiet.contains(cpu)))
        })
        .count();
    const NAMED: usize = 3;
    let names: Vec<String> = open
        .iter()
        .take(NAMED)
        .map(|part| {
            let number = number(part);
            match scene
                .files
                .read(&format!("/sys/kernel/irq/{number}/actions"))
            {
                Ok(name) if !name.is_empty() => format!("{number} {name}"),
                _ => number,
            }
        })
        .collect();
    let names = match (names.is_empty(), open.len() > NAMED) {
        (true, _) => String::new(),
        (false, false) => format!(" ({})", names.join(", ")),
        (false, true) => format!(" ({}, ...)", names.join(", ")),
    };
    format!(
        "{} of {} may come to {}{names}, {arrive} do now{alone}",
        open.len(),
        parts.len(),
        in_words(&scene.quiet)
    )
}

fn no_irqs(absent: &Absent) -> (Kind, String) {
    let any = |name: &String| name.parse::<u32>().is_ok();
    match (
        absent.without_proc(),
        absent.files.names(IRQS).iter().any(any),
    ) {
        (true, _) => absent.no_proc(),
        (false, true) => (
            Kind::ManagedInterrupt,
            "the kernel alone places all interrupts of this machine".into(),
        ),
        (false, false) => (
            Kind::AbsentInKernel,
            "there is no /proc/irq: this kernel does not let interrupts be placed".into(),
        ),
    }
}
