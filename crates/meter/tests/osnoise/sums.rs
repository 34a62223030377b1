//! What always adds up.

use crate::scripted::{ScriptedEvent, ScriptedMachine, measure};
use model::noise::osnoise::Cause;
use proptest::prelude::*;

fn event() -> impl Strategy<Value = ScriptedEvent> {
    (0.0..20_000.0f64, 0.1..2_000.0f64, prop_oneof![Just(0.0), 0.0..1.2f64], 0..3u64, 0..3u64)
        .prop_map(|(at_us, takes_us, delayed, timer, other)| ScriptedEvent {
            at_us,
            takes_us,
            run_delay_us: takes_us * delayed,
            timer,
            other,
        })
}

/// No detour shows it: one falls in the readings after another, one leaves no gap.
#[test]
fn run_delay_that_no_detour_holds_is_lost_in_the_readings() {
    let delayed = |at_us, takes_us, run_delay_us| ScriptedEvent {
        at_us,
        takes_us,
        run_delay_us,
        ..ScriptedEvent::default()
    };
    let detour = delayed(1_000.0, 200.0, 200.0);
    for (hidden, lost_us) in [
        (vec![detour, delayed(1_220.0, 70.0, 70.0)], 270),
        (vec![detour, delayed(9_000.0, 0.0, 5.0)], 205),
        (vec![delayed(9_000.0, 0.0, 5.0)], 5),
    ] {
        let osnoise = measure(&mut ScriptedMachine::new(hidden), 10_000.0);
        let scheduler = osnoise.cause_total(Cause::Scheduler).map_or(0, |c| c.lost_ns);
        let in_detours_ns = 200_000 * osnoise.detours;
        assert_eq!(osnoise.lost_ns.div_ceil(1_000), lost_us);
        assert_eq!(scheduler, lost_us * 1_000);
        assert_eq!(osnoise.in_readings_ns, lost_us * 1_000 - in_detours_ns);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn parts_make_gaps_and_gaps_make_the_whole(
        events in prop::collection::vec(event(), 0..60),
        cost_us in 1.0..300.0f64,
    ) {
        let mut machine = ScriptedMachine::new(events);
        machine.interrupts_cost_us = cost_us;
        let osnoise = measure(&mut machine, 30_000.0);
        let by_cause: u64 = osnoise.causes.iter().map(|c| c.lost_ns).sum();
        prop_assert_eq!(by_cause, osnoise.lost_ns);
        prop_assert_eq!(osnoise.causes.iter().map(|c| c.detours).sum::<u64>(), osnoise.detours);
        for lost in &osnoise.causes {
            prop_assert_eq!(lost.histogram.iter().sum::<u64>(), lost.detours);
            let place = Cause::ALL.iter().position(|&c| c == lost.cause).expect("listed");
            let strip: u64 = osnoise
                .stretches
                .iter()
                .map(|s| s.lost_ns.get(place).copied().unwrap_or(0))
                .sum();
            prop_assert_eq!(strip, lost.lost_ns);
        }
        for gap in &osnoise.longest {
            prop_assert_eq!(gap.parts.iter().map(|p| p.lost_ns).sum::<u64>(), gap.lost_ns);
            prop_assert!(gap.parts.is_sorted_by_key(|p| std::cmp::Reverse(p.lost_ns)));
        }
        // Each stretch of reading is rounded to ns by itself.
        let watched: u64 = osnoise.stretches.iter().map(|s| s.watched_ns).sum();
        prop_assert!(watched.abs_diff(osnoise.watched_ns()) <= 100, "{} {}", watched, osnoise.watched_ns());
        // All that the kernel counts is in the detours or in the readings.
        let scheduler = osnoise.cause_total(Cause::Scheduler).map_or(0, |c| c.lost_ns);
        prop_assert_eq!(scheduler, osnoise.run_delay_ns.expect("known"));
        prop_assert!(osnoise.in_readings_ns <= scheduler);
    }
}
