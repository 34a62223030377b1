//! `latlas compare`: runs by name and by file, its gate, and what can't be compared.

use crate::support::{Home, SYNTHETIC, has, lacks, synthetic};
use serde_json::json;

const OTHER_ID: &str = "cccc1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";

/// The fixture with another id, and a row that takes this many times as long.
fn slower(row: &str, factor: f64) -> String {
    let mut run = synthetic();
    run["id"] = OTHER_ID.into();
    let rows = run["rows"].as_array_mut().expect("rows");
    let row = rows.iter_mut().find(|r| r["id"] == row).expect(row);
    let estimate = &mut row["outcome"]["figure"];
    for at in ["/quiet/ns", "/quiet/cycles", "/typical/ns"] {
        for end in ["value", "low", "high"] {
            let number = &mut estimate.pointer_mut(at).expect(at)[end];
            *number = (number.as_f64().expect("a number") * factor).into();
        }
    }
    run.to_string()
}

#[test]
fn runs_are_compared_by_name_and_by_file() {
    let home = Home::with(&[1, 2]);
    home.write("new.json", slower("cpu.add_i32", 1.5));
    let same = home.out("compare last~1 last");
    has(&same, ["0 different", "00000001", "00000002"]);
    let changed = home.run("compare 00000001 new.json --rows 'cpu.add*'");
    // A difference alone is no failure.
    let changed = changed.ok();
    let line = changed.out.lines().find(|l| l.contains(" add_i32 "));
    assert!(line.expect("a row").ends_with("different: slower"), "{line:?}");
    lacks(&changed.out, ["div_i32"]);
    // Two others, one of them a published table.
    let both = home.run("compare 2012 00000001 last").out;
    assert_eq!(both.matches("2012: Latency Numbers").count(), 2, "{both}");
    let all = home.json("compare 00000001 new.json last --json");
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let finding = |n: usize| {
        let mut rows = all[n]["rows"].as_array().expect("rows").iter();
        rows.find(|r| r["id"] == "cpu.add_i32").expect("a row")["finding"].clone()
    };
    assert_eq!([finding(0), finding(1)], ["different", "same_within_noise"]);
}

#[test]
fn a_gate_is_crossed_only_by_a_significant_difference() {
    let home = Home::new();
    for (factor, gate, code) in
        [(1.5, "10%", 1), (1.5, "60%", 0), (1.11, "10%", 0), (0.5, "10%", 0)]
    {
        home.write("new.json", slower("cpu.add_i32", factor));
        let done = home.run(format!("compare {SYNTHETIC} new.json --fail-above {gate} --json"));
        assert_eq!(done.code, code, "{factor} {gate}: {}", done.out);
        let text = home.run(format!("compare {SYNTHETIC} new.json --fail-above {gate}"));
        assert_eq!(text.code, code);
        let named = text.out.lines().any(|l| l.contains("10 %") && l.contains(": cpu.add_i32"));
        assert_eq!(named, code == 1, "{}", text.out);
        home.run(format!("compare {SYNTHETIC} new.json")).ok();
    }
}

#[test]
fn what_can_not_be_compared_is_refused() {
    let home = Home::new();
    home.run(format!("compare {SYNTHETIC} last")).refused("no run in ");
    let home = Home::with(&[1]);
    home.write("cut.json", &std::fs::read(SYNTHETIC).expect("the fixture")[..9000]);
    insta::assert_snapshot!(home.refusals(&format!(
        "compare {SYNTHETIC}
         compare {SYNTHETIC} last~1
         compare {SYNTHETIC} last~99999999999999999999
         compare {SYNTHETIC} ffff
         compare {SYNTHETIC} iphone-y
         compare {SYNTHETIC} @nowhere
         compare {SYNTHETIC} .
         compare {SYNTHETIC} cut.json
         compare {SYNTHETIC} last --rows cpu.absent
         compare {SYNTHETIC} last --rows cpu.* --rows gpu.*
         compare {SYNTHETIC} last --normalize=cpu.absent
         compare {SYNTHETIC} last --margin=0
         compare {SYNTHETIC} last --margin=-5%
         compare {SYNTHETIC} last --fail-above=ten"
    )));
}

/// hyperfine's results of thirty runs of one command that takes about this long.
fn hyperfine(ms: f64) -> String {
    let times = (0..30).map(|k| (ms + 0.1 * (f64::from(k * 7 % 30) / 14.5 - 1.0)) / 1e3);
    let times: Vec<f64> = times.collect();
    let codes = vec![0; times.len()];
    let result = json!({
        "command": "work", "mean": ms / 1e3, "median": ms / 1e3,
        "times": times, "exit_codes": codes,
    });
    json!({ "results": [result] }).to_string()
}

#[test]
fn imports_are_compared_and_cross_a_gate() {
    let home = Home::new();
    let [old, again, slow] = [10.0, 10.0, 20.0].map(|ms| {
        home.write("times.json", hyperfine(ms));
        home.out("import times.json").trim().to_owned()
    });
    let gate = |a: &str, b: &str| home.run(format!("compare {a} {b} --fail-above 7% --margin 30%"));
    let slower = gate(&old, &slow).ended_with(1).out;
    has(
        &slower,
        [
            "1 of 1 row differs (1 slower).",
            "different: slower",
            "host, CPU, kernel",
            ", imported 20",
        ],
    );
    lacks(&slower, ["not release", "the same within", "7.0000"]);
    lacks(&gate(&old, &again).ok().out, ["no spread"]);
}

#[test]
fn without_any_row_to_judge_the_exit_code_is_3() {
    let done = Home::new().run("compare iphone-6s mac-pro-2013").ended_with(3);
    has(&done.out, ["no spread"]);
}

#[test]
fn a_warning_of_many_runs_is_printed_once_and_a_long_name_is_shortened() {
    let home = Home::new();
    let of_host = |number: u32, host: &str| {
        let mut run = synthetic();
        run["id"] = crate::support::made_up_id(number).into();
        run["machine"]["hostname"] = json!({ "value": host });
        run["program"]["profile"] = "debug".into();
        home.keep(number, &run);
    };
    for number in 0..3 {
        of_host(number, "n01");
        of_host(10 + number, "n02");
    }
    let text = home.run("compare @n01 @n02");
    for side in ["A", "B"] {
        let warning = format!("{side} built as debug, not release.");
        assert_eq!(text.out.matches(&warning).count(), 1, "{}", text.out);
    }
    of_host(20, &"n".repeat(200));
    let list = home.out("atlas list");
    has(&list, [&*format!("{}..", "n".repeat(14))]);
    lacks(&list, [&*"n".repeat(31)]);
}
