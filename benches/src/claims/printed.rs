//! Figures in what a peer prints.

use crate::spread::median;
use anyhow::Context;
use model::stats;
use serde::Deserialize;
use std::collections::BTreeMap;

/// ns of one operation, by statistic. A peer that prints one figure has it for
/// all but the last.
pub type FiguresByStatistic = [Option<f64>; 4];

/// Where the peer prints a figure.
#[derive(Deserialize, Clone, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Find {
    /// First number after this beginning of a line.
    After(String),
    /// The number before this end of a line.
    Before(String),
    /// First number of the second line.
    SecondLine,
    /// The number in this column of the line with this first word.
    Column(String, usize),
    /// The number in this column of the last line.
    LastLine(usize),
    /// Completion latencies of reads in fio's document.
    Fio,
    /// The samples that multichase prints with -v.
    Multichase,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerFigure {
    pub ours: String,
    pub find: Find,
    pub ns: Option<f64>,
    pub over: Option<f64>,
    #[serde(default)]
    pub differs: String,
}

/// The figures in what a peer printed.
///
/// # Errors
/// When one is missing: a program of LMbench prints nothing where it measured
/// nothing.
pub fn read_figures(
    figures: &[PeerFigure],
    text: &str,
) -> anyhow::Result<BTreeMap<String, FiguresByStatistic>> {
    figures
        .iter()
        .map(|wanted| {
            let printed = find_figures(text, &wanted.find)
                .with_context(|| format!("no figure for {} in:\n{text}", wanted.ours))?;
            let ns = |value: f64| match wanted.over {
                Some(over) => over / value,
                None => value * wanted.ns.unwrap_or(1.0),
            };
            Ok((wanted.ours.clone(), printed.map(|value| value.map(ns))))
        })
        .collect()
}

fn find_figures(text: &str, place: &Find) -> Option<FiguresByStatistic> {
    let first_number = |text: &str| {
        text.split(|c: char| c.is_whitespace() || c == ',').find_map(|word| word.parse().ok())
    };
    let value: f64 = match place {
        Find::After(begin) => text
            .lines()
            .find_map(|line| first_number(line.strip_prefix(&**begin)?.rsplit(": ").next()?))?,
        Find::Before(end) => text.lines().find_map(|line| {
            let rest = line.trim_end().strip_suffix(&**end)?;
            rest.split_whitespace().last()?.parse().ok()
        })?,
        Find::SecondLine => first_number(text.lines().nth(1)?)?,
        Find::Column(first, place) => text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next()? == first).then(|| words.nth(place.checked_sub(1)?)?.parse().ok())?
        })?,
        Find::LastLine(place) => {
            let last = text.trim_end().lines().last()?;
            last.split_whitespace().nth(*place)?.parse().ok()?
        }
        Find::Fio => return of_fio(text),
        Find::Multichase => {
            // `  3.004  avg=3.004` each.
            let samples: Vec<f64> = text
                .lines()
                .filter_map(|line| line.split_once("avg=")?.1.trim().parse().ok())
                .collect();
            let least = samples.iter().copied().reduce(f64::min);
            return Some([stats::mean(&samples), Some(median(&samples)?), least, least]);
        }
    };
    Some([Some(value), Some(value), Some(value), None])
}

/// Mean and median of fio's completion latencies, ns: with psync that is the
/// time of the call.
fn of_fio(json: &str) -> Option<FiguresByStatistic> {
    // Notes may stand before the document.
    let document: serde_json::Value = serde_json::from_str(&json[json.find('{')?..]).ok()?;
    let latency = &document["jobs"][0]["read"]["clat_ns"];
    let number = |value: &serde_json::Value| value.as_f64().filter(|&ns| ns > 0.0);
    let median = number(&latency["percentile"]["50.000000"])?;
    Some([Some(number(&latency["mean"])?), Some(median), None, None])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_where_the_peer_prints_them() {
        let first = |text: &str, place: Find| find_figures(text, &place).and_then(|all| all[0]);
        let after = |text: &str| Find::After(text.into());
        let simple = "Simple syscall: 0.2133 microseconds\n";
        assert_eq!(first(simple, after("Simple syscall:")), Some(0.2133));
        let ring = "\n\"size=0k ovr=0.52\n2 1.83\n8 2.05\n16 2.20\n";
        assert_eq!(first(ring, after("2 ")), Some(1.83));
        assert_eq!(first(ring, after("16 ")), Some(2.2));
        let perf = "\n     4.782540 usecs/op\n";
        assert_eq!(first(perf, Find::Before("usecs/op".into())), Some(4.78254));
        assert_eq!(first(",\n108.1093,\n", Find::SecondLine), Some(108.1093));
        assert_eq!(first("", after("Simple read:")), None);
        let files = "0k\t4242\t84000\t150000\n1k\t2121\t42000\t90000\n10k\t1\t2\t3\n";
        let column = |first: &str, place| Find::Column(first.into(), place);
        assert_eq!(first(files, column("1k", 2)), Some(42_000.0));
        assert_eq!(first(files, column("0k", 3)), Some(150_000.0));
        for nothing in [column("k", 3), column("0k", 4), column("0k", 0)] {
            assert_eq!(first(files, nothing), None);
        }
        let chase = "chase = simple\n  3.004  avg=3.004\n  2.925  avg=2.925\n 2.925\n";
        let chase = find_figures(chase, &Find::Multichase).expect("samples");
        assert_eq!((chase[2], chase[3]), (Some(2.925), Some(2.925)));
        assert_eq!(find_figures("no sample", &Find::Multichase), None);
    }

    #[test]
    fn both_of_fios_figures_are_read() {
        let json = r#"note: x
            {"jobs": [{"read": {"clat_ns": {"mean": 58.5, "percentile": {"50.000000": 57}}}}]}"#;
        assert_eq!(of_fio(json), Some([Some(58.5), Some(57.0), None, None]));
        assert_eq!(of_fio("no latency"), None);
        assert_eq!(of_fio(r#"{"jobs": [{"read": {"clat_ns": {"mean": 0.0}}}]}"#), None);
    }
}
