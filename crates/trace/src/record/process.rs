//! What /proc says about processes and threads.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(super) fn threads(process: u32) -> io::Result<Vec<u32>> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"))?;
    let names = entries.map(|entry| Ok(entry?.file_name()));
    let names: io::Result<Vec<_>> = names.collect();
    let numbers = names?.into_iter();
    Ok(numbers.filter_map(|name| name.to_str()?.parse().ok()).collect())
}

/// A process that was started by one of a process's threads, and theirs, as far
/// as the kernel lists them (CONFIG_PROC_CHILDREN).
pub(super) fn family(process: u32) -> Vec<u32> {
    let mut family = vec![process];
    let mut next = 0;
    while let Some(&process) = family.get(next) {
        next += 1;
        for thread in threads(process).unwrap_or_default() {
            let path = format!("/proc/{process}/task/{thread}/children");
            let children = std::fs::read_to_string(path).unwrap_or_default();
            let children = children.split_whitespace().filter_map(|id| id.parse().ok());
            for child in children.collect::<Vec<u32>>() {
                if !family.contains(&child) {
                    family.push(child);
                }
            }
        }
    }
    family
}

/// `kernel.perf_event_paranoid`.
pub(super) fn paranoid() -> Option<i32> {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    text.trim().parse().ok()
}

/// Whether another user's rights are needed for a process: its directory in /proc is theirs.
pub(super) fn is_of_another_user(process: u32) -> bool {
    let owner = |path: String| std::fs::metadata(path).ok().map(|found| found.uid());
    let (own, other) = (owner("/proc/self".to_owned()), owner(format!("/proc/{process}")));
    own.is_some() && other.is_some() && own != other
}

pub(super) fn thread_name(process: u32, thread: u32) -> Option<String> {
    let path = format!("/proc/{process}/task/{thread}/comm");
    let name = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
}

/// Whether a process is there and has not ended.
pub(super) fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let state = stat.ok().and_then(|text| Some(stat_of(&text)?.state));
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Whether a process has a thread of this number.
pub(super) fn has_thread(process: u32, thread: u32) -> bool {
    Path::new(&format!("/proc/{process}/task/{thread}")).exists()
}

/// Whether this is a process, and not a thread of one.
pub(super) fn is_process(id: u32) -> bool {
    Path::new(&format!("/proc/{id}/task/{id}")).exists()
        && std::fs::read_to_string(format!("/proc/{id}/status"))
            .is_ok_and(|text| text.lines().any(|line| line == format!("Tgid:\t{id}")))
}

/// Whether a thread sleeps: in which system call, and whether signals can't wake
/// it.
pub(super) fn asleep(process: u32, thread: u32) -> Option<(Option<u32>, bool)> {
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{process}/task/{thread}/{file}"));
    let state = stat_of(&read("stat").ok()?)?.state;
    let call = read("syscall").unwrap_or_default();
    let call = call.split_whitespace().next().and_then(|number| number.parse().ok());
    matches!(state, 'S' | 'D').then_some((call, state == 'D'))
}

/// What `/proc/PID/task/TID/stat` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) state: char,
    pub(super) faults: u64,
}

/// Reads the text of a `stat` file. A name may contain blanks and brackets.
pub(super) fn stat_of(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        // minflt and majflt, the 10th and 12th field of all.
        faults: number(7)?.saturating_add(number(9)?),
    })
}

/// What `/proc/PID/task/TID/schedstat` says: time on a CPU, time queued for
/// one, times it got one.
pub(super) fn schedstat_of(text: &str) -> Option<[u64; 3]> {
    let mut fields = text.split_whitespace().map(|field| field.parse().ok());
    Some([fields.next()??, fields.next()??, fields.next()??])
}

/// Reads any text as what the kernel says of a thread, for the fuzzer.
#[doc(hidden)]
pub fn anything(text: &str) {
    stat_of(text);
    schedstat_of(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks() {
        let text = "17 (a) b (c) R 1 17 17 0 -1 4194304 120 0 3 0 5 1 0 0 20 0 1 0 100";
        let wanted = Stat { state: 'R', faults: 123 };
        assert_eq!(stat_of(text), Some(wanted));
        assert_eq!(stat_of("17 (a) R 1"), None);
        assert_eq!(stat_of(""), None);
    }

    #[test]
    fn sums_of_the_scheduler() {
        assert_eq!(schedstat_of("100 20 3\n"), Some([100, 20, 3]));
        assert_eq!(schedstat_of("100 20"), None);
        assert_eq!(schedstat_of("a b c"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_this_thread() {
        let id = std::process::id();
        assert!(is_alive(id) && is_process(id));
        let me = sys::thread::current_id().expect("Linux numbers its threads");
        assert!(threads(id).expect("listed").contains(&me));
        assert!(family(id).contains(&id));
        if me != id {
            assert!(!is_process(me), "a thread");
        }
        assert!(!is_process(u32::MAX) && !is_alive(u32::MAX));
    }
}
