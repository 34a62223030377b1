//! The line of progress.

use meter::commands::repeat::{self, RepeatProgress};
use model::command::Rule;
use model::figure::time;
use model::repeats;
use model::share;

/// How many runs there are, and what they say by now.
pub(super) fn so_far(progress: &RepeatProgress, rule: &Rule) -> String {
    let walls: Vec<Vec<f64>> = progress.runs.iter().map(|r| repeat::walls_ns(r)).collect();
    let figures: Vec<String> = walls
        .iter()
        .map(|w| {
            let median = model::stats::median(w.iter().copied()).unwrap_or(0.0);
            match repeats::relative_half_width(w) {
                half if half.is_finite() => format!("{} {}", time(median), share::half(half)),
                _ => time(median),
            }
        })
        .collect();
    let most_s = rule.most_ms * walls.len() as u64 / 1000;
    let [of_runs, of_time] = match rule {
        Rule { runs: Some(runs), .. } => [format!(" of {runs}"), String::new()],
        Rule { half_width: None, question: None, .. } => {
            [String::new(), format!(" of {}", rule.least_ms / 1000)]
        }
        _ => [String::new(), format!(" of at most {most_s}")],
    };
    format!(
        "{}{of_runs} runs, {:.0}{of_time} s: {}",
        walls[0].len(),
        progress.measuring_ms as f64 / 1e3,
        figures.join("  ")
    )
}
