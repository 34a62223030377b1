//! Clocks: the core's, which wanders, and the counter, which may break.

use crate::scripted::{Event, NS_PER_TICK, OVERHEAD, Scripted, measure, observe};
use meter::osnoise::detector::DetectorError;
use meter::osnoise::summary::summarize;
use model::noise::osnoise::Cause;

/// Ticks a cycle at so many GHz.
fn at(ghz: f64) -> f64 {
    1.0 / ghz / NS_PER_TICK
}

#[test]
fn the_threshold_is_learnt_from_quiet_blocks() {
    let mut machine = Scripted::new(Vec::new());
    machine.ticks_per_cycle = |_| at(2.0);
    let osnoise = measure(&mut machine, 1_000.0);
    let overhead_ns = OVERHEAD as f64 / 2.0;
    assert_eq!(osnoise.detector.adds, 1024);
    assert_eq!(osnoise.detector.block_ns, 512.0 + overhead_ns);
    assert!((osnoise.detector.overhead_ns - overhead_ns).abs() < 1.0);
    // Nothing differs here: twice the block is the limit.
    assert_eq!(osnoise.detector.threshold_ns, osnoise.detector.block_ns);
    let f = osnoise.frequency.expect("quiet windows");
    for ghz in [f.p1_ghz, f.p50_ghz, f.p99_ghz] {
        assert!((ghz - 2.0).abs() < 0.005, "{f:?}");
    }
    assert_eq!(osnoise.detours, 0);
}

#[test]
fn a_wandering_clock_makes_no_gaps() {
    // From 3.5 GHz to 2.2 and back each millisecond, at once and gradually.
    let jumps: fn(f64) -> f64 = |us| at(if us as u64 % 1000 < 500 { 3.5 } else { 2.2 });
    let slides: fn(f64) -> f64 = |us| at(2.2 + 1.3 * (us % 1000.0) / 1000.0);
    for clock in [jumps, slides] {
        let mut machine = Scripted::new(vec![Event {
            at_us: 20_000.0,
            takes_us: 1.5,
            other: 1,
            ..Event::default()
        }]);
        machine.ticks_per_cycle = clock;
        let osnoise = measure(&mut machine, 50_000.0);
        assert_eq!(
            osnoise.detours, 1,
            "the one that is a detour: {:?}",
            osnoise.longest
        );
        assert_eq!(osnoise.detector.slower, 0);
        let f = osnoise.frequency.expect("quiet windows");
        assert!(f.p1_ghz > 2.15 && f.p1_ghz < 2.35, "{f:?}");
        assert!(f.p99_ghz < 3.55 && f.p99_ghz > 3.35, "{f:?}");
    }
}

/// The counter's own part of a block takes longer too when the clock is slower.
#[test]
fn a_clock_slower_than_the_learnt_one_is_told_exactly() {
    let mut machine = Scripted::new(Vec::new());
    machine.ticks_per_cycle = |us| at(if us < 10_000.0 { 3.5 } else { 2.2 });
    let osnoise = measure(&mut machine, 40_000.0);
    let f = osnoise.frequency.expect("quiet windows");
    assert!((f.p99_ghz - 3.5).abs() < 0.01, "{f:?}");
    assert!(
        (f.p1_ghz - 2.2).abs() < 0.01 && (f.p50_ghz - 2.2).abs() < 0.01,
        "{f:?}"
    );
}

/// Never 64 quiet blocks between two pauses, so the request to end has to be heard
/// at a detour.
#[test]
fn it_is_asked_to_end_between_gaps_too() {
    let all_day = || {
        let pauses = (0..6_000).map(|k| Event {
            at_us: 6.0 * f64::from(k),
            takes_us: 5.0,
            ..Event::default()
        });
        let mut machine = Scripted::new(pauses.collect());
        machine.counts = None;
        machine.run_delay_cost_us = 0.0;
        machine
    };
    let mut machine = all_day();
    machine.end_at_us = 4_000.0;
    let observed = observe(&mut machine, 1_000_000.0).expect("the clock runs");
    assert!(observed.ended_early && !observed.full);
    assert!(
        observed.ticks < crate::scripted::ticks(4_050.0),
        "{}",
        observed.ticks
    );
    // Nobody asks, and memory has an end.
    let observed = observe(&mut all_day(), 1_000_000.0).expect("the clock runs");
    assert!(observed.ended_early && observed.full);
    assert_eq!(observed.records.len(), crate::scripted::MOST_DETOURS);
}

#[test]
fn a_clock_that_falls_to_a_quarter_is_slower_and_no_gap() {
    let mut machine = Scripted::new(vec![Event {
        at_us: 30_000.0,
        takes_us: 50.0,
        timer: 1,
        ..Event::default()
    }]);
    machine.ticks_per_cycle = |us| at(if us < 10_000.0 { 3.2 } else { 0.8 });
    let osnoise = measure(&mut machine, 40_000.0);
    assert_eq!(
        (osnoise.detours, osnoise.detector.slower),
        (1, 1),
        "{:?}",
        osnoise.longest
    );
    let f = osnoise.frequency.expect("quiet windows");
    assert!(
        (f.p1_ghz - 0.8).abs() < 0.02 && (f.p99_ghz - 3.2).abs() < 0.05,
        "{f:?}"
    );
    let strip: Vec<f64> = osnoise.stretches.iter().filter_map(|s| s.ghz).collect();
    assert!(strip[2] > 3.1 && strip[35] < 0.85, "{strip:?}");
}

#[test]
fn a_counter_that_stands_still_is_refused() {
    let mut never = Scripted::new(Vec::new());
    never.stops_at = Some(0);
    assert_eq!(observe(&mut never, 1_000.0), Err(DetectorError::NoCounter));
    let mut later = Scripted::new(Vec::new());
    later.stops_at = Some(2_500);
    assert_eq!(observe(&mut later, 1_000.0), Err(DetectorError::NoCounter));
}

#[test]
fn a_step_backwards_is_counted_and_left_out() {
    let mut machine = Scripted::new(Vec::new());
    machine.back_at = Some((3_000, 5_000_000));
    let osnoise = measure(&mut machine, 10_000.0);
    assert_eq!((osnoise.detours, osnoise.detector.broken_steps), (0, 1));
    assert!(osnoise.span_ns >= 10_000_000 && osnoise.span_ns < 10_010_000);
}

#[test]
fn a_pause_of_the_whole_machine_is_one_gap_over_many_stretches() {
    let pause = Event {
        at_us: 100_000.0,
        takes_us: 300_000.0,
        ..Event::default()
    };
    let osnoise = measure(&mut Scripted::new(vec![pause]), 1_000_000.0);
    assert_eq!((osnoise.detours, osnoise.causes.len()), (1, 1));
    let lost = osnoise.of(Cause::Unexplained).expect("the pause");
    assert!(lost.longest_ns.abs_diff(300_000_000) < 5, "{lost:?}");
    let whole = osnoise
        .stretches
        .iter()
        .filter(|s| s.lost_ns.iter().sum::<u64>() + 1 >= s.watched_ns && s.watched_ns > 0)
        .count();
    // Forty stretches of 25 ms: the pause fills ten or eleven of them.
    assert!((10..=12).contains(&whole), "{whole}");
    assert!(
        osnoise.stretches[8].ghz.is_none(),
        "no clock was seen there"
    );
    let share = lost.share.expect("twenty stretches");
    assert!((share.value - 0.3).abs() < 0.001, "{share:?}");
    assert!(
        share.low < 0.1 && share.high > 0.5,
        "one pause tells little: {share:?}"
    );
}

#[test]
fn a_span_that_ends_early_is_whole_in_itself() {
    let mut machine = Scripted::new(vec![Event {
        at_us: 9_000.0,
        takes_us: 40.0,
        ..Event::default()
    }]);
    machine.end_at_us = 9_900.0;
    machine.ticks_per_cycle = |us| at(if us < 5_000.0 { 3.0 } else { 2.0 });
    let observed = observe(&mut machine, 1_000_000.0).expect("the clock runs");
    assert!(observed.ended_early);
    let osnoise = summarize(&observed, NS_PER_TICK, 20);
    assert!(osnoise.span_ns > 9_000_000 && osnoise.span_ns < 10_000_000);
    let strip: Vec<Option<f64>> = osnoise.stretches.iter().map(|s| s.ghz).collect();
    // Windows of a span of 1 s are 2.5 ms long: four were filled, and each is
    // told where it begins.
    assert_eq!(strip.iter().flatten().count(), 4, "{strip:?}");
    assert!(strip[0].is_some_and(|ghz| ghz > 2.9), "{strip:?}");
    let last = strip.iter().flatten().last();
    assert!(last.is_some_and(|&ghz| ghz < 2.1), "{strip:?}");
    assert!(osnoise.share.is_some_and(|share| share.value > 0.003));
    let f = osnoise.frequency.expect("four windows");
    assert_eq!((f.windows, f.window_ns), (4, 2_500_000));
}
