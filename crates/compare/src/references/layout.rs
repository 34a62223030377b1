//! How a publication lays out its table: its columns are tables of figures,
//! its parts say which rows stand where.

use super::{Reference, References};
use serde::{Deserialize, Serialize};

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayoutFile {
    /// Whose tables they are: for readers of the file.
    #[serde(rename = "source")]
    _source: String,
    pub(super) published: Vec<Published>,
}

/// One published table.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(Serialize))]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What `latlas table` calls it.
    pub key: String,
    /// Author, and name of the publication.
    pub title: String,
    /// Keys of the tables of figures that are its columns, in order.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Keys of further columns, which recall earlier figures.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// Which columns it has.
    pub form: Form,
    /// Its parts; none for one part with every row of its columns. A part without rows holds every
    /// row of the part's columns.
    #[serde(default, rename = "part")]
    pub parts: Vec<TableSection>,
    /// What the publication concludes, in our words.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A conclusion of a publication, as ratios of figures: it holds where each of them lies between its limits.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(Serialize))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// A sentence without its full stop.
    pub says: String,
    #[serde(rename = "ratio")]
    pub ratios: Vec<ClaimRatio>,
}

/// One figure over another, and the limits within which the claim holds.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ClaimRatio {
    /// What a table calls it: `end / create`.
    pub name: String,
    /// Row, level or point of a curve that stands above the line,
    pub of: String,
    /// the one that is taken from it,
    pub of_less: Option<String>,
    /// and the same below the line.
    pub over: String,
    pub over_less: Option<String>,
    /// Both are divided by the bytes that their names end with.
    #[serde(default)]
    pub per_byte: bool,
    /// Limits; at least one of them is there.
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

impl ClaimRatio {
    /// The rows, levels and points that it needs.
    pub fn needs(&self) -> impl Iterator<Item = &String> {
        let less = [&self.of_less, &self.over_less].into_iter().flatten();
        [&self.of, &self.over].into_iter().chain(less)
    }
}

/// Which columns a table has. Rows stand in the publication's order in both.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Ash's: iterations, total s, ns each.
    Costs,
    /// The published figures, then ours.
    Columns,
    /// Oakley's: cases of jobs, filled in by `latlas qos`, not by a run.
    Qos,
}

/// Rows that stand together.
#[derive(Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(test, derive(Serialize))]
#[serde(deny_unknown_fields)]
pub struct TableSection {
    /// Its heading; empty where it is the whole table.
    pub title: String,
    /// Keys of the table's columns that it shows; none for all.
    #[serde(default)]
    pub columns: Vec<String>,
    #[serde(default, rename = "row")]
    pub rows: Vec<PartRow>,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(Serialize))]
#[serde(deny_unknown_fields)]
pub struct PartRow {
    /// Public name of our row.
    pub id: String,
    /// What the publication calls it.
    pub name: Option<String>,
}

impl Published {
    /// The parts, with every row of their columns once where they name none, in the order of the
    /// first column that has it.
    pub fn whole_parts(&self, references: &References) -> Vec<TableSection> {
        let mut parts = self.parts.clone();
        if parts.is_empty() {
            parts.push(TableSection::default());
        }
        for part in parts.iter_mut().filter(|part| part.rows.is_empty()) {
            let shown = |key: &&String| part.columns.is_empty() || part.columns.contains(key);
            let columns = self.columns.iter().filter(shown);
            part.rows = rows_of(columns.filter_map(|key| references.find(key)));
        }
        parts
    }
}

/// Every row of these tables once, in the order of the first that has it.
fn rows_of<'a>(tables: impl Iterator<Item = &'a Reference>) -> Vec<PartRow> {
    let mut rows: Vec<PartRow> = Vec::new();
    for row in tables.flat_map(|table| &table.rows) {
        if !rows.iter().any(|known| known.id == row.id) {
            rows.push(PartRow { id: row.id.clone(), name: None });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all_references() -> References {
        References::embedded().expect("references parse")
    }

    fn ids(table: &Published, all: &References) -> Vec<String> {
        let parts = table.whole_parts(all);
        parts.into_iter().flat_map(|part| part.rows).map(|row| row.id).collect()
    }

    #[test]
    fn every_column_is_a_table_and_every_row_stands_in_one() {
        let all = all_references();
        let keys: Vec<&str> = all.layouts.iter().map(|t| t.key.as_str()).collect();
        assert_eq!(keys, ["ash", "kurkin", "oakley", "2012"]);
        for table in &all.layouts {
            let columns: Vec<_> = table
                .columns
                .iter()
                .chain(&table.earlier)
                .map(|key| all.find(key).unwrap_or_else(|| panic!("{key}")))
                .collect();
            let parts = table.whole_parts(&all);
            for PartRow { id, name } in parts.into_iter().flat_map(|part| part.rows) {
                let known = columns.iter().any(|column| column.row(&id).is_some());
                assert!(known, "{}: {id} {name:?}", table.key);
            }
        }
    }

    #[test]
    fn no_published_figure_is_left_out_of_its_table() {
        let all = all_references();
        for table in &all.layouts {
            let shown = ids(table, &all);
            for part in table.whole_parts(&all) {
                let once: BTreeSet<&String> = part.rows.iter().map(|row| &row.id).collect();
                assert_eq!(once.len(), part.rows.len(), "{}: a row twice", table.key);
            }
            for key in table.columns.iter().chain(&table.earlier) {
                for row in &all.find(key).expect("key").rows {
                    assert!(shown.contains(&row.id), "{}: {key} {}", table.key, row.id);
                }
            }
        }
    }

    #[test]
    fn every_claim_has_limits_that_a_ratio_can_miss() {
        let all = all_references();
        let claims = || all.layouts.iter().flat_map(|table| &table.claims);
        assert!(claims().count() >= 8);
        for claim in claims() {
            assert!(!claim.ratios.is_empty(), "{}", claim.says);
            for ratio in &claim.ratios {
                let (least, most) = (ratio.at_least, ratio.at_most);
                assert!(least.is_some() || most.is_some(), "{}", claim.says);
                assert!(least.unwrap_or(0.0) < most.unwrap_or(f64::MAX), "{}", claim.says);
                let of_bytes = |id: &String| {
                    let (_, size) = id.rsplit_once('/').unwrap_or_default();
                    model::size::parse_size(size).is_some_and(|bytes| bytes > 0)
                };
                assert!(!ratio.per_byte || ratio.needs().all(of_bytes), "{}", claim.says);
            }
        }
    }

    #[test]
    fn ash_has_a_table_of_the_mac_and_one_of_the_iphone_each_in_its_own_order() {
        let all = all_references();
        let ash = all.layout("ash").expect("ash");
        let parts = ash.whole_parts(&all);
        let [mac, iphone] = parts.as_slice() else {
            panic!("two tables");
        };
        assert_eq!((mac.rows.len(), iphone.rows.len()), (34, 32));
        for part in &parts {
            let figures = all.find(&part.columns[0]).expect("key");
            let ns = |row: &PartRow| figures.row(&row.id).and_then(|figure| figure.ns);
            let ns: Option<Vec<f64>> = part.rows.iter().map(ns).collect();
            assert!(ns.is_some_and(|ns| ns.is_sorted()), "{}", part.title);
        }
        let on_the_iphone = |row: &&PartRow| iphone.rows.iter().any(|other| other.id == row.id);
        let only_mac = mac.rows.iter().filter(|row| !on_the_iphone(row));
        let only_mac: Vec<&str> = only_mac.map(|row| row.id.as_str()).collect();
        assert_eq!(only_mac, ["ui.window_create", "objc.task_spawn"]);
        assert_eq!(iphone.rows[0].id, "call.virtual");
    }

    #[test]
    fn the_articles_2012_column_is_the_lists() {
        let all = all_references();
        let list = all.find("2012").expect("key");
        let column = all.find("kurkin-2012").expect("key");
        // The row of the list that each figure was taken from.
        let taken = [
            ("memory.latency_as_kurkin/L1", "memory.latency/L1", true),
            ("memory.latency_as_kurkin/L2", "memory.latency/L2", true),
            ("memory.latency_as_kurkin/64MiB", "memory.latency/DRAM", true),
            ("sync.semaphore_switch/free", "sync.mutex_uncontended", false),
            ("file.read_open/1KiB", "disk.random_read_4K", false),
        ];
        let with_article = list.rows.iter().filter(|row| row.article_ns.is_some());
        assert_eq!(with_article.count(), taken.len());
        assert_eq!(column.rows.len(), taken.len());
        for (measured, of_list, same) in taken {
            let (figure, source) = (column.row(measured), list.row(of_list));
            let (figure, source) = (figure.expect(measured), source.expect(of_list));
            assert_eq!(figure.ns, source.article_ns, "{measured}");
            assert_eq!(figure.comparable(), same, "{measured}");
            assert!(source.comparable(), "{of_list} is the list's own operation");
        }
    }
}
