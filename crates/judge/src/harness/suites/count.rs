//! The work of a benchmark, counted.

use super::Suites;
use super::places::{SlotPlace, SlotWork};
use super::run::is_short;
use crate::counting::{CountError, Log, WorkCounter, of_runs};
use crate::slot::{Arm, SlotError, SlotRequest, SlotSamples, Slots};
use model::judged::evidence::ArmCounts;
use std::path::PathBuf;
use std::time::Duration;

/// Equal runs, whose spread is stated.
const RUNS: u32 = 3;
/// Runs until one has samples that are long enough, of twice the length each: an interruption is soon shorter.
const TRIES: u32 = 8;
/// Samples of a run, and their length where nothing is emulated.
const SAMPLES: u32 = 10;
const SAMPLE_LENGTH: Duration = Duration::from_micros(400);
/// Where the number of operations is given: few long ones, since a harness may collect garbage between them.
const FIXED_SAMPLES: u32 = 2;
const FIXED_LENGTH: Duration = Duration::from_millis(4);
/// So many operations of a ns each are enough: emulation is slow.
const MOST_ITERATIONS: u64 = 300_000;

impl Suites {
    /// Counts what an operation does, in equal runs under emulation.
    ///
    /// Where a harness takes the number of operations, the whole process is counted with N and with 3 N of them: what
    /// differs is their work. Else its samples are looked for between its reads of the clock.
    ///
    /// # Errors
    /// Where nothing can be counted, and why.
    pub fn count(&mut self, benchmark: &str, arm: Arm) -> Result<ArmCounts, CountError> {
        let at = self.benchmarks.iter().position(|one| one.name == benchmark);
        let at = at.ok_or(CountError::Failed(SlotError::Nothing))?;
        let side = usize::from(arm == Arm::Head);
        let program =
            self.found[at].programs[side].ok_or(CountError::Failed(SlotError::Nothing))?;
        let adapter = self.sides[side].programs[program].adapter;
        let line = self.known_line(benchmark, arm, adapter)?;
        let is_fixed = self.adapters[adapter].sets_iterations(line);
        self.check_countable(adapter, is_fixed)?;
        let counter = self.counter()?;
        let samples = if is_fixed { FIXED_SAMPLES } else { SAMPLES };
        let work = |iterations| SlotWork {
            samples: samples.max(self.adapters[adapter].least_samples),
            sample_length: SAMPLE_LENGTH,
            iterations,
            seed: None,
        };
        let place = SlotPlace { at, side, line };
        let [one, three] = [1, 3].map(|times| work(Some(times)));
        let timed = work(None);
        let n = match is_fixed {
            true => self.calibrated(at, line, FIXED_LENGTH).map_err(CountError::Failed)?,
            false => 1,
        };
        let n = n.min(MOST_ITERATIONS);
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            runs.push(match is_fixed {
                true => {
                    let mut all = |work: SlotWork| {
                        let work =
                            SlotWork { iterations: work.iterations.map(|times| times * n), ..work };
                        let (log, _) = self.counted(&counter, place, work)?;
                        log.all.ok_or(CountError::NotFound(log.stretches.len()))
                    };
                    let (few, many) = (all(one)?, all(three)?);
                    let operations = (2 * n * u64::from(one.samples)) as f64;
                    let per = |few: u64, many: u64| (many as f64 - few as f64) / operations;
                    (per(few.0, many.0), per(few.1, many.1))
                }
                false => {
                    let (log, samples) = self.counted_whole(&counter, place, timed)?;
                    log.per_operation(&samples)?
                }
            });
        }
        of_runs(&runs).ok_or(CountError::NotFound(0))
    }

    /// The line of `run` that this version of a harness takes: found by one slot, if none was measured.
    fn known_line(
        &mut self,
        benchmark: &str,
        arm: Arm,
        adapter: usize,
    ) -> Result<usize, CountError> {
        if self.lines[adapter].is_none() && self.adapters[adapter].run.len() > 1 {
            let (samples, sample_length) = (FIXED_SAMPLES, SAMPLE_LENGTH);
            let (iterations, layout_seed) = (None, None);
            let request =
                SlotRequest { benchmark, arm, samples, sample_length, iterations, layout_seed };
            self.measure(&request).map_err(CountError::Failed)?;
        }
        Ok(self.lines[adapter].unwrap_or(0))
    }

    /// Whether it is known how many operations were counted, in a process that the emulator sees.
    fn check_countable(&self, adapter: usize, is_fixed: bool) -> Result<(), CountError> {
        let adapter = &self.adapters[adapter];
        let not = |why: &str| Err(CountError::NotAvailable(format!("{} {why}", adapter.name)));
        if adapter.child_process {
            return not("runs its work in a child process, which is not emulated");
        }
        match is_fixed || adapter.results.as_ref().is_some_and(|results| results.operations) {
            true => Ok(()),
            false => not("does not say how many operations a sample has"),
        }
    }

    /// A counter in a folder of its own, made once.
    fn counter(&mut self) -> Result<WorkCounter, CountError> {
        if self.counter.is_none() {
            let folder = &self.sides[0].side.target;
            self.counter = Some(WorkCounter::make(folder, &mut self.processes));
        }
        self.counter.clone().unwrap_or(Err(CountError::NotFound(0)))
    }

    /// A run whose samples are as long as they should be: a harness that finds out by itself how many operations that
    /// takes may be interrupted just then.
    fn counted_whole(
        &mut self,
        counter: &WorkCounter,
        place: SlotPlace,
        work: SlotWork,
    ) -> Result<(Log, Vec<(u64, f64)>), CountError> {
        for tried in 0..TRIES {
            let longer = SlotWork { sample_length: work.sample_length * (1 << tried), ..work };
            let (log, measured) = self.counted(counter, place, longer)?;
            if self.found[place.at].sets_its_work || !is_short(&measured, work) {
                let all = measured.iterations.iter().zip(&measured.ns);
                return Ok((log, all.map(|(&n, ns)| (n, ns * n as f64)).collect()));
            }
        }
        Err(CountError::Short)
    }

    /// One run under emulation: what was counted and what was measured.
    fn counted(
        &mut self,
        counter: &WorkCounter,
        place: SlotPlace,
        work: SlotWork,
    ) -> Result<(Log, SlotSamples), CountError> {
        let mut run = self.prepared(place, work).map_err(CountError::Failed)?;
        let log: PathBuf = self.sides[place.side].side.target.join("counts");
        let _ = std::fs::remove_file(&log);
        run.words = counter.emulated(&run.words, &log)?;
        for (name, value) in &self.adapters[run.adapter].count_env {
            run.variables.retain(|(known, _)| known != &**name);
            run.variables.push((name.into(), value.into()));
        }
        let ended = self.run_child(&run).map_err(CountError::Failed)?;
        let measured = self.samples_of(place, work, &run, &ended);
        Ok((Log::from_file(&log), measured.map_err(CountError::Failed)?))
    }
}
