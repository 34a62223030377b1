//! What may be set for a thread or a process: the one list. Each setting has a [`SettingRow`] here; `sys::settings` sets it,
//! reads it back and undoes it. The controls of `run` and `exec`, the arms of `noise ab`, the levels and knobs of
//! `qos` are choices from it. Settings of the whole system are files: the one list of those is
//! `noise::control::table`, and `noise tune` sets and restores them under its journal.

use crate::phrases::ranges;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A setting with its value, named as documents name it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The control group of this directory, such as a shield's cpuset.
    Group(PathBuf),
    /// The only CPUs it may run on, ascending.
    Cpus(Vec<u32>),
    /// The first of the CPUs that it may run on.
    OneCpu,
    /// Whether it runs in its own session, and with it (where the kernel has autogroups) in its own autogroup, whose
    /// share of the CPU does not depend on the other processes of the terminal's session.
    OwnSession(bool),
    /// Nice value, absolute.
    Nice(i32),
    /// Nice value of its session's autogroup (sched(7)).
    Autogroup(i32),
    /// EEVDF slice, ns; 0 for the default.
    SliceNs(u64),
    /// Slack of its timers, ns; 0 for that of its parent.
    TimerSlackNs(u64),
    /// Whether it may get transparent huge pages.
    TransparentHugePages(bool),
    /// A control group with these CPU shares; 1024 is the default.
    GroupShares(u64),
    /// A control group with `cpu.idle`.
    GroupIdle,
    /// QoS class (Apple).
    QosClass(u32),
    /// Scheduling policy.
    #[serde(untagged)]
    Policy(Policy),
    /// I/O class and level.
    #[serde(untagged)]
    Io(IoPriority),
}

/// The scheduler's policies (sched(7)).
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// SCHED_OTHER, the ordinary one.
    Other,
    /// SCHED_BATCH: ordinary, never preferred when it wakes.
    Batch,
    /// SCHED_IDLE: only when no other task wants the CPU. Without CAP_SYS_NICE a thread can't leave it again.
    Idle,
    /// SCHED_FIFO with this priority, 1 to 99: before all tasks of ordinary policies.
    Fifo(u8),
    /// SCHED_RR with this priority: as SCHED_FIFO, with turns among equals.
    RoundRobin(u8),
    /// One that this version does not know.
    Another,
}

/// I/O class and level of a thread (ioprio_set(2)). Only some I/O schedulers obey it.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IoPriority {
    /// None set: the kernel derives it from the nice value.
    #[serde(rename = "io_unset")]
    Unset,
    /// Before all others, level 0 (first) to 7; needs CAP_SYS_ADMIN.
    #[serde(rename = "io_real_time")]
    RealTime(u8),
    /// The usual class, level 0 (first) to 7.
    #[serde(rename = "io_best_effort")]
    BestEffort(u8),
    /// Only when no other thread reads or writes.
    #[serde(rename = "io_idle")]
    Idle,
}

/// What is known of a setting whatever its value: its row of the list.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingRow {
    /// What setting it is: completes "can't".
    pub sets: &'static str,
    /// What it acts on: a thread, a process or a session.
    pub acts_on: &'static str,
    /// What would give the right to it; empty where every user has it.
    pub needs: &'static str,
    /// What to do where the value does not exist here.
    pub absent: &'static str,
}

const fn setting_row(sets: &'static str, acts_on: &'static str) -> SettingRow {
    SettingRow { sets, acts_on, needs: "", absent: "" }
}

const GROUP: SettingRow = SettingRow {
    needs: "joining a shield needs root",
    absent: "the shield is gone",
    ..setting_row("join the control group", "process")
};
const CPUS: SettingRow = SettingRow {
    absent: "latlas machine lists the CPUs here",
    ..setting_row("pin it to its CPUs", "thread")
};
const NICE: SettingRow = SettingRow {
    needs: "a lower nice value needs root, CAP_SYS_NICE or a limit (ulimit -e)",
    ..setting_row("set its nice value", "thread")
};
const AUTOGROUP: SettingRow = SettingRow {
    needs: "a lower one needs root, CAP_SYS_NICE or a limit (ulimit -e)",
    ..setting_row("set the nice value of its autogroup", "session")
};
const POLICY: SettingRow = SettingRow {
    needs: "SCHED_FIFO needs root, CAP_SYS_NICE or a limit (ulimit -r), and a control group that has real-time time",
    ..setting_row("set its scheduling policy", "thread")
};

impl Setting {
    /// SCHED_BATCH.
    pub const BATCH: Setting = Setting::Policy(Policy::Batch);
    /// SCHED_IDLE.
    pub const IDLE: Setting = Setting::Policy(Policy::Idle);

    /// Its row of the list.
    pub fn row(&self) -> &'static SettingRow {
        match self {
            Setting::Group(_) => &GROUP,
            Setting::Cpus(_) | Setting::OneCpu => &CPUS,
            Setting::OwnSession(_) => const { &setting_row("start its own session", "process") },
            Setting::Nice(_) => &NICE,
            Setting::Autogroup(_) => &AUTOGROUP,
            Setting::SliceNs(_) => const { &setting_row("set its slice", "thread") },
            Setting::TimerSlackNs(_) => const { &setting_row("set its timer slack", "thread") },
            Setting::TransparentHugePages(_) => {
                const { &setting_row("set its use of huge pages", "process") }
            }
            Setting::GroupShares(_) => const { &setting_row("set its CPU shares", "process") },
            Setting::GroupIdle => const { &setting_row("set its cpu.idle", "process") },
            Setting::QosClass(_) => const { &setting_row("set its QoS class", "thread") },
            Setting::Policy(_) => &POLICY,
            Setting::Io(_) => const { &setting_row("set its I/O priority", "thread") },
        }
    }

    /// As in a table.
    pub fn label(&self) -> String {
        match self {
            Setting::Group(directory) => format!("control group {}", directory.display()),
            Setting::Cpus(cpus) => format!("CPU {}", ranges(cpus)),
            Setting::OneCpu => "affinity to one CPU".into(),
            Setting::OwnSession(true) => "separate session".into(),
            Setting::OwnSession(false) => "shared session".into(),
            Setting::Nice(nice) => format!("nice {nice}"),
            Setting::Autogroup(nice) => format!("autogroup nice {nice}"),
            Setting::SliceNs(0) => "default slice".into(),
            Setting::SliceNs(ns) => format!("slice {}", crate::figure::time(*ns as f64)),
            Setting::TimerSlackNs(ns) => format!("timer slack {ns} ns"),
            Setting::TransparentHugePages(true) => "transparent huge pages".into(),
            Setting::TransparentHugePages(false) => "no transparent huge pages".into(),
            Setting::GroupShares(shares) => format!("cgroup shares {shares}"),
            Setting::GroupIdle => "cgroup cpu.idle".into(),
            Setting::QosClass(number) => format!("QoS class {number}"),
            Setting::Policy(policy) => policy.name_and_priority(),
            Setting::Io(IoPriority::Unset) => "no I/O priority".into(),
            Setting::Io(IoPriority::RealTime(level)) => format!("I/O real-time {level}"),
            Setting::Io(IoPriority::BestEffort(level)) => format!("I/O best-effort {level}"),
            Setting::Io(IoPriority::Idle) => "I/O idle class".into(),
        }
    }

    /// The option of `latlas exec` that asks for it, if there is one.
    pub fn option(&self) -> Option<String> {
        Some(match self {
            Setting::OneCpu => "--pin".into(),
            Setting::OwnSession(true) => "--own-session".into(),
            Setting::Nice(nice) => format!("--nice {nice}"),
            Setting::Autogroup(nice) => format!("--autogroup {nice}"),
            Setting::Policy(Policy::Fifo(1)) => "--fifo".into(),
            Setting::Policy(Policy::Fifo(priority)) => format!("--fifo={priority}"),
            _ => return None,
        })
    }

    /// The priority of SCHED_FIFO or SCHED_RR, if it is one of those.
    pub fn real_time(&self) -> Option<u8> {
        match self {
            Setting::Policy(policy) => policy.real_time(),
            _ => None,
        }
    }

    /// Whether the threads of a session share it.
    pub fn is_of_session(&self) -> bool {
        self.row().acts_on == "session"
    }

    /// Whether the other sets the same, with whatever value.
    pub fn is_like(&self, other: &Setting) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether what was read back is what was asked for.
    pub fn is_met_by(&self, now: &Setting) -> bool {
        match (self, now) {
            // What the system chooses.
            (
                Setting::OwnSession(false)
                | Setting::TimerSlackNs(0)
                | Setting::Io(IoPriority::Unset),
                _,
            ) => true,
            (Setting::SliceNs(0), Setting::SliceNs(now)) => *now > 0,
            // `__setparam_fair`, kernel/sched/syscalls.c.
            (Setting::SliceNs(ns), Setting::SliceNs(now)) => {
                *now == (*ns).clamp(100_000, 100_000_000)
            }
            (Setting::OneCpu, Setting::Cpus(now)) => now.len() == 1,
            _ => self == now,
        }
    }

    /// What undoes it, where `before` was read before; `None` where it ends with the process, or is not known.
    pub fn undone(&self, before: Option<Setting>) -> Option<Setting> {
        match self {
            Setting::SliceNs(_) => Some(Setting::SliceNs(0)),
            Setting::Io(_) => Some(Setting::Io(IoPriority::Unset)),
            Setting::OwnSession(_) => None,
            _ => before,
        }
    }
}

impl Policy {
    /// Name and priority, as chrt(1) prints them.
    pub fn name_and_priority(self) -> String {
        match self {
            Policy::Other => "SCHED_OTHER".into(),
            Policy::Batch => "SCHED_BATCH".into(),
            Policy::Idle => "SCHED_IDLE".into(),
            Policy::Fifo(priority) => format!("SCHED_FIFO {priority}"),
            Policy::RoundRobin(priority) => format!("SCHED_RR {priority}"),
            Policy::Another => "another scheduling policy".into(),
        }
    }

    /// Its priority, if its tasks run before all ordinary ones.
    pub fn real_time(self) -> Option<u8> {
        match self {
            Policy::Fifo(priority) | Policy::RoundRobin(priority) => Some(priority),
            _ => None,
        }
    }
}

/// A setting that was asked for, and what came of it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// What is asked for.
    pub setting: Setting,
    /// What the system made of it.
    pub outcome: Outcome,
}

/// What the system made of a setting.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Set, but there is no way to read it back.
    Applied,
    /// Set, and read back in the thread that has it. Whether it was seen to act is another matter:
    /// [`seen_to_act`](crate::qos::shares::seen_to_act).
    #[serde(alias = "effective", alias = "done")]
    ReadBack,
    /// Not set, with the reason.
    Refused(String),
    /// Set without an error, and something else was read back.
    #[serde(alias = "no_effect")]
    Differs(String),
}

impl Outcome {
    /// Whether it was set, as far as is known.
    pub fn holds(&self) -> bool {
        self.why_not().is_none()
    }

    /// Why it was not: the reason, or what was read back.
    pub fn why_not(&self) -> Option<&str> {
        match self {
            Outcome::Applied | Outcome::ReadBack => None,
            Outcome::Refused(why) | Outcome::Differs(why) => Some(why),
        }
    }
}

impl Part {
    /// Whether it holds for the job.
    pub fn holds(&self) -> bool {
        self.outcome.holds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_the_names_of_settings() {
        for (setting, name) in [
            (Setting::BATCH, r#""batch""#),
            (Setting::IDLE, r#""idle""#),
            (Setting::Nice(-5), r#"{"nice":-5}"#),
            (Setting::Autogroup(19), r#"{"autogroup":19}"#),
            (Setting::SliceNs(700_000), r#"{"slice_ns":700000}"#),
            (Setting::QosClass(9), r#"{"qos_class":9}"#),
            (Setting::Policy(Policy::Fifo(10)), r#"{"fifo":10}"#),
            (Setting::Policy(Policy::RoundRobin(10)), r#"{"round_robin":10}"#),
            (Setting::OneCpu, r#""one_cpu""#),
            (Setting::Io(IoPriority::BestEffort(7)), r#"{"io_best_effort":7}"#),
            (Setting::Io(IoPriority::Idle), r#""io_idle""#),
            (Setting::GroupShares(100), r#"{"group_shares":100}"#),
            (Setting::GroupIdle, r#""group_idle""#),
        ] {
            assert_eq!(serde_json::to_string(&setting).expect("written"), name);
            assert_eq!(serde_json::from_str::<Setting>(name).expect("read"), setting);
        }
        assert!(serde_json::from_str::<Setting>(r#"{"nicer":1}"#).is_err());
    }
}
