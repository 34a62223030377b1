//! When the runs of commands end.

use crate::arguments::exec::TimingOptions;
use meter::commands::repeat::{ALONE, COMPARED, PRECISE};
use model::command::Rule;
use model::sequential::Question;
use std::time::Duration;

/// When the runs of so many commands end, of which this is asked.
pub(in crate::command) fn rule(
    options: &TimingOptions,
    commands: usize,
    question: Option<Question>,
) -> Rule {
    let usual = match commands {
        1 => ALONE,
        _ => Rule { question, ..COMPARED },
    };
    let usual = match options.precise {
        true => Rule { question: usual.question, ..PRECISE },
        false => usual,
    };
    let budget_ms = options.budget.map(|time| time.as_millis() as u64 / commands as u64);
    let most_ms = budget_ms.unwrap_or(usual.most_ms);
    Rule {
        runs: options.runs,
        least_runs: options.min_runs.min(options.max_runs),
        least_ms: usual.least_ms.min(most_ms),
        most_ms,
        most_runs: options.max_runs.max(options.min_runs),
        ..usual
    }
}

/// How long the runs will take, of which a round takes so long; nothing where that is not known.
pub(super) fn expected_time(rule: &Rule, commands: usize, round: Option<Duration>) -> Duration {
    let round = round.unwrap_or_default();
    match rule.runs {
        Some(runs) => round * runs,
        None => (round * rule.least_runs)
            .max(Duration::from_millis(rule.least_ms.saturating_mul(commands as u64))),
    }
}
