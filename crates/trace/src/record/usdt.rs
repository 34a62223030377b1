//! USDT probes of the target: which there are, and the kernel's tracepoints for them.

use super::buffers::Traced;
use super::process::is_alive;
use super::stacks::{MOST_MAPS, maps_of};
use crate::decode::Layouts;
use crate::usdt::{Probe, file_probes};
use model::pattern::matches;
use model::trace::NotRecorded;
use object::{Object, ObjectSection, ReadCache};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::capture::{self, CaptureLimits, Captured};
use sys::input;
use sys::tracefs::Tracefs;

/// Which probes are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usdt {
    /// The file of the command; `None` for a process.
    pub program: Option<PathBuf>,
    /// Those that match, of the libraries too; all of the program without.
    pub pattern: Option<String>,
}

/// Each is an event for each CPU, and of a process for each thread.
const MOST: usize = 1024;
/// What a loader may take to list the libraries of a program.
const LISTING: CaptureLimits = CaptureLimits { time: Duration::from_secs(10), bytes: 1 << 20 };
/// The file of the kernel's definitions.
const DEFINITIONS: &str = "uprobe_events";
/// Before the number of the process that records.
const GROUP: &str = "latlas_";

/// Tracepoints of the kernel for probes, as long as this lives: they can't be
/// deleted before their events are closed.
#[derive(Debug)]
pub(super) struct Defined {
    tracefs: Tracefs,
    group: String,
    /// The names of the probes. One may stand at several places of a program.
    pub(super) names: Vec<String>,
    /// Of each tracepoint, the place of its name.
    places: Vec<u32>,
}

impl Defined {
    /// Defines them, and adds their layouts.
    pub(super) fn new(
        traced: &Traced,
        usdt: &Usdt,
        layouts: &mut Layouts,
    ) -> Result<Defined, NotRecorded> {
        let tracefs = Tracefs::open().map_err(|error| NotRecorded::NoTracefs(error.to_string()))?;
        delete_leftovers(&tracefs, std::process::id());
        let mut defined = Defined {
            tracefs,
            group: format!("{GROUP}{}", std::process::id()),
            names: Vec::new(),
            places: Vec::new(),
        };
        for (file, probe) in found(traced, usdt)? {
            let Probe { name, offset, counter } = probe;
            let counter = counter.map_or(String::new(), |counter| format!("({counter:#x})"));
            let tracepoint = defined.tracepoint(defined.places.len());
            // The kernel keeps the file, not its path.
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            let line = format!("p:{tracepoint} {path}:{offset:#x}{counter}");
            let added = defined.tracefs.append(DEFINITIONS, &line);
            added
                .map_err(|error| NotRecorded::Failed(format!("{name}: {DEFINITIONS}: {error}")))?;
            let known = defined.names.iter().position(|known| *known == name);
            defined.places.push(known.unwrap_or(defined.names.len()) as u32);
            if known.is_none() {
                defined.names.push(name);
            }
        }
        for (path, &name) in defined.paths().iter().zip(&defined.places) {
            let text = defined.tracefs.read_text(&format!("events/{path}/format"));
            let text = text.map_err(|error| NotRecorded::NoTracefs(error.to_string()))?;
            let added = layouts.add_probe(name, &text);
            added.map_err(|error| NotRecorded::Failed(error.to_string()))?;
        }
        Ok(defined)
    }

    /// Their directories below `events`.
    pub(super) fn paths(&self) -> Vec<String> {
        (0..self.places.len()).map(|number| self.tracepoint(number)).collect()
    }

    fn tracepoint(&self, number: usize) -> String {
        format!("{}/p{number}", self.group)
    }
}

impl Drop for Defined {
    fn drop(&mut self) {
        for number in 0..self.places.len() {
            delete(&self.tracefs, &self.tracepoint(number));
        }
    }
}

fn delete(tracefs: &Tracefs, tracepoint: &str) {
    let _ = tracefs.append(DEFINITIONS, &format!("-:{tracepoint}"));
}

/// Deletes the tracepoints of recorders that were killed, and of this one.
pub(super) fn delete_leftovers(tracefs: &Tracefs, recorder: u32) {
    let all = tracefs.read_text(DEFINITIONS).unwrap_or_default();
    for line in all.lines() {
        let tracepoint = line.split([':', ' ']).nth(1).unwrap_or_default();
        let group = tracepoint.strip_prefix(GROUP).unwrap_or_default();
        let owner = group.split('/').next().and_then(|id| id.parse().ok());
        if owner.is_some_and(|id| id == recorder || !is_alive(id)) {
            delete(tracefs, tracepoint);
        }
    }
}

/// The probes that are meant, with their files.
fn found(traced: &Traced, usdt: &Usdt) -> Result<Vec<(File, Probe)>, NotRecorded> {
    let files = files(traced, usdt);
    let program = files.first().map_or(Path::new("the program"), PathBuf::as_path);
    let program = program.display().to_string();
    let mut there = BTreeSet::new();
    let mut found = Vec::new();
    for path in &files {
        // A path in a process's maps may lead to anything by now.
        let Ok(file) = input::open_file(path) else {
            continue;
        };
        let all = file.try_clone().ok().and_then(file_probes).unwrap_or_default();
        for probe in all {
            there.insert(probe.name.clone());
            let is_meant = |pattern: &String| matches(pattern, &probe.name);
            if usdt.pattern.as_ref().is_none_or(is_meant) {
                let file =
                    file.try_clone().map_err(|error| NotRecorded::Failed(error.to_string()))?;
                found.push((file, probe));
            }
        }
    }
    let reason = match (&usdt.pattern, found.len()) {
        (_, 1..=MOST) => return Ok(found),
        (None, 0) => format!("{program} has no section .note.stapsdt"),
        (Some(_), 0) if there.is_empty() => {
            format!("{program} and its libraries have no section .note.stapsdt")
        }
        (Some(pattern), 0) => {
            let there: Vec<String> = there.into_iter().take(8).collect();
            format!("no USDT probe matches {pattern}; there are {}", there.join(", "))
        }
        (_, many) => format!("{many} USDT probes are too many: choose with --usdt=PROVIDER:NAME"),
    };
    Err(NotRecorded::Failed(reason))
}

/// The program, and its libraries if probes of them may be meant.
fn files(traced: &Traced, usdt: &Usdt) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = match *traced {
        Traced::Command => usdt.program.iter().cloned().collect(),
        Traced::Process(id) => vec![format!("/proc/{id}/exe").into()],
    };
    if usdt.pattern.is_some() {
        let libraries = match *traced {
            Traced::Command => usdt.program.as_deref().map(needed).unwrap_or_default(),
            Traced::Process(id) => mapped(id),
        };
        files.extend(libraries);
    }
    files
}

/// The libraries that a program is linked with, as its loader lists them.
fn needed(program: &Path) -> Vec<PathBuf> {
    let loader = input::open_file(program).ok().and_then(|file| {
        let cache = ReadCache::new(file);
        let object = object::File::parse(&cache).ok()?;
        let loader = object.section_by_name(".interp")?.data().ok()?;
        Some(PathBuf::from(OsStr::from_bytes(loader.strip_suffix(b"\0")?)))
    });
    let Some(loader) = loader else {
        return Vec::new();
    };
    listed(Command::new(loader).arg("--list").arg(program))
}

/// The libraries that a loader lists; none if it can't, or goes on for long. Which program that is stands in the
/// file of the traced one.
fn listed(loader: &mut Command) -> Vec<PathBuf> {
    let Ok(Captured::Exited { out, .. }) =
        capture::capture_output(loader.stdin(Stdio::null()), LISTING)
    else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&out);
    let paths = text.lines().filter_map(|line| line.split_once(" => ")?.1.rsplit_once(" ("));
    paths.map(|(path, _)| path.into()).collect()
}

/// The libraries that a process has mapped.
fn mapped(id: u32) -> Vec<PathBuf> {
    let maps = maps_of(id, MOST_MAPS).unwrap_or_default();
    let code = maps.lines().filter(|line| line.contains(" r-xp "));
    let paths: BTreeSet<&str> = code.filter_map(|line| Some(&line[line.find('/')?..])).collect();
    let exe = std::fs::read_link(format!("/proc/{id}/exe")).unwrap_or_default();
    let root = PathBuf::from(format!("/proc/{id}/root"));
    let libraries = paths.into_iter().filter(|path| exe != Path::new(path));
    libraries.map(|path| root.join(path.trim_start_matches('/'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_that_leaves_a_process_is_not_waited_for() {
        let script =
            "sleep 600 & echo \"left => $! (0x1)\"; echo 'libc.so.6 => /lib/libc.so.6 (0x2)'";
        let found = listed(Command::new("sh").args(["-c", script]));
        let [left, library] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(library, Path::new("/lib/libc.so.6"));
        let kill = format!("kill {}", left.display());
        let killed = Command::new("sh").args(["-c", &kill]).status();
        let killed = killed.expect("started");
        assert!(killed.success(), "it was waited for to its end");
    }
}
