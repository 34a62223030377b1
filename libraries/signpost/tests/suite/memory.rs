//! The memory that latlas makes, as a file, and what a client wrote there.

use latlas_signpost::layout::{
    CLOCK_COUNTER, CLOCK_RAW, MAGIC, NAME_READY, NAME_WORDS, NAMES_AT, RECORD_WORDS, RING_WORDS,
    RINGS_AT, RecordKind, VARIABLE, VERSION, WORDS, header, kind_and_name, ring,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

pub(crate) struct SignpostMemory {
    _directory: TempDir,
    pub(crate) path: PathBuf,
    file: File,
}

/// Kind, name and stamp of a record.
pub(crate) type ReadRecord = (RecordKind, String, u64);

impl SignpostMemory {
    pub(crate) fn new(clock: u64) -> SignpostMemory {
        assert!([CLOCK_RAW, CLOCK_COUNTER].contains(&clock));
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("signposts");
        let file = File::options();
        let file = file.clone().read(true).write(true).create(true).open(&path);
        let file = file.expect("a file");
        file.set_len(WORDS as u64 * 8).expect("its length");
        let memory = SignpostMemory { _directory: directory, path, file };
        memory.set(header::VERSION, VERSION);
        memory.set(header::CLOCK, clock);
        memory.set(header::MAGIC, MAGIC);
        memory
    }

    pub(crate) fn set(&self, at: usize, word: u64) {
        let written = self.file.write_all_at(&word.to_ne_bytes(), at as u64 * 8);
        written.expect("written");
    }

    pub(crate) fn word(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        let read = self.file.read_exact_at(&mut bytes, at as u64 * 8);
        read.expect("read");
        u64::from_ne_bytes(bytes)
    }

    pub(crate) fn record_name(&self, index: u32) -> String {
        let at = NAMES_AT + index as usize * NAME_WORDS;
        let length = self.word(at);
        assert!(length & NAME_READY != 0, "name {index}");
        let words = (1..NAME_WORDS).flat_map(|k| self.word(at + k).to_ne_bytes());
        let bytes: Vec<u8> = words.take((length & !NAME_READY) as usize).collect();
        String::from_utf8(bytes).expect("UTF-8")
    }

    pub(crate) fn of_ring(&self, index: usize, at: usize) -> u64 {
        self.word(RINGS_AT + index * RING_WORDS + at)
    }

    pub(crate) fn records(&self, index: usize) -> Vec<ReadRecord> {
        let records = 0..self.of_ring(index, ring::HEAD) as usize;
        records
            .map(|k| {
                let at = ring::WORDS + k * RECORD_WORDS;
                let (kind, name) = kind_and_name(self.of_ring(index, at + 1)).expect("a record");
                (kind, self.record_name(name), self.of_ring(index, at))
            })
            .collect()
    }

    /// Runs a command that finds this memory; it has to succeed.
    pub(crate) fn run_command(&self, command: &mut Command) {
        let output = command.env(VARIABLE, &self.path).output().expect("starts");
        let text = String::from_utf8_lossy(&output.stderr);
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{out}");
    }

    /// Runs one of the ignored tests of this program.
    pub(crate) fn run_test(&self, name: &str) {
        let program = std::env::current_exe().expect("its path");
        let mut command = Command::new(program);
        self.run_command(command.args(["--exact", name, "--ignored", "--test-threads=1"]));
    }
}

/// What was marked, without the times, which must not go back.
pub(crate) fn marks(records: &[ReadRecord]) -> Vec<(RecordKind, &str)> {
    assert!(records.is_sorted_by_key(|(_, _, stamp)| *stamp));
    let marks = records.iter().map(|(kind, name, _)| (*kind, name.as_str()));
    marks.collect()
}
