//! A run as a record to publish: its document without samples and without personal details.
//!
//! What it keeps is what `compare` reads of any stored run, so that a published record and the run that it was made of
//! give the same answers. It is read back as every run is: by `latlas import`, from a store, by `latlas-serve`.

use crate::StoreError;
use compare::operand::without_samples;
use model::filesystem::DeviceKind;
use model::machine::Fact;
use model::pattern::pattern_matches;
use model::printable::escaped_json;
use model::run::Run;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};

/// What stands for a word that was left out.
const LEFT_OUT: &str = "(left out)";
/// Names that are shorter are words of any text.
const LEAST_NAME: usize = 3;

/// Why a run is no reference of a machine.
#[derive(thiserror::Error, Debug)]
pub(super) enum NoReference {
    #[error("another program measured it")]
    Imported,
    #[error("it is of commands, and a record is of latlas's own rows")]
    Commands,
    #[error("it is of a job, and a record is of latlas's own rows")]
    Job,
    #[error("it compares settings, and a record is of a machine as it is")]
    Settings,
    #[error(transparent)]
    Unwritable(#[from] StoreError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Names that no record holds: the user's, the home directory's, the host's.
#[derive(Clone, Debug, Default)]
pub struct PersonalNames(Vec<String>);

impl PersonalNames {
    /// These, except those that stand in any text.
    pub fn new(names: impl IntoIterator<Item = String>) -> PersonalNames {
        let identifies =
            |name: &String| name.len() >= LEAST_NAME && name != "root" && name != "/root";
        PersonalNames(names.into_iter().filter(identifies).collect())
    }

    /// Whether a word contains a name, a path below a home directory, or an address.
    fn are_in(&self, word: &str) -> bool {
        let homes = ["/home/", "/Users/", "/root", "user.slice", "user@"];
        homes.iter().any(|home| word.contains(home))
            || self.0.iter().any(|name| has_name(word, name))
            || word.split(['=', ',', '/', ';']).any(is_address)
    }
}

/// `10.0.0.1`, `[fe80::1]:80`, a MAC address.
fn is_address(part: &str) -> bool {
    let bare = part.trim_matches(|c: char| !c.is_alphanumeric() && !":[]".contains(c));
    bare.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || bare.parse::<SocketAddr>().is_ok()
        || is_mac(bare)
}

/// Whether a name is a word of it, or a part of a path.
fn has_name(word: &str, name: &str) -> bool {
    word.match_indices(name).any(|(at, _)| {
        let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        apart(word[..at].chars().next_back()) && apart(word[at + name.len()..].chars().next())
    })
}

/// `52:54:00:12:34:56`
fn is_mac(word: &str) -> bool {
    let pairs: Vec<&str> = word.split(':').collect();
    let pair = |pair: &&str| pair.len() == 2 && pair.chars().all(|c| c.is_ascii_hexdigit());
    pairs.len() == 6 && pairs.iter().all(pair)
}

/// The record's line, and what it does not hold.
pub(super) fn to_reference(
    run: &Run,
    patterns: &[String],
    names: &PersonalNames,
) -> Result<(String, Vec<String>), NoReference> {
    let foreign = [
        (run.imported.is_some(), NoReference::Imported),
        (run.commands.is_some(), NoReference::Commands),
        (run.job.is_some(), NoReference::Job),
        (run.experiment.is_some(), NoReference::Settings),
    ];
    if let Some((_, why)) = foreign.into_iter().find(|(is, _)| *is) {
        return Err(why);
    }
    let mut names = names.clone();
    names.0.extend(PersonalNames::new(run.machine.hostname.get().cloned()).0);
    let mut record = without_samples(run.clone());
    let id: String = run.id.chars().take_while(char::is_ascii_alphanumeric).collect();
    record.machine.hostname = Fact::known(format!("record-{id}"));
    record.recordings.clear();
    let named = |row: &str| patterns.is_empty() || patterns.iter().any(|p| pattern_matches(p, row));
    record.rows.retain(|row| named(&row.id));
    record.cells.retain(|cell| named(&cell.row));
    let notes: usize = record.rows.iter_mut().map(|row| std::mem::take(&mut row.notes).len()).sum();
    if let Some(files) = &mut record.files_on {
        files.directory = LEFT_OUT.into();
        let is_local = files.device != DeviceKind::Network && files.source.starts_with("/dev/");
        if !is_local {
            (files.source, files.mount_options) = (String::new(), String::new());
        }
    }
    let mut document: Value = serde_json::from_slice(&crate::to_json(&record)?)?;
    let words = leave_out(&mut document, &names);
    let samples = run.cells.iter().map(|cell| cell.samples.first_ticks.len()).sum::<usize>();
    let left_out = [
        (samples, "samples (the figures have their intervals)"),
        (notes, "notes of rows"),
        (run.recordings.len(), "recordings"),
        (words, "words that hold a path, an address or the name of a user or host"),
    ];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let left_out = left_out.map(|(count, what)| format!("{what}: {count}"));
    let left_out = std::iter::once("the name of the host".to_owned()).chain(left_out).collect();
    let mut text = escaped_json(document.to_string().into_bytes());
    text.push(b'\n');
    Ok((String::from_utf8_lossy(&text).into_owned(), left_out))
}

/// Leaves personal words out of all texts of a document; how many.
fn leave_out(value: &mut Value, names: &PersonalNames) -> usize {
    match value {
        Value::String(text) => {
            let words: Vec<&str> = text.split(' ').collect();
            let count = words.iter().filter(|word| names.are_in(word)).count();
            if count > 0 {
                let kept = words.iter().map(|w| if names.are_in(w) { LEFT_OUT } else { w });
                *text = kept.collect::<Vec<_>>().join(" ");
            }
            count
        }
        Value::Array(values) => values.iter_mut().map(|value| leave_out(value, names)).sum(),
        Value::Object(fields) => fields.values_mut().map(|value| leave_out(value, names)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::Outcome;
    use model::synthetic;

    fn personal_run() -> Run {
        let mut run = synthetic::run();
        run.machine.hostname = Fact::known("anna-laptop".into());
        run.rows[0].notes.push("file: /home/anna/x".into());
        run.rows[1].outcome = Outcome::Unavailable {
            reason:
                "anna-laptop can't reach 192.168.7.9:4000 from /Users/anna/x by 52:54:00:12:34:56"
                    .into(),
        };
        run
    }

    #[test]
    fn a_record_tells_figures_and_nobody() {
        let run = personal_run();
        let names = PersonalNames::new(["anna".into(), "/home/anna".into(), "vm".into()]);
        let (text, left_out) = to_reference(&run, &[], &names).expect("a record");
        for secret in [
            "anna",
            "192.168",
            "52:54",
            "/home",
            "/Users",
            run.machine.hostname.get().expect("known"),
        ] {
            assert!(!text.contains(secret), "{secret}");
        }
        let record = crate::from_bytes(text.as_bytes()).expect("a run");
        let Outcome::Unavailable { reason } = &record.rows[1].outcome else { panic!("absent") };
        assert_eq!(reason, "(left out) can't reach (left out) from (left out) by (left out)");
        assert_eq!(record.rows.len(), run.rows.len());
        assert_eq!(
            record.row("cpu.div_i32").expect("there").outcome,
            run.row("cpu.div_i32").expect("there").outcome
        );
        assert_eq!(record.machine.cpu_model, run.machine.cpu_model);
        assert!(record.rows.iter().all(|row| row.notes.is_empty()));
        assert!(record.cells.iter().all(|cell| cell.samples.first_ticks.is_empty()));
        assert_eq!(left_out[0], "the name of the host");
        assert!(
            left_out.iter().any(|line| line.starts_with("words") && line.ends_with(": 4")),
            "{left_out:?}"
        );
    }

    #[test]
    fn only_the_rows_asked_for_are_in_it() {
        let patterns = ["cpu.div*".to_owned()];
        let (text, _) =
            to_reference(&personal_run(), &patterns, &PersonalNames::default()).expect("a record");
        let record = crate::from_bytes(text.as_bytes()).expect("a run");
        assert!(!record.rows.is_empty());
        assert!(record.rows.iter().all(|row| row.id.starts_with("cpu.div")));
        assert!(record.cells.iter().all(|cell| cell.row.starts_with("cpu.div")));
    }

    #[test]
    fn what_is_no_machines_own_is_refused() {
        for run in [
            synthetic::run_of_commands(),
            Run { imported: Some(synthetic::imported()), ..synthetic::run() },
        ] {
            assert!(to_reference(&run, &[], &PersonalNames::default()).is_err());
        }
    }

    #[test]
    fn words_that_identify_nobody_stay() {
        let names = PersonalNames::new(["ann".into(), "root".into(), "vm".into()]);
        for plain in
            ["plan", "annual", "6.18.44-fc-v669", "/dev/vda", "root", "vm", "1:2", "planner/annex"]
        {
            assert!(!names.are_in(plain), "{plain}");
        }
        for personal in [
            "ann",
            "/data/ann/x",
            "ann's",
            "10.0.0.1",
            "fe80::1",
            "[fe80::1]:80",
            "(ann)",
            "host=10.0.0.1,",
            "10.0.0.1/24",
        ] {
            assert!(names.are_in(personal), "{personal}");
        }
    }
}
