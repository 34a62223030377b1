//! Runs the program under test in a temporary directory with its own store, and checks its output and exit
//! code. `processes.rs` lists, waits for and signals processes. The tests of the programs in `programs/`
//! include this folder by its path.

pub(crate) mod processes;

use model::run::Run;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use tempfile::TempDir;

pub(crate) use crate::PROGRAM;

/// A made-up run that has every kind of row.
pub(crate) const SYNTHETIC: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/latlas/tests/fixtures/synthetic.json");

/// The fixture's id.
pub(crate) const SYNTHETIC_ID: &str = "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";

/// A command line: text is split as a shell does, an array is taken as it is.
pub(crate) struct Words(Vec<String>);

impl From<&str> for Words {
    fn from(line: &str) -> Words {
        Words(shlex::split(line).expect("a command line"))
    }
}

impl From<&String> for Words {
    fn from(line: &String) -> Words {
        Words::from(line.as_str())
    }
}

impl From<String> for Words {
    fn from(line: String) -> Words {
        Words::from(line.as_str())
    }
}

impl From<Vec<&str>> for Words {
    fn from(words: Vec<&str>) -> Words {
        Words(words.into_iter().map(str::to_owned).collect())
    }
}

impl<const N: usize> From<[&str; N]> for Words {
    fn from(words: [&str; N]) -> Words {
        Words(words.map(str::to_owned).into())
    }
}

/// What a command of a test gets of the environment of the tests.
const KEPT: [&str; 4] = ["PATH", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"];

/// Where Cargo and rustup keep their files, below the home directory if not named.
const OF_RUST: [(&str, &str); 2] = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")];

/// Whether the caller ignores signals, as `nohup` and background jobs of a script do: what it
/// starts would ignore them too.
static IGNORES_SIGNALS: LazyLock<bool> = LazyLock::new(|| {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGPIPE, which Rust's runtime ignores, and gives back to what it starts.
    ignored.is_some_and(|mask| mask & !(1 << 12) != 0)
});

/// A command with nothing of the caller's environment but where programs and files are.
pub(crate) fn command(words: &[impl AsRef<std::ffi::OsStr>], home: &Path) -> Command {
    let mut command = match *IGNORES_SIGNALS {
        // By its path: a name to be looked up is started by a fork, which a test forbids.
        true => Command::new("/usr/bin/env"),
        false => Command::new(&words[0]),
    };
    match *IGNORES_SIGNALS {
        true => command.arg("--default-signal").args(words),
        false => command.args(&words[1..]),
    };
    command.env_clear().env("HOME", home).current_dir(home);
    let set = KEPT.map(|name| (name, std::env::var_os(name)));
    let of_rust = OF_RUST.map(|(name, below)| {
        let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(below).into());
        (name, std::env::var_os(name).or_else(usual))
    });
    let set = set.into_iter().chain(of_rust);
    command.envs(set.filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Whether a tool is there. Prints why the test can't run where it is not.
pub(crate) fn there(tool: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
    let is_there = found.is_ok_and(|found| found.status.success());
    if !is_there {
        skip(format!("no {tool}"));
    }
    is_there
}

/// What a test sees in a run of a few seconds; on a busy machine, whose workers take as long to
/// start, in one of a minute.
#[track_caller]
pub(crate) fn with_budget<T>(mut attempt: impl FnMut(&str) -> Result<T, String>) -> T {
    let short = attempt("--budget 5s");
    let seen = short.or_else(|_| attempt("--budget 60s"));
    seen.unwrap_or_else(|why| panic!("in a run of a minute: {why}"))
}

/// Prints why a test can't run here. `.ci/run` counts these lines.
pub(crate) fn skip(reason: impl std::fmt::Display) {
    let thread = std::thread::current();
    println!("SKIPPED: {}: {reason}", thread.name().unwrap_or("a test"));
}

/// Asserts that a text contains all of these.
#[track_caller]
pub(crate) fn has<const N: usize>(text: &str, parts: [&str; N]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

/// Asserts that a text contains none of these.
#[track_caller]
pub(crate) fn lacks<const N: usize>(text: &str, parts: [&str; N]) {
    for part in parts {
        assert!(!text.contains(part), "{part:?} is in:\n{text}");
    }
}

/// The text with single spaces: as it was before lines were wrapped.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("no JSON: {e}: {text:?}"))
}

/// Id of the made-up run number `n`.
pub(crate) fn made_up_id(n: u32) -> String {
    format!("{n:08x}-0000-4000-8000-000000000001")
}

/// The fixture, begun long ago: a run of the future is refused.
pub(crate) fn synthetic() -> Value {
    let text = std::fs::read_to_string(SYNTHETIC).expect("the fixture");
    let mut run = json(&text);
    run["started_unix_ms"] = 1_577_836_800_000_u64.into();
    run
}

/// Paths of what a directory contains; none where there is no such directory.
pub(crate) fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A test's working directory, with a store below it.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Home {
        Home(tempfile::tempdir().expect("a directory"))
    }

    /// With the made-up runs of these numbers, each a second after the one before.
    pub(crate) fn with(numbers: &[u32]) -> Home {
        let home = Home::new();
        for &n in numbers {
            home.document(n);
            let done = home.run(format!("import --format run run-{n}.json"));
            assert_eq!((done.code, done.out.trim()), (0, &*made_up_id(n)), "{}", done.err);
        }
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// With two builds of `prog`, in `base` and `head`, which sleep this long.
    pub(crate) fn with_builds(seconds: [&str; 2]) -> Home {
        let home = Home::new();
        for (directory, seconds) in ["base", "head"].iter().zip(seconds) {
            home.write(&format!("{directory}/prog"), format!("sleep {seconds}\n"));
        }
        home
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("written");
    }

    pub(crate) fn read_file(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The document that `--out run.json` wrote.
    pub(crate) fn run_json(&self) -> Run {
        self.document_at("run.json")
    }

    pub(crate) fn document_at(&self, name: &str) -> Run {
        serde_json::from_str(&self.read_file(name)).expect("a run")
    }

    /// Writes `run-N.json`, a document of run `n` outside the store.
    pub(crate) fn document(&self, n: u32) -> PathBuf {
        let mut run = synthetic();
        run["id"] = made_up_id(n).into();
        let began = run["started_unix_ms"].as_u64().expect("a time");
        run["started_unix_ms"] = (began + 1000 * u64::from(n)).into();
        let name = format!("run-{n}.json");
        self.write(&name, run.to_string());
        self.path(&name)
    }

    /// Puts a document into the store without latlas; a reader looks at the bytes, not
    /// at the name.
    pub(crate) fn keep(&self, second: u32, run: &Value) -> String {
        let id = run["id"].as_str().expect("an id");
        let name = format!("20261121T0000{second:02}.000Z-{id}.json.zst");
        self.write(&format!("data/runs/{name}"), run.to_string());
        name
    }

    /// Number of documents in the store.
    pub(crate) fn kept_documents(&self) -> usize {
        let hidden =
            |path: &PathBuf| path.file_name().is_some_and(|n| n.as_encoded_bytes()[0] == b'.');
        let paths = entries(&self.path("data/runs"));
        paths.iter().filter(|path| !hidden(path)).count()
    }

    /// Any command, with this home in its environment.
    pub(crate) fn launch(&self, line: impl Into<Words>) -> Command {
        let words = line.into().0;
        let mut command = command(&words, self.0.path());
        command
            .env("LATLAS_DATA_DIR", self.path("data"))
            .env("LATLAS_STATE_DIR", self.path("state"))
            // Tests run at the same time, and assert no time.
            .env("LATLAS_LOCK", self.path("lock"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("share"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// latlas with these arguments, started by another command, such as `taskset -c 0`.
    pub(crate) fn wrapped(&self, wrapper: impl Into<Words>, line: impl Into<Words>) -> Command {
        let mut words = wrapper.into().0;
        words.push(PROGRAM.to_owned());
        words.extend(line.into().0);
        self.launch(Words(words))
    }

    /// `latlas` from the directory of the program under test, where that is another one. `cargo test` of the workspace
    /// has built it.
    #[allow(dead_code, reason = "the tests of latlas run latlas")]
    pub(crate) fn latlas(&self, line: impl Into<Words>) -> Done {
        let latlas = Path::new(PROGRAM).with_file_name("latlas");
        assert!(latlas.exists(), "build it first: cargo build -p latlas");
        let mut words = vec![latlas.to_str().expect("UTF-8").to_owned()];
        words.extend(line.into().0);
        Done::from_command(&mut self.launch(Words(words)))
    }

    pub(crate) fn command(&self, line: impl Into<Words>) -> Command {
        self.wrapped([], line)
    }

    /// latlas under a shell's limit, such as `ulimit -n 32`.
    pub(crate) fn limited(&self, limit: &str, line: impl Into<Words>) -> Command {
        self.wrapped(["sh", "-c", &format!("{limit}; exec \"$@\""), "sh"], line)
    }

    pub(crate) fn start(&self, line: impl Into<Words>) -> Child {
        self.command(line).spawn().expect("it starts")
    }

    pub(crate) fn run(&self, line: impl Into<Words>) -> Done {
        Done::from_command(&mut self.command(line))
    }

    /// What a command that succeeds prints.
    #[track_caller]
    pub(crate) fn out(&self, line: impl Into<Words>) -> String {
        self.run(line).ok().out
    }

    /// The JSON of a command that succeeds.
    #[track_caller]
    pub(crate) fn json(&self, line: impl Into<Words>) -> Value {
        self.run(line).ok().json()
    }

    /// The document that a command with `--document` measured.
    #[track_caller]
    pub(crate) fn measure(&self, line: impl Into<Words>) -> Run {
        self.run(line).measured().document()
    }

    /// These commands, a line each, and their errors, as a text for a snapshot. Each must
    /// be refused: exit code 2, nothing on stdout, one line on stderr (where the arguments
    /// don't parse, a paragraph and the usage).
    #[track_caller]
    pub(crate) fn refusals(&self, lines: &str) -> String {
        let mut text = String::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let done = self.run(line);
            assert_eq!((done.code, &*done.out), (2, ""), "{line}: {}", done.err);
            let usage = done.err.starts_with("error: ");
            assert!(usage || done.err.lines().count() == 1, "{line}: {}", done.err);
            let error = done.err.split("\n\n").next().unwrap_or_default();
            text += &format!("$ latlas {line}\n{}\n", error.trim_end());
        }
        self.plain(&text)
    }

    /// Without paths that differ from test to test.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&*self.0.path().to_string_lossy(), "HOME").replace(SYNTHETIC, "synthetic.json")
    }
}

#[derive(Debug)]
pub(crate) struct Done {
    /// -1: killed by a signal.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Done {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Done {
    pub(crate) fn from_command(command: &mut Command) -> Done {
        command.output().expect("it runs").into()
    }

    pub(crate) fn after(child: Child) -> Done {
        child.wait_with_output().expect("it ends").into()
    }

    /// Exit code 0.
    #[track_caller]
    pub(crate) fn ok(self) -> Done {
        assert_eq!(self.code, 0, "{}{}", self.err, self.out);
        self
    }

    /// Exit code 0 and nothing on stderr.
    #[track_caller]
    pub(crate) fn silent(self) -> Done {
        assert_eq!((self.code, &*self.err), (0, ""), "{}", self.out);
        self
    }

    /// Measured, on a quiet machine (0) or a busy one (3).
    #[track_caller]
    pub(crate) fn measured(self) -> Done {
        assert!(matches!(self.code, 0 | 3), "{}: {}", self.code, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Recorded: whole (0), or without what a busy machine lost, which the text names (3).
    #[track_caller]
    pub(crate) fn recorded(self) -> Done {
        let text = unwrapped(&format!("{}{}", self.err, self.out));
        let losses = [
            "lost (ring full)",
            "context switches lost",
            "bytes unreadable",
            " dropped",
            " fit in --buffer",
        ];
        let is_named = losses.iter().any(|loss| text.contains(loss));
        assert!(self.code == 0 || self.code == 3 && is_named, "{}: {text}", self.code);
        self
    }

    #[track_caller]
    pub(crate) fn ended_with(self, code: i32) -> Done {
        assert_eq!(self.code, code, "{}{}", self.err, self.out);
        self
    }

    /// Refused, with one line on stderr and nothing on stdout.
    #[track_caller]
    pub(crate) fn refused(&self, why: &str) {
        assert_eq!((self.code, &*self.out), (2, ""), "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        has(&self.err, [why]);
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        json(&self.out)
    }

    #[track_caller]
    pub(crate) fn document(&self) -> Run {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.err))
    }

    /// The line of the output that begins with this word.
    #[track_caller]
    pub(crate) fn line_with(&self, first: &str) -> &str {
        let mut lines = self.out.lines();
        lines
            .find(|line| line.split_whitespace().next() == Some(first))
            .unwrap_or_else(|| panic!("no line {first:?} in:\n{}", self.out))
    }
}
