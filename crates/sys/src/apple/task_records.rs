//! Apple systems keep no such record that a program could read.

use std::io;

use crate::task_records::TaskRecord;

/// The kernel's record of the beginning and end of threads.
#[derive(Debug)]
pub struct TaskRecords(());

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems keep no record of the end of threads",
    )
}

impl TaskRecords {
    /// Records of all threads of the machine.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn of_machine(_cpus: &[u32]) -> io::Result<TaskRecords> {
        Err(unsupported())
    }

    /// Records of the threads that the calling thread will create.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn of_own_threads(_cpus: &[u32]) -> io::Result<TaskRecords> {
        Err(unsupported())
    }

    /// Adds what was recorded since the last time.
    pub fn take(&mut self, _records: &mut Vec<TaskRecord>) {}
}
