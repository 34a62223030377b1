//! Every control, described once: `noise show`, the files that `noise tune` may
//! write and what they change along, and the table of docs/noise/controls.md
//! follow from here. Files are those of the kernel's Documentation:
//! `admin-guide/{pm,mm,sysctl}`, `core-api/{irq,workqueue.rst}`,
//! `ABI/testing/sysfs-devices-system-cpu`; `<n>` stands for any number.

use super::absent::{no_bias, no_driver, no_irqs, no_preference, no_smt, no_turbo_switch};
use super::special::{driver, interrupts, online_switch, pairs_of_threads, rt_runtime, turbo};
use super::special::{movable, sample_rate};
use super::{Control, Moves, Target, Tune, ValueFormat, WriteStage};
use super::{environment, isolation, process};
use model::noise::control::ControlArea;

/// One process is given these by `latlas run` and `latlas exec`.
const PER_PROCESS: Tune = Tune::Never("it is per process: use latlas run or latlas exec");
const AT_BOOT: Tune = Tune::Never("it is a kernel parameter, set at boot");
const FIXED_CLOCK: Tune =
    Tune::ByName("a fixed frequency is not the machine that programs run on otherwise");

/// 0 and 1.
const ON_OFF: ValueFormat = ValueFormat::Words(&[("0", "off"), ("1", "on")]);

/// A switch that is off in the default set.
const SWITCH_OFF: Control = Control {
    reading: ON_OFF,
    target: Target::Is("0"),
    better: "off",
    tune: Tune::ByDefault,
    ..Control::READ_ONLY
};

/// A mask that should leave out the quiet CPUs.
const CPU_MASK: Control = Control {
    group: ControlArea::Interrupts,
    tune: Tune::ByDefault,
    order: WriteStage::Interrupts,
    reading: ValueFormat::Mask,
    target: Target::Housekeeping,
    better: "not the quiet CPUs",
    ..Control::READ_ONLY
};

/// A file of each cpufreq policy.
const CLOCK: Control = Control {
    group: ControlArea::Clock,
    tune: Tune::ByDefault,
    fixtures_only: true,
    absent: Some(no_driver),
    ..Control::READ_ONLY
};

pub(super) const CONTROLS: &[Control] = &[
    Control {
        id: "turbo",
        title: "frequencies above nominal (turbo, boost)",
        order: WriteStage::Turbo,
        files: &[
            "/sys/devices/system/cpu/intel_pstate/no_turbo",
            "/sys/devices/system/cpu/cpufreq/boost",
            "/sys/devices/system/cpu/cpufreq/policy<n>/boost",
        ],
        adjust: Some(turbo),
        better: "off",
        why: "how far the clock rises depends on temperature and on the other cores",
        moves: Moves::Files(&[
            "/sys/devices/system/cpu/cpufreq/policy<n>/boost",
            "/sys/devices/system/cpu/cpufreq/policy<n>/scaling_min_freq",
            "/sys/devices/system/cpu/cpufreq/policy<n>/scaling_max_freq",
        ]),
        absent: Some(no_turbo_switch),
        ..CLOCK
    },
    Control {
        id: "governor",
        title: "cpufreq governor",
        order: WriteStage::Governor,
        files: &["/sys/devices/system/cpu/cpufreq/policy<n>/scaling_governor"],
        target: Target::Offered("scaling_available_governors", "performance"),
        better: "performance",
        why: "other governors follow the load, late each time it starts",
        moves: Moves::SamePolicy(&[
            "energy_performance_preference",
            "scaling_min_freq",
            "scaling_max_freq",
        ]),
        ..CLOCK
    },
    Control {
        id: "epp",
        title: "energy performance preference (EPP)",
        order: WriteStage::Preference,
        files: &["/sys/devices/system/cpu/cpufreq/policy<n>/energy_performance_preference"],
        target: Target::Offered("energy_performance_available_preferences", "performance"),
        better: "performance",
        why: "with others the processor itself picks lower frequencies",
        absent: Some(no_preference),
        ..CLOCK
    },
    Control {
        id: "epb",
        title: "energy performance bias (EPB)",
        order: WriteStage::Preference,
        files: &["/sys/devices/system/cpu/cpu<n>/power/energy_perf_bias"],
        reading: ValueFormat::Words(&[
            ("0", "performance"),
            ("4", "balance-performance"),
            ("6", "normal"),
            ("8", "balance-power"),
            ("15", "power"),
        ]),
        target: Target::Is("0"),
        better: "performance",
        why: "with others the processor trades speed for energy",
        absent: Some(no_bias),
        ..CLOCK
    },
    Control {
        id: "max-frequency",
        title: "upper frequency limit",
        tune: FIXED_CLOCK,
        order: WriteStage::UpperLimit,
        files: &["/sys/devices/system/cpu/cpufreq/policy<n>/scaling_max_freq"],
        reading: ValueFormat::Kilohertz,
        target: Target::NominalFrequency,
        better: "nominal",
        why: "together with min-frequency it fixes the clock",
        ..CLOCK
    },
    Control {
        id: "min-frequency",
        title: "lower frequency limit",
        tune: FIXED_CLOCK,
        order: WriteStage::LowerLimit,
        files: &["/sys/devices/system/cpu/cpufreq/policy<n>/scaling_min_freq"],
        reading: ValueFormat::Kilohertz,
        target: Target::NominalFrequency,
        better: "nominal",
        why: "together with max-frequency it fixes the clock",
        ..CLOCK
    },
    Control {
        id: "frequency-driver",
        title: "cpufreq driver and its mode",
        tune: Tune::Never("another driver or mode behaves like another machine"),
        files: &[
            "/sys/devices/system/cpu/cpufreq/policy<n>/scaling_driver",
            "/sys/devices/system/cpu/amd_pstate/status",
            "/sys/devices/system/cpu/intel_pstate/status",
        ],
        all_files: true,
        adjust: Some(driver),
        ..CLOCK
    },
    Control {
        id: "smt",
        title: "simultaneous multithreading (SMT)",
        group: ControlArea::Cores,
        tune: Tune::Recommended("it halves the number of CPUs for everything"),
        order: WriteStage::Siblings,
        fixtures_only: true,
        files: &["/sys/devices/system/cpu/smt/control"],
        target: Target::Is("off"),
        adjust: Some(online_switch),
        better: "off",
        why: "the other hardware thread shares the execution units and caches of the core",
        moves: Moves::CpuGoes,
        absent: Some(no_smt),
        line: Some(pairs_of_threads),
        ..Control::READ_ONLY
    },
    Control {
        id: "affinity",
        title: "CPU affinity of this process",
        group: ControlArea::Cores,
        tune: PER_PROCESS,
        files: &["/proc/self/status"],
        better: "one CPU",
        status: Some(process::affinity),
        ..Control::READ_ONLY
    },
    Control {
        id: "cpuset",
        title: "cpuset of this process",
        group: ControlArea::Cores,
        tune: PER_PROCESS,
        files: &["/proc/self/cgroup"],
        better: "a shield",
        status: Some(isolation::cpuset),
        ..Control::READ_ONLY
    },
    Control {
        id: "isolcpus",
        title: "CPUs isolated from the scheduler (isolcpus)",
        group: ControlArea::Cores,
        tune: AT_BOOT,
        files: &["/sys/devices/system/cpu/isolated"],
        better: "the quiet CPUs",
        status: Some(isolation::isolated),
        ..Control::READ_ONLY
    },
    Control {
        id: "nohz-full",
        title: "tickless CPUs (nohz_full)",
        group: ControlArea::Cores,
        tune: AT_BOOT,
        files: &["/sys/devices/system/cpu/nohz_full"],
        better: "the quiet CPUs",
        status: Some(isolation::nohz_full),
        ..Control::READ_ONLY
    },
    Control {
        id: "policy",
        title: "scheduling policy of this process",
        group: ControlArea::Scheduler,
        tune: PER_PROCESS,
        files: &["/proc/self/stat"],
        better: "SCHED_FIFO",
        status: Some(process::policy),
        ..Control::READ_ONLY
    },
    Control {
        id: "autogroup",
        title: "autogroup of this session and its nice value",
        group: ControlArea::Scheduler,
        tune: PER_PROCESS,
        files: &["/proc/self/autogroup"],
        better: "-10, in a separate session",
        status: Some(process::autogroup),
        ..Control::READ_ONLY
    },
    Control {
        id: "nice",
        title: "nice value of this process",
        group: ControlArea::Scheduler,
        tune: PER_PROCESS,
        files: &["/proc/self/stat"],
        better: "-10",
        status: Some(process::nice),
        ..Control::READ_ONLY
    },
    Control {
        id: "timer-slack",
        title: "timer slack of this process",
        group: ControlArea::Scheduler,
        tune: PER_PROCESS,
        files: &["/proc/self/timerslack_ns"],
        better: "1 ns",
        status: Some(process::timer_slack),
        ..Control::READ_ONLY
    },
    Control {
        id: "autogroup-enabled",
        title: "autogroups",
        group: ControlArea::Scheduler,
        tune: Tune::ByName(
            "it changes CPU shares for everything; a separate session does it for one command",
        ),
        files: &["/proc/sys/kernel/sched_autogroup_enabled"],
        better: "off, or a separate session",
        why: "while on, nice values weigh within one session only",
        ..SWITCH_OFF
    },
    Control {
        id: "rt-throttling",
        title: "RT throttling",
        group: ControlArea::Scheduler,
        tune: Tune::ByName("without it a busy real-time task can hang the machine"),
        files: &["/proc/sys/kernel/sched_rt_runtime_us"],
        target: Target::Is("-1"),
        adjust: Some(rt_runtime),
        better: "no limit",
        why: "RT throttling stops a busy SCHED_FIFO task for the rest of each period (before Linux 6.12, and later with RT_GROUP_SCHED)",
        ..Control::READ_ONLY
    },
    Control {
        id: "timer-migration",
        title: "timer migration",
        group: ControlArea::Scheduler,
        files: &["/proc/sys/kernel/timer_migration"],
        why: "timers of idle CPUs move to busy ones and interrupt them",
        ..SWITCH_OFF
    },
    Control {
        id: "numa-balancing",
        title: "automatic NUMA balancing",
        group: ControlArea::Scheduler,
        files: &["/proc/sys/kernel/numa_balancing"],
        why: "it unmaps pages to see which node uses them, and moves them",
        ..SWITCH_OFF
    },
    Control {
        id: "irq-affinity",
        title: "IRQ affinity",
        files: &["/proc/irq/<n>/smp_affinity"],
        adjust: Some(movable),
        why: "an interrupt takes a few microseconds from what runs there",
        absent: Some(no_irqs),
        line: Some(interrupts),
        ..CPU_MASK
    },
    Control {
        id: "default-irq-affinity",
        title: "IRQ affinity of new interrupts",
        files: &["/proc/irq/default_smp_affinity"],
        why: "a device that is added later would interrupt them",
        absent: Some(no_irqs),
        ..CPU_MASK
    },
    Control {
        id: "workqueues",
        title: "CPUs for unbound workqueues",
        files: &["/sys/devices/virtual/workqueue/cpumask"],
        why: "deferred kernel work can run elsewhere",
        ..CPU_MASK
    },
    Control {
        id: "sample-rate",
        title: "perf sample rate limit (Hz)",
        group: ControlArea::Interrupts,
        tune: Tune::ByDefault,
        files: &["/proc/sys/kernel/perf_event_max_sample_rate"],
        target: Target::Is("1"),
        adjust: Some(sample_rate),
        better: "1",
        why: "limits how often perf may interrupt the run",
        ..Control::READ_ONLY
    },
    Control {
        id: "nmi-watchdog",
        title: "NMI watchdog (hard lockup detector)",
        group: ControlArea::Interrupts,
        files: &["/proc/sys/kernel/nmi_watchdog"],
        why: "it uses a hardware counter of each CPU, and interrupts",
        ..SWITCH_OFF
    },
    Control {
        id: "soft-watchdog",
        title: "soft lockup detector",
        group: ControlArea::Interrupts,
        tune: Tune::ByName("it interrupts every few seconds only, and reports lockups"),
        files: &["/proc/sys/kernel/soft_watchdog"],
        why: "a timer every few seconds on each CPU",
        ..SWITCH_OFF
    },
    Control {
        id: "perf-cpu-time",
        title: "CPU time limit of perf sampling (percent)",
        group: ControlArea::Interrupts,
        tune: Tune::Never("the kernel lowers the sample rate by it"),
        files: &["/proc/sys/kernel/perf_cpu_time_max_percent"],
        ..Control::READ_ONLY
    },
    Control {
        id: "perf-paranoid",
        title: "unprivileged access to perf events (perf_event_paranoid)",
        group: ControlArea::Interrupts,
        tune: Tune::Never("it is not noise: it limits which counters you may read"),
        files: &["/proc/sys/kernel/perf_event_paranoid"],
        ..Control::READ_ONLY
    },
    Control {
        id: "thp",
        title: "transparent huge pages (THP)",
        group: ControlArea::Memory,
        tune: Tune::ByDefault,
        files: &["/sys/kernel/mm/transparent_hugepage/enabled"],
        reading: ValueFormat::Choice(&["madvise", "never"]),
        target: Target::Is("madvise"),
        better: "madvise",
        why: "with always, huge pages depend on memory fragmentation",
        ..Control::READ_ONLY
    },
    Control {
        id: "thp-defrag",
        title: "THP defragmentation at page faults",
        group: ControlArea::Memory,
        tune: Tune::ByDefault,
        files: &["/sys/kernel/mm/transparent_hugepage/defrag"],
        reading: ValueFormat::Choice(&["madvise", "never", "defer+madvise"]),
        target: Target::Is("madvise"),
        better: "madvise",
        why: "otherwise any page fault may wait for compaction",
        ..Control::READ_ONLY
    },
    Control {
        id: "khugepaged",
        title: "khugepaged defragmentation",
        group: ControlArea::Memory,
        files: &["/sys/kernel/mm/transparent_hugepage/khugepaged/defrag"],
        why: "khugepaged still joins pages, but compacts no memory for it",
        ..SWITCH_OFF
    },
    Control {
        id: "aslr",
        title: "address space layout randomization (ASLR)",
        group: ControlArea::Memory,
        tune: Tune::ByName(
            "it protects every process from exploits; setarch -R disables it for one",
        ),
        files: &["/proc/sys/kernel/randomize_va_space"],
        reading: ValueFormat::Words(&[("0", "off"), ("1", "on, except the heap"), ("2", "on")]),
        target: Target::Is("0"),
        better: "off for one command",
        why: "each start has another layout, with other cache and TLB conflicts",
        ..Control::READ_ONLY
    },
    Control {
        id: "page-cache",
        title: "page cache",
        group: ControlArea::Memory,
        files: &["/proc/meminfo"],
        better: "less than 64 MiB dirty",
        status: Some(environment::page_cache),
        ..Control::READ_ONLY
    },
    Control {
        id: "swap",
        title: "swap",
        group: ControlArea::Memory,
        files: &["/proc/meminfo"],
        status: Some(environment::swap),
        ..Control::READ_ONLY
    },
    Control {
        id: "noisiest",
        title: "busiest processes",
        files: &["/proc/<n>/stat"],
        better: "none above 10 % of a CPU",
        status: Some(environment::busiest),
        ..Control::READ_ONLY
    },
    Control {
        id: "load",
        title: "load average (1, 5, 15 min)",
        files: &["/proc/loadavg"],
        status: Some(environment::load),
        ..Control::READ_ONLY
    },
    Control {
        id: "pressure",
        title: "pressure stall information (last 10 s)",
        files: &["/proc/pressure"],
        status: Some(environment::pressure),
        ..Control::READ_ONLY
    },
    Control {
        id: "steal",
        title: "steal time (CPU time that the hypervisor gave to others)",
        files: &["/proc/stat"],
        status: Some(environment::steal),
        ..Control::READ_ONLY
    },
    Control {
        id: "battery",
        title: "power supply",
        fixtures_only: true,
        files: &["/sys/class/power_supply"],
        better: "mains",
        status: Some(environment::battery),
        ..Control::READ_ONLY
    },
    Control {
        id: "thermal",
        title: "temperatures and thermal throttling",
        fixtures_only: true,
        files: &[
            "/sys/class/thermal",
            "/sys/devices/system/cpu/cpu<n>/thermal_throttle/core_throttle_count",
        ],
        better: "not throttled",
        status: Some(environment::thermal),
        ..Control::READ_ONLY
    },
    Control {
        id: "lockdown",
        title: "kernel lockdown",
        files: &["/sys/kernel/security/lockdown"],
        status: Some(environment::lockdown),
        ..Control::READ_ONLY
    },
    Control {
        id: "qos",
        title: "QoS class of this process (macOS)",
        fixtures_only: true,
        files: &["qos_class_self(3)"],
        better: "user interactive",
        status: Some(environment::qos),
        ..Control::READ_ONLY
    },
    Control {
        id: "low-power",
        title: "Low Power Mode (macOS)",
        fixtures_only: true,
        files: &["pmset -g"],
        better: "off",
        status: Some(environment::low_power),
        ..Control::READ_ONLY
    },
];
