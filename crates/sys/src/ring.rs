//! A ring of processes joined by pipes, round which a token goes.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::Forked;
use crate::evidence::{Switches, thread_switches};
use crate::pages::base_page_bytes;
use crate::shared::{SharedBytes, SharedNumbers};

/// What a member does with its own array each time it has the token.
pub type Chore = fn(&[u8]) -> u64;

/// How long members may take to end when the ring is broken, before they are
/// ended: those that are left find the end of their pipe within microseconds.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Looks at a ring within the patience with it: a process that was stopped,
/// with all its threads, and goes on has not been waited for.
const LOOKS: u32 = 10;

/// Numbers of a member on the board, a cache line apart.
const NUMBERS: usize = 8;
const TURNS: usize = 0;
const RESULT: usize = 1;
const BEFORE: Range<usize> = 2..4;
const AFTER: Range<usize> = 4..6;

/// An int, as it goes through the pipes.
type Token = [u8; 4];
/// Nothing but a turn.
const PLAIN: Token = [0; 4];
/// Each member notes its switches so far.
const COUNT_FROM: Token = [1; 4];
/// The same, at the end of what is counted.
const COUNT_TO: Token = [2; 4];

/// What a member has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Times it had the token.
    pub turns: u64,
    /// What its chore gave the last time.
    pub result: u64,
    /// Its context switches between [`TokenRing::count_from`] and
    /// [`TokenRing::count_to`]; `None` where the system does not tell.
    pub switches: Option<Switches>,
}

/// Processes joined by pipes to a ring. This process is member 0; the others
/// are forked from it, with its affinity, and end with it (with the thread
/// that called [`start`](TokenRing::start), on Linux). Each member reads the
/// token, does its chore on an array of its own, and writes the token on.
#[derive(Debug)]
pub struct TokenRing {
    /// To member 1, until the ring is broken.
    to: Option<PipeWriter>,
    /// From the last member.
    from: PipeReader,
    members: Arc<Members>,
    arrays: Arrays,
    chore: Chore,
}

/// The members, shared with the thread that watches them.
#[derive(Debug)]
struct Members {
    others: Mutex<Vec<Forked>>,
    board: SharedNumbers,
    /// The watching thread has ended them.
    late: AtomicBool,
}

impl Members {
    fn others(&self) -> MutexGuard<'_, Vec<Forked>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The part of the board of member 0.
    fn first(&self) -> &[AtomicU64] {
        &self.board.all()[..NUMBERS]
    }

    /// Ends all members if the token does not come back for that long.
    /// Returns when `done` is sent to or dropped.
    fn watch(&self, patience: Duration, done: &mpsc::Receiver<()>) {
        let turns = || self.first()[TURNS].load(Ordering::Relaxed);
        let (mut seen, mut looks) = (turns(), 0);
        while done.recv_timeout(patience / LOOKS) == Err(RecvTimeoutError::Timeout) {
            looks = if turns() == seen { looks + 1 } else { 0 };
            seen = turns();
            if looks == LOOKS {
                let mut others = self.others();
                self.late.store(true, Ordering::Relaxed);
                for other in &mut *others {
                    other.end();
                }
                return;
            }
        }
    }
}

/// Why there is no ring.
#[derive(Debug)]
pub enum NoRing {
    /// Memory for the arrays.
    Memory(io::Error),
    /// The pipes.
    Pipes(io::Error),
    /// The processes.
    Processes(io::Error),
}

impl TokenRing {
    /// A ring of `members` (at least two), each with an array of this many
    /// bytes, all of them the member's number plus one, in pages of its own.
    ///
    /// `chore` also runs in forked processes, where the locks that other
    /// threads held stay locked: it reads its array, and neither allocates nor
    /// prints. No other thread may fork meanwhile: its child would hold the
    /// pipes open beyond the members' end.
    ///
    /// # Errors
    /// What could not be had; nothing of the ring is left then.
    pub fn start(members: usize, array_bytes: usize, chore: Chore) -> Result<TokenRing, NoRing> {
        let members = members.max(2);
        let arrays = Arrays::new(members, array_bytes).map_err(NoRing::Memory)?;
        let board = SharedNumbers::new(members * NUMBERS).map_err(NoRing::Memory)?;
        let mut pipes = (0..members)
            .map(|_| io::pipe())
            .collect::<io::Result<Vec<_>>>()
            .map_err(NoRing::Pipes)?;
        let mut others = Vec::with_capacity(members - 1);
        for number in 1..members {
            // SAFETY: `member` closes, reads and writes pipes, reads its
            // array, stores atomics and calls getrusage, and the chore does
            // no more by the contract above. Nothing allocates.
            let child = unsafe {
                Forked::start(|| member(number, &pipes, &board, arrays.of(number), chore))
            };
            // The children there are end by their drop.
            others.push(child.map_err(NoRing::Processes)?);
        }
        // Member 0 keeps its own two ends only, so that the end of a member
        // is the end of its pipes.
        let from = pipes.pop().map(|(from, _)| from);
        let to = pipes.into_iter().next().map(|(_, to)| to);
        let from = from.ok_or_else(|| NoRing::Pipes(io::ErrorKind::InvalidInput.into()))?;
        Ok(TokenRing {
            to,
            from,
            members: Arc::new(Members {
                others: Mutex::new(others),
                board,
                late: AtomicBool::new(false),
            }),
            arrays,
            chore,
        })
    }

    /// Does some work with the ring while a thread watches that the token
    /// comes back: a member may be stopped, and a timeout of the reads would
    /// be a part of what they cost. After `patience` without a turn the
    /// members are ended, and the turn that waits fails.
    ///
    /// # Errors
    /// Those of the work; that the thread can't be started.
    pub fn watched<R>(
        &mut self,
        patience: Duration,
        work: impl FnOnce(&mut TokenRing) -> io::Result<R>,
    ) -> io::Result<R> {
        let members = self.members.clone();
        thread::scope(|scope| {
            // Dropped when the work is over or panics: the thread ends then.
            let (_working, done) = mpsc::channel();
            thread::Builder::new()
                .spawn_scoped(scope, move || members.watch(patience, &done))
                .map_err(|e| {
                    let text = format!("a thread that watches the ring can't be started: {e}");
                    io::Error::new(e.kind(), text)
                })?;
            work(self)
        })
    }

    /// Sends the token round once: one hop for each member.
    ///
    /// # Errors
    /// A member has ended: the error says how, in words, and all others have
    /// been ended and reaped. So are all later turns.
    #[inline]
    pub fn turn(&mut self) -> io::Result<()> {
        self.send_round(PLAIN)
    }

    /// Sends the token round once, and has each member count its context
    /// switches from there on: beginning with its wait for the next turn.
    ///
    /// # Errors
    /// As [`turn`](TokenRing::turn).
    pub fn count_from(&mut self) -> io::Result<()> {
        self.send_round(COUNT_FROM)
    }

    /// Sends the token round once more and ends the counting: the wait for
    /// this turn is the last that counts.
    ///
    /// # Errors
    /// As [`turn`](TokenRing::turn).
    pub fn count_to(&mut self) -> io::Result<()> {
        self.send_round(COUNT_TO)
    }

    /// What all members have done, this process first.
    pub fn members(&self) -> Vec<Member> {
        let numbers = self.members.board.all().chunks_exact(NUMBERS);
        numbers.map(member_numbers).collect()
    }

    /// Process ids of the members beside this one.
    pub fn ids(&self) -> Vec<u32> {
        self.members.others().iter().map(Forked::id).collect()
    }

    #[inline]
    fn send_round(&mut self, token: Token) -> io::Result<()> {
        let mut token = token;
        let sent = match &self.to {
            Some(to) => (&*to).write_all(&token),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        if let Err(e) = sent.and_then(|()| self.from.read_exact(&mut token)) {
            return Err(self.obituary(&e));
        }
        have_token(token, self.members.first(), self.arrays.of(0), self.chore);
        Ok(())
    }

    /// How the ring broke. Ends what is left of it.
    fn obituary(&mut self, error: &io::Error) -> io::Error {
        // The members before the one that ended still wait for us.
        self.to = None;
        let mut others = self.members.others();
        if self.members.late.load(Ordering::Relaxed) {
            return io::Error::new(
                io::ErrorKind::TimedOut,
                "a ring member did not answer, so that the token did not come back; all members have been ended",
            );
        }
        let until = Instant::now() + LAST_WORDS;
        while others.iter_mut().any(|m| m.try_wait().is_none()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let by_itself: Vec<ExitStatus> = others.iter_mut().filter_map(Forked::try_wait).collect();
        for other in &mut *others {
            other.end();
        }
        // The others only found the end of their pipe.
        match by_itself.iter().find_map(ExitStatusExt::signal) {
            Some(signal) => io::Error::other(format!(
                "a ring member was killed by signal {signal}; the others have been ended"
            )),
            None => io::Error::other(format!(
                "the ring broke ({error}); its members have been ended"
            )),
        }
    }
}

/// The life of a forked member: its exit code.
fn member(
    number: usize,
    pipes: &[(PipeReader, PipeWriter)],
    board: &SharedNumbers,
    array: &[u8],
    chore: Chore,
) -> i32 {
    let (mut from, mut to) = (&pipes[number - 1].0, &pipes[number].1);
    for (n, (reader, writer)) in pipes.iter().enumerate() {
        if n != number - 1 {
            close(reader);
        }
        if n != number {
            close(writer);
        }
    }
    let own = &board.all()[number * NUMBERS..][..NUMBERS];
    let mut token = PLAIN;
    loop {
        if from.read_exact(&mut token).is_err() {
            return 0;
        }
        have_token(token, own, array, chore);
        if to.write_all(&token).is_err() {
            return 0;
        }
    }
}

/// What each member does between reading and writing the token.
#[inline]
fn have_token(token: Token, own: &[AtomicU64], array: &[u8], chore: Chore) {
    match token {
        PLAIN => {}
        COUNT_FROM => note(&own[BEFORE]),
        _ => note(&own[AFTER]),
    }
    own[RESULT].store(chore(array), Ordering::Relaxed);
    let turns = own[TURNS].load(Ordering::Relaxed) + 1;
    own[TURNS].store(turns, Ordering::Relaxed);
}

/// Stores one more than each count: 0 is "unknown".
fn note(place: &[AtomicU64]) {
    if let Some(switches) = thread_switches() {
        place[0].store(switches.voluntary + 1, Ordering::Relaxed);
        place[1].store(switches.involuntary + 1, Ordering::Relaxed);
    }
}

fn member_numbers(own: &[AtomicU64]) -> Member {
    let number = |n: usize| own[n].load(Ordering::Relaxed);
    let grown = |n: usize| {
        let (before, after) = (number(BEFORE.start + n), number(AFTER.start + n));
        (before > 0).then(|| after.checked_sub(before))?
    };
    Member {
        turns: number(TURNS),
        result: number(RESULT),
        switches: grown(0)
            .zip(grown(1))
            .map(|(voluntary, involuntary)| Switches {
                voluntary,
                involuntary,
            }),
    }
}

/// Closes an end of a pipe in a forked process, which owns its copy of it but
/// holds it by reference only.
fn close(end: &impl AsRawFd) {
    // SAFETY: the forked process uses this end nowhere else, and ends without
    // running the destructor that would close it again.
    unsafe { libc::close(end.as_raw_fd()) };
}

/// One array for each member, on pages of its own.
#[derive(Debug)]
struct Arrays {
    all: SharedBytes,
    bytes: usize,
    apart: usize,
}

impl Arrays {
    fn new(members: usize, bytes: usize) -> io::Result<Arrays> {
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let apart = bytes
            .checked_next_multiple_of(base_page_bytes())
            .ok_or_else(too_large)?;
        let whole = apart.checked_mul(members).ok_or_else(too_large)?;
        let all = SharedBytes::new(whole, |all| {
            for (number, array) in all.chunks_mut(apart.max(1)).enumerate() {
                array.fill((number + 1) as u8);
            }
        })?;
        Ok(Arrays { all, bytes, apart })
    }

    fn of(&self, member: usize) -> &[u8] {
        &self.all.all()[member * self.apart..][..self.bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Members of one ring, forked while another is made, would hold its pipes.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    fn alone() -> MutexGuard<'static, ()> {
        ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sum(array: &[u8]) -> u64 {
        array.iter().copied().map(u64::from).sum()
    }

    fn all_gone(ids: &[u32]) -> bool {
        ids.iter().all(|id| {
            let pid = Pid::from_raw(id.cast_signed()).expect("an id");
            matches!(waitpid(Some(pid), WaitOptions::NOHANG), Err(Errno::CHILD))
        })
    }

    #[test]
    fn the_token_visits_every_member_and_each_sums_its_own() {
        let _alone = alone();
        let mut ring = TokenRing::start(5, 300, sum).expect("a ring");
        for _ in 0..7 {
            ring.turn().expect("whole");
        }
        let members = ring.members();
        let turns: Vec<u64> = members.iter().map(|m| m.turns).collect();
        let sums: Vec<u64> = members.iter().map(|m| m.result).collect();
        assert_eq!(turns, [7; 5]);
        assert_eq!(sums, [300, 600, 900, 1200, 1500]);
        let ids = ring.ids();
        assert_eq!(ids.len(), 4);
        drop(ring);
        assert!(all_gone(&ids));
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn members_sleep_while_others_have_the_token() {
        let _alone = alone();
        let mut ring = TokenRing::start(4, 0, sum).expect("a ring");
        assert_eq!(ring.members()[1].switches, None, "nothing was counted yet");
        ring.count_from().expect("whole");
        for _ in 0..50 {
            ring.turn().expect("whole");
        }
        ring.count_to().expect("whole");
        for member in ring.members() {
            assert_eq!(member.turns, 52);
            let switches = member.switches.expect("getrusage");
            // 51 waits; one of which another CPU may have cut short.
            let all = switches.voluntary + switches.involuntary;
            assert!(all >= 25, "{switches:?}");
        }
    }

    #[test]
    fn a_killed_member_breaks_the_ring_and_nothing_is_left() {
        let _alone = alone();
        let mut ring = TokenRing::start(6, 4096, sum).expect("a ring");
        ring.turn().expect("whole");
        let ids = ring.ids();
        let victim = Pid::from_raw(ids[2].cast_signed()).expect("an id");
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            kill_process(victim, Signal::KILL).expect("killed");
        });
        let error = loop {
            if let Err(e) = ring.turn() {
                break e;
            }
        };
        killer.join().expect("no panic");
        let text = error.to_string();
        assert!(text.contains("killed by signal 9"), "{text}");
        assert!(all_gone(&ids), "reaped before the ring is dropped");
        assert!(ring.turn().is_err(), "and stays broken");
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn a_member_that_does_not_end_is_ended() {
        let _alone = alone();
        let mut ring = TokenRing::start(6, 0, sum).expect("a ring");
        ring.turn().expect("whole");
        let ids = ring.ids();
        let pid = |n: usize| Pid::from_raw(ids[n].cast_signed()).expect("an id");
        // Stopped, it can't find the end of its pipe.
        kill_process(pid(0), Signal::STOP).expect("stopped");
        kill_process(pid(2), Signal::KILL).expect("killed");
        let text = ring.turn().expect_err("broken").to_string();
        assert!(text.contains("killed by signal 9"), "{text}");
        assert!(all_gone(&ids));
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn a_stopped_member_is_given_up() {
        let _alone = alone();
        let mut ring = TokenRing::start(5, 0, sum).expect("a ring");
        // No turn takes as long, however busy the machine is.
        let patience = Duration::from_secs(3);
        let whole = ring.watched(patience, |ring| {
            // Longer than the patience, but the token comes back.
            let until = Instant::now() + 2 * patience;
            while Instant::now() < until {
                ring.turn()?;
            }
            Ok(())
        });
        whole.expect("no member is late");
        let ids = ring.ids();
        let stopped = Pid::from_raw(ids[1].cast_signed()).expect("an id");
        kill_process(stopped, Signal::STOP).expect("stopped");
        let error = ring.watched(patience, TokenRing::turn);
        let error = error.expect_err("it does not answer");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains("did not answer"), "{error}");
        assert!(all_gone(&ids));
        assert!(ring.turn().is_err(), "and stays broken");
    }

    #[test]
    fn members_end_when_member_0_lets_go() {
        let _alone = alone();
        let mut ring = TokenRing::start(3, 0, sum).expect("a ring");
        ring.turn().expect("whole");
        ring.to = None;
        for other in &mut *ring.members.others() {
            let until = Instant::now() + Duration::from_secs(20);
            while other.try_wait().is_none() {
                assert!(
                    Instant::now() < until,
                    "the end of the pipe did not reach it"
                );
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(other.try_wait().and_then(|s| s.code()), Some(0));
        }
    }
}
