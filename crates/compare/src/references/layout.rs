//! How a publication lays out its table: its columns are tables of figures,
//! its parts say which rows stand where.

use super::References;
use serde::Deserialize;

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
    /// Its parts; none for one part with every row of its columns.
    #[serde(default, rename = "part")]
    pub parts: Vec<Part>,
}

/// Which columns a table has. Rows stand in the publication's order in both.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
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
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its heading; empty where it is the whole table.
    pub title: String,
    #[serde(rename = "row")]
    pub rows: Vec<PartRow>,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PartRow {
    /// Public name of our row.
    pub id: String,
    /// What the publication calls it.
    pub name: Option<String>,
}

impl Published {
    /// The parts; for a table without, one that holds every row of its columns
    /// once, in the order of the first column that has it.
    pub fn whole_parts(&self, references: &References) -> Vec<Part> {
        if !self.parts.is_empty() {
            return self.parts.clone();
        }
        let mut rows: Vec<PartRow> = Vec::new();
        let columns = self.columns.iter().filter_map(|key| references.find(key));
        for row in columns.flat_map(|table| &table.rows) {
            if !rows.iter().any(|known| known.id == row.id) {
                rows.push(PartRow { id: row.id.clone(), name: None });
            }
        }
        vec![Part { title: String::new(), rows }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> References {
        References::embedded().expect("references parse")
    }

    fn ids(table: &Published, all: &References) -> Vec<String> {
        let parts = table.whole_parts(all);
        parts.into_iter().flat_map(|part| part.rows).map(|row| row.id).collect()
    }

    #[test]
    fn every_column_is_a_table_and_every_row_stands_in_one() {
        let all = all();
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
        let all = all();
        for table in &all.layouts {
            let shown = ids(table, &all);
            let once: BTreeSet<&String> = shown.iter().collect();
            assert_eq!(once.len(), shown.len(), "{}: a row twice", table.key);
            for key in table.columns.iter().chain(&table.earlier) {
                for row in &all.find(key).expect("key").rows {
                    assert!(shown.contains(&row.id), "{}: {key} {}", table.key, row.id);
                }
            }
        }
    }

    #[test]
    fn ash_has_34_rows_two_of_them_only_on_the_mac() {
        let all = all();
        let ash = all.layout("ash").expect("ash");
        assert_eq!(ids(ash, &all).len(), 34);
        let iphone = all.find("iphone-6s").expect("key");
        let only_mac: Vec<String> =
            ids(ash, &all).into_iter().filter(|id| iphone.row(id).is_none()).collect();
        assert_eq!(only_mac, ["ui.window_create", "objc.task_spawn"]);
    }

    #[test]
    fn the_articles_2012_column_is_the_lists() {
        let all = all();
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
