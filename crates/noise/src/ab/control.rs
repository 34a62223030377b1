//! The controls that can be compared, one entry each: settings of a process from
//! [`model::setting`], by whose names it is called (`autogroup+pin+nice`), the
//! page cache, and controls of the system from [`crate::control`].

use meter::controls::RequestedControls;
use model::noise::applied::{Policy, Settings};
use model::noise::effect::Workload;
use model::setting::Setting;

/// Nice value that is compared, of processes and of autogroups.
pub const NICE: i32 = -10;
/// Priority of SCHED_FIFO that is compared, that of `latlas exec --fifo`.
pub const FIFO: u8 = 1;

/// The arm without any control.
pub const NONE: &str = "none";
/// The arm that is pinned, and nothing else.
pub const PIN: &str = "pin";
/// The arm whose files are dropped from the page cache before each run.
pub const COLD: &str = "cold";

/// One control.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Name on the command line.
    pub name: &'static str,
    /// Another name.
    pub alias: Option<&'static str>,
    /// What is set for the job's process.
    pub sets: &'static [Setting],
    /// The state with the control on; empty: what is set.
    on: &'static str,
    /// And off.
    pub off: &'static str,
    /// How to apply it to a command, with `{cpu}` for the pinned CPU; empty: by `exec` or `noise tune`.
    apply: &'static str,
    /// How it is set.
    pub kind: Mechanism,
}

/// How a control is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// For the job's process.
    Process,
    /// By dropping the page cache.
    Cache,
    /// For the whole system while the job runs.
    System,
}

impl Spec {
    const PROCESS: Spec = Spec {
        name: "",
        alias: None,
        sets: &[],
        on: "",
        off: "as a command starts",
        apply: "",
        kind: Mechanism::Process,
    };

    const SYSTEM: Spec =
        Spec { off: "as the system is set", kind: Mechanism::System, ..Spec::PROCESS };

    /// About one CPU, which its job is pinned to.
    const ONE_CPU: Spec =
        Spec { off: "pinned to the same CPU, the system as it is set", ..Spec::SYSTEM };

    /// The state with the control on.
    pub fn on(&self) -> String {
        let texts: Vec<String> = self.sets.iter().map(Setting::label).collect();
        match self.on {
            "" => texts.join(", "),
            on => on.into(),
        }
    }

    /// Privileges.
    pub fn needs(&self) -> Option<&'static str> {
        match self.kind {
            Mechanism::Process
                if self.sets.iter().all(|setting| setting.row().needs.is_empty()) =>
            {
                None
            }
            Mechanism::Process => Some("root or CAP_SYS_NICE"),
            Mechanism::Cache | Mechanism::System => Some("root"),
        }
    }

    /// How to apply it to a command.
    pub fn apply(&self, cpu: &str) -> String {
        let options: Vec<String> = self.sets.iter().filter_map(Setting::option).collect();
        match self.apply {
            "" if self.kind == Mechanism::System => {
                format!("latlas noise tune --only {} -- CMD", self.name)
            }
            "" => format!("latlas exec {} -- CMD", options.join(" ")),
            apply => apply.replace("{cpu}", cpu),
        }
    }

    /// Whether its job is pinned.
    pub fn pins(&self) -> bool {
        self.sets.contains(&Setting::OneCpu) || self.keeps_to_one_cpu()
    }

    /// What is requested for the job's process on these CPUs.
    pub fn requested(&self, cpus: &[u32], pin: Option<u32>) -> RequestedControls {
        let mut settings = Settings::default();
        self.sets.iter().cloned().for_each(|setting| settings.put(setting));
        settings.cpus = match pin.filter(|_| self.pins()) {
            Some(cpu) => vec![cpu],
            None => cpus.to_vec(),
        };
        RequestedControls { settings, groups: Vec::new() }
    }

    /// Whether it is compared with this job.
    pub fn applies_to(&self, workload: Workload) -> bool {
        match workload {
            Workload::Command => true,
            Workload::Files => self.kind == Mechanism::Cache,
            _ => self.kind != Mechanism::Cache,
        }
    }

    /// Names of the arms that have it on and off. Controls of one CPU are
    /// compared with a pinned job: pinning is no part of their effect.
    pub fn arms(&self) -> (&'static str, &'static str) {
        match self.kind {
            Mechanism::Cache => (NONE, COLD),
            _ if self.keeps_to_one_cpu() => (self.name, PIN),
            _ => (self.name, NONE),
        }
    }

    /// Whether it is about one CPU.
    pub fn keeps_to_one_cpu(&self) -> bool {
        self.off == Spec::ONE_CPU.off
    }

    /// Whether it is compared only if named: it takes CPUs offline.
    pub fn only_by_name(&self) -> bool {
        self.name == "smt"
    }
}

use Setting::{Autogroup, Nice, OneCpu};

/// All of them, in the order of display.
pub const ALL: [Spec; 15] = [
    Spec { name: PIN, alias: Some("affinity"), sets: &[OneCpu], ..Spec::PROCESS },
    Spec { name: "nice", alias: Some("priority"), sets: &[Nice(NICE)], ..Spec::PROCESS },
    Spec { name: "pin+nice", sets: &[OneCpu, Nice(NICE)], ..Spec::PROCESS },
    Spec {
        name: "session",
        sets: &[Setting::OwnSession(true)],
        on: "in a separate session, and so in a separate autogroup",
        ..Spec::PROCESS
    },
    Spec { name: "autogroup", sets: &[Autogroup(NICE)], ..Spec::PROCESS },
    Spec {
        name: "autogroup+pin+nice",
        sets: &[Autogroup(NICE), OneCpu, Nice(NICE)],
        on: "in a separate autogroup with nice -10, pinned to one CPU; nice -10 of the process \
             has no weight there, since it is alone in its autogroup",
        ..Spec::PROCESS
    },
    Spec { name: "fifo", sets: &[Setting::Policy(Policy::Fifo(FIFO))], ..Spec::PROCESS },
    Spec {
        name: "shield",
        alias: Some("cpuset"),
        on: "alone in a cpuset; all other tasks that can be moved are moved out",
        apply: "latlas exec --shield {cpu} -- CMD",
        ..Spec::ONE_CPU
    },
    Spec { name: "turbo", on: "no frequency above nominal", ..Spec::SYSTEM },
    Spec { name: "smt", on: "one thread per core", ..Spec::SYSTEM },
    Spec { name: "governor", on: "governor performance", ..Spec::SYSTEM },
    Spec {
        name: "thp",
        on: "transparent huge pages for every process (always)",
        apply: "madvise(2) in the program, or always in /sys/kernel/mm/transparent_hugepage/enabled",
        ..Spec::SYSTEM
    },
    Spec {
        name: "no-thp",
        sets: &[Setting::TransparentHugePages(false)],
        apply: "PR_SET_THP_DISABLE (prctl(2)) before the program",
        ..Spec::PROCESS
    },
    Spec {
        name: "irq-affinity",
        alias: Some("irq"),
        on: "interrupts kept off the pinned CPU",
        apply: "latlas noise tune --only irq-affinity --cpus {cpu} -- latlas exec --pin={cpu} -- CMD",
        ..Spec::ONE_CPU
    },
    Spec {
        name: "cache",
        on: "files in the page cache",
        off: "files on disk only: sync, then drop the page cache",
        apply: "run it once before measuring, as latlas exec does (--warmup 1)",
        kind: Mechanism::Cache,
        ..Spec::SYSTEM
    },
];

/// The control of that name.
pub fn control_named(name: &str) -> Option<&'static Spec> {
    ALL.iter().find(|spec| spec.name == name || spec.alias == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_arms_differ() {
        let mut names: Vec<&str> = ALL.iter().map(|s| s.name).collect();
        names.extend(ALL.iter().filter_map(|s| s.alias));
        names.extend([NONE, COLD]);
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for spec in &ALL {
            let (on, off) = spec.arms();
            assert_ne!(on, off, "{}", spec.name);
            assert_ne!(spec.on(), spec.off, "{}", spec.name);
            assert_eq!(control_named(spec.name).map(|s| s.name), Some(spec.name));
        }
        assert_eq!(control_named("priority").map(|s| s.name), Some("nice"));
        assert!(control_named("none").is_none());
    }
}
