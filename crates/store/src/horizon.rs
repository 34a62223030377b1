//! Times to come, which no run can have begun at.

use crate::parts_of_name;
use model::utc;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Clocks of machines that share a store differ by so much.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

/// Times beyond this one are to come, and not believed.
pub(crate) struct Horizon {
    stamp: String,
}

/// Later times than this one, ms since 1970, are to come.
pub(crate) fn horizon_ms() -> u64 {
    ms_beyond(SystemTime::now())
}

fn ms_beyond(now: SystemTime) -> u64 {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since + CLOCKS_DIFFER).as_millis() as u64
}

impl Horizon {
    pub(crate) fn at(now: SystemTime) -> Horizon {
        Horizon { stamp: utc::stamp(ms_beyond(now)) }
    }

    pub(crate) fn is_beyond(&self, path: &Path) -> bool {
        time_in_name(path) > time_of_stamp(&self.stamp)
    }

    /// Sorts documents by time, the oldest first. One that says that it began in the future is no
    /// newer for that: it comes where it was written, or before all others where that time is to
    /// come as well. So it has no place for good that a clock once gave it, and none has to be
    /// remembered.
    pub(crate) fn sort(
        &self,
        paths: &mut [PathBuf],
        written: impl Fn(&Path) -> Option<SystemTime>,
    ) {
        paths.sort_by_cached_key(|path| (self.time_of(path, &written), path.clone()));
    }

    /// By what a run's path sorts: its time, if that is not to come; else the time at which it was
    /// written, after those that have none of both. The last part keeps these in their own order.
    fn time_of(
        &self,
        path: &Path,
        written: impl Fn(&Path) -> Option<SystemTime>,
    ) -> (String, String, String) {
        let time = |time: Option<(&str, &str)>| {
            let (second, thousandth) = time.unwrap_or_default();
            (second.to_owned(), thousandth.to_owned())
        };
        let own = time(time_in_name(path));
        if !self.is_beyond(path) {
            return (own.0, own.1, String::new());
        }
        let written = written(path).and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let written = written.map(|at| utc::stamp(at.as_millis() as u64));
        let written =
            written.filter(|written| time_of_stamp(written) <= time_of_stamp(&self.stamp));
        let (second, thousandth) = time(written.as_deref().and_then(time_of_stamp));
        (second, thousandth, own.0 + &own.1)
    }
}

/// Second and thousandths of it, as they sort. Names that older versions gave
/// have no thousandths: those come first in their second.
fn time_in_name(path: &Path) -> Option<(&str, &str)> {
    let (stamp, _) = parts_of_name(path)?;
    time_of_stamp(stamp)
}

fn time_of_stamp(stamp: &str) -> Option<(&str, &str)> {
    let time = stamp.trim_end_matches('Z');
    Some(time.split_once('.').unwrap_or((time, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_be_a_minute_ahead() {
        const NOW_MS: u64 = 1_600_000_000_000;
        let horizon = Horizon::at(UNIX_EPOCH + Duration::from_millis(NOW_MS));
        let is_beyond = |stamp: &str| {
            let name = format!("{stamp}-5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b.json.zst");
            horizon.is_beyond(Path::new(&name))
        };
        assert!(!is_beyond(&utc::stamp(NOW_MS + 60_000)));
        assert!(is_beyond(&utc::stamp(NOW_MS + 60_001)));
        // Older versions gave no thousandths.
        assert!(!is_beyond("20200913T122740Z") && is_beyond("20200913T122741Z"));
    }
}
