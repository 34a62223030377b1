//! A ring of processes joined by pipes, around which a token goes: what the row `sched.ring` times. This
//! process is a member, the others are forked from it: `member.rs` is their loop, `arrays.rs` their memory.

mod arrays;
mod member;

pub use member::{Chore, Member};

use crate::child::Forked;
use crate::shared::SharedNumbers;
use arrays::Arrays;
use member::{
    COUNT_FROM, COUNT_TO, NUMBERS, PLAIN, TURNS, Token, have_token, member, member_numbers,
};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long members may take to end when the ring is broken, before they are
/// ended: those that are left find the end of their pipe within microseconds.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Looks at a ring within the patience with it: a process that was stopped,
/// with all its threads, and goes on has not been waited for.
const LOOKS: u32 = 10;

/// Processes joined by pipes to a ring. This process is member 0; the others
/// are forked from it, with its affinity, and end with it (with the thread
/// that called [`start_ring`](TokenRing::start_ring), on Linux). Each member reads the
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
    /// prints. No other thread may fork during it: its child would hold the
    /// pipes open beyond the members' end.
    ///
    /// # Errors
    /// What could not be had; nothing of the ring is left then.
    pub fn start_ring(
        members: usize,
        array_bytes: usize,
        chore: Chore,
    ) -> Result<TokenRing, NoRing> {
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
                Forked::fork(|| member(number, &pipes, &board, arrays.array(number), chore))
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
            let watching = thread::Builder::new();
            crate::thread::spawn_scoped(scope, watching, move || members.watch(patience, &done))
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

    /// Process ids of the other members.
    pub fn ids(&self) -> Vec<u32> {
        self.members.others().iter().map(Forked::process_id).collect()
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
        have_token(token, self.members.first(), self.arrays.array(0), self.chore);
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
            None => {
                io::Error::other(format!("the ring broke ({error}); its members have been ended"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
