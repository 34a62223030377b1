//! What shells and readers of manuals get, by the real bash and groff.

use crate::support::{Done, Home, has, skip};
use std::path::Path;
use std::process::{Command, Output};

/// What bash offers after these words, the last of which is being typed.
fn offered(words: &[&str]) -> Option<Vec<String>> {
    let script = Home::new().out("completions bash");
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
        skip("there is no bash");
        return None;
    };
    let done = Done::from(output);
    assert_eq!(done.err, "");
    Some(done.out.lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_rows_commands_and_options() {
    let Some(rows) = offered(&["latlas", "explain", "mem"]) else {
        return;
    };
    assert!(rows.contains(&"memory.latency".to_owned()), "{rows:?}");
    assert!(rows.iter().all(|row| row.starts_with("mem")), "{rows:?}");
    for command in ["run", "history", "plot"] {
        let rows = offered(&["latlas", command, "cpu.add_i3"]).expect("bash");
        assert!(
            rows.contains(&"cpu.add_i32".to_owned()),
            "{command} {rows:?}"
        );
    }
    for (words, expected) in [
        (&["latlas", "comp"][..], &["compare", "completions"][..]),
        (&["latlas", "noise", "tune", "--dr"], &["--dry-run"]),
        (&["latlas", "show", "--color", "al"], &["always"]),
    ] {
        assert_eq!(offered(words).expect("bash"), expected);
    }
}

#[test]
fn every_shell_has_a_script_with_every_row() {
    let home = Home::new();
    let probes = home.json("list --json");
    let probes = probes.as_array().expect("probes").iter();
    let rows = probes.flat_map(|probe| probe["rows"].as_array().expect("rows"));
    let rows: Vec<&str> = rows.map(|row| row.as_str().expect("a name")).collect();
    assert!(rows.len() > 50, "only {} rows", rows.len());
    for shell in ["bash", "zsh", "fish"] {
        let done = home.run(format!("completions {shell}")).silent();
        for row in &rows {
            assert!(done.out.contains(row), "{shell}: no {row}");
        }
    }
    // These two offer commands and options, no values.
    for shell in ["elvish", "powershell"] {
        has(
            &home.out(format!("completions {shell}")),
            ["explain", "--dry-run"],
        );
    }
}

/// What a checker complains of in a page.
fn complaints(program: &str, arguments: &[&str], page: &Path) -> Option<String> {
    let output: Output = Command::new(program)
        .args(arguments)
        .arg(page)
        .output()
        .ok()?;
    let failed = !output.status.success();
    // mandoc complains on stdout, groff on stderr.
    let done = Done::from(output);
    let code = if failed {
        done.code.to_string()
    } else {
        String::new()
    };
    Some(done.out + &done.err + &code)
}

#[test]
fn manual_pages_are_written_and_groff_has_no_complaint() {
    let home = Home::new();
    assert_eq!(home.out("man share/man1"), "");
    let pages = crate::support::entries(&home.path("share/man1"));
    assert!(pages.len() >= 25, "{pages:?}");
    for (program, arguments) in [
        ("groff", &["-man", "-Tutf8", "-ww", "-z"][..]),
        ("mandoc", &["-Tlint", "-Werror"]),
    ] {
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
    assert_eq!(home.read("share/man1/latlas.1"), home.out("man"));
}
