//! Which rows somebody means.

use anyhow::bail;
use atlas::pattern::matches;
use atlas::render::ProbeText;
use atlas::suggestion;

/// Levels that a curve may show.
const LEVELS: [&str; 5] = ["L1", "L2", "L3", "L4", "DRAM"];

/// Ids of the rows that the patterns name, in catalogue order and each once.
pub(crate) fn rows(probes: &[ProbeText], patterns: &[String]) -> anyhow::Result<Vec<String>> {
    for pattern in patterns {
        if !probes
            .iter()
            .any(|p| p.rows.iter().any(|row| names(pattern, p, row)))
        {
            bail!("{}", unknown(probes, pattern));
        }
    }
    let mut selected: Vec<String> = Vec::new();
    for probe in probes {
        for row in &probe.rows {
            let named = patterns.iter().any(|pattern| names(pattern, probe, row));
            if named && !selected.contains(row) {
                selected.push(row.clone());
            }
        }
    }
    Ok(selected)
}

/// The probe that a name means: its id, one of its rows, or one that follows
/// from its curve.
pub(crate) fn probe<'a>(probes: &'a [ProbeText], name: &str) -> anyhow::Result<&'a ProbeText> {
    let found = probes
        .iter()
        .find(|p| p.rows.iter().any(|row| row == name))
        .or_else(|| {
            probes
                .iter()
                .find(|p| p.id == name || of_curve(p).any(|row| row == name))
        });
    match found {
        Some(probe) => Ok(probe),
        None => bail!("{}", unknown(probes, name)),
    }
}

/// Whether a pattern names a row: by its id, its probe's, its group's, or one
/// that follows from its curve.
fn names(pattern: &str, probe: &ProbeText, row: &str) -> bool {
    matches(pattern, row)
        || pattern == probe.id
        || row.split_once('.').is_some_and(|(group, _)| group == pattern)
        || levels_of(probe).any(|level| matches(pattern, &level))
        // Points follow from the row of the probe's own name, not from its
        // variants.
        || (row == probe.id && probe.points.iter().any(|point| matches(pattern, point)))
}

/// Levels that a curve may show.
fn levels_of(probe: &ProbeText) -> impl Iterator<Item = String> + '_ {
    let levels = if probe.levels { &LEVELS[..] } else { &[] };
    levels.iter().map(|level| format!("{}/{level}", probe.id))
}

/// Rows that follow from a curve: levels it may show, and points that were
/// published.
fn of_curve(probe: &ProbeText) -> impl Iterator<Item = String> + '_ {
    levels_of(probe).chain(probe.points.iter().cloned())
}

/// Everything that a probe's rows may be called.
pub(crate) fn ids(probe: &ProbeText) -> Vec<String> {
    let own = probe.rows.iter().cloned().chain([probe.id.clone()]);
    own.chain(of_curve(probe)).collect()
}

fn unknown(probes: &[ProbeText], name: &str) -> String {
    let mut ids: Vec<String> = probes.iter().flat_map(ids).collect();
    let groups = probes.iter().filter_map(|probe| probe.id.split_once('.'));
    ids.extend(groups.map(|(group, _)| group.to_owned()));
    let suggestion = suggestion(name, ids.iter().map(String::as_str));
    format!("no row {name:?}{suggestion} (latlas list shows all)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Vec<ProbeText> {
        crate::catalogue::texts(&probes::catalogue())
    }

    fn select(patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
        rows(&catalogue(), &patterns).expect("known rows")
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
            rows(&catalogue, &["cp".into()]).is_err(),
            "no beginning of one"
        );
        let slip = rows(&catalogue, &["memry".into()]).expect_err("a slip");
        assert!(slip.to_string().contains("did you mean memory?"), "{slip}");
    }

    #[test]
    fn a_probe_stands_for_all_its_rows() {
        let rows = select(&["memory.naive_xor"]);
        assert!(
            rows.contains(&"memory.naive_xor/50kB".to_string()),
            "{rows:?}"
        );
        assert!(
            rows.contains(&"memory.naive_xor/5000kB".to_string()),
            "{rows:?}"
        );
    }

    #[test]
    fn a_level_stands_for_the_curve_it_is_found_in() {
        assert_eq!(select(&["memory.latency/L1"]), ["memory.latency"]);
        assert_eq!(
            select(&["memory.latency/*", "memory.latency"]),
            ["memory.latency"]
        );
    }

    #[test]
    fn a_published_point_stands_for_its_own_curve_alone() {
        assert_eq!(select(&["file.read_open/1KiB"]), ["file.read_open"]);
        assert_eq!(select(&["file.create/1KiB"]), ["file.create"]);
        assert_eq!(
            select(&["file.read_open"]),
            [
                "file.read_open",
                "file.read_open/chunked",
                "file.read_open/as_lmbench"
            ]
        );
    }

    #[test]
    fn rows_come_once_and_in_the_order_of_the_catalogue() {
        let rows = select(&["cpu.*", "memory.copy", "cpu.add_i32"]);
        assert_eq!(rows[0], "memory.copy");
        assert_eq!(rows.iter().filter(|row| *row == "cpu.add_i32").count(), 1);
    }

    #[test]
    fn an_unknown_row_suggests_the_nearest() {
        let error = rows(&catalogue(), &["cpu.dvi_i32".into()]).expect_err("typo");
        assert_eq!(
            error.to_string(),
            "no row \"cpu.dvi_i32\"; did you mean cpu.div_i32? (latlas list shows all)"
        );
        assert!(
            rows(&catalogue(), &["nothing.*".into()]).is_err(),
            "matches nothing"
        );
    }

    #[test]
    fn a_probe_is_found_by_id_row_and_level() {
        let all = catalogue();
        for name in ["memory.latency", "memory.latency/DRAM"] {
            assert_eq!(probe(&all, name).expect(name).id, "memory.latency");
        }
        assert!(probe(&all, "memory.copy/L1").is_err());
    }
}
