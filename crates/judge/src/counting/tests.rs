use super::*;

/// The log of a harness that reads two clocks around each sample, after looking for its iterations; 2 ns an
/// instruction.
fn log(samples: &[(u64, u64)]) -> Log {
    let mut text = String::from("T 0 100 5 200\nT 1 7 0 300\n");
    let (mut instructions, mut calls) = (100, 5);
    let mut read = |more: u64, more_calls: u64| {
        instructions += more;
        calls += more_calls;
        text.push_str(&format!("T 0 {instructions} {calls} {}\n", 2 * instructions));
    };
    read(130_000, 8);
    for &(work, more) in &[&[(13_450, 0), (9_124_660, 0)], samples].concat() {
        read(24, 0);
        read(work, more);
        read(28, 0);
        read(4_000 + work % 977, 1);
    }
    text.push_str("ALL 9000000 200\n");
    Log::from_text(&text)
}

#[test]
fn samples_are_found_between_reads_of_the_clock() {
    let equal = log(&[(1_117_450, 2); 5]);
    assert_eq!(equal.all, Some((9_000_000, 200)));
    let found = equal.per_operation(&[(100, 2_234_900.0); 5]).expect("found");
    assert_eq!(found, (11_174.5, 0.02));
    // criterion's samples grow.
    let growing: Vec<(u64, u64)> = (1..=10).map(|n| (98_000 * n + 50, n)).collect();
    let samples: Vec<(u64, f64)> =
        (1..=10).map(|n| (1000 * n, 196_000.0 * n as f64 + 100.0)).collect();
    let (instructions, calls) = log(&growing).per_operation(&samples).expect("found");
    assert!((instructions / 98.0 - 1.0).abs() < 1e-3 && calls == 0.001, "{instructions} {calls}");
}

#[test]
fn what_is_no_sample_is_not_taken_for_one() {
    let others = log(&[(1_117_450, 0); 5]);
    assert_eq!(others.per_operation(&[(100, 5_000_000.0); 5]), Err(CountError::NotFound(29)));
    assert!(Log::default().per_operation(&[(1, 1.0)]).is_err());
    assert!(log(&[]).per_operation(&[]).is_err());
}

#[test]
fn equal_runs_have_a_spread() {
    let counts = of_runs(&[(1000.0, 1.0), (1010.0, 1.0), (1005.0, 2.0)]).expect("three runs");
    let expected = ArmCounts { instructions: 1005.0, system_calls: 1.0, spread: 10.0 / 1005.0 };
    assert_eq!(counts, expected);
    assert_eq!(of_runs(&[]), None);
}
