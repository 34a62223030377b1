//! A journal that is there, read again.

use super::super::faults::Faults;
use super::{Entry, Found, Header, Here, Journal, Record, Stale, Unusable, VERSION};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Journal {
    /// The one that is there, if one is.
    ///
    /// # Errors
    /// If it is none of ours, of another tree, or not understood. What an
    /// earlier boot left need not be understood.
    pub(crate) fn open(
        directory: &Path,
        here: Here,
        faults: &Faults,
    ) -> Result<Option<Found>, Unusable> {
        let path = Journal::path(directory);
        let unreadable = |error| Unusable::Unreadable {
            path: path.clone(),
            error,
        };
        // A link would lead to what others may write.
        let mut options = OpenOptions::new();
        let opened = sys::filesystem::open_unless_link(options.read(true).append(true), &path);
        let mut file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(None) => return Err(Unusable::NotOurs { path }),
            Ok(Some(file)) => file,
            Err(error) => return Err(unreadable(error)),
        };
        // Of what was opened, whatever has the name meanwhile.
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() || !sys::filesystem::is_ours(&found) || found.mode() & 0o077 != 0 {
            return Err(Unusable::NotOurs { path });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        let whole = bytes
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let torn = whole < bytes.len();
        let garbled = |line: usize, why: String| Unusable::Garbled {
            path: path.clone(),
            line,
            why,
        };
        let mut lines = bytes[..whole].split(|&b| b == b'\n');
        let first = lines.next().unwrap_or_default();
        if first.is_empty() {
            return Err(garbled(1, "it is empty".into()));
        }
        if let Some(boot_id) = another_boot(first, here) {
            return Ok(Some(Found::OfAnotherBoot(Stale {
                path,
                boot_id,
                faults: faults.clone(),
            })));
        }
        let header = header(first).map_err(|why| garbled(1, why))?;
        if header.root != here.root {
            return Err(Unusable::OfAnotherRoot {
                path,
                theirs: header.root,
                ours: here.root.to_owned(),
            });
        }
        let mut read = Reader::default();
        for (index, line) in lines.enumerate() {
            if !line.is_empty() {
                read.line(line).map_err(|why| garbled(index + 2, why))?;
            }
        }
        if torn {
            file.set_len(whole as u64)
                .and_then(|()| file.sync_all())
                .map_err(unreadable)?;
        }
        Ok(Some(Found::Ours(Journal {
            path,
            file,
            length: whole as u64,
            broken: false,
            faults: faults.clone(),
            header,
            entries: read.entries,
            torn,
        })))
    }
}

/// The boot of a first line, in whatever form the rest is, if it is of another
/// boot and of this tree. Earlier forms knew one tree only.
fn another_boot(line: &[u8], here: Here) -> Option<String> {
    let record: serde_json::Value = serde_json::from_slice(line).ok()?;
    let began = record.get("began")?;
    let boot_id = began.get("boot_id")?.as_str()?;
    let same_tree = began
        .get("root")
        .is_none_or(|root| root.as_str().map(Path::new) == Some(here.root));
    (boot_id != here.boot_id && same_tree).then(|| boot_id.to_owned())
}

fn header(line: &[u8]) -> Result<Header, String> {
    let version = serde_json::from_slice::<serde_json::Value>(line)
        .map_err(|e| e.to_string())?
        .get("began")
        .ok_or("it has no beginning")?
        .get("version")
        .and_then(serde_json::Value::as_u64);
    if version != Some(VERSION.into()) {
        let form = version.map_or("not told".into(), |form| form.to_string());
        return Err(format!("its form is {form}, not {VERSION}"));
    }
    match serde_json::from_slice(line).map_err(|e| e.to_string())? {
        Record::Began(header) => Ok(header),
        _ => Err("it has no beginning".into()),
    }
}

/// Collects records, which must make sense one after the other.
#[derive(Default)]
struct Reader {
    entries: Vec<Entry>,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        match serde_json::from_slice(line).map_err(|e| e.to_string())? {
            Record::Began(_) => return Err("a second beginning".into()),
            Record::Intent { entry, action } if entry == self.entries.len() => {
                self.entries.push(Entry::new(action));
            }
            Record::Intent { .. } => return Err("an entry out of turn".into()),
            Record::Made { entry, left } => self.entry(entry)?.left = Some(left),
            Record::Undoing { entry, foreign } => self.entry(entry)?.undoing = Some(foreign),
            Record::Tried {
                entry,
                foreign,
                left,
            } => {
                let entry = self.entry(entry)?;
                entry.undoing = None;
                entry.foreign = foreign;
                entry.left = Some(left);
            }
            Record::Done { entry } => {
                let count = self.entries.len();
                let entry = self.entry(entry)?;
                entry.done = true;
                entry.done_of = count;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: usize) -> Result<&mut Entry, String> {
        self.entries
            .get_mut(entry)
            .ok_or_else(|| format!("there is no entry {entry}"))
    }
}
