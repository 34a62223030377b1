//! Turning a knob for the calling thread or its session, reading it back, and turning
//! it back.

use model::noise::applied;
use model::qos::Setting;
use model::qos::knobs::{Knob, Permission, Tried};
use std::io;
use sys::cpu_weight::{NoWeight, WeightGroup};
use sys::scheduling::{self, IoPriority, Policy, Scheduling};

/// What a knob is made of.
enum Step {
    Policy(Policy, applied::Policy),
    Nice(i32),
    Slice(u64),
    Io(IoPriority),
    OneCpu,
    Autogroup(i32),
}

/// The steps of a knob; control groups are the controller's.
fn steps(knob: Knob) -> Vec<Step> {
    let idle = || Step::Policy(Policy::Idle, applied::Policy::Idle);
    match knob {
        Knob::None | Knob::GroupShares(_) | Knob::GroupIdle => Vec::new(),
        Knob::Part(Setting::Batch) => {
            vec![Step::Policy(Policy::Batch, applied::Policy::Batch)]
        }
        Knob::Part(Setting::Idle) => vec![idle()],
        Knob::Part(Setting::Nice(nice)) => vec![Step::Nice(nice)],
        Knob::Part(Setting::Autogroup(nice)) => vec![Step::Autogroup(nice)],
        Knob::Part(Setting::SliceNs(ns)) => vec![Step::Slice(ns)],
        Knob::Part(Setting::QosClass(_)) => Vec::new(),
        Knob::IdleWithAutogroup(nice) => vec![Step::Autogroup(nice), idle()],
        Knob::Fifo(at) => vec![Step::Policy(Policy::Fifo(at), applied::Policy::Fifo(at))],
        Knob::RoundRobin(at) => {
            vec![Step::Policy(Policy::RoundRobin(at), applied::Policy::RoundRobin(at))]
        }
        Knob::OneCpu => vec![Step::OneCpu],
        Knob::IoBestEffort(level) => vec![Step::Io(IoPriority::BestEffort(level))],
        Knob::IoIdle => vec![Step::Io(IoPriority::Idle)],
    }
}

impl Step {
    fn is_of_session(&self) -> bool {
        matches!(self, Step::Autogroup(_))
    }

    fn set(&self) -> io::Result<()> {
        match *self {
            Step::Policy(policy, _) => scheduling::set_policy(0, policy),
            Step::Nice(nice) => scheduling::set_nice(0, nice),
            Step::Slice(ns) => scheduling::set_slice(0, ns),
            Step::Io(priority) => scheduling::set_io(0, priority),
            Step::OneCpu => match sys::allowed_cpus()?.first() {
                Some(&first) => sys::pin_to(&[first]),
                None => Err(io::ErrorKind::NotFound.into()),
            },
            Step::Autogroup(nice) => scheduling::set_autogroup(0, nice),
        }
    }

    /// What was read back instead of what was set.
    fn differs(&self, now: &Scheduling) -> Option<String> {
        fn other<T: PartialEq + std::fmt::Debug>(now: Option<T>, wanted: T) -> Option<String> {
            now.filter(|now| *now != wanted).map(|now| format!("{now:?}"))
        }
        match *self {
            Step::Policy(_, wanted) => other(now.policy, wanted),
            Step::Nice(wanted) => other(now.nice, wanted),
            // Both are read back where they are set.
            Step::Slice(_) | Step::OneCpu => None,
            Step::Io(wanted) => other(now.io, wanted),
            Step::Autogroup(wanted) => other(now.autogroup, wanted),
        }
    }

    fn undo(&self, cpus: &[u32]) -> io::Result<()> {
        match self {
            Step::Policy(..) => scheduling::set_policy(0, Policy::Other),
            Step::Nice(_) => scheduling::set_nice(0, 0),
            Step::Slice(_) => scheduling::set_slice(0, 0),
            Step::Io(_) => scheduling::set_io(0, IoPriority::Unset),
            Step::OneCpu => sys::pin_to(cpus),
            Step::Autogroup(_) => scheduling::set_autogroup(0, 0),
        }
    }

    fn done(&self) -> Result<(), Tried> {
        self.set().map_err(|error| refused(&error))?;
        match self.differs(&scheduling::of(0)) {
            Some(now) => Err(Tried::NoEffect(now)),
            None => Ok(()),
        }
    }
}

/// What belongs to the session of this process.
pub(super) fn for_session(knob: Knob) -> Result<(), Tried> {
    let steps = steps(knob);
    let mut steps = steps.iter().filter(|step| step.is_of_session());
    steps.try_for_each(Step::done)
}

/// What belongs to the calling thread.
pub(super) fn for_thread(knob: Knob) -> Result<(), Tried> {
    let steps = steps(knob);
    let mut steps = steps.iter().filter(|step| !step.is_of_session());
    steps.try_for_each(Step::done)
}

/// Turns it and turns it back, for the calling thread and its session.
pub(super) fn tried(knob: Knob) -> Permission {
    if let Knob::GroupShares(_) | Knob::GroupIdle = knob {
        return tried_group(knob);
    }
    let cpus = sys::allowed_cpus().unwrap_or_default();
    let steps = steps(knob);
    if let Err(refused) = steps.iter().try_for_each(Step::done) {
        return Permission { set: refused, undo: None };
    }
    let undone = steps.iter().try_for_each(|step| step.undo(&cpus));
    Permission {
        set: Tried::Done,
        undo: Some(match undone {
            Ok(()) => Tried::Done,
            Err(error) => refused(&error),
        }),
    }
}

/// A group that is made and removed again.
fn tried_group(knob: Knob) -> Permission {
    let set = match group(knob, "try") {
        Ok(_) => Tried::Done,
        Err(error) => Tried::Refused(group_error(&error)),
    };
    Permission { undo: (set == Tried::Done).then_some(Tried::Done), set }
}

/// The control group of a knob, of which it is made.
pub(super) fn group(knob: Knob, name: &str) -> Result<WeightGroup, NoWeight> {
    let group = WeightGroup::create(name)?;
    match knob {
        Knob::GroupShares(shares) => group.set_shares(shares)?,
        _ => group.set_idle(true)?,
    }
    Ok(group)
}

/// The system's error, else the reason in words.
pub(super) fn group_error(error: &NoWeight) -> String {
    match error {
        NoWeight::NotMade(_, error) | NoWeight::File(_, error) => name_of(error),
        other => other.to_string(),
    }
}

pub(super) fn refused(error: &io::Error) -> Tried {
    match error.kind() {
        // The kernel takes the value and ignores it.
        io::ErrorKind::Unsupported if error.raw_os_error().is_none() => {
            Tried::NoEffect(error.to_string())
        }
        _ => Tried::Refused(name_of(error)),
    }
}

/// The name of the system's error (errno(3)); its text where it has another number.
fn name_of(error: &io::Error) -> String {
    let name = match error.raw_os_error() {
        Some(1) => "EPERM",
        Some(2) => "ENOENT",
        Some(11) => "EAGAIN",
        Some(13) => "EACCES",
        Some(16) => "EBUSY",
        Some(22) => "EINVAL",
        Some(30) => "EROFS",
        Some(38) => "ENOSYS",
        Some(95) => "EOPNOTSUPP",
        _ => return error.to_string(),
    };
    name.into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// In a thread that ends: what can't be undone goes with it.
    fn in_a_thread(knob: Knob) -> Permission {
        let tried = std::thread::spawn(move || tried(knob));
        tried.join().expect("no panic")
    }

    #[test]
    fn what_is_free_is_done_and_undone() {
        for knob in [Knob::None, Knob::Part(Setting::Batch), Knob::OneCpu, Knob::IoBestEffort(7)] {
            let permission = in_a_thread(knob);
            assert_eq!(permission.set, Tried::Done, "{knob:?}");
            assert_eq!(permission.undo, Some(Tried::Done), "{knob:?}");
        }
    }

    #[test]
    fn what_is_not_undone_is_said() {
        let permission = in_a_thread(Knob::Part(Setting::Nice(19)));
        assert_eq!(permission.set, Tried::Done);
        let undo = match sys::filesystem::user() {
            0 => Tried::Done,
            _ => Tried::Refused("EACCES".into()),
        };
        assert_eq!(permission.undo, Some(undo));
    }

    #[test]
    fn errors_have_names() {
        let of = |number| name_of(&io::Error::from_raw_os_error(number));
        assert_eq!((of(1), of(13)), ("EPERM".into(), "EACCES".into()));
        assert!(of(5).contains("error"), "{}", of(5));
    }
}
