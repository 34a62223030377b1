//! The means by which a token goes from one thread to the other.

use super::pair::PATIENCE;
use super::token::{Means, Side};
use crate::engine::reason::{Doing, Reason};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;
use sys::futex;
use sys::semaphore::Semaphore;

/// What is handed over where it must be something.
const TOKEN: [u8; 1] = [b'x'];

/// One direction.
pub(crate) trait Lane: Sync {
    fn put(&self) -> io::Result<()>;

    /// Waits for the token and takes it out.
    fn take(&self) -> io::Result<()>;
}

/// A lane for each direction, by the side that gives.
pub(crate) struct Lanes<L>([L; 2]);

impl<L: Lane> Lanes<L> {
    /// Two lanes.
    pub(crate) fn new(what: &str, make: impl Fn() -> io::Result<L>) -> Result<Lanes<L>, Reason> {
        let one = || make().doing(format!("can't make {what}"));
        Ok(Lanes([one()?, one()?]))
    }
}

impl<L: Lane> Means for Lanes<L> {
    fn give(&self, from: Side) -> io::Result<()> {
        self.0[from as usize].put()
    }
    fn take(&self, at: Side) -> io::Result<()> {
        self.0[at.other() as usize].take()
    }
}

impl Lane for Semaphore {
    fn put(&self) -> io::Result<()> {
        self.post()
    }
    fn take(&self) -> io::Result<()> {
        self.wait()
    }
}

impl Lane for (PipeReader, PipeWriter) {
    fn put(&self) -> io::Result<()> {
        (&self.1).write_all(&TOKEN)
    }
    fn take(&self) -> io::Result<()> {
        (&self.0).read_exact(&mut [0])
    }
}

/// An eventfd.
pub(crate) struct EventFd(File);

impl EventFd {
    pub(crate) fn new() -> io::Result<EventFd> {
        Ok(EventFd(sys::eventfd::eventfd()?.into()))
    }
}

impl Lane for EventFd {
    fn put(&self) -> io::Result<()> {
        (&self.0).write_all(&1_u64.to_ne_bytes())
    }
    fn take(&self) -> io::Result<()> {
        (&self.0).read_exact(&mut [0; 8])
    }
}

/// A word of memory, slept on by a futex; on separate cache lines, so that neither
/// direction disturbs the other.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Futex(AtomicU32);

impl Futex {
    pub(crate) fn new() -> io::Result<Futex> {
        let word = Futex::default();
        // A wake without a sleeper: whether there is such a call at all.
        futex::wake_one(&word.0)?;
        Ok(word)
    }
}

impl Lane for Futex {
    fn put(&self) -> io::Result<()> {
        self.0.store(1, Ordering::Release);
        futex::wake_one(&self.0)
    }
    fn take(&self) -> io::Result<()> {
        while self.0.load(Ordering::Acquire) == 0 {
            futex::wait(&self.0, 0)?;
        }
        self.0.store(0, Ordering::Relaxed);
        Ok(())
    }
}

/// The standard library's mutex and condition variable.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct MutexCondvar {
    full: Mutex<bool>,
    filled: Condvar,
}

impl Lane for MutexCondvar {
    fn put(&self) -> io::Result<()> {
        *self.full.lock().unwrap_or_else(PoisonError::into_inner) = true;
        // After the unlock: woken under it, the other thread would have to
        // wait once more.
        self.filled.notify_one();
        Ok(())
    }
    fn take(&self) -> io::Result<()> {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        while !*full {
            full = self.filled.wait(full).unwrap_or_else(PoisonError::into_inner);
        }
        *full = false;
        Ok(())
    }
}

/// Ends of a connected stream, by side.
pub(crate) struct Streams<S>(pub(crate) [S; 2]);

impl Streams<UnixStream> {
    pub(crate) fn unix() -> Result<Streams<UnixStream>, Reason> {
        let (first, second) = UnixStream::pair().doing("can't make a pair of unix sockets")?;
        Ok(Streams([first, second]))
    }
}

impl<S: Sync> Means for Streams<S>
where
    for<'s> &'s S: Read + Write,
{
    fn give(&self, from: Side) -> io::Result<()> {
        (&self.0[from as usize]).write_all(&TOKEN)
    }
    fn take(&self, at: Side) -> io::Result<()> {
        (&self.0[at as usize]).read_exact(&mut [0])
    }
}

/// Two connected UDP sockets, by side.
pub(crate) struct Datagrams(pub(crate) [UdpSocket; 2]);

impl Means for Datagrams {
    fn give(&self, from: Side) -> io::Result<()> {
        self.0[from as usize].send(&TOKEN).map(drop)
    }
    fn take(&self, at: Side) -> io::Result<()> {
        loop {
            match self.0[at as usize].recv(&mut [0]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => return done.map(drop),
            }
        }
    }
}

/// Neither side's turn: the pair is over.
const OVER: u32 = 2;

/// A word of memory that says whose turn it is, polled without a pause; on
/// separate cache lines.
#[repr(align(128))]
pub(crate) struct Spin(AtomicU32);

impl Default for Spin {
    fn default() -> Spin {
        Spin(AtomicU32::new(Side::First as u32))
    }
}

impl Means for Spin {
    fn give(&self, from: Side) -> io::Result<()> {
        self.0.store(from.other() as u32, Ordering::Release);
        Ok(())
    }
    fn take(&self, at: Side) -> io::Result<()> {
        let mut began: Option<Instant> = None;
        loop {
            // A clock would be a part of what is measured: it is looked at
            // only after longer than the other side takes.
            for _ in 0..1 << 20 {
                match self.0.load(Ordering::Acquire) {
                    turn if turn == at as u32 => return Ok(()),
                    OVER => return Err(io::Error::other("the pair is over")),
                    _ => {}
                }
            }
            // One thread may keep all others from its CPU, that with the
            // patience too.
            if began.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
    fn abandon(&self) {
        self.0.store(OVER, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, small_machine};
    use crate::handoff::pair::Pair;
    use crate::handoff::placement::Placement;
    use crate::handoff::plan::HandoffPlan;
    use crate::handoff::plan::Waiting;
    use crate::net::loopback::{tcp_pair, udp_pair};
    use meter::probe::Work;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    /// A means whose tokens are counted: none may be taken that was not given.
    struct CountedMeans<M> {
        means: M,
        given: [AtomicU64; 2],
        taken: [AtomicU64; 2],
    }

    impl<M: Means> Means for &CountedMeans<M> {
        fn give(&self, from: Side) -> io::Result<()> {
            self.given[from as usize].fetch_add(1, Ordering::SeqCst);
            self.means.give(from)
        }
        fn take(&self, at: Side) -> io::Result<()> {
            self.means.take(at)?;
            let taken = self.taken[at as usize].fetch_add(1, Ordering::SeqCst) + 1;
            let given = self.given[at.other() as usize].load(Ordering::SeqCst);
            match given == taken {
                true => Ok(()),
                false => Err(io::Error::other(format!("{taken} taken of {given} given"))),
            }
        }
        fn abandon(&self) {
            self.means.abandon();
        }
    }

    /// Runs a pair where it may run, and counts; then a side that waits comes
    /// back when the pair is abandoned.
    fn hands_over<M: Means>(name: &str, placements: &[Placement], means: M) {
        let counted = CountedMeans { means, given: Default::default(), taken: Default::default() };
        let mut trips = 0;
        for &placement in placements {
            if placement == Placement::OtherCpu && cpus().len() < 2 {
                continue;
            }
            let plan = HandoffPlan::round_trips(placement, Waiting::Depends);
            trips += u64::from(plan.warm_up) + 30;
            let pair = Pair::new(&counted, plan, &small_machine());
            let events = pair.and_then(|mut pair| pair.stamped(30));
            let events = events.unwrap_or_else(|e| panic!("{name} {placement:?}: {e}"));
            assert_eq!(events.len(), 30, "{name} {placement:?}");
            let counts = [&counted.given, &counted.taken];
            let counts = counts.map(|sides| [0, 1].map(|n: usize| sides[n].load(Ordering::SeqCst)));
            assert_eq!(counts, [[trips; 2]; 2], "{name} {placement:?}");
        }
        let means = counted.means;
        means.give(Side::First).expect("room for a token");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| means.take(Side::First));
            std::thread::sleep(Duration::from_millis(10));
            assert!(!waiting.is_finished(), "{name}: there is nothing to take");
            means.abandon();
            // With a token or an error, as the means may be.
            let _ = waiting.join().expect("no panic");
        });
    }

    #[test]
    fn each_means_hands_over_once_a_turn_and_lets_go() {
        const ALL: [Placement; 3] = [Placement::SameCpu, Placement::OtherCpu, Placement::Free];
        let semaphores = Lanes::new("it", || Semaphore::new(0));
        hands_over("semaphore", &ALL, semaphores.expect("semaphores"));
        let condvars = Lanes::new("it", || Ok(MutexCondvar::default()));
        hands_over("condvar", &ALL, condvars.expect("condvars"));
        hands_over("pipe", &ALL, Lanes::new("it", io::pipe).expect("pipes"));
        hands_over("unix", &ALL, Streams::unix().expect("sockets"));
        hands_over("tcp", &ALL, Streams(tcp_pair().expect("loopback")));
        hands_over("udp", &ALL, Datagrams(udp_pair().expect("loopback")));
        if cfg!(any(target_os = "linux", target_os = "android")) {
            hands_over("futex", &ALL, Lanes::new("it", Futex::new).expect("futexes"));
            hands_over("eventfd", &ALL, Lanes::new("it", EventFd::new).expect("eventfds"));
        }
        hands_over("spin", &[Placement::OtherCpu], Spin::default());
    }
}
