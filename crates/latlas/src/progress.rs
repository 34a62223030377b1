//! Live progress on stderr: nothing but warnings where that is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meter::conduct::{Observer, Progress};
use meter::plan::Plan;
use model::estimate::Estimate;
use model::figure::figure;
use model::unit::Unit;
use std::io::IsTerminal;
use std::time::Duration;

/// Rows whose running figures are shown.
const SHOWN: usize = 3;

/// A bar with the time left, and below it figures that narrow as rounds come.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar on stderr; hidden where that is no terminal.
    pub(crate) fn on_stderr() -> Bar {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {prefix}\n{wide_msg}") {
            bar.set_style(style);
        }
        Bar { bar }
    }

    /// Shows one line in its place.
    pub(crate) fn say(&self, line: &str) {
        self.bar.set_message(line.to_owned());
        self.bar.tick();
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Bar {
    fn started(&mut self, plan: &Plan) {
        self.bar
            .set_prefix(format!("about {}", seconds(plan.total())));
        self.bar.tick();
    }

    fn progress(&mut self, progress: &Progress) {
        self.bar.set_length(progress.visits_planned);
        self.bar.set_position(progress.visits_done);
        self.bar.set_prefix(format!(
            "round {} of {}, {} left",
            progress.round,
            progress.rounds,
            seconds(progress.remaining)
        ));
        self.bar
            .set_message(figures(progress.latest, progress.round));
    }

    fn warning(&mut self, line: &str) {
        self.bar.suspend(|| eprintln!("latlas: {line}"));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}

/// A few rows with their running figures, others in each round.
fn figures(latest: &[(String, Estimate, Unit)], round: u32) -> String {
    let known: Vec<String> = latest
        .iter()
        .filter_map(|(row, estimate, unit)| {
            let f = figure(&estimate.quiet?.ns, unit);
            Some(format!("{row} {} {} ±{}", f.value, f.unit, f.half_width))
        })
        .collect();
    let from = (round as usize * SHOWN) % known.len().max(1);
    let shown: Vec<&str> = known
        .iter()
        .cycle()
        .skip(from)
        .take(SHOWN.min(known.len()))
        .map(String::as_str)
        .collect();
    shown.join("   ")
}
