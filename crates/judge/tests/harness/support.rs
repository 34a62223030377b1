//! A folder with a suite in it, and both sides of it opened.

use judge::checkout::{CheckoutError, Checkouts, Source};
use judge::harness::{HarnessError, SuiteOptions, Suites};
use judge::process::Processes;
use judge::slot::{Arm, SlotError, SlotRequest, SlotSamples, Slots};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A place of its own: a project, and latlas' data.
pub(crate) struct TestProject {
    pub(crate) folder: Folder,
}

/// Its folder, removed at the end by who made it.
pub(crate) enum Folder {
    Own(TempDir),
    Other(PathBuf),
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Folder::Own(folder) => folder.path(),
            Folder::Other(path) => path,
        }
    }
}

#[derive(Debug)]
pub(crate) enum NotOpened {
    Checkout(CheckoutError),
    Harness(HarnessError),
}

impl NotOpened {
    /// As a user sees it: one line.
    pub(crate) fn line(&self) -> String {
        let line = match self {
            NotOpened::Checkout(error) => error.to_string(),
            NotOpened::Harness(error) => error.to_string(),
        };
        assert!(!line.contains('\n'), "{line}");
        line
    }
}

/// Whether programs are here; says which is not.
pub(crate) fn has_all(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| sys::command::find_program(name.as_ref()).is_none());
    if let Some(missing) = missing {
        println!("SKIPPED: no {missing} here");
    }
    missing.is_none()
}

impl TestProject {
    /// With a fixture as a git repository of one commit.
    pub(crate) fn with_suite(name: &str) -> TestProject {
        let place = TestProject::without_git();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites").join(name);
        copy(&from, &place.project());
        place.git(&["init", "-q", "-b", "main"]);
        place.commit("first");
        place
    }

    /// With an empty repository.
    pub(crate) fn empty() -> TestProject {
        let place = TestProject::without_git();
        place.git(&["init", "-q", "-b", "main"]);
        place
    }

    /// With an empty folder.
    pub(crate) fn without_git() -> TestProject {
        let place = TestProject { folder: Folder::Own(tempfile::tempdir().expect("a folder")) };
        std::fs::create_dir(place.project()).expect("a folder");
        place
    }

    /// One that another process has made.
    pub(crate) fn in_folder(path: &Path) -> TestProject {
        TestProject { folder: Folder::Other(path.to_owned()) }
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.project().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.project()).args(["-c", "user.name=t", "-c", "user.email=t@t"]);
        let output = command.args(words).output().expect("git");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn commit(&self, what: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", what]);
    }

    /// Changes a file.
    pub(crate) fn replace(&self, file: &str, from: &str, to: &str) {
        let path = self.project().join(file);
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{file} has no {from}");
        std::fs::write(path, text.replace(from, to)).expect("written");
    }

    pub(crate) fn checkouts(&self, base: &str, head: &str) -> Result<Checkouts, CheckoutError> {
        self.checked_out(base, head, false)
    }

    fn checked_out(
        &self,
        base: &str,
        head: &str,
        in_place: bool,
    ) -> Result<Checkouts, CheckoutError> {
        let mut processes = Processes::new(None).expect("/dev/null");
        let sources = [base, head].map(|text| match self.project().join(text).is_dir() {
            true => Source::Directory(self.project().join(text)),
            false => Source::Revision(text.to_owned()),
        });
        let [base, head] = &sources;
        let here = self.project();
        Checkouts::check_out([base, head], &here, &self.data(), in_place, &mut processes)
    }

    pub(crate) fn opened(
        &self,
        base: &str,
        head: &str,
        options: SuiteOptions,
    ) -> Result<Suites, NotOpened> {
        let in_place = !options.commands.is_empty();
        let checkouts = self.checked_out(base, head, in_place).map_err(NotOpened::Checkout)?;
        let processes = Processes::new(None).expect("/dev/null");
        Suites::build(checkouts, options, processes).map_err(NotOpened::Harness)
    }

    /// Executables of the base that were linked again.
    pub(crate) fn layouts_of_base(&self) -> Vec<Vec<u8>> {
        let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let made = below(self.data().join("judging"))
            .flat_map(|work| below(work.path().join("base/build/layouts")));
        made.map(|file| std::fs::read(file.path()).expect("a program")).collect()
    }

    /// What is left of trees: folders of this process, and trees that git knows.
    pub(crate) fn left(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.data().join("judging")).into_iter().flatten();
        let folders =
            folders.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut left: Vec<String> = folders.filter(|name| name != "lock").collect();
        if self.project().join(".git").exists() {
            let trees = self.git(&["worktree", "list", "--porcelain"]);
            let trees = trees.lines().filter(|line| line.starts_with("worktree "));
            left.extend(trees.skip(1).map(str::to_owned));
        }
        left
    }
}

/// One slot, with short samples.
pub(crate) fn slot(
    suites: &mut Suites,
    name: &str,
    arm: Arm,
    layout_seed: Option<u64>,
) -> Result<SlotSamples, SlotError> {
    suites.measure(&SlotRequest {
        benchmark: name,
        arm,
        samples: 12,
        sample_length: Duration::from_micros(400),
        iterations: None,
        layout_seed,
    })
}

pub(crate) fn names_in(suites: &Suites) -> Vec<&str> {
    suites.benchmarks().iter().map(|one| &*one.name).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a fixture") {
        let entry = entry.expect("an entry");
        let (path, copy_of) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &copy_of),
            false => drop(std::fs::copy(&path, &copy_of).expect("copied")),
        }
    }
}
