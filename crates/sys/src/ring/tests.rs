//! Rings of real processes.

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
    let mut ring = TokenRing::start_ring(5, 300, sum).expect("a ring");
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
    let mut ring = TokenRing::start_ring(4, 0, sum).expect("a ring");
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
    let mut ring = TokenRing::start_ring(6, 4096, sum).expect("a ring");
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
    let mut ring = TokenRing::start_ring(6, 0, sum).expect("a ring");
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
    let mut ring = TokenRing::start_ring(5, 0, sum).expect("a ring");
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
fn members_end_when_member_0_closes_its_pipes() {
    let _alone = alone();
    let mut ring = TokenRing::start_ring(3, 0, sum).expect("a ring");
    ring.turn().expect("whole");
    ring.to = None;
    for other in &mut *ring.members.others() {
        let until = Instant::now() + Duration::from_secs(180);
        while other.try_wait().is_none() {
            assert!(Instant::now() < until, "the end of the pipe did not reach it");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(other.try_wait().and_then(|s| s.code()), Some(0));
    }
}
