//! Machines as file trees, written by us from the kernel's documentation: what
//! we have no hardware for is tried on these only.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

const CPUS: &str = "/sys/devices/system/cpu";

/// The files of a machine by their paths on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What it is, in a word.
    pub name: &'static str,
    /// Contents, without the new line at the end.
    pub files: BTreeMap<String, String>,
    /// Those of them that the kernel offers for reading only.
    pub fixed: BTreeSet<String>,
}

/// All of them.
pub fn all() -> Vec<Machine> {
    vec![
        intel(),
        amd(),
        acpi(),
        big_little(),
        hybrid(),
        virtual_machine(),
        container(),
        container_root(),
        single(),
        quiet(),
    ]
}

impl Machine {
    fn new(name: &'static str) -> Machine {
        Machine {
            name,
            files: BTreeMap::new(),
            fixed: BTreeSet::new(),
        }
    }

    /// The same machine with another content of a file.
    pub fn with(mut self, path: &str, content: &str) -> Machine {
        self.files.insert(path.to_owned(), content.to_owned());
        self
    }

    /// The same machine without a file, or without all below a directory.
    pub fn without(mut self, path: &str) -> Machine {
        let below = format!("{path}/");
        self.files
            .retain(|file, _| file != path && !file.starts_with(&below));
        self
    }

    fn fixed(mut self, path: &str, content: &str) -> Machine {
        self.fixed.insert(path.to_owned());
        self.with(path, content)
    }

    fn named(mut self, name: &'static str) -> Machine {
        self.name = name;
        self
    }

    /// Writes the tree below `root`, which is there.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write_below(&self, root: &Path) -> io::Result<()> {
        for (path, content) in &self.files {
            let at = root.join(path.trim_start_matches('/'));
            if let Some(directory) = at.parent() {
                std::fs::create_dir_all(directory)?;
            }
            std::fs::write(&at, format!("{content}\n"))?;
            if self.fixed.contains(path) {
                let mut permissions = std::fs::metadata(&at)?.permissions();
                permissions.set_readonly(true);
                std::fs::set_permissions(&at, permissions)?;
            }
        }
        Ok(())
    }

    /// So many CPUs online, with the threads of each core together.
    fn cpus(self, cores: &[&str]) -> Machine {
        let lists: Vec<Vec<u32>> = cores
            .iter()
            .map(|core| sys::files::cpu_list(core).unwrap_or_default())
            .collect();
        let count: usize = lists.iter().map(Vec::len).sum();
        let all = match count {
            1 => "0".to_owned(),
            _ => format!("0-{}", count - 1),
        };
        let mut machine = self
            .with(&format!("{CPUS}/online"), &all)
            .with(&format!("{CPUS}/possible"), &all)
            .with(&format!("{CPUS}/isolated"), "");
        for (cpus, core) in lists.iter().zip(cores) {
            for cpu in cpus {
                let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
                machine = machine.with(&path, core);
            }
        }
        let mask = format!("{:x}", (1_u64 << count) - 1);
        machine
            .with("/proc/irq/default_smp_affinity", &mask)
            .with("/sys/devices/virtual/workqueue/cpumask", &mask)
            .with("/proc/self/status", &status(0, &all))
            .with("/proc/stat", &stat(count))
            .with("/sys/fs/cgroup/user.slice/cpuset.cpus.effective", &all)
            .with("/sys/fs/cgroup/user.slice/cpuset.cpus.partition", "member")
            .with("/sys/fs/cgroup/user.slice/cgroup.procs", "4242")
    }

    /// Files as lines `path = content`; `~` is the directory of CPUs, `{0-3}`
    /// stands for each of these numbers, and a `|` for a new line.
    fn tree(mut self, lines: &str) -> Machine {
        for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let (path, content) = line.split_once(" =").unwrap_or((line, ""));
            let content = content.trim().replace('|', "\n");
            let path = path.replace('~', CPUS);
            match path.split_once('{') {
                None => self = self.with(&path, &content),
                Some((before, rest)) => {
                    let (numbers, after) = rest.split_once('}').unwrap_or((rest, ""));
                    for n in sys::files::cpu_list(numbers).unwrap_or_default() {
                        self = self.with(&format!("{before}{n}{after}"), &content);
                    }
                }
            }
        }
        self
    }

    /// A cpufreq policy for each of so many CPUs.
    fn a_policy_each(mut self, cpus: u32) -> Machine {
        for cpu in 0..cpus {
            let path = format!("{CPUS}/cpufreq/policy{cpu}/affected_cpus");
            self = self.with(&path, &cpu.to_string());
        }
        self
    }

    /// What an ordinary distribution sets, and a process of an ordinary shell.
    fn linux(self) -> Machine {
        self.tree(
            "
            /proc/sys/kernel/randomize_va_space = 2
            /proc/sys/kernel/perf_event_max_sample_rate = 100000
            /proc/sys/kernel/perf_cpu_time_max_percent = 25
            /proc/sys/kernel/perf_event_paranoid = 2
            /proc/sys/kernel/nmi_watchdog = 1
            /proc/sys/kernel/soft_watchdog = 1
            /proc/sys/kernel/timer_migration = 1
            /proc/sys/kernel/numa_balancing = 0
            /proc/sys/kernel/sched_autogroup_enabled = 1
            /proc/sys/kernel/sched_rt_runtime_us = 950000
            /proc/sys/kernel/sched_rt_period_us = 1000000
            /proc/sys/kernel/osrelease = 6.12.9
            /proc/sys/vm/swappiness = 60
            /proc/self/autogroup = /autogroup-77 nice 0
            /proc/self/timerslack_ns = 50000
            /proc/self/cgroup = 0::/user.slice
            /proc/self/mountinfo = 22 1 0:21 / /proc rw - proc proc rw|23 1 0:22 / /sys rw - sysfs sysfs rw|30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
            /proc/loadavg = 0.10 0.20 0.30 1/200 4242
            /proc/pressure/cpu = some avg10=0.00 avg60=0.10 avg300=0.20 total=12345
            /proc/pressure/io = some avg10=0.00 avg60=0.00 avg300=0.00 total=1
            /proc/pressure/memory = some avg10=0.00 avg60=0.00 avg300=0.00 total=1
            /proc/meminfo = MemTotal: 16384000 kB|MemFree: 8192000 kB|Cached: 4096000 kB|Dirty: 128 kB|Writeback: 0 kB|SwapTotal: 2097152 kB|SwapFree: 2097152 kB
            /sys/kernel/mm/transparent_hugepage/enabled = [always] madvise never
            /sys/kernel/mm/transparent_hugepage/defrag = always defer defer+madvise [madvise] never
            /sys/kernel/mm/transparent_hugepage/khugepaged/defrag = 1
            /sys/kernel/security/lockdown = [none] integrity confidentiality
            ",
        )
        .with("/proc/self/stat", &own_stat(4242, 20, 0, 0))
        .with("/proc/4242/stat", &own_stat(4242, 20, 0, 0))
        .with("/proc/1/stat", &process(1, "init", 500))
    }

    /// Interrupts: on all CPUs, on one, on CPU 0, and a managed one.
    fn irqs(self, all: &str, one: &str) -> Machine {
        self.with("/proc/irq/16/smp_affinity", all)
            .with("/proc/irq/17/smp_affinity", one)
            .with("/proc/irq/18/smp_affinity", "1")
            .fixed("/proc/irq/19/smp_affinity", one)
            .tree(
                "
                /sys/kernel/irq/16/actions = eth0
                /sys/kernel/irq/17/actions = xhci_hcd
                /sys/kernel/irq/18/actions = rtc0
                /sys/kernel/irq/19/actions = nvme0q4
                ",
            )
    }
}

/// An Intel desktop: intel_pstate, four cores with two threads.
pub fn intel() -> Machine {
    Machine::new("intel")
        .linux()
        .cpus(&["0,4", "1,5", "2,6", "3,7"])
        .a_policy_each(8)
        .irqs("ff", "8")
        .tree(
            "
            ~/cpufreq/policy{0-7}/scaling_driver = intel_pstate
            ~/cpufreq/policy{0-7}/scaling_governor = powersave
            ~/cpufreq/policy{0-7}/scaling_available_governors = performance powersave
            ~/cpufreq/policy{0-7}/energy_performance_preference = balance_performance
            ~/cpufreq/policy{0-7}/energy_performance_available_preferences = default performance balance_performance balance_power power
            ~/cpufreq/policy{0-7}/base_frequency = 3600000
            ~/cpufreq/policy{0-7}/cpuinfo_min_freq = 800000
            ~/cpufreq/policy{0-7}/cpuinfo_max_freq = 5000000
            ~/cpufreq/policy{0-7}/scaling_min_freq = 800000
            ~/cpufreq/policy{0-7}/scaling_max_freq = 5000000
            ~/cpu{0-7}/power/energy_perf_bias = 6
            ~/cpu{0-7}/thermal_throttle/core_throttle_count = 0
            ~/intel_pstate/no_turbo = 0
            ~/intel_pstate/status = active
            ~/smt/control = on
            ~/smt/active = 1
            /proc/cpuinfo = vendor_id : GenuineIntel|flags : fpu tsc
            /sys/class/thermal/thermal_zone0/type = x86_pkg_temp
            /sys/class/thermal/thermal_zone0/temp = 54000
            ",
        )
}

/// An AMD laptop on battery: amd_pstate active, boost per policy.
pub fn amd() -> Machine {
    Machine::new("amd")
        .linux()
        .cpus(&["0-1", "2-3"])
        .a_policy_each(4)
        .irqs("f", "8")
        .tree(
            "
            ~/cpufreq/policy{0-3}/scaling_driver = amd-pstate-epp
            ~/cpufreq/policy{0-3}/scaling_governor = powersave
            ~/cpufreq/policy{0-3}/scaling_available_governors = performance powersave
            ~/cpufreq/policy{0-3}/energy_performance_preference = balance_power
            ~/cpufreq/policy{0-3}/energy_performance_available_preferences = default performance balance_performance balance_power power
            ~/cpufreq/policy{0-3}/boost = 1
            ~/cpufreq/policy{0-3}/cpuinfo_min_freq = 400000
            ~/cpufreq/policy{0-3}/cpuinfo_max_freq = 4700000
            ~/cpufreq/policy{0-3}/scaling_min_freq = 400000
            ~/cpufreq/policy{0-3}/scaling_max_freq = 4700000
            ~/cpu{0-3}/acpi_cppc/nominal_freq = 2700
            ~/amd_pstate/status = active
            ~/smt/control = on
            /proc/cpuinfo = vendor_id : AuthenticAMD|flags : fpu tsc
            /sys/class/power_supply/BAT0/type = Battery
            /sys/class/power_supply/BAT0/status = Discharging
            /sys/class/power_supply/BAT0/capacity = 62
            /sys/class/power_supply/AC/type = Mains
            /sys/class/power_supply/AC/online = 0
            ",
        )
}

/// An older server: acpi-cpufreq with one boost switch, two governors in use,
/// kernel lockdown.
pub fn acpi() -> Machine {
    Machine::new("acpi")
        .linux()
        .cpus(&["0", "1", "2", "3"])
        .a_policy_each(4)
        .irqs("f", "8")
        .tree(
            "
            ~/cpufreq/policy{0-3}/scaling_driver = acpi-cpufreq
            ~/cpufreq/policy{0-2}/scaling_governor = schedutil
            ~/cpufreq/policy3/scaling_governor = performance
            ~/cpufreq/policy{0-3}/scaling_available_governors = conservative ondemand userspace powersave performance schedutil
            ~/cpufreq/policy{0-3}/cpuinfo_min_freq = 1400000
            ~/cpufreq/policy{0-3}/cpuinfo_max_freq = 2300000
            ~/cpufreq/policy{0-3}/scaling_min_freq = 1400000
            ~/cpufreq/policy{0-3}/scaling_max_freq = 2300000
            ~/cpufreq/boost = 1
            ~/smt/control = notsupported
            /proc/cpuinfo = vendor_id : AuthenticAMD|flags : fpu tsc
            /proc/sys/kernel/numa_balancing = 1
            /sys/kernel/security/lockdown = none [integrity] confidentiality
            ",
        )
}

/// An ARM board with four little and four big cores.
pub fn big_little() -> Machine {
    Machine::new("big-little")
        .linux()
        .cpus(&["0", "1", "2", "3", "4", "5", "6", "7"])
        .irqs("ff", "80")
        .without("/proc/sys/kernel/nmi_watchdog")
        .tree(
            "
            ~/cpufreq/policy0/affected_cpus = 0 1 2 3
            ~/cpufreq/policy4/affected_cpus = 4 5 6 7
            ~/cpufreq/policy{0,4}/scaling_driver = cpufreq-dt
            ~/cpufreq/policy{0,4}/scaling_governor = schedutil
            ~/cpufreq/policy{0,4}/scaling_available_governors = ondemand performance schedutil
            ~/cpufreq/policy{0,4}/cpuinfo_min_freq = 408000
            ~/cpufreq/policy{0,4}/scaling_min_freq = 408000
            ~/cpufreq/policy0/cpuinfo_max_freq = 1800000
            ~/cpufreq/policy0/scaling_max_freq = 1800000
            ~/cpufreq/policy4/cpuinfo_max_freq = 2400000
            ~/cpufreq/policy4/scaling_max_freq = 2400000
            ~/cpu{0-3}/cpu_capacity = 485
            ~/cpu{4-7}/cpu_capacity = 1024
            /proc/cpuinfo = CPU implementer : 0x41|CPU part : 0xd08
            /sys/class/thermal/thermal_zone0/type = soc-thermal
            /sys/class/thermal/thermal_zone0/temp = 71500
            ",
        )
}

/// Intel hybrid: two P-cores with two threads, four E-cores.
pub fn hybrid() -> Machine {
    Machine::new("hybrid")
        .linux()
        .cpus(&["0-1", "2-3", "4", "5", "6", "7"])
        .a_policy_each(8)
        .irqs("ff", "8")
        .tree(
            "
            ~/cpufreq/policy{0-7}/scaling_driver = intel_pstate
            ~/cpufreq/policy{0-7}/scaling_governor = powersave
            ~/cpufreq/policy{0-7}/scaling_available_governors = performance powersave
            ~/cpufreq/policy{0-7}/energy_performance_preference = balance_performance
            ~/cpufreq/policy{0-3}/base_frequency = 2400000
            ~/cpufreq/policy{4-7}/base_frequency = 1800000
            ~/cpufreq/policy{0-7}/cpuinfo_min_freq = 400000
            ~/cpufreq/policy{0-7}/cpuinfo_max_freq = 4800000
            ~/cpufreq/policy{0-7}/scaling_min_freq = 400000
            ~/cpufreq/policy{0-7}/scaling_max_freq = 4800000
            ~/intel_pstate/no_turbo = 0
            ~/intel_pstate/status = active
            ~/smt/control = on
            /sys/devices/cpu_core/cpus = 0-3
            /sys/devices/cpu_atom/cpus = 4-7
            /proc/cpuinfo = vendor_id : GenuineIntel|flags : fpu tsc
            ",
        )
}

/// A guest without cpufreq.
pub fn virtual_machine() -> Machine {
    Machine::new("virtual-machine")
        .linux()
        .cpus(&["0", "1"])
        .irqs("3", "2")
        .without("/sys/fs/cgroup/user.slice")
        .tree(
            "
            ~/smt/control = notsupported
            /proc/cpuinfo = vendor_id : AuthenticAMD|flags : fpu tsc hypervisor
            /sys/hypervisor/type = KVM
            /sys/kernel/mm/transparent_hugepage/enabled = always [madvise] never
            /proc/sys/kernel/nmi_watchdog = 0
            /proc/self/cgroup = 3:cpuset:/|2:cpu:/|0::/
            /proc/self/mountinfo = 22 1 0:21 / /proc rw - proc proc rw|23 1 0:22 / /sys rw - sysfs sysfs rw|30 23 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
            /sys/fs/cgroup/cpuset/cpuset.effective_cpus = 0-1
            /sys/fs/cgroup/cpuset/cpuset.cpus = 0-1
            /sys/fs/cgroup/cpuset/cpuset.cpu_exclusive = 1
            /sys/fs/cgroup/cpuset/cgroup.procs = 4242
            ",
        )
}

/// A container on [`intel`]: /sys and /proc/sys read-only, two CPUs allowed, an
/// ordinary user.
pub fn container() -> Machine {
    intel()
        .named("container")
        .without("/sys/fs/cgroup/user.slice")
        .with("/proc/self/status", &status(1000, "2-3"))
        .tree(
            "
            /proc/self/mountinfo = 22 1 0:21 / /proc rw - proc proc rw|23 1 0:22 / /sys ro - sysfs sysfs ro|24 22 0:21 /sys /proc/sys ro - proc proc rw|25 22 0:21 /irq /proc/irq ro - proc proc rw|30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw
            /proc/self/cgroup = 0::/
            /sys/fs/cgroup/cpuset.cpus.effective = 2-3
            /sys/fs/cgroup/cgroup.procs = 4242
            /.dockerenv =
            ",
        )
}

/// The same for root of the container, with the capabilities that Docker
/// leaves.
pub fn container_root() -> Machine {
    let status = format!("{}\nCapEff:\t00000000a80425fb", status(0, "2-3"));
    container()
        .named("container-root")
        .with("/proc/self/status", &status)
}

/// A machine with a single CPU and hardly anything to set.
pub fn single() -> Machine {
    Machine::new("single")
        .linux()
        .cpus(&["0"])
        .without("/proc/self/autogroup")
        .with("/proc/cpuinfo", "flags : fpu tsc hypervisor")
        .with("/proc/sys/kernel/sched_autogroup_enabled", "0")
}

/// [`intel`] with good values, seen by a process with all that latlas can give
/// it.
pub fn quiet() -> Machine {
    // Sibling threads are offline, and their files gone.
    let mut machine = intel().named("quiet");
    for cpu in 4..8 {
        machine = machine
            .without(&format!("{CPUS}/cpufreq/policy{cpu}"))
            .without(&format!("{CPUS}/cpu{cpu}"));
    }
    for cpu in 0..4 {
        let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
        machine = machine.with(&path, &cpu.to_string());
    }
    machine
        .with("/proc/self/status", &status(0, "3"))
        .with("/proc/self/stat", &own_stat(4242, -51, -10, 1))
        .with("/proc/stat", &stat(4))
        .tree(
            "
            ~/intel_pstate/no_turbo = 1
            ~/smt/control = off
            ~/online = 0-3
            ~/isolated = 3
            ~/cpufreq/policy{0-3}/scaling_governor = performance
            ~/cpufreq/policy{0-3}/energy_performance_preference = performance
            ~/cpu{0-3}/power/energy_perf_bias = 0
            /sys/kernel/mm/transparent_hugepage/enabled = always [madvise] never
            /sys/kernel/mm/transparent_hugepage/khugepaged/defrag = 0
            /sys/devices/virtual/workqueue/cpumask = 7
            /sys/fs/cgroup/user.slice/cpuset.cpus.effective = 0-3
            /proc/sys/kernel/perf_event_max_sample_rate = 1
            /proc/sys/kernel/nmi_watchdog = 0
            /proc/sys/kernel/timer_migration = 0
            /proc/irq/default_smp_affinity = 7
            /proc/irq/{16-17}/smp_affinity = 7
            /proc/self/autogroup = /autogroup-78 nice -10
            /proc/self/timerslack_ns = 1
            ",
        )
}

/// proc_pid_status(5), as far as it is asked for.
fn status(user: u32, allowed: &str) -> String {
    format!(
        "Name:\tlatlas\nPid:\t4242\nUid:\t{user}\t{user}\t{user}\t{user}\nCpus_allowed_list:\t{allowed}"
    )
}

/// proc_stat(5): each CPU with the same small times.
fn stat(cpus: usize) -> String {
    let line = |name: &str, times: usize| {
        let all = [100, 0, 50, 10_000, 10, 0, 5, 0, 0, 0].map(|time| (time * times).to_string());
        format!("{name} {}", all.join(" "))
    };
    let mut lines = vec![line("cpu ", cpus)];
    lines.extend((0..cpus).map(|cpu| line(&format!("cpu{cpu}"), 1)));
    lines.join("\n")
}

/// proc_pid_stat(5) of this process: priority (18), nice (19), policy (41).
fn own_stat(pid: u32, priority: i32, nice: i32, policy: u32) -> String {
    let between = vec!["0"; 40 - 19].join(" ");
    format!(
        "{pid} (latlas) R 1 {pid} {pid} 0 -1 0 0 0 0 0 1 1 0 0 {priority} {nice} {between} {policy} 0 0"
    )
}

/// proc_pid_stat(5) of another process that has had so many ticks. It was
/// started from a terminal's window, /dev/pts/1.
pub fn process(pid: u32, name: &str, ticks: u64) -> String {
    process_below(pid, name, ticks, 1, PTS_1)
}

/// The number of the device /dev/pts/1.
const PTS_1: u32 = 136 << 8 | 1;

/// The same with its parent and the number of its terminal, 0 for none.
pub fn process_below(pid: u32, name: &str, ticks: u64, parent: u32, terminal: u32) -> String {
    format!(
        "{pid} ({name}) S {parent} {pid} {pid} {terminal} -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 100"
    )
}
