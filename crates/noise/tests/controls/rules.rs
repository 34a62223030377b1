//! Rules that hold on every made-up machine.

use super::{CPUS, USER, advised, control_by_id, facts, shown, shown_in, written};
use model::noise::control::{Controls, HindranceKind, Privilege, Tuned, ValueState};
use noise::control::{changes, documentation, inspect_controls, quiet_by_default, tunable};
use noise::machines::{self, MachineFiles};
use std::collections::{BTreeMap, BTreeSet};
use sys::files::Files;
use sys::files::Tree;

/// Every control that tune would change is shown as improvable with the same
/// name, and the other way round.
#[test]
fn show_and_tune_agree_on_every_machine() {
    for machine in machines::all_machines() {
        let root = written(&machine);
        let tree = Tree::new(root.path());
        let quiet = quiet_by_default(&tree);
        let steps = changes(&tree, &[], &quiet).expect("the default set");
        let controls = shown(&machine);
        for control in &controls.controls {
            let written = steps.iter().any(|step| step.control == control.id);
            let noteworthy =
                control.state == ValueState::Improvable && control.tuned == Tuned::ByDefault;
            assert_eq!(written, noteworthy, "{} on {}", control.id, machine.name);
        }
        // What show says of a file is what is to be written into it.
        for step in &steps {
            let (path, wanted) = (&step.path, &step.wanted);
            assert!(tree.exists(path), "{path}");
            let control = control_by_id(&controls, &step.control);
            let part = control.parts.iter().find(|part| part.path == *path);
            let command = control.setting.as_ref().map(|s| s.command.as_str());
            match part {
                Some(part) => assert_eq!(part.wanted.as_ref(), Some(wanted), "{path}"),
                None => {
                    let command = command.expect("a way");
                    let said = command.starts_with(&format!("echo {wanted} | "));
                    assert!(said && command.contains(path), "{command}");
                }
            }
        }
    }
}

/// Whatever could be better and can be done is advice, and nothing else is.
#[test]
fn advice_is_complete() {
    for machine in machines::all_machines() {
        let controls = shown(&machine);
        for control in &controls.controls {
            let kept =
                control.hindrance.as_ref().is_some_and(|h| h.kind != HindranceKind::NoPrivilege);
            let to_do = control.state == ValueState::Improvable && !kept;
            let noteworthy = advised(&controls).contains(&control.id.as_str());
            assert_eq!(noteworthy, to_do, "{} on {}", control.id, machine.name);
        }
    }
}

#[test]
fn tune_writes_the_good_values_of_show() {
    for machine in machines::all_machines() {
        let root = written(&machine);
        let tree = Tree::new(root.path());
        let quiet = quiet_by_default(&tree);
        let every: Vec<String> = tunable().iter().map(|(id, _)| (*id).to_owned()).collect();
        for step in changes(&tree, &every, &quiet).expect("known") {
            // As the kernel would: the chosen word of a list in brackets.
            let old = tree.read(&step.path).expect("readable");
            let new = match old.contains('[') {
                false => step.wanted.clone(),
                true => old
                    .replace(['[', ']'], "")
                    .split(' ')
                    .map(|word| match word == step.wanted {
                        true => format!("[{word}]"),
                        false => word.to_owned(),
                    })
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            tree.write(&step.path, &new).expect("a file");
        }
        let again = changes(&tree, &every, &quiet).expect("known");
        assert_eq!(again, [], "{}", machine.name);
    }
}

/// The running system's own files, as far as this test is concerned.
struct Own(Tree);

impl Files for Own {
    fn read(&self, path: &str) -> std::io::Result<String> {
        self.0.read(path)
    }
    fn write(&self, path: &str, text: &str) -> std::io::Result<()> {
        self.0.write(path, text)
    }
    fn exists(&self, path: &str) -> bool {
        self.0.exists(path)
    }
    fn names(&self, path: &str) -> Vec<String> {
        self.0.names(path)
    }
    fn is_the_systems(&self) -> bool {
        true
    }
}

/// By its group, or since its owner was changed.
#[test]
fn who_may_write_a_file_needs_no_root_for_it() {
    let root = written(&machines::intel().with_file("/proc/self/status", USER));
    let own = Own(Tree::new(root.path()));
    let controls = inspect_controls(&own, &facts(root.path()), None, &mut || ());
    let thp = control_by_id(&controls, "thp");
    assert_eq!(thp.hindrance, None);
    let setting = thp.setting.as_ref().expect("a way");
    assert_eq!(setting.who, Privilege::AnyUser);
    assert!(!setting.command.contains("sudo"), "{}", setting.command);
    // tune is root's all the same.
    let tune = controls.advice.iter().find(|advice| advice.controls.contains(&"thp".to_owned()));
    let tune = tune.expect("advice");
    assert_eq!(tune.who, Privilege::Root);
    assert!(tune.command.starts_with("sudo latlas noise tune"));
}

#[test]
fn without_proc_and_sys_everything_says_so() {
    let empty = tempfile::tempdir().expect("a directory");
    let controls = shown_in(empty.path());
    assert_eq!(controls.advice, []);
    assert!(!controls.sees());
    assert!(controls.notes.iter().any(|note| note.contains("no /proc")));
    assert!(controls.notes.iter().any(|note| note.contains("no /sys")));
    for control in &controls.controls {
        assert_eq!(control.state, ValueState::Unknown, "{}", control.id);
        assert!(control.now.unknown.is_some(), "{}", control.id);
    }
    let root = Tree::new(empty.path());
    assert_eq!(changes(&root, &[], &[0]), Ok(vec![]));
}

#[test]
fn the_document_can_be_read_back() {
    for machine in machines::all_machines() {
        let controls = shown(&machine);
        let text = serde_json::to_string(&controls).expect("JSON");
        let back: Controls = serde_json::from_str(&text).expect("the document");
        assert_eq!(back, controls, "{}", machine.name);
    }
}

#[test]
fn parts_are_listed_one_by_one() {
    let acpi = shown(&machines::acpi());
    let parts = &control_by_id(&acpi, "governor").parts;
    let last = parts.last().expect("four policies");
    assert_eq!(parts.len(), 4);
    assert_eq!(last.path, format!("{CPUS}/cpufreq/policy3/scaling_governor"));
    assert_eq!((last.value.as_deref(), last.wanted.as_deref()), (Some("performance"), None));
    assert_eq!(parts[0].wanted.as_deref(), Some("performance"));
}

/// The page has the table of [`documentation`]; with `LATLAS_BLESS` it is
/// rewritten.
#[test]
fn the_page_in_docs_has_the_table_of_the_controls() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/noise/controls.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let start = page.find("| control |").expect("a table");
    let end = start + page[start..].find("\n\n").expect("an end") + 1;
    let table = documentation();
    if std::env::var_os("LATLAS_BLESS").is_some() {
        let page = format!("{}{table}{}", &page[..start], &page[end..]);
        std::fs::write(path, page).expect("written");
        return;
    }
    assert_eq!(&page[start..end], table, "run with LATLAS_BLESS=1");
}

/// Kernels write the empty set in several ways; what is no list is not good.
#[test]
fn no_isolated_cpus_however_the_kernel_writes_it() {
    for (text, value, state) in [
        ("\n", Some("none"), ValueState::Information),
        ("\0\n", Some("none"), ValueState::Information),
        ("                (null)\n", Some("none"), ValueState::Information),
        ("1-3,5\n\0", Some("CPUs 1-3,5"), ValueState::Good),
        ("yes\n", None, ValueState::Unknown),
    ] {
        let machine = machines::intel()
            .with_file(&format!("{CPUS}/isolated"), text)
            .with_file(&format!("{CPUS}/nohz_full"), text);
        let controls = shown(&machine);
        for id in ["isolcpus", "nohz-full"] {
            let control = control_by_id(&controls, id);
            assert_eq!(control.now.value.as_deref(), value, "{id} {text:?}");
            assert_eq!(control.state, state, "{id} {text:?}");
        }
    }
}

/// Lists of threads that end in a zero byte, and cores that differ by binning.
#[test]
fn the_quiet_core_is_whole_and_of_the_fastest() {
    let quiet = |list: &str, capacities: [&str; 4]| {
        let mut machine =
            MachineFiles { name: "cores", files: BTreeMap::new(), fixed: BTreeSet::new() }
                .with_file(&format!("{CPUS}/online"), "0-3\n");
        for (cpu, capacity) in capacities.iter().enumerate() {
            let threads = list.replace('A', &(cpu % 2).to_string());
            let threads = threads.replace('B', &(cpu % 2 + 2).to_string());
            let directory = format!("{CPUS}/cpu{cpu}");
            machine = machine
                .with_file(&format!("{directory}/topology/thread_siblings_list"), &threads)
                .with_file(&format!("{directory}/cpu_capacity"), capacity);
        }
        quiet_by_default(&Tree::new(written(&machine).path()))
    };
    let alike = ["1024"; 4];
    assert_eq!(quiet("A,B\n\0", alike), [1, 3]);
    assert_eq!(quiet("\0\n", alike), [3]);
    assert_eq!(quiet("(null)\n", alike), [3]);
    let binned = ["1024", "1011", "1007", "1015"];
    assert_eq!(quiet("A,B\n", binned), [1, 3], "the fastest alone would be CPU 0");
    let prime = ["1024", "871", "871", "871"];
    assert_eq!(quiet("A,B\n", prime), [0, 2]);
}
