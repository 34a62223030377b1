//! Work, counted: instructions and system calls of an operation under emulation, with the model of the CPU pinned, so
//! that every host counts the same. It needs qemu-user with plugins and a C compiler; where they aren't, it says so.

use crate::process::{Child, ProcessError, Processes, own_variables};
use crate::sections::is_elf;
use crate::slot::SlotError;
use model::judged::evidence::ArmCounts;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::command::find_program;

const PLUGIN: &str = include_str!("counting/plugin.c");
const EMULATOR: &str = "qemu-x86_64";
/// Programs choose their code by the CPU: one that all emulators have, without what this one can't do.
const CPU: &str = "Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-invpcid,-rtm";
const LIMIT: Duration = Duration::from_secs(60);
/// Lines of a log that are read: a program that does nothing but read the clock has millions.
const MOST_BYTES: usize = 256 << 20;
/// A sample's reads of the clock: a harness may read several clocks at its begin and end.
const MOST_READS: usize = 8;
/// Share of samples that must have taken as long as stretches between reads of the clock did, and how much these may
/// differ: as a share, and in ns.
const ALIKE: f64 = 0.8;
const DIFFER: f64 = 0.02;
const DIFFER_NS: f64 = 10_000.0;

/// Why there are no counts.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum CountError {
    #[error("work is not counted: {0}")]
    NotAvailable(String),
    #[error("work is not counted: the run under emulation failed: {0}")]
    Failed(SlotError),
    #[error("work is not counted: the samples are not found among {0} reads of the clock")]
    NotFound(usize),
    #[error("work is not counted: the harness takes too short samples under emulation")]
    Short,
}

/// Runs programs under the emulator.
#[derive(Clone, Debug)]
pub(crate) struct WorkCounter {
    emulator: PathBuf,
    /// Keeps addresses where they are.
    fixed_addresses: Option<PathBuf>,
    plugin: PathBuf,
}

impl WorkCounter {
    /// Builds the plugin in a folder.
    pub(crate) fn make(
        folder: &Path,
        processes: &mut Processes,
    ) -> Result<WorkCounter, CountError> {
        let absent = |why: &str| CountError::NotAvailable(why.to_owned());
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err(absent("only on x86-64 Linux"));
        }
        let emulator = find_program(EMULATOR.as_ref());
        let emulator =
            emulator.ok_or_else(|| absent("qemu-x86_64 is not installed (qemu-user)"))?;
        let [source, plugin] = ["count.c", "count.so"].map(|name| folder.join(name));
        fs::write(&source, PLUGIN).map_err(|error| CountError::NotAvailable(error.to_string()))?;
        let words = ["cc", "-shared", "-fPIC", "-O2", "-o"].map(str::to_owned);
        let files = [&plugin, &source].map(|path| path.display().to_string());
        let words: Vec<String> = words.into_iter().chain(files).collect();
        let variables = own_variables(&[]);
        let child = Child { words: &words, variables: &variables, directory: folder, limit: LIMIT };
        match processes.run(&child) {
            Ok(ended) if ended.is_success() => {}
            Ok(ended) => return Err(absent(&format!("cc: {}", ended.last_words()))),
            Err(ProcessError::NotFound(_)) => return Err(absent("there is no C compiler (cc)")),
            Err(error) => return Err(CountError::NotAvailable(error.to_string())),
        }
        let fixed_addresses = find_program("setarch".as_ref());
        Ok(WorkCounter { emulator, fixed_addresses, plugin })
    }

    /// The words that run a program under the emulator, with its log in a file.
    pub(crate) fn emulated(&self, words: &[String], log: &Path) -> Result<Vec<String>, CountError> {
        let program = words.first().and_then(|program| find_program(program.as_ref()));
        let Some(program) = program.filter(|path| is_elf(path)) else {
            return Err(CountError::NotAvailable(format!(
                "{} is not an executable but a script",
                words.first().map_or("", |word| word)
            )));
        };
        let mut all: Vec<String> = Vec::new();
        if let Some(setarch) = &self.fixed_addresses {
            all.extend([setarch.display().to_string(), "-R".into()]);
        }
        let plugin = format!("{},out={}", self.plugin.display(), log.display());
        all.push(self.emulator.display().to_string());
        all.extend(["-cpu", CPU, "-plugin", &plugin].map(str::to_owned));
        all.push(program.display().to_string());
        all.extend(words.iter().skip(1).cloned());
        Ok(all)
    }
}

/// What happened between two reads of the clock by one virtual CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    instructions: u64,
    calls: u64,
    /// On the host.
    ns: u64,
}

/// What the plugin wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// In the order in which they ended.
    pub(crate) stretches: Vec<Stretch>,
    /// Of the whole process; none if it ended without a word.
    pub(crate) all: Option<(u64, u64)>,
}

impl Log {
    pub(crate) fn from_file(file: &Path) -> Log {
        let bytes = fs::read(file).unwrap_or_default();
        Log::from_text(&String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]))
    }

    fn from_text(text: &str) -> Log {
        let mut log = Log::default();
        let mut before: Vec<Option<Stretch>> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
            match (words[0], number(1), number(2), number(3), number(4)) {
                ("ALL", Some(instructions), Some(calls), ..) => {
                    log.all = Some((instructions, calls));
                }
                ("T", Some(cpu), Some(instructions), Some(calls), Some(ns)) => {
                    let cpu = (cpu % 256) as usize;
                    before.resize(before.len().max(cpu + 1), None);
                    log.stretches.extend(before[cpu].map(|first| Stretch {
                        instructions: instructions.saturating_sub(first.instructions),
                        calls: calls.saturating_sub(first.calls),
                        ns: ns.saturating_sub(first.ns),
                    }));
                    before[cpu] = Some(Stretch { instructions, calls, ns });
                }
                _ => {}
            }
        }
        log
    }

    /// Instructions and system calls of an operation, where samples had so many operations and took so long. They are
    /// the stretches that lie in equal distances and took as long.
    pub(crate) fn per_operation(&self, samples: &[(u64, f64)]) -> Result<(f64, f64), CountError> {
        let (count, all) = (samples.len(), self.stretches.len());
        let operations: u64 = samples.iter().map(|sample| sample.0).sum();
        let is_alike = |(stretch, &(_, ns)): (&Stretch, &(u64, f64))| {
            (stretch.ns as f64 - ns).abs() <= DIFFER * ns + DIFFER_NS
        };
        let distance_ns =
            |(stretch, &(_, ns)): (&Stretch, &(u64, f64))| (stretch.ns as f64 - ns).abs();
        let mut best: Option<(usize, f64, (u64, u64))> = None;
        for distance in 1..=MOST_READS {
            let Some(span) = count.checked_sub(1).map(|gaps| gaps * distance) else { break };
            for first in 0..all.saturating_sub(span) {
                let found = || self.stretches[first..=first + span].iter().step_by(distance);
                let alike = found().zip(samples).filter(|pair| is_alike(*pair)).count();
                if best.is_some_and(|best| alike < best.0) {
                    continue;
                }
                let off_ns: f64 = found().zip(samples).map(distance_ns).sum();
                if best.is_none_or(|best| alike > best.0 || off_ns < best.1) {
                    let sum = |of: fn(&Stretch) -> u64| found().map(of).sum();
                    let sums = (sum(|one| one.instructions), sum(|one| one.calls));
                    best = Some((alike, off_ns, sums));
                }
            }
        }
        let enough = |best: &(usize, _, _)| operations > 0 && best.0 as f64 >= ALIKE * count as f64;
        let (_, _, (work, calls)) = best.filter(enough).ok_or(CountError::NotFound(all))?;
        Ok((work as f64 / operations as f64, calls as f64 / operations as f64))
    }
}

/// Counts of equal runs as one: the median, and how far they lie apart.
pub(crate) fn of_runs(runs: &[(f64, f64)]) -> Option<ArmCounts> {
    let median = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = runs.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        let middle = all.get(all.len() / 2).copied();
        middle.map(|middle| (middle, all[all.len() - 1] - all[0]))
    };
    let ((instructions, range), (system_calls, _)) = (median(|run| run.0)?, median(|run| run.1)?);
    let spread = if instructions > 0.0 { range / instructions } else { 0.0 };
    Some(ArmCounts { instructions, system_calls, spread })
}

#[cfg(test)]
mod tests;
