//! Commands: what each cost, in the manner of `perf stat`, and each beside
//! the first.

use super::figures::{Shown, set, shown, trimmed};
use crate::grouped::grouped;
use model::command::{Command, Commands, Compared, Ended, PageCache, Rule};
use model::compare::finding::Finding;
use model::estimate::{Estimate, Verdict};
use model::figure::{decimals, in_scale, plain_zero, scale_of};
use model::noise::applied::Applied;
use model::repeats;
use model::run::{Outcome, Row, Run};
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left, right};
use model::unit::Unit;

/// A line of a command: row, name in the table, and the row that stands beside
/// it with what follows its figure.
type Line = (
    &'static str,
    &'static str,
    Option<(&'static str, &'static str)>,
);

/// The lines of a command.
const LINES: [Line; 15] = [
    ("wall", "wall", None),
    ("start", "  start", None),
    ("user", "user", None),
    ("system", "system", None),
    (
        "task_clock",
        "task-clock",
        Some(("cpus_utilised", "CPUs utilised")),
    ),
    ("peak_memory", "peak memory", None),
    ("context_switches", "context-switches", None),
    ("voluntary_switches", "  voluntary", None),
    ("involuntary_switches", "  involuntary", None),
    ("cpu_migrations", "cpu-migrations", None),
    ("faults", "page-faults", None),
    ("minor_faults", "  minor", None),
    ("major_faults", "  major", None),
    ("cycles", "cycles", Some(("frequency", "GHz"))),
    ("instructions", "instructions", None),
];

/// All commands, and what they say of each other.
pub(super) fn commands(run: &Run, record: &Commands) -> Vec<Vec<Block>> {
    let mut blocks = vec![how(run, record)];
    for (k, command) in record.commands.iter().enumerate() {
        blocks.push(block(run, record, k, command));
    }
    blocks.push(compared(record));
    blocks
}

/// How they were run.
pub(super) fn how(run: &Run, record: &Commands) -> Vec<Block> {
    vec![
        Block::fact("runs", runs(run, record)),
        Block::fact("page cache", page_cache(record)),
        Block::fact(
            "controls",
            controls(record, run.conditions.applied.as_ref()),
        ),
        Block::fact(
            "streams",
            format!("input {}, output {}", record.input, record.output),
        ),
    ]
}

fn runs(run: &Run, record: &Commands) -> String {
    let counts: Vec<usize> = record
        .commands
        .iter()
        .map(|command| samples(run, command))
        .collect();
    let timed = match counts.as_slice() {
        [one] => format!("{one} timed"),
        several => {
            let rounds = several.iter().min().copied().unwrap_or(0);
            format!("{rounds} rounds of {} commands, interleaved", several.len())
        }
    };
    let warmups = match record.warmups {
        0 => "no warm-up".into(),
        1 => "1 warm-up each, not counted".into(),
        n => format!("{n} warm-ups each, not counted"),
    };
    format!("{timed}; {warmups}; {}", ended(record.ended, &record.rule))
}

/// Timed runs of a command.
fn samples(run: &Run, command: &Command) -> usize {
    row(run, command, "wall")
        .and_then(Row::estimate)
        .and_then(|e| e.typical)
        .map_or(0, |t| t.samples as usize)
}

fn ended(ended: Ended, rule: &Rule) -> String {
    let rule_text = format!(
        "rule per command: at least {} runs and {} s, until half of the interval is at most {:.0} %, \
         at most {} s or {} runs",
        rule.least_runs,
        rule.least_ms / 1000,
        rule.half_width * 100.0,
        rule.most_ms / 1000,
        rule.most_runs
    );
    match ended {
        Ended::AsAsked => "fixed number of runs".into(),
        Ended::Narrow => format!("ended with narrow intervals ({rule_text})"),
        Ended::AtTheLimit => format!(
            "ended at the limit, with intervals wider than {:.0} % ({rule_text})",
            rule.half_width * 100.0
        ),
        Ended::Interrupted => "interrupted".into(),
    }
}

fn page_cache(record: &Commands) -> String {
    match &record.page_cache {
        PageCache::Warm if record.warmups > 0 => {
            "warm: the warm-up and the previous run read the same files".into()
        }
        PageCache::Warm => "warm except in the first run: no warm-up".into(),
        PageCache::Cold => "cold: sync and drop_caches before each run".into(),
        PageCache::ColdFiles {
            files,
            stayed_pages,
            untold,
        } => {
            let mut found = Vec::new();
            match stayed_pages {
                0 if untold.is_empty() => found.push("no page of them stayed".into()),
                0 if untold.len() < files.len() => {
                    found.push("no page of the others stayed".into())
                }
                0 => {}
                n => found.push(format!(
                    "NOT ALL COLD: up to {n} of their pages stayed in memory"
                )),
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
        (Some(cpu), false) => parts.push(format!(
            "pinned to CPU {cpu}, shared with latlas (the only CPU)"
        )),
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

/// One command's figures.
fn block(run: &Run, record: &Commands, k: usize, command: &Command) -> Vec<Block> {
    let shell = if command.shell.is_some() {
        " (in a shell)"
    } else {
        ""
    };
    let label = format!("exec.{}  ", command.name);
    let text = format!("{}{shell}", command.text());
    let mut blocks = vec![Block::labelled(label, text)];
    blocks.extend(facts(record, k, command).into_iter().map(Block::note));
    let mut table = Table::new([
        left(""),
        right("median ±"),
        left("10-90 %"),
        left("range"),
        left(""),
        left("verdict"),
    ]);
    let mut missing: Vec<(&str, &str)> = Vec::new();
    for (name, title, other) in LINES {
        let Some(row) = row(run, command, name) else {
            continue;
        };
        match &row.outcome {
            Outcome::Unavailable { reason } => missing.push((reason, title.trim())),
            _ => line(&mut table, run, command, row, title, other),
        }
    }
    for (reason, names) in grouped(missing) {
        let label = format!(" {}  ", names.join(", "));
        table.note(label, format!("not available here: {reason}"));
    }
    blocks.push(Block::Table(table));
    blocks
}

fn facts(record: &Commands, k: usize, command: &Command) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(check) = &command.checked_by {
        facts.push(format!("output in the warm-up checked by {check:?}"));
    }
    if command.failures > 0 {
        facts.push(format!(
            "{} runs FAILED; they are counted",
            command.failures
        ));
    }
    if k == 0 && record.commands.len() > 1 {
        facts.push("the reference for the other commands".into());
    }
    facts
}

fn row<'r>(run: &'r Run, command: &Command, name: &str) -> Option<&'r Row> {
    run.row(&format!("exec.{}/{name}", command.name))
}

fn line(
    table: &mut Table,
    run: &Run,
    command: &Command,
    row: &Row,
    name: &str,
    beside: Option<(&str, &str)>,
) {
    let Some(estimate) = row.estimate() else {
        return;
    };
    let mut cells: Vec<Cell> = vec![format!(" {name}").into()];
    cells.extend(figures(estimate, &row.unit, &values(run, &row.id)));
    let mut under = vec![];
    let beside = beside.and_then(|(other, words)| {
        let other = self::row(run, command, other)?;
        if let Outcome::Unavailable { reason } = &other.outcome {
            under.push(format!("no {words}: {reason}"));
        }
        let ns = other.estimate()?.ns()?;
        Some(format!("{} {words}", set(&ns, &other.unit).value))
    });
    cells.push(beside.unwrap_or_default().into());
    cells.push(Cell::from(estimate.verdict.text()).toned(estimate.verdict));
    table.row(cells);
    if estimate.verdict != Verdict::Ok {
        under.push(estimate.reason.clone());
    }
    if row.unit == Unit::Time && name == "wall" {
        let outliers = repeats::outliers(&values(run, &row.id));
        if outliers > 0 {
            let plural = if outliers == 1 { "" } else { "s" };
            under.push(format!("{outliers} outlier{plural}, kept"));
        }
    }
    for text in under.into_iter().filter(|text| !text.is_empty()) {
        table.note("      └ ", text);
    }
}

/// Median, half of its interval, quantiles and range, all in one scale.
fn figures(estimate: &Estimate, unit: &Unit, values: &[f64]) -> [Cell; 3] {
    let Some(typical) = estimate.typical else {
        return ["-", "", ""].map(Cell::from);
    };
    let value = unit.of_ns(typical.ns.value);
    let half = match unit.inverted() {
        true => value.abs() * typical.ns.relative_half_width(),
        false => typical.ns.half_width(),
    };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // One scale for all: that of the larger, where the median is near 0. Where
    // nine of ten are 0, what is not has the only scale there is.
    let largest = match value.abs().max(unit.of_ns(typical.p90_ns).abs()) {
        0.0 if most.is_finite() => unit.of_ns(most).abs(),
        largest => largest,
    };
    let (scale, name) = scale_of(unit, largest);
    let [median, half] = in_scale(unit, value, half, scale);
    let number = |v: f64| {
        let v = unit.of_ns(v);
        plain_zero(match *unit == Unit::Count && scale == 1.0 {
            // Between two whole numbers of events.
            true => format!("{v:.*}", usize::from(v.fract() != 0.0)),
            false => format!("{:.*}", decimals(v / scale, 0.0), v / scale),
        })
    };
    let range = |low: f64, high: f64| match unit.inverted() {
        true => (number(high), number(low)),
        false => (number(low), number(high)),
    };
    let (p10, p90) = range(typical.p10_ns, typical.p90_ns);
    let ends = match least <= most {
        true => {
            let (low, high) = range(least, most);
            format!("{low} to {high}")
        }
        false => String::new(),
    };
    if let Shown::Below(text) = shown(estimate, unit) {
        // What some runs took all the same.
        let (range, ends) = match value == 0.0 && most > 0.0 {
            true => (format!("[{p10}-{p90}]"), format!("{ends} {name}")),
            false => (String::new(), String::new()),
        };
        return [text, range, ends].map(Cell::from);
    }
    [
        Cell::digits([format!("{median} {name:<3}"), format!("±{half}")]),
        format!("[{p10}-{p90}]").into(),
        ends.into(),
    ]
}

/// The values behind a row.
fn values(run: &Run, id: &str) -> Vec<f64> {
    run.cells
        .iter()
        .filter(|cell| cell.row == id)
        .filter_map(|cell| Some((cell.ops_per_turn, cell.samples.samples().ok()?)))
        .flat_map(|(ops, samples)| {
            samples
                .into_iter()
                .map(move |s| s.ns_per_op(ops, run.clock.ns_per_tick))
        })
        .collect()
}

/// Each command beside the first.
pub(super) fn compared(record: &Commands) -> Vec<Block> {
    let Some(first) = record
        .commands
        .first()
        .filter(|_| !record.compared.is_empty())
    else {
        return Vec::new();
    };
    let heading = format!(
        "relative to {}: median of the ratios of {} rounds with its interval; same only if that lies \
         within {} % of 1",
        first.name,
        record.compared[0].rounds,
        trimmed(record.margin * 100.0)
    );
    let mut table = Table::new(["", "", "", ""].map(left));
    for one in &record.compared {
        table.row([
            format!(" {}", one.name).into(),
            one.row.replace('_', "-").into(),
            one.ratio.as_ref().map_or("-".into(), ratio).into(),
            Cell::from(word(one)).toned(match one.word {
                Finding::CannotTell => Tone::Doubtful,
                _ => Tone::Good,
            }),
        ]);
    }
    let others = record.commands.len() - 1;
    let level = 100.0 - 5.0 / others.max(1) as f64;
    let together = match others {
        0 | 1 => "Intervals of 95 %, for each row separately.".into(),
        _ => format!(
            "Intervals of {level:.1} %, so that all intervals of a row hold together in 95 % of \
             such runs (Bonferroni)."
        ),
    };
    vec![
        Block::text(heading),
        Block::Table(table),
        Block::text(together),
    ]
}

fn ratio(r: &Interval) -> String {
    format!("{:.3} [{:.3}, {:.3}]", r.value, r.low, r.high)
}

/// The word, with the direction where there is one.
fn word(one: &Compared) -> String {
    let direction = match (&one.ratio, one.row.as_str()) {
        (Some(r), "peak_memory") if r.value > 1.0 => ": more",
        (Some(_), "peak_memory") => ": less",
        (Some(r), _) if r.value > 1.0 => ": slower",
        _ => ": faster",
    };
    match one.word {
        Finding::Different => format!("{}{direction}", one.word.text()),
        _ => one.word.text().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::noise::applied::Settings;
    use model::synthetic;

    #[test]
    fn a_range_has_a_scale_though_the_median_is_0() {
        let mut values = vec![0.0; 29];
        values.push(850_000.0);
        let estimate = repeats::estimate(&values, &Unit::Time, 0.0);
        let text: String = figures(&estimate, &Unit::Time, &values)
            .map(|cell| cell.text())
            .concat();
        assert!(text.contains("850") && text.contains("µs"), "{text}");
        assert!(!text.contains("850000"), "{text}");
    }

    #[test]
    fn a_frequency_that_is_missing_says_why_beside_its_cycles() {
        let mut run = synthetic::run_of_commands();
        let frequency = run.rows.iter_mut().find(|r| r.id == "exec.grep/frequency");
        frequency.expect("a row").outcome = Outcome::Unavailable {
            reason: "cycles of user mode alone".into(),
        };
        let record = run.commands.clone().expect("commands");
        let text = crate::terminal::plain(&block(&run, &record, 0, &record.commands[0]));
        assert!(
            text.contains("└ no GHz: cycles of user mode alone"),
            "{text}"
        );
        assert!(!text.contains("2.71"), "{text}");
    }

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
        let settings = Settings {
            nice: Some(-7),
            autogroup: Some(-3),
            ..Settings::default()
        };
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
            (
                0,
                &["a", "b"][..],
                format!("(what stayed of a, b is unknown: {whose})"),
            ),
            (
                0,
                &["b"],
                format!("(what stayed of b is unknown: {whose}; no page of the others stayed)"),
            ),
            (
                2,
                &["b"],
                format!("(what stayed of b is unknown: {whose}; NOT ALL COLD: up to 2 of"),
            ),
        ] {
            let said = said(pages, untold);
            assert!(said.contains(&expected), "{said}");
        }
    }
}
