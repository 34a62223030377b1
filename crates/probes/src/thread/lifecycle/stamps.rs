//! The stamps of one thread, and the stretches between them.

use crate::engine::threads::{length, stamps_origin};
use meter::probe::Event;

/// The variants, in the order of the series.
pub(super) const VARIANTS: [&str; 7] =
    ["overhead", "create", "start", "procedure", "end", "join", "parts"];

/// The series of a life's costs together.
const PARTS: usize = 6;

/// The series that need the thread's end: from its last instruction to that, and from there on.
pub(super) const OF_THE_END: [usize; 2] = [4, 5];

/// The stamps of one thread, in ticks, t0 to t5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Life {
    /// The call that creates it begins.
    pub(super) call: u64,
    /// That call is back.
    pub(super) created: u64,
    /// The thread's first instruction.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The kernel's word that it is gone, where it is asked.
    pub(super) gone: Option<u64>,
    /// The join is back.
    pub(super) joined: u64,
    pub(super) mode: u8,
    pub(super) thread: Option<u32>,
}

impl Life {
    /// Its stretches, one after the other, each from a stamp to the next; and
    /// all but the procedure together. Those to and from an unknown end are missing.
    pub(super) fn events(&self) -> Vec<Event> {
        let stamps = [
            self.call,
            self.created,
            self.first,
            self.last,
            self.gone.unwrap_or_default(),
            self.joined,
        ];
        let before = self.first.wrapping_sub(self.call);
        let after = self.joined.wrapping_sub(self.last);
        let known = |series: &usize| self.gone.is_some() || !OF_THE_END.contains(series);
        let of = |series: usize| {
            let n = series - 1;
            let event = match series {
                PARTS => length(0, before.wrapping_add(after), 1, self.mode),
                _ => Event {
                    place: stamps_origin(stamps[n], stamps[n + 1], self.thread),
                    ..length(stamps[n], stamps[n + 1], 1, self.mode)
                },
            };
            Event { series, ..event }
        };
        (1..VARIANTS.len()).filter(known).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signed length of an event, ticks.
    fn ticks(event: &Event) -> i64 {
        event.to_ticks.cast_signed() - event.from_ticks.cast_signed()
    }

    #[test]
    fn the_stretches_make_up_the_whole() {
        // The thread began before the create call was back, and the join was
        // back before the thread was gone; the counter wraps in between.
        for (base, steps) in [
            (1000, [0, 700, 650, 9000, 9800, 9900]),
            (u64::MAX - 5000, [0_u64, 20, 400, 9000, 9700, 9500]),
        ] {
            let at = |step: usize| base.wrapping_add(steps[step]);
            let life = Life {
                call: at(0),
                created: at(1),
                first: at(2),
                last: at(3),
                gone: Some(at(4)),
                joined: at(5),
                mode: 1,
                thread: Some(7),
            };
            let events = life.events();
            let series: Vec<usize> = events.iter().map(|e| e.series).collect();
            assert_eq!(series, [1, 2, 3, 4, 5, 6]);
            let (parts, stretches) = events.split_last().expect("events");
            let total: i64 = stretches.iter().map(ticks).sum();
            assert_eq!(total, steps[5].cast_signed());
            // All but the procedure, which is the third.
            assert_eq!(VARIANTS[parts.series], "parts");
            assert_eq!(ticks(parts), total - ticks(&stretches[2]));
            assert_eq!((parts.ops, parts.mode, parts.place), (1, 1, None));
            for (n, event) in stretches.iter().enumerate() {
                let step = steps[n + 1].cast_signed() - steps[n].cast_signed();
                assert_eq!(ticks(event), step, "{}", VARIANTS[n + 1]);
                let place = event.place.expect("a stretch");
                assert_eq!(place.zero_ticks.wrapping_add(event.from_ticks), at(n));
                assert_eq!(place.zero_ticks.wrapping_add(event.to_ticks), at(n + 1));
                assert_eq!(place.thread, Some(7));
                assert_eq!((event.ops, event.mode), (1, 1));
            }
        }
    }

    #[test]
    fn parts_that_come_to_less_than_nothing_stay_so() {
        // Counters apart: the thread's last stamp lies behind the join.
        let life = Life {
            call: 1000,
            created: 1010,
            first: 1020,
            last: 9000,
            gone: Some(8960),
            joined: 8900,
            mode: 0,
            thread: None,
        };
        assert_eq!(ticks(&life.events()[5]), 20 - 100);
        // Without the end the whole is the same; only what the end divides is missing.
        let unseen = Life { gone: None, ..life };
        let of = |life: Life| {
            let events = life.events();
            let series = events.iter().map(|e| (VARIANTS[e.series], ticks(e)));
            series.collect::<Vec<_>>()
        };
        let mut seen = of(life);
        seen.retain(|(name, _)| !["end", "join"].contains(name));
        assert_eq!(of(unseen), seen);
    }
}
