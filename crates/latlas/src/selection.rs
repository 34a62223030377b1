//! Selection of rows by name or pattern.

use anyhow::bail;
use meter::plan::includes;
use model::fit::{self, FIT};
use model::nearest::suggestion;
use model::overview::{OPERATIONS, OVERVIEW};
use model::pattern::matches;
use model::run::Scale;
use view::render::{ProbeText, RowTitle};

/// Names of cache levels; others are named by size ([`is_by_size`]).
const LEVELS: [&str; 5] = ["L1", "L2", "L3", "L4", "DRAM"];

/// Ids of the rows that match the patterns, in catalogue order. Names of rows and probes match at
/// any scale; patterns with * or ? and groups match the rows of the scale. Of a curve whose point is
/// an operation of the overview this point alone is selected.
pub(crate) fn selected_rows(
    probes: &[ProbeText],
    patterns: &[String],
    scale: Scale,
) -> anyhow::Result<Vec<String>> {
    let mut selected: Vec<String> = Vec::new();
    let rows_of = |pattern: &String| match pattern.as_str() {
        OVERVIEW => OPERATIONS.iter().map(|of| (of.row.to_owned(), true)).collect(),
        FIT => fit::ROWS.map(|row| (row.to_owned(), false)).into(),
        _ => vec![(pattern.clone(), false)],
    };
    let patterns: Vec<(String, bool)> = patterns.iter().flat_map(rows_of).collect();
    for (pattern, point_alone) in &patterns {
        let mut beyond: Vec<(&str, Scale)> = Vec::new();
        let before = selected.len();
        let case = case_for(probes, pattern);
        for probe in probes {
            for row in (probe.rows.iter()).filter(|row| pattern_matches(pattern, probe, row, case))
            {
                let point = points_of(probe, row).find(|point| *point_alone && *point == pattern);
                match includes(scale, probe.since) || names_exactly(pattern, probe, row, case) {
                    true => selected.push(point.unwrap_or(row).clone()),
                    false => beyond.push((row, probe.since)),
                }
            }
        }
        if selected.len() > before {
            continue;
        }
        match &beyond[..] {
            [] => bail!("{}", unknown(probes, pattern)),
            [(row, since), ..] => bail!(
                "{pattern:?} matches only rows that {} ({row}{}): use {}, or name the rows",
                match since {
                    Scale::Full => "need --full",
                    _ => "--quick omits",
                },
                if beyond.len() > 1 { ", ..." } else { "" },
                match since {
                    Scale::Full => "--full",
                    _ => "the default scale",
                },
            ),
        }
    }
    let all = probes.iter().flat_map(|probe| probe.rows.iter().chain(&probe.points));
    let mut rows: Vec<String> = Vec::new();
    for row in all.filter(|row| selected.contains(row)) {
        if !rows.contains(row) {
            rows.push(row.clone());
        }
    }
    Ok(rows)
}

/// The probe with this id, row, level or point.
pub(crate) fn probe_named<'a>(
    probes: &'a [ProbeText],
    name: &str,
) -> anyhow::Result<&'a ProbeText> {
    let row = probes.iter().find(|p| p.rows.iter().any(|row| row == name));
    let named = |same: &dyn Fn(&str) -> bool| {
        let mut all = probes.iter();
        all.find(|p| is_by_size(p, name) || ids(p).iter().any(|id| same(id)))
    };
    let probe = row
        .or_else(|| named(&|id| id == name))
        .or_else(|| named(&|id| id.eq_ignore_ascii_case(name)));
    match probe {
        Some(probe) => Ok(probe),
        None => bail!("{}", unknown(probes, name)),
    }
}

/// The name of a row, or of the row whose curve has this point (`file.create/0B`); `None` if there is neither.
pub(crate) fn row_with_point(probes: &[ProbeText], id: &str) -> Option<String> {
    let is_known = |id: &&str| probe_named(probes, id).is_ok();
    let curve = || {
        let (curve, point) = id.rsplit_once('/')?;
        model::size::parse_size(point).map(|_| curve)
    };
    Some(id).filter(is_known).or_else(|| curve().filter(is_known)).map(str::to_owned)
}

/// The row that the words of an operation of the overview stand for; else the name as it is.
pub(crate) fn operation(name: &str) -> &str {
    let mut all = OPERATIONS.iter();
    let same = all.find(|of| of.words.eq_ignore_ascii_case(name));
    same.map_or(name, |of| of.row)
}

/// The rows that a word means, though they have another name.
pub(crate) fn meant_by<'a>(probes: &'a [ProbeText], word: &str) -> Vec<RowTitle<'a>> {
    let rows = probes::synonyms::rows_called(word).iter();
    let titled = rows.filter_map(|row| {
        let title = &probe_named(probes, row).ok()?.title;
        Some(RowTitle { row: (*row).to_owned(), title })
    });
    titled.collect()
}

/// The rows whose id, title or words in the overview contain the word, in catalogue order.
pub(crate) fn containing<'a>(probes: &'a [ProbeText], word: &str) -> Vec<RowTitle<'a>> {
    let word = word.trim().to_lowercase();
    let has = |text: &str| !word.is_empty() && text.to_lowercase().contains(&word);
    let mut rows: Vec<RowTitle> = Vec::new();
    for probe in probes {
        let of_curve: Vec<String> = of_curve(probe).collect();
        let in_overview = |row: &str| {
            OPERATIONS.iter().any(|of| {
                let of_row =
                    of.row == row || (row == probe.id && of_curve.iter().any(|it| it == of.row));
                of_row && has(of.words)
            })
        };
        let own = probe.rows.iter();
        for row in own.filter(|row| has(row) || has(&probe.title) || in_overview(row)) {
            if !rows.iter().any(|known| known.row == *row) {
                rows.push(RowTitle { row: row.clone(), title: &probe.title });
            }
        }
    }
    rows
}

/// The rows of the overview, a group (`memory`) or level (`L2`), in catalogue order; `None` if it is neither.
pub(crate) fn group<'a>(probes: &'a [ProbeText], name: &str) -> Option<Vec<RowTitle<'a>>> {
    if name.eq_ignore_ascii_case(OVERVIEW) {
        let all = OPERATIONS.iter().map(|of| RowTitle { row: of.row.to_owned(), title: of.words });
        return Some(all.collect());
    }
    let level = LEVELS.iter().find(|level| level.eq_ignore_ascii_case(name));
    let mut rows: Vec<RowTitle> = Vec::new();
    for probe in probes {
        let title = probe.title.as_str();
        let mut add = |row: String| rows.push(RowTitle { row, title });
        match level {
            Some(level) if probe.levels => add(format!("{}/{level}", probe.id)),
            Some(_) => {}
            None => {
                let own = probe.rows.iter().filter(|row| is_in_group(row, name));
                own.for_each(|row| add(row.clone()));
            }
        }
    }
    (!rows.is_empty()).then_some(rows)
}

/// Whether upper and lower case are the same.
#[derive(Clone, Copy, PartialEq)]
enum LetterCase {
    Exact,
    Any,
}

/// Case does not matter if nothing matches exactly.
fn case_for(probes: &[ProbeText], pattern: &str) -> LetterCase {
    let exact = |probe: &ProbeText| {
        let mut rows = probe.rows.iter();
        rows.any(|row| pattern_matches(pattern, probe, row, LetterCase::Exact))
    };
    if probes.iter().any(exact) { LetterCase::Exact } else { LetterCase::Any }
}

/// Whether a pattern matches a row, its probe, its group, or a level or point of its curve.
fn pattern_matches(pattern: &str, probe: &ProbeText, row: &str, case: LetterCase) -> bool {
    let is = |name: &str| match case {
        LetterCase::Exact => matches(pattern, name),
        LetterCase::Any => matches(&pattern.to_lowercase(), &name.to_lowercase()),
    };
    let is_name = |name: &str| !is_pattern(pattern) && is(name);
    is(row)
        || is_name(&probe.id)
        || group_of(row).is_some_and(is_name)
        || levels_of(probe).any(|level| is(&level))
        || is_by_size(probe, pattern)
        || points_of(probe, row).any(|point| is(point))
}

/// Published points of this row's curve: `file.delete/1KiB` is of `file.delete`, not of its probe's first row.
fn points_of<'p>(probe: &'p ProbeText, row: &str) -> impl Iterator<Item = &'p String> {
    let of_row = move |point: &&String| point.rsplit_once('/').is_some_and(|(of, _)| of == row);
    probe.points.iter().filter(of_row)
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

fn is_in_group(row: &str, name: &str) -> bool {
    group_of(row).is_some_and(|group| group.eq_ignore_ascii_case(name))
}

fn group_of(row: &str) -> Option<&str> {
    row.split_once('.').map(|(group, _)| group)
}

/// Whether it is the name of the row, its probe, or a level or point of its curve.
fn names_exactly(pattern: &str, probe: &ProbeText, row: &str, case: LetterCase) -> bool {
    !is_pattern(pattern) && pattern_matches(pattern, probe, row, case) && !is_in_group(row, pattern)
}

/// Rows of the levels of a curve.
fn levels_of(probe: &ProbeText) -> impl Iterator<Item = String> + '_ {
    let levels = if probe.levels { &LEVELS[..] } else { &[] };
    levels.iter().map(|level| format!("{}/{level}", probe.id))
}

/// Whether it names a level by its size: `memory.latency/to_32MiB`.
fn is_by_size(probe: &ProbeText, name: &str) -> bool {
    let level = name.strip_prefix(&probe.id).filter(|_| probe.levels);
    let size = level.and_then(|level| level.strip_prefix("/to_"));
    size.and_then(model::size::parse_size).is_some()
}

/// Levels and published points of a curve.
fn of_curve(probe: &ProbeText) -> impl Iterator<Item = String> + '_ {
    levels_of(probe).chain(probe.points.iter().cloned())
}

/// All names of a probe's rows.
pub(crate) fn ids(probe: &ProbeText) -> Vec<String> {
    let own = probe.rows.iter().cloned().chain([probe.id.clone()]);
    own.chain(of_curve(probe)).collect()
}

fn unknown(probes: &[ProbeText], name: &str) -> String {
    let mut ids: Vec<String> = probes.iter().flat_map(ids).collect();
    let groups = probes.iter().filter_map(|probe| group_of(&probe.id));
    ids.extend(groups.map(str::to_owned));
    let suggestion = suggestion(name, ids.iter().map(String::as_str));
    let instead = match (suggestion.is_empty(), name.contains('.')) {
        (false, _) => suggestion,
        (true, true) => "; try: latlas list; rows of a pack need --pack FILE".into(),
        (true, false) => "; try: latlas explain L1, latlas list memory".into(),
    };
    format!("no row matches {name:?}{instead}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Vec<ProbeText> {
        crate::catalogue::texts(&probes::catalogue())
    }

    fn select(patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
        selected_rows(&catalogue(), &patterns, Scale::Default).expect("known rows")
    }

    #[test]
    fn patterns_match() {
        for (pattern, text, expected) in [
            ("cpu.*", "cpu.add_i32/throughput", true),
            ("*i32", "cpu.add_i32", true),
            ("*i32", "cpu.add_i32/throughput", false),
            ("c*_i?2*", "cpu.add_i32/throughput", true),
            ("cpu", "cpu.add_i32", false),
            ("*", "", true),
            ("?", "", false),
            ("a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_group_stands_for_all_its_rows() {
        assert_eq!(select(&["cpu"]), select(&["cpu.*"]));
        let catalogue = catalogue();
        assert!(
            selected_rows(&catalogue, &["cp".into()], Scale::Full).is_err(),
            "no beginning of one"
        );
        let slip = selected_rows(&catalogue, &["memry".into()], Scale::Full).expect_err("a slip");
        assert!(slip.to_string().contains("did you mean memory?"), "{slip}");
    }

    #[test]
    fn a_group_and_a_level_have_their_rows_with_titles() {
        let all = catalogue();
        let memory = group(&all, "memory").expect("a group");
        let names: Vec<&str> = memory.iter().map(|row| row.row.as_str()).collect();
        assert_eq!(names, selected_rows(&all, &["memory".into()], Scale::Full).expect("a group"));
        assert!(memory.iter().all(|row| !row.title.is_empty()));
        for name in ["L2", "l2", "DRAM"] {
            let level = group(&all, name).expect("a level");
            let name = name.to_uppercase();
            assert!(level.iter().all(|row| row.row.ends_with(&format!("/{name}"))));
            assert!(level.iter().any(|row| row.row.starts_with("memory.latency/")));
        }
        assert_eq!(group(&all, "MEMORY").expect("a group").len(), memory.len());
        for none in ["memory.latency", "memry", "L9", ""] {
            assert!(group(&all, none).is_none(), "{none}");
        }
    }

    #[test]
    fn upper_case_does_not_matter_where_nothing_else_matches() {
        for (upper, lower) in [
            ("CPU.*", "cpu.*"),
            ("Cpu", "cpu"),
            ("CPU.Div_I32", "cpu.div_i32"),
            ("MEMORY.latency/dram", "memory.latency/DRAM"),
            ("*dram*", "*DRAM*"),
        ] {
            assert_eq!(select(&[upper]), select(&[lower]), "{upper}");
        }
        assert_eq!(probe_named(&catalogue(), "CPU.DIV_i32").expect("a row").id, "cpu.div_i32");
    }

    #[test]
    fn rows_are_found_by_a_word_of_their_id_or_title() {
        let all = catalogue();
        let names = |word: &str| -> Vec<String> {
            let found = containing(&all, word).into_iter();
            found.map(|row| row.row).collect()
        };
        let div = names("DIV");
        assert!(div.contains(&"cpu.div_i32".into()), "{div:?}");
        let by_title = names("count of the bits");
        assert!(by_title.contains(&"cpu.popcnt_i64".into()), "{by_title:?}");
        assert_eq!(names("load from memory"), ["memory.latency"], "by the overview");
        assert_eq!(operation("System call"), "call.syscall");
        assert_eq!(group(&all, "overview").expect("a group").len(), OPERATIONS.len());
        let of_overview = select(&["overview"]);
        assert!(of_overview.contains(&"file.create/1KiB".to_owned()), "one size of its curve");
        assert!(!of_overview.contains(&"file.create".to_owned()), "{of_overview:?}");
        assert_eq!(select(&["file.create/1KiB"]), ["file.create"]);
        for none in ["", " ", "xyzzy", "cpu.*"] {
            assert_eq!(names(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_probe_stands_for_all_its_rows() {
        let rows = select(&["memory.naive_xor"]);
        assert!(rows.contains(&"memory.naive_xor/50kB".to_string()), "{rows:?}");
        assert!(rows.contains(&"memory.naive_xor/5000kB".to_string()), "{rows:?}");
    }

    #[test]
    fn fit_stands_for_the_rows_that_it_measures() {
        let selected = select(&[FIT]);
        for row in fit::ROWS {
            assert!(selected.iter().any(|id| id == row), "{row}: {selected:?}");
        }
        assert_eq!(selected, select(&fit::ROWS));
    }

    #[test]
    fn a_level_stands_for_the_curve_it_is_found_in() {
        assert_eq!(select(&["memory.latency/L1"]), ["memory.latency"]);
        assert_eq!(select(&["memory.latency/*", "memory.latency"]), ["memory.latency"]);
    }

    #[test]
    fn a_published_point_stands_for_its_own_curve_alone() {
        assert_eq!(select(&["file.read_open/1KiB"]), ["file.read_open"]);
        assert_eq!(select(&["file.create/1KiB"]), ["file.create"]);
        assert_eq!(select(&["file.delete/1KiB"]), ["file.delete"]);
        assert_eq!(
            select(&["file.create/1KiB", "file.delete/1KiB"]),
            ["file.create", "file.delete"]
        );
        assert_eq!(
            select(&["file.read_open"]),
            ["file.read_open", "file.read_open/chunked", "file.read_open/as_lmbench"]
        );
    }

    #[test]
    fn a_point_without_a_name_of_its_own_is_of_its_curve() {
        let all = catalogue();
        for (id, row) in [
            ("cpu.div_i32", Some("cpu.div_i32")),
            ("file.delete/1KiB", Some("file.delete/1KiB")),
            ("file.delete/1MiB", Some("file.delete")),
            ("memory.read/sequential/64MiB", Some("memory.read/sequential")),
            ("memory.read/fast/64MiB", None),
            ("file.delete/huge", None),
        ] {
            assert_eq!(row_with_point(&all, id).as_deref(), row, "{id}");
        }
    }

    #[test]
    fn rows_come_once_and_in_the_order_of_the_catalogue() {
        let rows = select(&["cpu.*", "memory.copy", "cpu.add_i32"]);
        assert_eq!(rows[0], "memory.copy");
        assert_eq!(rows.iter().filter(|row| *row == "cpu.add_i32").count(), 1);
    }

    #[test]
    fn a_pattern_means_rows_of_the_scale_and_a_name_means_its_row() {
        let catalogue = catalogue();
        let select =
            |pattern: &str, scale| selected_rows(&catalogue, &[pattern.to_string()], scale);
        let has = |pattern, scale, row: &str| {
            let rows = select(pattern, scale).expect("rows");
            rows.iter().any(|selected| selected == row)
        };
        const OF_FULL: &str = "memory.parallelism/DRAM";
        for set in ["memory.*", "memory", "*DRAM*"] {
            assert!(!has(set, Scale::Quick, OF_FULL), "{set}");
            assert!(!has(set, Scale::Default, OF_FULL), "{set}");
            assert!(has(set, Scale::Full, OF_FULL), "{set}");
        }
        for name in [OF_FULL, "memory.parallelism"] {
            assert!(has(name, Scale::Quick, OF_FULL), "{name}");
        }
        assert!(!has("memory.*", Scale::Quick, "memory.latency_steady"));
        assert!(has("memory.*", Scale::Default, "memory.latency_steady"));
        let error = select("memory.par*", Scale::Default).expect_err("of --full");
        assert_eq!(
            error.to_string(),
            "\"memory.par*\" matches only rows that need --full (memory.parallelism/L2, ...): use \
             --full, or name the rows"
        );
        let error = select("memory.latency_stea*", Scale::Quick).expect_err("of the default");
        assert_eq!(
            error.to_string(),
            "\"memory.latency_stea*\" matches only rows that --quick omits \
             (memory.latency_steady): use the default scale, or name the rows"
        );
    }

    #[test]
    fn an_unknown_row_suggests_the_nearest() {
        let error =
            selected_rows(&catalogue(), &["cpu.dvi_i32".into()], Scale::Full).expect_err("typo");
        assert_eq!(error.to_string(), "no row matches \"cpu.dvi_i32\"; did you mean cpu.div_i32?");
        assert!(
            selected_rows(&catalogue(), &["nothing.*".into()], Scale::Full).is_err(),
            "matches nothing"
        );
    }

    #[test]
    fn a_probe_is_found_by_id_row_and_level() {
        let all = catalogue();
        for name in ["memory.latency", "memory.latency/DRAM"] {
            assert_eq!(probe_named(&all, name).expect(name).id, "memory.latency");
        }
        for by_size in ["memory.latency/to_32MiB", "memory.latency_as_kurkin/to_64MiB"] {
            let curve = by_size.split('/').next().expect(by_size);
            assert_eq!(probe_named(&all, by_size).expect(by_size).id, curve);
            assert_eq!(select(&[by_size]), [curve]);
        }
        assert!(probe_named(&all, "memory.latency/to_").is_err());
        assert!(probe_named(&all, "memory.copy/L1").is_err());
    }
}
