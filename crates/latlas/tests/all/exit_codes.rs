//! Exit codes: 0 done, 1 a gate that was set is crossed, 2 refused, 3 not to be relied on.

use crate::support::{Home, SYNTHETIC, synthetic};
use std::collections::BTreeSet;

/// Commands that do nothing but measure or wait: whether they are done depends on the machine, and
/// their own tests say the rest.
const MEASURE: [&str; 8] = ["run", "exec", "ci", "judge", "trace", "qos", "selftest", "echo"];

/// Command lines by their exit codes, none of which measures. They are run one after the other.
const TABLE: &str = "
    0 list cpu.add_i32
    2 list no.such.row
    0 explain cpu.add_i32
    2 explain no.such.row
    0 machine
    2 machine --no-such-option
    2 run no.such.row
    2 run cpu.add_i32 --budget 1ms
    0 run cpu.add_i32 --dry-run
    2 selftest no.such.row
    2 exec -- no-such-program
    2 exec --warmup 0 -- false
    2 ci
    2 judge
    2 judge --again 99999999
    2 judge --again last
    2 trace -- no-such-program
    2 trace show missing.zst
    2 qos --levels urgent
    2 qos knobs nise
    2 echo --listen nowhere
    0 help trust
    2 help nonsense
    0 show last
    2 show 99999999
    3 table oakley
    2 table ash 99999999
    2 table no-such-table
    0 compare last~1 last
    0 compare SYNTHETIC slow.json
    0 compare SYNTHETIC slow.json --fail-above 60%
    1 compare SYNTHETIC slow.json --fail-above 10%
    1 compare SYNTHETIC slow.json --fail-above 10% --json
    2 compare last 99999999
    3 compare iphone-6s mac-pro-2013
    0 fit --learn expected.json run-1.json
    2 fit --learn expected.json missing.json
    0 history cpu.add_i32 --machine example
    2 history no.such.row
    0 report last -o report.html
    2 report 99999999 -o report.html
    0 plot memory.latency last -o plot.svg
    2 plot no.such.row last -o plot.svg
    0 export last --format csv -o run.csv
    2 export 99999999 --format csv
    0 import --format run run-4.json
    2 import broken.json
    0 atlas list
    0 atlas tag last base
    2 atlas tag 99999999 base
    0 atlas verify
    2 atlas delete 99999999 --yes
    0 noise show --root quiet
    3 noise show --root intel
    2 noise show --root missing
    0 noise ab pin --dry-run
    2 noise ab no-such-control
    2 noise measure --cpu 8000
    0 noise tune --root intel --dry-run
    2 noise tune --root intel --only no-such-control
    0 pack new c mine
    2 pack new c mine
    2 pack check missing.so
    0 config show
    2 config show --config missing.toml
    0 completions bash
    2 completions no-such-shell
    0 man .
    2 man /dev/null/pages
    3 atlas verify
";

fn home() -> Home {
    let home = Home::with(&[1, 2, 3]);
    home.document(4);
    home.write("broken.json", "{");
    let mut slow = synthetic();
    slow["id"] = crate::support::made_up_id(9).into();
    let rows = slow["rows"].as_array_mut().expect("rows");
    let row = rows.iter_mut().find(|row| row["id"] == "cpu.add_i32");
    let figure = &mut row.expect("a row")["outcome"]["figure"];
    for at in ["/quiet/ns", "/quiet/cycles", "/typical/ns"] {
        for end in ["value", "low", "high"] {
            let number = &mut figure.pointer_mut(at).expect(at)[end];
            *number = (number.as_f64().expect("a number") * 1.5).into();
        }
    }
    home.write("slow.json", slow.to_string());
    for machine in noise::machines::all_machines() {
        let tree = home.path(machine.name);
        std::fs::create_dir(&tree).expect("a directory");
        machine.write_below(&tree).expect("a tree");
    }
    home
}

#[test]
fn every_command_ends_with_its_code() {
    let home = home();
    for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (code, line) = line.split_once(' ').expect("a code and a line");
        let code: i32 = code.parse().expect("a code");
        if (code, line) == (3, "atlas verify") {
            let kept = crate::support::entries(&home.path("data/runs"));
            let kept = kept.iter().find(|path| path.extension().is_some_and(|e| e == "zst"));
            std::fs::write(kept.expect("kept"), "cut").expect("written");
        }
        let done = home.run(line.replace("SYNTHETIC", SYNTHETIC));
        assert_eq!(done.code, code, "{line}: {}{}", done.out, done.err);
    }
}

/// A command of latlas that the table lacks.
#[test]
fn every_command_is_in_the_table() {
    let help = Home::new().out("--help");
    let (_, commands) = help.split_once("\nMeasure:\n").expect("the commands");
    let (commands, _) = commands.split_once("\nWithout a command, latlas").expect("their end");
    let (commands, _) = commands.split_once("\nMore programs:\n").expect("programs");
    let names = commands.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let name = line.split("  ").next()?;
        name.starts_with(|c: char| c.is_ascii_lowercase()).then_some(name)
    });
    let names: BTreeSet<&str> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    let codes_of = |name: &str| -> BTreeSet<&str> {
        let lines = TABLE.lines().map(|line| line.trim().split(' ').collect::<Vec<_>>());
        let own = lines.filter(|words| words.get(1) == Some(&name));
        own.map(|words| words[0]).collect()
    };
    for name in names {
        let codes = codes_of(name);
        assert!(codes.contains("2"), "{name}: no line is refused");
        // A store that is another machine's, or all of a fleet's hosts, is more than a line.
        let done = codes.contains("0") || [&MEASURE[..], &["table"]].concat().contains(&name);
        assert!(done, "{name}: no line is done");
    }
}
