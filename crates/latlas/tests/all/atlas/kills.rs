//! Several at once, and killed at any moment.

use crate::support::{Done, Home, made_up_id};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

#[test]
fn eight_processes_at_once_make_one_index() {
    let home = Home::with(&[1, 2, 3]);
    std::fs::remove_file(home.path("data/index-1.sqlite")).expect("removed");
    let all: Vec<Child> = (0..8).map(|_| home.start("atlas list")).collect();
    for child in all {
        assert_eq!(Done::after(child).silent().out.lines().count(), 4);
    }
    home.run("atlas verify").ok();
}

#[test]
fn what_two_killed_writers_acknowledged_is_there() {
    let home = Home::new();
    let mut acknowledged = Vec::new();
    let mut killed = 0;
    for round in 0..10_u32 {
        let start = |n: u32| {
            home.document(n);
            let mut import = home.command(format!("import --format run run-{n}.json"));
            let mut child = import.stderr(Stdio::null()).spawn().expect("started");
            let stdout: BufReader<ChildStdout> =
                BufReader::new(child.stdout.take().expect("a pipe"));
            (n, child, stdout, String::new())
        };
        let mut writers = [2 * round, 2 * round + 1].map(start);
        match round % 2 {
            // Later and later, so that they are killed at any step.
            0 => std::thread::sleep(Duration::from_millis(u64::from(10 * round))),
            // As soon as one has acknowledged, whatever the other is doing.
            _ => {
                let (_, _, stdout, line) = &mut writers[0];
                assert!(stdout.read_line(line).expect("a line") > 0, "it printed nothing");
            }
        }
        for (_, child, ..) in &mut writers {
            // Gone already is as good.
            let _ = child.kill();
        }
        for (n, mut child, mut stdout, mut printed) in writers {
            stdout.read_to_string(&mut printed).expect("UTF-8");
            killed += u32::from(child.wait().expect("ended").code().is_none());
            if printed.trim() == made_up_id(n) {
                acknowledged.push(made_up_id(n));
            }
        }
    }
    assert!(killed > 0, "none was killed");
    assert!(acknowledged.len() >= 5, "{acknowledged:?}");
    home.run("atlas verify").ok();
    let listed = home.out("atlas list --json");
    for id in &acknowledged {
        assert!(listed.contains(id.as_str()), "{id} is lost");
    }
}
