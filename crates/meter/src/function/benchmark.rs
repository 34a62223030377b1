//! A session as a benchmark with a command line of its own: `--save FILE` keeps the run, `--baseline FILE` compares
//! with one that was kept, `--fail-above PERCENT` is the gate.

use super::{Session, SessionError};
use crate::{osnoise, worker};
use compare::{CompareError, Comparison, Operand, Options, USUAL_MARGIN, compare};
use model::run::Run;
use model::share::limit;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The gate without `--fail-above`: 5 % longer.
const USUAL_GATE: f64 = 0.05;

/// Why a benchmark gave no result.
#[derive(thiserror::Error, Debug)]
pub enum BenchmarkError {
    /// An argument that is none of a benchmark's.
    #[error("unexpected argument {0:?}: --save FILE, --baseline FILE, --fail-above PERCENT")]
    Argument(String),
    /// An option without its value.
    #[error("{0} needs a value")]
    NoValue(&'static str),
    /// Not a percentage above 0.
    #[error("{0:?} is not a percentage above 0, such as 5%")]
    Percent(String),
    /// The baseline can't be read, or the run not be kept.
    #[error("{}: {source}", path.display())]
    File {
        /// Of this file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing was measured.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Nothing can be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

/// A run, and what it says of a baseline.
#[derive(Debug)]
pub struct BenchmarkRun {
    /// What was measured.
    pub run: Run,
    /// It against the baseline, if one was named.
    pub comparison: Option<Comparison>,
    fail_above: f64,
}

impl BenchmarkRun {
    /// A run against one that was kept; `fail_above` is a share: 0.05 for 5 %.
    ///
    /// # Errors
    /// That they have no function in common.
    pub fn against(run: Run, baseline: Run, fail_above: f64) -> Result<BenchmarkRun, CompareError> {
        let [a, b] = [("baseline", baseline), ("this run", run.clone())]
            .map(|(name, run)| Operand::from_run(name, run));
        let options =
            Options { margin: USUAL_MARGIN, fail_above: Some(fail_above), normalize: None };
        let comparison = compare(&a, &b, &[], &|_| true, &options)?;
        Ok(BenchmarkRun { run, comparison: Some(comparison), fail_above })
    }

    /// 0; 1 where a function became slower by more than the gate allows; 3 where no function could be judged.
    pub fn exit_code(&self) -> ExitCode {
        match &self.comparison {
            Some(comparison) if !comparison.crossed.is_empty() => ExitCode::from(1),
            Some(comparison) if !comparison.has_findings() => ExitCode::from(3),
            _ => ExitCode::SUCCESS,
        }
    }
}

/// The table of the run, then a line for each function that is compared.
impl fmt::Display for BenchmarkRun {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.run)?;
        let Some(comparison) = &self.comparison else { return Ok(()) };
        writeln!(f, "\nthis run / baseline, with its 95 % interval:")?;
        for row in &comparison.rows {
            let answer = row.direction.map_or(row.finding.printed(), |direction| direction.text());
            match &row.ratio {
                Some(ratio) => write!(f, "{}  {:.3}", row.name(), ratio.value)?,
                None => write!(f, "{}  -", row.name())?,
            }
            if let Some((low, high)) = row.ratio.as_ref().and_then(|one| one.low.zip(one.high)) {
                write!(f, " [{low:.3}, {high:.3}]")?;
            }
            writeln!(f, " {answer}")?;
        }
        let gate = limit(self.fail_above);
        match &comparison.crossed[..] {
            [] => writeln!(f, "No regression above {gate}."),
            crossed => writeln!(f, "Slower by more than {gate}: {}", crossed.join(", ")),
        }
    }
}

/// What the command line says.
#[derive(Debug, Default, PartialEq)]
struct Wanted {
    save: Option<PathBuf>,
    baseline: Option<PathBuf>,
    fail_above: Option<f64>,
}

impl Session {
    /// Measures and does what the arguments of the program say, without its name: `std::env::args().skip(1)`. Print the
    /// result, and end with its exit code.
    ///
    /// # Errors
    /// An unknown argument or an unreadable baseline before anything is measured; what [`Session::run`] says.
    pub fn benchmark(
        self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<BenchmarkRun, BenchmarkError> {
        // A worker has arguments of its own.
        worker::enter_if_worker(&self.probes);
        osnoise::brief::enter_if_child();
        let wanted = wanted(arguments)?;
        let baseline = wanted.baseline.as_deref().map(kept_run).transpose()?;
        let run = self.run()?;
        if let Some(path) = &wanted.save {
            keep(&run, path)
                .map_err(|source| BenchmarkError::File { path: path.clone(), source })?;
        }
        let fail_above = wanted.fail_above.unwrap_or(USUAL_GATE);
        Ok(match baseline {
            Some(baseline) => BenchmarkRun::against(run, baseline, fail_above)?,
            None => BenchmarkRun { run, comparison: None, fail_above },
        })
    }
}

fn wanted(arguments: impl IntoIterator<Item = String>) -> Result<Wanted, BenchmarkError> {
    let mut wanted = Wanted::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = |option| arguments.next().ok_or(BenchmarkError::NoValue(option));
        match &*argument {
            "--save" => wanted.save = Some(value("--save")?.into()),
            "--baseline" => wanted.baseline = Some(value("--baseline")?.into()),
            "--fail-above" => wanted.fail_above = Some(share(value("--fail-above")?)?),
            // What cargo bench adds.
            "--bench" => {}
            _ => return Err(BenchmarkError::Argument(argument)),
        }
    }
    Ok(wanted)
}

fn share(text: String) -> Result<f64, BenchmarkError> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err(BenchmarkError::Percent(text)),
    }
}

fn kept_run(path: &Path) -> Result<Run, BenchmarkError> {
    let read = std::fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.map_err(|source| BenchmarkError::File { path: path.to_owned(), source })
}

/// Writes the Run document whole or not at all; `latlas show` and `latlas compare` read it too.
fn keep(run: &Run, path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(&serde_json::to_vec(run)?)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Result<Wanted, BenchmarkError> {
        wanted(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_command_line_is_read_or_refused() {
        let all = arguments("--bench --save a.json --baseline b.json --fail-above 2.5%");
        let wanted = all.expect("an own command line");
        assert_eq!(wanted.save.as_deref(), Some(Path::new("a.json")));
        assert_eq!(wanted.fail_above, Some(0.025));
        for bad in ["--fast", "--save", "--fail-above x", "--fail-above -5%", "parse"] {
            arguments(bad).expect_err(bad);
        }
    }

    #[test]
    fn a_slower_function_crosses_the_gate_and_a_kept_run_is_read_again() {
        let run = model::synthetic::run();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.json");
        keep(&run, &path).expect("kept");
        let kept = kept_run(&path).expect("read");
        let same = BenchmarkRun::against(run.clone(), kept.clone(), USUAL_GATE).expect("compared");
        assert!(same.comparison.as_ref().is_some_and(|same| same.crossed.is_empty()));
        assert!(same.to_string().ends_with("No regression above 5 %.\n"), "{same}");

        let slower = model::synthetic::slower(&run, "cpu.add_i32", 2.0);
        let judged = BenchmarkRun::against(slower, kept, USUAL_GATE).expect("compared");
        let crossed = judged.comparison.as_ref().map(|one| one.crossed.clone());
        assert_eq!(crossed.as_deref(), Some(&["cpu.add_i32".to_owned()][..]));
        assert!(judged.to_string().contains("Slower by more than 5 %: cpu.add_i32"), "{judged}");
        assert!(kept_run(&folder.path().join("none.json")).is_err());
    }
}
