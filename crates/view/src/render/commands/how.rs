//! How commands were run: rounds, page cache, controls, streams.

use super::command_row;
use model::command::{Command, Commands, Ended, PageCache, Rule};
use model::noise::applied::Applied;
use model::phrases::counted;
use model::run::{Row, Run};
use model::sequential::Question;
use model::share::limit;
use model::story::Block;

/// How they were run.
pub(crate) fn how(run: &Run, record: &Commands) -> Vec<Block> {
    vec![
        Block::fact("runs", runs_text(run, record)),
        Block::fact("page cache", page_cache(record)),
        Block::fact("controls", controls(record, run.conditions.applied.as_ref())),
        Block::fact("streams", format!("input {}, output {}", record.input, record.output)),
    ]
}

fn runs_text(run: &Run, record: &Commands) -> String {
    let warmups = match record.warmups {
        0 => "no warm-up".into(),
        1 => "1 warm-up each, not counted".into(),
        n => format!("{n} warm-ups each, not counted"),
    };
    let timed = timed(run, record);
    format!("{timed}; {warmups}; {}", ended(record.ended, &record.rule))
}

/// How many runs were timed.
pub(super) fn timed(run: &Run, record: &Commands) -> String {
    let counts: Vec<usize> = record.commands.iter().map(|command| samples(run, command)).collect();
    match counts.as_slice() {
        [one] => format!("{} timed", counted(*one, "run")),
        several => {
            let rounds = several.iter().min().copied().unwrap_or(0);
            format!("{rounds} rounds of {} commands, interleaved", several.len())
        }
    }
}

/// Timed runs of a command.
fn samples(run: &Run, command: &Command) -> usize {
    command_row(run, command, "wall")
        .and_then(Row::estimate)
        .and_then(|e| e.typical)
        .map_or(0, |t| t.samples as usize)
}

fn ended(ended: Ended, rule: &Rule) -> String {
    let mut parts = vec![format!(
        "rule per command: at least {} runs and {:.1} s",
        rule.least_runs,
        rule.least_ms as f64 / 1e3
    )];
    if let Some(half) = rule.half_width {
        parts.push(format!("until half of the interval is at most {}", limit(half)));
    }
    parts.extend(rule.question.map(|question| match question {
        Question::Faster { within } => {
            format!("until each ratio's interval excludes 1 or lies within {} of it", limit(within))
        }
        Question::Regression { above, .. } => {
            format!("until the ratio's interval lies on one side of +{}", limit(above))
        }
    }));
    parts.push(format!("at most {:.1} s or {} runs", rule.most_ms as f64 / 1e3, rule.most_runs));
    let rule_text = parts.join(", ").replace(".0 s", " s");
    match ended {
        Ended::AsAsked => "fixed number of runs".into(),
        Ended::Narrow => format!("ended with narrow intervals ({rule_text})"),
        Ended::Decided => format!("ended when the comparison was decided ({rule_text})"),
        Ended::Enough => format!("ended after the least time ({rule_text})"),
        Ended::AtTheLimit => match rule.half_width {
            Some(half) => format!(
                "ended at the limit, with intervals wider than {} ({rule_text})",
                limit(half)
            ),
            None => format!("ended at the limit ({rule_text})"),
        },
        Ended::Interrupted => "interrupted".into(),
    }
}

pub(super) fn page_cache(record: &Commands) -> String {
    match &record.page_cache {
        PageCache::Warm if record.warmups > 0 => {
            "warm: the warm-up and the previous run read the same files".into()
        }
        PageCache::Warm => "warm except in the first run: no warm-up".into(),
        PageCache::Cold => "cold: sync and drop_caches before each run".into(),
        PageCache::ColdFiles { files, stayed_pages, untold } => {
            let mut found = Vec::new();
            match stayed_pages {
                0 if untold.is_empty() => found.push("no page of them stayed".into()),
                0 if untold.len() < files.len() => {
                    found.push("no page of the others stayed".into())
                }
                0 => {}
                n => found.push(format!("NOT ALL COLD: up to {n} of their pages stayed in memory")),
            }
            if !untold.is_empty() {
                found.insert(
                    0,
                    format!(
                        "what stayed of {} is unknown: the kernel shows it only to the owner or a writer \
                         of the file",
                        untold.join(", ")
                    ),
                );
            }
            let stayed = found.join("; ");
            format!(
                "cold for {}, dropped before each run ({stayed}); warm for everything else",
                files.join(", ")
            )
        }
    }
}

fn controls(record: &Commands, applied: Option<&Applied>) -> String {
    let controls = &record.controls;
    let mut parts = Vec::new();
    match (controls.pinned_cpu, controls.observer_apart) {
        (Some(cpu), true) => parts.push(format!("pinned to CPU {cpu}; latlas runs on other CPUs")),
        (Some(cpu), false) => {
            parts.push(format!("pinned to CPU {cpu}, shared with latlas (the only CPU)"))
        }
        (None, _) => parts.push(
            "not pinned; no CPU reserved for latlas, which sleeps while a command runs".into(),
        ),
    }
    match applied {
        Some(applied) => parts.extend(applied.in_force()),
        // Documents before schema 4.
        None => parts.extend(controls.nice.map(|nice| format!("nice {nice}"))),
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::noise::applied::Settings;
    use model::synthetic;

    #[test]
    fn the_page_says_whether_a_cpu_is_kept_for_latlas() {
        let run = synthetic::run_of_commands();
        let mut record = run.commands.expect("commands");
        assert!(controls(&record, None).contains("latlas runs on other CPUs"));
        record.controls.pinned_cpu = None;
        assert!(controls(&record, None).contains("no CPU reserved for latlas"));
    }

    #[test]
    fn the_page_says_what_the_commands_were_granted() {
        let mut record = synthetic::run_of_commands().commands.expect("commands");
        record.controls.nice = Some(-7);
        assert!(controls(&record, None).ends_with("; nice -7"));
        let settings = Settings { nice: Some(-7), autogroup: Some(-3), ..Settings::default() };
        let applied = Applied::new(settings.clone(), settings);
        let text = controls(&record, Some(&applied));
        assert!(text.ends_with("; nice -7; autogroup nice -3"), "{text}");
    }

    #[test]
    fn what_can_not_be_told_of_cold_files_is_said() {
        let mut record = synthetic::run_of_commands().commands.expect("commands");
        let mut said = |pages: u64, untold_of_two: &[&str]| {
            record.page_cache = PageCache::ColdFiles {
                files: vec!["a".into(), "b".into()],
                stayed_pages: pages,
                untold: untold_of_two.iter().map(ToString::to_string).collect(),
            };
            page_cache(&record)
        };
        assert!(said(0, &[]).contains("(no page of them stayed)"));
        assert!(said(2, &[]).contains("(NOT ALL COLD: up to 2 of"));
        let whose = "the kernel shows it only to the owner or a writer of the file";
        for (pages, untold, expected) in [
            (0, &["a", "b"][..], format!("(what stayed of a, b is unknown: {whose})")),
            (
                0,
                &["b"],
                format!("(what stayed of b is unknown: {whose}; no page of the others stayed)"),
            ),
            (2, &["b"], format!("(what stayed of b is unknown: {whose}; NOT ALL COLD: up to 2 of")),
        ] {
            let said = said(pages, untold);
            assert!(said.contains(&expected), "{said}");
        }
    }
}
