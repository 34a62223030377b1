//! No option is ignored in silence: it changes what is printed or written, or it is refused. `measured.rs`: those of
//! commands whose figures are others each time.

mod measured;

use crate::support::{Home, SYNTHETIC, entries, synthetic};
use std::collections::{BTreeMap, BTreeSet};

/// What comes of options that are added to a command.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// Output, a file or the exit code is another.
    Acts,
    /// Exit code 2, and one line that says what to do.
    Refused,
    /// It asks for what happens without it here, where stdout is no terminal.
    AsWithout,
}
use Effect::{Acts, AsWithout, Refused};

/// Commands, options that they get, and what comes of them. An option of `show`, `report`, `compare` and `plot` that
/// stands nowhere fails the test below.
const TABLE: &[(&str, &str, Effect)] = &[
    ("show run.json", "--json", Acts),
    ("show run.json", "--document", Acts),
    ("show run.json other.json", "--document", Refused),
    ("show run.json --document", "--all", Refused),
    ("show run.json --document", "--wide", Refused),
    ("run cpu.add_i32 --document", "--all", Refused),
    ("run cpu.add_i32 --document", "--wide", Refused),
    ("show run.json", "--vs iphone-x", Acts),
    ("show run.json --vs iphone-x", "--vs mac-pro-2013", Acts),
    ("show run.json", "--all", Acts),
    ("show run.json", "--wide", Acts),
    ("show run.json", "--human", Acts),
    ("show run.json", "--frames", Acts),
    ("show run.json --frames", "--human", Acts),
    ("show run.json", "--color always", Acts),
    ("show run.json", "--no-pager", AsWithout),
    ("show overview.json", "--all", Acts),
    ("show overview.json", "--wide", Acts),
    ("show overview.json", "--human", Acts),
    ("show overview.json", "--frames", Acts),
    ("show overview.json", "--vs iphone-x", Acts),
    ("show overview.json --vs iphone-x", "--vs 2012", Acts),
    ("show run.json --json", "--all", Refused),
    ("show run.json --json", "--wide", Refused),
    ("show run.json --json", "--human", Refused),
    ("show run.json --json", "--frames", Refused),
    ("show run.json --json", "--vs 2012", Refused),
    ("show run.json other.json", "--json", Acts),
    ("show run.json other.json", "--color always", Acts),
    ("show run.json other.json", "--all", Refused),
    ("show run.json other.json", "--wide", Refused),
    ("show run.json other.json", "--human", Refused),
    ("show run.json other.json", "--vs 2012", Refused),
    ("report run.json", "--out page.html", Acts),
    ("report run.json", "--url https://example.org/a.html", Acts),
    ("report run.json", "--no-documents", Acts),
    ("report run.json", "--share --out shared.html", Acts),
    ("report run.json --out foreign.html", "--force", Acts),
    ("report run.json", "--json", Acts),
    ("compare run.json other.json", "--rows cpu.*", Acts),
    ("compare run.json other.json", "--out compared.html", Acts),
    ("compare run.json other.json --out foreign.html", "--force", Acts),
    ("compare run.json other.json", "--margin 0.1%", Acts),
    ("compare run.json other.json", "--fail-above 1%", Acts),
    ("compare run.json other.json", "--normalize", Acts),
    ("compare run.json other.json", "--wide", Acts),
    ("compare run.json other.json", "--json", Acts),
    ("compare run.json other.json", "--color always", Acts),
    ("compare run.json other.json --json", "--wide", Refused),
    ("plot memory.latency run.json", "--out chart.svg", Acts),
    ("plot memory.latency run.json", "--format png", Acts),
    ("plot memory.latency run.json", "--theme dark", Acts),
    ("plot memory.latency run.json", "--width 85mm", Acts),
    ("plot memory.latency run.json", "--height 700px", Acts),
    ("plot memory.latency run.json", "--bare", Acts),
    ("plot memory.latency run.json", "--text", Acts),
    ("plot memory.latency run.json --json", "--text", Refused),
    ("plot memory.latency run.json --format png", "--scale 2", Acts),
    ("plot memory.latency run.json --format png", "--dpi 200", Acts),
    ("plot memory.latency run.json", "--scale 2", Refused),
    ("plot memory.latency run.json", "--dpi 200", Refused),
    ("plot ladder run.json", "--vs 2012", Acts),
    ("plot ladder run.json", "--rows cpu.*", Acts),
    ("plot memory.latency run.json", "--rows cpu.*", Refused),
    ("plot memory.latency run.json", "--json", Acts),
    ("plot --list run.json", "--json", Acts),
    ("plot --list run.json", "--dpi 200", Refused),
    ("plot --list run.json", "--bare", Refused),
    ("plot memory.latency run.json --json", "--theme dark", Refused),
    ("run cpu.add_i32 --dry-run", "--json", Acts),
    ("run cpu.add_i32 --dry-run --json --seed 1", "--full", Acts),
    ("run cpu.add_i32 --dry-run --json --seed 1", "--budget 9m", Acts),
    ("run cpu.add_i32 --dry-run", "--wide", Refused),
    ("run cpu.add_i32 --dry-run", "--all", Refused),
    ("run cpu.add_i32 --dry-run", "--human", Refused),
    ("run cpu.add_i32 --dry-run", "--frames", Refused),
    ("run cpu.add_i32 --dry-run", "--vs 2012", Refused),
    ("run cpu.add_i32 --dry-run", "--out run.json", Refused),
    ("run cpu.add_i32 --dry-run", "--baseline main", Refused),
    ("run cpu.add_i32 --dry-run", "--trace-tails", Refused),
    ("--dry-run", "--human", Refused),
    ("--dry-run", "--vs 2012", Refused),
    ("--json", "--human", Refused),
    ("--json", "--all", Refused),
    ("exec --json -- true", "--all", Refused),
    ("exec --json -- true", "--wide", Refused),
    ("exec --document -- true", "--all", Refused),
    ("exec --document -- true", "--wide", Refused),
    ("exec -- true", "--margin 2%", Refused),
    ("exec -r 1 --warmup 0 -- sleep 1", "--timeout 1ms", Refused),
    ("exec --cold-files run.json -- true", "--cold", Refused),
    ("exec --cold -- true", "--warm", Refused),
    ("exec --pin 8000 -- true", "--shield 0", Refused),
    ("run cpu.add_i32 --dry-run", "--fail-above 5%", Refused),
    ("run cpu.add_i32 --dry-run", "--baseline main --fail-above 5%", Refused),
    ("run cpu.add_i32 --budget 1s", "--pin 8000", Refused),
    ("run cpu.add_i32 --dry-run --no-controls", "--pin 0", Refused),
    ("run cpu.add_i32 --dry-run --no-controls", "--shield 0", Refused),
    ("run cpu.add_i32 --dry-run", "--core-kind no-kind", Refused),
    ("run cpu.add_i32 --dry-run", "--cold --warm", Refused),
    ("run cpu.add_i32 --dry-run", "--pack absent", Refused),
    ("run cpu.add_i32 --dry-run", "--peer nonsense", Refused),
    ("run cpu.add_i32 --dry-run --seed 1", "--no-wait", AsWithout),
    ("run cpu.add_i32 --dry-run --seed 1", "--no-pager", AsWithout),
    ("run disk.* --dry-run", "--dir absent", Refused),
    ("run cpu.add_i32 --dry-run", "--document", Refused),
    ("noise tune --root tree", "--apply --dry-run", Refused),
    ("noise tune --root tree -- true", "--apply", Refused),
];

/// Added behind the words of the command, before a command that it runs.
fn with(line: &str, options: &str) -> String {
    match line.split_once(" -- ") {
        Some((line, command)) => format!("{line} {options} -- {command}"),
        None => format!("{line} {options}"),
    }
}

/// A home with a run, one that was measured later, and one of the overview's operations.
fn home() -> Home {
    let home = Home::new();
    let mut run = synthetic();
    home.write("run.json", run.to_string());
    run["id"] = "00000009-0000-4000-8000-000000000001".into();
    let mut slower = run.clone();
    let rows = slower["rows"].as_array_mut().expect("rows");
    for row in
        rows.iter_mut().filter(|row| row["id"].as_str().is_some_and(|id| id.starts_with("cpu.")))
    {
        for unit in ["ns", "cycles"] {
            for end in ["value", "low", "high"] {
                let path = format!("/outcome/figure/quiet/{unit}/{end}");
                if let Some(number) = row.pointer_mut(&path) {
                    *number = number.as_f64().map(|number| number * 2.0).into();
                }
            }
        }
    }
    home.write("other.json", slower.to_string());
    run["plan"]["asked"] = serde_json::json!(["overview"]);
    home.write("overview.json", run.to_string());
    home.write("foreign.html", "not a report");
    home
}

/// Exit code, both outputs, and every file that was made.
fn done(line: &str) -> (i32, String, BTreeMap<String, Vec<u8>>) {
    let home = home();
    let done = home.run(line);
    let files = entries(&home.path("")).into_iter().filter(|path| path.is_file()).map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(&path).expect("a file"))
    });
    (done.code, home.plain(&format!("{}{}", done.out, done.err)), files.collect())
}

#[test]
fn every_option_acts_or_is_refused() {
    assert!(std::fs::metadata(SYNTHETIC).is_ok());
    let mut wrong = String::new();
    for (line, options, expected) in TABLE {
        let (plain, given) = (done(line), done(&with(line, options)));
        let effect = match given {
            (2, ..) => Refused,
            _ if given == plain => AsWithout,
            _ => Acts,
        };
        if effect != *expected {
            wrong += &format!(
                "{line} {options}: {effect:?}, not {expected:?}: {}\n",
                given.1.lines().next().unwrap_or_default()
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_table_has_every_option_of_these_commands() {
    let all = latlas::arguments::command();
    for name in ["show", "report", "compare", "plot", "run", "exec"] {
        let command = all.find_subcommand(name).expect("a command");
        let own = command.get_arguments().filter(|arg| !arg.is_global_set());
        let own: BTreeSet<&str> = own.filter_map(|arg| arg.get_long()).collect();
        let plain = TABLE.iter().map(|(line, options, _)| (line, options));
        let tried = plain.chain(measured::TABLE.iter().map(|(line, options, _)| (line, options)));
        let lines = tried.filter(|(line, _)| line.split(' ').next() == Some(name));
        let words = lines.flat_map(|(line, options)| line.split(' ').chain(options.split(' ')));
        let tried: BTreeSet<&str> = words.filter_map(|word| word.strip_prefix("--")).collect();
        // Whether another latlas measures is no matter of the command: `lock.rs` tries it.
        let missing: Vec<&&str> =
            own.difference(&tried).filter(|name| **name != "no-wait").collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}
