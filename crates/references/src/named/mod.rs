//! References by name, one list: the published tables, cloud types, boards and CPUs.
//!
//! A name is the same in upper and lower case, with spaces, dashes or neither, with or without its maker (`radxa`,
//! `intel`) or provider (`aws/m7i.large`). It is never made to fit: where records of several machines have it, all are
//! named, and where none has, the nearest names.

mod error;
mod near;
mod record_name;
mod rows;
mod search;

pub use error::ReferenceNameError;

use crate::packed::DamagedRecords;
use crate::{board_reports, cloud_types, core_matrices, instruction_timings};
use compare::references::{Reference, References};
use model::nearest::several_near;
use record_name::{board_key, cloud_key, cpu_key, squeezed, timings_key};
use search::records_named;

/// Names that an error suggests at most.
const SUGGESTED: usize = 5;

/// The reference of a name.
pub fn find_reference(tables: &References, name: &str) -> Result<Reference, ReferenceNameError> {
    let asked = squeezed(name);
    let is_asked = |key: &&str| squeezed(key) == asked;
    if let Some(table) = tables.keys().into_iter().find(is_asked).and_then(|key| tables.find(key)) {
        return Ok(table.clone());
    }
    match records_named(name)? {
        Some(records) => Ok(rows::reference_of(&records)),
        None => {
            let names = reference_names(tables)?;
            let (name, tables) = (name.to_owned(), tables.keys().join(", "));
            Err(ReferenceNameError::Unknown { nearest: nearest_names(&name, &names), name, tables })
        }
    }
}

/// Names that go on where this one ends, then those that differ by a slip of the fingers.
fn nearest_names(name: &str, names: &[String]) -> Vec<String> {
    let asked = squeezed(name);
    let longer = names.iter().filter(|own| !asked.is_empty() && squeezed(own).starts_with(&asked));
    let mut nearest: Vec<&str> = longer.map(String::as_str).collect();
    nearest.sort_by_key(|own| own.len());
    nearest.truncate(SUGGESTED);
    for near in several_near(name, names.iter().map(String::as_str), SUGGESTED) {
        if nearest.len() < SUGGESTED && !nearest.contains(&near) {
            nearest.push(near);
        }
    }
    nearest.into_iter().map(str::to_owned).collect()
}

/// Every name: those of the tables first, then those of records, ascending.
pub fn reference_names(tables: &References) -> Result<Vec<String>, DamagedRecords> {
    let mut records: Vec<String> = cloud_types()?.iter().map(cloud_key).collect();
    records.extend(board_reports()?.iter().map(board_key));
    records.extend(instruction_timings()?.iter().map(timings_key));
    records.extend(core_matrices()?.iter().map(|one| cpu_key(&one.machine)));
    records.sort_unstable();
    records.dedup();
    Ok(tables.keys().into_iter().map(str::to_owned).chain(records).collect())
}
