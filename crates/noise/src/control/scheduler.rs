//! Who runs next: the switches of the whole system.
//! `Documentation/admin-guide/sysctl/kernel.rst`, sched(7).

use super::part::Part;
use super::{Control, Settled, Stage, Tuned, What, not_in_proc};
use model::noise::control::Group;

pub(super) const CONTROLS: &[Control] = &[
    Control {
        id: "autogroup-enabled",
        title: "a share of the CPU for each session",
        group: Group::Scheduler,
        tuned: Tuned::ByName(
            "it changes who gets the CPU for everybody; a session of its own does it for one command",
        ),
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| switch(scene, "/proc/sys/kernel/sched_autogroup_enabled", "0"),
            better: "off, or an own session",
            why: "while it is on, nice counts inside one session only",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "rt-throttling",
        title: "time of each period that real-time threads may take",
        group: Group::Scheduler,
        tuned: Tuned::ByName("without it, a real-time thread that never waits stops the machine"),
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| {
                let period = scene.files.read("/proc/sys/kernel/sched_rt_period_us");
                let path = "/proc/sys/kernel/sched_rt_runtime_us";
                Part::new(scene.files, path, "-1")
                    .map(|mut part| {
                        part.shown = match (part.now.as_deref(), period) {
                            (Ok("-1"), _) => "no limit".to_owned(),
                            (Ok(runtime), Ok(period)) => format!("{runtime} of {period} us"),
                            _ => part.shown,
                        };
                        part
                    })
                    .into_iter()
                    .collect()
            },
            better: "no limit",
            why: "before Linux 6.12, and later with RT_GROUP_SCHED, who never waits under SCHED_FIFO loses the rest of each period",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "timer-migration",
        title: "timers that move to busy CPUs",
        group: Group::Scheduler,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| switch(scene, "/proc/sys/kernel/timer_migration", "0"),
            better: "off",
            why: "timers of idle CPUs interrupt the one that measures otherwise",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
    Control {
        id: "numa-balancing",
        title: "moving pages between NUMA nodes",
        group: Group::Scheduler,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| switch(scene, "/proc/sys/kernel/numa_balancing", "0"),
            better: "off",
            why: "it takes pages away for a moment to see who uses them",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
];

/// A file that holds 0 or 1.
pub(super) fn switch(scene: &super::places::Scene, path: &str, wanted: &str) -> Vec<Part> {
    Part::new(scene.files, path, wanted)
        .map(|part| part.in_words(&[("0", "off"), ("1", "on")]))
        .into_iter()
        .collect()
}
