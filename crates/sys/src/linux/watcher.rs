//! The process that ends commands when this one ends, however that happens: a
//! group that it leads, and the groups of sessions that it was told of.

use std::io;
use std::os::fd::RawFd;

/// The signals that a terminal or a user sends to everybody; the watcher is
/// not meant.
const NOT_FOR_THE_WATCHER: [i32; 8] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
];

/// Sessions with something left in them that are kept in mind.
pub(super) const MOST_SESSIONS: usize = 1024;

/// Whether something is left in a session's group.
pub(super) fn is_left(session: libc::pid_t) -> bool {
    // SAFETY: system calls on numbers. Signal 0 is none.
    let nobody = unsafe { libc::kill(-session, 0) } != 0;
    !(nobody && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH))
}

/// Kills what is left in the group of a session whose leader was waited for.
/// The number is nobody else's as long as something is left; if it is a
/// process's again, nothing is.
pub(super) fn kill_left(session: libc::pid_t) {
    // SAFETY: system calls on numbers.
    unsafe {
        if libc::getsid(session) < 0 {
            libc::kill(-session, libc::SIGKILL);
        }
    }
}

/// The watcher's whole life: hears of sessions (their number when one begins,
/// minus it when nothing is left in it) until nobody holds the other end, then
/// ends them and the group that it leads, itself included.
pub(super) fn watch(ended: RawFd, alive: RawFd) -> i32 {
    let mut sessions = [0; MOST_SESSIONS + 1];
    let (mut count, mut last) = (0, 0);
    // SAFETY: system calls on numbers, four bytes on the stack and null; all
    // are async-signal-safe. The death signal that every forked child begins
    // with would end this one before its work.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, 0);
        libc::setpgid(0, 0);
        for signal in NOT_FOR_THE_WATCHER {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::close(alive);
        loop {
            let mut said = [0_u8; 4];
            // Written at once, so never read in parts (pipe(7)).
            let got = libc::read(ended, said.as_mut_ptr().cast(), said.len());
            let again = io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
            match libc::pid_t::from_ne_bytes(said) {
                _ if got < 0 && again => {}
                _ if got <= 0 => break,
                gone if gone < 0 => {
                    if let Some(place) = sessions[..count].iter().position(|&s| s == -gone) {
                        count -= 1;
                        sessions[place] = sessions[count];
                    }
                }
                begun => {
                    last = begun;
                    sessions[count.min(MOST_SESSIONS)] = begun;
                    count = (count + 1).min(sessions.len());
                }
            }
        }
        for &session in &sessions[..count] {
            // Only the last one may still have its leader.
            if session == last && libc::getsid(session) == session {
                libc::kill(-session, libc::SIGKILL);
            }
            kill_left(session);
        }
        libc::kill(0, libc::SIGKILL);
    }
    0
}
