//! Turning a knob for the calling thread or its session, reading it back, and turning
//! it back.

use model::qos::knobs::{Knob, Permission};
use model::qos::{Outcome, Setting};
use std::io;
use sys::cpu_weight::{NoWeight, WeightGroup};
use sys::settings::{HERE, System};

/// Turns what belongs to the session of this process, or else to the calling
/// thread; control groups are the controller's.
pub(super) fn turn(knob: &Knob, session: bool) -> Result<(), Outcome> {
    let of = |setting: &&Setting| setting.is_of_session() == session && !knob.is_group();
    knob.0.iter().filter(of).try_for_each(|setting| done(&HERE, setting))
}

fn done(system: &dyn System, setting: &Setting) -> Result<(), Outcome> {
    match system.put(setting) {
        Ok(outcome) if outcome.holds() => Ok(()),
        Ok(outcome) => Err(outcome),
        Err(error) => Err(knob_outcome(&error)),
    }
}

/// Turns it and turns it back, for the calling thread and its session.
pub(super) fn tried(knob: &Knob) -> Permission {
    let before: Vec<_> = knob.0.iter().map(|setting| HERE.read(setting)).collect();
    let set = match knob.is_group() {
        // Made and removed again.
        true => group(knob, "try").map(drop),
        false => knob.0.iter().try_for_each(|setting| done(&HERE, setting)),
    };
    if let Err(set) = set {
        return Permission { set, undo: None };
    }
    let undone = knob.0.iter().zip(before).filter_map(|(setting, was)| HERE.undo(setting, was));
    let mut undone = undone.map(|undone| undone.unwrap_or_else(|error| knob_outcome(&error)));
    let failed = undone.find(|outcome| !outcome.holds());
    Permission { set: Outcome::ReadBack, undo: Some(failed.unwrap_or(Outcome::ReadBack)) }
}

/// The control group of a knob, with what that sets.
pub(super) fn group(knob: &Knob, name: &str) -> Result<WeightGroup, Outcome> {
    let group = WeightGroup::create(name).map_err(|why| match why {
        NoWeight::NotMade(_, error) => knob_outcome(&error),
        other => Outcome::Refused(other.to_string()),
    })?;
    knob.0.iter().try_for_each(|setting| done(&group, setting))?;
    Ok(group)
}

fn knob_outcome(error: &io::Error) -> Outcome {
    Outcome::Refused(name_of(error))
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
    use model::setting::IoPriority;

    /// In a thread that ends: what can't be undone goes with it.
    fn in_a_thread(settings: Vec<Setting>) -> Permission {
        let tried = std::thread::spawn(move || tried(&Knob(settings)));
        tried.join().expect("no panic")
    }

    #[test]
    fn what_is_free_is_done_and_undone() {
        let io = Setting::Io(IoPriority::BestEffort(7));
        for settings in [vec![], vec![Setting::BATCH], vec![Setting::OneCpu], vec![io]] {
            let permission = in_a_thread(settings.clone());
            assert_eq!(permission.set, Outcome::ReadBack, "{settings:?}");
            assert_eq!(permission.undo, Some(Outcome::ReadBack), "{settings:?}");
        }
    }

    #[test]
    fn what_is_not_undone_is_said() {
        let permission = in_a_thread(vec![Setting::Nice(19)]);
        assert_eq!(permission.set, Outcome::ReadBack);
        let undo = match sys::filesystem::user() {
            0 => Outcome::ReadBack,
            _ => Outcome::Refused("EACCES".into()),
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
