use super::*;
use model::estimate::{Estimate, Verdict};
use model::recording::{Recording, Set, Sets};
use model::run::{Outcome, Run};
use model::synthetic;

fn json() -> Vec<u8> {
    to_json(&synthetic::run()).expect("document")
}

fn refusal(bytes: &[u8]) -> String {
    let reason = from_bytes(bytes).expect_err("refused").to_string();
    assert!(!reason.contains('\n'), "{reason:?}");
    reason
}

#[test]
fn a_document_comes_back() {
    assert!(from_bytes(&json()).expect("read") == synthetic::run());
}

#[test]
fn a_document_without_missing_points_has_them_from_its_notes() {
    let mut run = synthetic::run();
    let note = "not available here at 1MiB: 120 MiB are free";
    run.rows[0].notes.push(note.into());
    let read = from_bytes(&to_json(&run).expect("document")).expect("read");
    assert_eq!(read.rows[0].notes, run.rows[0].notes);
    assert_eq!(read.rows[0].missing_at(1 << 20), Some("120 MiB are free"));
}

#[test]
fn an_invalid_row_of_an_older_document_has_no_figure() {
    let mut run = synthetic::run();
    let row = run.rows.iter().position(|row| row.id == "cpu.add_i32");
    let row = row.expect("a row");
    let Outcome::Figure(estimate) = &mut run.rows[row].outcome else {
        panic!("a figure");
    };
    assert!(estimate.quiet.is_some() && estimate.typical.is_some());
    (estimate.verdict, estimate.reason) = (Verdict::Invalid, "page faults".into());
    let read = from_bytes(&to_json(&run).expect("document")).expect("read");
    let read = read.rows[row].estimate().expect("a verdict");
    assert_eq!((read.ns(), read.typical, read.quiet), (None, None, None));
    assert_eq!((read.verdict, &*read.reason), (Verdict::Invalid, "page faults"));
}

#[test]
fn every_truncation_is_noticed() {
    let json = json();
    let packed = zstd::bulk::compress(&json, 3).expect("packed");
    for part in 1..20 {
        let reason = refusal(&json[..json.len() * part / 20]);
        assert!(reason.contains("truncated"), "{reason}");
        let reason = refusal(&packed[..(packed.len() * part / 20).max(5)]);
        assert!(reason.contains("truncated"), "{reason}");
    }
    assert!(refusal(&[]).contains("empty"));
    // Whatever stands at the cut, numbers above all.
    let number = json.windows(4).position(|w| w == b"0.32").expect("a number");
    for cut in number - 100..number + 100 {
        let reason = refusal(&json[..cut]);
        assert!(reason.contains("truncated"), "cut at {cut}: {reason}");
    }
}

#[test]
fn what_is_not_a_run_says_what_it_is() {
    assert!(refusal(b"hello").contains("not JSON"));
    assert!(refusal(b"{}").contains("schema"));
    assert!(refusal(b"{\"schema\":1}").contains("not a run document"));
    let mut damaged = zstd::bulk::compress(&json(), 3).expect("packed");
    let middle = damaged.len() / 2;
    damaged.truncate(middle + 200);
    damaged[6..middle].fill(0xff);
    assert!(refusal(&damaged).contains("compressed data"));
}

#[test]
fn what_is_damaged_differs_from_what_is_no_run() {
    let damaged = |bytes: &[u8]| {
        let refused = from_bytes_within(bytes, 1 << 20).expect_err("refused");
        matches!(refused, Refused::Damaged(_))
    };
    assert!(damaged(b"") && damaged(b"hello") && damaged(b"{\"schema\":"));
    assert!(!damaged(b"{}") && !damaged(b"{\"schema\":1}") && !damaged(b"{\"schema\":99}"));
}

#[test]
fn a_newer_document_differs_from_a_broken_one() {
    let reason = refusal(br#"{"schema":99,"everything":"else"}"#);
    assert!(reason.contains("newer latlas") && reason.contains("99"), "{reason}");
}

#[test]
fn a_bomb_is_not_unpacked() {
    let bomb = zstd::bulk::compress(&vec![b' '; 4 << 20], 3).expect("packed");
    assert!(bomb.len() < 10_000);
    let reason = from_bytes_within(&bomb, 1 << 20).expect_err("refused");
    assert_eq!(reason, Refused::TooLarge(1 << 20));
    assert_eq!(reason.to_string(), "it is larger than 1 MiB");
}

#[test]
fn a_small_file_that_unpacks_to_much_is_not_unpacked() {
    let blanks = |count: usize| {
        let json = String::from_utf8(json()).expect("UTF-8");
        let json = json.replacen(':', &format!(":{}", " ".repeat(count)), 1);
        zstd::bulk::compress(json.as_bytes(), 3).expect("packed")
    };
    assert!(from_bytes(&blanks(12 << 20)).is_ok());
    let many = blanks(24 << 20);
    assert!(many.len() < 64 << 10, "{}", many.len());
    let reason = from_bytes(&many).expect_err("refused");
    assert!(matches!(reason, Refused::Inflated(most) if most < 20 << 20), "{reason}");
    assert!(reason.to_string().contains("too much for a document of its size"));
}

/// A frame of 9 bytes whose header asks for a window of 1 GiB (RFC 8878, 3.1.1.1).
#[test]
fn a_large_window_is_refused() {
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0];
    let reason = from_bytes(&frame).expect_err("refused").to_string();
    let words = "its compressed data is damaged, or needs more memory than a run";
    assert_eq!(reason, words);
}

#[test]
fn numbers_that_no_measurement_has_are_refused() {
    type RunChange<'c> = &'c dyn Fn(&mut Run);
    let json = |change: RunChange| {
        let mut run = synthetic::run();
        change(&mut run);
        serde_json::to_vec(&run).expect("document")
    };
    fn estimate(run: &mut Run) -> &mut Estimate {
        let row = run.rows.iter_mut().find(|row| row.id == "cpu.add_i32");
        match &mut row.expect("a row").outcome {
            Outcome::Figure(estimate) => estimate,
            _ => panic!("a figure"),
        }
    }
    let clock = |run: &mut Run, ns: f64| run.core_clock.as_mut().expect("a clock").shortest_ns = ns;
    let typical = |run: &mut Run, ns: f64| {
        let typical = estimate(run).typical.as_mut().expect("a figure");
        typical.ns.value = ns;
    };
    let cases: [(RunChange, &str); 6] = [
        (&|run| clock(run, 0.0), "a clock cycle of 0e0 ns (core_clock.shortest_ns)"),
        (&|run| clock(run, 1e-320), "a clock cycle of 1e-320 ns (core_clock.shortest_ns)"),
        (&|run| run.gate.quiet_share = Some(1.5), "a share of 1.5e0 (gate.quiet_share)"),
        (&|run| estimate(run).quiet_share = Some(1e308), "a share of 1e308 (row \"cpu.add_i32\")"),
        (&|run| typical(run, 1e308), "a figure of 1e308 (row \"cpu.add_i32\")"),
        (&|run| typical(run, -1e21), "a figure of -1e21 (row \"cpu.add_i32\")"),
    ];
    for (change, what) in cases {
        let expected = format!("no measurement has {what}");
        assert_eq!(refusal(&json(change)), expected);
    }
    for fine in [0.25, 1e15] {
        assert!(from_bytes(&json(&|run| typical(run, fine))).is_ok());
    }
}

#[test]
fn a_long_id_is_not_printed_whole() {
    let mut run = synthetic::run();
    run.id = "y".repeat(200_000);
    let reason = refusal(&serde_json::to_vec(&run).expect("document"));
    assert_eq!(reason, format!("its id \"{}...\" is not a UUID", "y".repeat(60)));
}

#[test]
fn a_list_that_no_run_has_is_named() {
    let json = String::from_utf8(json()).expect("UTF-8");
    let cpus = format!("\"pinned_cpus\":[{}0]", "1,".repeat(5_000_000));
    let from = json.find("\"pinned_cpus\"").expect("the list");
    let to = from + json[from..].find(']').expect("its end") + 1;
    let long = [&json[..from], &cpus, &json[to..]].concat();
    let reason = refusal(long.as_bytes());
    let list = "its list \"pinned_cpus\" has more than 16384 entries";
    assert!(reason.ends_with(list), "{reason}");
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let mut run = synthetic::run();
    run.cells[0].samples.first_ticks.pop();
    let bytes = serde_json::to_vec(&run).expect("json");
    let reason = refusal(&bytes);
    assert!(reason.contains(&run.cells[0].row) && reason.contains("column"), "{reason}");
}

#[test]
fn a_figure_that_json_can_not_hold_is_refused_when_written() {
    let mut run = synthetic::run();
    run.clock.ns_per_tick = f64::INFINITY;
    assert!(matches!(to_json(&run), Err(StoreError::Unwritable(_))));
}

#[test]
fn what_could_not_be_read_again_is_refused_when_written() {
    let mut run = synthetic::run();
    run.gate.quiet_share = Some(1.5);
    let refused = to_json(&run).expect_err("a share above 1").to_string();
    assert!(refused.contains("no measurement has a share of 1.5e0"), "{refused}");
}

#[test]
fn runs_within_a_set_are_checked_like_others() {
    let set = |run: Run| {
        let sets = vec![Set { arm: 'A', run: synthetic::run() }, Set { arm: 'B', run }];
        let recordings = vec![Recording::Sets(Sets { margin: 0.05, sets })];
        serde_json::to_vec(&Run { recordings, ..synthetic::run() }).expect("document")
    };
    assert!(from_bytes(&set(synthetic::run())).is_ok());
    let mut run = synthetic::run();
    run.gate.quiet_share = Some(1.5);
    let reason = "set 2: no measurement has a share of 1.5e0 (gate.quiet_share)";
    assert_eq!(refusal(&set(run)), reason);
    let run = Run { id: "none".into(), ..synthetic::run() };
    assert_eq!(refusal(&set(run)), "set 2: its id \"none\" is not a UUID");
}

#[test]
fn rows_of_json_are_refused_with_what_to_use() {
    let rows = crate::exchange::export::row_objects(&synthetic::run(), |_| serde_json::Map::new());
    let refused = from_bytes(rows.expect("rows").as_bytes()).expect_err("no document").to_string();
    assert_eq!(
        refused,
        "it has the rows that --json prints; the run document is what --document prints"
    );
}
