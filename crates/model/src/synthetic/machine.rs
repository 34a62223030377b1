//! The machine, its conditions and the plan.

use super::memory::{KIB, MIB};
use crate::conditions::{Conditions, Moment};
use crate::machine::{
    CacheFact, CacheKind, CoreKind, CpuSignature, Fact, Limit, Machine, NumaNode, Presence, Smt,
};
use crate::noise::applied::{Applied, Policy, Settings};
use crate::run::{PlanRecord, Scale};
use crate::synthetic::osnoise;

pub(super) fn conditions() -> Conditions {
    let moment = |load, steal_ns| Moment {
        load_average: Some([load, 0.2, 0.1]),
        cpu_pressure_percent: Some(0.4),
        steal_ns: Some(steal_ns),
        throttled_us: Some(0),
        others_ns: None,
    };
    Conditions {
        before: moment(0.31, 1_000_000),
        after: moment(1.02, 43_000_000),
        pinned_cpus: vec![1],
        not_pinned: None,
        applied: Some(applied()),
        osnoise: Some(osnoise::around()),
        remarks: Vec::new(),
    }
}

pub(super) fn applied() -> Applied {
    let asked = Settings { cpus: vec![1], own_session: Some(true), ..Settings::default() };
    let granted = Settings {
        autogroup: Some(0),
        nice: Some(0),
        policy: Some(Policy::Other),
        timer_slack_ns: Some(50_000),
        cpuset: Some("/".into()),
        ..asked.clone()
    };
    Applied::new(asked, granted)
}

pub(super) fn plan() -> PlanRecord {
    PlanRecord {
        scale: Scale::Default,
        asked: Vec::new(),
        seed: 42,
        budget_ms: 35_000,
        workers: 8,
        large_workers: 3,
        largest_working_set_bytes: 256 * MIB,
        shrunk: None,
        core_kind: None,
        cpus: vec![0, 1, 2, 3],
        in_process: false,
    }
}

pub(super) fn cache(level: u32, kind: CacheKind, size_bytes: u64) -> CacheFact {
    CacheFact {
        level,
        kind,
        size_bytes: Some(size_bytes),
        line_bytes: Some(64),
        ways: Some(8),
        shared_cpus: vec![0, 1],
    }
}

pub(super) fn machine() -> Machine {
    let mut machine = Machine::unknown("x86_64", "hidden from the guest");
    machine.hostname = Fact::known("example".into());
    machine.os = Fact::known("Debian GNU/Linux 12".into());
    machine.kernel = Fact::known("6.1.0-28-amd64".into());
    machine.emulated = Fact::known(Presence::Absent);
    machine.cpu_model = Fact::known("AMD EPYC 7B13".into());
    machine.cpu_signature = Fact::known(CpuSignature::X86 { family: 0x19, model: 1, stepping: 0 });
    machine.microarchitecture = Fact::known("Zen 3".into());
    machine.online_cpus = Fact::known(vec![0, 1, 2, 3]);
    machine.allowed_cpus = Fact::known(vec![0, 1, 2, 3]);
    machine.smt = Fact::known(Smt { threads_per_core: 2, active: true });
    machine.core_kinds = Fact::known(vec![CoreKind {
        name: "only kind".into(),
        cpus: vec![0, 1, 2, 3],
        capacity: None,
        max_hz: None,
    }]);
    machine.numa_nodes =
        Fact::known(vec![NumaNode { id: 0, cpus: vec![0, 1], memory_bytes: 8_203_173_888 }]);
    machine.caches = Fact::known(vec![
        cache(1, CacheKind::Data, 32 * KIB),
        cache(1, CacheKind::Instruction, 32 * KIB),
        cache(2, CacheKind::Unified, 512 * KIB),
        cache(3, CacheKind::Unified, 32 * MIB),
    ]);
    machine.memory.physical_bytes = Fact::known(8_203_173_888);
    machine.memory.cgroup_limit_bytes = Fact::known(Limit::Unlimited);
    machine.hypervisor = Fact::known(Presence::Present("KVM".into()));
    machine
}
