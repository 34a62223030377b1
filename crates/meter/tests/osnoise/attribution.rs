//! What took the CPU.

use crate::scripted::{Event, Scripted, measure};
use meter::osnoise::attribute::Lengths;
use model::noise::osnoise::{Cause, CauseTime, Osnoise};

/// A detour is known to a tick of the counter and the rounding of a quiet block.
const EXACT_NS: u64 = 2;

fn tick(at_us: f64) -> Event {
    Event {
        at_us,
        takes_us: 5.0,
        timer: 1,
        ..Event::default()
    }
}

fn device(at_us: f64) -> Event {
    Event {
        at_us,
        takes_us: 12.0,
        other: 1,
        ..Event::default()
    }
}

fn switched(at_us: f64) -> Event {
    Event {
        at_us,
        takes_us: 4_003.0,
        run_delay_us: 4_000.0,
        timer: 2,
        ..Event::default()
    }
}

fn pause(at_us: f64) -> Event {
    Event {
        at_us,
        takes_us: 700.0,
        ..Event::default()
    }
}

/// (detours, lost ns) of a cause.
fn of(osnoise: &Osnoise, cause: Cause) -> (u64, u64) {
    osnoise
        .of(cause)
        .map_or((0, 0), |lost| (lost.detours, lost.lost_ns))
}

fn close(found: (u64, u64), detours: u64, lost_us: f64) {
    let wanted_ns = (lost_us * 1e3).round() as u64;
    assert_eq!(found.0, detours, "{found:?}");
    let off = found.1.abs_diff(wanted_ns);
    assert!(
        off <= EXACT_NS * detours.max(1),
        "{found:?} for {wanted_ns} ns"
    );
}

#[test]
fn each_cause_gets_what_it_took() {
    let mut events: Vec<Event> = (0..20)
        .map(|k| tick(3_000.0 + 4_000.0 * f64::from(k)))
        .collect();
    events.extend([
        device(10_100.0),
        device(20_500.0),
        switched(30_000.0),
        pause(50_000.0),
    ]);
    let osnoise = measure(&mut Scripted::new(events), 100_000.0);
    // The tick at 31 ms waits, by the script, until the other thread is done,
    // and belongs to that detour. Which of its interrupts came while the other ran
    // nobody knows, so its rest is not told.
    assert_eq!(osnoise.detours, 23, "{:?}", osnoise.longest);
    close(of(&osnoise, Cause::Scheduler), 1, 4_000.0);
    close(of(&osnoise, Cause::Tick), 19, 19.0 * 5.0);
    close(of(&osnoise, Cause::Interrupts), 2, 24.0);
    close(of(&osnoise, Cause::Unexplained), 1, 700.0);
    close(of(&osnoise, Cause::Unknown), 0, 5.0 + 3.0);
    assert_eq!(osnoise.run_delay_ns, Some(4_000_000));
    assert_eq!(osnoise.mixed, 1);
    let longest: Vec<u64> = osnoise
        .longest
        .iter()
        .map(|gap| gap.lost_ns / 1000)
        .collect();
    assert!(longest[0] >= 4_002 && longest[1] >= 699, "{longest:?}");
    let histogram = &osnoise.of(Cause::Tick).expect("ticks").histogram;
    // 5 µs lies between 2^12 and 2^13 ns.
    assert_eq!(histogram[12], 19);
    assert_eq!(histogram.iter().sum::<u64>(), 19);
}

#[test]
fn a_mixed_gap_is_divided_by_what_is_known() {
    let both = Event {
        at_us: 1_000.0,
        takes_us: 30.0,
        timer: 1,
        other: 1,
        ..Event::default()
    };
    let switch_and_pause = Event {
        at_us: 5_000.0,
        takes_us: 900.0,
        run_delay_us: 250.0,
        ..Event::default()
    };
    let osnoise = measure(&mut Scripted::new(vec![both, switch_and_pause]), 10_000.0);
    close(of(&osnoise, Cause::TickAndInterrupts), 1, 30.0);
    // The larger part gives the detour its name.
    let (mixed, rest) = (&osnoise.longest[0], of(&osnoise, Cause::Unexplained));
    close(rest, 1, 650.0);
    assert_eq!(of(&osnoise, Cause::Scheduler), (0, 250_000));
    let first = CauseTime {
        cause: Cause::Unexplained,
        lost_ns: mixed.lost_ns - 250_000,
    };
    assert_eq!(mixed.parts[0], first);
    assert_eq!(osnoise.mixed, 1);
}

#[test]
fn what_comes_while_it_reads_is_nobodys_gap() {
    // Each tick is followed, while the interrupts are read, by another thread
    // that runs for 3 ms and by two interrupts.
    let mut events = Vec::new();
    for k in 0..10 {
        let at_us = 1_000.0 + 8_000.0 * f64::from(k);
        events.push(tick(at_us));
        events.push(Event {
            at_us: at_us + 20.0,
            takes_us: 3_000.0,
            run_delay_us: 2_990.0,
            timer: 1,
            other: 1,
        });
        events.push(pause(at_us + 6_000.0));
    }
    let osnoise = measure(&mut Scripted::new(events), 90_000.0);
    assert_eq!(osnoise.detours, 20, "{:?}", osnoise.longest);
    close(of(&osnoise, Cause::Tick), 10, 50.0);
    close(of(&osnoise, Cause::Unexplained), 10, 7_000.0);
    assert_eq!(
        (osnoise.run_delay_ns, osnoise.in_readings_ns),
        (Some(10 * 2_990_000), 10 * 2_990_000),
        "and yet it counts"
    );
    assert_eq!(of(&osnoise, Cause::Scheduler), (0, 10 * 2_990_000));
    // Of 90 ms another thread had 29.9: that is no blind time.
    let blind_us = osnoise.blind_ns as f64 / 1e3;
    assert!((100.0..4_100.0).contains(&blind_us), "{blind_us}");
    assert_eq!(osnoise.watched_ns(), osnoise.span_ns - osnoise.blind_ns);
    let share = osnoise.share_of(Cause::Scheduler).expect("a share");
    assert!((0.33..0.35).contains(&share), "{share}");
}

#[test]
fn an_interrupt_within_a_reading_is_noticed_by_its_length() {
    // A device's 5 µs in a reading of 40, then a pause that is nobody's.
    let mut events: Vec<Event> = (1..=30).map(|k| tick(4_000.0 * f64::from(k))).collect();
    for k in 0..10 {
        let at_us = 200_000.0 + 8_000.0 * f64::from(k);
        events.push(tick(at_us));
        events.push(Event {
            at_us: at_us + 20.0,
            takes_us: 5.0,
            other: 1,
            ..Event::default()
        });
        events.push(pause(at_us + 4_000.0));
    }
    let osnoise = measure(&mut Scripted::new(events), 290_000.0);
    close(of(&osnoise, Cause::Tick), 40, 200.0);
    close(of(&osnoise, Cause::Unexplained), 10, 7_000.0);
    assert_eq!(of(&osnoise, Cause::Interrupts), (0, 0));
}

#[test]
fn a_missing_source_is_no_cause() {
    let events = vec![tick(1_000.0), switched(3_000.0), pause(9_000.0)];
    let mut without = Scripted::new(events.clone());
    without.counts = None;
    let osnoise = measure(&mut without, 20_000.0);
    close(of(&osnoise, Cause::Scheduler), 1, 4_000.0);
    close((2, of(&osnoise, Cause::Unknown).1), 2, 5.0 + 3.0 + 700.0);
    assert_eq!((osnoise.readings, osnoise.reading_ns), (0, None));

    let mut without = Scripted::new(events);
    without.run_delay_ns = None;
    let osnoise = measure(&mut without, 20_000.0);
    close(of(&osnoise, Cause::Unknown), 3, 5.0 + 4_003.0 + 700.0);
    assert_eq!(osnoise.causes.len(), 1);
    assert_eq!(osnoise.run_delay_ns, None);
}

/// Detours so frequent that a reading after each would take a fifth of the time.
fn often(each: impl Fn(u32) -> Event) -> Osnoise {
    let events = (0..2_000).map(|k| Event {
        at_us: 200.0 + 100.0 * f64::from(k),
        ..each(k)
    });
    let mut machine = Scripted::new(events.collect());
    machine.interrupts_cost_us = 20.0;
    let osnoise = measure(&mut machine, 200_000.0);
    let reading_us = machine.read_interrupts as f64 * 20.0;
    assert!(reading_us < 0.025 * 200_000.0, "{reading_us} µs of reading");
    assert!(osnoise.readings > 100, "{}", osnoise.readings);
    osnoise
}

#[test]
fn many_gaps_share_a_reading() {
    let osnoise = often(|_| tick(0.0));
    assert_eq!(of(&osnoise, Cause::Tick).0, osnoise.detours);
    let short_pause = |_: u32| Event {
        takes_us: 5.0,
        ..pause(0.0)
    };
    let osnoise = often(short_pause);
    assert_eq!(of(&osnoise, Cause::Unexplained).0, osnoise.detours);
    let osnoise = often(|k| if k % 2 == 0 { tick(0.0) } else { device(0.0) });
    // As many interrupts as detours: all explained, of which kind each is not
    // known but where a detour has a reading of its own.
    assert_eq!(of(&osnoise, Cause::Unexplained).0, 0);
    assert!(of(&osnoise, Cause::TickAndInterrupts).0 * 2 > osnoise.detours);
    // One in three is not the system's: which, is not told.
    let osnoise = often(|k| {
        if k % 3 == 0 {
            short_pause(k)
        } else {
            tick(0.0)
        }
    });
    assert!(
        of(&osnoise, Cause::Unknown).0 * 10 > 9 * osnoise.detours,
        "{:?}",
        osnoise.causes
    );
}

#[test]
fn a_switch_lends_its_interrupts_to_nobody() {
    // The allowance is used up by ticks; then short pauses, and a switch in
    // whose time ten ticks came.
    let mut events: Vec<Event> = (0..30).map(|k| tick(10.0 + 20.0 * f64::from(k))).collect();
    events.extend((0..5).map(|k| Event {
        takes_us: 5.0,
        ..pause(700.0 + 20.0 * f64::from(k))
    }));
    events.push(Event {
        timer: 10,
        ..switched(900.0)
    });
    let osnoise = measure(&mut Scripted::new(events), 20_000.0);
    let (ticks, told) = (of(&osnoise, Cause::Tick).0, of(&osnoise, Cause::Unknown));
    assert!(
        ticks < 30,
        "some of the last ticks share the switch's reading"
    );
    assert!(told.0 >= 5, "{:?}", osnoise.causes);
    close(of(&osnoise, Cause::Scheduler), 1, 4_000.0);
}

#[test]
fn gaps_too_short_for_an_interrupt_do_not_hide_the_interrupts() {
    let mut events: Vec<Event> = (0..200).map(|k| tick(1_000.0 * f64::from(k + 1))).collect();
    events.extend((0..2_000).map(|k| Event {
        takes_us: 1.0,
        ..pause(50.0 + 100.0 * f64::from(k))
    }));
    let mut machine = Scripted::new(events);
    machine.interrupts_cost_us = 15.0;
    let osnoise = measure(&mut machine, 201_000.0);
    let (ticks, told) = (of(&osnoise, Cause::Tick), of(&osnoise, Cause::Unknown));
    assert!(ticks.0 >= 190 && ticks.0 <= 200, "{:?}", osnoise.causes);
    assert!(told.0 <= 20 * 10, "only until lengths are learnt: {told:?}");
    let unexplained = of(&osnoise, Cause::Unexplained).0;
    assert!(unexplained >= 1_700, "{unexplained}");
    // One in twenty may be a coincidence: it does not set the length.
    let mut lengths = Lengths::default();
    (0..40).for_each(|k| lengths.add(1_000 + k));
    lengths.add(3);
    assert_eq!(lengths.least(), 500);
}
