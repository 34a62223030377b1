//! The real stage: jobs as processes of one group that ends with this one,
//! counted by the kernel, beside loads.

use super::conduct::{Ran, Stage, Stop};
use super::control::{Kind, Spec};
use super::job::{Job, Report, files};
use super::load::Processes;
use super::plan::{Here, PlannedArm, SETTLING, Unavailable};
use super::system::huge_pages_for_all;
use meter::commands::repeat::Done;
use meter::controls::RequestedControls;
use meter::scratch::{self, Scratch};
use model::noise::effect::{Load, NotCounted, Work, Workload};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::command::{Command, End, Finished, Group, Limits, Streams};
use sys::counters::{Counted, Counters, Event};
use sys::files::Files;

/// Time after which a job is given up: beside the heaviest load it has a small
/// part of a CPU.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where jobs really run.
pub struct RealStage {
    program: PathBuf,
    /// Its arguments before the job's, under an emulator.
    leading: Vec<OsString>,
    group: Group,
    counters: Counters,
    wake: Option<OwnedFd>,
    began: Instant,
    work: Vec<Work>,
    cpus: Vec<u32>,
    busy: u32,
    files: Option<Scratch>,
    load: Option<Processes>,
    commands: Vec<Command>,
    arms: Vec<PlannedArm>,
    job: Option<Subject>,
    user: Option<UserCommand>,
    /// What the block's first run did; all others must have done the same.
    first: Option<(u64, u64)>,
    /// Becomes true when this process goes on after it was stopped.
    resumed: Arc<AtomicBool>,
    made_again: u32,
}

/// The user's own command, as it is started.
#[derive(Clone, Debug)]
pub struct UserCommand {
    /// Its name and its arguments.
    pub words: Vec<OsString>,
    /// Where the program is.
    pub program: PathBuf,
    /// Time after which a run of it is given up.
    pub patience: Duration,
}

/// What runs in a block.
#[derive(Clone, Debug)]
enum Subject {
    /// One of ours, which says what it did.
    Job(Job),
    /// The user's, which says nothing to us.
    Command(UserCommand),
}

/// Why there is no stage. Each is one line.
#[derive(thiserror::Error, Debug)]
pub enum StageError {
    /// This program can't be found.
    #[error("can't start this program again: {0}")]
    NoProgram(io::Error),
    /// No process group.
    #[error("can't make a process group for the jobs: {0}")]
    NoGroup(io::Error),
    /// The files of the job that reads some can't be made.
    #[error("can't make the files for the job that reads some: {0}")]
    NoFiles(String),
}

impl RealStage {
    /// A stage on these CPUs. `wake` becomes readable when no more is wanted;
    /// `resumed` becomes true when this process goes on after it was stopped.
    ///
    /// # Errors
    /// Why no process can be started.
    pub fn new(
        cpus: &[u32],
        wake: Option<OwnedFd>,
        resumed: Arc<AtomicBool>,
    ) -> Result<RealStage, StageError> {
        let program = sys::process::this_program().map_err(StageError::NoProgram)?;
        Ok(RealStage {
            leading: program.get_args().map(Into::into).collect(),
            program: program.get_program().into(),
            group: Group::start().map_err(StageError::NoGroup)?,
            counters: Counters::open(),
            wake,
            began: Instant::now(),
            work: Vec::new(),
            cpus: cpus.to_vec(),
            busy: 0,
            files: None,
            load: None,
            commands: Vec::new(),
            arms: Vec::new(),
            job: None,
            user: None,
            first: None,
            resumed,
            made_again: 0,
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
            let place = scratch::by_default().map_err(StageError::NoFiles)?;
            let scratch = Scratch::make(&place).map_err(StageError::NoFiles)?;
            files::make(scratch.path())
                .map_err(|e| StageError::NoFiles(scratch::reason(&e, "writing", scratch.path())))?;
            self.files = Some(scratch);
        }
        Ok(())
    }

    /// The command that is the job of [`Workload::Command`].
    pub fn set_command(&mut self, command: UserCommand) {
        self.user = Some(command);
    }

    /// What is not counted here.
    pub fn not_counted(&self) -> Vec<NotCounted> {
        let names = [
            (Event::CpuMigrations, "migrations"),
            (Event::Cycles, "cycles"),
        ];
        let why = |event: Event| {
            let counted = self.counters.counted();
            counted.iter().find_map(|(e, counted)| match counted {
                Counted::Not(why) if *e == event => Some(why.clone()),
                _ => None,
            })
        };
        names
            .into_iter()
            .filter_map(|(event, what)| {
                Some(NotCounted {
                    what: what.into(),
                    reason: why(event)?,
                })
            })
            .collect()
    }

    /// Runs that were made again: this process had been stopped while they ran,
    /// and they had gone on without it.
    pub fn made_again(&self) -> u32 {
        self.made_again
    }

    fn command(&self, job: &Subject, asked: &RequestedControls) -> io::Result<Command> {
        let controls = asked.controls();
        match job {
            Subject::Job(job) => {
                let words = [&self.leading[..], &job.arguments()?].concat();
                let name = self.program.as_os_str();
                Command::new(name, &self.program, &words, &controls)
            }
            Subject::Command(user) => {
                let (name, arguments) = user
                    .words
                    .split_first()
                    .ok_or(io::ErrorKind::InvalidInput)?;
                Command::new(name, &user.program, arguments, &controls)
            }
        }
    }

    fn job(&self, workload: Workload) -> Result<Subject, Stop> {
        let not_prepared = || Stop::All("a job that was not prepared".into());
        if workload == Workload::Command {
            return self
                .user
                .clone()
                .map(Subject::Command)
                .ok_or_else(not_prepared);
        }
        let work = self.work.iter().find(|work| work.workload == workload);
        let work = work.ok_or_else(not_prepared)?;
        Ok(Subject::Job(match workload {
            Workload::Cpu => Job::Cpu { steps: work.amount },
            Workload::Memory => Job::Memory {
                steps: work.amount,
                bytes: work.bytes,
            },
            Workload::Wakeup => Job::Wakeup {
                sleeps: work.amount,
            },
            Workload::Files | Workload::Command => Job::Files {
                directory: self
                    .files
                    .as_ref()
                    .map_or_else(PathBuf::new, |files| files.path().to_owned()),
            },
        }))
    }

    /// Runs it to its end, and hears what it says.
    fn execute(&mut self, command: &Command) -> Result<(Finished, Vec<u8>), String> {
        let patience = self.patience();
        let null = |write: bool| {
            let opened = OpenOptions::new()
                .read(!write)
                .write(write)
                .open("/dev/null");
            opened.map_err(|e| format!("can't open /dev/null: {e}"))
        };
        let (input, error): (File, File) = (null(false)?, null(true)?);
        let (mut ours, theirs) = io::pipe().map_err(|e| format!("can't make a pipe: {e}"))?;
        let streams = Streams {
            input: input.as_fd(),
            // What a user's command says may be more than a pipe holds.
            output: match self.job {
                Some(Subject::Command(_)) => error.as_fd(),
                _ => theirs.as_fd(),
            },
            error: error.as_fd(),
        };
        let limits = Limits {
            time: Some(patience),
            wake: self.wake.as_ref().map(AsFd::as_fd),
        };
        let finished = self
            .group
            .run(command, streams, &mut self.counters, limits)
            .map_err(|error| error.to_string())?;
        // A report is far smaller than a pipe: it was written whole.
        drop(theirs);
        let mut said = Vec::new();
        ours.read_to_end(&mut said)
            .map_err(|e| format!("can't read what the job says: {e}"))?;
        Ok((finished, said))
    }

    /// Lays an arm's command out anew, so that it joins these control groups.
    fn join(&mut self, arm: usize, groups: &[PathBuf]) -> io::Result<()> {
        let mut asked = self.arms[arm].asked.clone();
        asked.groups = groups.to_vec();
        if let Some(job) = &self.job {
            self.commands[arm] = self.command(job, &asked)?;
        }
        Ok(())
    }

    fn patience(&self) -> Duration {
        match &self.job {
            Some(Subject::Command(user)) => user.patience,
            _ => PATIENCE,
        }
    }

    fn check_load(&mut self) -> Result<(), Stop> {
        match &mut self.load {
            Some(load) => load.check().map_err(Stop::Block),
            None => Ok(()),
        }
    }
}

impl Stage for RealStage {
    fn begin(&mut self, workload: Workload, load: Load, arms: &[PlannedArm]) -> Result<(), Stop> {
        self.end();
        let job = self.job(workload)?;
        let laid_out = arms.iter().map(|arm| self.command(&job, &arm.asked));
        let commands: io::Result<Vec<Command>> = laid_out.collect();
        self.commands = commands.map_err(|e| Stop::Block(e.to_string()))?;
        self.arms = arms.to_vec();
        self.job = Some(job);
        self.first = None;
        if load != Load::None {
            let own_session = load == Load::OtherSession;
            let started = Processes::start(self.busy, own_session, &self.cpus);
            let started = started.map_err(|e| Stop::Block(format!("no load: {e}")))?;
            self.load = Some(started);
            std::thread::sleep(SETTLING);
        }
        // Opened after the load is there: what this thread starts while they
        // are open is counted too.
        self.counters = Counters::open();
        Ok(())
    }

    fn run(&mut self, arm: usize, groups: &[PathBuf]) -> Result<Done<Ran>, Stop> {
        if !groups.is_empty() {
            self.join(arm, groups)
                .map_err(|e| Stop::Arm(e.to_string()))?;
        }
        let (finished, said) = loop {
            self.resumed.store(false, Ordering::Relaxed);
            if self.arms[arm].cold {
                let dropped = sys::page_cache::drop_all();
                dropped.map_err(|e| Stop::Arm(format!("can't drop the page cache: {e}")))?;
            }
            self.check_load()?;
            // Out of this for as long as one of them runs.
            let commands = std::mem::take(&mut self.commands);
            let executed = self.execute(&commands[arm]);
            self.commands = commands;
            let (finished, said) = executed.map_err(Stop::Arm)?;
            if finished.end != End::Interrupted && self.resumed.load(Ordering::Relaxed) {
                self.made_again += 1;
                continue;
            }
            break (finished, said);
        };
        if finished.end == End::Interrupted {
            return Ok(Done::Interrupted);
        }
        if finished.end == End::TimedOut {
            // The group went with it.
            let why = format!("a run timed out after {} s", self.patience().as_secs());
            return Err(Stop::All(why));
        }
        let report = match self.job {
            Some(Subject::Command(_)) => {
                ended_well(finished.end, "the command").map_err(Stop::Arm)?;
                Report {
                    took_ns: finished.usage.wall_ns,
                    ..Report::default()
                }
            }
            _ => report(&finished, &said).map_err(Stop::Arm)?,
        };
        // What ran beside a part of the load does not count.
        self.check_load()?;
        let did = (report.done, report.check);
        if *self.first.get_or_insert(did) != did {
            return Err(Stop::Arm("a job did other work than the first".into()));
        }
        Ok(Done::Ended(Ran {
            usage: finished.usage,
            took_ns: report.took_ns,
            wakeups: report.wakeups,
        }))
    }

    fn end(&mut self) {
        self.load = None;
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

/// What a job said, if it ended as it should.
fn report(finished: &Finished, said: &[u8]) -> Result<Report, String> {
    ended_well(finished.end, "the job")?;
    serde_json::from_slice(said).map_err(|_| "the job sent no report".into())
}

/// Why a run does not count, if it did not end with exit code 0.
fn ended_well(end: End, what: &str) -> Result<(), String> {
    match end {
        End::Code(0) => Ok(()),
        End::Code(code) => Err(format!("{what} ended with exit code {code}")),
        End::Signal(signal) => Err(match sys::signals::name(signal) {
            Some(name) => format!("{what} was killed by {name}"),
            None => format!("{what} was killed by signal {signal}"),
        }),
        End::Interrupted => Err("interrupted".into()),
        End::TimedOut => Err(format!("{what} did not end")),
        End::Stopped(signal) => Err(format!("{what} was stopped by signal {signal}")),
    }
}

/// Whether a control of a process, or the page cache, can be set here: it is
/// tried on a process that does nothing else, and read back.
///
/// # Errors
/// Why not.
pub fn try_out(
    spec: &Spec,
    asked: &RequestedControls,
    files: &dyn Files,
) -> Result<Here, Unavailable> {
    let mut here = Here::default();
    match spec.kind {
        Kind::System => {}
        Kind::Cache => may_drop_cache()?,
        Kind::Process => {
            if spec.sets("no-thp") {
                huge_pages_for_all(files)?;
            }
            asked.try_out()?;
            // A session is an autogroup, without a nice value.
            if spec.sets("session") {
                let why = sys::controls::autogroups().err();
                here.on = why.map(|why| format!("no autogroup here: {why}"));
            }
        }
    }
    Ok(here)
}

/// Whether the page cache may be dropped, without doing it.
fn may_drop_cache() -> Result<(), Unavailable> {
    const SWITCH: &str = "/proc/sys/vm/drop_caches";
    let opened = OpenOptions::new().write(true).open(SWITCH);
    opened.map(drop).map_err(|error| Unavailable::File {
        action: "write",
        path: SWITCH,
        error,
    })
}
