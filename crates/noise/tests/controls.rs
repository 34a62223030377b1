//! What is said of made-up machines, control by control.

use model::machine::Machine as Facts;
use model::noise::control::{Control, Controls, Kind, State, Tuned, Who};
use noise::control::{changes, quiet_by_default, show, tunable};
use noise::files::Files;
use noise::machines::{self, Machine, process, process_below};
use std::path::Path;
use sys::files::Tree;
use sys::machine::{Live, machine_from};
use tempfile::TempDir;

const CPUS: &str = "/sys/devices/system/cpu";

fn written(machine: &Machine) -> TempDir {
    let root = tempfile::tempdir().expect("a directory");
    machine.write_below(root.path()).expect("a tree");
    root
}

fn facts(root: &Path) -> Facts {
    let live = Live {
        cpuid: None,
        ..Live::here()
    };
    machine_from(root, &live)
}

fn shown(machine: &Machine) -> Controls {
    let root = written(machine);
    show(
        &Tree::new(root.path()),
        &facts(root.path()),
        None,
        &mut || (),
    )
}

fn of<'a>(controls: &'a Controls, id: &str) -> &'a Control {
    let found = controls.controls.iter().find(|control| control.id == id);
    found.unwrap_or_else(|| panic!("there is no control {id}"))
}

fn value<'a>(controls: &'a Controls, id: &str) -> &'a str {
    let control = of(controls, id);
    control
        .now
        .get()
        .unwrap_or_else(|| panic!("{id}: {}", control.now))
}

fn kind(controls: &Controls, id: &str) -> Kind {
    let control = of(controls, id);
    let hindrance = control.hindrance.as_ref();
    hindrance
        .unwrap_or_else(|| panic!("{id} is not hindered"))
        .kind
}

fn advised(controls: &Controls) -> Vec<&str> {
    let ids = controls.advice.iter().flat_map(|advice| &advice.controls);
    ids.map(String::as_str).collect()
}

#[test]
fn turbo_is_found_behind_each_of_its_three_switches() {
    for (machine, path, off) in [
        (machines::intel(), "intel_pstate/no_turbo", "1"),
        (machines::acpi(), "cpufreq/boost", "0"),
    ] {
        assert_eq!(value(&shown(&machine), "turbo"), "on", "{}", machine.name);
        let file = format!("{CPUS}/{path}");
        let machine = machine.with(&file, off);
        let controls = shown(&machine);
        assert_eq!(value(&controls, "turbo"), "off", "{}", machine.name);
        assert_eq!(of(&controls, "turbo").state, State::Good);
    }
    let amd = machines::amd();
    assert_eq!(value(&shown(&amd), "turbo"), "on on all 4 CPUs");
    let amd = amd.with(&format!("{CPUS}/cpufreq/policy2/boost"), "0");
    assert_eq!(
        value(&shown(&amd), "turbo"),
        "on on CPUs 0-1, 3; off on CPU 2"
    );
}

#[test]
fn values_that_differ_are_told_with_their_cpus() {
    let acpi = shown(&machines::acpi());
    assert_eq!(
        value(&acpi, "governor"),
        "schedutil on CPUs 0-2; performance on CPU 3"
    );
    let arm = shown(&machines::big_little());
    assert_eq!(value(&arm, "governor"), "schedutil on all 8 CPUs");
    assert_eq!(
        value(&arm, "max-frequency"),
        "1.8 GHz on CPUs 0-3; 2.4 GHz on CPUs 4-7"
    );
    let hybrid = shown(&machines::hybrid());
    let affinity = value(&hybrid, "affinity");
    assert!(
        affinity.contains("P-core: 0-3") && affinity.contains("E-core: 4-7"),
        "{affinity}"
    );
}

#[test]
fn a_governor_that_is_not_offered_is_not_wanted() {
    let machine = (0..4).fold(machines::amd(), |machine, cpu| {
        let path = format!("{CPUS}/cpufreq/policy{cpu}/scaling_available_governors");
        machine.with(&path, "powersave schedutil")
    });
    let controls = shown(&machine);
    assert_eq!(of(&controls, "governor").state, State::Information);
    let root = written(&machine);
    let only = ["governor".to_owned()];
    let steps = changes(&Tree::new(root.path()), &only, &[]).expect("a control");
    assert_eq!(steps, []);
}

#[test]
fn what_can_not_be_set_says_why() {
    let guest = shown(&machines::virtual_machine());
    for id in [
        "turbo", "governor", "epp", "epb", "smt", "battery", "thermal",
    ] {
        assert_eq!(kind(&guest, id), Kind::AbsentInVm, "{id}");
    }
    let acpi = shown(&machines::acpi());
    assert_eq!(kind(&acpi, "smt"), Kind::Firmware);
    assert_eq!(kind(&acpi, "epb"), Kind::NotOnThisSystem);
    let locked = shown(&machines::acpi().without(&format!("{CPUS}/cpufreq")));
    assert_eq!(kind(&locked, "turbo"), Kind::Lockdown);
    let open = machines::acpi()
        .without(&format!("{CPUS}/cpufreq"))
        .without("/sys/kernel/security/lockdown");
    assert_eq!(kind(&shown(&open), "turbo"), Kind::Firmware);
    assert_eq!(
        kind(&shown(&machines::intel()), "low-power"),
        Kind::NotOnThisSystem
    );
    assert_eq!(
        kind(&shown(&machines::big_little()), "nmi-watchdog"),
        Kind::AbsentInKernel
    );
    let mut managed = machines::intel();
    for number in 16..19 {
        managed
            .fixed
            .insert(format!("/proc/irq/{number}/smp_affinity"));
    }
    assert_eq!(
        kind(&shown(&managed), "irq-affinity"),
        Kind::ManagedInterrupt
    );
    assert_eq!(
        of(&shown(&managed), "default-irq-affinity").hindrance,
        None,
        "root may, in a tree that can be written"
    );
}

#[test]
fn of_a_list_in_brackets_the_chosen_word_counts() {
    const THP: &str = "/sys/kernel/mm/transparent_hugepage";
    let with = |file: &str, text: &str, id: &str| {
        let controls = shown(&machines::intel().with(&format!("{THP}/{file}"), text));
        (value(&controls, id).to_owned(), of(&controls, id).state)
    };
    let thp = |text: &str| with("enabled", text, "thp");
    assert_eq!(
        thp("[always] madvise never"),
        ("always".to_owned(), State::Improvable)
    );
    assert_eq!(
        thp("always [madvise] never"),
        ("madvise".to_owned(), State::Good)
    );
    assert_eq!(
        thp("always madvise [never]"),
        ("never".to_owned(), State::Good)
    );
    let defrag = |text: &str| with("defrag", text, "thp-defrag").1;
    assert_eq!(
        defrag("[always] defer defer+madvise madvise never"),
        State::Improvable
    );
    assert_eq!(
        defrag("always defer [defer+madvise] madvise never"),
        State::Good
    );
}

/// As the watchdog's switch is where there are no counters for it.
#[test]
fn a_file_that_nobody_may_write_is_hindered_and_no_step() {
    let path = "/proc/sys/kernel/nmi_watchdog";
    let mut machine = machines::intel();
    machine.fixed.insert(path.to_owned());
    let controls = shown(&machine);
    assert_eq!(of(&controls, "nmi-watchdog").state, State::Improvable);
    assert_eq!(kind(&controls, "nmi-watchdog"), Kind::ReadOnly);
    assert!(!advised(&controls).contains(&"nmi-watchdog"));
    let root = written(&machine);
    let steps = changes(&Tree::new(root.path()), &[], &[3]).expect("the default set");
    assert!(!steps.iter().any(|step| step.path == path));
}

#[test]
fn mounts_for_reading_only_leave_no_advice_but_what_a_user_can_do() {
    let container = shown(&machines::container());
    assert!(!container.root);
    assert_eq!(container.container.as_deref(), Some("docker"));
    for id in [
        "turbo",
        "governor",
        "smt",
        "workqueues",
        "thp",
        "sample-rate",
        "irq-affinity",
    ] {
        assert_eq!(kind(&container, id), Kind::ReadOnly, "{id}");
    }
    assert_eq!(
        advised(&container),
        ["policy", "autogroup", "nice", "affinity", "affinity"],
        "the last again, without root"
    );
    assert_eq!(
        container.quiet_cpus,
        [3, 7],
        "the core of the last that it may use, of 2 and 3"
    );
}

#[test]
fn an_ordinary_user_is_told_what_root_could_do() {
    let status = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";
    let controls = shown(&machines::intel().with("/proc/self/status", status));
    assert_eq!(kind(&controls, "governor"), Kind::NoPrivilege);
    let setting = of(&controls, "governor").setting.as_ref().expect("a way");
    assert_eq!(setting.who, Who::Root);
    assert_eq!(
        setting.command,
        format!("echo performance | sudo tee {CPUS}/cpufreq/policy*/scaling_governor")
    );
    let clock = controls
        .advice
        .iter()
        .find(|a| a.controls.contains(&"turbo".to_owned()));
    assert_eq!(
        clock.expect("advice").command,
        "sudo latlas noise tune --only turbo,governor,epp,epb"
    );
    // A limit that lets this user raise itself.
    let limits = "Max nice priority         35                   35                   \n\
        Max realtime priority     10                   10                   ";
    let raised = machines::intel()
        .with("/proc/self/status", status)
        .with("/proc/self/limits", limits);
    let raised = shown(&raised);
    assert_eq!(of(&raised, "policy").hindrance, None);
    assert_eq!(of(&raised, "nice").hindrance, None);
    assert_eq!(
        of(&raised, "nice")
            .setting
            .as_ref()
            .map(|s| s.command.as_str()),
        Some("nice -n -10 COMMAND")
    );
}

#[test]
fn a_root_of_a_user_namespace_is_not_root() {
    let map = "         0       1000          1";
    assert!(!shown(&machines::intel().with("/proc/self/uid_map", map)).root);
    let map = "         0          0 4294967295";
    assert!(shown(&machines::intel().with("/proc/self/uid_map", map)).root);
}

#[test]
fn a_process_with_everything_has_nothing_to_be_told() {
    let controls = shown(&machines::quiet());
    assert_eq!(controls.advice, []);
    assert_eq!(value(&controls, "policy"), "SCHED_FIFO, priority 50");
    assert_eq!(value(&controls, "nice"), "-10");
    assert_eq!(value(&controls, "isolcpus"), "CPUs 3");
    for control in &controls.controls {
        assert_ne!(control.state, State::Improvable, "{}", control.id);
    }
    let root = written(&machines::quiet());
    let steps = changes(&Tree::new(root.path()), &[], &controls.quiet_cpus);
    assert_eq!(steps, Ok(vec![]), "show and tune agree");
}

/// What is to be done on the virtual machine, written down by hand from its
/// files: tune does it, and show says it.
#[test]
fn the_default_set_is_what_a_person_would_change() {
    let machine = machines::virtual_machine();
    let root = written(&machine);
    let tree = Tree::new(root.path());
    let steps = changes(&tree, &[], &quiet_by_default(&tree)).expect("the default set");
    let mut told: Vec<(&str, &str, &str)> = steps
        .iter()
        .map(|step| {
            (
                step.control.as_str(),
                step.path.as_str(),
                step.wanted.as_str(),
            )
        })
        .collect();
    told.sort_unstable();
    let mut by_hand = [
        (
            "default-irq-affinity",
            "/proc/irq/default_smp_affinity",
            "1",
        ),
        ("irq-affinity", "/proc/irq/16/smp_affinity", "1"),
        ("irq-affinity", "/proc/irq/17/smp_affinity", "1"),
        (
            "khugepaged",
            "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
            "0",
        ),
        (
            "sample-rate",
            "/proc/sys/kernel/perf_event_max_sample_rate",
            "1",
        ),
        ("timer-migration", "/proc/sys/kernel/timer_migration", "0"),
        ("workqueues", "/sys/devices/virtual/workqueue/cpumask", "1"),
    ];
    by_hand.sort_unstable();
    assert_eq!(told, by_hand);
    let controls = shown(&machine);
    for control in controls
        .controls
        .iter()
        .filter(|control| control.tuned == Tuned::ByDefault)
    {
        let to_do = by_hand.iter().any(|(id, _, _)| *id == control.id);
        assert_eq!(control.state == State::Improvable, to_do, "{}", control.id);
    }
    // What show says of a file is what is to be written into it.
    for (id, path, wanted) in by_hand {
        let control = of(&controls, id);
        let part = control.parts.iter().find(|part| part.path == path);
        let command = control.setting.as_ref().map(|s| s.command.as_str());
        match part {
            Some(part) => assert_eq!(part.wanted.as_deref(), Some(wanted), "{path}"),
            None => assert_eq!(command, Some(&*format!("echo {wanted} | tee {path}"))),
        }
    }
}

/// Every control that tune would change is shown as improvable with the same
/// name, and the other way round.
#[test]
fn show_and_tune_agree_on_every_machine() {
    for machine in machines::all() {
        let root = written(&machine);
        let tree = Tree::new(root.path());
        let quiet = quiet_by_default(&tree);
        let steps = changes(&tree, &[], &quiet).expect("the default set");
        let controls = shown(&machine);
        for control in &controls.controls {
            let written = steps.iter().any(|step| step.control == control.id);
            let told = control.state == State::Improvable && control.tuned == Tuned::ByDefault;
            assert_eq!(written, told, "{} on {}", control.id, machine.name);
        }
        for step in &steps {
            assert!(tree.exists(&step.path), "{}", step.path);
        }
    }
}

/// Whatever could be better and can be done is advice, and nothing else is.
#[test]
fn advice_is_complete() {
    for machine in machines::all() {
        let controls = shown(&machine);
        for control in &controls.controls {
            let kept = control
                .hindrance
                .as_ref()
                .is_some_and(|h| h.kind != Kind::NoPrivilege);
            let to_do = control.state == State::Improvable && !kept;
            let told = advised(&controls).contains(&control.id.as_str());
            assert_eq!(told, to_do, "{} on {}", control.id, machine.name);
        }
    }
}

#[test]
fn parts_are_told_one_by_one() {
    let acpi = shown(&machines::acpi());
    let parts = &of(&acpi, "governor").parts;
    let last = parts.last().expect("four policies");
    assert_eq!(parts.len(), 4);
    assert_eq!(
        last.path,
        format!("{CPUS}/cpufreq/policy3/scaling_governor")
    );
    assert_eq!(
        (last.value.as_deref(), last.wanted.as_deref()),
        (Some("performance"), None)
    );
    assert_eq!(parts[0].wanted.as_deref(), Some("performance"));
    assert_eq!(
        value(&shown(&machines::intel()), "smt"),
        "on; threads of one core: 0,4 1,5 2,6 3,7"
    );
}

#[test]
fn what_tune_writes_is_what_show_wants() {
    for machine in machines::all() {
        let root = written(&machine);
        let tree = Tree::new(root.path());
        let quiet = quiet_by_default(&tree);
        let every: Vec<String> = tunable().iter().map(|(id, _)| (*id).to_owned()).collect();
        for step in changes(&tree, &every, &quiet).expect("known") {
            // As the kernel would: the chosen word of a list in brackets.
            let old = tree.contents(&step.path).expect("readable");
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

#[test]
fn the_noisiest_are_those_who_ran_between_two_looks() {
    let root = written(&machines::intel().with("/proc/77/stat", &process(77, "make (x)", 1000)));
    let tree = Tree::new(root.path());
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(tree.at(path).parent().expect("below the root"))
            .expect("a directory");
        std::fs::write(tree.at(path), text).expect("a file");
    };
    // 8 CPUs, 20 ticks each: 160 in all.
    write("/proc/stat", &stat_of(1000));
    let mut ran = || {
        write("/proc/stat", &stat_of(1160));
        write("/proc/77/stat", &process(77, "make (x)", 1019));
        write("/proc/78/stat", &process(78, "cc1", 7));
        write("/proc/1/stat", &process(1, "init", 500));
        // latlas itself is nobody's noise.
        write("/proc/4242/stat", &process(4242, "latlas", 15));
    };
    let controls = show(&tree, &facts(root.path()), None, &mut ran);
    assert_eq!(
        value(&controls, "noisiest"),
        "make (x) (77) 95 %, cc1 (78) 35 %"
    );
    assert_eq!(
        value(&controls, "steal"),
        "0.0 % now, 0.0 % since the start"
    );
    let first = controls.advice.first().expect("advice");
    assert_eq!(first.controls, ["noisiest"]);
    assert_eq!(
        first.command,
        "sh -c 'trap \"kill -CONT 77\" EXIT; trap \"exit 130\" INT TERM HUP; kill -STOP 77; COMMAND'"
    );
    assert_eq!(
        of(&shown(&machines::intel()), "noisiest").state,
        State::Unknown,
        "no time passed"
    );
}

fn stat_of(ticks: u64) -> String {
    let cpus: String = (0..8)
        .map(|cpu| format!("cpu{cpu} 0 0 0 0 0 0 0 0 0 0\n"))
        .collect();
    format!("cpu  0 0 0 {ticks} 0 0 0 0 0 0\n{cpus}")
}

/// The advice about a process that took a whole CPU between two looks.
fn about_the_noisiest(
    machine: Machine,
    before: &str,
    after: &str,
    pid: u32,
) -> model::noise::control::Advice {
    let stat = format!("/proc/{pid}/stat");
    let root = written(
        &machine
            .with("/proc/stat", &stat_of(1000))
            .with(&stat, before),
    );
    let tree = Tree::new(root.path());
    let mut ran = || {
        tree.write("/proc/stat", &stat_of(1160)).expect("a file");
        tree.write(&stat, after).expect("a file");
    };
    let controls = show(&tree, &facts(root.path()), None, &mut ran);
    let first = controls.advice.first().expect("advice").clone();
    assert_eq!(first.controls, ["noisiest"]);
    first
}

/// Stopping what our own words hang on would end in silence.
#[test]
fn nobody_is_stopped_on_whom_the_asker_hangs() {
    const PTS: u32 = 136 << 8 | 3;
    // latlas 4242, its shell 4000, what started that 3000, init 1.
    let own = process_below(4242, "latlas", 0, 4000, PTS).replace(" 4242 4242 ", " 4242 4000 ");
    let family = machines::intel()
        .with("/proc/4242/stat", &own)
        .with("/proc/4000/stat", &process_below(4000, "sh", 5, 3000, PTS))
        .with("/proc/3000/stat", &process_below(3000, "sshd", 5, 1, PTS));
    let of = |pid: u32, parent: u32, terminal: u32| {
        let line = |ticks| process_below(pid, "x", ticks, parent, terminal);
        about_the_noisiest(family.clone(), &line(10), &line(30), pid).command
    };
    for (pid, parent, terminal, who) in [
        (3000, 1, PTS, "an ancestor"),
        (4000, 3000, PTS, "the shell, which leads the session"),
        (1, 0, PTS, "init"),
        (77, 1, 0, "a service or a desktop"),
        (77, 1, 4 << 8 | 7, "a display of the console"),
    ] {
        assert_eq!(of(pid, parent, terminal), "", "{who}");
    }
    assert!(of(77, 4000, PTS).contains("kill -STOP 77"));
    // Another user's: only waiting is advice, for an ordinary user.
    let status = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";
    let of_user = |uid: u32| {
        let theirs = format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}");
        let machine = family
            .clone()
            .with("/proc/self/status", status)
            .with("/proc/77/status", &theirs);
        let line = |ticks| process_below(77, "x", ticks, 1, PTS);
        about_the_noisiest(machine, &line(10), &line(30), 77)
    };
    let advice = of_user(1001);
    assert_eq!(
        (advice.what.as_str(), advice.command.as_str(), advice.who),
        ("wait until others have finished", "", Who::Anybody)
    );
    assert!(of_user(1000).command.contains("kill -CONT 77"));
}

/// CPUs 4 to 7 are isolated: both masks lack them, and affinity leaves CPUs 0
/// to 3.
#[test]
fn nothing_is_moved_onto_cpus_that_are_kept_apart() {
    let status = "Pid:\t4242\nUid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-3";
    let masks = [
        "/proc/irq/default_smp_affinity",
        "/sys/devices/virtual/workqueue/cpumask",
    ];
    let machine = machines::big_little()
        .with("/proc/self/status", status)
        .with(&format!("{CPUS}/isolated"), "4-7")
        .with(&format!("{CPUS}/nohz_full"), "4-7")
        .with(masks[0], "0f")
        .with(masks[1], "0f")
        .with("/proc/irq/16/smp_affinity", "0f")
        // On the quiet CPU alone.
        .with("/proc/irq/17/smp_affinity", "08")
        // On an isolated one: whoever set that meant it.
        .with("/proc/irq/18/smp_affinity", "10");
    let root = written(&machine);
    let tree = Tree::new(root.path());
    let quiet = quiet_by_default(&tree);
    assert_eq!(quiet, [3]);
    let only: Vec<String> = ["irq-affinity", "default-irq-affinity", "workqueues"]
        .map(str::to_owned)
        .to_vec();
    let steps = changes(&tree, &only, &quiet).expect("known");
    let mut told: Vec<(&str, &str)> = steps
        .iter()
        .map(|step| (step.path.as_str(), step.wanted.as_str()))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("/proc/irq/16/smp_affinity", "7"),
            ("/proc/irq/17/smp_affinity", "7"),
            (masks[0], "7"),
            (masks[1], "7"),
        ]
    );
}

/// A mask that names no CPU that is online is refused (EINVAL).
#[test]
fn masks_are_of_cpus_that_are_online() {
    let quiet = machines::quiet()
        .with("/proc/irq/16/smp_affinity", "88")
        .with("/proc/irq/17/smp_affinity", "f1")
        .with("/proc/irq/18/smp_affinity", "fb");
    let root = written(&quiet);
    let only = ["irq-affinity".to_owned()];
    let steps = changes(&Tree::new(root.path()), &only, &[3]).expect("known");
    let told: Vec<(&str, &str)> = steps
        .iter()
        .map(|step| (step.path.as_str(), step.wanted.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("/proc/irq/16/smp_affinity", "7"),
            ("/proc/irq/18/smp_affinity", "3"),
        ],
        "17 is not on the quiet CPU, 16 has nothing left, 18 keeps 0 and 1"
    );
}

/// sched(7): the CPU controller's groups come before autogroups.
#[test]
fn an_autogroup_within_a_group_of_the_cpu_controller_is_no_advice() {
    let machine = machines::intel().with("/sys/fs/cgroup/user.slice/cpu.weight", "100");
    let controls = shown(&machine);
    let autogroup = of(&controls, "autogroup");
    assert_eq!(autogroup.state, State::Information);
    assert!(value(&controls, "autogroup").contains("a control group of the CPU controller"));
    assert!(!advised(&controls).contains(&"autogroup"));
    let given = controls
        .advice
        .iter()
        .find(|advice| advice.controls.contains(&"nice".to_owned()))
        .expect("nice is still advice");
    assert_eq!(given.command, "latlas exec --pin --nice -10 -- COMMAND");
    assert!(advised(&shown(&machines::intel())).contains(&"autogroup"));
}

#[test]
fn what_takes_the_capability_is_told_by_the_capability() {
    let container = shown(&machines::container_root());
    assert!(container.root);
    for id in ["policy", "nice", "autogroup"] {
        assert_eq!(kind(&container, id), Kind::NoCapability, "{id}");
    }
    assert_eq!(advised(&container), ["affinity"]);
    assert_eq!(container.advice[0].command, "latlas exec --pin -- COMMAND");
    // An ordinary user who has it needs nobody.
    let status = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7\n\
        CapEff:\t0000000000800000";
    let raised = shown(&machines::intel().with("/proc/self/status", status));
    for id in ["policy", "nice", "autogroup"] {
        let control = of(&raised, id);
        assert_eq!(control.hindrance, None, "{id}");
        let setting = control.setting.as_ref().expect("a way");
        assert_eq!(setting.who, Who::Anybody, "{id}");
        assert!(!setting.command.contains("sudo"), "{id}");
    }
    assert_eq!(raised.advice[0].command, "latlas run --fifo");
}

#[test]
fn the_priority_that_is_named_is_one_that_is_allowed() {
    let status = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";
    for (most, allowed) in [("0", false), ("1", true), ("unlimited", true)] {
        let limits = format!("Max realtime priority     {most}                   {most}");
        let machine = machines::intel()
            .with("/proc/self/status", status)
            .with("/proc/self/limits", &limits);
        let controls = shown(&machine);
        let policy = of(&controls, "policy");
        assert_eq!(policy.hindrance.is_none(), allowed, "{most}");
        let sudo = if allowed { "" } else { "sudo " };
        assert_eq!(
            policy.setting.as_ref().map(|s| s.command.clone()),
            Some(format!("{sudo}chrt --fifo 1 COMMAND")),
            "{most}"
        );
    }
}

#[test]
fn what_fifo_loses_is_read_and_not_known_by_heart() {
    let why = |release: &str, runtime: &str| {
        let machine = machines::intel()
            .with("/proc/sys/kernel/osrelease", release)
            .with("/proc/sys/kernel/sched_rt_runtime_us", runtime);
        let controls = shown(&machine);
        let first = controls.advice.first().expect("advice");
        assert_eq!(first.controls, ["policy"]);
        let wanted = of(&controls, "policy").wanted.clone().expect("FIFO");
        let text = wanted
            .why
            .split("; ")
            .skip(1)
            .collect::<Vec<_>>()
            .join("; ");
        assert!(first.worth.ends_with(&text), "{} / {text}", first.worth);
        text
    };
    assert_eq!(
        why("6.1.0-13-amd64", "950000"),
        "if it never waits it loses 50 ms of each 1000 ms (rt-throttling)"
    );
    assert!(why("6.1.0", "800000").contains("loses 200 ms"));
    assert_eq!(why("5.15.0", "-1"), "it is never throttled (rt-throttling)");
    for release in ["6.12.9", "6.18.0-rc1", "7.0"] {
        let new = why(release, "950000");
        assert!(
            new.starts_with("if it never waits, ordinary threads that wait get 50 ms"),
            "{new}"
        );
        assert!(new.contains("RT_GROUP_SCHED"), "{new}");
    }
}

#[test]
fn the_battery_of_a_mouse_is_not_the_machines() {
    let mouse = |machine: Machine| {
        let supply = "/sys/class/power_supply/hidpp_battery_0";
        machine
            .with(&format!("{supply}/type"), "Battery")
            .with(&format!("{supply}/scope"), "Device")
            .with(&format!("{supply}/status"), "Discharging")
    };
    let desktop = shown(&mouse(machines::intel()));
    assert_eq!(kind(&desktop, "battery"), Kind::NotOnThisSystem);
    assert!(!advised(&desktop).contains(&"battery"));
    assert!(advised(&shown(&mouse(machines::amd()))).contains(&"battery"));
}

#[test]
fn a_sample_rate_that_the_kernel_refuses_is_no_step() {
    for share in ["0", "100"] {
        let path = "/proc/sys/kernel/perf_cpu_time_max_percent";
        let machine = machines::intel().with(path, share);
        let controls = shown(&machine);
        let rate = of(&controls, "sample-rate").hindrance.as_ref();
        assert!(rate.is_some_and(|h| h.why.contains(path)), "{rate:?}");
        assert!(!advised(&controls).contains(&"sample-rate"));
        let root = written(&machine);
        let steps = changes(&Tree::new(root.path()), &[], &[3]).expect("the default set");
        assert!(!steps.iter().any(|step| step.control == "sample-rate"));
    }
}

/// P-cores have 2.4 GHz, E-cores 1.8: no value is right for all files.
#[test]
fn all_files_are_named_at_once_only_where_all_get_the_same() {
    let policy = |cpu: u32| format!("{CPUS}/cpufreq/policy{cpu}");
    let machine = (4..8).fold(machines::hybrid(), |machine, cpu| {
        machine.with(&format!("{}/scaling_max_freq", policy(cpu)), "1800000")
    });
    let command = |machine: &Machine, id: &str| {
        let controls = shown(machine);
        of(&controls, id)
            .setting
            .as_ref()
            .expect("a way")
            .command
            .clone()
    };
    let paths: Vec<String> = (0..4)
        .map(|cpu| format!("{}/scaling_max_freq", policy(cpu)))
        .collect();
    assert_eq!(
        command(&machine, "max-frequency"),
        format!("echo 2400000 | tee {}", paths.join(" "))
    );
    assert_eq!(
        command(&machine, "min-frequency"),
        "latlas noise tune --only min-frequency"
    );
    assert_eq!(
        command(&machine, "governor"),
        format!("echo performance | tee {CPUS}/cpufreq/policy*/scaling_governor")
    );
}

#[test]
fn the_highest_frequency_of_intel_and_amd_is_not_the_nominal_one() {
    let wanted = |machine: &Machine| {
        let root = written(machine);
        let only = ["max-frequency".to_owned()];
        let steps = changes(&Tree::new(root.path()), &only, &[]).expect("known");
        (steps.len(), of(&shown(machine), "max-frequency").state)
    };
    let intel = (0..8).fold(machines::intel(), |machine, cpu| {
        machine.without(&format!("{CPUS}/cpufreq/policy{cpu}/base_frequency"))
    });
    assert_eq!(wanted(&intel), (0, State::Information));
    let amd = (0..4).fold(machines::amd(), |machine, cpu| {
        machine.without(&format!("{CPUS}/cpu{cpu}/acpi_cppc"))
    });
    assert_eq!(wanted(&amd), (0, State::Information));
    assert_eq!(wanted(&machines::intel()).0, 8);
    assert_eq!(wanted(&machines::amd()).0, 4);
}

#[test]
fn threads_of_a_core_share_its_count_of_slowing() {
    let count = |cpu: u32| format!("{CPUS}/cpu{cpu}/thermal_throttle/core_throttle_count");
    let machine = machines::intel().with(&count(2), "3").with(&count(6), "3");
    let controls = shown(&machine);
    let thermal = value(&controls, "thermal");
    assert!(
        thermal.ends_with("cores slowed 3 times since the start"),
        "{thermal}"
    );
}

/// An ordinary user's way without root beside the one with it.
#[test]
fn what_needs_no_right_is_a_step_of_its_own() {
    let status = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";
    let controls = shown(&machines::intel().with("/proc/self/status", status));
    let steps: Vec<(&str, Who)> = controls
        .advice
        .iter()
        .filter(|advice| advice.controls.contains(&"affinity".to_owned()))
        .map(|advice| (advice.command.as_str(), advice.who))
        .collect();
    assert_eq!(
        steps,
        [
            (
                "sudo latlas exec --pin --nice -10 --autogroup -10 -- COMMAND",
                Who::Root
            ),
            ("latlas exec --pin --own-session -- COMMAND", Who::Anybody),
        ]
    );
}

/// The running system's own files, as far as this test is concerned.
struct Own(Tree);

impl Files for Own {
    fn read(&self, path: &str) -> std::io::Result<String> {
        self.0.contents(path)
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

/// By its group, or since somebody gave the file away.
#[test]
fn who_may_write_a_file_needs_no_root_for_it() {
    let status = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";
    let root = written(&machines::intel().with("/proc/self/status", status));
    let own = Own(Tree::new(root.path()));
    let controls = show(&own, &facts(root.path()), None, &mut || ());
    let thp = of(&controls, "thp");
    assert_eq!(thp.hindrance, None);
    let setting = thp.setting.as_ref().expect("a way");
    assert_eq!(setting.who, Who::Anybody);
    assert!(!setting.command.contains("sudo"), "{}", setting.command);
    // tune is root's all the same.
    let tune = controls
        .advice
        .iter()
        .find(|advice| advice.controls.contains(&"thp".to_owned()));
    let tune = tune.expect("advice");
    assert_eq!(tune.who, Who::Root);
    assert!(tune.command.starts_with("sudo latlas noise tune"));
}

/// Each file is told to be missing for the reason that holds for it.
#[test]
fn without_one_of_the_two_only_its_own_are_missing() {
    let no_sys = shown(&machines::intel().without("/sys"));
    assert_eq!(kind(&no_sys, "thp"), Kind::NotOnThisSystem);
    let no_sys = machines::intel()
        .without("/sys")
        .without("/proc/sys/kernel/numa_balancing");
    assert_eq!(
        kind(&shown(&no_sys), "numa-balancing"),
        Kind::AbsentInKernel
    );
    let no_proc = machines::intel()
        .without("/proc")
        .without("/sys/kernel/mm/transparent_hugepage");
    let no_proc = shown(&no_proc);
    assert_eq!(kind(&no_proc, "thp"), Kind::AbsentInKernel);
    assert_eq!(kind(&no_proc, "numa-balancing"), Kind::NotOnThisSystem);
    assert!(no_proc.sees() && shown(&machines::single()).sees());
}

#[test]
fn cores_that_are_slowed_by_heat_now_are_advice() {
    let root = written(&machines::intel());
    let tree = Tree::new(root.path());
    let count = format!("{CPUS}/cpu2/thermal_throttle/core_throttle_count");
    let mut hot = || tree.write(&count, "3\n").expect("a file");
    let controls = show(&tree, &facts(root.path()), None, &mut hot);
    assert_eq!(of(&controls, "thermal").state, State::Improvable);
    assert!(advised(&controls).contains(&"thermal"));
    assert_eq!(
        of(&shown(&machines::intel()), "thermal").state,
        State::Information
    );
}

#[test]
fn both_versions_of_cpusets() {
    let guest = shown(&machines::virtual_machine());
    assert_eq!(value(&guest, "cpuset"), "version 1, CPUs 0-1, exclusive");
    assert!(!of(&guest, "cpuset").fixtures_only, "our machine has it");
    let intel = shown(&machines::intel());
    assert_eq!(
        value(&intel, "cpuset"),
        "version 2, CPUs 0-7, partition member"
    );
    assert!(of(&intel, "cpuset").fixtures_only);
}

#[test]
fn without_proc_and_sys_everything_says_so() {
    let empty = tempfile::tempdir().expect("a directory");
    let controls = show(
        &Tree::new(empty.path()),
        &facts(empty.path()),
        None,
        &mut || (),
    );
    assert_eq!(controls.advice, []);
    assert!(!controls.sees());
    assert!(controls.notes.iter().any(|note| note.contains("no /proc")));
    assert!(controls.notes.iter().any(|note| note.contains("no /sys")));
    for control in &controls.controls {
        assert_eq!(control.state, State::Unknown, "{}", control.id);
        assert!(control.now.unknown.is_some(), "{}", control.id);
    }
    let root = Tree::new(empty.path());
    assert_eq!(changes(&root, &[], &[0]), Ok(vec![]));
}

#[test]
fn the_document_can_be_read_back() {
    for machine in machines::all() {
        let controls = shown(&machine);
        let text = serde_json::to_string(&controls).expect("JSON");
        let back: Controls = serde_json::from_str(&text).expect("the document");
        assert_eq!(back, controls, "{}", machine.name);
    }
}

/// Rows `| `id`... | where | better | tune |` of the page in docs.
#[test]
fn the_page_in_docs_has_every_control_and_says_when_tune_sets_it() {
    let page = include_str!("../../../docs/noise/controls.md");
    let written: Vec<(&str, &str, bool)> = page
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            let (first, last) = (cells.first()?, cells.last()?);
            let id = first.strip_prefix("| `")?.split('`').next()?;
            Some((id, last.trim_matches(['|', ' ']), first.ends_with('*')))
        })
        .collect();
    let controls = shown(&machines::intel()).controls;
    let real = shown(&machines::virtual_machine());
    let mut expected: Vec<(&str, &str, bool)> = controls
        .iter()
        .map(|control| {
            let tune = match &control.tuned {
                Tuned::ByDefault => "default",
                Tuned::ByName(_) => "name",
                Tuned::Never => "never",
            };
            // Of the version that our machine has.
            (
                control.id.as_str(),
                tune,
                of(&real, &control.id).fixtures_only,
            )
        })
        .collect();
    let mut written_sorted = written.clone();
    written_sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(written_sorted, expected);
}
