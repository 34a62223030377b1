//! Clocks: the core's, which wanders, and the counter, which may break. What is
//! said of each, as one page to be read.

use crate::scripted::{
    MOST_DETOURS, NS_PER_TICK, OVERHEAD, ScriptedEvent, ScriptedMachine, measure, observe,
};
use meter::osnoise::detector::DetectorError;
use meter::osnoise::summary::summarize;
use model::noise::osnoise::Osnoise;
use std::fmt::Write;

/// Ticks a cycle at so many GHz.
fn ticks_per_cycle(ghz: f64) -> f64 {
    1.0 / ghz / NS_PER_TICK
}

fn event(at_us: f64, takes_us: f64) -> ScriptedEvent {
    ScriptedEvent { at_us, takes_us, ..ScriptedEvent::default() }
}

fn with_clock(events: Vec<ScriptedEvent>, ticks_per_cycle: fn(f64) -> f64) -> ScriptedMachine {
    let mut machine = ScriptedMachine::new(events);
    machine.ticks_per_cycle = ticks_per_cycle;
    machine
}

fn show(page: &mut String, name: &str, osnoise: &Osnoise) {
    let Osnoise { detours, detector, span_ns, frequency, .. } = osnoise;
    let f = frequency.as_ref().expect("quiet windows");
    writeln!(
        page,
        "{name}: {detours} detours in {span_ns} ns, slower {}, broken steps {}; {:.2} {:.2} {:.2} \
         GHz of {} windows of {} ns",
        detector.slower,
        detector.broken_steps,
        f.p1_ghz,
        f.p50_ghz,
        f.p99_ghz,
        f.windows,
        f.window_ns
    )
    .expect("text");
    let stretches = osnoise.stretches.iter().map(|stretch| {
        let ghz = stretch.ghz.map_or("-".into(), |ghz| format!("{ghz:.1}"));
        let lost_ns: u64 = stretch.lost_ns.iter().sum();
        let lost = match lost_ns {
            0 => String::new(),
            _ => format!(" ({:.0} % lost)", lost_ns as f64 * 100.0 / stretch.watched_ns as f64),
        };
        format!("{ghz}{lost}")
    });
    let stretches: Vec<String> = stretches.collect();
    let alike = stretches.chunk_by(|a, b| a == b);
    let alike = alike.map(|alike| format!("{} of {}", alike.len(), alike[0]));
    let stretches = alike.collect::<Vec<_>>().join(", ");
    writeln!(page, "  stretches: {stretches}").expect("text");
}

#[test]
fn the_clock_is_distinguished_from_detours() {
    let mut page = String::new();
    let mut shown = |name: &str, machine: &mut ScriptedMachine, span_us: f64| {
        let osnoise = measure(machine, span_us);
        show(&mut page, name, &osnoise);
        osnoise
    };
    let osnoise = shown("2 GHz", &mut with_clock(vec![], |_| ticks_per_cycle(2.0)), 1_000.0);
    let overhead_ns = OVERHEAD as f64 / 2.0;
    assert_eq!(osnoise.detector.adds, 1024);
    assert_eq!(osnoise.detector.block_ns, 512.0 + overhead_ns);
    assert!((osnoise.detector.overhead_ns - overhead_ns).abs() < 1.0);
    // Nothing differs here: twice the block is the limit.
    assert_eq!(osnoise.detector.threshold_ns, osnoise.detector.block_ns);

    // From 3.5 GHz to 2.2 and back each millisecond, at once and gradually,
    // with one detour.
    let one = || vec![event(20_000.0, 1.5)];
    let jumps = |us: f64| ticks_per_cycle(if us as u64 % 1000 < 500 { 3.5 } else { 2.2 });
    shown("jumps", &mut with_clock(one(), jumps), 50_000.0);
    let slides = |us: f64| ticks_per_cycle(2.2 + 1.3 * (us % 1000.0) / 1000.0);
    shown("slides", &mut with_clock(one(), slides), 50_000.0);
    // The counter's own part of a block takes longer too.
    let slower = |us| ticks_per_cycle(if us < 10_000.0 { 3.5 } else { 2.2 });
    shown("slower", &mut with_clock(vec![], slower), 40_000.0);
    let quarter = |us| ticks_per_cycle(if us < 10_000.0 { 3.2 } else { 0.8 });
    let mut falls = with_clock(vec![event(30_000.0, 50.0)], quarter);
    shown("a quarter", &mut falls, 40_000.0);
    let mut backwards = ScriptedMachine::new(Vec::new());
    backwards.back_at = Some((3_000, 5_000_000));
    shown("a step backwards", &mut backwards, 10_000.0);

    // A pause of the whole machine is one detour over many stretches, and one
    // pause tells little.
    let mut pause = ScriptedMachine::new(vec![event(100_000.0, 300_000.0)]);
    let osnoise = shown("a pause of 300 ms", &mut pause, 1_000_000.0);
    let share = osnoise.share.expect("twenty stretches");
    assert!((share.value - 0.3).abs() < 0.001, "{share:?}");
    assert!(share.low < 0.1 && share.high > 0.5, "{share:?}");

    // Windows of a span of 1 s are 2.5 ms long: four were filled, and each is
    // shown where it begins.
    let clock = |us| ticks_per_cycle(if us < 5_000.0 { 3.0 } else { 2.0 });
    let mut early = with_clock(vec![event(9_000.0, 40.0)], clock);
    early.end_at_us = 9_900.0;
    let observed = observe(&mut early, 1_000_000.0).expect("the clock runs");
    assert!(observed.ended_early);
    let ended = summarize(&observed, NS_PER_TICK, 20);
    show(&mut page, "ended early", &ended);
    insta::assert_snapshot!(page);
}

/// Never 64 quiet blocks between two pauses, so the request to end has to be heard
/// at a detour.
#[test]
fn it_is_asked_to_end_between_detours_too() {
    let all_day = || {
        let pauses = (0..6_000).map(|k| event(6.0 * f64::from(k), 5.0));
        let mut machine = ScriptedMachine::new(pauses.collect());
        machine.counts = None;
        machine.run_delay_cost_us = 0.0;
        machine
    };
    let mut machine = all_day();
    machine.end_at_us = 4_000.0;
    let observed = observe(&mut machine, 1_000_000.0).expect("the clock runs");
    assert!(observed.ended_early && !observed.full);
    let most_ticks = crate::scripted::ticks(4_050.0);
    assert!(observed.ticks < most_ticks, "{}", observed.ticks);
    // Without a request: memory has an end.
    let observed = observe(&mut all_day(), 1_000_000.0).expect("the clock runs");
    assert!(observed.ended_early && observed.full);
    assert_eq!(observed.records.len(), MOST_DETOURS);
}

#[test]
fn a_counter_that_stands_still_is_refused() {
    for stops_at in [0, 2_500] {
        let mut machine = ScriptedMachine::new(Vec::new());
        machine.stops_at = Some(stops_at);
        let refused = observe(&mut machine, 1_000.0);
        assert_eq!(refused, Err(DetectorError::NoCounter));
    }
}
