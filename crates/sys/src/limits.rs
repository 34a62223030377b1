//! Limits of this process (getrlimit(2)), where the system may refuse to tell
//! them: a sandbox that forbids the call leaves nothing behind to read.

use std::io;
use std::mem::MaybeUninit;

/// A limit that latlas asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Address space, bytes (`ulimit -v`).
    AddressSpace,
    /// Processes and threads of this user (`ulimit -u`).
    Processes,
    /// Open files (`ulimit -n`).
    OpenFiles,
    /// Stack of the first thread, bytes (`ulimit -s`).
    Stack,
}

/// Both values of a limit; `None` for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The one in force.
    pub soft: Option<u64>,
    /// How far it may be raised.
    pub hard: Option<u64>,
}

/// Reads a limit.
///
/// # Errors
/// What `getrlimit(2)` says, such as that a filter of system calls forbids it.
pub fn limit(resource: Resource) -> io::Result<Limit> {
    let number = match resource {
        Resource::AddressSpace => libc::RLIMIT_AS,
        Resource::Processes => libc::RLIMIT_NPROC,
        Resource::OpenFiles => libc::RLIMIT_NOFILE,
        Resource::Stack => libc::RLIMIT_STACK,
    };
    let mut read = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the system writes one `rlimit` to the pointer it gets.
    if unsafe { libc::getrlimit(number, read.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it said that it has filled it in.
    let libc::rlimit { rlim_cur, rlim_max } = unsafe { read.assume_init() };
    let finite = |value: libc::rlim_t| (value != libc::RLIM_INFINITY).then_some(value);
    Ok(Limit { soft: finite(rlim_cur), hard: finite(rlim_max) })
}

/// Bytes of address space that the limit on it leaves to this process; `None`
/// where there is no limit, or it is not known.
pub fn address_space_left() -> Option<u64> {
    let limit = limit(Resource::AddressSpace).ok()?.soft?;
    let used = crate::available_memory().address_space_bytes?;
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_known() {
        let files = limit(Resource::OpenFiles).expect("a limit");
        assert!(files.soft.is_none_or(|soft| soft > 0));
        if let (Some(soft), Some(hard)) = (files.soft, files.hard) {
            assert!(soft <= hard);
        }
        limit(Resource::AddressSpace).expect("a limit");
        limit(Resource::Processes).expect("a limit");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn each_limit_is_the_one_of_its_name() {
        let Ok(all) = std::fs::read_to_string("/proc/self/limits") else {
            return println!("SKIPPED: /proc/self/limits can't be read");
        };
        let by_name = |name: &str| {
            let line = all.lines().find_map(|line| line.strip_prefix(name));
            let mut both = line.expect(name).split_whitespace();
            // No number: unlimited.
            let [soft, hard] = [(); 2].map(|()| both.next().and_then(|word| word.parse().ok()));
            Limit { soft, hard }
        };
        let of = |resource| limit(resource).expect("a limit");
        assert_eq!(of(Resource::AddressSpace), by_name("Max address space"));
        assert_eq!(of(Resource::Processes), by_name("Max processes"));
        assert_eq!(of(Resource::Stack), by_name("Max stack size"));
        // Another test raises the soft one.
        let files = by_name("Max open files");
        assert_eq!(of(Resource::OpenFiles).hard, files.hard);
    }
}
