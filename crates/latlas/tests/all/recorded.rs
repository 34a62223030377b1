//! Whatever was recorded is a run: the commands that work on runs work on it, whether it is of this latlas or of
//! one whose recordings had documents of their own.

use crate::support::{Home, has};
use model::run::{Run, SCHEMA_VERSION};
use std::path::PathBuf;

/// Documents of schema 6 and before, with the pages that their commands printed (shares with the digits of now),
/// without what is now the heading of any run; of the knobs there is none.
const OLDER: [&str; 7] = ["osnoise", "cpu_history", "ab", "ab_command", "qos", "knobs", "trace"];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/older").join(name)
}

/// The lines of a page that have figures, without the space between columns, and the mark of verdicts, which are
/// today's.
fn figure_lines(page: &str) -> Vec<String> {
    let lines = page.lines().filter(|line| line.contains(|c: char| c.is_ascii_digit()));
    let words = lines.map(|line| line.split_whitespace().filter(|word| *word != "?"));
    words.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_was_recorded_is_a_run_like_any_other() {
    let home = Home::new();
    for name in OLDER {
        let text = std::fs::read_to_string(fixture(&format!("{name}.json"))).expect("a fixture");
        home.write("older.json", &text);
        let page = home.out("show older.json");
        if let Ok(before) = std::fs::read_to_string(fixture(&format!("{name}.txt"))) {
            let shown = figure_lines(&page);
            for line in figure_lines(&before) {
                // Columns may have been added at the end.
                let is_there = shown.iter().any(|now| {
                    now.strip_prefix(&line)
                        .is_some_and(|more| more.is_empty() || more.starts_with(' '))
                });
                assert!(is_there, "{name}: {line:?} is missing in\n{page}");
            }
        }
        // As it is written now.
        let json = home.out("show --document older.json");
        let run: Run = serde_json::from_str(&json).expect("a run");
        assert_eq!((run.schema, run.recordings.len()), (SCHEMA_VERSION, 1));
        assert!(!run.rows.is_empty(), "{name}");
        home.write("now.json", &json);
        let again = home.out("show now.json").replace("now.json", "older.json");
        assert_eq!(again, page, "{name}");
        // And everything that works on runs.
        let rows = home.out("show --all now.json");
        let first = &run.rows[0].id;
        has(&rows, [first.rsplit(['.', '/']).next().unwrap_or(first)]);
        let compared = home.run("compare now.json now.json");
        assert!(matches!(compared.code, 0 | 3), "{name}: {}", compared.err);
        home.run("report now.json -o page.html --force").ok();
        let report = home.read_file("page.html");
        has(&report, [run.recordings[0].name()]);
        let csv = home.out("export --format csv now.json");
        has(&csv, [first.as_str()]);
        home.run("export --format jsonl now.json").ok();
        home.run("plot --list now.json").ok();
        // Of several CPUs the rows are curves, which have no picture of their own.
        let plotted = home.run(format!("plot {first} now.json -o row.svg"));
        assert!(plotted.code == 0 || plotted.err.contains("can't be drawn"), "{}", plotted.err);
        home.run("import --format run older.json").ok();
        let listed = home.out("atlas list");
        has(&listed, [&run.id[..8]]);
        assert_eq!(
            home.out(format!("show {}", &run.id[..8])).lines().count(),
            page.lines().count() + 1
        );
        let key = model::summary::MachineKey::from_run(&run).0;
        let of_one_cpu = ["cpu_history", "osnoise"].contains(&name);
        let at = if of_one_cpu { "--at 0" } else { "" };
        home.run(format!("history {first} {at} --machine {key} --json")).ok();
    }
}

#[test]
fn arms_that_contradict_each_other_are_refused() {
    let home = Home::new();
    let text = std::fs::read_to_string(fixture("ab.json")).expect("a fixture");
    home.write("older.json", &text);
    let run: Run = serde_json::from_str(&home.out("show --document older.json")).expect("a run");
    let mut twice = run.clone();
    let mut other = run.clone();
    if let Some(experiment) = &mut twice.experiment {
        experiment.arms.extend_from_within(..1);
    }
    if let Some(experiment) = &mut other.experiment {
        experiment.arms.remove(0);
    }
    for (run, why) in [(twice, "the arm \"none\" twice"), (other, "names the arm \"none\"")] {
        home.write("bad.json", serde_json::to_string(&run).expect("JSON"));
        home.run("show bad.json").refused(why);
    }
    let newer = Run { schema: SCHEMA_VERSION + 1, ..run };
    home.write("newer.json", serde_json::to_string(&newer).expect("JSON"));
    home.run("show newer.json").refused("use a newer latlas");
}
