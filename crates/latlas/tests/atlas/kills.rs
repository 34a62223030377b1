//! Several at once, and killed at any moment.

use crate::home::{Home, id};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

#[test]
fn many_that_come_first_make_one_index() {
    let home = Home::with(&[1, 2, 3]);
    std::fs::remove_file(home.path("data/index-1.sqlite")).expect("removed");
    let mut list = home.command(&["atlas", "list"]);
    list.stdout(Stdio::piped()).stderr(Stdio::piped());
    let all: Vec<Child> = (0..8).map(|_| list.spawn().expect("started")).collect();
    for child in all {
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(
            output.stdout.iter().filter(|&&byte| byte == b'\n').count(),
            4
        );
    }
    assert_eq!(home.run(&["atlas", "verify"]).code, 0);
}

#[test]
fn what_two_killed_writers_acknowledged_is_there() {
    let home = Home::new();
    let mut acknowledged = Vec::new();
    let mut killed = 0;
    for round in 0..10_u32 {
        let mut writers: Vec<(u32, Child, BufReader<ChildStdout>)> = [2 * round, 2 * round + 1]
            .into_iter()
            .map(|n| {
                let document = home.document(n);
                let document = document.to_str().expect("UTF-8").to_owned();
                let mut import = home.command(&["import", "--format", "run", &document]);
                import.stdout(Stdio::piped()).stderr(Stdio::null());
                let mut child = import.spawn().expect("started");
                let said = BufReader::new(child.stdout.take().expect("a pipe"));
                (n, child, said)
            })
            .collect();
        let mut told = [const { String::new() }; 2];
        match round % 2 {
            // Later and later, so that they are killed at any step.
            0 => std::thread::sleep(Duration::from_millis(u64::from(10 * round))),
            // As soon as one has acknowledged, whatever the other is at.
            _ => {
                let read = writers[0].2.read_line(&mut told[0]);
                assert!(read.expect("a line") > 0, "it ended without a word");
            }
        }
        for (_, child, _) in &mut writers {
            // Gone already is as good.
            let _ = child.kill();
        }
        for ((n, mut child, mut said), mut told) in writers.into_iter().zip(told) {
            said.read_to_string(&mut told).expect("UTF-8");
            let status = child.wait().expect("ended");
            killed += u32::from(status.code().is_none());
            if told.trim() == id(n) {
                acknowledged.push(id(n));
            }
        }
    }
    assert!(killed > 0, "none was killed");
    assert!(acknowledged.len() >= 5, "{acknowledged:?}");
    let done = home.run(&["atlas", "verify"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let listed = home.run(&["atlas", "list", "--json"]).out;
    for id in &acknowledged {
        assert!(listed.contains(id.as_str()), "{id} is lost");
    }
    println!(
        "{killed} of 20 killed, {} acknowledged, {} kept",
        acknowledged.len(),
        home.kept()
    );
}
