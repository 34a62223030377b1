//! What a level is on this system, and how it is applied to a job. Apple systems
//! have classes; on Linux a level is made of what a process may set for itself
//! (docs/qos.md).

use model::qos::{Level, Outcome, Part, Setting};
use std::io;
use sys::settings::{HERE, System};

/// What a level is made of here. Without autogroups that act, nice values weigh
/// between sessions too.
pub fn settings(level: Level, autogroups: bool) -> Vec<Setting> {
    if cfg!(target_vendor = "apple") {
        return vec![Setting::QosClass(level.number())];
    }
    on_linux(level, autogroups)
}

fn on_linux(level: Level, autogroups: bool) -> Vec<Setting> {
    let group = |nice| match autogroups {
        true => vec![Setting::Autogroup(nice), Setting::Nice(nice)],
        false => vec![Setting::Nice(nice)],
    };
    let mut settings = match level {
        Level::BACKGROUND => group(19),
        // The nice value would change nothing within the session.
        Level::UTILITY if autogroups => vec![Setting::Autogroup(10)],
        Level::UTILITY => group(10),
        Level::USER_INITIATED => group(-5),
        Level::USER_INTERACTIVE => group(-10),
        _ => Vec::new(),
    };
    match level {
        Level::BACKGROUND => settings.push(Setting::BATCH),
        Level::USER_INITIATED => settings.push(Setting::SliceNs(700_000)),
        Level::USER_INTERACTIVE => settings.push(Setting::SliceNs(100_000)),
        _ => {}
    }
    settings
}

/// Applies what belongs to the session of this process, or else to the calling
/// thread.
pub fn apply(settings: &[Setting], session: bool) -> Vec<Part> {
    let part = |setting: &Setting| Part {
        setting: setting.clone(),
        outcome: match acts(setting).and_then(|()| HERE.put(setting)) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Refused(level_reason(&error)),
        },
    };
    settings.iter().filter(|setting| setting.is_of_session() == session).map(part).collect()
}

/// An autogroup's nice value would be taken and do nothing.
fn acts(setting: &Setting) -> io::Result<()> {
    match setting.is_of_session() {
        true => sys::controls::autogroups().map_err(io::Error::other),
        false => Ok(()),
    }
}

fn level_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "needs root or CAP_SYS_NICE".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::setting::Policy;

    #[test]
    fn levels_as_documented() {
        let of = |level, autogroups| -> Vec<String> {
            on_linux(level, autogroups).iter().map(Setting::label).collect()
        };
        let with = [
            (Level::BACKGROUND, "autogroup nice 19, nice 19, SCHED_BATCH"),
            (Level::UTILITY, "autogroup nice 10"),
            (Level::DEFAULT, ""),
            (Level::USER_INITIATED, "autogroup nice -5, nice -5, slice 700 µs"),
            (Level::USER_INTERACTIVE, "autogroup nice -10, nice -10, slice 100 µs"),
            // A number without a name is a level without parts.
            (Level::from(32), ""),
        ];
        for (level, text) in with {
            assert_eq!(of(level, true).join(", "), text, "{}", level.label());
        }
        assert_eq!(of(Level::UTILITY, false), ["nice 10"]);
        assert_eq!(of(Level::BACKGROUND, false), ["nice 19", "SCHED_BATCH"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_applied_is_read_back_and_its_loss_is_seen() {
        let settings = on_linux(Level::BACKGROUND, false);
        let (applied, now) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let applied = apply(&settings, false);
                HERE.set(&Setting::Policy(Policy::Other)).expect("free");
                (applied, settings.iter().map(|setting| HERE.outcome(setting)).collect())
            });
            thread.join().expect("no panic")
        });
        assert!(applied.iter().all(|part| part.outcome == Outcome::ReadBack));
        let now: Vec<Outcome> = now;
        assert_eq!(now[0], Outcome::ReadBack);
        assert_eq!(now[1], Outcome::Differs("SCHED_OTHER".into()));
    }
}
