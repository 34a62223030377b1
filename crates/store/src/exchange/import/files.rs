//! Finds and reads what the user named: files, criterion's directories,
//! standard input. Everything is bounded before it is read.

use super::file_checks::{MAX_FILE_BYTES, too_large};
use super::{ImportError, ImportFault, MAX_ROWS};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use sys::input;

/// Directories within directories below what the user named.
const MAX_DEPTH: usize = 16;
/// Entries looked at in all.
const MAX_ENTRIES: usize = 200_000;

/// What the user named, read.
#[derive(Debug)]
pub enum Input {
    /// A file or standard input.
    File {
        /// As the user named it.
        name: String,
        bytes: Vec<u8>,
    },
    /// Results of criterion.
    Criterion {
        /// As the user named it.
        name: String,
        /// The benchmarks in it, by path.
        benchmarks: Vec<CriterionFolder>,
    },
}

impl Input {
    /// As the user named it.
    pub fn display_name(&self) -> &str {
        match self {
            Input::File { name, .. } | Input::Criterion { name, .. } => name,
        }
    }
}

/// criterion's files of one benchmark.
#[derive(Debug, Default)]
pub struct CriterionFolder {
    pub directory: String,
    /// What to call it where they don't say.
    pub fallback_name: String,
    /// `benchmark.json`.
    pub id: Option<InputPart>,
    /// `sample.json`.
    pub sample: Option<InputPart>,
    /// `estimates.json`.
    pub estimates: Option<InputPart>,
}

#[derive(Debug)]
pub struct InputPart {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Reads what a path names; `-` is standard input.
pub fn read_input(path: &Path) -> Result<Input, ImportError> {
    if path == Path::new("-") {
        let name = "standard input".to_owned();
        return match stdin() {
            Ok(bytes) => Ok(Input::File { name, bytes }),
            Err(fault) => Err(fault.in_file(&name)),
        };
    }
    let name = path.display().to_string();
    let metadata = fs::metadata(path).map_err(|e| unreadable(&e).in_file(&name))?;
    if metadata.is_dir() {
        let benchmarks = below(path)?;
        return Ok(Input::Criterion { name, benchmarks });
    }
    if is_part_of_criterion(path) {
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let benchmarks = vec![benchmark(directory)?];
        return Ok(Input::Criterion { name, benchmarks });
    }
    let bytes = bytes(path)?;
    Ok(Input::File { name, bytes })
}

/// Run documents in a folder that is no criterion's, by name; none where it holds none.
///
/// # Errors
/// If it can't be listed.
pub fn records_in(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    if holds_results(folder) {
        return Ok(Vec::new());
    }
    let unlisted = |e: io::Error| unreadable(&e).in_file(&folder.display().to_string());
    let mut records = Vec::new();
    for (count, entry) in fs::read_dir(folder).map_err(unlisted)?.enumerate() {
        let path = entry.map_err(unlisted)?.path();
        let named = |ending: &str| path.to_string_lossy().ends_with(ending);
        if count >= MAX_ENTRIES {
            let reason = format!("more than {MAX_ENTRIES} files in it");
            return Err(ImportFault::of_file(reason).in_file(&folder.display().to_string()));
        }
        if (named(".json") || named(".json.zst")) && path.is_file() {
            records.push(path);
        }
    }
    records.sort_unstable();
    Ok(records)
}

/// Whether a file is one of criterion's, by its own name and its neighbour's:
/// any tool may write a `sample.json`.
fn is_part_of_criterion(path: &Path) -> bool {
    let named = path.file_name().is_some_and(|name| {
        name == "sample.json" || name == "estimates.json" || name == "benchmark.json"
    });
    named
        && ["benchmark.json", "sample.json", "estimates.json"]
            .iter()
            .filter(|name| is_there(&path.with_file_name(name)))
            .count()
            >= 2
}

fn unreadable(error: &io::Error) -> ImportFault {
    ImportFault::of_file(format!("it can't be read: {error}"))
}

fn stdin() -> Result<Vec<u8>, ImportFault> {
    let mut bytes = Vec::new();
    let stdin = io::stdin().lock();
    stdin.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    bounded(bytes)
}

fn bounded(bytes: Vec<u8>) -> Result<Vec<u8>, ImportFault> {
    if bytes.len() as u64 > MAX_FILE_BYTES { Err(too_large()) } else { Ok(bytes) }
}

fn bytes(path: &Path) -> Result<Vec<u8>, ImportError> {
    read_whole(input::open_input(path), path)
}

fn read_whole(opened: io::Result<input::Input>, path: &Path) -> Result<Vec<u8>, ImportError> {
    let read = opened.and_then(|input| input::read_open(input, MAX_FILE_BYTES));
    read.map_err(|e| unreadable(&e))
        .and_then(bounded)
        .map_err(|fault| fault.in_file(&path.display().to_string()))
}

/// Whether something has this name, whatever it is: that it can't be read is said, and not taken for
/// a benchmark without it.
fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// The newest results below a directory: each benchmark's `new`. Links are not
/// followed, so that there is an end and nothing outside is read.
fn below(root: &Path) -> Result<Vec<CriterionFolder>, ImportError> {
    let refuse =
        |reason: String| Err(ImportFault::of_file(reason).in_file(&root.display().to_string()));
    let mut found: Vec<PathBuf> = Vec::new();
    let mut pending = vec![(root.to_owned(), 0)];
    let mut entries = 0;
    while let Some((directory, depth)) = pending.pop() {
        if holds_results(&directory) && (depth == 0 || directory.ends_with("new")) {
            found.push(directory.clone());
        }
        let listed = fs::read_dir(&directory)
            .map_err(|e| unreadable(&e).in_file(&directory.display().to_string()))?;
        for entry in listed {
            let entry =
                entry.map_err(|e| unreadable(&e).in_file(&directory.display().to_string()))?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return refuse(format!("more than {MAX_ENTRIES} files below it"));
            }
            // Not of the link's target, as `metadata` would be.
            let kind = entry.file_type();
            let kind =
                kind.map_err(|e| unreadable(&e).in_file(&entry.path().display().to_string()))?;
            if kind.is_dir() {
                if depth == MAX_DEPTH {
                    return refuse(format!("directories more than {MAX_DEPTH} deep"));
                }
                pending.push((entry.path(), depth + 1));
            }
        }
    }
    if found.is_empty() {
        return refuse(
            "no results of criterion below it (new/sample.json): give target/criterion after \
             `cargo bench`"
                .into(),
        );
    }
    if found.len() > MAX_ROWS {
        return refuse(format!("more than {MAX_ROWS} benchmarks below it"));
    }
    found.sort();
    let mut total = 0;
    let mut benchmarks = Vec::new();
    for directory in &found {
        let benchmark = benchmark(directory)?;
        let parts = [&benchmark.id, &benchmark.sample, &benchmark.estimates];
        total += parts.iter().filter_map(|p| p.as_ref()).map(|p| p.bytes.len() as u64).sum::<u64>();
        if total > MAX_FILE_BYTES {
            return refuse(format!(
                "its files together are larger than {} MiB",
                MAX_FILE_BYTES >> 20
            ));
        }
        benchmarks.push(benchmark);
    }
    Ok(benchmarks)
}

fn holds_results(directory: &Path) -> bool {
    is_there(&directory.join("sample.json")) || is_there(&directory.join("estimates.json"))
}

fn benchmark(directory: &Path) -> Result<CriterionFolder, ImportError> {
    let part = |name: &str| -> Result<Option<InputPart>, ImportError> {
        let path = directory.join(name);
        if !is_there(&path) {
            return Ok(None);
        }
        // No pipe is waited for that was not named.
        let opened = input::open_file(&path).map(input::Input::File);
        Ok(Some(InputPart { bytes: read_whole(opened, &path)?, name: path.display().to_string() }))
    };
    // `new` says nothing; what it is in does.
    let named = match directory.ends_with("new") {
        true => directory.parent(),
        false => Some(directory),
    };
    let fallback = named.and_then(Path::file_name).map(|n| n.to_string_lossy());
    Ok(CriterionFolder {
        directory: directory.display().to_string(),
        fallback_name: fallback.unwrap_or("unnamed".into()).into_owned(),
        id: part("benchmark.json")?,
        sample: part("sample.json")?,
        estimates: part("estimates.json")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("tempdir");
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("made");
            fs::write(path, file).expect("written");
        }
        root
    }

    /// A benchmark's name with the texts of its three parts.
    type Named = (String, [Option<String>; 3]);

    fn found(path: &Path) -> Result<Vec<Named>, String> {
        let Input::Criterion { benchmarks, .. } = read_input(path).map_err(|error| error.reason)?
        else {
            return Err("a file of its own".into());
        };
        let text = |part: Option<InputPart>| part.map(|p| String::from_utf8_lossy(&p.bytes).into());
        let parts = |b: CriterionFolder| (b.fallback_name, [b.id, b.sample, b.estimates].map(text));
        Ok(benchmarks.into_iter().map(parts).collect())
    }

    #[test]
    fn the_newest_results_of_a_tree_are_read() {
        let root = tree(&[
            "b/new/estimates.json",
            "a/new/sample.json",
            "a/new/benchmark.json",
            "a/base/sample.json",
            "no-results/new/benchmark.json",
        ]);
        let some = |path: &str| Some(path.to_owned());
        let a = [some("a/new/benchmark.json"), some("a/new/sample.json"), None];
        let b = [None, None, some("b/new/estimates.json")];
        let all = vec![("a".to_owned(), a), ("b".to_owned(), b)];
        assert_eq!(found(root.path()), Ok(all.clone()));
        // A directory that was named itself need not be the newest.
        let base = [None, some("a/base/sample.json"), None];
        let base = vec![("base".to_owned(), base)];
        assert_eq!(found(&root.path().join("a/base")), Ok(base));
        // A file with another of criterion beside it stands for both.
        let file = found(&root.path().join("a/new/benchmark.json"));
        assert_eq!(file.as_ref(), Ok(&all[..1].to_vec()));
        let alone = found(&root.path().join("b/new/estimates.json"));
        assert_eq!(alone, Err("a file of its own".into()));
        let none = found(&root.path().join("no-results")).expect_err("none");
        assert!(none.starts_with("no results of criterion"), "{none}");
    }

    #[test]
    fn a_part_that_can_not_be_read_is_an_error_of_the_whole() {
        use std::os::unix::fs::symlink;
        let pipe = |path: &Path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.expect("mkfifo runs").success());
        };
        let directory = |path: &Path| fs::create_dir(path).expect("made");
        let device = |path: &Path| symlink("/dev/zero", path).expect("made");
        let nothing = |path: &Path| symlink("no-such-file", path).expect("made");
        type Make<'m> = &'m dyn Fn(&Path);
        let makes: [(&str, Make); 4] = [
            ("it is a pipe, not a file", &pipe),
            ("it is a directory, not a file", &directory),
            ("it is a device, not a file", &device),
            ("No such file or directory", &nothing),
        ];
        for (why, make) in makes {
            for part in ["sample.json", "estimates.json", "benchmark.json"] {
                let files = ["sample.json", "estimates.json", "benchmark.json"];
                let files = files.map(|file| format!("b/new/{file}"));
                let root = tree(&["a/new/sample.json", &files[0], &files[1], &files[2]]);
                let changed = root.path().join("b/new").join(part);
                fs::remove_file(&changed).expect("removed");
                make(&changed);
                let other = files.iter().find(|file| !file.ends_with(part)).expect("two");
                for named in [root.path().to_owned(), root.path().join(other)] {
                    let error = read_input(&named).expect_err(why);
                    assert_eq!(error.file, changed.display().to_string(), "{why}");
                    assert!(error.reason.contains(why), "{}", error.reason);
                }
            }
            // The only one of a benchmark.
            let root = tree(&["a/new/sample.json", "b/new/benchmark.json"]);
            make(&root.path().join("b/new/sample.json"));
            let error = found(root.path()).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_tree_is_read_to_a_depth_and_links_are_not_followed() {
        let at_depth = |depth: usize| format!("{}new/sample.json", "d/".repeat(depth - 1));
        let deepest = tree(&[&at_depth(MAX_DEPTH)]);
        assert_eq!(found(deepest.path()).map(|all| all.len()), Ok(1));
        let deeper = found(tree(&[&at_depth(MAX_DEPTH + 1)]).path()).expect_err("refused");
        assert_eq!(deeper, "directories more than 16 deep");
        let links = tree(&["a/new/sample.json"]);
        let link = |to: &Path, name| std::os::unix::fs::symlink(to, links.path().join(name));
        link(links.path(), "a/loop").expect("made");
        link(deepest.path(), "outside").expect("made");
        assert_eq!(found(links.path()).map(|all| all.len()), Ok(1));
    }
}
