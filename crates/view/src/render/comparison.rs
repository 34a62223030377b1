//! A comparison as text: what was compared, what differs, the rows, and how to
//! read them.

use super::figures::{counted, cycle_count, digits, published_time};
use super::joined;
use super::table::{group_of, in_group};
use crate::chart::{of_comparison, of_slopes};
use crate::grouped::grouped;
use compare::obstacle::brief;
use compare::{ComparedRow, Comparison, Direction, Ends, RunFacts, SideFacts, SideFigure};
use model::compare::finding::Verdict;
use model::compare::measure::Measure;
use model::compare::multiplicity::Family;
use model::figure::figure_in_unit;
use model::phrases::{several, short_id};
use model::share::{limit, percent};
use model::stats::{self, Interval};
use model::story::{Block, Cell, Link, Table, Tone, left, right};
use model::unit::Unit;
use model::utc;
use std::collections::HashSet;

/// Runs of a pooled side that are named one by one.
const NAMED: usize = 3;

/// The comparison as text; `wide` adds points, reasons and what only one side
/// has.
pub fn comparison(comparison: &Comparison, wide: bool) -> Vec<Block> {
    let detail = if wide { Detail::All } else { Detail::Figures };
    let mut parts = vec![
        summary(comparison),
        // Beside each other where a page is wide enough.
        forest(comparison).into_iter().chain(slopes(comparison).filter(|_| wide)).collect(),
        header(comparison),
        comparison_tables(&comparison.rows, detail),
    ];
    if wide {
        let points = comparison_tables(&comparison.points, detail);
        if !comparison.points.is_empty() {
            parts.push([vec![Block::Heading("Points of curves".into())], points].concat());
        }
    }
    parts.push(footer(comparison, wide));
    joined(parts)
}

/// The answer in a sentence, then the largest change of each topic.
pub fn summary(c: &Comparison) -> Vec<Block> {
    let mut blocks = vec![Block::text(headline(&c.rows))];
    let changed = c.rows.iter().filter(|row| row.finding == Verdict::Different);
    let topics = grouped(changed.map(|row| (group_of(&row.id), row)));
    let size = |row: &ComparedRow| row.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    let mut largest: Vec<(&str, usize, &ComparedRow)> = topics
        .into_iter()
        .filter_map(|(topic, rows)| {
            let most = rows.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)))?;
            Some((topic, rows.len(), most))
        })
        .collect();
    largest.sort_by(|a, b| size(b.2).total_cmp(&size(a.2)));
    if largest.is_empty() {
        return blocks;
    }
    let mut table = Table::new([
        left("topic"),
        right("differ"),
        left("largest change"),
        right("B/A"),
        left(""),
    ]);
    for (topic, differ, row) in largest {
        let [ratio, _] = ratio_columns(row);
        table.row([
            topic.into(),
            differ.to_string().into(),
            Cell::from(row.name()).to(Link::Row { id: row.id.clone(), at: row.at.clone() }),
            ratio.into(),
            row.direction.map_or("", Direction::text).into(),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks
}

/// `3 of 90 rows differ (2 slower, 1 faster), 7 are inconclusive, 80 the same within noise.`
fn headline(rows: &[ComparedRow]) -> String {
    let count = |finding: Verdict| rows.iter().filter(|row| row.finding == finding).count();
    let ways = [Direction::Slower, Direction::Faster, Direction::More, Direction::Less];
    let ways = ways.into_iter().filter_map(|way| {
        let count = rows.iter().filter(|row| row.direction == Some(way)).count();
        (count > 0).then(|| format!("{count} {}", way.text()))
    });
    let ways = ways.collect::<Vec<_>>().join(", ");
    let ways = if ways.is_empty() { ways } else { format!(" ({ways})") };
    let differ = if rows.len() == 1 { "differs" } else { "differ" };
    let untold = match count(Verdict::CannotTell) {
        0 => String::new(),
        1 => ", 1 is inconclusive".into(),
        n => format!(", {n} are inconclusive"),
    };
    let same = match count(Verdict::SameWithinNoise) {
        0 => String::new(),
        n => format!(", {n} the same within noise"),
    };
    let (different, all) = (count(Verdict::Different), counted(rows.len(), "row"));
    format!("{different} of {all} {differ}{ways}{untold}{same}.")
}

/// The picture of its rows; none where no row has a ratio.
pub fn forest(c: &Comparison) -> Option<Block> {
    let has_ratio = c.rows.iter().any(|row| row.ratio.is_some());
    has_ratio.then(|| Block::chart(of_comparison(c, &c.rows)))
}

/// The times of both sides, old and new.
fn slopes(c: &Comparison) -> Option<Block> {
    of_slopes(c, [&c.a.name, &c.b.name]).map(Block::chart)
}

/// What was compared, and in what it differs.
pub fn header(c: &Comparison) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (letter, side) in [("A", &c.a), ("B", &c.b)] {
        let mut seen = HashSet::new();
        let warnings = side.runs.iter().flat_map(|run| &run.warnings);
        let warnings = warnings.filter(|warning| seen.insert(warning.as_str()));
        blocks.extend(warnings.map(|w| Block::warning("", format!("{letter} {w}."))));
    }
    let mut fact = |label: &str, text: &str| blocks.push(Block::fact(label, text));
    fact("A", &side(&c.a));
    fact("B", &side(&c.b));
    let mut machines: Vec<&str> =
        [&c.a, &c.b].iter().filter_map(|side| Some(side.runs.first()?.machine.as_str())).collect();
    machines.dedup();
    match machines.as_slice() {
        [both] if !c.a.runs.is_empty() && !c.b.runs.is_empty() => fact("machine", both),
        [one] => fact("machine", one),
        _ => {}
    }
    for d in &c.differences {
        fact(&differs(d.what), &format!("{} -> {}", d.a, d.b));
    }
    if !c.a.runs.is_empty() && !c.b.runs.is_empty() {
        match (c.differences.is_empty(), c.unknown_on_both.is_empty()) {
            (true, true) => {
                fact("differs", "nothing known: machine, kernel, program and plan are the same")
            }
            (true, false) => fact("differs", "nothing known"),
            (false, _) => {}
        }
        if !c.unknown_on_both.is_empty() {
            let what = c.unknown_on_both.join(", ");
            let text = format!("on both sides, may differ: {what}");
            fact("unknown", &text);
        }
        fact("core-bound", &c.method.cycles);
    }
    for text in &c.method.normalized {
        fact("normalized", text);
    }
    fact("runs vary", &between(c));
    blocks
}

fn differs(what: &str) -> String {
    format!("  {what}  ")
}

fn side(side: &SideFacts) -> String {
    if let Some(published) = &side.published {
        return format!("{}: {published}", side.name);
    }
    let runs: Vec<String> = side.runs.iter().take(NAMED).map(run_text).collect();
    let runs = runs.join("; ");
    match side.runs.len() {
        1 => format!("{}: {runs}", side.name),
        count => {
            let more = match count > NAMED {
                true => format!("; and {} more", count - NAMED),
                false => String::new(),
            };
            format!("{}: the mean of {count} runs: {runs}{more}", side.name)
        }
    }
}

fn run_text(run: &RunFacts) -> String {
    let short = short_id(&run.id);
    let when = match (&run.imported, run.started_unix_ms) {
        (Some(imported), _) => imported.clone(),
        (None, Some(started)) => utc::readable_utc(started),
        (None, None) => "time unknown".into(),
    };
    let mut text = format!("{short}, {when}");
    if let Some(clock) = run.core_clock_ghz {
        text += &format!(", {clock:.2} GHz");
    }
    if let Some([before, after]) = run.load {
        text += &format!(", load {before:.2} before, {after:.2} after");
    }
    text
}

/// How it is known what runs differ by.
fn between(c: &Comparison) -> String {
    let measured = [&c.a, &c.b].iter().any(|side| !side.runs.is_empty());
    let groups: Vec<String> = c.method.kept_runs.iter().map(usize::to_string).collect();
    match groups.as_slice() {
        _ if !measured => "unknown on both sides: ratios without an interval".into(),
        [] => {
            "no similar stored runs: the variation between runs beyond their own intervals is assumed \
               (`latlas help compare`); two or more stored runs replace it"
                .into()
        }
        groups => format!(
            "variation between runs beyond their own intervals from up to {} stored runs under equal \
             conditions, and as assumed (`latlas help compare`)",
            groups.join(" and ")
        ),
    }
}

/// What stands in a table of compared rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The figures and the finding.
    Figures,
    /// Why no more can be said of a row, too.
    Reasons,
    /// And the smallest change that would be found.
    All,
}

/// The rows, a table for each group.
pub fn comparison_tables(rows: &[ComparedRow], detail: Detail) -> Vec<Block> {
    // A published table's rows come in an order of their own.
    let groups = grouped(rows.iter().map(|row| (group_of(&row.id), row)));
    let tables = groups.into_iter().map(|(group, rows)| {
        let columns =
            [left(group), right("A ±"), right("B ±"), right("B/A"), left("95 %"), left("finding")];
        let mut table = Table::new(ordered(columns, detail));
        for row in rows {
            table.row(ordered(comparison_cells(row), detail));
            let detectable = row.detectable.filter(|_| detail == Detail::All);
            let detectable = detectable.map(|change| {
                format!("a change of {} is detected in 80 % of cases", percent(change))
            });
            let whys = row.why.iter().filter(|_| detail != Detail::Figures);
            for text in detectable.into_iter().chain(whys.map(ToString::to_string)) {
                table.note("      └ ", &text);
            }
        }
        table
    });
    vec![Block::Tables(tables.collect())]
}

/// The finding, the last, behind the name where reasons are looked for.
fn ordered<T>(mut cells: [T; 6], detail: Detail) -> [T; 6] {
    if detail == Detail::Reasons {
        cells[1..].rotate_right(1);
    }
    cells
}

fn comparison_cells(row: &ComparedRow) -> [Cell; 6] {
    let [ratio, interval] = ratio_columns(row);
    let side = |side: &SideFigure| match quantity(side, row) {
        [value, half] if half.is_empty() => value.into(),
        parts => Cell::digits(parts),
    };
    [
        Cell::from(format!(" {}", name_below_heading(row)))
            .to(Link::Row { id: row.id.clone(), at: row.at.clone() }),
        side(&row.a),
        side(&row.b),
        ratio.into(),
        interval.into(),
        Cell::from(answer(row)).toned(tone(row.finding)),
    ]
}

/// The ratio, and its interval or why there is none.
pub(crate) fn ratio_columns(row: &ComparedRow) -> [String; 2] {
    let Some(ratio) = &row.ratio else {
        return ["-".into(), String::new()];
    };
    let (half, interval) = match ratio.interval_ends() {
        Ends::NoSpread => (0.0, "no spread".into()),
        Ends::TooWide => (f64::INFINITY, "too wide".into()),
        Ends::At([low, high]) => {
            let half = (high - low) / 2.0;
            let ends = [low, high].map(|end| digits(end, half)).join(", ");
            (half, format!("[{ends}]"))
        }
    };
    [digits(ratio.value, half), interval]
}

/// Row, point and mode below the group's heading.
fn name_below_heading(row: &ComparedRow) -> String {
    if let Some(mode) = &row.mode {
        return format!("  └ {mode}{}", compared_by(row));
    }
    let at: Vec<String> = row.at.iter().map(u64::to_string).collect();
    let name = match at.is_empty() {
        true => in_group(&row.id).to_owned(),
        false => format!("{} {}", in_group(&row.id), at.join("x")),
    };
    name + &compared_by(row)
}

/// Which figure of a distribution is compared, where it is not the median of
/// everything: the 10 % quantile, or the median of one mode.
fn compared_by(row: &ComparedRow) -> String {
    match (row.measure, &row.by_mode) {
        (Some(Measure::TypicalP10), _) => " p10".into(),
        (_, Some(mode)) => format!(" ({mode})"),
        _ => String::new(),
    }
}

/// A side's figure, and half of its interval.
pub(crate) fn quantity(side: &SideFigure, row: &ComparedRow) -> [String; 2] {
    let Some(value) = side.value else {
        return ["-".into(), String::new()];
    };
    let interval =
        Interval { value, low: side.low.unwrap_or(value), high: side.high.unwrap_or(value) };
    if side.low.is_none() {
        let text = match row.unit {
            "ns" => published_time(value),
            unit => format!("{value} {unit}"),
        };
        return [text, "published".into()];
    }
    let [text, half] = measured_text(&interval, row);
    if interval.half_width() > value.abs() { [text, "±?".into()] } else { [text, half] }
}

fn measured_text(interval: &Interval, row: &ComparedRow) -> [String; 2] {
    match (row.measure, row.unit) {
        (Some(Measure::QuietCycles), unit) => {
            let unit = if unit == "cycles" { "cyc" } else { "B/cyc" };
            let [count, half_width] = cycle_count(interval);
            [format!("{count} {unit}"), format!("±{half_width}")]
        }
        (_, "ns" | "bytes" | "") => {
            let unit = match row.unit {
                "ns" => Unit::Time,
                "bytes" => Unit::Bytes,
                _ => Unit::Count,
            };
            figure_in_unit(interval, &unit).number_and_half()
        }
        (_, unit) => {
            let [count, half_width] = cycle_count(interval);
            [format!("{count} {unit}"), format!("±{half_width}")]
        }
    }
}

fn answer(row: &ComparedRow) -> String {
    let text = row.finding.printed();
    match (row.direction, row.finding, brief(&row.why)) {
        (Some(direction), ..) => format!("{text}: {}", direction.text()),
        (None, Verdict::CannotTell, Some("too noisy")) => text.into(),
        (None, Verdict::CannotTell, Some(brief @ "no figure")) => brief.into(),
        (None, Verdict::CannotTell, Some(brief)) => format!("{text}: {brief}"),
        (None, Verdict::CannotTell, None) => match row.detectable {
            Some(change) => format!("{text} < {}", percent(change)),
            None => text.into(),
        },
        _ => text.into(),
    }
}

/// How good an answer it is.
pub(super) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::SameWithinNoise => Tone::Good,
        Verdict::Different => Tone::Bad,
        Verdict::CannotTell => Tone::Doubtful,
    }
}

/// What the gate says, in a line.
pub fn gate_headline(c: &Comparison) -> String {
    let above = limit(c.method.fail_above.unwrap_or_default());
    match c.crossed.len() {
        0 if !c.has_findings() => "inconclusive".into(),
        0 => format!("no regression above {above}"),
        n => format!("REGRESSION above {above} in {n} of {}", counted(c.rows.len(), "row")),
    }
}

/// How many differ, and how to read it.
pub fn footer(c: &Comparison, wide: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut say = |label: &str, text: &str| blocks.push(Block::labelled(label, text));
    if !wide {
        // What did not do its work is said here too.
        let invalid = c.rows.iter().flat_map(|row| row.why.iter().map(move |why| (why, row)));
        let invalid = invalid.filter(|(why, _)| why.is_of_invalid());
        for (why, rows) in grouped(invalid.map(|(why, row)| (why.to_string(), row.name()))) {
            say("", &format!("{why}: {}", several(&rows, NAMED)));
        }
    }
    if !c.points.is_empty() {
        let more = if wide { "" } else { " (--wide shows them)" };
        say("points of curves: ", &format!("{}{more}", verdict_counts(&c.points)));
    }
    for (letter, only) in [("A", &c.only_in_a), ("B", &c.only_in_b)] {
        if !only.is_empty() {
            let names = match wide {
                true => only.join(", "),
                false => format!("{} (--wide names them)", counted(only.len(), "row")),
            };
            say(&format!("only in {letter}: "), &names);
        }
    }
    if let Some(finds) = finds(&c.rows) {
        say("detectable changes: ", &finds);
    }
    if let Some(share) = c.method.fail_above {
        let above = limit(share);
        match c.crossed.is_empty() {
            true => say("gate: ", &format!("no row significantly more than {above} slower")),
            false => say(
                "gate: ",
                &format!(
                    "significantly more than {above} slower (Holm, {}): {}",
                    limit(c.method.level),
                    c.crossed.join(", ")
                ),
            ),
        }
    }
    if c.a.published.is_some() || c.b.published.is_some() {
        say("", PUBLISHED);
    }
    say("", &legend(c));
    blocks
}

/// What this comparison could have found, family by family.
fn finds(rows: &[ComparedRow]) -> Option<String> {
    let mut families: Vec<Family> = rows.iter().map(|row| row.family).collect();
    families.sort();
    families.dedup();
    let of = |family: Family| {
        let own = rows.iter().filter(|row| row.family == family);
        let changes = stats::sorted(own.filter_map(|row| row.detectable));
        let [half, most] = [0.5, 0.9].map(|q| stats::quantile_sorted(&changes, q));
        let (name, count) = (family.printed(), changes.len());
        match count {
            0 => None,
            1 | 2 => Some(format!("{name} {}", percent(most?))),
            _ => Some(format!(
                "{name} {} in half of {count} rows, {} in 90 %",
                percent(half?),
                percent(most?)
            )),
        }
    };
    let all: Vec<String> = families.into_iter().filter_map(of).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

const PUBLISHED: &str = "Figures of published tables have no interval: there it is that of the run alone. Those of a machine's record have \
     what other machines of its kind differ by.";

fn legend(c: &Comparison) -> String {
    format!(
        "different: false discovery rate {} over all rows (Benjamini-Hochberg), so an interval \
         that excludes 1 may still not be significant. same within noise: the interval lies within {} of 1. \
         inconclusive < 9 %: a change of 9 % is detected in 80 % of cases, a smaller one less often. \
         B/A is the ratio of the figures shown (p10: of 10 % quantiles, where they vary less \
         between stored runs); ± half of a figure's 95 % interval. Statistics: `latlas help compare`.",
        limit(c.method.level),
        limit(c.method.margin)
    )
}

fn verdict_counts(rows: &[ComparedRow]) -> String {
    let count = |finding: Verdict| rows.iter().filter(|r| r.finding == finding).count();
    let way = |way: Direction| rows.iter().filter(|r| r.direction == Some(way)).count();
    // Counts and bytes stand only in some runs.
    let counted = match [Direction::More, Direction::Less].map(way) {
        [0, 0] => String::new(),
        [more, less] => format!(", {more} more, {less} less"),
    };
    format!(
        "{} different ({} slower, {} faster{counted}), {} same within noise, {} inconclusive",
        count(Verdict::Different),
        way(Direction::Slower),
        way(Direction::Faster),
        count(Verdict::SameWithinNoise),
        count(Verdict::CannotTell)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{COLUMNS, colored, layout, paint_plain, plain};
    use compare::operand::Operand;
    use compare::references::References;
    use compare::{FigureSource, Options, compare};
    use model::machine::Fact;
    use model::synthetic;

    fn options() -> Options {
        Options { margin: 0.05, fail_above: Some(0.1), normalize: None }
    }

    /// Two runs of unlike machines in which some rows differ.
    fn unlike() -> Comparison {
        let a = synthetic::run();
        let mut b = synthetic::slower(&a, "cpu.add_i32", 2.5);
        b = synthetic::slower(&b, "thread.create_join", 0.5);
        b.machine.cpu_model = Fact::known("Another CPU with a long name".into());
        b.program.emulated = Some("qemu-x86_64".into());
        b.rows.retain(|row| row.id != "cpu.div_i32");
        let [a, b] = [("last~1", a), ("last", b)].map(|(name, run)| Operand::from_run(name, run));
        compare(&a, &b, &[], &|_| true, &options()).expect("shared rows")
    }

    fn widest(text: &str) -> usize {
        text.lines().map(layout::width).max().unwrap_or(0)
    }

    #[test]
    fn the_table_of_a_comparison() {
        let text = plain(&comparison(&unlike(), false));
        insta::assert_snapshot!(text);
        assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
        assert!(!text.contains('\x1b'));
        assert!(colored(&comparison(&unlike(), false)).contains("\x1b[31mdifferent"));
    }

    #[test]
    fn a_comparison_keeps_to_80_columns() {
        let text = paint_plain(&comparison(&unlike(), false), 80);
        insta::assert_snapshot!(text);
        assert!(widest(&text) <= 80, "{} columns", widest(&text));
    }

    #[test]
    fn the_wide_table_names_points_reasons_and_what_is_missing() {
        let text = plain(&comparison(&unlike(), true));
        for part in ["only in A: cpu.div_i32", "latency 1024 ", "└ A invalid", "└ A two states: "]
        {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        let short = plain(&comparison(&unlike(), false));
        assert!(short.contains("only in A: 1 row"), "{short}");
    }

    #[test]
    fn the_table_beside_published_figures() {
        let table = References::embedded().expect("references");
        let table = table.find("2012").expect("a short name").clone();
        let published = Operand { name: "2012".into(), source: FigureSource::Published(table) };
        let run = Operand::from_run("last", synthetic::run());
        let c = compare(&published, &run, &[], &|_| true, &options()).expect("shared rows");
        let text = plain(&comparison(&c, false));
        insta::assert_snapshot!(text);
        assert!(widest(&text) <= COLUMNS, "{} columns", widest(&text));
    }

    #[test]
    fn a_gate_is_named_as_it_was_given() {
        let mut c = unlike();
        c.method.fail_above = Some(0.07);
        assert!(plain(&comparison(&c, false)).contains("more than 7 % slower"));
    }

    #[test]
    fn what_neither_side_says_is_not_called_the_same() {
        let mut run = synthetic::run();
        run.machine.hostname = Fact::unknown("no name");
        let [a, b] = ["a", "b"].map(|name| Operand::from_run(name, run.clone()));
        let c = compare(&a, &b, &[], &|_| true, &options()).expect("shared rows");
        let text = plain(&comparison(&c, false));
        assert!(text.contains("unknown     on both sides, may differ: host\n"), "{text}");
        assert!(!text.contains("plan are the same"), "{text}");
    }

    #[test]
    fn counts_and_bytes_are_more_or_less() {
        let a = synthetic::run_of_commands();
        let b = synthetic::slower(&a, "exec.grep/faults", 2.0);
        let [a, b] = [("a", a), ("b", b)].map(|(name, run)| Operand::from_run(name, run));
        let c = compare(&a, &b, &[], &|_| true, &options()).expect("shared rows");
        let text = plain(&comparison(&c, false));
        assert!(text.contains("different: more\n"), "{text}");
        assert!(text.contains("rows differ (1 more)"));
        assert!(widest(&text) <= COLUMNS, "{text}");
    }

    #[test]
    fn the_ends_of_an_interval_show_their_side_of_one() {
        assert_eq!(digits(1.0312, 0.0207), "1.031");
        assert_eq!(digits(1.31, 0.2), "1.31");
        assert_eq!(digits(2.04, 7.0), "2.0");
        assert_eq!(digits(0.9999, 0.000_01), "1.000");
        assert_eq!(digits(250.3, 4.0), "250");
        assert_eq!(digits(0.0012, 0.0001), "0.001");
        assert_eq!(digits(1e-40, 1e200), "<0.001");
        assert_eq!(digits(1e200, 1e200), ">1000");
        assert_eq!(digits(f64::INFINITY, f64::INFINITY), ">1000");
    }
}
