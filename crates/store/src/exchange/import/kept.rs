//! A Run document of another machine, taken as it is.

use super::ImportFault;
use super::file_checks::{MAX_FILE_BYTES, json, too_large};
use super::files::Input;
use model::run::Run;
use std::collections::HashSet;

const MAX_ID: usize = 256;

/// The run, if it is whole. Its texts stay as they are, as those of every document that is stored: whoever
/// reads one to show it gets what is hidden spelled out.
pub(super) fn kept_run(input: &Input) -> Result<Run, ImportFault> {
    let Input::File { bytes, .. } = input else {
        return Err(ImportFault::of_file("it is a directory, and a run is a file"));
    };
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    if !crate::is_packed(bytes) {
        json(bytes)?;
    }
    let run = crate::from_bytes(bytes).map_err(ImportFault::of_file)?;
    let mut ids = HashSet::new();
    for row in &run.rows {
        if !is_row_id(&row.id) {
            let shown: String = row.id.chars().take(MAX_ID).collect();
            return Err(ImportFault::of_file(format!(
                "{shown:?} is not the id of a row: parts of letters, digits and _-.+=,:%#@, between \
                 slashes"
            )));
        }
        if !ids.insert(&row.id) {
            return Err(ImportFault::of_file(format!("the row {:?} comes twice", row.id)));
        }
    }
    Ok(run)
}

/// Whether a text can be the id of a row, as latlas and every import write it:
/// nothing that a shell, a pattern or a path would take for something else.
fn is_row_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.+=,:%#@/".contains(c);
    let names = |part: &str| part.chars().any(|c| c.is_ascii_alphanumeric());
    text.len() <= MAX_ID
        && !text.starts_with('-')
        && text.chars().all(fits)
        && text.split('/').all(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::Row;
    use model::synthetic;

    #[test]
    fn ids_of_rows_are_looked_at() {
        for run in [synthetic::run(), synthetic::run_of_commands()] {
            for row in &run.rows {
                assert!(is_row_id(&row.id), "{}", row.id);
            }
        }
        for bad in [
            "",
            "/",
            "a//b",
            "../etc",
            "a/..",
            "-rf",
            "--out",
            "a b",
            "a*",
            "a?b",
            "a\"b",
            "größe",
            "a\nb",
            "a|b",
            "a\\b",
            &"x".repeat(MAX_ID + 1),
        ] {
            assert!(!is_row_id(bad), "{bad:?}");
        }
        let mut run = synthetic::run();
        run.rows[3].id = "cpu.x; rm -rf ~".into();
        let input =
            Input::File { name: "any.json".into(), bytes: crate::to_json(&run).expect("document") };
        let fault = self::kept_run(&input).expect_err("refused");
        assert!(fault.reason.contains("is not the id of a row"), "{fault:?}");
    }

    #[test]
    fn a_run_may_have_as_many_rows_as_one_that_is_shown() {
        let mut run = synthetic::run();
        // The shortest: files may be 64 MiB.
        let bytes = |row: &&Row| serde_json::to_vec(row).expect("a row").len();
        let one = run.rows.iter().min_by_key(bytes).expect("rows").clone();
        let row = |number| Row { id: format!("of_a_suite.{number}"), ..one.clone() };
        run.rows = (0..=super::super::MAX_ROWS).map(row).collect();
        run.cells.clear();
        let input =
            Input::File { name: "any.json".into(), bytes: crate::to_json(&run).expect("document") };
        let read = self::kept_run(&input).expect("taken");
        assert_eq!(read.rows.len(), run.rows.len());
    }
}
