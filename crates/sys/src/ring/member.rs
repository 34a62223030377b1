//! What a member of the ring does, and the numbers that it leaves.

use crate::evidence::{Switches, thread_switches};
use crate::shared::SharedNumbers;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a member does with its own array each time it has the token.
pub type Chore = fn(&[u8]) -> u64;

/// Numbers of a member on the board, a cache line apart.
pub(super) const NUMBERS: usize = 8;

pub(super) const TURNS: usize = 0;

const RESULT: usize = 1;

const BEFORE: Range<usize> = 2..4;

const AFTER: Range<usize> = 4..6;

/// An int, as it goes through the pipes.
pub(super) type Token = [u8; 4];

/// Nothing but a turn.
pub(super) const PLAIN: Token = [0; 4];

/// Each member notes its switches so far.
pub(super) const COUNT_FROM: Token = [1; 4];

/// The same, at the end of what is counted.
pub(super) const COUNT_TO: Token = [2; 4];

/// What a member has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Times it had the token.
    pub turns: u64,
    /// What its chore gave the last time.
    pub result: u64,
    /// Its context switches between [`count_from`](super::TokenRing::count_from)
    /// and [`count_to`](super::TokenRing::count_to); `None` where the system does
    /// not count them.
    pub switches: Option<Switches>,
}

/// The life of a forked member: its exit code.
pub(super) fn member(
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
pub(super) fn have_token(token: Token, own: &[AtomicU64], array: &[u8], chore: Chore) {
    match token {
        PLAIN => {}
        COUNT_FROM => store_counts(&own[BEFORE]),
        _ => store_counts(&own[AFTER]),
    }
    own[RESULT].store(chore(array), Ordering::Relaxed);
    let turns = own[TURNS].load(Ordering::Relaxed) + 1;
    own[TURNS].store(turns, Ordering::Relaxed);
}

/// Stores one more than each count: 0 is "unknown".
fn store_counts(place: &[AtomicU64]) {
    if let Some(switches) = thread_switches() {
        place[0].store(switches.voluntary + 1, Ordering::Relaxed);
        place[1].store(switches.involuntary + 1, Ordering::Relaxed);
    }
}

pub(super) fn member_numbers(own: &[AtomicU64]) -> Member {
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
            .map(|(voluntary, involuntary)| Switches { voluntary, involuntary }),
    }
}

/// Closes an end of a pipe in a forked process, which owns its copy of it but
/// holds it by reference only.
fn close(end: &impl AsRawFd) {
    // SAFETY: the forked process uses this end nowhere else, and ends without
    // running the destructor that would close it again.
    unsafe { libc::close(end.as_raw_fd()) };
}
