//! Context switches as the kernel counts them, held against what a method
//! assumes.

use std::fmt;
use sys::evidence::{Switches, thread_switches};

/// Switches of the calling thread since an earlier reading.
pub(crate) fn since(before: Option<Switches>) -> Option<Switches> {
    let (before, now) = (before?, thread_switches()?);
    Some(Switches {
        voluntary: now.voluntary.checked_sub(before.voluntary)?,
        involuntary: now.involuntary.checked_sub(before.involuntary)?,
    })
}

/// Of all of these together; `None` if one was not counted.
pub(crate) fn sum(all: impl IntoIterator<Item = Option<Switches>>) -> Option<Switches> {
    let none = Switches { voluntary: 0, involuntary: 0 };
    all.into_iter().try_fold(none, |a, b| {
        let b = b?;
        Some(Switches {
            voluntary: a.voluntary + b.voluntary,
            involuntary: a.involuntary + b.involuntary,
        })
    })
}

/// Context switches per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// The thread had to wait.
    pub(crate) voluntary: f64,
    /// Another thread took its CPU.
    pub(crate) involuntary: f64,
}

impl Rate {
    /// Of so many operations.
    pub(crate) fn per(switches: Switches, operations: u64) -> Rate {
        let each = |count: u64| count as f64 / operations.max(1) as f64;
        Rate { voluntary: each(switches.voluntary), involuntary: each(switches.involuntary) }
    }

    /// Both kinds.
    pub(crate) fn both(self) -> f64 {
        self.voluntary + self.involuntary
    }

    /// The row's note: `whose` is a subject such as `the caller's`, or empty.
    pub(crate) fn note(self, per: &str) -> String {
        format!("context switches per {per}: {self}")
    }

    /// What is said where the count is not what the method assumes.
    pub(crate) fn contradiction(self, assumed: &str) -> String {
        format!("the method assumes {assumed}, but the kernel counted: {self}")
    }
}

/// What contradicts a method by which a thread sleeps once for each operation, by its voluntary switches.
pub(crate) fn not_once(voluntary: Option<u64>, operations: u64, per: &str) -> Option<String> {
    let each = voluntary? as f64 / operations.max(1) as f64;
    (!(0.9..=1.1).contains(&each)).then(|| {
        format!("voluntary context switches per {per}: {each:.2} where the method assumes 1")
    })
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (voluntary, involuntary) = (self.voluntary, self.involuntary);
        write!(f, "{voluntary:.2} voluntary, {involuntary:.2} involuntary")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_add_up_unless_one_was_not_counted() {
        let of = |voluntary, involuntary| Some(Switches { voluntary, involuntary });
        assert_eq!(sum([of(1, 2), of(3, 4)]), of(4, 6));
        assert_eq!(sum([of(1, 2), None]), None);
        assert_eq!(sum([]), of(0, 0));
    }

    #[test]
    fn a_thread_sleeps_once_for_each_operation() {
        let of = |switches| not_once(switches, 100, "sleep");
        for agrees in [Some(98), Some(100), Some(101)] {
            assert_eq!(of(agrees), None);
        }
        assert_eq!(of(None), None, "not every system counts");
        let said = of(Some(3)).expect("it did not sleep");
        assert!(said.ends_with("0.03 where the method assumes 1"), "{said}");
        assert!(of(Some(31)).is_some_and(|said| said.contains("0.31")));
        assert!(of(Some(200)).is_some());
    }

    #[test]
    fn a_note_and_a_contradiction_have_different_subjects() {
        let switches = Switches { voluntary: 100, involuntary: 3 };
        let rate = Rate::per(switches, 100);
        assert_eq!(rate.both(), 1.03);
        let (note, said) = (rate.note("round trip"), rate.contradiction("2"));
        assert_eq!(note, "context switches per round trip: 1.00 voluntary, 0.03 involuntary");
        // They would be merged as one if they began alike.
        assert_ne!(note.split(": ").next(), said.split(": ").next());
    }

    #[test]
    fn a_sleep_is_a_voluntary_switch() {
        let Some(before) = thread_switches() else {
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(since(Some(before)).is_some_and(|switches| switches.voluntary >= 1));
    }
}
