//! Opening and closing a file, alone.

use super::cached::Cached;
use super::prepared::{Prepared, room};
use crate::repeated::PLAIN;
use meter::probe::{Effort, Probe};
use sys::system_calls::open_close;

const BYTES: u64 = 1 << 10;

pub(super) fn probe() -> Probe {
    Probe {
        title: "opening and closing a file of ours".into(),
        operation: "One open() of the C library of a file by its path for reading, and its close(), nothing read.".into(),
        method: format!("{PLAIN} The file holds 1 KiB of random data and lies where all files of a run do, so that the path has as many directories as theirs; the kernel has all it needs in memory, and /proc/self/io is asked whether anything came from storage. It is what file.read_with_open has beyond reading; file.open is the same call on a file of the system's.").into(),
        source: "Dmitry Kurkin, Latency Numbers on iPhone (2018): 50 microseconds, whatever the size of the file.".into(),
        effort: Effort {
            visits: 8,
            ..Effort::SCALAR
        },
        on_disk: |_| Some(room(BYTES)),
        make: Box::new(|bench, _| {
            let prepared = Prepared::of(bench, BYTES)?;
            let path = prepared.path.clone();
            Cached::boxed("opening", &prepared, false, move || open_close(&path))
        }),
        ..Probe::blank("file.open_close")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;

    #[test]
    fn it_runs_on_a_file_of_ours() {
        let notes = smoke::on_file(&[probe()], "file.open_close", 0).expect("it runs");
        assert!(notes[0].starts_with("file system: "), "{notes:?}");
    }
}
