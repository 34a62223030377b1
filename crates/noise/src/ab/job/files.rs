//! Work on many small files, as `git status` has it: every directory listed,
//! every file looked up, opened and read.

use super::JobReport;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Directories that [`make_files`] makes.
const DIRECTORIES: u64 = 16;
const FILES: u64 = 25;
const BYTES: usize = 4096;

/// Makes the files, and gives their number.
pub fn make_files(directory: &Path) -> io::Result<u64> {
    for d in 0..DIRECTORIES {
        let below = directory.join(format!("d{d:02}"));
        fs::create_dir(&below)?;
        for f in 0..FILES {
            // Different in each, so that no file system stores them once.
            let content = [d as u8, f as u8].repeat(BYTES / 2);
            fs::write(below.join(format!("f{f:02}")), content)?;
        }
    }
    Ok(DIRECTORIES * FILES)
}

/// Reads all files two directories deep. Done are files; the check is over
/// their bytes.
pub fn read_files(directory: &Path) -> io::Result<JobReport> {
    let mut report = JobReport::default();
    let mut content = Vec::new();
    for below in fs::read_dir(directory)? {
        for file in fs::read_dir(below?.path())? {
            let path = file?.path();
            let bytes = fs::metadata(&path)?.len();
            content.clear();
            fs::File::open(&path)?.read_to_end(&mut content)?;
            let sum: u64 = content.iter().map(|&b| u64::from(b)).sum();
            report.check = report.check.wrapping_add(sum + bytes);
            report.done += 1;
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_were_made_are_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let made = make_files(directory.path()).expect("files");
        let read = read_files(directory.path()).expect("files");
        assert_eq!((made, read.done), (400, 400));
        // Sums of 2048 times d + f over all, and the lengths.
        let sums: u64 = (0..16).flat_map(|d| (0..25).map(move |f| d + f)).sum();
        assert_eq!(read.check, 2048 * sums + 400 * 4096);
        assert!(read_files(&directory.path().join("none")).is_err());
    }
}
