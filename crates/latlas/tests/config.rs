//! The configuration file and the command line over it, with the real binary.

use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A home of its own for one test.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new() -> Home {
        Home {
            dir: tempfile::tempdir().expect("a directory"),
        }
    }

    /// With this text where the configuration is looked for.
    fn with(text: &str) -> Home {
        let home = Home::new();
        std::fs::create_dir_all(home.path("config/latlas")).expect("a directory");
        std::fs::write(home.file(), text).expect("written");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path("config/latlas/config.toml")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_latlas"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("share"))
            .env_remove("LATLAS_DATA_DIR")
            .env_remove("LATLAS_CONFIG")
            .env_remove("NO_COLOR");
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        Done::of(&mut self.command(arguments))
    }

    /// What a quick run of one row holds, as JSON.
    fn measured(&self, arguments: &[&str]) -> serde_json::Value {
        let row = ["--json", "cpu.add_i32"];
        let done = self.run(&[&["run"], arguments, &row].concat());
        assert!(matches!(done.code, 0 | 3), "{}", done.err);
        serde_json::from_str(&done.out).expect("a document")
    }
}

struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Done {
    fn of(command: &mut Command) -> Done {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("it runs");
        Done {
            code: status.code().expect("a code"),
            out: String::from_utf8(stdout).expect("UTF-8"),
            err: String::from_utf8(stderr).expect("UTF-8"),
        }
    }

    /// Refused in one line that says this.
    fn refused(&self, said: &str) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.contains(said), "{said:?} not in {}", self.err);
    }
}

#[test]
fn a_run_follows_the_file_and_says_so_and_a_flag_beats_it() {
    let home = Home::with("[run]\nscale = \"quick\"\npin = 0\nbudget = \"2s\"\n");
    let done = home.run(&["run", "--json", "cpu.add_i32"]);
    let told = "run.scale = quick, run.pin = 0, run.budget = 2s\n";
    assert!(done.err.contains(told), "{}", done.err);
    let run: serde_json::Value = serde_json::from_str(&done.out).expect("a document");
    assert_eq!(run["plan"]["scale"], "quick");
    assert_eq!(run["plan"]["budget_ms"], 2000);
    assert_eq!(run["conditions"]["pinned_cpus"].to_string(), "[0]");
    let other = home.measured(&["--budget", "1s"]);
    assert_eq!(other["plan"]["budget_ms"], 1000);
    assert_eq!(
        other["plan"]["scale"], "quick",
        "nothing typed is against it"
    );
    // Flags that contradict a key put it out, rather than stand beside it.
    let none = home.run(&["run", "--no-controls", "--dry-run"]);
    assert!(!none.err.contains("run.pin"), "{}", none.err);
    assert!(none.err.contains("run.budget"), "{}", none.err);
    let full = home.run(&["run", "--full", "--dry-run"]);
    assert!(!full.err.contains("run.scale"), "{}", full.err);
    let quick = home.run(&["run", "--dry-run"]);
    assert!(full.out.lines().count() > quick.out.lines().count());
    let without = home.run(&["--no-config", "run", "--dry-run"]);
    assert_eq!(without.err, "");
    assert!(without.out.lines().count() > quick.out.lines().count());
}

#[test]
fn without_a_command_the_file_counts_too() {
    let home = Home::with("run.scale = \"quick\"\n");
    let plain = home.run(&["--dry-run"]);
    assert!(plain.err.contains("run.scale = quick"), "{}", plain.err);
    assert_eq!(plain.out, home.run(&["run", "--dry-run"]).out);
}

#[test]
fn runs_are_kept_where_the_file_says_unless_the_environment_does() {
    let home = Home::new();
    let kept = home.path("kept");
    let text = format!(
        "data_dir = {:?}\n[run]\nscale = \"quick\"\n",
        kept.display()
    );
    let home_file = home.path("own.toml");
    std::fs::write(&home_file, text).expect("written");
    let arguments = ["--config", "own.toml", "run", "cpu.add_i32"];
    let done = home.run(&arguments);
    assert!(matches!(done.code, 0 | 3), "{}", done.err);
    let count =
        |directory: PathBuf| std::fs::read_dir(directory.join("runs")).map_or(0, Iterator::count);
    assert_eq!(
        (count(kept.clone()), count(home.path("share/latlas"))),
        (1, 0)
    );
    let show = home.run(&["show", "last", "--config", "own.toml"]);
    assert_eq!(show.code, 0, "{}", show.err);
    // An empty variable names nothing.
    let mut command = home.command(&["show", "last", "--config", "own.toml"]);
    let show = Done::of(command.env("LATLAS_DATA_DIR", ""));
    assert_eq!(show.code, 0, "{}", show.err);
    let mut command = home.command(&arguments);
    let done = Done::of(command.env("LATLAS_DATA_DIR", home.path("elsewhere")));
    assert!(matches!(done.code, 0 | 3), "{}", done.err);
    assert_eq!((count(kept), count(home.path("elsewhere"))), (1, 1));
}

#[test]
fn looks_follow_the_file_where_the_option_means_the_same() {
    let home = Home::with("[look]\nvs = [\"iphone-x\"]\nhuman = true\ncolor = \"always\"\n");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/synthetic.json");
    let shown = home.run(&["show", fixture]);
    assert_eq!(
        (shown.code, shown.err.as_str()),
        (0, ""),
        "nothing is measured"
    );
    for said in ["iphone-x", "1ns=1s", "\u{1b}["] {
        assert!(shown.out.contains(said), "{said:?} not in {}", shown.out);
    }
    let plain = home.run(&["show", fixture, "--color", "never", "--vs", "2012"]);
    assert!(!plain.out.contains('\u{1b}') && !plain.out.contains("iphone-x"));
    let mut command = home.command(&["show", fixture]);
    let quiet = Done::of(command.env("NO_COLOR", "1"));
    assert!(
        !quiet.out.contains('\u{1b}'),
        "the environment beats the file"
    );
    // To exec, --vs is another command.
    let exec = home.run(&["exec", "-r", "2", "--json", "--", "true"]);
    assert!(matches!(exec.code, 0 | 3), "{}", exec.err);
    assert!(!exec.out.contains("iphone-x"));
}

#[test]
fn what_is_for_measuring_is_not_told_where_nothing_is_measured() {
    let home = Home::with("[run]\nscale = \"quick\"\ndir = \"/nowhere\"\n");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/synthetic.json");
    let table = home.run(&["table", "2012", fixture]);
    assert_eq!(table.err, "");
    assert!(table.out.contains("L1"), "{}", table.out);
    let measured = home.run(&["table", "2012", "--measure"]);
    let told = "run.scale = quick, run.dir = /nowhere\n";
    assert!(measured.err.contains(told), "{}", measured.err);
    assert_eq!(measured.code, 2, "there is no such directory");
}

#[test]
fn the_gate_of_the_file_is_one_of_runs_with_a_baseline() {
    let home = Home::with("[gate]\nfail_above = \"400%\"\n");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/synthetic.json");
    let plain = home.run(&["run", "--dry-run", "cpu.add_i32"]);
    assert_eq!((plain.code, plain.err.as_str()), (0, ""));
    // Whether anything can be judged is up to the machine; what would be is told.
    let fail_above = |more: &[&str]| {
        let with = [
            "run",
            "--quick",
            "--json",
            "--baseline",
            fixture,
            "cpu.add_i32",
        ];
        let done = home.run(&[&with[..], more].concat());
        let both: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        both["gate"]["fail_above"].clone()
    };
    assert_eq!(fail_above(&[]), 4.0);
    assert_eq!(fail_above(&["--fail-above", "300%"]), 3.0);
}

#[test]
fn controls_are_those_of_the_file() {
    let home = Home::with("controls.nice = 5\n[run]\nscale = \"quick\"\n");
    let run = home.measured(&[]);
    let applied = run["conditions"].to_string();
    assert!(applied.contains("\"nice\":5"), "{applied}");
    let done = home.run(&["exec", "-r", "2", "--json", "--", "true"]);
    assert!(done.err.contains("controls.nice = 5"), "{}", done.err);
    assert!(done.out.contains("\"nice\":5"), "{}", done.out);
}

#[test]
fn mistakes_are_told_with_their_line_and_break_nothing_that_does_not_read() {
    for (text, said) in [
        (
            "[run]\npinn = 2\n",
            "config.toml:2: there is no key \"pinn\"; did you mean pin?",
        ),
        (
            "\n[run]\nbudget = \"soon\"\n",
            "config.toml:3: run.budget: \"soon\"",
        ),
        (
            "controls.nice = 99\n",
            "config.toml:1: controls.nice: \"99\": 99 is not in -20..=19",
        ),
        ("[look]\nwide = 1\n", "config.toml:2: invalid type"),
        (
            "[run]\ndir = \"here\"\n",
            "config.toml:2: run.dir: \"here\" is no absolute path",
        ),
        ("[gate]\nmargin = \"0%\"\n", "config.toml:2: gate.margin"),
    ] {
        let home = Home::with(text);
        home.run(&["list"]).refused(said);
        home.run(&["config", "show"]).refused(said);
        for fine in [
            &["--no-config", "list"][..],
            &["config", "path"],
            &["man"],
            &["completions", "bash"],
        ] {
            assert_eq!(home.run(fine).code, 0, "{fine:?} {text}");
        }
    }
    let home = Home::new();
    home.run(&["--config", "absent.toml", "list"])
        .refused("no configuration absent.toml");
    home.run(&["--config", ".", "list"])
        .refused("can't read the configuration .");
    let both = home.run(&["list", "--config", "a", "--no-config"]);
    assert_eq!(both.code, 2);
}

#[test]
fn a_home_that_is_none_has_no_configuration_and_one_that_is_unreadable_is_told() {
    let home = Home::new();
    for nowhere in ["/dev/null", "/nonexistent"] {
        let mut command = home.command(&["list", "cpu.add_i32"]);
        let done = Done::of(command.env("XDG_CONFIG_HOME", nowhere));
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{nowhere}");
    }
    // What is there and is no file of text can't be passed over.
    std::fs::create_dir_all(home.file()).expect("a directory");
    home.run(&["list"]).refused("can't read the configuration");
}

#[test]
fn options_of_latlas_alone_are_not_lost_before_a_command() {
    let done = Home::new().run(&["--quick", "list"]);
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    assert!(
        done.err.contains("'list' cannot be used with '--quick'"),
        "{}",
        done.err
    );
}

#[test]
fn show_tells_where_each_value_comes_from() {
    let home = Home::with("[run]\n\npin = 0\n");
    let shown = |environment: Option<&str>| {
        let mut command = home.command(&["config", "show", "--json"]);
        if let Some(directory) = environment {
            command.env("LATLAS_DATA_DIR", directory);
        }
        let done = Done::of(&mut command);
        assert_eq!(done.code, 0, "{}", done.err);
        let all: Vec<serde_json::Value> = serde_json::from_str(&done.out).expect("JSON");
        move |key: &str| {
            let found = all.iter().find(|one| one["key"] == key);
            found.cloned().unwrap_or_else(|| panic!("no {key}"))
        }
    };
    let of = shown(None);
    assert_eq!(
        (&of("run.pin")["value"], &of("run.pin")["from"]),
        (&"0".into(), &"file".into())
    );
    assert_eq!(of("run.pin")["line"], 3);
    let commands = of("run.pin")["commands"].to_string();
    assert!(
        commands.contains("\"latlas run\"") && !commands.contains("exec"),
        "{commands}"
    );
    assert_eq!(
        (&of("gate.margin")["value"], &of("gate.margin")["from"]),
        (&"5%".into(), &"built in".into())
    );
    let built_in = of("data_dir")["value"].to_string();
    assert!(built_in.contains("share/latlas"), "{built_in}");
    let of = shown(Some("/elsewhere"));
    let dir = of("data_dir");
    assert_eq!(
        (&dir["value"], &dir["from"]),
        (&"/elsewhere".into(), &"environment".into())
    );
    let text = home.run(&["config", "show"]).out;
    assert!(
        text.lines()
            .any(|line| line.contains("run.pin") && line.ends_with("line 3")),
        "{text}"
    );
}

#[test]
fn init_writes_an_example_once() {
    let home = Home::new();
    let done = home.run(&["config", "init"]);
    assert_eq!(
        (done.code, done.out.trim_end()),
        (0, home.file().to_str().expect("UTF-8"))
    );
    let text = std::fs::read_to_string(home.file()).expect("an example");
    assert!(text.contains("# pin = "));
    std::fs::write(home.file(), "# mine\n").expect("written");
    home.run(&["config", "init"]).refused("is kept as it is");
    assert_eq!(
        std::fs::read_to_string(home.file()).expect("kept"),
        "# mine\n"
    );
    home.run(&["config", "init", "--no-config"])
        .refused("no configuration is looked for");
    home.run(&["config", "init", "--config", "/dev/null/x"])
        .refused("/dev/null");
}

#[test]
fn the_schema_is_that_of_the_docs() {
    let done = Home::with("broken").run(&["config", "schema"]);
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config-schema.json");
    assert_eq!(done.out, std::fs::read_to_string(docs).expect("docs"));
}

#[test]
fn a_broken_file_keeps_no_value_of_the_system_from_being_put_back_or_seen() {
    for (text, said) in [
        (
            "[run]\npinn = 2\n",
            "config.toml:2: there is no key \"pinn\"",
        ),
        (
            "\n[run]\nbudget = \"soon\"\n",
            "config.toml:3: run.budget: \"soon\"",
        ),
        ("[run\n", "config.toml:1: "),
    ] {
        let home = Home::with(text);
        std::fs::create_dir_all(home.path("tree/proc/sys/kernel/random")).expect("a directory");
        let boot = home.path("tree/proc/sys/kernel/random/boot_id");
        std::fs::write(boot, "boot-1\n").expect("written");
        let tree = home.path("tree");
        let tree = tree.to_str().expect("text");
        for arguments in [
            &["noise", "restore", "--root", tree][..],
            &["noise", "show", "--root", tree],
        ] {
            let mut command = home.command(arguments);
            let done = Done::of(command.env("LATLAS_STATE_DIR", home.path("state")));
            assert!(matches!(done.code, 0 | 3), "{arguments:?} {}", done.err);
            assert!(!done.out.is_empty(), "{arguments:?} {}", done.err);
            assert_eq!(done.err.lines().count(), 1, "{}", done.err);
            assert!(done.err.starts_with("latlas: warning: "), "{}", done.err);
            assert!(done.err.contains(said), "{said:?} not in {}", done.err);
        }
        for fine in [
            &["--help"][..],
            &["--version"],
            &["noise", "restore", "--help"],
        ] {
            assert_eq!(home.run(fine).code, 0, "{fine:?} {text}");
        }
        home.run(&["noise", "tune", "--dry-run"]).refused(said);
    }
}
