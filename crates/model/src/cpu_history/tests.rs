use super::*;

fn ticks(user: u32, system: u32, steal: u32, idle: u32) -> Option<Ticks> {
    Some([user, system, steal, idle].into())
}

fn kind(name: &str, cpus: &[u32]) -> CoreKind {
    CoreKind { name: name.into(), cpus: cpus.to_vec(), capacity: None, max_hz: None }
}

/// Intervals of 100 ms.
fn history(cpus: &[(u32, &[Option<Ticks>])]) -> CpuHistory {
    let intervals = cpus.first().map_or(0, |(_, ticks)| ticks.len() as u64);
    CpuHistory {
        command: None,
        ended: Ended::Time,
        tick_ns: 10_000_000,
        source: "/proc/stat".into(),
        core_kinds: Fact::unknown("a test"),
        ends_ns: (1..=intervals).map(|at| at * 100_000_000).collect(),
        cpus: cpus.iter().map(|&(cpu, ticks)| CpuStrip { cpu, ticks: ticks.to_vec() }).collect(),
        queued_while_idle_ns: Fact::unknown(NO_QUEUES),
    }
}

#[test]
fn shares_are_of_all_ticks() {
    let shares = ticks(5, 2, 1, 2).and_then(Ticks::shares);
    assert_eq!(shares, Some([0.5, 0.2, 0.1]));
    assert_eq!(Ticks::default().shares(), None);
}

#[test]
fn columns_weigh_intervals_by_their_time() {
    let busy = ticks(10, 0, 0, 0);
    let idle = ticks(0, 0, 0, 10);
    let half = ticks(0, 5, 0, 5);
    let strip = CpuStrip { cpu: 0, ticks: vec![busy, idle, None, half] };
    let ends = [100, 200, 300, 400];
    let user = |columns| {
        let columns = strip.columns(&ends, columns);
        columns.into_iter().map(|c| c.map(|[user, ..]| user)).collect::<Vec<_>>()
    };
    assert_eq!(user(4), [Some(1.0), Some(0.0), None, Some(0.0)]);
    assert_eq!(user(2), [Some(0.5), Some(0.0)], "what is known of a column");
    assert_eq!(user(8)[..3], [Some(1.0), Some(1.0), Some(0.0)]);
    assert_eq!(strip.columns(&ends, 4)[3], Some([0.0, 0.5, 0.0]));
    assert_eq!(strip.columns(&[], 3), [None; 3]);
}

#[test]
fn cpus_are_grouped_by_kind_and_none_is_left_out() {
    let one = [ticks(1, 0, 0, 9)];
    let mut history = history(&[(0, &one), (1, &one), (2, &one)]);
    let names = |history: &CpuHistory| -> Vec<(Option<String>, Vec<u32>)> {
        let kinds = history.by_kind().into_iter();
        let numbers = |cpus: Vec<&CpuStrip>| cpus.iter().map(|strip| strip.cpu).collect();
        kinds.map(|(kind, cpus)| (kind.map(|kind| kind.name.clone()), numbers(cpus))).collect()
    };
    assert_eq!(names(&history), [(None, vec![0, 1, 2])]);
    history.core_kinds = Fact::known(vec![kind("P-core", &[2, 3]), kind("E-core", &[0])]);
    assert_eq!(
        names(&history),
        [(Some("P-core".into()), vec![2]), (Some("E-core".into()), vec![0]), (None, vec![1]),]
    );
}

#[test]
fn joined_intervals_keep_their_ticks() {
    let all = [ticks(1, 2, 3, 4), ticks(9, 0, 0, 1), None, ticks(1, 1, 1, 1), ticks(5, 0, 0, 5)];
    let mut history = history(&[(0, &all)]);
    history.halve();
    assert_eq!(history.ends_ns, [200_000_000, 400_000_000, 500_000_000]);
    let joined = [ticks(10, 2, 3, 5), None, ticks(5, 0, 0, 5)];
    assert_eq!(history.cpus[0].ticks, joined);
}

#[test]
fn equal_use_is_no_imbalance() {
    let half = [ticks(4, 1, 0, 5); 3];
    let imbalance = history(&[(0, &half), (1, &half)]).imbalance().expect("two CPUs");
    let even = BusySpread { busiest_share: 0.5, variation: 0.0 };
    assert_eq!((imbalance.whole, imbalance.intervals), (even, even));
}

#[test]
fn work_that_moves_is_uneven_in_intervals_only() {
    let (busy, idle) = (ticks(10, 0, 0, 0), ticks(0, 0, 0, 10));
    let imbalance = history(&[(4, &[busy, idle]), (5, &[idle, busy])]);
    let imbalance = imbalance.imbalance().expect("two CPUs");
    assert_eq!((imbalance.whole.busiest_share, imbalance.whole.variation), (0.5, 0.0));
    let intervals = imbalance.intervals;
    assert_eq!((intervals.busiest_share, intervals.variation), (1.0, 1.0));
    assert_eq!(imbalance.busiest, 4, "the first of equals");
}

#[test]
fn one_busy_cpu_of_four() {
    let (busy, idle) = ([ticks(8, 2, 0, 0)], [ticks(0, 0, 0, 10)]);
    let imbalance = history(&[(0, &idle), (1, &idle), (2, &busy), (3, &idle)]);
    let imbalance = imbalance.imbalance().expect("four CPUs");
    assert_eq!(imbalance.busiest, 2);
    assert_eq!(imbalance.whole.busiest_share, 1.0);
    // Of 10, 0, 0, 0: the root of 3.
    assert!((imbalance.whole.variation - 3.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn steal_is_no_work_and_what_was_offline_is_left_out() {
    let stolen = [ticks(0, 0, 10, 0), ticks(0, 0, 10, 0)];
    let busy = [ticks(10, 0, 0, 0), ticks(10, 0, 0, 0)];
    let offline = [ticks(10, 0, 0, 0), None];
    assert_eq!(history(&[(0, &stolen), (1, &stolen)]).imbalance(), None);
    assert_eq!(history(&[(0, &busy)]).imbalance(), None, "one CPU");
    assert_eq!(history(&[(0, &busy), (1, &offline)]).imbalance(), None);
    let imbalance = history(&[(0, &busy), (1, &stolen), (2, &offline)]).imbalance();
    let imbalance = imbalance.expect("two CPUs");
    assert_eq!((imbalance.cpus, imbalance.whole.busiest_share), (2, 1.0));
}

#[test]
fn the_document_is_small_and_reads_back() {
    let history = history(&[(0, &[ticks(1, 2, 3, 4), None])]);
    let json = serde_json::to_string(&history).expect("JSON");
    assert!(json.contains(r#""ticks":[[1,2,3,4],null]"#), "{json}");
    let read: CpuHistory = serde_json::from_str(&json).expect("a document");
    assert_eq!(read, history);
}
