//! Live progress on stderr: nothing but warnings where that is no terminal.

use crate::output;
use atlas::index::Reading;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meter::conduct::{Observer, Progress};
use meter::plan::Plan;
use model::estimate::Estimate;
use model::figure::figure;
use model::unit::Unit;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// Documents from which on their reading is said at once.
const MANY: usize = 200;
/// Time from which on any reading is said.
const LONG: Duration = Duration::from_secs(2);

/// The reading of documents that is under way.
struct Documents {
    began: Instant,
    bar: Option<ProgressBar>,
}

/// Says how far the reading of many documents is: a bar on a terminal, else a
/// line at its begin; and at its end how many there were and how fast it went.
pub(crate) fn reading(now: Reading) {
    static STATE: Mutex<Option<Documents>> = Mutex::new(None);
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    let documents = match &mut *state {
        Some(documents) if now.done > 1 => documents,
        other => other.insert(Documents {
            began: Instant::now(),
            bar: None,
        }),
    };
    let took = documents.began.elapsed();
    if documents.bar.is_none() && (now.of >= MANY || took > LONG) {
        documents.bar = Some(bar_of_documents(now.of));
    }
    let Some(bar) = &documents.bar else {
        return;
    };
    bar.set_position(now.done as u64);
    if now.done == now.of {
        bar.finish_and_clear();
        output::tell(&format!(
            "latlas: read {} documents in {:.1} s ({:.0} per second)\n",
            now.of,
            took.as_secs_f64(),
            now.of as f64 / took.as_secs_f64().max(1e-3)
        ));
        *state = None;
    }
}

fn bar_of_documents(count: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        output::tell(&format!("latlas: reading {count} documents\n"));
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    let template = "{bar:30} reading documents: {pos} of {len}, {per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
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
