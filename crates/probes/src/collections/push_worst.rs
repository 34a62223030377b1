//! The worst single push while an array grows.

use meter::probe::{Effort, Event, Probe, Work, WorkError};
use model::run::{Bound, Regime, Scale};
use std::hint::black_box;
use sys::clock::Counter;

/// Pushes of one growth.
const PUSHES: u64 = 1_000_000;

pub(crate) fn push_worst_probe() -> Probe {
    Probe {
        variants: vec!["worst".into()],
        title: "worst single push in a million".into(),
        operation: "The longest single push of an 8-byte number while a Vec grows from empty to 1,000,000 of them, be it the one that moved the array, one that touched a fresh page, or one during which the machine did something else.".into(),
        method: "Each push is between two readings of the counter, whose cost (about 30 ns) is inside; of each growth only the longest is kept. The array doubles when it is full, and its memory is fresh in each growth as far as the allocator gives it back. The notes say which push it was.".into(),
        source: "Ours: the amortised cost of collections.push hides it.".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        since: Scale::Default,
        effort: Effort::stamped(1, 3, 4e7),
        make: Box::new(|_, _| Ok(Box::new(Growth::new(PUSHES)))),
        ..Probe::blank("collections.push")
    }
}

struct Growth {
    pushes: u64,
    note: Option<String>,
}

/// The longest push of a growth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Longest {
    /// Its number, from 1.
    number: u64,
    ticks: u64,
    /// Whether the array had to grow for it.
    grew: bool,
}

impl Growth {
    fn new(pushes: u64) -> Growth {
        Growth { pushes, note: None }
    }
}

/// Grows an array, stamped by `bracket`: it makes a push and returns its ticks.
fn grow(pushes: u64, mut bracket: impl FnMut(&mut Vec<u64>, u64) -> u64) -> Longest {
    let mut array = Vec::new();
    let mut longest = Longest::default();
    for value in 0..pushes {
        let room = array.capacity();
        let ticks = bracket(&mut array, value);
        if ticks > longest.ticks {
            longest = Longest { number: value + 1, ticks, grew: array.capacity() != room };
        }
    }
    black_box(&array);
    longest
}

impl Work for Growth {
    fn stamped(&mut self, growths: u32) -> Result<Vec<Event>, WorkError> {
        let counter = Counter::best();
        let mut events = Vec::new();
        for _ in 0..growths {
            let longest = grow(self.pushes, |array, value| {
                let start = counter.start();
                array.push(value);
                counter.stop().wrapping_sub(start)
            });
            let how = if longest.grew { "the array grew" } else { "the array did not grow" };
            self.note = Some(format!(
                "longest push of a growth, for example: number {}, for which {how}",
                longest.number
            ));
            events.push(Event {
                series: 0,
                from_ticks: 0,
                to_ticks: longest.ticks,
                ops: 1,
                mode: 0,
                place: None,
            });
        }
        Ok(events)
    }
    fn run_delay_ns(&self, _series: usize, own_ns: u64) -> Option<u64> {
        Some(own_ns)
    }
    fn notes(&self) -> Vec<String> {
        self.note.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A push that takes as many ticks as this says.
    fn scripted(ticks: impl Fn(u64) -> u64) -> Longest {
        grow(1000, |array, value| {
            array.push(value);
            ticks(value)
        })
    }

    #[test]
    fn the_longest_of_all_pushes_is_kept() {
        let longest = scripted(|value| if value == 700 { 99 } else { 10 });
        let expected = Longest { number: 701, ticks: 99, grew: false };
        assert_eq!(longest, expected);
        // A Vec doubles: its 513th element finds it full.
        let longest = scripted(|value| if value == 512 { 99 } else { 10 });
        assert!(longest.grew && longest.number == 513, "{longest:?}");
        assert_eq!(scripted(|_| 10).number, 1, "the first of equals");
    }

    #[test]
    fn each_growth_is_one_event() {
        let mut growth = Growth::new(1000);
        let events = growth.stamped(3).expect("it grows");
        assert_eq!(events.len(), 3);
        assert!(events.iter().all(|e| e.ops == 1 && e.to_ticks > 0));
        assert!(growth.notes()[0].starts_with("longest push of a growth"));
    }
}
