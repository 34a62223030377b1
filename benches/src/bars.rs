//! The bars that a program holds its figures against.

use std::process::ExitCode;

/// Bars, in the order in which they were held.
#[derive(Default)]
pub struct Bars {
    held: Vec<(bool, String)>,
}

impl Bars {
    pub fn new() -> Bars {
        Bars::default()
    }

    /// One bar: whether it holds, and figure and limit in words.
    pub fn hold(&mut self, holds: bool, what: impl Into<String>) {
        self.held.push((holds, what.into()));
    }

    /// `value <= limit`; a figure that is not there misses.
    pub fn at_most(&mut self, what: &str, value: Option<f64>, limit: f64, unit: &str) {
        let (holds, text) = match value {
            Some(value) => (value <= limit, format!("{value:.2}{unit}")),
            None => (false, "no figure".into()),
        };
        self.hold(holds, format!("{what}: {text} (at most {limit}{unit})"));
    }

    /// `low <= value <= high`; a figure that is not there misses.
    pub fn within(&mut self, what: &str, value: Option<f64>, low: f64, high: f64) {
        let (holds, text) = match value {
            Some(value) => ((low..=high).contains(&value), format!("{value:.3}")),
            None => (false, "no figure".into()),
        };
        self.hold(holds, format!("{what}: {text} ({low} to {high})"));
    }

    /// Prints each bar and the conclusion.
    pub fn conclude(&self) -> ExitCode {
        if self.held.is_empty() {
            return ExitCode::SUCCESS;
        }
        println!();
        for (holds, what) in &self.held {
            println!("{} {what}", if *holds { "holds " } else { "MISSED" });
        }
        let missed: Vec<&str> = self
            .held
            .iter()
            .filter(|(holds, _)| !holds)
            .map(|(_, what)| what.split(':').next().unwrap_or(what))
            .collect();
        if missed.is_empty() {
            println!("=> all {} bars hold", self.held.len());
            ExitCode::SUCCESS
        } else {
            println!(
                "=> {} of {} bars missed: {}",
                missed.len(),
                self.held.len(),
                missed.join("; ")
            );
            ExitCode::FAILURE
        }
    }
}
