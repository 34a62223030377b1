//! `perf_event_open(2)` on the calling thread, inherited and enabled on exec.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use super::perf_event::{
    self, Attributes, DISABLED, ENABLE_ON_EXEC, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, INHERIT,
    PERF_COUNT_SW_DUMMY, PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE,
};
use crate::counters::{Counted, CounterEvent, Totals};

/// PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING.
const READ_FORMAT: u64 = 1 | 2;

/// Counters of the calling thread's children, see [`crate::counters`].
#[derive(Debug)]
pub struct Counters {
    open: Vec<(CounterEvent, File)>,
    counted: Vec<(CounterEvent, Counted)>,
    /// An event that no child inherits. Without it a child's list of events
    /// would be its parent's own but for the copy, and then the kernel may
    /// swap the two lists at a switch from the one to the other instead of
    /// switching events: the child's exec would enable our counters.
    _not_inherited: Option<OwnedFd>,
}

impl Counters {
    /// Opens what can be counted here, and says why the rest can't.
    pub fn open() -> Counters {
        let not_inherited = perf_event::open_event(
            Attributes {
                kind: PERF_TYPE_SOFTWARE,
                config: PERF_COUNT_SW_DUMMY,
                flags: DISABLED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
                ..Attributes::default()
            },
            0,
            -1,
        );
        let mut counters = Counters { open: Vec::new(), counted: Vec::new(), _not_inherited: None };
        match not_inherited {
            Ok(fd) => counters._not_inherited = Some(fd),
            Err(error) => {
                let none = |event| (event, Counted::Not(uncounted_reason(event, &error)));
                counters.counted = CounterEvent::ALL.into_iter().map(none).collect();
                return counters;
            }
        }
        for event in CounterEvent::ALL {
            let counted = match opened(event, |flags| open_counter(event, flags)) {
                Ok((fd, counted)) => {
                    counters.open.push((event, File::from(fd)));
                    counted
                }
                Err(e) => Counted::Not(uncounted_reason(event, &e)),
            };
            counters.counted.push((event, counted));
        }
        counters
    }

    /// How each event is counted.
    pub fn counted(&self) -> &[(CounterEvent, Counted)] {
        &self.counted
    }

    /// Totals since the counters were opened.
    pub fn read(&mut self) -> io::Result<Totals> {
        let mut totals = Totals::default();
        for (event, file) in &mut self.open {
            totals.0[event.index()] = Some(words(file)?);
        }
        Ok(totals)
    }

    /// The value of one event since the counters were opened; `None` where it is not counted.
    pub(super) fn value(&mut self, event: CounterEvent) -> io::Result<Option<u64>> {
        let file = self.open.iter_mut().find(|(open, _)| *open == event);
        file.map(|(_, file)| Ok(words(file)?[0])).transpose()
    }
}

/// Value, time enabled and time running.
fn words(counter: &mut File) -> io::Result<[u64; 3]> {
    let mut bytes = [0_u8; 24];
    counter.read_exact(&mut bytes)?;
    let word = |k: usize| {
        let bytes = bytes[8 * k..8 * k + 8].try_into().unwrap_or_default();
        u64::from_ne_bytes(bytes)
    };
    Ok([word(0), word(1), word(2)])
}

/// Opens an event whole, or in user mode where only that is allowed.
fn opened<T>(event: CounterEvent, open: impl Fn(u64) -> io::Result<T>) -> io::Result<(T, Counted)> {
    match open(0) {
        // What the scheduler does, it does in kernel mode: in user mode alone
        // these would read 0.
        Err(e) if is_denied(&e) && !in_kernel_only(event) => {
            Ok((open(EXCLUDE_KERNEL)?, in_user_mode(event)))
        }
        whole => Ok((whole?, Counted::Everything)),
    }
}

fn open_counter(event: CounterEvent, flags: u64) -> io::Result<OwnedFd> {
    // `PERF_COUNT_SW_*` and `PERF_COUNT_HW_*` of linux/perf_event.h.
    let (kind, config) = match event {
        CounterEvent::TaskClock => (PERF_TYPE_SOFTWARE, 1),
        CounterEvent::PageFaults => (PERF_TYPE_SOFTWARE, 2),
        CounterEvent::ContextSwitches => (PERF_TYPE_SOFTWARE, 3),
        CounterEvent::CpuMigrations => (PERF_TYPE_SOFTWARE, 4),
        CounterEvent::MinorFaults => (PERF_TYPE_SOFTWARE, 5),
        CounterEvent::MajorFaults => (PERF_TYPE_SOFTWARE, 6),
        CounterEvent::Cycles => (PERF_TYPE_HARDWARE, 0),
        CounterEvent::Instructions => (PERF_TYPE_HARDWARE, 1),
    };
    let attributes = Attributes {
        kind,
        config,
        read_format: READ_FORMAT,
        flags: flags | DISABLED | INHERIT | ENABLE_ON_EXEC,
        ..Attributes::default()
    };
    perf_event::open_event(attributes, 0, -1)
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn in_kernel_only(event: CounterEvent) -> bool {
    matches!(event, CounterEvent::ContextSwitches | CounterEvent::CpuMigrations)
}

/// The task clock runs in either mode, whatever the event leaves out.
fn in_user_mode(event: CounterEvent) -> Counted {
    match event {
        CounterEvent::TaskClock => Counted::Everything,
        _ => Counted::UserModeOnly,
    }
}

/// Why an event can't be counted, from what the system said, with what would
/// help.
fn uncounted_reason(event: CounterEvent, error: &io::Error) -> String {
    let hardware = matches!(event, CounterEvent::Cycles | CounterEvent::Instructions);
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "the kernel refuses to count: needs CAP_PERFMON (or root), or \
             kernel.perf_event_paranoid at 1 or below, and a sandbox that lets perf_event_open pass"
                .into()
        }
        _ if hardware && is_absent(error) => {
            "no hardware counters: neither processor nor hypervisor offers any to this kernel"
                .into()
        }
        _ => format!("the kernel can't count it: {error}"),
    }
}

/// Whether an error says that there is nothing to count with.
fn is_absent(error: &io::Error) -> bool {
    let absent = [libc::ENOENT, libc::EOPNOTSUPP, libc::ENODEV];
    error.raw_os_error().is_some_and(|e| absent.contains(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_says_how_it_is_counted() {
        let counters = Counters::open();
        let events = counters.counted().iter().map(|(event, _)| *event);
        assert_eq!(events.collect::<Vec<_>>(), CounterEvent::ALL);
        let is_open = |event| counters.open.iter().any(|(open, _)| *open == event);
        for (event, counted) in counters.counted() {
            let not = matches!(counted, Counted::Not(_));
            assert_ne!(is_open(*event), not, "{event:?} {counted:?}");
        }
    }

    #[test]
    fn without_the_right_to_watch_the_kernel_only_what_user_mode_has_is_counted() {
        let in_user_mode = |flags| match flags & EXCLUDE_KERNEL {
            0 => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        };
        let counted =
            CounterEvent::ALL.map(|event| opened(event, in_user_mode).ok().map(|(_, how)| how));
        let user = Some(Counted::UserModeOnly);
        let [faults, minor, major, cycles, instructions] = [(); 5].map(|()| user.clone());
        let (switches, moves) = (None, None);
        let clock = Some(Counted::Everything);
        assert_eq!(counted, [clock, switches, moves, faults, minor, major, cycles, instructions]);
        // What is no matter of rights is not tried again.
        let absent = |flags| match flags {
            0 => Err(io::Error::from_raw_os_error(libc::ENOENT)),
            _ => panic!("tried again"),
        };
        let error = opened::<()>(CounterEvent::Cycles, absent).expect_err("absent");
        let why = |event, number| uncounted_reason(event, &io::Error::from_raw_os_error(number));
        assert!(uncounted_reason(CounterEvent::Cycles, &error).starts_with("no hardware counters"));
        assert!(why(CounterEvent::Cycles, libc::EINVAL).starts_with("the kernel can't count it"));
        assert!(
            why(CounterEvent::PageFaults, libc::ENOENT).starts_with("the kernel can't count it")
        );
        assert!(why(CounterEvent::Cycles, libc::EACCES).contains("CAP_PERFMON"));
        let whole = opened(CounterEvent::ContextSwitches, |_| Ok(())).expect("allowed");
        assert_eq!(whole, ((), Counted::Everything));
    }
}
