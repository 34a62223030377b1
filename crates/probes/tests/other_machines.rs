//! The plan on machines that are not here: several NUMA nodes, several kinds
//! of cores. They are file trees, as their kernels would write them.
#![cfg(any(target_os = "linux", target_os = "android"))]

use meter::core_kind::CoreKindChoice;
use meter::plan::{Plan, PlanError, Request, plan};
use model::machine::{Fact, Machine};
use std::fs;
use sys::machine::{Live, machine_from};

const CPU: &str = "sys/devices/system/cpu";

fn machine(files: &[(&str, &str)], allowed: Fact<Vec<u32>>) -> Machine {
    let root = tempfile::tempdir().expect("a directory");
    for (path, content) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        fs::write(path, content).expect("a file");
    }
    let live = Live { allowed_cpus: allowed, ..Live::here() };
    machine_from(root.path(), &live)
}

fn request(rows: &[&str]) -> Request {
    Request { rows: rows.iter().map(ToString::to_string).collect(), ..Request::default() }
}

fn planned(machine: &Machine, request: &Request) -> Result<Plan, PlanError> {
    plan(&probes::catalogue(), request, machine)
}

/// Two sockets with a node each.
fn two_nodes(allowed: &[u32]) -> Machine {
    const NODE: &str = "sys/devices/system/node";
    machine(
        &[
            (&format!("{CPU}/online"), "0-3"),
            (&format!("{NODE}/online"), "0-1"),
            (&format!("{NODE}/node0/cpulist"), "0-1"),
            (&format!("{NODE}/node0/meminfo"), "Node 0 MemTotal: 16000000 kB"),
            (&format!("{NODE}/node1/cpulist"), "2-3"),
            (&format!("{NODE}/node1/meminfo"), "Node 1 MemTotal: 16000000 kB"),
        ],
        Fact::known(allowed.to_vec()),
    )
}

const NUMA: [&str; 2] = ["memory.numa/latency", "memory.numa/bandwidth"];

#[test]
fn two_nodes_are_a_map_of_two_by_two() {
    let plan = planned(&two_nodes(&[0, 1, 2, 3]), &request(&NUMA)).expect("a plan");
    assert_eq!(plan.unavailable, []);
    for row in NUMA {
        let at: Vec<&[u64]> = plan
            .cells
            .iter()
            .filter(|cell| cell.row == row)
            .map(|cell| cell.at.as_slice())
            .collect();
        assert_eq!(at, [[0, 0], [0, 1], [1, 0], [1, 1]], "{row}");
    }
    assert!(
        plan.cells.iter().all(|cell| cell.working_set_bytes == plan.large_bytes),
        "a working set far beyond the caches"
    );
    let cpus: Vec<&[u32]> = plan.machine_shape.nodes.iter().map(|n| n.cpus.as_slice()).collect();
    assert_eq!(cpus, [[0, 1], [2, 3]]);
}

#[test]
fn a_node_whose_cpus_are_not_ours_is_only_read() {
    let plan = planned(&two_nodes(&[1]), &request(&NUMA)).expect("a plan");
    assert_eq!(plan.machine_shape.nodes[0].cpus, [1]);
    assert!(plan.machine_shape.nodes[1].cpus.is_empty());
    let at: Vec<&[u64]> = plan.cells.iter().map(|cell| cell.at.as_slice()).collect();
    assert_eq!(at, [[0, 0], [0, 1], [0, 0], [0, 1]], "both rows");
}

#[test]
fn one_node_is_not_available() {
    let mut one = two_nodes(&[0, 1]);
    one.numa_nodes = one.numa_nodes.map(|nodes| nodes[..1].to_vec());
    let plan = planned(&one, &request(&NUMA)).expect("a plan");
    assert!(plan.cells.is_empty());
    let reasons: Vec<&str> = plan.unavailable.iter().map(|u| u.3.as_str()).collect();
    assert_eq!(reasons, ["one NUMA node"; 2]);
}

/// Two P-cores of two threads with 2 MiB of L2 each, four E-cores that share
/// 4 MiB.
fn hybrid(allowed: Fact<Vec<u32>>) -> Machine {
    let mut files = vec![
        (format!("{CPU}/online"), "0-7".to_string()),
        ("sys/devices/cpu_core/cpus".into(), "0-3".into()),
        ("sys/devices/cpu_atom/cpus".into(), "4-7".into()),
    ];
    for cpu in 0..8 {
        let (khz, kib, shared) = match cpu {
            0 | 1 => ("5000000", "2048K", "0-1"),
            2 | 3 => ("5000000", "2048K", "2-3"),
            _ => ("3800000", "4096K", "4-7"),
        };
        let cache = format!("{CPU}/cpu{cpu}/cache/index2");
        files.extend([
            (format!("{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq"), khz.into()),
            (format!("{cache}/level"), "2".into()),
            (format!("{cache}/type"), "Unified".into()),
            (format!("{cache}/size"), kib.into()),
            (format!("{cache}/shared_cpu_list"), shared.into()),
        ]);
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    machine(&files, allowed)
}

fn of_kind(kind: CoreKindChoice, pin: Option<u32>) -> Request {
    Request { core_kind: Some(kind), pin, ..request(&["cpu.add_i64"]) }
}

#[test]
fn a_run_keeps_to_the_kind_of_cores_asked_for() {
    let machine = hybrid(Fact::known((0..8).collect()));
    let plan = planned(&machine, &of_kind(CoreKindChoice::Efficiency, None)).expect("a plan");
    assert_eq!(plan.machine_shape.cpus, [4, 5, 6, 7]);
    assert_eq!(plan.record.core_kind.as_deref(), Some("efficiency (E-core)"));
    assert_eq!(plan.machine_shape.l2_bytes, 4 << 20, "the caches of that kind");
    let plan = planned(&machine, &of_kind(CoreKindChoice::Performance, Some(3))).expect("a plan");
    assert_eq!(plan.machine_shape.cpus, [0, 1, 2, 3]);
    assert_eq!(plan.pin, Some(3));
    assert_eq!(plan.record.core_kind.as_deref(), Some("performance (P-core)"));
    let plan = planned(&machine, &of_kind(CoreKindChoice::Performance, None)).expect("a plan");
    assert_eq!(plan.machine_shape.l2_bytes, 2 << 20, "not the others'");
    let plan = planned(&machine, &request(&["cpu.add_i64"])).expect("a plan");
    assert_eq!(plan.machine_shape.cpus.len(), 8);
    assert_eq!(plan.record.core_kind, None);
}

#[test]
fn impossible_kinds_are_refused() {
    let refusal = |machine: &Machine, kind, pin| {
        planned(machine, &of_kind(kind, pin)).expect_err("no such cores").to_string()
    };
    let all = hybrid(Fact::known((0..8).collect()));
    let error = refusal(&all, CoreKindChoice::Performance, Some(4));
    assert!(error.starts_with("CPU 4 is not among the performance cores"), "{error}");
    let some = hybrid(Fact::known(vec![5, 6]));
    let error = refusal(&some, CoreKindChoice::Performance, None);
    assert!(error.contains("may run on 5, 6"), "{error}");
    // The kind is right, but the CPU is not ours.
    let error = refusal(&some, CoreKindChoice::Efficiency, Some(7));
    assert!(error.starts_with("CPU 7 can't be used"), "{error}");
    let error = refusal(&two_nodes(&[0]), CoreKindChoice::Efficiency, None);
    assert!(error.starts_with("this machine has one kind of cores"), "{error}");
    let unpinned = hybrid(Fact::unknown("no such call"));
    let error = refusal(&unpinned, CoreKindChoice::Efficiency, None);
    assert!(error.contains("does not let a thread choose its CPUs"), "{error}");
}
