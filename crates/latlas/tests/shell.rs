//! What shells and readers of manuals get, by the real bash and groff.

use std::path::Path;
use std::process::{Command, Output};

fn latlas(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(arguments)
        .output();
    output.expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What bash offers after these words, the last of which is being typed.
fn offered(words: &[&str]) -> Option<Vec<String>> {
    let script = text(&latlas(&["completions", "bash"]).stdout);
    let list: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let last = words.len() - 1;
    let program = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={last}; _latlas latlas '{}' '{}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        list.join(" "),
        words[last],
        words[last - 1],
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &program])
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no bash");
        return None;
    };
    assert_eq!(text(&output.stderr), "");
    Some(text(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_rows_commands_and_options() {
    let Some(rows) = offered(&["latlas", "explain", "mem"]) else {
        return;
    };
    assert!(rows.contains(&"memory.latency".to_owned()), "{rows:?}");
    assert!(rows.iter().all(|row| row.starts_with("mem")), "{rows:?}");
    for words in [
        ["run", "cpu.add_i3"],
        ["history", "cpu.add_i3"],
        ["plot", "cpu.add_i3"],
    ] {
        let rows = offered(&["latlas", words[0], words[1]]).expect("bash");
        assert!(
            rows.contains(&"cpu.add_i32".to_owned()),
            "{words:?} {rows:?}"
        );
    }
    let commands = offered(&["latlas", "comp"]).expect("bash");
    assert_eq!(commands, ["compare", "completions"]);
    let options = offered(&["latlas", "noise", "tune", "--dr"]).expect("bash");
    assert_eq!(options, ["--dry-run"]);
    let colors = offered(&["latlas", "show", "--color", "al"]).expect("bash");
    assert_eq!(colors, ["always"]);
}

#[test]
fn every_shell_has_a_script_with_every_row() {
    let rows: serde_json::Value =
        serde_json::from_slice(&latlas(&["list", "--json"]).stdout).expect("JSON");
    let rows: Vec<&str> = rows
        .as_array()
        .expect("probes")
        .iter()
        .flat_map(|probe| probe["rows"].as_array().expect("rows"))
        .map(|row| row.as_str().expect("a name"))
        .collect();
    assert!(rows.len() > 50, "only {} rows", rows.len());
    for shell in ["bash", "zsh", "fish"] {
        let output = latlas(&["completions", shell]);
        assert!(output.status.success() && output.stderr.is_empty());
        let script = text(&output.stdout);
        for row in &rows {
            assert!(script.contains(row), "{shell}: no {row}");
        }
    }
    // These two offer no values, only commands and options.
    for shell in ["elvish", "powershell"] {
        let script = text(&latlas(&["completions", shell]).stdout);
        assert!(
            script.contains("explain") && script.contains("--dry-run"),
            "{shell}"
        );
    }
    assert_eq!(latlas(&["completions", "cmd"]).status.code(), Some(2));
}

/// What a checker has to say of a page.
fn complaints(program: &str, arguments: &[&str], page: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).arg(page).output();
    match output {
        // mandoc complains on stdout, groff on stderr.
        Ok(output) => {
            let mut said = text(&output.stdout) + &text(&output.stderr);
            if !output.status.success() {
                said += &format!("{}\n", output.status);
            }
            Some(said)
        }
        Err(_) => {
            eprintln!("SKIPPED: there is no {program}");
            None
        }
    }
}

#[test]
fn manual_pages_are_written_whole_and_groff_has_no_complaint() {
    let dir = tempfile::tempdir().expect("a directory");
    let man = dir.path().join("share/man1");
    let output = latlas(&["man", man.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty());
    let mut names: Vec<String> = std::fs::read_dir(&man)
        .expect("pages")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    assert!(names.len() >= 25, "{names:?}");
    assert!(
        names
            .iter()
            .all(|name| name.starts_with("latlas") && name.ends_with(".1"))
    );
    for page in names.iter().map(|name| man.join(name)) {
        for (program, arguments) in [
            ("groff", &["-man", "-Tutf8", "-ww", "-z"][..]),
            ("mandoc", &["-Tlint", "-Werror"]),
        ] {
            if let Some(said) = complaints(program, arguments, &page) {
                assert_eq!(said, "", "{program} {}", page.display());
            }
        }
    }
    let main = std::fs::read(man.join("latlas.1")).expect("the page");
    assert_eq!(main, latlas(&["man"]).stdout);
    let refused = latlas(&["man", "/dev/null/pages"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(text(&refused.stderr).lines().count(), 1);
}
