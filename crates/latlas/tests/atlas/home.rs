//! A data directory of one's own, filled by `latlas import`.

use assert_cmd::cargo::cargo_bin;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SYNTHETIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/synthetic.json");

/// Id of run number `n`.
pub(crate) fn id(n: u32) -> String {
    format!("{n:08x}-0000-4000-8000-000000000001")
}

pub(crate) struct Home(TempDir);

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn refused(&self, why: &str) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.contains(why), "{why} not in {}", self.err);
    }
}

impl Home {
    pub(crate) fn new() -> Home {
        Home(tempfile::tempdir().expect("tempdir"))
    }

    /// With the runs of these numbers, each a second after the one before.
    pub(crate) fn with(numbers: &[u32]) -> Home {
        let home = Home::new();
        for &n in numbers {
            let document = home.document(n);
            let document = document.to_str().expect("UTF-8");
            let done = home.run(&["import", "--format", "run", document]);
            assert_eq!(
                (done.code, done.out.trim()),
                (0, &id(n)[..]),
                "{}",
                done.err
            );
        }
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn template(&self) -> serde_json::Value {
        let text = std::fs::read(SYNTHETIC).expect("the fixture");
        let mut run: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        // Long ago, whatever the clock of this machine says: a run that is to
        // come is refused.
        run["started_unix_ms"] = 1_577_836_800_000_u64.into();
        run
    }

    /// A document of run `n` outside the store.
    pub(crate) fn document(&self, n: u32) -> PathBuf {
        let mut run = self.template();
        run["id"] = id(n).into();
        let began = run["started_unix_ms"].as_u64().expect("a time");
        run["started_unix_ms"] = (began + 1000 * u64::from(n)).into();
        let path = self.path(&format!("run-{n}.json"));
        std::fs::write(&path, run.to_string()).expect("written");
        path
    }

    /// Keeps a document without latlas, as a copy from elsewhere.
    pub(crate) fn keep_by_hand(&self, run: &serde_json::Value) {
        let runs = self.path("data/runs");
        std::fs::create_dir_all(&runs).expect("made");
        let id = run["id"].as_str().expect("an id");
        let name = format!("20260101T000000.000Z-{id}.json.zst");
        // A reader looks at the bytes, not at the name.
        std::fs::write(runs.join(name), run.to_string()).expect("written");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("latlas"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("LATLAS_DATA_DIR", self.path("data"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        done(self.command(arguments))
    }

    /// What is said on a terminal to somebody who answers so.
    pub(crate) fn on_a_terminal(&self, line: &str, answer: &str) -> Option<String> {
        let latlas = cargo_bin("latlas");
        let mut child = Command::new("script")
            .args(["-qec", &format!("{} {line}", latlas.display()), "/dev/null"])
            .current_dir(self.0.path())
            .env("LATLAS_DATA_DIR", self.path("data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(answer.as_bytes()).expect("answered");
        let output = child.wait_with_output().expect("ended");
        drop(stdin);
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn kept(&self) -> usize {
        let entries = std::fs::read_dir(self.path("data/runs"))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .count()
    }

    pub(crate) fn kept_document(&self, n: u32) -> PathBuf {
        let entries = std::fs::read_dir(self.path("data/runs")).expect("runs");
        let mut paths = entries.map(|entry| entry.expect("entry").path());
        let named = |path: &PathBuf| path.to_string_lossy().contains(&id(n));
        paths.find(named).expect("kept")
    }
}

pub(crate) fn done(mut command: Command) -> Done {
    let output = command.output().expect("it runs");
    Done {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
