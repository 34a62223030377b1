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

    /// Files below a directory, `name content`.
    fn below(self, directory: &str, files: &[(&str, &str)]) -> Machine {
        files.iter().fold(self, |machine, (name, content)| {
            machine.with(&format!("{directory}/{name}"), content)
        })
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

    /// A frequency policy for each of these lists of CPUs.
    fn policies(self, cpus: &[&str], files: &[(&str, &str)]) -> Machine {
        cpus.iter().fold(self, |machine, list| {
            let first = list.split(' ').next().unwrap_or_default();
            let directory = format!("{CPUS}/cpufreq/policy{first}");
            machine
                .with(&format!("{directory}/affected_cpus"), list)
                .below(&directory, files)
        })
    }

    /// What an ordinary distribution sets, and an ordinary shell's process.
    fn linux(self) -> Machine {
        self.below(
            "/proc/sys/kernel",
            &[
                ("randomize_va_space", "2"),
                ("perf_event_max_sample_rate", "100000"),
                ("perf_cpu_time_max_percent", "25"),
                ("perf_event_paranoid", "2"),
                ("nmi_watchdog", "1"),
                ("soft_watchdog", "1"),
                ("timer_migration", "1"),
                ("numa_balancing", "0"),
                ("sched_autogroup_enabled", "1"),
                ("sched_rt_runtime_us", "950000"),
                ("sched_rt_period_us", "1000000"),
                ("osrelease", "6.12.9"),
            ],
        )
        .below(
            "/sys/kernel/mm/transparent_hugepage",
            &[
                ("enabled", "[always] madvise never"),
                ("defrag", "always defer defer+madvise [madvise] never"),
                ("khugepaged/defrag", "1"),
            ],
        )
        .below(
            "/proc/self",
            &[
                ("autogroup", "/autogroup-77 nice 0"),
                ("timerslack_ns", "50000"),
                ("stat", &own_stat(4242, 20, 0, 0)),
                ("cgroup", "0::/user.slice"),
                (
                    "mountinfo",
                    "22 1 0:21 / /proc rw - proc proc rw\n23 1 0:22 / /sys rw - sysfs sysfs rw\n\
                     30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
                ),
            ],
        )
        .below(
            "/proc",
            &[
                ("loadavg", "0.10 0.20 0.30 1/200 4242"),
                (
                    "pressure/cpu",
                    "some avg10=0.00 avg60=0.10 avg300=0.20 total=12345",
                ),
                (
                    "pressure/io",
                    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1",
                ),
                (
                    "pressure/memory",
                    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1",
                ),
                (
                    "meminfo",
                    "MemTotal: 16384000 kB\nMemFree: 8192000 kB\nCached: 4096000 kB\n\
                     Dirty: 128 kB\nWriteback: 0 kB\nSwapTotal: 2097152 kB\nSwapFree: 2097152 kB",
                ),
                ("sys/vm/swappiness", "60"),
                ("1/stat", &process(1, "init", 500)),
                ("4242/stat", &own_stat(4242, 20, 0, 0)),
            ],
        )
        .with(
            "/sys/kernel/security/lockdown",
            "[none] integrity confidentiality",
        )
    }

    /// Interrupts: on all CPUs, on one, on CPU 0, and one that is the kernel's.
    fn irqs(self, all: &str, one: &str) -> Machine {
        let mask = |number: u32| format!("/proc/irq/{number}/smp_affinity");
        self.with(&mask(16), all)
            .with(&mask(17), one)
            .with(&mask(18), "1")
            .fixed(&mask(19), one)
            .with("/sys/kernel/irq/16/actions", "eth0")
            .with("/sys/kernel/irq/17/actions", "xhci_hcd")
            .with("/sys/kernel/irq/18/actions", "rtc0")
            .with("/sys/kernel/irq/19/actions", "nvme0q4")
    }
}

/// A desktop of Intel: intel_pstate in charge, four cores of two threads.
pub fn intel() -> Machine {
    let mut machine = Machine::new("intel")
        .linux()
        .cpus(&["0,4", "1,5", "2,6", "3,7"])
        .policies(
            &["0", "1", "2", "3", "4", "5", "6", "7"],
            &[
                ("scaling_driver", "intel_pstate"),
                ("scaling_governor", "powersave"),
                ("scaling_available_governors", "performance powersave"),
                ("energy_performance_preference", "balance_performance"),
                (
                    "energy_performance_available_preferences",
                    "default performance balance_performance balance_power power",
                ),
                ("base_frequency", "3600000"),
                ("cpuinfo_min_freq", "800000"),
                ("cpuinfo_max_freq", "5000000"),
                ("scaling_min_freq", "800000"),
                ("scaling_max_freq", "5000000"),
            ],
        )
        .with(&format!("{CPUS}/intel_pstate/no_turbo"), "0")
        .with(&format!("{CPUS}/intel_pstate/status"), "active")
        .with(&format!("{CPUS}/smt/control"), "on")
        .with(&format!("{CPUS}/smt/active"), "1")
        .irqs("ff", "8")
        .with("/proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc")
        .with("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp")
        .with("/sys/class/thermal/thermal_zone0/temp", "54000");
    for cpu in 0..8 {
        machine = machine
            .with(&format!("{CPUS}/cpu{cpu}/power/energy_perf_bias"), "6")
            .with(
                &format!("{CPUS}/cpu{cpu}/thermal_throttle/core_throttle_count"),
                "0",
            );
    }
    machine
}

/// A laptop of AMD on battery: amd_pstate active, boost of each policy.
pub fn amd() -> Machine {
    Machine::new("amd")
        .linux()
        .cpus(&["0-1", "2-3"])
        .policies(
            &["0", "1", "2", "3"],
            &[
                ("scaling_driver", "amd-pstate-epp"),
                ("scaling_governor", "powersave"),
                ("scaling_available_governors", "performance powersave"),
                ("energy_performance_preference", "balance_power"),
                (
                    "energy_performance_available_preferences",
                    "default performance balance_performance balance_power power",
                ),
                ("boost", "1"),
                ("cpuinfo_min_freq", "400000"),
                ("cpuinfo_max_freq", "4700000"),
                ("scaling_min_freq", "400000"),
                ("scaling_max_freq", "4700000"),
            ],
        )
        .with(&format!("{CPUS}/amd_pstate/status"), "active")
        .with(&format!("{CPUS}/smt/control"), "on")
        .with(&format!("{CPUS}/cpu0/acpi_cppc/nominal_freq"), "2700")
        .with(&format!("{CPUS}/cpu1/acpi_cppc/nominal_freq"), "2700")
        .with(&format!("{CPUS}/cpu2/acpi_cppc/nominal_freq"), "2700")
        .with(&format!("{CPUS}/cpu3/acpi_cppc/nominal_freq"), "2700")
        .irqs("f", "8")
        .with("/proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : fpu tsc")
        .with("/sys/class/power_supply/BAT0/type", "Battery")
        .with("/sys/class/power_supply/BAT0/status", "Discharging")
        .with("/sys/class/power_supply/BAT0/capacity", "62")
        .with("/sys/class/power_supply/AC/type", "Mains")
        .with("/sys/class/power_supply/AC/online", "0")
}

/// An older server: acpi-cpufreq with one switch for boost, two governors in
/// use, a kernel locked down.
pub fn acpi() -> Machine {
    Machine::new("acpi")
        .linux()
        .cpus(&["0", "1", "2", "3"])
        .policies(
            &["0", "1", "2", "3"],
            &[
                ("scaling_driver", "acpi-cpufreq"),
                ("scaling_governor", "schedutil"),
                (
                    "scaling_available_governors",
                    "conservative ondemand userspace powersave performance schedutil",
                ),
                ("cpuinfo_min_freq", "1400000"),
                ("cpuinfo_max_freq", "2300000"),
                ("scaling_min_freq", "1400000"),
                ("scaling_max_freq", "2300000"),
            ],
        )
        .with(
            &format!("{CPUS}/cpufreq/policy3/scaling_governor"),
            "performance",
        )
        .with(&format!("{CPUS}/cpufreq/boost"), "1")
        .with(&format!("{CPUS}/smt/control"), "notsupported")
        .irqs("f", "8")
        .with("/proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : fpu tsc")
        .with(
            "/sys/kernel/security/lockdown",
            "none [integrity] confidentiality",
        )
        .with("/proc/sys/kernel/numa_balancing", "1")
}

/// A board with four small and four large cores of ARM.
pub fn big_little() -> Machine {
    let mut machine = Machine::new("big-little")
        .linux()
        .cpus(&["0", "1", "2", "3", "4", "5", "6", "7"])
        .policies(
            &["0 1 2 3", "4 5 6 7"],
            &[
                ("scaling_driver", "cpufreq-dt"),
                ("scaling_governor", "schedutil"),
                (
                    "scaling_available_governors",
                    "ondemand performance schedutil",
                ),
                ("cpuinfo_min_freq", "408000"),
                ("cpuinfo_max_freq", "1800000"),
                ("scaling_min_freq", "408000"),
                ("scaling_max_freq", "1800000"),
            ],
        )
        .with(
            &format!("{CPUS}/cpufreq/policy4/cpuinfo_max_freq"),
            "2400000",
        )
        .with(
            &format!("{CPUS}/cpufreq/policy4/scaling_max_freq"),
            "2400000",
        )
        .irqs("ff", "80")
        .with("/proc/cpuinfo", "CPU implementer : 0x41\nCPU part : 0xd08")
        .without("/proc/sys/kernel/nmi_watchdog")
        .with("/sys/class/thermal/thermal_zone0/type", "soc-thermal")
        .with("/sys/class/thermal/thermal_zone0/temp", "71500");
    for cpu in 0..8 {
        let capacity = if cpu < 4 { "485" } else { "1024" };
        machine = machine.with(&format!("{CPUS}/cpu{cpu}/cpu_capacity"), capacity);
    }
    machine
}

/// Intel with two P-cores of two threads and four E-cores.
pub fn hybrid() -> Machine {
    Machine::new("hybrid")
        .linux()
        .cpus(&["0-1", "2-3", "4", "5", "6", "7"])
        .policies(
            &["0", "1", "2", "3", "4", "5", "6", "7"],
            &[
                ("scaling_driver", "intel_pstate"),
                ("scaling_governor", "powersave"),
                ("scaling_available_governors", "performance powersave"),
                ("energy_performance_preference", "balance_performance"),
                ("base_frequency", "2400000"),
                ("cpuinfo_min_freq", "400000"),
                ("cpuinfo_max_freq", "4800000"),
                ("scaling_min_freq", "400000"),
                ("scaling_max_freq", "4800000"),
            ],
        )
        .with(&format!("{CPUS}/intel_pstate/no_turbo"), "0")
        .with(&format!("{CPUS}/intel_pstate/status"), "active")
        .policies(&["4", "5", "6", "7"], &[("base_frequency", "1800000")])
        .with(&format!("{CPUS}/smt/control"), "on")
        .with("/sys/devices/cpu_core/cpus", "0-3")
        .with("/sys/devices/cpu_atom/cpus", "4-7")
        .irqs("ff", "8")
        .with("/proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc")
}

/// A guest that sees nothing of the processor's clock.
pub fn virtual_machine() -> Machine {
    Machine::new("virtual-machine")
        .linux()
        .cpus(&["0", "1"])
        .with(&format!("{CPUS}/smt/control"), "notsupported")
        .irqs("3", "2")
        .with(
            "/proc/cpuinfo",
            "vendor_id : AuthenticAMD\nflags : fpu tsc hypervisor",
        )
        .with("/sys/hypervisor/type", "KVM")
        .with(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never",
        )
        .with("/proc/sys/kernel/nmi_watchdog", "0")
        .with("/proc/self/cgroup", "3:cpuset:/\n2:cpu:/\n0::/")
        .with(
            "/proc/self/mountinfo",
            "22 1 0:21 / /proc rw - proc proc rw\n23 1 0:22 / /sys rw - sysfs sysfs rw\n\
             30 23 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset",
        )
        .without("/sys/fs/cgroup/user.slice")
        .with("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1")
        .with("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-1")
        .with("/sys/fs/cgroup/cpuset/cpuset.cpu_exclusive", "1")
        .with("/sys/fs/cgroup/cpuset/cgroup.procs", "4242")
}

/// A container on the machine [`intel`]: /sys and /proc/sys for reading only,
/// two CPUs allowed, an ordinary user.
pub fn container() -> Machine {
    let mut machine = intel()
        .with(
            "/proc/self/mountinfo",
            "22 1 0:21 / /proc rw - proc proc rw\n23 1 0:22 / /sys ro - sysfs sysfs ro\n\
             24 22 0:21 /sys /proc/sys ro - proc proc rw\n25 22 0:21 /irq /proc/irq ro - proc proc rw\n\
             30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw",
        )
        .with("/proc/self/status", &status(1000, "2-3"))
        .with("/proc/self/cgroup", "0::/")
        .with("/sys/fs/cgroup/cpuset.cpus.effective", "2-3")
        .with("/sys/fs/cgroup/cgroup.procs", "4242")
        .without("/sys/fs/cgroup/user.slice")
        .with("/.dockerenv", "");
    machine.name = "container";
    machine
}

/// The same seen by the container's root: user 0, with the capabilities that
/// Docker leaves it.
pub fn container_root() -> Machine {
    let status = format!("{}\nCapEff:\t00000000a80425fb", status(0, "2-3"));
    let mut machine = container().with("/proc/self/status", &status);
    machine.name = "container-root";
    machine
}

/// A machine with a single CPU and hardly anything to set.
pub fn single() -> Machine {
    Machine::new("single")
        .linux()
        .cpus(&["0"])
        .with("/proc/cpuinfo", "flags : fpu tsc hypervisor")
        .with("/proc/sys/kernel/sched_autogroup_enabled", "0")
        .without("/proc/self/autogroup")
}

/// The machine [`intel`] with everything as one would want it, seen by a
/// process that runs under all that latlas can give it.
pub fn quiet() -> Machine {
    let mut machine = intel()
        .with(&format!("{CPUS}/intel_pstate/no_turbo"), "1")
        .with(&format!("{CPUS}/smt/control"), "off")
        .with(&format!("{CPUS}/online"), "0-3")
        .with(&format!("{CPUS}/isolated"), "3")
        .with(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never",
        )
        .with("/sys/kernel/mm/transparent_hugepage/khugepaged/defrag", "0")
        .below(
            "/proc/sys/kernel",
            &[
                ("perf_event_max_sample_rate", "1"),
                ("nmi_watchdog", "0"),
                ("timer_migration", "0"),
            ],
        )
        .with("/proc/irq/default_smp_affinity", "7")
        .with("/sys/devices/virtual/workqueue/cpumask", "7")
        .with("/proc/irq/16/smp_affinity", "7")
        .with("/proc/irq/17/smp_affinity", "7")
        .with("/proc/self/status", &status(0, "3"))
        .with("/proc/self/autogroup", "/autogroup-78 nice -10")
        .with("/proc/self/timerslack_ns", "1")
        .with("/proc/self/stat", &own_stat(4242, -51, -10, 1))
        .with("/proc/stat", &stat(4));
    // The other threads are offline, and their files with them.
    for cpu in 4..8 {
        machine = machine
            .without(&format!("{CPUS}/cpufreq/policy{cpu}"))
            .without(&format!("{CPUS}/cpu{cpu}"));
    }
    machine = machine.with("/sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0-3");
    for cpu in 0..4 {
        let policy = format!("{CPUS}/cpufreq/policy{cpu}");
        machine = machine
            .with(&format!("{policy}/scaling_governor"), "performance")
            .with(
                &format!("{policy}/energy_performance_preference"),
                "performance",
            )
            .with(&format!("{CPUS}/cpu{cpu}/power/energy_perf_bias"), "0")
            .with(
                &format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"),
                &cpu.to_string(),
            );
    }
    machine.name = "quiet";
    machine
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
