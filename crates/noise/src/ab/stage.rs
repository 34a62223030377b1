//! The real stage: the arms of a block as commands of `exec`'s runner, under
//! its load.

use super::conduct::{FinishedRun, Stage, Stop};
use super::duration::SETTLING;
use super::job::{JobReport, NoiseJob, files};
use super::load::Processes;
use super::planned::PlannedArm;
use meter::commands::arm::{Arm, Cold, CommandSettings, Output};
use meter::commands::error::{CommandError, end_text};
use meter::commands::repeat::{Done, Runner};
use meter::commands::runner::CommandRunner;
use meter::scratch::{self, Scratch, ScratchError};
use model::noise::effect::{Load, NotCounted, Work, Workload};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use sys::counters::{Counted, CounterEvent};
use sys::role::{self, Role};

/// Time after which a job is given up: under the heaviest load it has a small
/// part of a CPU.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where jobs really run.
pub struct RealStage {
    /// This program, and its arguments before the job's, under an emulator.
    program: Vec<OsString>,
    wake: OwnedFd,
    /// Becomes true when this process goes on after it was stopped.
    resumed: Arc<AtomicBool>,
    began: Instant,
    cpus: Vec<u32>,
    busy: u32,
    work: Vec<Work>,
    files: Option<Scratch>,
    user: Option<UserCommand>,
    block: Option<RunningBlock>,
    repeated: u32,
    not_counted: Vec<NotCounted>,
}

/// The block that is measured.
struct RunningBlock {
    arms: Vec<PlannedArm>,
    runner: CommandRunner,
    load: Option<Processes>,
    /// Whether the job is the user's, which says nothing to us.
    is_users: bool,
    /// What the first run did; all others must have done the same.
    first: Option<(u64, u64)>,
}

/// The user's own command.
#[derive(Clone, Debug)]
pub struct UserCommand {
    /// Its name and its arguments.
    pub words: Vec<OsString>,
    /// Time after which a run of it is given up.
    pub timeout: Duration,
}

/// Why there is no stage. Each is one line.
#[derive(thiserror::Error, Debug)]
pub enum StageError {
    /// This program can't be found.
    #[error("can't start this program again: {0}")]
    NoProgram(io::Error),
    /// The files of the job that reads some can't be made.
    #[error("can't make the files for the job that reads some: {0}")]
    NoFiles(#[from] ScratchError),
}

impl RealStage {
    /// A stage on these CPUs. `wake` becomes readable when no more is wanted;
    /// `resumed` becomes true when this process goes on after it was stopped.
    ///
    /// # Errors
    /// Why no process can be started.
    pub fn new(
        cpus: &[u32],
        wake: OwnedFd,
        resumed: Arc<AtomicBool>,
    ) -> Result<RealStage, StageError> {
        let program = sys::process::this_program().map_err(StageError::NoProgram)?;
        let words = std::iter::once(program.get_program()).chain(program.get_args());
        Ok(RealStage {
            program: words.map(Into::into).collect(),
            wake,
            resumed,
            began: Instant::now(),
            cpus: cpus.to_vec(),
            busy: 0,
            work: Vec::new(),
            files: None,
            user: None,
            block: None,
            repeated: 0,
            not_counted: Vec::new(),
        })
    }

    /// What is to be done in the blocks.
    ///
    /// # Errors
    /// Files that are needed and can't be made.
    pub fn prepare(&mut self, work: &[Work], busy: u32) -> Result<(), StageError> {
        self.busy = busy;
        self.work = work.to_vec();
        if work.iter().any(|work| work.workload == Workload::Files) {
            let place = scratch::by_default()?;
            let scratch = Scratch::make(&place)?;
            files::make_files(scratch.path())
                .map_err(|e| ScratchError::file(&e, "writing", scratch.path()))?;
            self.files = Some(scratch);
        }
        Ok(())
    }

    /// The command that is the job of [`Workload::Command`].
    pub fn set_command(&mut self, command: UserCommand) {
        self.user = Some(command);
    }

    /// What is not counted here, once a block has run.
    pub fn not_counted(&self) -> Vec<NotCounted> {
        self.not_counted.clone()
    }

    /// Runs that were repeated: this process had been stopped while they ran,
    /// and they had gone on without it.
    pub fn repeated(&self) -> u32 {
        self.repeated
    }

    /// The words that run a job, and how long it may take.
    fn job_command(&self, workload: Workload) -> Result<UserCommand, Stop> {
        let not_prepared = || Stop::All("a job that was not prepared".into());
        if workload == Workload::Command {
            return self.user.clone().ok_or_else(not_prepared);
        }
        let work = self.work.iter().find(|work| work.workload == workload);
        let work = work.ok_or_else(not_prepared)?;
        let steps = work.amount;
        let job = match workload {
            Workload::Cpu => NoiseJob::Cpu { steps },
            Workload::Memory => NoiseJob::Memory { steps, bytes: work.bytes },
            Workload::Wakeup => NoiseJob::Wakeup { sleeps: steps },
            Workload::Files | Workload::Command => NoiseJob::Files {
                directory: self
                    .files
                    .as_ref()
                    .map_or_else(PathBuf::new, |files| files.path().to_owned()),
            },
        };
        let arguments = role::words(Role::Job, &job).map_err(|e| Stop::Block(e.to_string()))?;
        let words = self.program.iter().cloned().chain(arguments.map(Into::into));
        Ok(UserCommand { words: words.collect(), timeout: PATIENCE })
    }
}

impl RunningBlock {
    /// That no part of the load has ended.
    fn check_load(&mut self) -> Result<(), Stop> {
        match &mut self.load {
            Some(load) => load.check_running().map_err(|why| Stop::Block(why.to_string())),
            None => Ok(()),
        }
    }

    /// Why a run does not count.
    fn stop(&self, error: CommandError) -> Stop {
        let what = match self.is_users {
            true => "the command",
            false => "the job",
        };
        match error {
            CommandError::Failed { how, .. } => Stop::Arm(format!("{what} {}", end_text(how))),
            CommandError::Cold(error) => Stop::Arm(format!("can't drop the page cache: {error}")),
            // The group went with it.
            CommandError::TimedOut { limit, .. } => {
                Stop::All(format!("a run timed out after {} s", limit.as_secs()))
            }
            other => Stop::Arm(other.to_string()),
        }
    }

    /// What the last run said, or how long the user's command took.
    fn report(&self, wall_ns: u64) -> Result<JobReport, Stop> {
        match self.is_users {
            true => Ok(JobReport { took_ns: wall_ns, ..JobReport::default() }),
            false => serde_json::from_slice(self.runner.heard())
                .map_err(|_| Stop::Arm("the job sent no report".into())),
        }
    }
}

impl Stage for RealStage {
    fn begin_block(
        &mut self,
        workload: Workload,
        load: Load,
        arms: &[PlannedArm],
    ) -> Result<(), Stop> {
        self.end_load();
        let command = self.job_command(workload)?;
        let is_users = workload == Workload::Command;
        let mut started = None;
        if load != Load::None {
            let own_session = load == Load::OtherSession;
            let processes = Processes::start_processes(self.busy, own_session, &self.cpus);
            started = Some(processes.map_err(|e| Stop::Block(format!("no load: {e}")))?);
            std::thread::sleep(SETTLING);
        }
        let commands = arms.iter().map(|arm| Arm {
            words: command.words.clone(),
            controls: arm.asked.in_order(),
            cold: match arm.cold {
                true => Cold::All,
                false => Cold::No,
            },
            ..Arm::default()
        });
        let settings = CommandSettings {
            timeout: Some(command.timeout),
            // What a user's command says may be more than a pipe holds.
            output: match is_users {
                true => Output::Null,
                false => Output::Heard,
            },
            ..CommandSettings::default()
        };
        let wake = self.wake.try_clone();
        let wake = wake.map_err(|e| Stop::All(e.to_string()))?;
        // After the load is there: what this thread starts while counters are
        // open is counted too.
        let resumed = Arc::clone(&self.resumed);
        let runner = CommandRunner::new(commands.collect(), settings, Some(wake), resumed);
        let runner = runner.map_err(|e| Stop::Block(e.to_string()))?;
        self.not_counted = not_counted(runner.counted());
        self.block = Some(RunningBlock {
            arms: arms.to_vec(),
            runner,
            load: started,
            is_users,
            first: None,
        });
        Ok(())
    }

    fn run_job(&mut self, arm: usize, groups: &[PathBuf]) -> Result<Done<FinishedRun>, Stop> {
        let Some(block) = &mut self.block else {
            return Err(Stop::All("a block that did not begin".into()));
        };
        if !groups.is_empty() {
            let mut asked = block.arms[arm].asked.clone();
            asked.groups = groups.to_vec();
            let set = block.runner.set_controls(arm, asked.in_order());
            set.map_err(|error| block.stop(error))?;
        }
        block.check_load()?;
        let usage = match block.runner.timed(arm) {
            Ok(Done::Ended(usage)) => usage,
            Ok(Done::Interrupted) => return Ok(Done::Interrupted),
            Err(error) => return Err(block.stop(error)),
        };
        let report = block.report(usage.wall_ns)?;
        // What ran under a part of the load does not count.
        block.check_load()?;
        let did = (report.done, report.check);
        if *block.first.get_or_insert(did) != did {
            return Err(Stop::Arm("a job did other work than the first".into()));
        }
        Ok(Done::Ended(FinishedRun { usage, took_ns: report.took_ns, wakeups: report.wakeups }))
    }

    fn end_load(&mut self) {
        if let Some(block) = self.block.take() {
            self.repeated += block.runner.discarded();
        }
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

fn not_counted(counted: &[(CounterEvent, Counted)]) -> Vec<NotCounted> {
    let what = |event: &CounterEvent| match event {
        CounterEvent::CpuMigrations => Some("migrations"),
        CounterEvent::Cycles => Some("cycles"),
        _ => None,
    };
    let all = counted.iter().filter_map(|(event, counted)| match counted {
        Counted::Not(why) => Some(NotCounted { what: what(event)?.into(), reason: why.clone() }),
        _ => None,
    });
    all.collect()
}
