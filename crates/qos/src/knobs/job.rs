//! Threads that compete, and a try of a knob: this program started again
//! (`latlas __knob ORDER`), as a session of its own that holds nothing else. Its main
//! thread sleeps while they run.
//!
//! It says [`Hello`] when everything is set, is sent begin and end of the window, and
//! reports at the end. All it sets ends with it.

use super::turn;
use model::qos::knobs::{Knob, Permission};
use model::qos::{Outcome, Setting};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::{OnceLock, mpsc};
use std::thread::Builder;
use std::time::Duration;
use sys::monotonic_raw_ns as now_ns;
use sys::role::{Parent, RoleTask};

/// Time from a wake-up of the small thread to the next, and what it works then.
pub const PERIOD: Duration = Duration::from_millis(2);
pub(super) const SMALL_WORK: Duration = Duration::from_micros(100);
/// Additions between looks at the clock: some microseconds.
const STEPS: u32 = 4_000;

/// What a process is to do.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum CompetitorOrder {
    /// Threads that run in a window.
    Compete { threads: Vec<Competitor> },
    /// Turns a knob and turns it back.
    Try { knob: Knob },
}

/// A thread.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Competitor {
    pub knob: Knob,
    /// The CPUs that it may use; empty for all.
    pub cpus: Vec<u32>,
    /// What it does.
    pub work: CompetitorWork,
}

/// What a thread does.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompetitorWork {
    /// It uses a CPU all the time.
    Busy,
    /// It sleeps, works a little, and sleeps again.
    Small,
}

/// What a process says first.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum Hello {
    /// All threads have what they are to have.
    Ready,
    /// A knob could not be turned.
    Refused(Outcome),
    /// What a try came to.
    Tried(Permission),
}

/// What a thread did in the window.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Did {
    /// CPU time, ns.
    pub cpu_ns: u64,
    /// How late each wake-up was, ns.
    pub late_ns: Vec<u64>,
}

/// The window, in ns of CLOCK_MONOTONIC_RAW.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub begin_ns: u64,
    pub end_ns: u64,
}

/// Does what the order says.
///
/// # Errors
/// An order that is none, and what the system refuses.
pub fn serve(task: &RoleTask) -> io::Result<()> {
    let (order, mut parent) = task.with_parent()?;
    match order {
        CompetitorOrder::Try { knob } => parent.send(&Hello::Tried(turn::tried(&knob))),
        CompetitorOrder::Compete { threads } => compete(&threads, &mut parent),
    }
}

fn compete(threads: &[Competitor], parent: &mut Parent) -> io::Result<()> {
    // The timer's slack would be part of how late a thread is.
    sys::controls::apply(&[Setting::TimerSlackNs(1)])
        .map_err(|error| io::Error::other(error.to_string()))?;
    for competitor in threads {
        if let Err(refused) = turn::turn(&competitor.knob, true) {
            return parent.send(&Hello::Refused(refused));
        }
    }
    // The window, or that there is none: then they end at once.
    let window = OnceLock::new();
    let refused = OnceLock::new();
    let (set, all_set) = mpsc::channel::<()>();
    let did = std::thread::scope(|scope| -> io::Result<Option<Vec<Did>>> {
        let mut running = Vec::new();
        let mut no_thread = None;
        for competitor in threads {
            let (set, window, refused) = (set.clone(), &window, &refused);
            let compete = move || {
                if !competitor.cpus.is_empty()
                    && let Err(error) = sys::pin_to(&competitor.cpus)
                {
                    let cpus = model::phrases::ranges(&competitor.cpus);
                    let why = format!("can't run on CPU {cpus}: {error}");
                    let _ = refused.set(Outcome::Refused(why));
                }
                if let Err(why) = turn::turn(&competitor.knob, false) {
                    let _ = refused.set(why);
                }
                drop(set);
                match window.wait() {
                    Some(window) => work(competitor.work, *window),
                    None => Did::default(),
                }
            };
            match sys::thread::spawn_scoped(scope, Builder::new(), compete) {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    no_thread = Some(Outcome::Refused(crate::job::no_thread(&error).to_string()));
                    break;
                }
            }
        }
        drop(set);
        // Until each has dropped its own.
        let _ = all_set.recv();
        let why = no_thread.as_ref().or(refused.get());
        let said = match why {
            Some(why) => parent.send(&Hello::Refused(why.clone())),
            None => parent.send(&Hello::Ready),
        };
        let asked = match (&said, why) {
            (Ok(()), None) => parent.receive().ok().flatten(),
            _ => None,
        };
        let _ = window.set(asked);
        let did = running.into_iter().map(|thread| thread.join());
        let did: Result<Vec<Did>, _> = did.collect();
        let did = did.map_err(|_| io::Error::other("a thread failed"))?;
        said?;
        Ok(asked.map(|_| did))
    })?;
    match did {
        Some(did) => parent.send(&did),
        None => Ok(()),
    }
}

fn work(work: CompetitorWork, window: Window) -> Did {
    match work {
        CompetitorWork::Busy => Did { cpu_ns: busy(window), late_ns: Vec::new() },
        CompetitorWork::Small => Did { cpu_ns: 0, late_ns: small(window) },
    }
}

fn spin() {
    let mut x = 1_u32;
    for _ in 0..STEPS {
        x = std::hint::black_box(x.wrapping_add(1));
    }
}

/// CPU time in the window, by the thread's own clock. One that has no CPU when the
/// window begins or ends reads it when it has one again: in between it stands still.
fn busy(window: Window) -> u64 {
    let cpu_ns = || sys::evidence::thread_cpu_ns().unwrap_or(0);
    while now_ns() < window.begin_ns {
        spin();
    }
    let before_ns = cpu_ns();
    while now_ns() < window.end_ns {
        spin();
    }
    cpu_ns().saturating_sub(before_ns)
}

/// How late each wake-up was that was due in the window. The last may be later than its
/// end, when all others have stopped; a thread that got no CPU at all has one, the first.
fn small(window: Window) -> Vec<u64> {
    let period_ns = PERIOD.as_nanos() as u64;
    let length_ns = window.end_ns.saturating_sub(window.begin_ns);
    let mut late_ns = Vec::with_capacity((length_ns / period_ns) as usize + 1);
    let cpu_ns = || sys::evidence::thread_cpu_ns().unwrap_or(u64::MAX);
    let mut due_ns = window.begin_ns;
    while due_ns < window.end_ns {
        std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns())));
        late_ns.push(now_ns().saturating_sub(due_ns));
        let until_ns = cpu_ns().saturating_add(SMALL_WORK.as_nanos() as u64);
        while cpu_ns() < until_ns {
            spin();
        }
        due_ns = now_ns() + period_ns;
    }
    late_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(from_now_ns: u64, length_ns: u64) -> Window {
        let begin_ns = now_ns() + from_now_ns;
        Window { begin_ns, end_ns: begin_ns + length_ns }
    }

    #[test]
    fn a_busy_thread_counts_the_window_only() {
        let asked = window(20_000_000, 10_000_000);
        let used = busy(asked);
        assert!(now_ns() >= asked.end_ns);
        assert!((1..=now_ns() - asked.begin_ns).contains(&used), "{used}");
    }

    #[test]
    fn a_small_thread_wakes_up_in_the_window() {
        let late = small(window(0, 50_000_000));
        assert!((1..=25).contains(&late.len()), "{late:?}");
        assert_eq!(small(window(0, 0)), [] as [u64; 0]);
        // One that got no CPU in the window was late for all of it.
        let past = Window { begin_ns: now_ns() - 30_000_000, end_ns: now_ns() - 10_000_000 };
        let late = small(past);
        assert!(late.len() == 1 && late[0] >= 30_000_000, "{late:?}");
    }
}
