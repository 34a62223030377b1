//! A journal that is there, read again.

use super::super::faults::Faults;
use super::checksum::{Checksum, is_marked};
use super::record::Damage;
use super::{
    FoundJournal, Header, Here, Journal, JournalFile, JournalRecord, Stale, Unusable, VERSION,
    WITHOUT_CHECKSUMS, restored,
};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Journal {
    /// The one in the first of these directories that has one, with its copy elsewhere.
    ///
    /// # Errors
    /// If it is none of ours, of another tree, or not understood. What an
    /// earlier boot left need not be understood. A copy of one that was put back is removed.
    pub(crate) fn open_first(
        directories: &[&Path],
        here: Here,
        faults: &Faults,
    ) -> Result<Option<FoundJournal>, Unusable> {
        let mut found = None;
        for directory in directories {
            found = Journal::open_in(directory, here, faults)?;
            match &found {
                None => {}
                Some(FoundJournal::Ours(journal))
                    if restored::has(directories[0], &journal.header) =>
                {
                    // Should it stay, it is past all the same.
                    let _ = std::fs::remove_file(Journal::journal_path(directory));
                    found = None;
                }
                Some(_) => break,
            }
        }
        if let Some(FoundJournal::Ours(journal)) = &mut found {
            journal.find_copies(here);
        }
        Ok(found)
    }

    /// Takes its copies in, where they are still there, and makes them the same: a crash may have
    /// come between the two. Without one of them nothing is lost.
    fn find_copies(&mut self, here: Here) {
        for directory in self.header.copies.clone() {
            let path = Journal::journal_path(&directory);
            let found = Journal::open_in(&directory, here, &self.faults);
            let taken = match found {
                Ok(Some(FoundJournal::Ours(other))) if other.header == self.header => {
                    let mut copies = other.copies.into_iter();
                    let result: io::Result<()> =
                        copies.try_for_each(|copy| match self.has(&copy)? {
                            true => Ok(()),
                            false => {
                                self.copy_to(&copy)?;
                                self.copies.push(copy);
                                Ok(())
                            }
                        });
                    result.map_err(|error| format!("{}: {error}", path.display()))
                }
                // Moved, removed, or of another tune since.
                Ok(_) => Ok(()),
                Err(why) => Err(why.to_string()),
            };
            if let Err(why) = taken {
                let remark = format!("the copy of the journal can't be used: {why}");
                self.remarks.push(remark);
            }
        }
    }

    /// Whether it is the same file, by whatever name.
    fn has(&self, other: &JournalFile) -> io::Result<bool> {
        let of = |copy: &JournalFile| copy.file.metadata().map(|found| (found.dev(), found.ino()));
        let other = of(other)?;
        Ok(self.copies.iter().any(|own| of(own).is_ok_and(|own| own == other)))
    }

    fn copy_to(&self, copy: &JournalFile) -> io::Result<()> {
        let mut bytes = vec![0; self.length as usize];
        let first = &self.copies[0].path;
        std::fs::File::open(first)?.read_exact(&mut bytes)?;
        copy.file.set_len(0)?;
        (&copy.file).write_all(&bytes)?;
        copy.file.sync_all()
    }

    fn open_in(
        directory: &Path,
        here: Here,
        faults: &Faults,
    ) -> Result<Option<FoundJournal>, Unusable> {
        let path = Journal::journal_path(directory);
        let unreadable = |error| Unusable::Unreadable { path: path.clone(), error };
        // A link would lead to what others may write.
        let mut options = OpenOptions::new();
        let opened = sys::filesystem::open_unless_link(options.read(true).append(true), &path);
        let mut file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(None) => return Err(Unusable::NotOurs { path }),
            Ok(Some(file)) => file,
            Err(error) => return Err(unreadable(error)),
        };
        // Of what was opened, whatever file has the name now.
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() || found.mode() & 0o077 != 0 {
            return Err(Unusable::NotOurs { path });
        }
        sys::trust::check_open(&file, &path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let (whole_lines, tail) = bytes.split_at(whole);
        let garbled =
            |line: usize, why: Damage| Unusable::Garbled { path: path.clone(), line, why };
        let mut lines = whole_lines.split(|&b| b == b'\n');
        let first = lines.next().unwrap_or_default();
        if first.is_empty() {
            return Err(garbled(
                1,
                if bytes.is_empty() { Damage::Empty } else { Damage::Checksum },
            ));
        }
        // Which boot it is of is believed only of an undamaged line.
        let (first, mut sum) = match is_marked(first) {
            true => match Checksum::default().verified(first) {
                Some((record, sum)) => (record, Some(sum)),
                None => return Err(garbled(1, Damage::Checksum)),
            },
            false => (first, None),
        };
        if let Some(boot_id) = another_boot(first, here) {
            if sum.is_none() && is_nearly(&boot_id, here.boot_id) {
                return Err(garbled(1, Damage::NearlyThisBoot));
            }
            return Ok(Some(FoundJournal::OfAnotherBoot(Stale {
                path,
                boot_id,
                unchecked: sum.is_none(),
                faults: faults.clone(),
            })));
        }
        let form = match sum {
            Some(_) => VERSION,
            None => WITHOUT_CHECKSUMS,
        };
        let header = header(first, form).map_err(|why| garbled(1, why))?;
        if header.root != here.root {
            return Err(Unusable::OfAnotherRoot {
                path,
                other: header.root,
                ours: here.root.to_owned(),
            });
        }
        let mut entries = Vec::new();
        let mut learn = |record: &[u8]| -> Result<(), Damage> {
            let record: JournalRecord = serde_json::from_slice(record)?;
            record.learn(&mut entries)
        };
        for (index, line) in lines.enumerate() {
            if line.is_empty() {
                continue;
            }
            let understood = record_of(line, &mut sum).and_then(&mut learn);
            understood.map_err(|why| garbled(index + 2, why))?;
        }
        let mut length = whole;
        let lines = whole_lines.split_inclusive(|&b| b == b'\n').count();
        let ended = last_record(tail, sum);
        if let Some((record, next)) = ended {
            learn(record).map_err(|why| garbled(lines + 1, why))?;
            sum = Some(next);
            length += record.len() + next.suffix().len();
        }
        if !tail.is_empty() {
            file.set_len(length as u64).map_err(unreadable)?;
            if ended.is_some() {
                file.write_all(b"\n").map_err(unreadable)?;
                length += 1;
            }
            file.sync_all().map_err(unreadable)?;
        }
        Ok(Some(FoundJournal::Ours(Journal {
            copies: vec![JournalFile { path, file }],
            length: length as u64,
            sum,
            broken: false,
            faults: faults.clone(),
            header,
            entries,
            torn: !tail.is_empty() && ended.is_none(),
            remarks: Vec::new(),
        })))
    }
}

/// The record of a line, with its checksum taken off where the journal has
/// them.
fn record_of<'a>(line: &'a [u8], sum: &mut Option<Checksum>) -> Result<&'a [u8], Damage> {
    let Some(before) = *sum else { return Ok(line) };
    let (record, after) = before.verified(line).ok_or(Damage::Checksum)?;
    *sum = Some(after);
    Ok(record)
}

/// The record of what is behind the last end of a line, if it is whole: then
/// that end alone is missing, or is damaged, and its step may have been taken.
fn last_record(tail: &[u8], sum: Option<Checksum>) -> Option<(&[u8], Checksum)> {
    let sum = sum?;
    let but_one = tail.split_last().map_or(tail, |(_, but_one)| but_one);
    sum.verified(tail).or_else(|| sum.verified(but_one))
}

/// Whether two ids of boots differ in so little that it is damage. They are
/// random.
fn is_nearly(one: &str, other: &str) -> bool {
    const LEAST: usize = 32;
    let differing = one.bytes().zip(other.bytes()).filter(|(a, b)| a != b);
    one.len() == other.len() && one.len() >= LEAST && differing.count() <= 2
}

/// The boot of a first line, in whatever form the rest is, if it is of another
/// boot and of this tree. Earlier forms knew one tree only.
fn another_boot(line: &[u8], here: Here) -> Option<String> {
    let record: serde_json::Value = serde_json::from_slice(line).ok()?;
    let began = record.get("began")?;
    let boot_id = began.get("boot_id")?.as_str()?;
    let same_tree =
        began.get("root").is_none_or(|root| root.as_str().map(Path::new) == Some(here.root));
    (boot_id != here.boot_id && same_tree).then(|| boot_id.to_owned())
}

/// The header of a journal, if it has checksums and its first line is whole.
pub(super) fn header_of(journal: &[u8]) -> Option<Header> {
    let first = journal.split(|&b| b == b'\n').next()?;
    let (record, _) = Checksum::default().verified(first)?;
    header(record, VERSION).ok()
}

fn header(line: &[u8], wanted: u32) -> Result<Header, Damage> {
    let record: serde_json::Value = serde_json::from_slice(line)?;
    let began = record.get("began").ok_or(Damage::NoBeginning)?;
    let found = began.get("version").and_then(serde_json::Value::as_u64);
    if found != Some(wanted.into()) {
        return Err(Damage::Form { found, wanted });
    }
    match serde_json::from_value(record)? {
        JournalRecord::Began(header) => Ok(header),
        _ => Err(Damage::NoBeginning),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Action;
    use super::*;

    #[test]
    fn a_record_that_makes_no_sense_is_told_with_its_line() {
        let here = Here { boot_id: "boot-1", root: Path::new("/") };
        let action = Action::Enable {
            path: "/cg/cgroup.subtree_control".into(),
            controller: "cpuset".into(),
        };
        let out_of_order = |_| JournalRecord::Intent { entry: 2, action: action.clone() };
        let records: [(&dyn Fn(Header) -> JournalRecord, &str); 3] = [
            (&JournalRecord::Began, "a second beginning"),
            (&out_of_order, "an entry out of order"),
            (&|_| JournalRecord::Done { entry: 1 }, "there is no entry 1"),
        ];
        for (record, expected) in records {
            let directory = tempfile::tempdir().expect("a directory");
            let directories = [directory.path()];
            let faults = Faults::default();
            let mut journal = Journal::create(&directories, here, 1, &faults).expect("made");
            journal.intent(action.clone()).expect("written");
            let record = record(journal.header.clone());
            journal.append(&record).expect("written");
            // With its line's end, and without.
            for length in [journal.length, journal.length - 1] {
                journal.copies[0].file.set_len(length).expect("cut");
                match Journal::open_first(&directories, here, &faults) {
                    Err(Unusable::Garbled { line, why, .. }) => {
                        assert_eq!((line, &*why.to_string()), (3, expected));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}
