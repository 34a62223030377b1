//! How long a run is planned to take, on machines that are not here: small
//! and huge last levels, few CPUs and many.
#![cfg(any(target_os = "linux", target_os = "android"))]

use meter::plan::{BASE_SHARE, Plan, Request, plan_within};
use model::machine::Machine;
use model::run::Scale;
use std::fs;
use std::time::Duration;
use sys::machine::{Live, machine_from};

const GIB: u64 = 1 << 30;

/// So many CPUs, which share a last level of this size.
fn machine(last_level_mib: u32, cpus: u32) -> Machine {
    let root = tempfile::tempdir().expect("a directory");
    let put = |path: String, content: &str| {
        let path = root.path().join("sys/devices/system/cpu").join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        fs::write(path, content).expect("a file");
    };
    let all = format!("0-{}", cpus - 1);
    put("online".into(), &all);
    for cpu in 0..cpus {
        let own = cpu.to_string();
        for (index, level, size, shared) in [
            (0, 1, "32K", &own),
            (2, 2, "1024K", &own),
            (3, 3, format!("{last_level_mib}M").as_str(), &all),
        ] {
            let cache = |file: &str| format!("cpu{cpu}/cache/index{index}/{file}");
            put(cache("level"), &level.to_string());
            put(cache("type"), if level == 1 { "Data" } else { "Unified" });
            put(cache("size"), size);
            put(cache("shared_cpu_list"), shared);
        }
    }
    let live =
        Live { allowed_cpus: model::machine::Fact::known((0..cpus).collect()), ..Live::here() };
    machine_from(root.path(), &live)
}

fn planned(machine: &Machine, request: &Request) -> Plan {
    plan_within(&probes::catalogue(), request, machine, 24 * GIB).expect("a plan")
}

fn of_scale(scale: Scale) -> Request {
    Request { scale, ..Request::default() }
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

#[test]
fn a_run_is_planned_for_its_scale_whatever_the_last_level() {
    for last_level_mib in [8, 32, 96, 480] {
        for cpus in [2, 64] {
            let machine = machine(last_level_mib, cpus);
            for (scale, most) in [(Scale::Quick, 22.0), (Scale::Default, 85.0)] {
                let plan = planned(&machine, &of_scale(scale));
                let total = seconds(plan.total());
                let which =
                    format!("{scale:?}, {last_level_mib} MiB, {cpus} CPUs: {:?}", plan.time);
                assert_eq!(plan.machine_shape.last_level_bytes >> 20, u64::from(last_level_mib));

                assert!(total <= most, "{total} s: {which}");
                assert!(total >= most / 3.0, "{total} s: {which}");
                // Something is left for what turns out to be uncertain.
                let share = seconds(plan.time.base) / seconds(plan.time.measuring());
                assert!(share < BASE_SHARE + 0.25, "{share}: {which}");
            }
        }
    }
}

#[test]
fn the_parts_of_the_time_are_its_sum() {
    let plan = planned(&machine(32, 2), &of_scale(Scale::Default));
    let of_cells: Duration = plan.cells.iter().map(|cell| cell.allotment).sum();
    assert_eq!(plan.time.base, of_cells);
    let time = plan.time;
    assert_eq!(plan.total(), time.start + time.base + time.extra + time.end);
    assert!(plan.limit > plan.total());
    for cell in plan.cells.iter().filter(|cell| cell.visits > 0) {
        let visits = f64::from(cell.visits * cell.workers);
        let ns = visits * cell.cost.visit_of(cell.samples) + cell.cost.once_ns;
        assert!((cell.allotment.as_nanos() as f64 - ns).abs() < 2.0, "{cell:?}");
    }
}

#[test]
fn every_cell_keeps_a_visit_of_each_worker_and_tails_their_operations() {
    for scale in [Scale::Quick, Scale::Default] {
        let plan = planned(&machine(480, 2), &of_scale(scale));
        for cell in &plan.cells {
            assert_eq!(cell.visits == 0, cell.follows.is_some(), "{cell:?}");
        }
    }
    let plan = planned(&machine(32, 2), &of_scale(Scale::Default));
    let tail = plan.cells.iter().find(|cell| cell.row == "pool.async_wait/rayon");
    let tail = tail.expect("a row with a tail");
    assert!(tail.visits * tail.samples * tail.workers >= 1000, "{tail:?}");
}

#[test]
fn a_budget_is_all_the_time_there_is() {
    let machine = machine(32, 2);
    for s in [2, 10, 30, 60, 300] {
        let budget = Duration::from_secs(s);
        let request = Request { budget: Some(budget), ..Request::default() };
        let plan = planned(&machine, &request);
        assert_eq!(plan.limit, budget);
        // A few milliseconds of measuring are left of the shortest.
        let most = budget.max(Duration::from_secs(3));
        assert!(plan.total() <= most, "{:?}", plan.time);
        let of_cells: Duration = plan.cells.iter().map(|cell| cell.allotment).sum();
        let apart = of_cells.abs_diff(plan.time.base);
        assert!(apart < Duration::from_millis(1), "{apart:?}");
    }
}

#[test]
fn a_single_row_spans_two_seconds_and_a_row_of_full_is_quick_at_the_quick_scale() {
    let machine = machine(32, 2);
    let of = |scale, rows: &[&str]| {
        let request =
            Request { rows: rows.iter().map(ToString::to_string).collect(), ..of_scale(scale) };
        planned(&machine, &request)
    };
    let one = of(Scale::Default, &["cpu.add_i64"]);
    assert_eq!(one.time.measuring(), Duration::from_secs(2));
    let row = "memory.parallelism/DRAM";
    let (quick, full) = (of(Scale::Quick, &[row]), of(Scale::Full, &[row]));
    assert!(quick.total() * 3 < full.total(), "{:?} {:?}", quick.time, full.time);
    assert!(quick.total() < Duration::from_secs(6), "{:?}", quick.time);
}

#[test]
fn what_hangs_on_other_rows_or_fills_a_disk_gets_no_extra_visits() {
    let plan = planned(&machine(32, 2), &of_scale(Scale::Default));
    let mut without = plan.cells.iter().filter(|cell| !cell.extra_visits);
    assert!(without.clone().count() > 0);
    let rows = ["memory.latency_steady", "file.create", "file.delete"];
    assert!(without.all(|cell| rows.contains(&cell.row.as_str())));
}
