//! What shells and readers of manuals get, by the real bash and groff.

use crate::support::{Done, Home, PROGRAM, has, skip, there};
use std::path::Path;
use std::process::{Command, Output};

/// What a shell prints that finds latlas in its path; nothing without such a shell.
fn asked(home: &Home, shell: &[&str], program: &str) -> Option<Vec<String>> {
    let directory = Path::new(PROGRAM).parent().expect("a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    if !there(shell[0]) {
        return None;
    }
    let mut command = home.launch([shell, &[program]].concat());
    command.env("PATH", format!("{}:{path}", directory.display()));
    let done = Done::from_command(&mut command);
    assert_eq!(done.err, "", "{program}");
    Some(done.out.lines().map(str::to_owned).collect())
}

/// What bash offers after these words, the last of which is being typed.
fn offered_in(home: &Home, words: &[&str]) -> Option<Vec<String>> {
    let script = home.out("completions bash");
    let list: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let last = words.len() - 1;
    let program = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={last}; _clap_complete_latlas latlas '{}' '{}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        list.join(" "),
        words[last],
        words[last - 1],
    );
    let offered = asked(home, &["bash", "--norc", "-c"], &program)?;
    Some(offered.iter().map(|word| word.trim().to_owned()).collect())
}

fn offered(words: &[&str]) -> Option<Vec<String>> {
    offered_in(&Home::new(), words)
}

#[test]
fn bash_completes_rows_commands_and_options() {
    let Some(rows) = offered(&["latlas", "explain", "mem"]) else {
        return;
    };
    assert!(rows.contains(&"memory.latency".to_owned()), "{rows:?}");
    assert!(rows.iter().all(|row| row.starts_with("mem")), "{rows:?}");
    for command in ["run", "history", "plot", "list", "selftest"] {
        let rows = offered(&["latlas", command, "cpu.add_i3"]).expect("bash");
        assert!(rows.contains(&"cpu.add_i32".to_owned()), "{command} {rows:?}");
    }
    for (words, expected) in [
        (&["latlas", "comp"][..], &["compare", "completions"][..]),
        (&["latlas", "noise", "tune", "--dr"], &["--dry-run"]),
        (&["latlas", "show", "--color", "al"], &["always"]),
        (&["latlas", "table", "a"], &["ash"]),
        (&["latlas", "run", "--vs", "iph"], &["iphone-x"]),
        (&["latlas", "noise", "ab", "irq"], &["irq-affinity"]),
        (&["latlas", "run", "memor"], &["memory"]),
    ] {
        let offered = offered(words).expect("bash");
        assert!(
            expected.iter().all(|one| offered.iter().any(|it| it == one)),
            "{words:?}: {offered:?}"
        );
        let typed = words.last().expect("a word");
        assert!(offered.iter().all(|it| it.starts_with(typed)), "{offered:?}");
    }
}

#[test]
fn every_row_is_offered() {
    let home = Home::new();
    let Some(offered) = offered_in(&home, &["latlas", "explain", ""]) else {
        return;
    };
    let probes = home.json("list --json");
    let probes = probes.as_array().expect("probes").iter();
    let rows = probes.flat_map(|probe| probe["rows"].as_array().expect("rows"));
    let rows: Vec<&str> = rows.map(|row| row.as_str().expect("a name")).collect();
    assert!(rows.len() > 50, "only {} rows", rows.len());
    for row in rows {
        assert!(offered.iter().any(|it| it == row), "no {row}");
    }
}

#[test]
fn stored_runs_and_their_tags_are_offered() {
    let home = Home::with(&[1, 2]);
    home.out("atlas tag last before-update");
    home.write("result.json", "");
    let Some(runs) = offered_in(&home, &["latlas", "show", ""]) else {
        return;
    };
    for name in ["last", "last~1", "before-update", "00000001", "result.json"] {
        assert!(runs.iter().any(|run| run == name), "{name}: {runs:?}");
    }
    let both = offered_in(&home, &["latlas", "compare", "last", "b"]).expect("bash");
    assert_eq!(both[0], "before-update", "stored runs before published machines");
    assert!(both.contains(&"beaglebone-ai-64".to_owned()) && !both.contains(&"last".to_owned()));
    let tags = offered_in(&home, &["latlas", "run", "--baseline", "be"]).expect("bash");
    assert_eq!(tags, ["before-update"]);
    // Where the configuration says that they are.
    home.write("config/latlas/config", format!("--store '{}'\n", home.path("data").display()));
    let program = "LATLAS_DATA_DIR= LATLAS_COMPLETE=bash _CLAP_COMPLETE_INDEX=2 _CLAP_IFS=' ' \
                   latlas -- latlas show bef";
    let tags = asked(&home, &["sh", "-c"], program).expect("sh");
    assert_eq!(tags, ["before-update"]);
}

#[test]
fn fish_asks_latlas() {
    let home = Home::with(&[1]);
    home.write("latlas.fish", home.out("completions fish"));
    for (line, expected) in [
        ("latlas explain cpu.add_i3", "cpu.add_i32"),
        ("latlas show la", "last"),
        ("latlas table kur", "kurkin"),
    ] {
        let program = format!("source latlas.fish; complete -C '{line}'");
        let Some(offered) = asked(&home, &["fish", "--no-config", "-c"], &program) else {
            return;
        };
        let mut names = offered.iter().filter_map(|line| line.split('\t').next());
        assert!(names.any(|name| name == expected), "{line}: {offered:?}");
    }
}

#[test]
fn every_shell_has_a_script() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(format!("completions {shell}")).silent().out;
        has(&script, ["LATLAS_COMPLETE", "latlas"]);
    }
}

/// What a checker complains of in a page.
fn complaints(program: &str, arguments: &[&str], page: &Path) -> Option<String> {
    let output: Output = Command::new(program).args(arguments).arg(page).output().ok()?;
    let failed = !output.status.success();
    // mandoc complains on stdout, groff on stderr.
    let done = Done::from(output);
    let code = if failed { done.code.to_string() } else { String::new() };
    Some(done.out + &done.err + &code)
}

#[test]
fn manual_pages_are_written_and_groff_has_no_complaint() {
    let home = Home::new();
    home.run("man share/man1").refused("no directory share/man1: create it first");
    std::fs::create_dir_all(home.path("share/man1")).expect("made");
    assert_eq!(home.out("man share/man1"), "");
    let pages = crate::support::entries(&home.path("share/man1"));
    assert!(pages.len() >= 25, "{pages:?}");
    for (program, arguments) in
        [("groff", &["-man", "-Tutf8", "-ww", "-z"][..]), ("mandoc", &["-Tlint", "-Werror"])]
    {
        for page in &pages {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            assert!(name.starts_with("latlas") && name.ends_with(".1"), "{name}");
            match complaints(program, arguments, page) {
                Some(complaints) => assert_eq!(complaints, "", "{program} {name}"),
                None => {
                    skip(format!("there is no {program}"));
                    break;
                }
            }
        }
    }
    assert_eq!(home.read_file("share/man1/latlas.1"), home.out("man"));
}
