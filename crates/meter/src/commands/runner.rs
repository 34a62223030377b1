//! The real runner: commands in a process group of their own, their streams,
//! their page cache, the check of the warm-up.

use super::arm::{Arm, Cold, Failures, Output, Ready, Settings, laid_out};
use super::error::{CommandError, Said};
use super::left::{Left, LeftOver};
use super::repeat::{Done, Runner};
use model::command::Command;
use model::setting::Setting;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use sys::command::{End, Finished, Group, Limits, Streams, Usage};
use sys::counters::{Counted, Counters, Event};
use sys::page_cache::{drop_all, drop_file};

/// Bytes and lines of a failed command's standard error that are shown.
const SAID_BYTES: u64 = 4096;
const SAID_LINES: usize = 10;

/// Runs commands for real.
#[derive(Debug)]
pub struct CommandRunner {
    ready: Vec<Ready>,
    check: Option<Ready>,
    settings: Settings,
    group: Group,
    counters: Counters,
    wake: Option<OwnedFd>,
    resumed: Arc<AtomicBool>,
    discarded: u32,
    left: LeftOver,
    began: Instant,
    unverified: Vec<PathBuf>,
    heard: Vec<u8>,
    /// The pipe or device of the output, open for all runs: its reader sees one end.
    stream: Option<(File, bool)>,
}

impl CommandRunner {
    /// Lays the commands out.
    /// `wake` becomes readable when no more is wanted; `resumed` becomes true
    /// when this process goes on after it was stopped.
    ///
    /// # Errors
    /// What is wrong with a command or the settings, before anything runs.
    pub fn new(
        arms: Vec<Arm>,
        settings: Settings,
        wake: Option<OwnedFd>,
        resumed: Arc<AtomicBool>,
    ) -> Result<CommandRunner, CommandError> {
        let drops = arms.iter().any(|arm| arm.cold == Cold::All);
        let ready: Result<Vec<Ready>, CommandError> = arms.into_iter().map(Ready::new).collect();
        let check = settings.check.clone().map(|words| Ready::new(Arm { words, ..Arm::default() }));
        let mut runner = CommandRunner {
            ready: ready?,
            check: check.transpose()?,
            group: Group::start().map_err(CommandError::NoGroup)?,
            counters: Counters::open(),
            wake,
            resumed,
            discarded: 0,
            left: LeftOver::default(),
            began: Instant::now(),
            unverified: Vec::new(),
            heard: Vec::new(),
            stream: None,
            settings,
        };
        runner.settings.input.open()?;
        runner.stream = runner.output()?.filter(|(_, is_file)| !is_file);
        if drops {
            // Whether that may be done is known before anything runs.
            drop_all().map_err(CommandError::Cold)?;
        }
        Ok(runner)
    }

    /// How each event is counted here.
    pub fn counted(&self) -> &[(Event, Counted)] {
        self.counters.counted()
    }

    /// Sets other controls for the runs of a command to come.
    ///
    /// # Errors
    /// Those of [`CommandRunner::new`].
    pub fn set_controls(
        &mut self,
        command: usize,
        controls: Vec<Setting>,
    ) -> Result<(), CommandError> {
        let ready = &mut self.ready[command];
        ready.arm.controls = controls;
        ready.command = laid_out(&ready.arm)?;
        Ok(())
    }

    /// What the last timed run wrote, with [`Output::Heard`].
    pub fn heard(&self) -> &[u8] {
        &self.heard
    }

    /// A command, by its place, with what its timed runs did.
    pub fn record(&self, command: usize, named: Command) -> Command {
        let ready = &self.ready[command];
        Command {
            failures: ready.failures,
            ends: ready.ends(),
            replaced: ready.is_replaced(),
            input_unread: self.settings.input.is_named() && !ready.has_read,
            stayed_pages: ready.stayed_pages,
            output_bytes: ready.output_bytes,
            ..named
        }
    }

    /// Pages that stayed in memory though their files were dropped, in the
    /// worst run.
    pub fn stayed_pages(&self) -> u64 {
        let each = self.ready.iter().map(|ready| ready.stayed_pages);
        each.max().unwrap_or(0)
    }

    /// Files that were dropped, of which the system does not tell what stayed.
    pub fn unverified(&self) -> &[PathBuf] {
        &self.unverified
    }

    /// Timed runs that were made again: this process had been stopped while
    /// they ran, and saw their end late.
    pub fn discarded(&self) -> u32 {
        self.discarded
    }

    /// Ends whatever commands left running; tells what each of them had.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn end(self) -> Result<Vec<Left>, CommandError> {
        let members = self.group.members().map_err(CommandError::LeftOver)?;
        Ok(self.left.at_end(self.ready.len(), &members))
    }

    /// Standard output, and whether it is a regular file; `None` where it goes to this process's
    /// error.
    fn output(&self) -> Result<Option<(File, bool)>, CommandError> {
        Ok(match (&self.settings.output, &self.stream) {
            (Output::Show, _) => None,
            (Output::File(path), Some((stream, _))) => {
                let again = stream.try_clone().map_err(self::stream("write", path))?;
                Some((again, false))
            }
            (Output::File(path), None) => {
                Some(sys::place::create(path).map_err(stream("write", path))?)
            }
            (Output::Null | Output::Heard, _) => Some((null()?, false)),
        })
    }

    fn run(&mut self, which: Which, streams: Streams) -> Result<Finished, CommandError> {
        let ready = match which {
            Which::Command(k) => &self.ready[k],
            Which::Check(check) => check,
        };
        let limits =
            Limits { time: self.settings.timeout, wake: self.wake.as_ref().map(AsFd::as_fd) };
        let left_ns =
            self.group.left_over_ns(&mut self.counters).map_err(CommandError::LeftOver)?;
        if self.left.wants_a_look(left_ns) {
            let members = self.group.members().map_err(CommandError::LeftOver)?;
            self.left.between(left_ns, &members);
        }
        let finished = self
            .group
            .run(&ready.command, streams, &mut self.counters, limits)
            .map_err(|error| CommandError::NotStarted { command: ready.text.clone(), error })?;
        if let Which::Command(k) = which {
            self.left.ran(k, finished.process);
        }
        Ok(finished)
    }

    fn chill(&mut self, command: usize) -> Result<(), CommandError> {
        match &self.ready[command].arm.cold {
            Cold::No => {}
            Cold::All => drop_all().map_err(CommandError::Cold)?,
            Cold::Files(files) => {
                let mut stayed = 0;
                for path in files {
                    let left = drop_file(path).map_err(|error| CommandError::ColdFile {
                        path: path.display().to_string(),
                        error,
                    })?;
                    match left {
                        Some(left) => stayed += left.pages,
                        None if self.unverified.contains(path) => {}
                        None => self.unverified.push(path.clone()),
                    }
                }
                let ready = &mut self.ready[command];
                ready.stayed_pages = ready.stayed_pages.max(stayed);
            }
        }
        Ok(())
    }

    /// Gives the warm-up's output to the check.
    fn check(&mut self, command: usize, mut output: File) -> Result<Done<()>, CommandError> {
        let Some(check) = self.check.take() else {
            return Ok(Done::Ended(()));
        };
        output.seek(SeekFrom::Start(0)).map_err(stream("read", &temporary()))?;
        let said = tempfile::tempfile().map_err(stream("make", &temporary()))?;
        let finished = self.run(
            Which::Check(&check),
            Streams { input: output.as_fd(), output: said.as_fd(), error: said.as_fd() },
        );
        let how = match finished?.end {
            End::Interrupted => return Ok(Done::Interrupted),
            End::Code(0) => None,
            end => Some(end),
        };
        let text = check.text.clone();
        self.check = Some(check);
        match how {
            None => Ok(Done::Ended(())),
            Some(how) => Err(CommandError::CheckFailed {
                check: text,
                how,
                command: self.ready[command].text.clone(),
                said: last_lines(said).unwrap_or(Said::Nothing),
            }),
        }
    }

    /// What a command's end means. `said` is its standard error, where it was kept.
    fn judge(&mut self, k: usize, end: End, which: String, said: Option<File>) -> Judged {
        let failures = &self.settings.failures;
        let is_timed = match end {
            End::Interrupted => return Ok(Done::Interrupted),
            End::Code(_) | End::Signal(_) => *failures == Failures::Timed,
            End::TimedOut | End::Stopped(_) => false,
        };
        if is_timed || failures.is_success(end) {
            return Ok(Done::Ended(()));
        }
        let command = self.ready[k].text.clone();
        let said = match (said, &self.settings.output) {
            (Some(said), _) => last_lines(said).unwrap_or(Said::NotKept),
            (None, Output::Show) => Said::Nothing,
            (None, _) => Said::NotKept,
        };
        Err(match end {
            End::TimedOut => CommandError::TimedOut {
                command,
                which,
                limit: self.settings.timeout.unwrap_or_default(),
                said,
            },
            End::Stopped(signal) => CommandError::Stopped { command, signal, which, said },
            how => CommandError::Failed { command, how, which, said },
        })
    }
}

type Judged = Result<Done<()>, CommandError>;

enum Which<'a> {
    Command(usize),
    Check(&'a Ready),
}

impl Runner for CommandRunner {
    type Error = CommandError;

    fn warm_up(&mut self, command: usize) -> Judged {
        let input = self.settings.input.open()?;
        let said = tempfile::tempfile().map_err(stream("make", &temporary()))?;
        let output = match self.check {
            Some(_) => tempfile::tempfile().map_err(stream("make", &temporary()))?,
            None => null()?,
        };
        let streams = Streams { input: input.as_fd(), output: output.as_fd(), error: said.as_fd() };
        let end = self.run(Which::Command(command), streams)?.end;
        match self.judge(command, end, "its warm-up".into(), Some(said))? {
            Done::Interrupted => Ok(Done::Interrupted),
            Done::Ended(()) => self.check(command, output),
        }
    }

    fn timed(&mut self, command: usize) -> Result<Done<Usage>, CommandError> {
        loop {
            self.resumed.store(false, Ordering::Relaxed);
            let Done::Ended((usage, end)) = self.timed_once(command)? else {
                return Ok(Done::Interrupted);
            };
            if self.resumed.load(Ordering::Relaxed) {
                self.discarded += 1;
                continue;
            }
            self.ready[command].ended(end, &self.settings.failures);
            return Ok(Done::Ended(usage));
        }
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

impl CommandRunner {
    /// One run, and how it ended.
    fn timed_once(&mut self, command: usize) -> Result<Done<(Usage, End)>, CommandError> {
        self.chill(command)?;
        let mut input = self.settings.input.open()?;
        let output = self.output()?.map(|(file, _)| file);
        let unheard = stream("read", Path::new("a pipe"));
        let pipe = (self.settings.output == Output::Heard).then(io::pipe);
        let pipe = pipe.transpose().map_err(&unheard)?;
        let null = null()?;
        let stderr = io::stderr();
        let shown = stderr.as_fd();
        let error: BorrowedFd = match &output {
            None => shown,
            Some(_) => null.as_fd(),
        };
        let streams = Streams {
            input: input.as_fd(),
            output: match (&pipe, &output) {
                (Some((_, to)), _) => to.as_fd(),
                (None, Some(output)) => output.as_fd(),
                (None, None) => shown,
            },
            error,
        };
        let finished = self.run(Which::Command(command), streams)?;
        self.settings.input.check_unchanged()?;
        if let Some((mut from, to)) = pipe {
            drop(to);
            self.heard.clear();
            from.read_to_end(&mut self.heard).map_err(unheard)?;
        }
        let ready = &mut self.ready[command];
        // Of what is not a file nothing is known.
        ready.has_read |= input.stream_position().map_or(true, |position| position > 0);
        if let (Output::File(_), Some(output)) = (&self.settings.output, &output) {
            let length = output.metadata().map_or(0, |file| file.len());
            let [least, most] = ready.output_bytes.unwrap_or([length; 2]);
            ready.output_bytes = Some([least.min(length), most.max(length)]);
        }
        let which = format!("run {}", ready.timed + 1);
        Ok(match self.judge(command, finished.end, which, None)? {
            Done::Ended(()) => Done::Ended((finished.usage, finished.end)),
            Done::Interrupted => Done::Interrupted,
        })
    }
}

/// What a command wrote last; `None` for nothing.
fn last_lines(mut said: File) -> Option<Said> {
    let length = said.metadata().map_or(0, |m| m.len());
    let from = length.saturating_sub(SAID_BYTES);
    let mut bytes = Vec::new();
    let read = said
        .seek(SeekFrom::Start(from))
        .and_then(|_| said.take(SAID_BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(SAID_LINES)..];
    let last: Vec<String> = last.iter().map(ToString::to_string).collect();
    (read.is_ok() && !last.is_empty()).then_some(Said::Lines(last))
}

fn null() -> Result<File, CommandError> {
    let path = PathBuf::from("/dev/null");
    File::options().write(true).open(&path).map_err(stream("write", &path))
}

fn temporary() -> PathBuf {
    std::env::temp_dir().join("a temporary file")
}

fn stream(action: &'static str, path: &Path) -> impl Fn(io::Error) -> CommandError {
    let path = path.display().to_string();
    move |error| CommandError::Stream { action, path: path.clone(), error }
}
