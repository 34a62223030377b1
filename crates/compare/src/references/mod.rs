//! Published figures to compare with ours: the 2012 list, Ash's tables of
//! 2016 and 2008, Kurkin's iPhones.
//!
//! The repository's `references/*.toml` are compiled in as JSON: the program needs no other file, and no reader
//! of TOML.

mod effects;
#[cfg(test)]
mod files;
mod found;
mod layout;
mod of_run;
mod qos;
mod ratio;
mod tables;

pub use effects::{NoiseEffect, NoiseEffects, Sentence};
pub use found::{FoundControl, FoundControls, FoundTime};
pub use layout::{Claim, ClaimRatio, Form, PartRow, Published, TableSection};
pub use qos::{QosCase, QosMachine, QosReference};
pub use tables::{ComparisonRule, Counterpart, Reference, ReferenceRow};

use serde::Deserialize;

/// The reference that the default table shows.
pub const DEFAULT_KEY: &str = "latency-numbers-2012";

/// What stands for the size of the largest point of a curve, far beyond the caches: `memory.copy/largest`.
pub const LARGEST_POINT: &str = "largest";

/// Short names in addition to the keys.
const ALIASES: &[(&str, &str)] = &[("2012", DEFAULT_KEY)];

/// The repository's `references/*.toml`, written as one JSON text by the test that holds it against them.
const EMBEDDED: &str = include_str!("embedded.json");

/// Everything that is known from elsewhere.
#[derive(Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct References {
    /// Tables of figures, in the order of their files.
    pub tables: Vec<Reference>,
    /// What single controls of noise did to a run.
    pub noise_effects: Vec<NoiseEffects>,
    /// What such controls did in earlier experiments like ours.
    pub found_controls: Vec<FoundControls>,
    /// What QoS classes did to a job.
    pub qos: Vec<QosReference>,
    /// How the publications lay out their tables.
    pub layouts: Vec<Published>,
}

/// Why the references can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the published tables of this program are damaged: {0}")]
pub struct ReferenceError(#[from] serde_json::Error);

impl References {
    /// The references compiled into the program.
    pub fn embedded() -> Result<References, ReferenceError> {
        Ok(serde_json::from_str(EMBEDDED)?)
    }

    /// A table by its key or its short name (`2012`).
    pub fn find(&self, key: &str) -> Option<&Reference> {
        let key = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |&(_, full)| full);
        self.tables.iter().find(|table| table.key == key)
    }

    /// Keys of all tables, with short names where there are some.
    pub fn keys(&self) -> Vec<&str> {
        let aliases = ALIASES.iter().map(|&(alias, _)| alias);
        aliases.chain(self.tables.iter().map(|table| table.key.as_str())).collect()
    }

    /// A publication's table by its key (`ash`).
    pub fn layout(&self, key: &str) -> Option<&Published> {
        self.layouts.iter().find(|table| table.key == key)
    }

    /// Every published figure of a row, each with its table: the row itself
    /// and rows of other tables that do the same job through other code.
    pub fn published<'a>(
        &'a self,
        id: &'a str,
    ) -> impl Iterator<Item = (&'a Reference, &'a ReferenceRow)> + 'a {
        self.tables.iter().flat_map(move |table| {
            table
                .rows
                .iter()
                .filter(move |row| row.id == id || row.like.as_deref() == Some(id))
                .map(move |row| (table, row))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_references() -> References {
        References::embedded().expect("the repository's references parse")
    }

    /// `group.probe` or `group.probe/variant`, in the letters of the catalogue.
    fn well_formed(id: &str) -> bool {
        let plain = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let (probe, variant) = id.split_once('/').unwrap_or((id, "x"));
        let Some((group, name)) = probe.split_once('.') else {
            return false;
        };
        plain(group) && plain(name) && plain(variant)
    }

    #[test]
    fn every_figure_is_positive_and_every_id_well_formed() {
        for table in &all_references().tables {
            assert!(!table.rows.is_empty(), "{} has no rows", table.key);
            for row in &table.rows {
                assert!(well_formed(&row.id), "{}: {}", table.key, row.id);
                assert!(row.like.as_deref().is_none_or(well_formed), "{}", row.id);
                let figures = [row.ns, row.mb_per_s, row.article_ns];
                assert!(figures.iter().flatten().all(|&f| f > 0.0), "{}", row.id);
                let figures = [row.ns, row.mb_per_s];
                let figures = figures.iter().flatten().count();
                // One that is described without a figure says so.
                let expected = usize::from(row.has_figure() || row.note.is_none());
                assert_eq!(figures, expected, "{}", row.id);
            }
        }
    }

    #[test]
    fn all_files_are_there() {
        let all = all_references();
        let keys: Vec<&str> = all.tables.iter().map(|t| t.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "latency-numbers-2012",
                "mac-pro-2013",
                "iphone-6s",
                "iphone-5s",
                "iphone-6s-plus",
                "iphone-x",
                "kurkin-2012",
                "mac-2008",
                "iphone-2008"
            ]
        );
        assert_eq!(all.noise_effects[0].effects.len(), 4);
        assert_eq!(all.qos[0].machines.len(), 2);
    }

    #[test]
    fn a_figure_next_to_gives_a_ratio_only_where_it_may() {
        let all = all_references();
        let of = |key: &str, id: &str| {
            all.find(key).expect("key").counterpart(id).unwrap_or_else(|| panic!("{key} {id}"))
        };
        let l2 = of("2012", "memory.latency/L2");
        assert_eq!((l2.row.ns, l2.comparable()), (Some(7.0), true));
        let json = of("mac-pro-2013", "codec.json_encode");
        assert_eq!((json.row.ns, json.comparable()), (Some(1421.0), false));
        assert!(!of("iphone-x", "file.read_open/1MiB").comparable());
        assert!(all.find("2012").expect("key").counterpart("cpu.add_i32").is_none());
    }

    #[test]
    fn tables_are_found_by_key_and_by_row() {
        let all = all_references();
        assert_eq!(all.find("2012").expect("alias").key, DEFAULT_KEY);
        assert!(all.find("2013").is_none());
        let of = |id: &str| -> Vec<String> {
            let published = all.published(id);
            published.map(|(table, _)| table.key.clone()).collect()
        };
        assert_eq!(of("memory.naive_xor/500kB"), ["iphone-5s"]);
        let tables = ["mac-pro-2013", "iphone-6s", "mac-2008"];
        assert_eq!(of("thread.create_join"), tables);
    }

    #[test]
    fn what_one_machine_can_not_measure_says_why() {
        for table in &all_references().tables {
            for row in &table.rows {
                assert_eq!(row.reference_only, row.reason.is_some(), "{}", row.id);
                assert!(!(row.reference_only && row.comparable()), "{}", row.id);
            }
        }
    }

    #[test]
    fn the_time_of_an_element_is_the_repetitions() {
        let all = all_references();
        let rows = all.tables.iter().flat_map(|table| &table.rows);
        let both: Vec<(f64, f64, u64)> = rows
            .filter_map(|row| {
                let size = row.id.rsplit_once('/')?.1;
                Some((row.ns?, row.ns_per_element?, model::size::parse_size(size)?))
            })
            .collect();
        assert_eq!(both.len(), 3);
        for (ns, element_ns, elements) in both {
            assert_eq!(ns / elements as f64, element_ns);
        }
    }

    #[test]
    fn the_effects_of_controls_are_those_of_the_book() {
        let all = all_references();
        let book = &all.noise_effects[0];
        let state = |control: &str, state: &str, key: &str| {
            let effect = book.effects.iter().find(|e| e.control == control);
            let value = &effect.expect(control).states[state][key];
            value.as_f64()
        };
        assert_eq!(state("turbo", "on", "ghz"), Some(2.706));
        assert_eq!(state("turbo", "off", "cycles"), Some(29_946_969_255.0));
        assert_eq!(state("affinity", "without", "cpu_migrations"), Some(10.0));
        assert_eq!(state("priority", "with", "context_switches"), Some(0.0));
        assert_eq!(state("filesystem cache", "cold", "seconds"), Some(2.57));
        assert_eq!(book.effects[1].repeats, Some(10));
        assert!(book.effects[0].machine.is_some());
        assert_eq!(book.advice.len(), 2);
    }
}
