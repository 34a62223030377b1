//! Values as they stand in files.

use model::phrases::cut;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Longest time: sums with the time of day fit everywhere.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 86_400);

/// A time with its unit, such as `30s` or `2h`.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(try_from = "String", into = "String")]
pub struct Time(pub Duration);

impl TryFrom<String> for Time {
    type Error = String;
    fn try_from(text: String) -> Result<Time, String> {
        match humantime::parse_duration(&text) {
            Ok(time) if time > LONGEST => Err(format!("{:?}: give 10 years at most", cut(&text))),
            Ok(time) if !time.is_zero() => Ok(Time(time)),
            _ => Err(format!("{:?} is not a time such as 30s or 2h", cut(&text))),
        }
    }
}

impl Time {
    /// The next whole second.
    pub(crate) fn whole_seconds(time: Duration) -> Time {
        Time(Duration::from_secs(time.as_secs_f64().ceil() as u64))
    }
}

impl From<Time> for String {
    fn from(time: Time) -> String {
        humantime::format_duration(time.0).to_string().replace(' ', "")
    }
}

/// A share of 1, written in percent: `20%`.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(try_from = "Written", into = "String")]
pub struct Percent(pub f64);

/// A share as it is written, rightly or not.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Number(f64),
}

impl TryFrom<Written> for Percent {
    type Error = String;
    fn try_from(written: Written) -> Result<Percent, String> {
        let text = match written {
            Written::Text(text) => text,
            Written::Number(number) => {
                return Err(format!("{number} is not a share such as \"20%\", with the quotes"));
            }
        };
        let number = text.strip_suffix('%').and_then(|n| n.trim().parse().ok());
        number
            .filter(|percent| (0.0..=100.0).contains(percent))
            .map(|percent: f64| Percent(percent / 100.0))
            .ok_or_else(|| format!("{:?} is not a share such as 20%", cut(&text)))
    }
}

impl From<Percent> for String {
    fn from(percent: Percent) -> String {
        model::share::limit(percent.0).replace(' ', "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_as_it_was_read() {
        for text in ["7%", "0.1%", "33.3%", "100%"] {
            let read = Percent::try_from(Written::Text(text.into())).expect("a share");
            assert_eq!(String::from(read), text);
        }
    }
}
