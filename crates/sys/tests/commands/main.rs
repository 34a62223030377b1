//! Commands under control: what is counted of programs that do a known number
//! of things, their controls as seen from inside and outside, and what is left
//! when one is killed.
#![allow(clippy::disallowed_methods)]
#![cfg(target_os = "linux")]

mod controls;
mod counts;
mod ends;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use model::setting::Setting;
use sys::command::{
    Command, End, Finished, NotStarted, ProcessGroup, Streams, WaitLimits, find_program,
};
use sys::counters::{Counted, CounterEvent, Counters};

/// A group with counters.
struct Runner {
    group: ProcessGroup,
    counters: Counters,
}

impl Runner {
    fn new() -> Runner {
        Runner { group: ProcessGroup::new_group().expect("a group"), counters: Counters::open() }
    }

    /// Runs a program as `argv[0]`, and returns its output too.
    fn program(
        &mut self,
        path: &Path,
        words: &[&OsStr],
        controls: &[Setting],
        limits: WaitLimits,
    ) -> Result<(Finished, String), NotStarted> {
        let null = sys::process::null_device().expect("/dev/null");
        let mut output = tempfile::tempfile().expect("a file");
        let command = Command::new(words[0], path, &words[1..], controls).expect("a program");
        let streams = Streams { input: null.as_fd(), output: output.as_fd(), error: null.as_fd() };
        let finished = self.group.run_command(&command, streams, &mut self.counters, limits)?;
        Ok((finished, content(&mut output)))
    }

    /// Runs a program found in PATH.
    fn run_program(&mut self, words: &[&str], controls: &[Setting]) -> (Finished, String) {
        let path = find_program(OsStr::new(words[0])).expect("in PATH");
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        self.program(&path, &words, controls, WaitLimits::default()).expect("it starts")
    }

    /// Runs a shell's line with limits.
    fn shell(&mut self, line: &str, controls: &[Setting], limits: WaitLimits) -> End {
        let path = find_program(OsStr::new("sh")).expect("sh");
        let words = ["sh", "-c", line].map(OsStr::new);
        let run = self.program(&path, &words, controls, limits);
        run.expect("it starts").0.end
    }

    fn left_over_ns(&mut self) -> u64 {
        self.group.left_over_ns(&mut self.counters).expect("readable")
    }

    /// Whether an event is counted whole.
    fn counts_whole(&self, event: CounterEvent) -> bool {
        let counted = self.counters.counted().iter().find(|(e, _)| *e == event);
        counted.is_some_and(|(_, counted)| *counted == Counted::Everything)
    }
}

fn content(file: &mut File) -> String {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).expect("a file");
    file.read_to_string(&mut text).expect("text");
    text
}

/// The output of a command that succeeds.
fn output(words: &[&str], controls: &[Setting]) -> String {
    let (finished, text) = Runner::new().run_program(words, controls);
    assert_eq!(finished.end, End::Code(0), "{words:?}");
    text
}

/// Commands without any control.
const NONE: &[Setting] = &[];
/// Commands in sessions of their own.
const SESSIONS: &[Setting] = &[Setting::OwnSession(true)];

fn within(milliseconds: u64) -> WaitLimits<'static> {
    WaitLimits { time: Some(Duration::from_millis(milliseconds)), wake: None }
}

/// Processes with this command line, without zombies.
fn running(words: &str) -> usize {
    std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).replace('\0', " ").trim() == words)
        .count()
}

/// Waits until it is so, three minutes at most.
fn soon(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(180);
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
