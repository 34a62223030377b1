//! `--normalize`: a reference workload taken out.

use super::*;

#[test]
fn a_reference_workload_takes_the_machines_drift_out() {
    let mut a = synthetic::run();
    a.machine.cpu_model = Fact::known("one".into());
    let mut b = synthetic::run();
    b.machine.cpu_model = Fact::known("another".into());
    let rows = ["memory.latency/DRAM", "cpu.add_i32", "cpu.div_f64_as_ash"];
    for (id, factor) in rows.into_iter().zip([1.6, 1.6, 4.0]) {
        b = slower(&b, id, factor);
    }
    b = slower(&b, "memory.latency/L3", 1.6);
    let by = |row: &str| normalized(Normalize::Row(row.into()));
    let mut text = described("plain", row(&set(&a, &b, &USUAL), "cpu.add_i32"));
    let kept = drifting(&a, &singles(&a));
    let c = compare_with_kept(&a, &b, kept, &by(MEMORY_REFERENCE));
    for id in rows {
        text += &described("normalized", row(&c, id));
    }
    text += &format!("{:?}\n", c.method.normalized);
    for id in ["cpu.absent", "cpu.branch_mispredict", "memory.latency"] {
        text += &(refused(&a, &b, &[], &by(id)) + "\n");
    }
    insta::assert_snapshot!(text);
}

/// With memory in ns, as where it is not bound by the core.
fn of_memory(ns: f64) -> Run {
    let mut run = with_bandwidth(ns);
    let rows = run.rows.iter_mut();
    rows.filter(|row| row.id.starts_with("memory.latency"))
        .for_each(|row| row.bound = Bound::Memory);
    run
}

#[test]
fn the_usual_reference_is_for_memory_and_says_where_it_is_missing() {
    let [a, mut b] = [of_memory(1.0), of_memory(1.6)];
    b = slower(&b, MEMORY_REFERENCE, 1.6);
    b = slower(&b, "thread.create_join", 1.6);
    let options = normalized(Normalize::Usual);
    let c = compare_with_kept(&a, &b, drifting(&a, &singles(&a)), &options);
    let mut text = String::new();
    // The second is not of memory, the third in cycles already.
    for id in ["memory.made_up", "thread.create_join", "memory.naive_xor/50kB"] {
        text += &described("with kept runs", row(&c, id));
    }
    b.rows.retain(|row| row.id != MEMORY_REFERENCE);
    let without = set(&a, &b, &options);
    text += &described("without it", row(&without, "memory.made_up"));
    text += &without.method.normalized[1];
    insta::assert_snapshot!(text);
}

#[test]
fn a_reference_that_takes_no_error_out_is_refused() {
    let run = of_memory(1.0);
    let every = singles(&run);
    let usual = normalized(Normalize::Usual);
    let with = |kept| compare_with_kept(&run, &run, kept, &usual);
    // The reference wanders, and nothing else does.
    let alone = drifting(&run, &[MEMORY_REFERENCE]);
    // A tenth less may be chance.
    let others: Vec<&str> = every.iter().copied().filter(|id| *id != MEMORY_REFERENCE).collect();
    let hardly = [1.0, 1.02, 0.99, 1.01].into_iter().zip(drifting(&run, &others));
    let hardly = hardly.map(|(factor, run)| slower(&run, MEMORY_REFERENCE, factor));
    // Where memory as a whole comes and goes, it helps.
    let together = drifting(&run, &every);
    let mut text = String::new();
    for (what, kept) in [
        ("it alone wanders", alone.clone()),
        ("a tenth less", hardly.collect()),
        ("all together", together.clone()),
    ] {
        let c = with(kept);
        let normalized = row(&c, "memory.made_up").ratio.expect("both").normalized;
        text += &format!("{what}: {normalized}: {}\n", c.method.normalized[1]);
    }
    // Runs that are compared have no say in it.
    let side = Operand::of_runs("main", together);
    let b = Operand::from_run("x", run.clone());
    let c = compare(&side, &b, &[], &|_| true, &usual).expect("shared rows");
    text += &format!("on a side: {}\n", c.method.normalized[1]);
    let by = normalized(Normalize::Row(MEMORY_REFERENCE.into()));
    for kept in [alone, Vec::new()] {
        text += &(refused(&run, &run, &[kept], &by) + "\n");
    }
    insta::assert_snapshot!(text);
}
