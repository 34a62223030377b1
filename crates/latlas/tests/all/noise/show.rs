//! `latlas noise show`, on made-up machines and on this one.

use crate::support::processes::{copy_program, is_root};
use crate::support::{Done, Home, PROGRAM, has, json, lacks, skip};
use noise::machines::{self, MachineFiles};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// A made-up machine as `tree` in a home.
fn home_of(machine: &MachineFiles) -> Home {
    let home = Home::new();
    let tree = home.path("tree");
    std::fs::create_dir(&tree).expect("a directory");
    machine.write_below(&tree).expect("a tree");
    home
}

fn shown(machine: &MachineFiles, options: &str) -> Done {
    let done = home_of(machine).run(format!("noise show --root tree {options}"));
    assert_eq!(done.err, "");
    done
}

#[test]
fn every_made_up_machine_has_its_page() {
    for machine in machines::all_machines() {
        let done = shown(&machine, "");
        let nothing_to_do = machine.name == "quiet";
        assert_eq!(done.code, if nothing_to_do { 0 } else { 3 });
        assert_eq!(done.out.contains("advice: nothing"), nothing_to_do);
        insta::assert_snapshot!(machine.name, done.out);
    }
}

#[test]
fn every_control_has_a_title_a_source_and_a_command() {
    insta::assert_snapshot!("wide", shown(&machines::intel(), "--wide").out);
}

#[test]
fn colour_is_an_option() {
    lacks(&shown(&machines::intel(), "").out, ["\u{1b}"]);
    let coloured = shown(&machines::intel(), "--color always").out;
    has(&coloured, ["\u{1b}[33m!"]);
}

#[test]
fn a_missing_tree_is_refused() {
    let refused = Home::new().refusals("noise show --root /no/such/tree");
    insta::assert_snapshot!(refused, @r"
    $ latlas noise show --root /no/such/tree
    latlas: no directory /no/such/tree
    ");
}

/// Nothing to do is not the same as nothing seen.
#[test]
fn an_empty_tree_is_not_fine() {
    let home = Home::new();
    std::fs::create_dir(home.path("tree")).expect("a directory");
    let page = home.run("noise show --root tree").ended_with(3).out;
    has(&page, ["advice: none", "! no /proc here", "! no /sys here"]);
}

/// Whether a command works here at all.
fn works(home: &Home, line: &str) -> bool {
    let done = home.launch(line).output().map(Done::from);
    let works = done.as_ref().is_ok_and(|done| done.code == 0);
    if !works {
        skip(format!("{line}: {done:?}"));
    }
    works
}

/// The document of this machine, from latlas started by another command.
fn document_under(home: &Home, wrapper: Vec<&str>) -> Value {
    let mut command = home.wrapped(wrapper, "noise show --json");
    Done::from_command(&mut command).measured().json()
}

fn control<'a>(document: &'a Value, id: &str) -> &'a Value {
    let controls = document["controls"].as_array().expect("controls");
    let found = controls.iter().find(|control| control["id"] == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

fn value(document: &Value, id: &str) -> Option<String> {
    let now = &control(document, id)["now"]["value"];
    now.as_str().map(str::to_owned)
}

fn cat(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// CPUs of a mask as latlas prints them, computed in another way: by its digits.
fn cpus(mask: &str) -> String {
    let digits: Vec<u32> = mask.chars().filter_map(|c| c.to_digit(16)).rev().collect();
    let set = |cpu: usize| digits.get(cpu / 4).is_some_and(|d| d >> (cpu % 4) & 1 == 1);
    let mut ranges: Vec<String> = Vec::new();
    let mut cpu = 0;
    while cpu < digits.len() * 4 {
        let first = cpu;
        while set(cpu) {
            cpu += 1;
        }
        match cpu - first {
            0 => {}
            1 => ranges.push(first.to_string()),
            _ => ranges.push(format!("{first}-{}", cpu - 1)),
        }
        cpu += 1;
    }
    let s = if ranges.len() == 1 && !ranges[0].contains('-') { "" } else { "s" };
    format!("CPU{s} {}", ranges.join(", "))
}

/// What is shown of this machine is what its files contain. Another process may change a
/// value in between; then it is read again.
#[test]
fn values_are_those_of_the_files() {
    let on_off = |text: &str| if text == "0" { "off" } else { "on" }.to_owned();
    let chosen = |text: &str| {
        let word = text.split_whitespace().find(|word| word.starts_with('['));
        word.unwrap_or_default().trim_matches(['[', ']']).to_owned()
    };
    let plain = |text: &str| text.to_owned();
    type ExpectedValue<'a> = (&'a str, String, &'a dyn Fn(&str) -> String);
    let kernel = |file: &str| format!("/proc/sys/kernel/{file}");
    let thp = |file: &str| format!("/sys/kernel/mm/transparent_hugepage/{file}");
    let files: [ExpectedValue; 13] = [
        ("sample-rate", kernel("perf_event_max_sample_rate"), &plain),
        ("perf-cpu-time", kernel("perf_cpu_time_max_percent"), &plain),
        ("perf-paranoid", kernel("perf_event_paranoid"), &plain),
        ("nmi-watchdog", kernel("nmi_watchdog"), &on_off),
        ("soft-watchdog", kernel("soft_watchdog"), &on_off),
        ("timer-migration", kernel("timer_migration"), &on_off),
        ("numa-balancing", kernel("numa_balancing"), &on_off),
        ("autogroup-enabled", kernel("sched_autogroup_enabled"), &on_off),
        ("thp", thp("enabled"), &chosen),
        ("thp-defrag", thp("defrag"), &chosen),
        ("khugepaged", thp("khugepaged/defrag"), &on_off),
        ("default-irq-affinity", "/proc/irq/default_smp_affinity".into(), &cpus),
        ("workqueues", "/sys/devices/virtual/workqueue/cpumask".into(), &cpus),
    ];
    let home = Home::new();
    for (id, path, meaning) in files {
        const TRIES: u32 = 5;
        let mut read = (None, None);
        for _ in 0..TRIES {
            let before = cat(&path);
            read = (before.as_deref().map(meaning), value(&document_under(&home, vec![]), id));
            if before == cat(&path) {
                break;
            }
        }
        if read.0.is_none() {
            skip(format!("no {path}"));
        }
        assert_eq!(read.1, read.0, "{id}");
    }
}

#[test]
fn interrupts_are_listed_with_their_masks() {
    const TRIES: u32 = 5;
    let home = Home::new();
    let mut differing = Vec::new();
    for _ in 0..TRIES {
        let document = document_under(&home, vec![]);
        let irqs = control(&document, "irq-affinity")["parts"].as_array().cloned();
        let Some(irqs) = irqs else {
            return skip("fewer than two movable interrupts");
        };
        differing = irqs;
        differing.retain(|irq| {
            let path = irq["path"].as_str().expect("a path");
            cat(path).as_deref() != irq["value"].as_str()
        });
        // Another process may move them at this moment.
        if differing.is_empty() {
            return;
        }
    }
    panic!("{differing:?}");
}

/// By nice(1), taskset(1) and chrt(1).
#[test]
fn settings_of_the_process_are_shown() {
    let home = Home::new();
    if !works(&home, "nice -n 7 taskset -c 0 chrt --batch 0 true") {
        return;
    }
    let given = "nice -n 7 taskset -c 0 chrt --batch 0".split(' ').collect();
    let batch = document_under(&home, given);
    // `nice` adds, and says to what.
    let said = std::process::Command::new("nice").args(["-n", "7", "nice"]).output();
    let added = String::from_utf8(said.expect("it works").stdout).expect("a number");
    assert_eq!(value(&batch, "nice").as_deref(), Some(added.trim()));
    assert_eq!(value(&batch, "policy").as_deref(), Some("SCHED_BATCH"));
    let affinity = value(&batch, "affinity").expect("known");
    assert!(affinity == "CPU 0" || affinity.starts_with("CPU 0;"), "{affinity}");
    if works(&home, "chrt --fifo 3 true") {
        let fifo = document_under(&home, vec!["chrt", "--fifo", "3"]);
        let policy = value(&fifo, "policy");
        assert_eq!(policy.as_deref(), Some("SCHED_FIFO, priority 3"));
    }
}

#[test]
fn an_ordinary_user_sees_nearly_all_of_it_and_what_root_can_do() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let home = Home::new();
    crate::support::processes::copy_for_all(&home);
    let done = crate::support::processes::as_user(&home, "noise show --json");
    assert_eq!(done.err, "");
    let user = done.json();
    assert_eq!(user["root"], false);
    let root = document_under(&home, vec![]);
    for control in root["controls"].as_array().expect("controls") {
        let id = control["id"].as_str().expect("a name");
        // A file that only root may read would be a reason to say so.
        let known = control["now"]["value"].is_string();
        assert_eq!(value(&user, id).is_some(), known, "{id}");
    }
    for advice in user["advice"].as_array().expect("advice") {
        let (who, command) = (&advice["who"], advice["command"].as_str().expect("text"));
        assert_eq!(who == "root", command.starts_with("sudo "), "{command}");
    }
}

#[test]
fn without_proc_and_sys_it_says_so_and_ends_well() {
    let home = Home::new();
    let hidden = |mounts: &str| {
        let script = format!("{mounts} && exec \"$@\"");
        let unshare = ["unshare", "--mount", "sh", "-c", &script, "sh"];
        Done::from_command(&mut home.wrapped(unshare.to_vec(), "noise show"))
    };
    const NO_PROC: &str = "mount -t tmpfs none /proc";
    const NO_SYS: &str = "mount -t tmpfs none /sys";
    if !works(&home, &format!("unshare --mount sh -c '{NO_SYS}'")) {
        return;
    }
    let done = hidden(&format!("{NO_PROC} && {NO_SYS}")).ended_with(3);
    assert_eq!(done.err, "");
    has(&done.out, ["advice: none", "! no /proc here", "! no /sys here"]);
    let page = hidden(NO_PROC).out;
    has(&page, ["! no /proc here"]);
    lacks(&page, ["! no /sys"]);
}

#[test]
fn a_read_only_sys_gives_no_advice() {
    // A separate bind mount, so that no other /sys changes.
    let script = "mount --bind /sys /sys && mount -o remount,bind,ro /sys && exec \"$@\"";
    let home = Home::new();
    let unshare = vec!["unshare", "--mount", "sh", "-c", script, "sh"];
    let mut probe = home.launch([&unshare[..], &["true"]].concat());
    if Done::from_command(&mut probe).code != 0 {
        return skip("no mounts in a namespace");
    }
    let document = document_under(&home, unshare);
    for control in document["controls"].as_array().expect("controls") {
        let source = control["now"]["source"].as_str().unwrap_or_default();
        let settable = control["tuned"] != "never" && control["wanted"].is_object();
        let hindrance = &control["hindrance"];
        if settable && source.starts_with("/sys/") {
            assert_eq!(hindrance["kind"], "read_only", "{control}");
        }
        let mode = std::fs::metadata(source).map_or(0, |file| file.permissions().mode());
        let open = mode & 0o222 != 0 && document["root"] == true;
        if settable && open && source.starts_with("/proc/") {
            assert!(hindrance.is_null(), "{control}");
        }
    }
    for advice in document["advice"].as_array().expect("advice") {
        let about = advice["controls"].as_array().expect("names");
        let of_sys = |id: &Value| id == "workqueues" || id == "khugepaged";
        assert!(!about.iter().any(of_sys), "{advice}");
    }
}

/// In a chroot(2) with the program and its libraries only.
#[test]
fn in_a_bare_chroot_it_runs() {
    let home = Home::new();
    let Ok(listed) = home.launch(["ldd", PROGRAM]).output().map(Done::from) else {
        return skip("no ldd");
    };
    let libraries = listed.out.split_whitespace().filter(|w| w.starts_with('/'));
    for path in libraries {
        home.write(path.trim_start_matches('/'), std::fs::read(path).expect("a library"));
        let copied = home.path(path.trim_start_matches('/'));
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(copied, open).expect("a mode");
    }
    copy_program(&home.path("latlas"));
    if works(&home, "chroot . /latlas --version") {
        let done = Done::from_command(&mut home.launch("chroot . /latlas noise show"));
        has(&done.ended_with(3).out, ["no /proc here"]);
    }
}

#[test]
fn a_pending_restore_is_shown_first() {
    let home = Home::new();
    let shown = || home.run("noise show --json").measured();
    assert_eq!(shown().json()["pending"], Value::Null);
    home.write("state/journal", "");
    let done = shown().ended_with(3);
    let pending = json(&done.out)["pending"].clone();
    has(pending.as_str().expect("a sentence"), ["latlas noise restore"]);
}
