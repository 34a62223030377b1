//! Machines with one thing different, as one table to be read: each control's
//! value, state, the privilege and command that set it, what prevents it, what
//! tune would write.

use super::{CPUS, USER, control_by_id, shown_in, written};
use model::noise::control::Controls;
use noise::control::{changes, quiet_by_default};
use noise::machines::{self, MachineFiles};
use std::fmt::Write;
use sys::files::Tree;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";

struct PrintedPage(String);

impl PrintedPage {
    /// A machine, and some of its controls.
    fn show(&mut self, name: &str, machine: &MachineFiles, ids: &[&str]) {
        let root = written(machine);
        let controls = shown_in(root.path());
        writeln!(self.0, "\n{}: {name}", machine.name).expect("text");
        for id in ids {
            let text = match *id {
                "advice" => advice(&controls),
                "process" => format!("root {}, {:?}", controls.root, controls.container),
                id => control_line(&controls, id),
            };
            writeln!(self.0, "  {id}: {text}").expect("text");
        }
    }

    /// The same, and what tune would write of these controls, or of the
    /// default set.
    fn tune(&mut self, name: &str, machine: &MachineFiles, ids: &[&str]) {
        self.show(name, machine, ids);
        let root = written(machine);
        let tree = Tree::new(root.path());
        let quiet = quiet_by_default(&tree);
        let only: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let steps = changes(&tree, &only, &quiet).expect("known");
        writeln!(self.0, "  quiet CPUs {quiet:?}").expect("text");
        for step in steps {
            writeln!(self.0, "  writes {} to {}", step.wanted, step.path).expect("text");
        }
    }
}

fn control_line(controls: &Controls, id: &str) -> String {
    let control = control_by_id(controls, id);
    let mut text = match &control.now.value {
        Some(value) => format!("{value} [{:?}]", control.state),
        None => "unknown".to_owned(),
    };
    if let Some(setting) = &control.setting {
        text += &format!("; {:?}: {}", setting.who, setting.command);
    }
    if let Some(hindrance) = &control.hindrance {
        text += &format!("; {:?}: {}", hindrance.kind, hindrance.why);
    }
    text
}

fn advice(controls: &Controls) -> String {
    let all = controls.advice.iter();
    all.map(|one| format!("\n    {:?} {}: {}", one.who, one.controls.join(","), one.command))
        .collect()
}

#[test]
fn variations_of_machines() {
    let mut page = PrintedPage(String::new());
    let intel = machines::intel;
    let policies = |machine: MachineFiles, cpus: std::ops::Range<u32>, file: &str, text: &str| {
        cpus.fold(machine, |machine, cpu| {
            machine.with_file(&format!("{CPUS}/cpufreq/policy{cpu}/{file}"), text)
        })
    };

    // The clock.
    page.show("as it is", &intel(), &["turbo", "max-frequency", "smt"]);
    let no_turbo = format!("{CPUS}/intel_pstate/no_turbo");
    page.show("no_turbo", &intel().with_file(&no_turbo, "1"), &["turbo"]);
    page.show("as it is", &machines::acpi(), &["turbo", "governor", "smt", "epb"]);
    let boost = format!("{CPUS}/cpufreq/boost");
    page.show("no boost", &machines::acpi().with_file(&boost, "0"), &["turbo"]);
    page.show("as it is", &machines::amd(), &["turbo", "battery"]);
    let one = policies(machines::amd(), 2..3, "boost", "0");
    page.show("one policy without boost", &one, &["turbo"]);
    page.show("as it is", &machines::big_little(), &["governor", "max-frequency"]);
    page.show("as it is", &machines::hybrid(), &["affinity", "governor"]);
    // P-cores have 2.4 GHz, E-cores 1.8: no value is right for all files.
    let slower = policies(machines::hybrid(), 4..8, "scaling_max_freq", "1800000");
    page.show("E-cores limited", &slower, &["max-frequency", "min-frequency"]);
    let other = policies(machines::amd(), 0..4, "scaling_available_governors", "powersave");
    page.tune("performance not offered", &other, &["governor"]);
    // Their drivers report the frequency with turbo as the highest.
    let unknown = (0..8).fold(intel(), |machine, cpu| {
        machine.without(&format!("{CPUS}/cpufreq/policy{cpu}/base_frequency"))
    });
    page.tune("no base_frequency", &unknown, &["max-frequency"]);
    let unknown = (0..4).fold(machines::amd(), |machine, cpu| {
        machine.without(&format!("{CPUS}/cpu{cpu}/acpi_cppc"))
    });
    page.tune("no CPPC", &unknown, &["max-frequency"]);
    page.tune("nominal", &machines::amd(), &["max-frequency"]);
    let locked = machines::acpi().without(&format!("{CPUS}/cpufreq"));
    page.show("no cpufreq, lockdown", &locked, &["turbo"]);
    let open = locked.without("/sys/kernel/security/lockdown");
    page.show("no cpufreq", &open, &["turbo"]);

    // What is not there.
    let of_guest = ["turbo", "governor", "epp", "epb", "smt", "battery", "thermal", "steal"];
    page.show("as it is", &machines::virtual_machine(), &of_guest);
    page.show("both versions: one", &machines::virtual_machine(), &["cpuset"]);
    page.show("both versions: two", &intel(), &["cpuset", "low-power", "qos"]);
    page.show("no NMI watchdog", &machines::big_little(), &["nmi-watchdog"]);
    let no_sys = intel().without("/sys");
    page.show("no /sys", &no_sys, &["thp", "governor", "lockdown", "numa-balancing"]);
    let no_file = no_sys.without("/proc/sys/kernel/numa_balancing");
    page.show("no /sys and no file", &no_file, &["numa-balancing"]);
    let no_proc = intel().without("/proc").without(THP);
    page.show("no /proc and no THP", &no_proc, &["thp", "numa-balancing", "pressure"]);

    // Files that no user may write.
    let mut fixed = intel();
    fixed.fixed.insert("/proc/sys/kernel/nmi_watchdog".to_owned());
    page.tune("a fixed file", &fixed, &["nmi-watchdog"]);
    let mut managed = intel();
    for irq in 16..19 {
        managed.fixed.insert(format!("/proc/irq/{irq}/smp_affinity"));
    }
    let irqs = ["irq-affinity", "default-irq-affinity"];
    page.tune("managed interrupts", &managed, &irqs);
    for share in ["0", "100"] {
        let path = "/proc/sys/kernel/perf_cpu_time_max_percent";
        page.tune("a refused rate", &intel().with_file(path, share), &["sample-rate"]);
    }
    let of_container = [
        "process",
        "turbo",
        "governor",
        "smt",
        "workqueues",
        "thp",
        "sample-rate",
        "irq-affinity",
        "advice",
    ];
    page.show("a user", &machines::container(), &of_container);
    let of_root = ["process", "policy", "nice", "autogroup", "advice"];
    page.show("root", &machines::container_root(), &of_root);

    // The chosen word of a list.
    for words in ["[always] madvise never", "always [madvise] never", "always madvise [never]"] {
        page.show(words, &intel().with_file(&format!("{THP}/enabled"), words), &["thp"]);
    }
    for words in
        ["[always] defer defer+madvise madvise never", "always defer [defer+madvise] madvise never"]
    {
        page.show(words, &intel().with_file(&format!("{THP}/defrag"), words), &["thp-defrag"]);
    }

    // Privileges.
    let user = intel().with_file("/proc/self/status", USER);
    page.show("a user", &user, &["process", "governor", "policy", "nice", "advice"]);
    for map in ["         0       1000          1", "         0          0 4294967295"] {
        page.show(map.trim(), &intel().with_file("/proc/self/uid_map", map), &["process"]);
    }
    let capable = format!("{USER}\nCapEff:\t0000000000800000");
    let capable = intel().with_file("/proc/self/status", &capable);
    page.show("a user with CAP_SYS_NICE", &capable, &["policy", "nice", "autogroup"]);
    // Of another user namespace it holds only inside.
    let mapped = capable.with_file("/proc/self/uid_map", "0 1000 1");
    page.show("the same in a container", &mapped, &["process", "nice"]);
    let effective = USER.replacen("1000\t1000", "1000\t0", 1);
    let effective = intel().with_file("/proc/self/status", &effective);
    page.show("effectively root", &effective, &["process"]);
    let limits = "Max nice priority         35                   35                   \n\
        Max realtime priority     10                   10                   ";
    let limits = user.clone().with_file("/proc/self/limits", limits);
    page.show("a user with limits", &limits, &["policy", "nice"]);
    for most in ["0", "1", "unlimited"] {
        let limit = format!("Max realtime priority     {most}                   {most}");
        let machine = user.clone().with_file("/proc/self/limits", &limit);
        page.show(&format!("real-time limit {most}"), &machine, &["policy"]);
    }
    // sched(7): groups of the CPU controller come before autogroups.
    let weighed = intel().with_file("/sys/fs/cgroup/user.slice/cpu.weight", "100");
    page.show("a group with a CPU weight", &weighed, &["autogroup", "advice"]);

    // Devices.
    let mouse = |machine: MachineFiles| {
        let supply = "/sys/class/power_supply/hidpp_battery_0";
        machine
            .with_file(&format!("{supply}/type"), "Battery")
            .with_file(&format!("{supply}/scope"), "Device")
            .with_file(&format!("{supply}/status"), "Discharging")
    };
    page.show("a mouse", &mouse(intel()), &["battery"]);
    page.show("a mouse", &mouse(machines::amd()), &["battery"]);
    let count = |cpu: u32| format!("{CPUS}/cpu{cpu}/thermal_throttle/core_throttle_count");
    let throttled = intel().with_file(&count(2), "3").with_file(&count(6), "3");
    page.show("threads of a core share its count", &throttled, &["thermal"]);

    // Masks: CPUs that are kept apart are never added, and one is online.
    let status = "Pid:\t4242\nUid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-3";
    let isolated = machines::big_little()
        .with_file("/proc/self/status", status)
        .with_file(&format!("{CPUS}/isolated"), "4-7")
        .with_file(&format!("{CPUS}/nohz_full"), "4-7")
        .with_file("/proc/irq/default_smp_affinity", "0f")
        .with_file("/sys/devices/virtual/workqueue/cpumask", "0f")
        .with_file("/proc/irq/16/smp_affinity", "0f")
        // On the quiet CPU alone.
        .with_file("/proc/irq/17/smp_affinity", "08")
        // On an isolated one, on purpose.
        .with_file("/proc/irq/18/smp_affinity", "10");
    let masks = ["irq-affinity", "default-irq-affinity", "workqueues"];
    page.tune("CPUs 4-7 isolated", &isolated, &masks);
    let offline = machines::quiet()
        .with_file("/proc/irq/16/smp_affinity", "88")
        .with_file("/proc/irq/17/smp_affinity", "f1")
        .with_file("/proc/irq/18/smp_affinity", "fb");
    page.tune("CPUs 4-7 offline", &offline, &["irq-affinity"]);

    // Several, in an order that nothing undoes.
    let named = ["smt", "irq-affinity", "min-frequency", "max-frequency"];
    page.tune("several", &intel(), &named);
    for machine in machines::all_machines() {
        page.tune("the default set", &machine, &[]);
    }

    // A process with everything.
    page.show("as it is", &machines::quiet(), &["policy", "nice", "isolcpus", "advice"]);
    insta::assert_snapshot!(page.0);
}

/// What a busy SCHED_FIFO task loses is read, not known by heart.
#[test]
fn throttling_is_that_of_the_kernel() {
    let mut page = String::new();
    for (release, runtime) in [
        ("6.1.0-13-amd64", "950000"),
        ("6.1.0", "800000"),
        ("5.15.0", "-1"),
        ("6.12.9", "950000"),
        ("7.0", "950000"),
    ] {
        let machine = machines::intel()
            .with_file("/proc/sys/kernel/osrelease", release)
            .with_file("/proc/sys/kernel/sched_rt_runtime_us", runtime);
        let controls = super::shown(&machine);
        let why = &control_by_id(&controls, "policy").wanted.as_ref().expect("FIFO").why;
        let why = why.split_once("; ").expect("two reasons").1;
        let first = controls.advice.first().expect("advice");
        assert_eq!(first.controls, ["policy"]);
        assert!(first.worth.ends_with(why), "{} / {why}", first.worth);
        writeln!(page, "Linux {release}, runtime {runtime}: {why}").expect("text");
    }
    insta::assert_snapshot!(page);
}
