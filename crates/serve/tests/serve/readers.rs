//! A hundred readers at once while somebody uploads. Times are no matter of a
//! test: with a thousand of them `.ci/serve` asks the optimised program.

use crate::common::{Atlas, document, id};
use serve::{Limits, Server};
use std::net::SocketAddr;
use std::time::Duration;

#[path = "../../examples/readers/load.rs"]
mod load;

/// A reader that waits for all others to connect is no slow one.
const PATIENT: Limits = Limits {
    head: Duration::from_secs(600),
    life: Duration::from_secs(3600),
    grace: Duration::from_secs(600),
};

#[test]
fn a_hundred_readers_and_a_writer_are_all_answered() {
    const READERS: usize = 100;
    // Readers begin at different paths: together they ask for all.
    const REQUESTS: usize = 10;
    let allowed = sys::process::allow_open_files(4096).expect("a limit");
    if allowed < 2 * READERS as u64 + 100 {
        println!("SKIPPED: only {allowed} files may be open at once");
        return;
    }
    let atlas = Atlas::of_three();
    let run = atlas.get(&format!("/api/runs/{}", id(1))).json();
    let machine = run["run"]["machine"].as_str().expect("a key").to_owned();
    let paths = load::paths(&load::Known {
        row: "cpu.add_i32",
        machine: &machine,
        runs: [&id(1), &id(3)],
    });
    assert!(paths.len() < READERS);
    let router = atlas.router.clone();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let outcome = runtime.block_on(async {
        let any = [SocketAddr::from(([127, 0, 0, 1], 0))];
        let server = Server::bind("127.0.0.1:0", &any, 2048)
            .await
            .expect("a port")
            .within(PATIENT);
        let load = load::Load {
            address: server.address(),
            readers: READERS,
            requests: REQUESTS,
            paths,
            documents: (10..40)
                .map(|n| document(&id(n), n.into(), "lab"))
                .collect(),
            token: None,
        };
        tokio::select! {
            _ = server.run(router, std::future::pending(), |line| panic!("{line}")) => {
                panic!("it ended")
            }
            outcome = load::run(load) => outcome,
        }
    });
    assert_eq!(outcome.errors, Vec::<String>::new());
    assert_eq!(outcome.took.len(), READERS * REQUESTS);
    assert!(outcome.kept > 0);
    println!(
        "p50 {:?}, p99 {:?}, {} uploads",
        outcome.quantile(0.5),
        outcome.quantile(0.99),
        outcome.kept
    );
}
