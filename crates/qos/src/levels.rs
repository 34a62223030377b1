//! What a level is on this system, how it is applied to a job, and what was read
//! back. Apple systems have classes; on Linux a level is made of what a process
//! may set for itself (docs/qos.md).

use model::noise::applied;
use model::qos::{Level, Outcome, Part, Setting};
use std::io;
use sys::qos_class;
use sys::scheduling::{self, Policy};

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
        Level::BACKGROUND => settings.push(Setting::Batch),
        Level::USER_INITIATED => settings.push(Setting::SliceNs(700_000)),
        Level::USER_INTERACTIVE => settings.push(Setting::SliceNs(100_000)),
        _ => {}
    }
    settings
}

/// Applies what belongs to the session of this process.
pub fn apply_to_session(settings: &[Setting]) -> Vec<Part> {
    apply(settings.iter().filter(|setting| of_session(setting)))
}

/// Applies what belongs to the calling thread.
pub fn apply_to_thread(settings: &[Setting]) -> Vec<Part> {
    apply(settings.iter().filter(|setting| !of_session(setting)))
}

fn of_session(setting: &Setting) -> bool {
    matches!(setting, Setting::Autogroup(_))
}

fn apply<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<Part> {
    settings
        .map(|&setting| Part {
            setting,
            outcome: match set(setting) {
                Ok(()) => read_back(setting),
                Err(error) => Outcome::Refused(reason(&error)),
            },
        })
        .collect()
}

fn set(setting: Setting) -> io::Result<()> {
    match setting {
        Setting::Batch => scheduling::set_policy(0, Policy::Batch),
        Setting::Idle => scheduling::set_policy(0, Policy::Idle),
        Setting::Nice(nice) => scheduling::set_nice(0, nice),
        Setting::Autogroup(nice) => match sys::controls::autogroups() {
            Ok(()) => scheduling::set_autogroup(0, nice),
            Err(why) => Err(io::Error::other(why)),
        },
        Setting::SliceNs(ns) => scheduling::set_slice(0, ns),
        Setting::QosClass(number) => qos_class::set(number),
    }
}

/// What the calling thread has of a setting now.
pub fn read_back(setting: Setting) -> Outcome {
    let now = scheduling::of(0);
    let policy = |wanted| compare(now.policy, wanted, |policy| policy.text());
    let nice = |nice: i32| format!("nice {nice}");
    match setting {
        Setting::Batch => policy(applied::Policy::Batch),
        Setting::Idle => policy(applied::Policy::Idle),
        Setting::Nice(wanted) => compare(now.nice, wanted, nice),
        Setting::Autogroup(wanted) => compare(now.autogroup, wanted, nice),
        Setting::SliceNs(wanted) => compare(now.slice_ns, wanted, |ns| format!("{ns} ns")),
        Setting::QosClass(wanted) => compare(qos_class::current(), wanted, |n| n.to_string()),
    }
}

fn compare<T: PartialEq>(now: Option<T>, wanted: T, text: impl Fn(T) -> String) -> Outcome {
    match now {
        None => Outcome::Applied,
        Some(now) if now == wanted => Outcome::ReadBack,
        Some(now) => Outcome::Differs(text(now)),
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "needs root or CAP_SYS_NICE".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_as_documented() {
        let of = |level, autogroups| -> Vec<String> {
            let settings = on_linux(level, autogroups).into_iter();
            settings.map(Setting::text).collect()
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
            assert_eq!(of(level, true).join(", "), text, "{}", level.name());
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
                let applied = apply_to_thread(&settings);
                scheduling::set_policy(0, Policy::Other).expect("free");
                (applied, settings.iter().map(|&s| read_back(s)).collect())
            });
            thread.join().expect("no panic")
        });
        assert!(applied.iter().all(|part| part.outcome == Outcome::ReadBack));
        let now: Vec<Outcome> = now;
        assert_eq!(now[0], Outcome::ReadBack);
        assert_eq!(now[1], Outcome::Differs("SCHED_OTHER".into()));
    }
}
