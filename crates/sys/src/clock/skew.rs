//! How far the counters of two CPUs are apart: stamps taken on different CPUs
//! can be subtracted only if their counters agree.
//!
//! The exchange that clocks are compared by (Cristian 1989, and NTP): a stamp
//! that the other side took between a question and its answer lies between
//! the asker's own two stamps, whatever the way took. Each exchange so bounds
//! the offset from both sides, and all of them together by the narrowest.
//! The arithmetic lies apart from the exchanging, so that tests can script it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Counter;
use crate::affinity::pin_to;
use crate::thread::spawn_scoped;

/// Exchanges made: some 0.1 to 0.3 µs each where nothing intervenes.
const EXCHANGES: u64 = 2000;
/// Fewer than this were kept from each other rather than compared.
const LEAST_EXCHANGES: u64 = 10;
/// Time after which a comparison ends with what it has.
const PATIENCE: Duration = Duration::from_millis(200);
/// Looks at the answer between two looks at the time.
const LOOKS: u32 = 1024;

/// One exchange, in ticks of each side's own counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The asker's counter when it asked.
    pub asked: u64,
    /// The other CPU's when it answered.
    pub answered: u64,
    /// The asker's when it had the answer.
    pub received: u64,
}

/// Bounds on the counter of one CPU minus that of another, at the same
/// instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// At least this many ticks.
    pub low_ticks: i64,
    /// At most this many. Below `low_ticks` if the two counters run at
    /// different rates, so that no single offset explains all exchanges.
    pub high_ticks: i64,
    /// Exchanges behind it.
    pub exchanges: u32,
}

impl Skew {
    /// The offsets that all of these exchanges allow; `None` without any.
    pub fn from_exchanges(exchanges: impl IntoIterator<Item = Exchange>) -> Option<Skew> {
        exchanges
            .into_iter()
            .map(|e| Skew {
                low_ticks: e.answered.wrapping_sub(e.received).cast_signed(),
                high_ticks: e.answered.wrapping_sub(e.asked).cast_signed(),
                exchanges: 1,
            })
            .reduce(|a, b| Skew {
                low_ticks: a.low_ticks.max(b.low_ticks),
                high_ticks: a.high_ticks.min(b.high_ticks),
                exchanges: a.exchanges + b.exchanges,
            })
    }
}

/// Where the two sides meet.
#[derive(Default)]
struct ExchangeBoard {
    /// Number of the question.
    question: AtomicU64,
    /// Number of the question that was answered last.
    answer: AtomicU64,
    /// The stamp of that answer.
    stamp: AtomicU64,
    quit: AtomicBool,
}

/// Ends the answering side, however the asking one ended.
struct Quit<'b>(&'b ExchangeBoard);

impl Drop for Quit<'_> {
    fn drop(&mut self) {
        self.0.quit.store(true, Ordering::Relaxed);
    }
}

/// Compares the counter of CPU `other` with that of CPU `base`: two threads of
/// its own, pinned there, exchange stamps for about a millisecond.
///
/// # Errors
/// If threads can't be started or pinned; `TimedOut` if the two hardly ever
/// ran at the same time.
pub fn measure_skew(counter: Counter, base: u32, other: u32) -> io::Result<Skew> {
    let board = ExchangeBoard::default();
    thread::scope(|scope| {
        let quit = Quit(&board);
        let start = thread::Builder::new;
        let answering = spawn_scoped(scope, start(), || answer(&board, counter, other))?;
        let asking = spawn_scoped(scope, start(), || {
            let _quit = Quit(&board);
            pin_to(&[base])?;
            ask(&board, counter)
        })?;
        let asked = asking.join().map_err(|_| io::Error::other("the comparing thread failed"))?;
        drop(quit);
        answering.join().map_err(|_| io::Error::other("the answering thread failed"))??;
        let exchanges = asked?;
        Skew::from_exchanges(exchanges).ok_or_else(|| io::ErrorKind::TimedOut.into())
    })
}

fn answer(board: &ExchangeBoard, counter: Counter, cpu: u32) -> io::Result<()> {
    crate::settings::take_turns();
    // Not pinned, no thread answers: the asker's patience ends it.
    pin_to(&[cpu]).inspect_err(|_| board.quit.store(true, Ordering::Relaxed))?;
    let mut last = 0;
    while !board.quit.load(Ordering::Relaxed) {
        let question = board.question.load(Ordering::Acquire);
        if question != last {
            last = question;
            board.stamp.store(counter.start(), Ordering::Relaxed);
            board.answer.store(question, Ordering::Release);
        }
    }
    Ok(())
}

fn ask(board: &ExchangeBoard, counter: Counter) -> io::Result<Vec<Exchange>> {
    let began = Instant::now();
    let mut exchanges = Vec::with_capacity(EXCHANGES as usize);
    for question in 1..=EXCHANGES {
        let asked = counter.start();
        board.question.store(question, Ordering::Release);
        let mut looks = 0;
        while board.answer.load(Ordering::Acquire) != question {
            looks += 1;
            if looks == LOOKS {
                looks = 0;
                if board.quit.load(Ordering::Relaxed) || began.elapsed() > PATIENCE {
                    return enough(exchanges);
                }
            }
        }
        let received = counter.start();
        exchanges.push(Exchange { asked, answered: board.stamp.load(Ordering::Relaxed), received });
    }
    enough(exchanges)
}

fn enough(exchanges: Vec<Exchange>) -> io::Result<Vec<Exchange>> {
    if exchanges.len() as u64 >= LEAST_EXCHANGES {
        return Ok(exchanges);
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "the two CPUs hardly ever ran its threads at the same time",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exchanges with a counter that is `offset` ticks ahead; ways of 40 to
    /// 400 ticks, seldom alike in both directions, some of them interrupted.
    fn scripted(offset: i64, at: u64) -> Vec<Exchange> {
        let mut state = 1_u64;
        let mut way = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let interrupted = state >> 60 == 0;
            40 + (state >> 33) % 360 + u64::from(interrupted) * 100_000
        };
        let mut now = at;
        (0..500)
            .map(|_| {
                let asked = now;
                let answered = asked.wrapping_add(way());
                now = answered.wrapping_add(way());
                Exchange { asked, answered: answered.wrapping_add_signed(offset), received: now }
            })
            .collect()
    }

    #[test]
    fn the_interval_holds_the_offset_and_is_as_narrow_as_the_ways() {
        for offset in [0, 7, -1_000, 250_000, -3_000_000_000] {
            // Near the counter's end too: it may wrap.
            for at in [5, 1 << 40, u64::MAX - 10_000] {
                let skew = Skew::from_exchanges(scripted(offset, at)).expect("exchanges");
                assert!(
                    skew.low_ticks <= offset && offset <= skew.high_ticks,
                    "{offset}: {skew:?}"
                );
                assert!(skew.high_ticks - skew.low_ticks < 200, "{offset}: {skew:?}");
                assert_eq!(skew.exchanges, 500);
            }
        }
        assert_eq!(Skew::from_exchanges([]), None);
    }

    #[test]
    fn counters_of_different_rates_leave_no_offset() {
        let drifting = scripted(0, 1000).into_iter().map(|mut e| {
            e.answered += e.asked / 10;
            e
        });
        let skew = Skew::from_exchanges(drifting).expect("exchanges");
        assert!(skew.low_ticks > skew.high_ticks, "{skew:?}");
    }

    #[test]
    fn the_kernels_clock_agrees_with_itself() {
        let Ok(cpus) = crate::allowed_cpus() else {
            return;
        };
        let last = cpus[cpus.len() - 1];
        match measure_skew(Counter::monotonic_raw(), cpus[0], last) {
            Ok(skew) => assert!(skew.low_ticks <= 0 && 0 <= skew.high_ticks, "{skew:?}"),
            // One CPU, or one that others keep busy.
            Err(e) => assert_eq!(e.kind(), io::ErrorKind::TimedOut, "{e}"),
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error_and_no_wait() {
        let Ok(cpus) = crate::allowed_cpus() else {
            return;
        };
        assert!(measure_skew(Counter::best(), cpus[0], 8191).is_err());
        assert!(measure_skew(Counter::best(), 8191, cpus[0]).is_err());
    }
}
