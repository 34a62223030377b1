//! Options of `exec` and `run`, whose figures are others each time: an option acts if a fact of the document is as it
//! asks and was not before, if it writes its file, or if the page has what it asks for.

use crate::support::{Done, entries, json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How it shows that an option acts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown {
    /// A value of the document, by its JSON pointer; `null` is one that is not there.
    Fact(&'static str, &'static str),
    /// A file that is made.
    Made(&'static str),
    /// A text of the output.
    Says(&'static str),
    /// Two texts of the output, in this order.
    InOrder(&'static str, &'static str),
    /// It is refused, here and now, for what the machine has or is allowed.
    MayBeRefused(&'static str, &'static str),
}
use Shown::{Fact, InOrder, Made, MayBeRefused, Says};

const ONCE: &str = "exec -r 1 -- true";
const RULE: &str = "exec --budget 1ms -- true";
const ROW: &str = "run cpu.add_i32 --budget 1s";

/// Commands, an option that they get, and how it shows.
pub(super) const TABLE: &[(&str, &str, Shown)] = &[
    ("exec -- true", "--runs 2", Fact("/commands/rule/runs", "2")),
    (RULE, "--min-runs 11", Fact("/commands/rule/least_runs", "11")),
    (RULE, "--max-runs 999", Fact("/commands/rule/most_runs", "999")),
    (RULE, "--precise", Fact("/commands/rule/half_width", "0.02")),
    ("exec --max-runs 10 -- true", "--budget 9s", Fact("/commands/rule/most_ms", "9000")),
    (ONCE, "--warmup 3", Fact("/commands/warmups", "3")),
    (ONCE, "--check true", Fact("/commands/commands/0/checked_by", "\"true\"")),
    (ONCE, "--pin 0", MayBeRefused("/commands/controls/pinned_cpu", "0")),
    (ONCE, "--nice 5", Fact("/commands/controls/nice", "5")),
    (ONCE, "--own-session", Fact("/conditions/applied/granted/own_session", "true")),
    (ONCE, "--autogroup 5", MayBeRefused("/conditions/applied/granted/autogroup", "5")),
    (ONCE, "--fifo", MayBeRefused("/conditions/applied/granted/policy", "{\"fifo\":1}")),
    (ONCE, "--vs 'true x'", Fact("/commands/commands/1/words/1", "\"x\"")),
    (
        ONCE,
        "--cold-files run.json",
        Fact("/commands/page_cache/cold_files/files/0", "\"run.json\""),
    ),
    (ONCE, "--input run.json", Fact("/commands/input", "\"run.json\"")),
    (ONCE, "--output out", Fact("/commands/output", "\"to out\"")),
    (ONCE, "--show-output", Fact("/commands/output", "\"to standard error\"")),
    (ONCE, "--shell", Fact("/commands/commands/0/shell", "\"true\"")),
    (ONCE, "--seed 5", Fact("/plan/seed", "5")),
    (ONCE, "--name x", Fact("/commands/commands/0/name", "\"x\"")),
    (ONCE, "--margin 2% --vs true", Fact("/commands/margin", "0.02")),
    (
        "exec -r 1 -- echo {x}",
        "--parameter-list x 1,2",
        Fact("/commands/commands/1/words/1", "\"2\""),
    ),
    (
        "exec -r 1 -- echo {x}",
        "--parameter-scan x 1 3",
        Fact("/commands/commands/2/words/1", "\"3\""),
    ),
    (
        "exec -r 1 --parameter-scan x 1 3 -- echo {x}",
        "--parameter-step-size 2",
        Fact("/commands/commands/1/words/1", "\"3\""),
    ),
    (ONCE, "--setup 'touch made'", Made("made")),
    (ONCE, "--prepare 'touch made'", Made("made")),
    (ONCE, "--conclude 'touch made'", Made("made")),
    (ONCE, "--cleanup 'touch made'", Made("made")),
    (ONCE, "--export-json made", Made("made")),
    (ONCE, "--export-markdown made", Made("made")),
    (ONCE, "--out made", Made("made")),
    (ONCE, "--json", Says("{\"row\":")),
    (ONCE, "--document", Says("{\"schema\":")),
    (ONCE, "--all", Says("page cache")),
    (ONCE, "--wide", Says("exec.true/wall")),
    (ONCE, "--color always", Says("\u{1b}[")),
    (
        "exec -r 10 'sleep 0.02' 'sleep 0.2' true",
        "--sort command",
        InOrder("than 'sleep 0.2'", "than 'sleep 0.02'"),
    ),
    ("exec -r 1 -- false", "--ignore-failure", Fact("/commands/commands/0/failures", "1")),
    (ROW, "--quick", Fact("/plan/scale", "\"quick\"")),
    ("run cpu.add_i32", "--budget 1s", Fact("/plan/budget_ms", "1000")),
    (ROW, "--seed 5", Fact("/plan/seed", "5")),
    (ROW, "--nice 5", Fact("/conditions/applied/asked/nice", "5")),
    (ROW, "--autogroup 5", MayBeRefused("/conditions/applied/asked/autogroup", "5")),
    (ROW, "--fifo", MayBeRefused("/conditions/applied/asked/policy", "{\"fifo\":1}")),
    (ROW, "--no-controls", Fact("/conditions/applied/asked/own_session", "null")),
    (ROW, "--in-process", Fact("/plan/in_process", "true")),
    (ROW, "--color always", Says("\u{1b}[")),
    (ROW, "--out made", Made("made")),
];

/// What a line did.
struct LineEffect {
    done: Done,
    /// The document that it printed or stored; `null` without one.
    document: Value,
    files: Vec<String>,
}

fn effect_of(line: &str) -> LineEffect {
    let home = super::home();
    let done = home.run(line);
    let document = match done.out.starts_with("{\"schema\":") {
        true => done.json(),
        false => Some(home.run("show last --document"))
            .filter(|shown| shown.code == 0)
            .map_or(Value::Null, |shown| shown.json()),
    };
    let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    let files = entries(&home.path("")).iter().filter_map(name).collect();
    LineEffect { done, document, files }
}

/// Whether it shows; `None` where it was refused.
fn shows(effect: &LineEffect, shown: Shown) -> Option<bool> {
    let LineEffect { done, document, files } = effect;
    if done.code == 2 {
        return None;
    }
    Some(match shown {
        Fact(pointer, value) | MayBeRefused(pointer, value) => {
            *document.pointer(pointer).unwrap_or(&Value::Null) == json(value)
        }
        Made(file) => files.iter().any(|name| name == file),
        Says(text) => done.out.contains(text),
        InOrder(first, second) => {
            matches!((done.out.find(first), done.out.find(second)), (Some(a), Some(b)) if a < b)
        }
    })
}

#[test]
fn every_option_of_what_measures_shows() {
    let mut wrong = String::new();
    let mut without: BTreeMap<&str, LineEffect> = BTreeMap::new();
    for (line, options, shown) in TABLE {
        let plain = shows(without.entry(line).or_insert_with(|| effect_of(line)), *shown);
        let given = shows(&effect_of(&super::with(line, options)), *shown);
        let may_be_refused = matches!(shown, MayBeRefused(..));
        if plain == Some(true) || !(given == Some(true) || given.is_none() && may_be_refused) {
            wrong +=
                &format!("{line} {options}: {shown:?}: {plain:?} without, {given:?} with it\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
