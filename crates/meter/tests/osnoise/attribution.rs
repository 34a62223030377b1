//! What took the CPU: scripts with what is said of them, as one page to be
//! read. A detour is known to a tick of the counter and the rounding of a quiet
//! block, 2 ns.

use crate::scripted::{ScriptedEvent, ScriptedMachine, measure};
use meter::osnoise::attribute::Lengths;
use model::noise::osnoise::{CauseTime, Osnoise};
use std::fmt::Write;

fn event(at_us: f64, takes_us: f64) -> ScriptedEvent {
    ScriptedEvent { at_us, takes_us, ..ScriptedEvent::default() }
}

fn tick(at_us: f64) -> ScriptedEvent {
    ScriptedEvent { timer: 1, ..event(at_us, 5.0) }
}

fn device(at_us: f64) -> ScriptedEvent {
    ScriptedEvent { other: 1, ..event(at_us, 12.0) }
}

fn switched(at_us: f64) -> ScriptedEvent {
    ScriptedEvent { run_delay_us: 4_000.0, timer: 2, ..event(at_us, 4_003.0) }
}

fn pause(at_us: f64) -> ScriptedEvent {
    event(at_us, 700.0)
}

fn short_pause(at_us: f64) -> ScriptedEvent {
    event(at_us, 5.0)
}

/// So many events, one each `every_us`.
fn each(
    count: u32,
    from_us: f64,
    every_us: f64,
    event: fn(f64) -> ScriptedEvent,
) -> Vec<ScriptedEvent> {
    let at_us = |k: u32| from_us + every_us * f64::from(k);
    (0..count).map(|k| event(at_us(k))).collect()
}

#[derive(Default)]
struct PrintedPage(String);

impl PrintedPage {
    fn show(&mut self, name: &str, events: Vec<ScriptedEvent>, span_us: f64) -> Osnoise {
        self.show_on(name, &mut ScriptedMachine::new(events), span_us)
    }

    fn show_on(&mut self, name: &str, machine: &mut ScriptedMachine, span_us: f64) -> Osnoise {
        let osnoise = measure(machine, span_us);
        let Osnoise { detours, mixed, readings, blind_ns, run_delay_ns, in_readings_ns, .. } =
            &osnoise;
        let run_delay = run_delay_ns.map_or("unknown".into(), |ns| format!("{ns} ns"));
        writeln!(
            self.0,
            "\n{name}: {detours} detours, {mixed} mixed, {readings} readings, blind {blind_ns} ns, \
             run delay {run_delay}, of that {in_readings_ns} in readings"
        )
        .expect("text");
        for of in &osnoise.causes {
            let (words, detours, lost_ns) = (of.cause.words(), of.detours, of.lost_ns);
            writeln!(self.0, "  {words}: {detours} detours, {lost_ns} ns").expect("text");
        }
        if let Some(longest) = osnoise.longest.first() {
            let part = |p: &CauseTime| format!("{} {}", p.cause.words(), p.lost_ns);
            let parts: Vec<String> = longest.parts.iter().map(part).collect();
            writeln!(self.0, "  longest: {}", parts.join(", ")).expect("text");
        }
        osnoise
    }

    /// Detours so frequent that a reading after each would take a fifth of the
    /// time.
    fn often(&mut self, name: &str, each: fn(u32) -> fn(f64) -> ScriptedEvent) {
        let at_us = |k: u32| 200.0 + 100.0 * f64::from(k);
        let events = (0..2_000).map(|k| each(k)(at_us(k)));
        let mut machine = ScriptedMachine::new(events.collect());
        machine.interrupts_cost_us = 20.0;
        self.show_on(name, &mut machine, 200_000.0);
        let reading_us = machine.read_interrupts as f64 * 20.0;
        assert!(reading_us < 0.025 * 200_000.0, "{reading_us} µs of reading");
    }
}

#[test]
fn each_cause_gets_what_it_took() {
    let mut page = PrintedPage::default();
    // The tick at 31 ms waits, by the script, until the other thread is done,
    // and belongs to that detour. Which of its interrupts came while the other
    // ran is unknown, and so is its rest.
    let mut events = each(20, 3_000.0, 4_000.0, tick);
    events.extend([device(10_100.0), device(20_500.0), switched(30_000.0), pause(50_000.0)]);
    let osnoise = page.show("ticks, devices, a switch, a pause", events, 100_000.0);
    // 5 µs lies between 2^12 and 2^13 ns.
    let ticks = &osnoise.causes[1];
    assert_eq!(ticks.histogram[12], ticks.detours);

    let both = ScriptedEvent { takes_us: 30.0, timer: 1, ..device(1_000.0) };
    // The larger part gives the detour its name.
    let switch_and_pause = ScriptedEvent { run_delay_us: 250.0, ..event(5_000.0, 900.0) };
    page.show("mixed", vec![both, switch_and_pause], 10_000.0);

    // Each tick is followed, while the interrupts are read, by another thread
    // that runs for 3 ms and by two interrupts: no detour, and yet it counts.
    let mut events = each(10, 1_000.0, 8_000.0, tick);
    events.extend(each(10, 7_000.0, 8_000.0, pause));
    events.extend(each(10, 1_020.0, 8_000.0, |at_us| ScriptedEvent {
        run_delay_us: 2_990.0,
        timer: 1,
        other: 1,
        ..event(at_us, 3_000.0)
    }));
    let osnoise = page.show("another thread while it reads", events, 90_000.0);
    // Of 90 ms another thread had 29.9: that is no blind time.
    assert!(osnoise.blind_ns < 4_100_000, "{}", osnoise.blind_ns);
    assert_eq!(osnoise.watched_ns(), osnoise.span_ns - osnoise.blind_ns);

    // A device's 5 µs in a reading of 40, then a pause without a cause.
    let mut events = each(30, 4_000.0, 4_000.0, tick);
    events.extend(each(10, 200_000.0, 8_000.0, tick));
    events.extend(each(10, 204_000.0, 8_000.0, pause));
    events.extend(each(10, 200_020.0, 8_000.0, |at_us| ScriptedEvent {
        other: 1,
        ..event(at_us, 5.0)
    }));
    page.show("an interrupt within a reading", events, 290_000.0);

    // A missing source is no cause.
    let events = vec![tick(1_000.0), switched(3_000.0), pause(9_000.0)];
    let mut without = ScriptedMachine::new(events.clone());
    without.counts = None;
    page.show_on("no counts of interrupts", &mut without, 20_000.0);
    let mut without = ScriptedMachine::new(events);
    without.run_delay_ns = None;
    page.show_on("no run delay", &mut without, 20_000.0);

    // Detours that share a reading. As many interrupts as detours: all are
    // explained, of which kind each is only where it has a reading of its own.
    // One in three that is not the system's: which is unknown.
    page.often("ticks often", |_| tick);
    page.often("pauses often", |_| short_pause);
    page.often("ticks and devices often", |k| match k % 2 {
        0 => tick,
        _ => device,
    });
    page.often("ticks and pauses often", |k| match k % 3 {
        0 => short_pause,
        _ => tick,
    });

    // The allowance is used up by ticks; then short pauses, and a switch in
    // whose time ten ticks came: it lends its interrupts to no other.
    let mut events = each(30, 10.0, 20.0, tick);
    events.extend(each(5, 700.0, 20.0, short_pause));
    events.push(ScriptedEvent { timer: 10, ..switched(900.0) });
    page.show("a switch with interrupts of its own", events, 20_000.0);

    // Detours too short for an interrupt do not hide the interrupts, once
    // lengths are learned.
    let mut events = each(200, 1_000.0, 1_000.0, tick);
    events.extend(each(2_000, 50.0, 100.0, |at_us| event(at_us, 1.0)));
    let mut machine = ScriptedMachine::new(events);
    machine.interrupts_cost_us = 15.0;
    page.show_on("pauses too short for an interrupt", &mut machine, 201_000.0);
    insta::assert_snapshot!(page.0);
}

/// One in twenty may be a coincidence: it does not set the length.
#[test]
fn lengths_are_learned_without_coincidences() {
    let mut lengths = Lengths::default();
    (0..40).for_each(|k| lengths.add_detour(1_000 + k));
    lengths.add_detour(3);
    assert_eq!(lengths.least(), 500);
}
