//! Live progress on stderr; only warnings if that is not a terminal.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meter::conduct::{Latest, Observer, Progress};
use meter::plan::Plan;
use meter::run_remark::RunRemark;
use model::estimate::Verdict;
use model::figure::figure_in_unit;
use model::phrases::counted;
use model::share::percent;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::index::ReadingProgress;

/// Rows with intermediate figures.
const SHOWN: usize = 3;

/// How often a line is made.
const AGAIN: Duration = Duration::from_millis(100);

/// A bar with the remaining time and intermediate figures.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// When [`Bar::message_at_times`] last had a line made.
    made: Mutex<Option<Instant>>,
    /// Where there is no terminal: what is measured, a line once that has begun.
    announcement: Option<String>,
}

impl Bar {
    /// A bar on stderr, hidden if that is not a terminal.
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
        Bar { bar, made: Mutex::new(None), announcement: None }
    }

    pub(crate) fn message(&self, line: &str) {
        self.bar.set_message(line.to_owned());
        self.bar.tick();
    }

    /// A line that costs more to make than what it tells of: made some times a second, and only where it is seen.
    pub(crate) fn message_at_times(&self, line: impl FnOnce() -> String) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = made.is_none_or(|made| made.elapsed() >= AGAIN);
        if is_due && !self.bar.is_hidden() {
            self.message(&line());
            *made = Some(Instant::now());
        }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Bar {
    fn started(&mut self, plan: &Plan) {
        let takes = seconds(plan.total());
        match self.bar.is_hidden() {
            true => {
                let rows = counted(plan.row_count(), "row");
                self.announcement = Some(format!("measuring {rows}, about {takes}"));
            }
            false => {
                self.bar.set_prefix(format!("about {takes}"));
                self.bar.tick();
            }
        }
    }

    fn progress(&mut self, progress: &Progress) {
        if let Some(line) = self.announcement.take() {
            output::message(line);
        }
        let all = progress.elapsed + progress.remaining;
        let done = progress.elapsed.as_secs_f64() / all.as_secs_f64().max(1e-9);
        self.bar.set_length(100);
        self.bar.set_position((done * 100.0) as u64);
        self.bar.set_prefix(format!(
            "{}, {} left{}",
            percent(done),
            seconds(progress.remaining),
            certain(progress.latest)
        ));
        self.bar.set_message(latest_figures(progress.latest, progress.elapsed));
    }

    fn warning(&mut self, remark: &RunRemark) {
        self.bar.suspend(|| output::message(format_args!("{remark}")));
    }
}

/// Reading more documents than this is announced at once.
const MANY: usize = 200;
/// Reading for longer than this is announced.
const LONG: Duration = Duration::from_secs(2);

struct Documents {
    began: Instant,
    bar: Option<ProgressBar>,
}

/// Shows progress of reading many documents: a bar on a terminal, else a line at the start; and
/// their number and rate at the end.
pub(crate) fn reading(now: ReadingProgress) {
    static STATE: Mutex<Option<Documents>> = Mutex::new(None);
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    let documents = match &mut *state {
        Some(documents) if now.done > 1 => documents,
        other => other.insert(Documents { began: Instant::now(), bar: None }),
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
        output::message(format_args!(
            "read {} documents in {:.1} s ({:.0} per second)",
            now.of,
            took.as_secs_f64(),
            now.of as f64 / took.as_secs_f64().max(1e-3)
        ));
        *state = None;
    }
}

fn bar_of_documents(count: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        output::message(format_args!("reading {count} documents"));
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

/// How many figures there are so far, and how many of them hold.
fn certain(latest: &[Latest]) -> String {
    let ok = latest.iter().filter(|one| one.estimate.verdict == Verdict::Ok);
    match latest.len() {
        0 => String::new(),
        all => format!(", {} of {} so far ok", ok.count(), counted(all, "figure")),
    }
}

/// Figures so far of a few rows, others in each second: rows of a run are
/// measured in turns, so that all are under way until its end.
fn latest_figures(latest: &[Latest], elapsed: Duration) -> String {
    let rows = latest.iter().filter(|one| one.key.at.is_empty());
    let known: Vec<String> = rows
        .filter_map(|one| {
            let f = figure_in_unit(&one.estimate.ns()?, &one.unit);
            let name = &one.key.id;
            Some(format!("{name} {}", f.number_and_half().join(" ")))
        })
        .collect();
    let from = (elapsed.as_secs() as usize * SHOWN) % known.len().max(1);
    let shown: Vec<&str> =
        known.iter().cycle().skip(from).take(SHOWN.min(known.len())).map(String::as_str).collect();
    shown.join("   ")
}
