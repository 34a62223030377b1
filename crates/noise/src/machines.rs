//! Machines as file trees, written by us from the kernel's documentation: what
//! we have no hardware for is tried on these only.
//!
//! Each is a file below `machines/`, read by [`MachineFiles::with_lines`].

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

const CPUS: &str = "/sys/devices/system/cpu";

/// The process that looks at the machine.
const SELF: u32 = 4242;

macro_rules! machines {
    ($($function:ident $name:literal)*) => {
        $(
            #[doc = concat!("The machine of `machines/", $name, ".tree`.")]
            pub fn $function() -> MachineFiles {
                MachineFiles::named($name)
            }
        )*

        pub fn all_machines() -> Vec<MachineFiles> {
            vec![$($function()),*]
        }

        fn file_text(name: &str) -> &'static str {
            match name {
                $($name => include_str!(concat!("machines/", $name, ".tree")),)*
                "linux" => include_str!("machines/linux.tree"),
                other => panic!("no machine {other}"),
            }
        }
    };
}

machines! {
    intel "intel"
    amd "amd"
    acpi "acpi"
    big_little "big-little"
    hybrid "hybrid"
    virtual_machine "virtual-machine"
    container "container"
    container_root "container-root"
    single "single"
    quiet "quiet"
}

/// The files of a machine by their paths on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineFiles {
    /// What it is, in a word.
    pub name: &'static str,
    /// Contents, without the new line at the end.
    pub files: BTreeMap<String, String>,
    /// Those of them that the kernel offers for reading only.
    pub fixed: BTreeSet<String>,
}

impl MachineFiles {
    fn named(name: &'static str) -> MachineFiles {
        MachineFiles { name, files: BTreeMap::new(), fixed: BTreeSet::new() }
            .with_lines(file_text(name))
    }

    /// The same machine with another content of a file.
    pub fn with_file(mut self, path: &str, content: &str) -> MachineFiles {
        self.files.insert(path.to_owned(), content.to_owned());
        self
    }

    /// The same machine without a file, or without all below a directory.
    pub fn without(mut self, path: &str) -> MachineFiles {
        let below = format!("{path}/");
        self.files.retain(|file, _| file != path && !file.starts_with(&below));
        self
    }

    /// Writes the tree below `root`, which is there.
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

    /// Lines `path = content`, or `path =! content` of a file that can't be
    /// written; `~` is the directory of CPUs, `{0-3}` stands for each of these
    /// numbers, `{}` for the same number in the content, and `|` for a new line.
    /// `#` begins a comment, `@` what [`MachineFiles::directive`] does.
    pub fn with_lines(mut self, lines: &str) -> MachineFiles {
        for line in lines.lines().filter(|line| !line.starts_with('#')) {
            if let Some(words) = line.strip_prefix('@') {
                self = self.directive(words);
                continue;
            }
            let (path, content) = line.split_once(" =").unwrap_or((line, ""));
            let fixed = content.starts_with('!');
            let content = content.trim_start_matches('!').trim().replace('|', "\n");
            for (path, number) in each(path) {
                if fixed {
                    self.fixed.insert(path.clone());
                }
                self = self.with_file(&path, &content.replace("{}", &number));
            }
        }
        self
    }

    fn directive(self, line: &str) -> MachineFiles {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["like", name] => self.with_lines(file_text(name)),
            ["without", paths] => {
                each(paths).iter().fold(self, |machine, (path, _)| machine.without(path))
            }
            ["cores", ref cores @ ..] => self.cores(cores),
            ["policies", cpus] => {
                self.with_lines(&format!("~/cpufreq/policy{{{cpus}}}/affected_cpus = {{}}"))
            }
            ["interrupts", all, one] => self.interrupts(all, one),
            ["status", user, cpus] => self.with_file("/proc/self/status", &status(user, cpus)),
            ["status", user, cpus, more] => {
                let status = format!("{}\n{more}", status(user, cpus));
                self.with_file("/proc/self/status", &status)
            }
            ["self", priority, nice, policy] => {
                let stat = own_stat(priority, nice, policy);
                self.with_file(&format!("/proc/{SELF}/stat"), &stat)
                    .with_file("/proc/self/stat", &stat)
            }
            ["process", pid, name, ticks] => {
                let number = |text: &str| text.parse().expect("a number");
                let stat = process(number(pid) as u32, name, number(ticks));
                self.with_file(&format!("/proc/{pid}/stat"), &stat)
            }
            ["stat", cpus] => self.with_file("/proc/stat", &stat(cpus.parse().expect("a number"))),
            _ => panic!("no directive {line}"),
        }
    }

    /// CPUs online, with the threads of each core together.
    fn cores(self, cores: &[&str]) -> MachineFiles {
        let lists = cores.iter().map(|core| numbers(core));
        let count: usize = lists.map(|cpus| cpus.len()).sum();
        let all = match count {
            1 => "0".to_owned(),
            _ => format!("0-{}", count - 1),
        };
        let mask = format!("{:x}", (1_u64 << count) - 1);
        let machine = cores.iter().fold(self, |machine, core| {
            machine.with_lines(&format!("~/cpu{{{core}}}/topology/thread_siblings_list = {core}"))
        });
        machine
            .with_lines(&format!(
                "~/online = {all}\n\
                 ~/possible = {all}\n\
                 ~/isolated =\n\
                 /proc/irq/default_smp_affinity = {mask}\n\
                 /sys/devices/virtual/workqueue/cpumask = {mask}\n\
                 /sys/fs/cgroup/user.slice/cpuset.cpus.effective = {all}\n\
                 /sys/fs/cgroup/user.slice/cpuset.cpus.partition = member\n\
                 /sys/fs/cgroup/user.slice/cgroup.procs = {SELF}"
            ))
            .directive(&format!("status 0 {all}"))
            .directive(&format!("stat {count}"))
    }

    /// Interrupts: on all CPUs, on one, on CPU 0, and a managed one.
    fn interrupts(self, all: &str, one: &str) -> MachineFiles {
        self.with_lines(&format!(
            "/proc/irq/16/smp_affinity = {all}\n\
             /proc/irq/17/smp_affinity = {one}\n\
             /proc/irq/18/smp_affinity = 1\n\
             /proc/irq/19/smp_affinity =! {one}\n\
             /sys/kernel/irq/16/actions = eth0\n\
             /sys/kernel/irq/17/actions = xhci_hcd\n\
             /sys/kernel/irq/18/actions = rtc0\n\
             /sys/kernel/irq/19/actions = nvme0q4"
        ))
    }
}

fn numbers(list: &str) -> Vec<u32> {
    sys::files::cpu_list(list).expect("a list of numbers")
}

/// The paths of a pattern, each with its number.
fn each(pattern: &str) -> Vec<(String, String)> {
    let pattern = pattern.replace('~', CPUS);
    match pattern.split_once('{') {
        None => vec![(pattern, String::new())],
        Some((before, rest)) => {
            let (list, after) = rest.split_once('}').expect("a closing brace");
            let path = |n: u32| (format!("{before}{n}{after}"), n.to_string());
            numbers(list).into_iter().map(path).collect()
        }
    }
}

/// proc_pid_status(5), as far as it is asked for.
fn status(user: &str, allowed: &str) -> String {
    format!(
        "Name:\tlatlas\nPid:\t{SELF}\nUid:\t{user}\t{user}\t{user}\t{user}\nCpus_allowed_list:\t{allowed}"
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
fn own_stat(priority: &str, nice: &str, policy: &str) -> String {
    let between = vec!["0"; 40 - 19].join(" ");
    format!(
        "{SELF} (latlas) R 1 {SELF} {SELF} 0 -1 0 0 0 0 0 1 1 0 0 {priority} {nice} {between} {policy} 0 0"
    )
}

/// proc_pid_stat(5) of another process that has had so many ticks. It was
/// started from a terminal's window, /dev/pts/1.
pub fn process(pid: u32, name: &str, ticks: u64) -> String {
    process_below(pid, name, ticks, 1, 136 << 8 | 1)
}

/// The same with its parent and the number of its terminal, 0 for none.
pub fn process_below(pid: u32, name: &str, ticks: u64, parent: u32, terminal: u32) -> String {
    format!(
        "{pid} ({name}) S {parent} {pid} {pid} {terminal} -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 100"
    )
}
