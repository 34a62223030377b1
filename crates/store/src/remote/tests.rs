//! Helpers on their bad days, and what the core does with any helper.

use super::by;
use super::helper::{Fault, Helper};
use crate::index::tests::numbered;
use crate::index::{Index, keep};
use crate::suite::Home;
use crate::{DatabaseFailure, Place, Store, StoreError, from_bytes, name_of, read_run, transfer};
use model::synthetic;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use store_protocol::{Item, Request};
use sys::programs::NotFound;

/// A machine under load may take long to start a helper.
pub(crate) const SILENCE: Duration = Duration::from_secs(90);

/// Helpers that keep documents in a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DirectoryHelper {
    /// With index entries.
    Rust,
    /// That of the documentation.
    Python,
}

impl DirectoryHelper {
    /// Its program; `None` where it is not there.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let own = std::env::current_exe().expect("this program");
        let built = own.ancestors().nth(2).expect("a directory").join("examples/latlas-store-dir");
        let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/latlas-store-dir");
        let (program, runs) = match self {
            DirectoryHelper::Rust => (built.clone(), built.exists()),
            DirectoryHelper::Python => {
                let python = Command::new("python3").arg("--version").output();
                (documented, python.is_ok_and(|done| done.status.success()))
            }
        };
        if !runs {
            println!("SKIPPED: {self:?} helper: no {} (or no python3)", program.display());
        }
        runs.then_some(program)
    }
}

/// The store of a URL by this program.
pub(crate) fn store_with(url: &str, program: &Path, silence: Duration) -> Store {
    let mut helper = Helper::of(url).expect("a URL");
    helper.program = Some(program.to_owned());
    helper.silence = silence;
    by(url, helper)
}

/// A program that a shell runs. It is written by another process: one that is open for writing, in whatever
/// process, can't be started.
fn script(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("latlas-store-test");
    let mut shell = Command::new("sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh");
    write!(shell.stdin.take().expect("a pipe"), "#!/bin/sh\n{text}\n").expect("written");
    assert!(shell.wait().expect("ended").success());
    path
}

/// A store whose helper is a script, which may write to its directory.
struct Scripted {
    directory: tempfile::TempDir,
    store: Store,
}

fn scripted(text: &str, silence: Duration) -> Scripted {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let directory = tempfile::tempdir().expect("tempdir");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let url = format!("test://me:s3cret@host/{}-{number}", std::process::id());
    let own = directory.path().display();
    let program = script(directory.path(), &format!("cd '{own}'\n{text}"));
    let store = store_with(&url, &program, silence);
    Scripted { directory, store }
}

/// What it says to a question, after the store was opened.
fn said_after_opening(text: &str, silence: Duration) -> String {
    let scripted = scripted(&format!("read -r open; echo ok 1\n{text}"), silence);
    let began = Instant::now();
    let error = scripted.store.paths().expect_err(text).to_string();
    assert!(began.elapsed() < Duration::from_secs(300), "{text}: {:?}", began.elapsed());
    assert!(!error.contains("s3cret") && !error.contains('\n'), "{error}");
    let place = scripted.store.place().to_string();
    error.strip_prefix(&format!("the store {place} ")).map_or(error.clone(), str::to_owned)
}

#[test]
fn a_helper_that_is_lost_is_explained_in_one_line() {
    for (text, said) in [
        ("exit 3", "went away: latlas-store-test ended early (exit status: 3)"),
        ("kill -9 $$", "went away: latlas-store-test ended early (signal: 9 (SIGKILL))"),
        ("exec sleep 600", "went away: latlas-store-test timed out after 1 s"),
        ("kill -STOP $$", "went away: latlas-store-test timed out after 1 s"),
        // Half of an answer.
        (
            "read -r list; echo ok | tr -d '\\n'; exit",
            "went away: latlas-store-test ended early (exit status: 0)",
        ),
        (
            "read -r list; echo bytes $(printf %064d) 9; exit",
            "went away: latlas-store-test ended early (exit status: 0)",
        ),
        (
            "exec >&- <&-; sleep 600",
            "went away: latlas-store-test closed its connection and went on",
        ),
        // Garbage.
        (
            "read -r list; echo GET / HTTP/1.1; sleep 600",
            "went away: latlas-store-test failed: it sent \"GET / HTTP/1.1\"",
        ),
        (
            "read -r list; printf '\\377\\n'; sleep 600",
            "went away: latlas-store-test failed: it sent a line that is not UTF-8",
        ),
        (
            "read -r list; echo none; sleep 600",
            "went away: latlas-store-test failed: it sent an answer to another request",
        ),
        (
            "read -r list; echo missing; echo ok; sleep 600",
            "went away: latlas-store-test failed: it sent an answer to another request",
        ),
        (
            "read -r list; echo document ../x $(printf %064d) 0; sleep 600",
            "went away: latlas-store-test failed: it sent \"../x\" for a name",
        ),
        (
            "read -r list; echo bytes $(printf %064d) 99999999999; sleep 600",
            "went away: latlas-store-test failed: it sent 99999999999 bytes at once, of at most 1073741824",
        ),
        // Answers that nobody asked for.
        (
            "read -r list; printf 'ok\\nok\\n'; sleep 600",
            "went away: latlas-store-test failed: it sent more than an answer",
        ),
        // Floods.
        (
            "read -r list; yes | tr -d '\\n'",
            "went away: latlas-store-test failed: it sent a line of more than 8192 bytes",
        ),
        (
            "read -r list; exec yes missing",
            "went away: latlas-store-test failed: it sent more than 1048576 items",
        ),
        // What it says itself.
        ("read -r list; echo error refused no s3cret for you", "refused: no ... for you"),
        (
            "read -r list; echo error damaged bits; sleep 600",
            "holds what latlas did not write: bits",
        ),
    ] {
        let is_silent = said.contains("timed out");
        let silence = if is_silent { Duration::from_secs(1) } else { SILENCE };
        assert_eq!(said_after_opening(text, silence), said, "{text}");
    }
}

#[test]
fn a_slow_answer_is_waited_for_while_it_comes() {
    let slow = "read -r list; for n in 1 2 3 4 5 6 7 8; do sleep 0.7; \
                echo document 20200101T000000Z-0000000$n-0000-4000-8000-000000000001.json.zst $(printf %064d) 0; \
                done; echo ok; sleep 600";
    let scripted = scripted(&format!("read -r open; echo ok 1\n{slow}"), Duration::from_secs(4));
    assert_eq!(scripted.store.paths().expect("in time").len(), 8);
}

#[test]
fn one_that_does_not_start_or_speaks_another_version_says_so() {
    let heard = |text| scripted(text, SILENCE).store.paths().expect_err("not opened").to_string();
    let other = heard("read -r open; echo ok 2; sleep 600");
    assert!(
        other.ends_with(
            ": latlas-store-test speaks version 2 of the protocol, and this latlas version 1: install both from one \
             release"
        ),
        "{other}"
    );
    let early = heard("exit 7");
    assert!(
        early.ends_with("went away: latlas-store-test ended early (exit status: 7)"),
        "{early}"
    );
    let wrong = heard("read -r open; echo error settings no such bucket; sleep 600");
    assert!(
        wrong.starts_with("can't use the store") && wrong.ends_with(": no such bucket"),
        "{wrong}"
    );
    let none = store_with("test://x", Path::new("/no/such/program"), SILENCE).paths();
    let none = none.expect_err("none is there").to_string();
    assert!(none.contains("can't be reached: latlas-store-test did not start"), "{none}");
}

#[test]
fn a_missing_helper_is_named_and_what_brings_it() {
    let missing = |scheme: &str| {
        let helper = Helper::of(&format!("{scheme}://x")).expect("a URL");
        let name = format!("latlas-store-{scheme}");
        helper.error("x", Fault::NotFound(NotFound::Missing(name))).to_string()
    };
    assert_eq!(
        missing("postgres"),
        "can't use the store x: no program latlas-store-postgres next to latlas or on PATH: install the package \
         latlas-store-postgres"
    );
    let own = missing("s3");
    assert!(
        own.ends_with("on PATH (`latlas help store-protocol` says what it has to do)"),
        "{own}"
    );
    for wrong in ["host=lab password=s3cret", "postgres:lab", "s3://a\nb"] {
        let why = Store::at(&Place::Database(wrong.into())).map(drop).expect_err(wrong).to_string();
        assert!(why.starts_with("can't use the store") && !why.contains("s3cret"), "{why}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_children_of_a_helper_end_with_it() {
    let hangs = "read -r open; echo ok 1; sleep 600 & echo $! $$ >pids; exec sleep 600";
    let scripted = scripted(hangs, Duration::from_secs(1));
    scripted.store.paths().expect_err("it hangs");
    let pids = std::fs::read_to_string(scripted.directory.path().join("pids")).expect("written");
    let began = Instant::now();
    let runs = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while pids.split_whitespace().any(runs) {
        assert!(began.elapsed() < Duration::from_secs(60), "{pids}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn one_that_ended_while_nothing_was_asked_is_started_again() {
    let once = "echo x >>starts; while read -r request; do case $request in open*) echo ok 1;; \
                *) echo ok; exit;; esac; done";
    let scripted = scripted(once, SILENCE);
    for n in 1..=3 {
        assert!(scripted.store.paths().expect("answered").is_empty());
        // Its end may take a moment.
        std::thread::sleep(Duration::from_millis(200));
        let starts = std::fs::read(scripted.directory.path().join("starts")).expect("written");
        assert_eq!(starts.len(), 2 * n);
    }
}

#[test]
fn a_lost_answer_to_a_document_is_said_to_be_one() {
    let scripted = scripted("read -r open; echo ok 1; read -r put; exit", SILENCE);
    let error = scripted.store.save(&synthetic::run()).expect_err("no answer").to_string();
    assert!(
        error.ends_with(
            "went away: latlas-store-test ended early (exit status: 0); the run may be stored there (storing it \
             again is safe)"
        ),
        "{error}"
    );
}

#[test]
fn a_document_of_another_digest_is_damage() {
    let Some(home) = Home::by_helper(DirectoryHelper::Rust) else { return };
    let path = home.store.save(&numbered(1, "one")).expect("kept");
    let file = home.helped().join("runs").join(path.file_name().expect("a name"));
    let mut bytes = std::fs::read(&file).expect("read");
    *bytes.last_mut().expect("not empty") ^= 1;
    std::fs::write(&file, bytes).expect("written");
    match read_run(&path) {
        Err(StoreError::Database { failure: DatabaseFailure::Damaged(why), .. }) => {
            assert!(why.contains("digest"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let verified = home.open_index().verify().expect("verified");
    assert!(verified.damaged[0].what.contains("digest"), "{verified:?}");
}

#[test]
fn another_machine_reads_entries_and_fetches_a_document_once() {
    for helper in [DirectoryHelper::Rust, DirectoryHelper::Python] {
        let Some(home) = Home::by_helper(helper) else { continue };
        home.keep_three();
        let entries = home.helped().join("entries");
        assert_eq!(entries.exists(), matches!(helper, DirectoryHelper::Rust), "{helper:?}");
        std::fs::remove_dir_all(home.store.data_dir()).expect("no index, no copies");
        let index = Index::open(home.store.clone()).expect("filled");
        assert_eq!(index.messages(), [""; 0]);
        assert_eq!(index.runs().expect("runs").len(), 3);
        assert!(index.verify().expect("verified").is_whole());
        // What stands beside a document and is not its own is not used, and mended.
        if entries.exists() {
            let files: Vec<PathBuf> = std::fs::read_dir(&entries)
                .expect("read")
                .map(|file| file.expect("one").path())
                .collect();
            std::fs::copy(&files[0], &files[1]).expect("copied");
            assert_eq!(index.verify().expect("verified").index.len(), 1);
            index.rebuild().expect("rebuilt");
            assert!(index.verify().expect("verified").is_whole());
        }
        let path = home.store.last().expect("the third");
        let run = read_run(&path).expect("a copy by now");
        assert!(path.exists());
        std::fs::write(&path, "cut off").expect("damaged");
        assert!(read_run(&path).expect("fetched anew") == run);
        // Another document of its name.
        let other = synthetic::slower(&run, "cpu.add_i32", 2.0);
        index.delete(&run.id).expect("deleted");
        assert_eq!(keep(&home.store, &other).expect("kept").0, path);
        assert!(read_run(&path).expect("fetched anew") == other);
    }
}

#[test]
fn several_documents_come_with_one_request() {
    for program in [DirectoryHelper::Rust, DirectoryHelper::Python] {
        let Some(home) = Home::by_helper(program) else { continue };
        home.keep_three();
        let mut names: Vec<String> =
            home.store.paths().expect("three").iter().map(|path| name_of(path)).collect();
        names.insert(1, "20200101T000000Z-none.json.zst".into());
        let Place::Database(url) = home.store.place() else { panic!("it has a URL") };
        let mut helper = Helper::of(&url).expect("a URL");
        helper.program = program.program();
        let request = Request::Get { names: names.clone() };
        let got = helper.with(|conversation| conversation.ask(&request, Some));
        let (got, _) = got.map_err(|fault| helper.error("x", fault)).expect("answered");
        let of = |item: &Item| match item {
            Item::Document(document) => from_bytes(&document.bytes).expect("a run").id,
            _ => "none".into(),
        };
        let ids: Vec<String> = got.iter().map(of).collect();
        let wanted: Vec<&str> = names.iter().map(|name| &name[17..name.len() - 9]).collect();
        assert!(ids.iter().zip(&wanted).all(|(id, name)| name.ends_with(id.as_str())), "{ids:?}");
        assert_eq!(ids.len(), 4);
    }
}

/// How many kills are made.
const KILLS: &str = "LATLAS_TEST_KILLS";

#[test]
fn kills_between_a_document_and_its_answer_lose_nothing() {
    let Some(program) = DirectoryHelper::Rust.program() else { return };
    let kills: u32 = std::env::var(KILLS).map_or(10, |n| n.parse().expect("a number"));
    let directory = tempfile::tempdir().expect("tempdir");
    let kept = directory.path().join("kept");
    let wrapper = format!(
        "echo $$ >'{0}/pid.new' && mv '{0}/pid.new' '{0}/pid'; exec '{1}'",
        directory.path().display(),
        program.display()
    );
    let url = format!("dir://{}?slow", kept.display());
    let store = store_with(&url, &script(directory.path(), &wrapper), SILENCE);
    let (mut killed, mut n, mut acknowledged, mut unknown) = (0, 0, Vec::new(), Vec::new());
    // What precedes the request takes some of it; a busy machine may send the signal late.
    let mut took = Duration::from_millis(12);
    while killed < kills && n < 4 * kills {
        n += 1;
        let run = numbered(n, "writer");
        // One that answers is killed in the midst of the next question; the last one may still be about to end.
        while store.check_keepable().is_err() {}
        let pid = std::fs::read_to_string(directory.path().join("pid")).expect("written");
        let delay = took.saturating_sub(Duration::from_millis(u64::from(n % 14))).as_secs_f64();
        let kill = format!("sleep {delay}; kill -9 {}", pid.trim());
        let mut kill = Command::new("sh").args(["-c", &kill]).spawn().expect("sh");
        let began = Instant::now();
        match store.save(&run) {
            Ok(_) => {
                took = began.elapsed();
                acknowledged.push(run.id);
            }
            Err(error) => {
                assert!(error.to_string().contains("the run may be stored there"), "{error}");
                killed += 1;
                unknown.push(run);
            }
        }
        kill.wait().expect("ended");
    }
    assert!(killed > 0, "of {n}");
    let stored = |run: &model::run::Run| store.find(&run.id).is_ok();
    let there = unknown.iter().filter(|run| stored(run)).count();
    for run in &unknown {
        match store.save(run) {
            Ok(_) => {}
            Err(StoreError::Io { cause, .. }) => {
                assert_eq!(cause.kind(), std::io::ErrorKind::AlreadyExists)
            }
            Err(other) => panic!("{other}"),
        }
    }
    let index = Index::open(store.clone()).expect("opened");
    let ids: Vec<String> = index.runs().expect("runs").into_iter().map(|run| run.id).collect();
    assert_eq!(ids.len(), n as usize, "each once");
    assert!(acknowledged.iter().all(|id| ids.contains(id)));
    assert!(index.verify().expect("verified").is_whole());
    println!(
        "{killed} kills: {} acknowledged, of the others {there} were stored",
        acknowledged.len()
    );
    let other = Home::in_directory();
    let copied = transfer(&store, &other.store, true, |_, _| ()).expect("copied");
    assert_eq!(copied.copied, n as usize);
    let _ = std::fs::remove_dir_all(store.data_dir());
}
