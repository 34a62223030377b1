//! One slot: one benchmark in a new process.

use super::Suites;
use super::places::{SlotPlace, SlotWork, with_benchmark, with_work};
use crate::harness::adapter::Adapter;
use crate::harness::environment::small_environment;
use crate::harness::fill::Filling;
use crate::harness::listing::empty;
use crate::harness::results::only_figure;
use crate::process::{Child, EndedChild, ProcessError, Variables};
use crate::slot::{Arm, Benchmark, SlotError, SlotRequest, SlotSamples, Slots};
use std::path::PathBuf;
use std::time::Duration;
use store::exchange::import::FigureFound;

/// What a slot may take, unless the user says otherwise.
const SLOT_LIMIT: Duration = Duration::from_secs(120);
/// Samples of a run that finds out how long an operation takes, and how often it is looked again.
const TRIAL_SAMPLES: u32 = 3;
const TRIALS: usize = 6;
/// Iterations grow by so much from trial to trial at most: the first operation may be a slow one.
const MOST_GROWTH: u64 = 1000;
/// Times that a slot is repeated where its harness took far less than it was to: it was interrupted while it found out.
const REPEATS: usize = 2;

/// A run that is to be made.
pub(super) struct PreparedRun {
    /// Its harness, by place.
    pub(super) adapter: usize,
    pub(super) words: Vec<String>,
    pub(super) variables: Variables,
    pub(super) directory: PathBuf,
    filling: Filling,
}

impl Slots for Suites {
    fn benchmarks(&self) -> &[Benchmark] {
        &self.benchmarks
    }

    fn measure(&mut self, request: &SlotRequest) -> Result<SlotSamples, SlotError> {
        let at = self.benchmarks.iter().position(|one| one.name == request.benchmark);
        let at = at.ok_or(SlotError::Nothing)?;
        let side = match request.arm {
            Arm::Base | Arm::BaseAgain => 0,
            Arm::Head => 1,
        };
        let work = SlotWork {
            samples: request.samples,
            sample_length: request.sample_length,
            iterations: request.iterations,
            seed: request.layout_seed.filter(|_| self.benchmarks[at].can_relink),
        };
        let own = self.found[at].programs[side].ok_or(SlotError::Nothing)?;
        let adapter = self.sides[side].programs[own].adapter;
        let lines = match self.lines[adapter] {
            Some(line) => line..line + 1,
            None => 0..self.adapters[adapter].run.len(),
        };
        let mut last = SlotError::Nothing;
        for line in lines {
            match self.measure_by(SlotPlace { at, side, line }, work) {
                Ok(samples) => {
                    self.lines[adapter] = Some(line);
                    return Ok(samples);
                }
                // Another version of the harness may want other words.
                Err(error @ SlotError::Failed { code: Some(_), .. }) => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

impl Suites {
    fn measure_by(&mut self, place: SlotPlace, work: SlotWork) -> Result<SlotSamples, SlotError> {
        let SlotPlace { at, side, line } = place;
        let own = self.sides[side].programs[self.found[at].programs[side].unwrap_or(0)].adapter;
        let adapter = &self.adapters[own];
        let (is_fixed, least) = (adapter.sets_iterations(line), adapter.least_samples);
        let samples = work.samples.max(least);
        let iterations = match (is_fixed, work.iterations) {
            (true, None) => Some(self.calibrated(at, line, work.sample_length)?),
            (_, given) => given,
        };
        let work = SlotWork { samples, iterations, ..work };
        let mut measured = self.run_once(place, work)?;
        // It found out by itself how many iterations a sample has, and was interrupted just then.
        let times_itself = !is_fixed && adapter_times(&self.adapters[own], line);
        for _ in 0..REPEATS {
            if !times_itself || self.found[at].sets_its_work || !is_short(&measured, work) {
                return Ok(measured);
            }
            measured = self.run_once(place, work)?;
        }
        // Some benchmarks say themselves how much is done.
        self.found[at].sets_its_work = is_short(&measured, work);
        Ok(measured)
    }

    /// Iterations that take about so long, of the base: all arms have these.
    pub(super) fn calibrated(
        &mut self,
        at: usize,
        line: usize,
        length: Duration,
    ) -> Result<u64, SlotError> {
        let wanted_ns = length.as_nanos();
        if let Some(&known) = self.found[at].iterations.get(&wanted_ns) {
            return Ok(known);
        }
        let side = usize::from(self.found[at].programs[0].is_none());
        // The first operation is a slow one, if any is: it gives too few.
        let listed = self.found[at].ns.filter(|ns| *ns > 0.0);
        let mut n = listed.map_or(1, |ns| ((wanted_ns as f64 / ns) as u64).max(1));
        for _ in 0..TRIALS {
            let work = SlotWork {
                samples: TRIAL_SAMPLES,
                sample_length: length,
                iterations: Some(n),
                seed: None,
            };
            let measured = self.run_once(SlotPlace { at, side, line }, work)?;
            let fastest = measured.ns.iter().copied().fold(f64::INFINITY, f64::min);
            let fits = ((wanted_ns as f64 / fastest.max(1e-3)) as u64).clamp(1, n * MOST_GROWTH);
            let is_near = fits <= 2 * n && n <= 2 * fits;
            n = fits;
            if is_near {
                break;
            }
        }
        self.found[at].iterations.insert(wanted_ns, n);
        Ok(n)
    }

    fn run_once(&mut self, place: SlotPlace, work: SlotWork) -> Result<SlotSamples, SlotError> {
        let run = self.prepared(place, work)?;
        let ended = self.run_child(&run)?;
        self.samples_of(place, work, &run, &ended)
    }

    /// The run of a benchmark, with its executable and an empty folder.
    pub(super) fn prepared(
        &mut self,
        place: SlotPlace,
        work: SlotWork,
    ) -> Result<PreparedRun, SlotError> {
        let SlotPlace { at, side, line } = place;
        let found = &self.found[at];
        let program = found.programs[side].ok_or(SlotError::Nothing)?;
        let mut program = self.sides[side].programs[program].clone();
        let adapter = &self.adapters[program.adapter];
        if let Some(seed) = work.seed {
            let of = &self.sides[side].side;
            let made =
                self.layouts.executable(side, of, &program, adapter, seed, &mut self.processes);
            let made = made.map_err(not_run)?;
            let not_linked =
                || SlotError::NotParsed { field: format!("layout: seed {seed} does not link") };
            program.exe = Some(made.ok_or_else(not_linked)?);
        }
        let filling = self.filling(side, &program);
        let root = &self.sides[side].side.root;
        let filling = with_benchmark(filling, &found.name, &program.key, root);
        let filling = with_work(filling, work);
        let of_harness =
            adapter.env.iter().map(|(name, value)| (name.clone(), filling.text(value)));
        let emptied = empty(&self.sides[side].side);
        emptied.map_err(|error| SlotError::NotParsed { field: error.to_string() })?;
        Ok(PreparedRun {
            adapter: program.adapter,
            words: filling.filled(&adapter.run[line]),
            variables: small_environment(of_harness),
            directory: program.directory,
            filling,
        })
    }

    pub(super) fn run_child(&mut self, run: &PreparedRun) -> Result<EndedChild, SlotError> {
        let child = Child {
            words: &run.words,
            variables: &run.variables,
            directory: &run.directory,
            limit: self.options.slot_limit.unwrap_or(SLOT_LIMIT),
        };
        self.processes.run(&child).map_err(not_run)
    }

    /// What a run measured.
    pub(super) fn samples_of(
        &self,
        place: SlotPlace,
        work: SlotWork,
        run: &PreparedRun,
        ended: &EndedChild,
    ) -> Result<SlotSamples, SlotError> {
        let adapter = &self.adapters[run.adapter];
        let figure = only_figure(adapter, &self.found[place.at].name, &run.filling, ended)?;
        let (ns, iterations): (Vec<f64>, Vec<u64>) = match figure {
            FigureFound::Samples(samples) => {
                if adapter.sets_samples(place.line) && samples.len() > work.samples as usize {
                    return Err(SlotError::SeveralValues);
                }
                samples.iter().map(|&(turns, ns)| (ns / turns as f64, turns)).unzip()
            }
            // Three of its samples: the tool keeps the others to itself.
            FigureFound::Aggregate { ns, range_ns, .. } => {
                let n = work.iterations.unwrap_or(1);
                let of = |range: [f64; 2]| vec![(range[0], n), (ns, n), (range[1], n)];
                range_ns.map_or_else(|| vec![(ns, n)], of).into_iter().unzip()
            }
            FigureFound::Failed(stderr) => return Err(SlotError::Failed { code: Some(0), stderr }),
        };
        if ns.is_empty() {
            return Err(SlotError::Nothing);
        }
        Ok(SlotSamples { ns, iterations, wall_ns: ended.usage.wall_ns })
    }
}

/// Whether the length of samples can be set.
fn adapter_times(adapter: &Adapter, line: usize) -> bool {
    adapter.run[line].iter().any(|word| word.contains("{total_s}") || word.contains("{sample_s}"))
}

/// Whether most samples are far shorter than they were to be.
pub(super) fn is_short(measured: &SlotSamples, work: SlotWork) -> bool {
    let asked_ns = work.sample_length.as_nanos() as f64;
    let lengths = measured.ns.iter().zip(&measured.iterations).map(|(ns, &n)| ns * n as f64);
    let short = lengths.filter(|length| *length < asked_ns / 4.0).count();
    2 * short > measured.ns.len()
}

fn not_run(error: ProcessError) -> SlotError {
    SlotError::NotRun(error.to_string())
}
