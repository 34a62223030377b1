//! Through the cases, round by round. What was measured before something went
//! wrong is kept.

use crate::levels;
use crate::report::EndedJob;
use crate::report::JobOrder;
use crate::running::{JobError, Running, run_jobs};
use meter::commands::repeat::{ALONE, Done, Runner, repeat};
use meter::cpu_history::CpuRecording;
use model::command::{Ended as EndedBy, Rule};
use model::cpu_history::CpuHistory;
use model::machine::{CoreKind, Fact};
use model::qos::{Case, CaseRun, CaseRuns, How, Level, LevelHere};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use sys::command::Usage;

/// What jobs need to know.
#[derive(Clone, Debug)]
pub struct Jobs {
    /// What is compressed.
    pub file: PathBuf,
    pub how: How,
    /// Whether sessions have autogroups that act.
    pub autogroups: bool,
    /// The machine's kinds of cores.
    pub core_kinds: Fact<Vec<CoreKind>>,
    /// Whether it is recorded what all CPUs do.
    pub history: bool,
}

/// How often the CPUs' times are read for a history.
const HISTORY_EVERY: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conducted {
    /// The cases with their runs.
    pub cases: Vec<CaseRuns>,
    /// What each level is here.
    pub levels: Vec<LevelHere>,
    /// Why it is not whole, if it is not.
    pub partial: Option<String>,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct QosProgress {
    /// The case that begins.
    pub case: Case,
    /// Its round, from 1.
    pub round: u32,
    /// Time since the beginning.
    pub elapsed: Duration,
}

impl Jobs {
    fn blocks_of_file(&self) -> u64 {
        self.how.file_bytes.div_ceil(self.how.block_bytes.max(1))
    }

    fn order(&self, level: Level) -> JobOrder {
        JobOrder {
            file: self.file.clone(),
            block_bytes: self.how.block_bytes,
            blocks: self.blocks_of_file() * u64::from(self.how.passes),
            for_ns: None,
            codec: self.how.codec,
            operations: self.how.operations,
            settings: levels::settings(level, self.autogroups),
            verify: false,
        }
    }

    /// The jobs of a case, in the order of its levels.
    fn orders(&self, case: Case) -> Vec<JobOrder> {
        let mut orders: Vec<JobOrder> = case.levels().into_iter().map(|l| self.order(l)).collect();
        for order in &mut orders {
            match case {
                Case::Operations { operations, .. } => {
                    // As much of the work as takes about as long.
                    let all = u64::from(self.how.operations.max(1));
                    order.blocks = (order.blocks * u64::from(operations) / all).max(1);
                    order.operations = operations;
                }
                Case::Long { seconds, .. } => {
                    order.blocks = u64::MAX;
                    order.for_ns = Some(u64::from(seconds) * 1_000_000_000);
                }
                Case::Alone { .. } | Case::Pair { .. } | Case::Same { .. } => {}
            }
        }
        orders
    }

    /// Compresses, decompresses and compares each block once, then measures one
    /// pass: compressed bytes, and the time it took.
    ///
    /// # Errors
    /// A block that did not come back, or a job that failed.
    pub fn verify(&self, stop: &AtomicBool) -> Result<(u64, Duration), JobError> {
        let order = JobOrder {
            blocks: self.blocks_of_file(),
            verify: true,
            settings: Vec::new(),
            ..self.order(Level::DEFAULT)
        };
        let (_, verified) = run_jobs(vec![Running::start_job(&order, stop)?], stop)?;
        let plain = JobOrder { verify: false, ..order };
        let no_report = || JobError::Failed("no report".into());
        let verified = verified.into_iter().next().ok_or_else(no_report)?;
        let mut passes: u32 = 1;
        loop {
            let order = JobOrder { blocks: plain.blocks * u64::from(passes), ..plain.clone() };
            let (go_ns, timed) = run_jobs(vec![Running::start_job(&order, stop)?], stop)?;
            let timed = timed.into_iter().next().ok_or_else(no_report)?;
            let took_ns = timed.end_ns().unwrap_or(go_ns).saturating_sub(go_ns);
            let took = Duration::from_nanos(took_ns);
            // The first pass of a small file is slower than those of a job.
            if took >= TIMED_FOR || passes >= MOST_PASSES {
                return Ok((verified.report.compressed_bytes, took / passes));
            }
            let more = TIMED_FOR.as_secs_f64() / took.as_secs_f64().max(1e-6);
            passes = (f64::from(passes) * more * 1.2).ceil().min(f64::from(MOST_PASSES)) as u32;
        }
    }
}

/// Time over which a pass is timed, and passes at most.
const TIMED_FOR: Duration = Duration::from_millis(300);
const MOST_PASSES: u32 = 1 << 20;

/// Measures all cases in rounds: in a random order, the next round in the
/// reverse order. A case that fails is left out from then on. Long cases come
/// once, at the end.
pub fn conduct(
    jobs: &Jobs,
    cases: &[Case],
    stop: &AtomicBool,
    watch: impl FnMut(&QosProgress),
) -> Conducted {
    let (long, rounds): (Vec<Case>, Vec<Case>) =
        cases.iter().partition(|case| matches!(case, Case::Long { .. }));
    let mut conductor = Conductor {
        jobs,
        stop,
        watch,
        began: Instant::now(),
        cases: cases
            .iter()
            .map(|&case| CaseRuns { case, runs: Vec::new(), left_out: None, history: None })
            .collect(),
        order: rounds,
        levels: Vec::new(),
    };
    let rule = Rule { runs: Some(jobs.how.rounds), ..ALONE };
    let mut interrupted = false;
    if !conductor.order.is_empty() {
        let count = conductor.order.len();
        let Ok(repeated) = repeat(&mut conductor, count, 0, &rule, jobs.how.seed, |_| ());
        interrupted = repeated.ended == Some(EndedBy::Interrupted);
    }
    for case in long {
        if !interrupted {
            interrupted = conductor.one(case) == Done::Interrupted;
        }
    }
    let Conductor { cases, levels, .. } = conductor;
    Conducted { partial: why_partial(&cases, interrupted), cases, levels }
}

fn why_partial(cases: &[CaseRuns], interrupted: bool) -> Option<String> {
    let mut reasons: Vec<String> = cases
        .iter()
        .filter_map(|runs| {
            let why = runs.left_out.as_ref()?;
            let after = model::phrases::counted(runs.runs.len(), "round");
            Some(format!("{}: left out after {after}: {why}", runs.case.label()))
        })
        .collect();
    if interrupted {
        reasons.push("interrupted: completed runs are kept".into());
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

struct Conductor<'a, W> {
    jobs: &'a Jobs,
    stop: &'a AtomicBool,
    watch: W,
    began: Instant,
    cases: Vec<CaseRuns>,
    /// The cases of a round.
    order: Vec<Case>,
    levels: Vec<LevelHere>,
}

impl<W: FnMut(&QosProgress)> Conductor<'_, W> {
    /// One run of a case.
    fn one(&mut self, case: Case) -> Done<Usage> {
        let place = self.cases.iter().position(|runs| runs.case == case);
        let Some(place) = place.filter(|&place| self.cases[place].left_out.is_none()) else {
            return Done::Ended(Usage::default());
        };
        let at_ms = self.elapsed_ms();
        (self.watch)(&QosProgress {
            case,
            round: self.cases[place].runs.len() as u32 + 1,
            elapsed: self.began.elapsed(),
        });
        match self.try_one(case, at_ms) {
            Ok((run, history)) => {
                let wall_ns = run.jobs.iter().map(|job| job.wall_ns).max().unwrap_or(0);
                let runs = &mut self.cases[place];
                runs.runs.push(run);
                // Every run is recorded, so that all have the same conditions.
                runs.history = runs.history.take().or(history);
                Done::Ended(Usage { wall_ns, ..Usage::default() })
            }
            Err(JobError::Interrupted) => Done::Interrupted,
            Err(error) => {
                self.cases[place].left_out = Some(error.to_string());
                Done::Ended(Usage::default())
            }
        }
    }

    fn try_one(
        &mut self,
        case: Case,
        at_ms: u64,
    ) -> Result<(CaseRun, Option<CpuHistory>), JobError> {
        let orders = self.jobs.orders(case);
        let started = orders.iter().map(|order| Running::start_job(order, self.stop));
        let started = started.collect::<Result<Vec<_>, _>>()?;
        for (level, job) in case.levels().into_iter().zip(&started) {
            if !self.levels.iter().any(|here| here.level == level) {
                self.levels.push(LevelHere { level, parts: job.parts().to_vec() });
            }
        }
        // Where a thread can't be started, the case has no history.
        let kinds = || self.jobs.core_kinds.clone();
        let recording =
            self.jobs.history.then(|| CpuRecording::start_recording(HISTORY_EVERY, kinds()).ok());
        let ran = run_jobs(started, self.stop);
        let history = recording.flatten().and_then(|of| of.stop().ok());
        let (go_ns, ended) = ran?;
        let mut run = case_run(case, at_ms, go_ns, &ended);
        let kinds = self.jobs.core_kinds.get().map_or(&[][..], Vec::as_slice);
        for (job, ended) in run.jobs.iter_mut().zip(&ended) {
            job.residency = ended.residency(kinds, &self.jobs.how.cpus);
        }
        Ok((run, history))
    }
}

fn case_run(case: Case, at_ms: u64, go_ns: u64, ended: &[EndedJob]) -> CaseRun {
    let first_end_ns = ended.iter().filter_map(EndedJob::end_ns).min();
    let first_end_ns = first_end_ns.unwrap_or(go_ns);
    let is_long = matches!(case, Case::Long { .. });
    CaseRun {
        at_ms,
        together_ns: first_end_ns.saturating_sub(go_ns),
        jobs: ended.iter().map(|ended| ended.job_run(go_ns, first_end_ns, is_long)).collect(),
    }
}

impl<W: FnMut(&QosProgress)> Runner for Conductor<'_, W> {
    type Error = std::convert::Infallible;

    fn warm_up(&mut self, _command: usize) -> Result<Done<()>, Self::Error> {
        // The file was read when it was verified.
        Ok(Done::Ended(()))
    }

    fn timed(&mut self, command: usize) -> Result<Done<Usage>, Self::Error> {
        Ok(self.one(self.order[command]))
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

/// Name of the file in a scratch directory.
pub fn file_in(scratch: &Path) -> PathBuf {
    scratch.join("qos")
}
