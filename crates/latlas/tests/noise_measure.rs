//! `latlas noise measure` as a program: what it prints, writes and refuses.
//! It really spins here, for a tenth of a second; no figure is asserted.

use assert_cmd::Command;
use serde_json::Value;

/// Exit code, stdout, stderr.
fn measure(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("latlas").expect("the binary");
    let command = command.args(["noise", "measure"]).args(arguments);
    let output = command.env_remove("NO_COLOR").output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().expect("an exit code");
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn the_document_adds_up_and_is_written_too() {
    let dir = tempfile::tempdir().expect("tempdir");
    let file = dir.path().join("gaps.json");
    let path = file.to_str().expect("UTF-8");
    let (code, out, err) = measure(&["--for", "150ms", "--json", "--out", path]);
    assert!([0, 3].contains(&code), "{code}: {err}");
    assert_eq!(out, std::fs::read_to_string(&file).expect("written"));
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(document["asked_ms"], 150);
    let cpus = document["cpus"].as_array().expect("CPUs");
    assert_eq!(cpus.len(), 1);
    let gaps = &cpus[0];
    let number = |value: &Value| value.as_u64().expect("a number");
    assert!(number(&gaps["span_ns"]) >= 150_000_000);
    let causes = gaps["causes"].as_array().expect("causes");
    let sum: u64 = causes.iter().map(|cause| number(&cause["lost_ns"])).sum();
    assert_eq!(sum, number(&gaps["lost_ns"]));
    assert_eq!(gaps["stretches"].as_array().expect("stretches").len(), 80);
}

#[test]
fn every_cpu_has_its_picture() {
    let allowed = sys::allowed_cpus().unwrap_or_default();
    if allowed.is_empty() {
        return eprintln!("SKIPPED: threads can't be kept on CPUs here");
    }
    let (code, out, err) = measure(&["--for", "100ms", "--all-cpus"]);
    assert!([0, 3].contains(&code), "{code}: {err}");
    for cpu in &allowed {
        assert!(
            out.contains(&format!("CPU {cpu}: a thread that only spins")),
            "{out}"
        );
    }
    assert_eq!(out.contains("at the same time"), allowed.len() > 1);
    assert!(!out.contains('\x1b'));
    let (_, colored, _) = measure(&["--for", "100ms", "--color", "always"]);
    // Without a gap in a tenth of a second there is nothing to colour.
    assert_eq!(
        colored.contains("by cause"),
        colored.contains("\x1b["),
        "{colored}"
    );
}

#[test]
fn what_can_not_be_is_refused_in_one_line() {
    for (arguments, words) in [
        (&["--cpu", "8000"][..], "CPU 8000 can't be used"),
        (&["--out", "/nowhere/gaps.json"], "/nowhere/gaps.json"),
        (&["--for", "1h"], "give 100ms to 10m"),
        (&["--cpu", "0", "--all-cpus"], "cannot be used with"),
    ] {
        let (code, out, err) = measure(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

#[test]
fn an_interrupt_keeps_what_was_seen() {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("latlas"));
    let child = command
        .args(["noise", "measure", "--for", "10m"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let id = child.id().to_string();
    // Until it has spun for a second, whenever that is.
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let behind_the_name = stat.rsplit(')').next().unwrap_or("");
        let user = behind_the_name.split_whitespace().nth(11);
        user.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    for _ in 0..6000 {
        if ticks() >= 100 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(killed.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.starts_with("PARTIAL: interrupted"), "{text}");
    assert!(text.contains("a thread that only spins lost"), "{text}");
}
