//! What was changed, on the disk before it is changed: one JSON record a line
//! with a checksum, each synced before the next thing happens.
//!
//! A record is only ever appended. What a crash leaves half-written is the last
//! line alone; it is cut off, and its step is put back as one that was broken
//! off. The file goes when every entry is done. It may be there twice, with the same records: as
//! long as one is, what was changed is known.

mod checksum;
mod read;
mod record;
mod restored;

use super::faults::Faults;
use checksum::Checksum;
use record::JournalRecord;
pub(crate) use record::{Action, Damage, Header, JournalEntry};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Of the journal's form.
const VERSION: u32 = 3;

/// The form before, the same without checksums: still read, so that what an
/// earlier latlas set can be put back.
const WITHOUT_CHECKSUMS: u32 = 2;

/// Its name in the state directory.
const NAME: &str = "journal";

/// Until its header is on the disk.
const NEW: &str = "journal.new";

/// What a journal must be of to be undone here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    pub(crate) boot_id: &'a str,
    pub(crate) root: &'a Path,
}

#[derive(Debug)]
pub(crate) enum FoundJournal {
    /// Of this boot.
    Ours(Journal),
    /// Of an earlier boot, whatever is in it.
    OfAnotherBoot(Stale),
}

/// The journal of an earlier boot: the kernel began with its own values since.
#[derive(Debug)]
pub(crate) struct Stale {
    path: PathBuf,
    boot_id: String,
    /// Nothing but its own word says so.
    pub(crate) unchecked: bool,
    faults: Faults,
}

/// An open journal. Its owner holds the state directory's lock.
#[derive(Debug)]
pub(crate) struct Journal {
    copies: Vec<JournalFile>,
    /// Bytes of whole records.
    length: u64,
    /// Of these records; nothing in a journal that has no checksums.
    sum: Option<Checksum>,
    /// Half a record is in the file and could not be cut off.
    broken: bool,
    faults: Faults,
    pub(crate) header: Header,
    pub(crate) entries: Vec<JournalEntry>,
    /// Whether a half-written last line was cut off.
    pub(crate) torn: bool,
    /// What is the matter with another copy.
    pub(crate) remarks: Vec<String>,
}

/// One file of it.
#[derive(Debug)]
struct JournalFile {
    path: PathBuf,
    file: File,
}

#[derive(thiserror::Error, Debug)]
pub(crate) enum Unusable {
    #[error("the journal {path} is not owned by root with mode 0600: check it, then remove it")]
    NotOurs { path: PathBuf },
    #[error(
        "line {line} of the journal {path} is invalid: {why}; nothing was restored: set the values in it by hand, then remove it"
    )]
    Garbled { path: PathBuf, line: usize, why: Damage },
    #[error(
        "the journal {path} is of the root {other}, not {ours}: restore that first, or use another state directory (LATLAS_STATE_DIR)"
    )]
    OfAnotherRoot { path: PathBuf, other: PathBuf, ours: PathBuf },
    #[error("can't read the journal {path}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
}

impl Journal {
    pub(crate) fn journal_path(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    /// A new one, with a copy in each of these directories. They get their names when their header is
    /// on the disk.
    pub(crate) fn create(
        directories: &[&Path],
        here: Here,
        process: u32,
        faults: &Faults,
    ) -> io::Result<Journal> {
        let named = match directories {
            [_] => Vec::new(),
            several => (several.iter().map(std::path::absolute)).collect::<io::Result<_>>()?,
        };
        let header = Header {
            version: VERSION,
            boot_id: here.boot_id.to_owned(),
            root: here.root.to_owned(),
            process,
            began_ns: sys::monotonic_raw_ns(),
            copies: named,
        };
        faults.on_action("create the journal");
        let mut journal = Journal {
            copies: Vec::new(),
            length: 0,
            sum: Some(Checksum::default()),
            broken: false,
            faults: faults.clone(),
            header: header.clone(),
            entries: Vec::new(),
            torn: false,
            remarks: Vec::new(),
        };
        let began = journal.begin_journal(directories, header);
        if let Err(error) = began {
            // The first error is the one to tell.
            for directory in directories {
                let _ = std::fs::remove_file(directory.join(NEW));
            }
            for copy in &journal.copies {
                let _ = std::fs::remove_file(&copy.path);
            }
            return Err(error);
        }
        Ok(journal)
    }

    fn begin_journal(&mut self, directories: &[&Path], header: Header) -> io::Result<()> {
        for directory in directories {
            let temporary = directory.join(NEW);
            gone(std::fs::remove_file(&temporary))?;
            let file =
                OpenOptions::new().append(true).create_new(true).mode(0o600).open(&temporary)?;
            let path = Journal::journal_path(directory);
            self.copies.push(JournalFile { path, file });
        }
        self.append(&JournalRecord::Began(header))?;
        for directory in directories {
            self.faults.on_action("name the journal");
            std::fs::rename(directory.join(NEW), Journal::journal_path(directory))?;
            self.faults.on_action("sync the directory");
            sync(directory)?;
        }
        Ok(())
    }

    /// Says what is going to be done; it is on the disk when this returns.
    pub(crate) fn intent(&mut self, action: Action) -> io::Result<usize> {
        let entry = self.entries.len();
        let record = JournalRecord::Intent { entry, action };
        self.append(&record)?;
        self.learn(record)?;
        Ok(entry)
    }

    /// Says that it is done, and what was read back.
    pub(crate) fn made(&mut self, entry: usize, left: Vec<Option<String>>) -> io::Result<()> {
        self.remember(JournalRecord::Made { entry, left })
    }

    /// Says that it is going to be undone.
    pub(crate) fn undoing(&mut self, entry: usize, foreign: Vec<usize>) -> io::Result<()> {
        self.remember(JournalRecord::Undoing { entry, foreign })
    }

    /// Says that undoing it was tried, and what was left.
    pub(crate) fn tried(&mut self, entry: usize, left: Vec<Option<String>>) -> io::Result<()> {
        let known = &self.entries[entry];
        let foreign = known.undoing.as_ref().unwrap_or(&known.foreign).clone();
        self.remember(JournalRecord::Tried { entry, foreign, left })
    }

    /// Says that nothing of it is left.
    pub(crate) fn done(&mut self, entry: usize) -> io::Result<()> {
        self.remember(JournalRecord::Done { entry })
    }

    /// Of what has happened this process knows, also where the disk takes no
    /// more.
    fn remember(&mut self, record: JournalRecord) -> io::Result<()> {
        let appended = self.append(&record);
        self.learn(record)?;
        appended
    }

    fn learn(&mut self, record: JournalRecord) -> io::Result<()> {
        record.learn(&mut self.entries).map_err(io::Error::other)
    }

    /// Entries of which something may be left.
    pub(crate) fn pending(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.done).count()
    }

    /// Whether an earlier latlas wrote it, without checksums.
    pub(crate) fn unchecked(&self) -> bool {
        self.sum.is_none()
    }

    /// Takes the whole journal away: every entry is done. The copy that is looked for first goes
    /// last.
    pub(crate) fn remove(self) -> io::Result<()> {
        if let Some(machine) = self.header.copies.first() {
            self.faults.on_action("note that it is put back");
            gone(restored::note_journal(machine, &self.header))?;
        }
        for copy in self.copies.iter().rev() {
            self.faults.on_action("remove the journal");
            // Its directory may have been moved, or removed.
            gone(std::fs::remove_file(&copy.path))?;
            self.faults.on_action("sync the directory");
            gone(sync(copy.path.parent().unwrap_or(Path::new("/"))))?;
        }
        Ok(())
    }

    /// On a full disk a part of the record may be there: it must not stand
    /// before the next one.
    fn append(&mut self, record: &JournalRecord) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier record could not be written"));
        }
        let mut line = serde_json::to_vec(record)?;
        let sum = self.sum.map(|sum| sum.with(&line));
        line.extend(sum.into_iter().flat_map(Checksum::suffix));
        line.push(b'\n');
        match self.write(&line) {
            Ok(()) => {
                self.length += line.len() as u64;
                self.sum = sum;
                Ok(())
            }
            Err(error) => {
                let mut copies = self.copies.iter();
                self.broken = !copies.all(|copy| copy.file.set_len(self.length).is_ok());
                Err(error)
            }
        }
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        for copy in &mut self.copies {
            self.faults.on_action("append to the journal");
            if self.faults.listened() {
                // A crash may come in the middle.
                let (first, second) = line.split_at(line.len() / 2);
                copy.file.write_all(first)?;
                self.faults.on_action("append the rest");
                copy.file.write_all(second)?;
            } else {
                copy.file.write_all(line)?;
            }
            self.faults.on_action("sync the journal");
            copy.file.sync_all()?;
        }
        Ok(())
    }
}

impl Stale {
    /// Gives it another name.
    pub(crate) fn set_aside(self) -> io::Result<PathBuf> {
        let boot: String =
            self.boot_id.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        let aside = directory.join(format!("journal.of-boot-{boot}"));
        self.faults.on_action("set the journal aside");
        std::fs::rename(&self.path, &aside)?;
        self.faults.on_action("sync the directory");
        sync(directory)?;
        Ok(aside)
    }
}

/// Whether the journal in a directory, if it can be read, is a copy of one that was put back.
pub(crate) fn is_put_back(directory: &Path, machine: &Path) -> bool {
    let read = std::fs::read(Journal::journal_path(directory));
    let header = read.ok().and_then(|bytes| read::header_of(&bytes));
    header.is_some_and(|header| restored::has(machine, &header))
}

/// What is not there need not be removed.
fn gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Makes the names in a directory last.
pub(crate) fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
