//! `latlas noise show`, on made-up machines and on the one below.

mod copied;

use noise::machines::{self, Machine};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_latlas");

fn written(machine: &Machine) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    machine.write_below(root.path()).expect("a tree");
    root
}

/// Text and exit code on a made-up machine.
fn shown(machine: &Machine, options: &[&str]) -> (String, i32) {
    let root = written(machine);
    let output = Command::new(BINARY)
        .args(["noise", "show", "--root"])
        .arg(root.path())
        .args(options)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (text, output.status.code().expect("no signal"))
}

#[test]
fn every_made_up_machine_has_its_page() {
    for machine in machines::all() {
        let (text, code) = shown(&machine, &[]);
        let advice = !text.contains("advice: nothing");
        assert_eq!(code, if advice { 3 } else { 0 }, "{}", machine.name);
        insta::assert_snapshot!(machine.name, text);
    }
}

#[test]
fn only_the_quiet_machine_needs_nothing() {
    let done: Vec<&str> = machines::all()
        .iter()
        .filter(|machine| shown(machine, &[]).1 == 0)
        .map(|machine| machine.name)
        .collect();
    assert_eq!(done, ["quiet"]);
}

/// Nothing to do is something else than nothing seen.
#[test]
fn where_nothing_can_be_seen_nothing_is_said_to_be_well() {
    let empty = tempfile::tempdir().expect("a directory");
    let output = Command::new(BINARY)
        .args(["noise", "show", "--root"])
        .arg(empty.path())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let page = text(&output.stdout);
    assert!(page.contains("nothing can be seen here"), "{page}");
    assert!(!page.contains("could do better"), "{page}");
}

#[test]
fn every_control_has_a_title_a_source_and_a_way() {
    insta::assert_snapshot!("wide", shown(&machines::intel(), &["--wide"]).0);
}

#[test]
fn no_colour_unless_it_is_asked_for() {
    let plain = shown(&machines::intel(), &[]).0;
    let coloured = shown(&machines::intel(), &["--color", "always"]).0;
    assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}[33m!"));
}

#[test]
fn a_tree_that_is_not_there_is_refused() {
    let output = Command::new(BINARY)
        .args(["noise", "show", "--root", "/no/such/tree"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert_eq!(
        text(&output.stderr),
        "latlas: there is no directory /no/such/tree\n"
    );
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command; `None`, and said so, where this system can't.
fn run(words: &[&str]) -> Option<Output> {
    match Command::new(words[0]).args(&words[1..]).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: {}: {error}", words[0]);
            None
        }
    }
}

/// Whether a command works here at all.
fn works(words: &[&str]) -> bool {
    let Some(output) = run(words) else {
        return false;
    };
    if !output.status.success() {
        eprintln!("SKIPPED: {words:?}: {}", text(&output.stderr).trim());
    }
    output.status.success()
}

/// The document of the real machine, from latlas started by another command.
fn document(wrapper: &[&str]) -> Value {
    let words: Vec<&str> = [wrapper, &[BINARY, "noise", "show", "--json"]].concat();
    let output = run(&words).expect("it runs");
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        text(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn value(document: &Value, id: &str) -> Option<String> {
    let controls = document["controls"].as_array().expect("controls");
    let control = controls.iter().find(|control| control["id"] == id);
    let now = &control.unwrap_or_else(|| panic!("no {id}"))["now"]["value"];
    now.as_str().map(str::to_owned)
}

/// CPUs of a mask, counted another way than in latlas: by its digits.
fn digits(mask: &str) -> Vec<u32> {
    let digits: Vec<u32> = mask
        .chars()
        .filter(|c| *c != ',')
        .map(|c| c.to_digit(16).expect("a hexadecimal digit"))
        .collect();
    (0..digits.len() as u32 * 4)
        .filter(|cpu| digits[digits.len() - 1 - *cpu as usize / 4] >> (cpu % 4) & 1 == 1)
        .collect()
}

/// CPUs of a text such as `CPUs 0-2, 5`.
fn named(text: &str) -> Vec<u32> {
    let list = text.trim_start_matches("CPUs ").trim_start_matches("CPU ");
    list.split(", ")
        .flat_map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.parse::<u32>().expect("a CPU");
            number(from)..=number(to)
        })
        .collect()
}

/// The real machine: what is shown is what cat(1) sees. Somebody may change a
/// value between the two; then it is looked at again.
#[test]
fn what_is_shown_is_what_the_files_hold() {
    let on_off = |text: &str| {
        if text == "0" {
            "off".to_owned()
        } else {
            "on".to_owned()
        }
    };
    let chosen = |text: &str| {
        let word = text.split_whitespace().find(|word| word.starts_with('['));
        word.unwrap_or_default().trim_matches(['[', ']']).to_owned()
    };
    let as_is = |text: &str| text.to_owned();
    let cpus = |text: &str| format!("{:?}", digits(text));
    type Reading<'a> = (&'a str, &'a str, &'a dyn Fn(&str) -> String);
    let files: [Reading; 13] = [
        (
            "sample-rate",
            "/proc/sys/kernel/perf_event_max_sample_rate",
            &as_is,
        ),
        (
            "perf-cpu-time",
            "/proc/sys/kernel/perf_cpu_time_max_percent",
            &as_is,
        ),
        (
            "perf-paranoid",
            "/proc/sys/kernel/perf_event_paranoid",
            &as_is,
        ),
        ("nmi-watchdog", "/proc/sys/kernel/nmi_watchdog", &on_off),
        ("soft-watchdog", "/proc/sys/kernel/soft_watchdog", &on_off),
        (
            "timer-migration",
            "/proc/sys/kernel/timer_migration",
            &on_off,
        ),
        ("numa-balancing", "/proc/sys/kernel/numa_balancing", &on_off),
        (
            "autogroup-enabled",
            "/proc/sys/kernel/sched_autogroup_enabled",
            &on_off,
        ),
        (
            "thp",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            &chosen,
        ),
        (
            "thp-defrag",
            "/sys/kernel/mm/transparent_hugepage/defrag",
            &chosen,
        ),
        (
            "khugepaged",
            "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
            &on_off,
        ),
        (
            "default-irq-affinity",
            "/proc/irq/default_smp_affinity",
            &cpus,
        ),
        (
            "workqueues",
            "/sys/devices/virtual/workqueue/cpumask",
            &cpus,
        ),
    ];
    for (id, path, meaning) in files {
        const TRIES: u32 = 5;
        let mut seen = Vec::new();
        for _ in 0..TRIES {
            let before = cat(path);
            let shown = value(&document(&[]), id);
            let shown = match shown {
                Some(text) if text.starts_with("CPU") => Some(format!("{:?}", named(&text))),
                other => other,
            };
            seen.push((before.as_deref().map(meaning), shown));
            if before == cat(path) {
                break;
            }
        }
        let (file, shown) = seen.pop().expect("one look");
        if file.is_none() {
            eprintln!("SKIPPED: there is no {path} here");
        }
        assert_eq!(shown, file, "{id}");
    }
}

/// The masks of single interrupts, which /proc/interrupts counts too.
#[test]
fn interrupts_are_told_one_by_one() {
    const TRIES: u32 = 5;
    let mut differing = Vec::new();
    for _ in 0..TRIES {
        let document = document(&[]);
        let controls = document["controls"].as_array().expect("controls");
        let irqs = controls
            .iter()
            .find(|control| control["id"] == "irq-affinity");
        let empty = Vec::new();
        let parts = irqs.expect("listed")["parts"].as_array().unwrap_or(&empty);
        if parts.is_empty() {
            eprintln!("SKIPPED: less than two interrupts can be placed here");
            return;
        }
        differing = parts
            .iter()
            .filter(|part| {
                let path = part["path"].as_str().expect("a path");
                cat(path).as_deref() != part["value"].as_str()
            })
            .cloned()
            .collect();
        // Somebody may place them at this moment.
        if differing.is_empty() {
            return;
        }
    }
    panic!("{differing:?}");
}

fn cat(path: &str) -> Option<String> {
    let output = Command::new("cat").arg(path).output().expect("cat");
    output
        .status
        .success()
        .then(|| text(&output.stdout).trim().to_owned())
}

/// What the process itself has is what it was given by nice(1), taskset(1) and
/// chrt(1).
#[test]
fn what_a_process_was_given_is_shown() {
    let given = [
        "nice", "-n", "7", "taskset", "-c", "0", "chrt", "--batch", "0",
    ];
    if !works(&[&given[..], &["true"]].concat()) {
        return;
    }
    let document = document(&given);
    assert_eq!(value(&document, "nice").as_deref(), Some("7"));
    assert_eq!(value(&document, "policy").as_deref(), Some("SCHED_BATCH"));
    let affinity = value(&document, "affinity").expect("known");
    assert!(
        affinity == "CPU 0" || affinity.starts_with("CPU 0;"),
        "{affinity}"
    );
    if !works(&["chrt", "--fifo", "3", "true"]) {
        return;
    }
    let document = self::document(&["chrt", "--fifo", "3"]);
    assert_eq!(
        value(&document, "policy").as_deref(),
        Some("SCHED_FIFO, priority 3")
    );
}

/// The binary where everybody may run it.
fn public_copy() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/tmp").expect("a directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("a mode");
    let copy = directory.path().join("latlas");
    copied::latlas_to(&copy);
    (directory, copy)
}

#[test]
fn nobody_sees_nearly_all_of_it_and_is_told_what_root_could_do() {
    let nobody = [
        "setpriv",
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
    ];
    if !works(&[&nobody[..], &["true"]].concat()) {
        return;
    }
    let (_directory, copy) = public_copy();
    let copy = copy.to_string_lossy();
    let show = |options: &[&str]| {
        let words = [&nobody[..], &[&copy, "noise", "show"], options].concat();
        run(&words).expect("it runs")
    };
    let output = show(&["--json"]);
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["root"], false);
    let root = self::document(&[]);
    for control in root["controls"].as_array().expect("controls") {
        let id = control["id"].as_str().expect("a name");
        // A file that only root may read would be a reason to say so.
        assert_eq!(
            value(&document, id).is_some(),
            control["now"]["value"].is_string(),
            "{id}"
        );
    }
    for advice in document["advice"].as_array().expect("advice") {
        let (who, command) = (&advice["who"], advice["command"].as_str().expect("text"));
        assert_eq!(who == "root", command.starts_with("sudo "), "{command}");
    }
}

#[test]
fn without_proc_and_sys_it_says_so_and_ends_well() {
    let hidden = |directories: &[&str]| {
        let mounts: Vec<String> = directories
            .iter()
            .map(|directory| format!("mount -t tmpfs none {directory}"))
            .collect();
        let script = format!("{} && exec \"$@\"", mounts.join(" && "));
        let words = ["unshare", "--mount", "sh", "-c", &script, "sh"];
        if !works(&[&words[..], &["true"]].concat()) {
            return None;
        }
        run(&[&words[..], &[BINARY, "noise", "show"]].concat())
    };
    let Some(output) = hidden(&["/proc", "/sys"]) else {
        return;
    };
    let page = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(3),
        "{page}{}",
        text(&output.stderr)
    );
    assert!(page.contains("nothing can be seen here"), "{page}");
    assert!(page.contains("! there is no /proc here"), "{page}");
    assert!(page.contains("! there is no /sys here"), "{page}");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));

    let output = hidden(&["/proc"]).expect("as before");
    let page = text(&output.stdout);
    assert!(
        page.contains("there is no /proc here") && !page.contains("! there is no /sys"),
        "{page}"
    );
}

#[test]
fn a_sys_for_reading_only_is_no_place_for_advice() {
    // A bind mount of its own, so that nobody else's /sys changes.
    let script = "mount --bind /sys /sys && mount -o remount,bind,ro /sys && exec \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", script, "sh"];
    if !works(&[&words[..], &["true"]].concat()) {
        return;
    }
    let document = document(&words);
    for control in document["controls"].as_array().expect("controls") {
        let source = control["now"]["source"].as_str().unwrap_or_default();
        let settable = control["tuned"] != "never" && control["wanted"].is_object();
        if settable && source.starts_with("/sys/") {
            assert_eq!(
                control["hindrance"]["kind"], "read_only",
                "{}",
                control["id"]
            );
        }
        let mode = std::fs::metadata(source).map_or(0, |file| file.permissions().mode());
        let open = mode & 0o222 != 0 && document["root"] == true;
        if settable && open && source.starts_with("/proc/") {
            assert!(control["hindrance"].is_null(), "{}", control["id"]);
        }
    }
    for advice in document["advice"].as_array().expect("advice") {
        let about = advice["controls"].as_array().expect("names");
        assert!(
            !about
                .iter()
                .any(|id| id == "workqueues" || id == "khugepaged"),
            "{advice}"
        );
    }
}

/// Of what a chroot(2) into a bare directory leaves: the program with its
/// libraries.
#[test]
fn in_a_bare_chroot_it_runs() {
    let root = tempfile::tempdir().expect("a directory");
    let Some(listed) = run(&["ldd", BINARY]) else {
        return;
    };
    let listed = text(&listed.stdout);
    let libraries = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for path in libraries.chain([BINARY]) {
        let at = match path == BINARY {
            true => root.path().join("latlas"),
            false => root.path().join(path.trim_start_matches('/')),
        };
        std::fs::create_dir_all(at.parent().unwrap_or(Path::new("/"))).expect("a directory");
        match path == BINARY {
            true => copied::latlas_to(&at),
            false => drop(std::fs::copy(path, at).expect("a copy")),
        }
    }
    let into = root.path().to_string_lossy().into_owned();
    let output = run(&["chroot", &into, "/latlas", "--version"]).expect("chroot");
    if !output.status.success() {
        eprintln!("SKIPPED: no chroot here: {}", text(&output.stderr).trim());
        return;
    }
    let output = run(&["chroot", &into, "/latlas", "noise", "show"]).expect("chroot");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("there is no /proc here"));
}

#[test]
fn what_a_tune_left_is_said_first_of_all() {
    let state = tempfile::tempdir().expect("a directory");
    let shown = || {
        let output = Command::new(BINARY)
            .args(["noise", "show", "--json"])
            .env("LATLAS_STATE_DIR", state.path())
            .output()
            .expect("it runs");
        let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (shown["pending"].clone(), output.status.code())
    };
    assert_eq!(shown().0, Value::Null);
    std::fs::write(state.path().join("journal"), "").expect("written");
    let (pending, code) = shown();
    let pending = pending.as_str().expect("a sentence");
    assert!(pending.contains("latlas noise restore"), "{pending}");
    assert_eq!(code, Some(3));
}
