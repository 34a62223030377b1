//! Writers and the server killed with SIGKILL: what was acknowledged is there, once.

use crate::index::Index;
use crate::index::tests::numbered;
use crate::suite::database::home;
use crate::{Place, Store, StoreError};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The store that a writer fills, and its first number.
const WRITE_TO: &str = "LATLAS_TEST_WRITE_TO";
const FROM: &str = "LATLAS_TEST_WRITE_FROM";
/// A command that kills the server and starts it again, and how many kills are made.
const RESTART: &str = "LATLAS_TEST_POSTGRES_RESTART";
const KILLS: &str = "LATLAS_TEST_KILLS";
/// A writer tries a run again for so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Not a test by itself: keeps runs until it is killed, and prints the id of each that was
/// acknowledged. A run whose answer is lost with the server is tried again.
#[test]
fn writer() {
    let (Ok(url), Ok(from)) = (std::env::var(WRITE_TO), std::env::var(FROM)) else {
        return;
    };
    let from: u32 = from.parse().expect("a number");
    let store = Store::at(&Place::parse(&url)).expect("a store");
    for n in from.. {
        let run = numbered(n, "writer");
        let began = Instant::now();
        loop {
            match store.save(&run) {
                Ok(_) => break println!("\nkept {}", run.id),
                // An attempt before had been kept, and its answer lost.
                Err(StoreError::Io { .. }) => break println!("\nkept {}", run.id),
                Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn start(url: &str, from: u32, kept: &Arc<Mutex<Vec<String>>>) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["suite::kills::writer", "--exact", "--nocapture"])
        .envs([(WRITE_TO, url), (FROM, &from.to_string())])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a writer");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let kept = Arc::clone(kept);
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let id = line.strip_prefix("kept ").map(str::to_owned);
            kept.lock().expect("no panic").extend(id);
        }
    });
    child
}

#[test]
fn kills_lose_and_double_nothing() {
    let Some(home) = home() else { return };
    let kills: u32 = std::env::var(KILLS).map_or(4, |n| n.parse().expect("a number"));
    let restart = std::env::var(RESTART).ok();
    let url = home.url();
    Index::open(home.store.clone()).expect("tables");
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut writers = [0, 1].map(|n| start(&url, n * 1_000_000, &kept));
    let (mut of_server, mut of_writers) = (0, 0);
    for n in 0..kills {
        std::thread::sleep(Duration::from_millis(150 + u64::from(n * 37 % 200)));
        match &restart {
            Some(command) if n % 2 == 0 => {
                let done = Command::new("sh").args(["-c", command]).status();
                assert!(done.expect("sh").success(), "{command}");
                of_server += 1;
            }
            _ => {
                let writer = &mut writers[(n / 2 % 2) as usize];
                writer.kill().expect("killed");
                writer.wait().expect("ended");
                *writer = start(&url, (n + 2) * 1_000_000, &kept);
                of_writers += 1;
            }
        }
    }
    for writer in &mut writers {
        std::thread::sleep(Duration::from_secs(1));
        writer.kill().expect("killed");
        writer.wait().expect("ended");
    }
    std::thread::sleep(Duration::from_millis(200));
    let acknowledged = kept.lock().expect("no panic").clone();
    assert!(acknowledged.len() as u32 >= kills, "{}", acknowledged.len());
    let index = Index::open(home.store.clone()).expect("opened");
    let there: Vec<String> = index.runs().expect("runs").into_iter().map(|run| run.id).collect();
    let once: BTreeSet<&String> = there.iter().collect();
    assert_eq!(once.len(), there.len(), "none twice");
    let lost: Vec<&String> = acknowledged.iter().filter(|id| !once.contains(id)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole() && verified.documents == there.len(), "{verified:?}");
    println!(
        "{of_server} kills of the server, {of_writers} of writers: 0 of {} acknowledged runs lost, 0 twice",
        acknowledged.len()
    );
}
