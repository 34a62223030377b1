//! What a run may be set against, found before anything is measured.

use crate::operand::{self, OperandError, tagged};
use crate::{Store, StoreError};
use compare::operand::{FigureSource, Operand};
use compare::references::References;
use model::run::{Outcome, Row};
use std::path::Path;

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Nothing of that name.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// The kept runs can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{name} can't be a baseline: {why}")]
    NoRuns { name: String, why: &'static str },
    #[error(
        "the baseline {name} has no single figure or level of what would be measured ({rows}), and \
         the gate ignores points of curves and maps (`latlas compare` compares them)"
    )]
    OnlyPoints { name: String, rows: String },
    #[error("the baseline {name} has no figure of the rows that would be measured ({rows})")]
    NothingShared { name: String, rows: String },
}

/// The baseline that a name means: a file of that name, all kept runs with that
/// tag that are like the newest of them (at most ten), or whatever `compare`
/// takes, but for published tables. `rows` are those that are to be measured.
/// What was left out or the index had to repair is added to `messages`, a line each.
///
/// # Errors
/// If it is none, or has none of the rows.
pub fn baseline(
    name: &str,
    store: &Result<Store, StoreError>,
    references: &References,
    rows: &[String],
    messages: &mut Vec<String>,
) -> Result<Operand, BaselineError> {
    let tagged = match store {
        Ok(store) if !Path::new(name).is_file() => tagged(name, store, messages)?,
        _ => Vec::new(),
    };
    let operand = match tagged.is_empty() {
        true => operand::find_operand(name, store, references, messages)?,
        false => Operand::of_runs(name, tagged),
    };
    let no = |why| BaselineError::NoRuns { name: name.to_owned(), why };
    if matches!(operand.source, FigureSource::Published(_)) {
        return Err(no("it is a published table, and a gate needs runs of this machine"));
    }
    if operand.runs().iter().any(|run| run.commands.is_some()) {
        return Err(no("it is a run of commands (`latlas exec` compares those)"));
    }
    if operand.runs().iter().any(|run| run.is_of_recording()) {
        return Err(no("it is a recording (`latlas compare` compares those)"));
    }
    if operand.runs().iter().any(|run| run.imported.is_some()) {
        return Err(no("another program measured it"));
    }
    let has = |id: &str, row: &Row| {
        let rest = row.id.strip_prefix(id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let own = operand.runs().iter().flat_map(|run| &run.rows);
    let shared: Vec<&Row> = own.filter(|row| rows.iter().any(|id| has(id, row))).collect();
    if !shared.iter().any(|row| row.estimate().is_some()) {
        const NAMED: usize = 5;
        let more = if rows.len() > NAMED { ", ..." } else { "" };
        let some: Vec<&str> = rows.iter().take(NAMED).map(String::as_str).collect();
        let (name, rows) = (name.to_owned(), some.join(", ") + more);
        let curve = |row: &&Row| matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. });
        return Err(match shared.iter().any(curve) {
            true => BaselineError::OnlyPoints { name, rows },
            false => BaselineError::NothingShared { name, rows },
        });
    }
    Ok(operand)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Taken;
    use crate::index::tests::numbered;
    use model::run::Run;
    use model::synthetic;

    #[test]
    fn a_baseline_is_of_this_program_and_has_a_figure_of_what_is_to_be_measured() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        for n in 1..=3 {
            let run = numbered(n, "one");
            store.save(&run).expect("saved");
            if n > 1 {
                store.tag("before", &run.id, Taken::Shared).expect("tagged");
            }
        }
        let file = |name: &str, run: &Run| {
            let path = dir.path().join(name);
            crate::write_run(run, &path).expect("written");
            path.to_str().expect("UTF-8").to_owned()
        };
        let imported = Run { imported: Some(synthetic::imported()), ..synthetic::run() };
        let imported = file("imported.json", &imported);
        let commands = file("commands.json", &synthetic::run_of_commands());
        let store = Ok(store);
        let references = References::embedded().expect("references");
        let of = |name: &str, rows: &[&str]| {
            let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
            let found = baseline(name, &store, &references, &rows, &mut Vec::new());
            found.map(|operand| operand.runs().len())
        };
        let runs = |name, rows: &[&str]| of(name, rows).expect(name);
        assert_eq!(runs("before", &["cpu.add_i32"]), 2);
        assert_eq!(runs("last", &["net.rtt/tcp", "cpu.add_i32"]), 1);
        // A curve's levels are rows below it.
        assert_eq!(runs("last", &["memory.latency"]), 1);
        let no = |name, rows: &[&str]| of(name, rows).expect_err(name).to_string();
        let errors = [
            no("last", &["memory.parallelism"]),
            no("last", &["memory.lat"]),
            no("last", &["a", "b", "c", "d", "e"]),
            no("last", &["a", "b", "c", "d", "e", "f"]),
            no("iphone-x", &["cpu.add_i32"]),
            no(&imported, &["cpu.add_i32"]),
            no(&commands, &["cpu.add_i32"]),
        ];
        let errors = errors.join("\n");
        insta::assert_snapshot!(errors.replace(&*dir.path().to_string_lossy(), "DIR"));
    }
}
