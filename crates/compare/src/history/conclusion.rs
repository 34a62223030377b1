//! What a row's past says, as a value and in words.

use super::{History, HistoryEntry, HistoryLevel};
use crate::Difference;
use model::figure::time_scale;
use model::history::FEWEST;
use model::phrases::counted;
use model::phrases::short_id;
use model::share::{change, change_ends, limit, percent};
use model::shown::number_with_half;
use model::stats::Interval;
use model::unit::Unit;
use model::utc;
use std::fmt::{self, Display};

/// What was found, with its words.
#[derive(Clone, Copy, Debug)]
pub struct Conclusion<'h> {
    history: &'h History,
}

impl History {
    /// What can be said of the row's past.
    pub fn conclusion(&self) -> Conclusion<'_> {
        Conclusion { history: self }
    }

    /// A level with half of its interval and its unit: `12.1 ±0.2 cycles`.
    pub fn level_text(&self, level: &Interval) -> String {
        let (scale, unit) = self.scale(level.value);
        let number = number_with_half(&level.scaled(1.0 / scale));
        format!("{number} {unit}").trim_end().to_owned()
    }

    /// Divisor and unit for values of this size.
    pub fn scale(&self, value: f64) -> (f64, &'static str) {
        match self.unit {
            "ns" => time_scale(value),
            "bytes" => model::figure::scale_of(&Unit::Bytes, value),
            unit => (1.0, unit),
        }
    }
}

impl HistoryLevel {
    /// By how much it differs from the level before: `+12.0 % [+9.0, +15.0]`;
    /// empty for the first.
    pub fn change_text(&self) -> String {
        self.ratio.map_or(String::new(), |r| format!("{} {}", change(r.value), change_ends(&r)))
    }
}

impl HistoryEntry {
    /// What changed since the run before, in a line.
    pub fn setup_text(&self) -> String {
        let text = |d: &Difference| format!("{} {} -> {}", d.what, d.a, d.b);
        self.setup.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// The beginning of its id.
    pub fn short_id(&self) -> &str {
        short_id(&self.run.id)
    }
}

impl Conclusion<'_> {
    /// A change: by how much, from when on, and what else changed then.
    fn change(&self, level: &HistoryLevel) -> String {
        let entry = &self.history.runs[level.first];
        let with = match entry.setup.is_empty() {
            true => String::new(),
            false => format!(", together with {}", entry.setup_text()),
        };
        let when = utc::readable_utc(entry.run.started_unix_ms);
        let id = entry.short_id();
        format!("{} from {when} on (run {id}){with}", level.change_text())
    }

    /// How large a change would have to be to be seen, and how often a mark
    /// means nothing.
    fn power(&self) -> String {
        let shown = match self.history.detectable {
            Some(share) => format!(
                "a change of {} would show (in 80 % of cases, half of the runs on either side)",
                percent(share)
            ),
            None => format!("fewer than {} runs, so no further change could show", 2 * FEWEST),
        };
        let error_rate = limit(self.history.error_rate);
        format!("{shown}. Where nothing changes, {error_rate} of histories get a mark.")
    }
}

impl Conclusion<'_> {
    /// What was seen, without what could have been.
    pub fn seen(&self) -> String {
        let history = self.history;
        let runs = |count: usize| counted(count, "run");
        let tested = runs(history.tested());
        match history.levels.as_slice() {
            [] => {
                format!("None of {} has a figure that can be followed.", runs(history.runs.len()))
            }
            _ if !self.has_power() => format!(
                "{tested} with a figure: too few to look for a change, which takes {} at least.",
                2 * FEWEST
            ),
            [level] => {
                format!("No change shown in {tested} about {}", history.level_text(&level.level))
            }
            [_, changed @ .., last] => {
                let mut changes: Vec<String> = changed.iter().map(|l| self.change(l)).collect();
                changes.push(self.change(last));
                format!(
                    "{} in {tested}: {}. Since then {} about {}",
                    counted(changes.len(), "change"),
                    changes.join("; "),
                    runs(last.runs),
                    history.level_text(&last.level),
                )
            }
        }
    }

    /// Whether there are runs enough to look for a change.
    pub fn has_power(&self) -> bool {
        !self.history.levels.is_empty() && self.history.tested() >= 2 * FEWEST
    }

    /// What could have been seen; empty where nothing was looked for.
    pub fn limits(&self) -> String {
        let older = match self.history.older {
            0 => "",
            _ => " Older runs are not tested.",
        };
        let power = if self.has_power() { self.power() } else { String::new() };
        (power + older).trim().to_owned()
    }
}

impl Display for Conclusion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let limits = self.limits();
        let between = match (limits.is_empty(), self.has_power()) {
            (true, _) => "",
            (false, true) => "; ",
            (false, false) => " ",
        };
        write!(f, "{}{between}{limits}", self.seen())
    }
}
