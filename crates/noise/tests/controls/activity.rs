//! Machines on which time passes between two readings.

use super::{CPUS, USER, advised, control_by_id, facts, shown, written};
use model::noise::control::{Advice, Controls, Privilege, ValueState};
use noise::control::inspect_controls;
use noise::machines::{self, MachineFiles, process, process_below};
use sys::files::Tree;

/// /proc/stat of 8 CPUs after so many ticks.
fn stat_after(ticks: u64) -> String {
    let cpus: String = (0..8).map(|cpu| format!("cpu{cpu} 0 0 0 0 0 0 0 0 0 0\n")).collect();
    format!("cpu  0 0 0 {ticks} 0 0 0 0 0 0\n{cpus}")
}

/// What is shown if these files change in 160 ticks, 20 of each CPU.
fn shown_while(machine: MachineFiles, changed: &[(&str, String)]) -> Controls {
    let root = written(&machine.with_file("/proc/stat", &stat_after(1000)));
    let tree = Tree::new(root.path());
    let write = |path: &str, text: &str| {
        let at = tree.full_path(path);
        std::fs::create_dir_all(at.parent().expect("below the root")).expect("a directory");
        std::fs::write(at, text).expect("a file");
    };
    let mut pass = || {
        write("/proc/stat", &stat_after(1160));
        changed.iter().for_each(|(path, text)| write(path, text));
    };
    inspect_controls(&tree, &facts(root.path()), None, &mut pass)
}

#[test]
fn the_busiest_are_those_that_ran_between_two_readings() {
    let machine = machines::intel().with_file("/proc/77/stat", &process(77, "make (x)", 1000));
    let controls = shown_while(
        machine,
        &[
            ("/proc/77/stat", process(77, "make (x)", 1019)),
            ("/proc/78/stat", process(78, "cc1", 7)),
            ("/proc/1/stat", process(1, "init", 500)),
            // latlas itself does not count.
            ("/proc/4242/stat", process(4242, "latlas", 15)),
        ],
    );
    let value = |id: &str| control_by_id(&controls, id).now.get().cloned();
    let busiest =
        "make (x) (77) 95 %, cc1 (78) 35 %; other processes are not visible here".to_owned();
    assert_eq!(value("noisiest"), Some(busiest));
    let steal = "0 % now, 0 % since boot".to_owned();
    assert_eq!(value("steal"), Some(steal));
    let first = controls.advice.first().expect("advice");
    assert_eq!(first.controls, ["noisiest"]);
    assert_eq!(
        first.command,
        "sh -c 'trap \"kill -CONT 77\" EXIT; trap \"exit 130\" INT TERM HUP; kill -STOP 77; COMMAND'"
    );
    let no_time = shown(&machines::intel());
    assert_eq!(control_by_id(&no_time, "noisiest").state, ValueState::Unknown);
}

/// In a PID namespace, or with hidepid, nothing is good because nothing is seen.
#[test]
fn busy_time_that_no_visible_process_explains_is_named() {
    let kthreadd = ("/proc/2/stat", process_below(2, "kthreadd", 0, 0, 0));
    let busy = |ticks: u64| {
        let stat = stat_after(1160).replace("cpu  0", &format!("cpu  {ticks}"));
        ("/proc/stat", stat.replace(" 1160 ", &format!(" {} ", 1160 - ticks)))
    };
    // Of 20 ticks a CPU; our own are explained.
    let own = || ("/proc/4242/stat", process(4242, "latlas", 3));
    for (visible, ticks, value, state) in [
        (true, 3, "none above 5 % of a CPU", ValueState::Good),
        (true, 7, "none above 5 % of a CPU", ValueState::Good),
        (
            true,
            33,
            "none above 5 % of a CPU; processes that have ended: 150 % of a CPU",
            ValueState::Improvable,
        ),
        (
            false,
            3,
            "none above 5 % of a CPU; other processes are not visible here",
            ValueState::Information,
        ),
        (
            false,
            5,
            "none above 5 % of a CPU; processes not visible here: 10 % of a CPU",
            ValueState::Improvable,
        ),
    ] {
        let mut changed = vec![busy(ticks), own()];
        changed.extend(visible.then(|| kthreadd.clone()));
        let controls = shown_while(machines::intel(), &changed);
        let noisiest = control_by_id(&controls, "noisiest");
        assert_eq!(noisiest.now.value.as_deref(), Some(value), "{ticks}");
        assert_eq!(noisiest.state, state, "{value}");
    }
    // A process that is seen and explains the half.
    let changed = [busy(43), own(), kthreadd, ("/proc/77/stat", process(77, "cc1", 20))];
    let controls = shown_while(machines::intel(), &changed);
    let value = control_by_id(&controls, "noisiest").now.value.as_deref();
    assert_eq!(value, Some("cc1 (77) 100 %"));
}

/// A process id that is used again: the new one has its whole time in the span.
/// Guests are counted in user and nice already (proc_stat(5)).
#[test]
fn another_process_with_the_same_id_and_guests() {
    let old = process(77, "old", 500).replace(" 0 1 0 100", " 0 1 0 1");
    let machine = machines::intel().with_file("/proc/77/stat", &old);
    let busiest = |machine: MachineFiles, changed: &[(&str, String)]| {
        let controls = shown_while(machine, changed);
        control_by_id(&controls, "noisiest").now.get().cloned()
    };
    let reused = busiest(machine, &[("/proc/77/stat", process(77, "new", 20))]);
    let others = "; other processes are not visible here";
    assert_eq!(reused, Some(format!("new (77) 100 %{others}")));
    let times = "cpu  0 0 0 1160 0 0 0 0";
    let guests = stat_after(1160).replace(&format!("{times} 0 0"), &format!("{times} 9 9"));
    let changed = [("/proc/77/stat", process(77, "new", 10)), ("/proc/stat", guests)];
    let with_guests = busiest(machines::intel(), &changed);
    assert_eq!(with_guests, Some(format!("new (77) 50 %{others}")));
}

/// The advice about a process that took a whole CPU.
fn about(machine: &MachineFiles, pid: u32, parent: u32, terminal: u32) -> Advice {
    let line = |ticks| process_below(pid, "x", ticks, parent, terminal);
    let stat = format!("/proc/{pid}/stat");
    let machine = machine.clone().with_file(&stat, &line(10));
    let controls = shown_while(machine, &[(&stat, line(30))]);
    let first = controls.advice.first().expect("advice").clone();
    assert_eq!(first.controls, ["noisiest"]);
    first
}

/// Stopping what latlas depends on would block it.
#[test]
fn no_command_stops_what_latlas_depends_on() {
    const PTS: u32 = 136 << 8 | 3;
    // latlas 4242, its shell 4000, what started that 3000, init 1.
    let own = process_below(4242, "latlas", 0, 4000, PTS).replace(" 4242 4242 ", " 4242 4000 ");
    let family = machines::intel()
        .with_file("/proc/4242/stat", &own)
        .with_file("/proc/4000/stat", &process_below(4000, "sh", 5, 3000, PTS))
        .with_file("/proc/3000/stat", &process_below(3000, "sshd", 5, 1, PTS));
    for (pid, parent, terminal, what) in [
        (3000, 1, PTS, "an ancestor"),
        (4000, 3000, PTS, "the shell, which leads the session"),
        (1, 0, PTS, "init"),
        (77, 1, 0, "a service or a desktop"),
        (77, 1, 4 << 8 | 7, "a display of the console"),
    ] {
        assert_eq!(about(&family, pid, parent, terminal).command, "", "{what}");
    }
    assert!(about(&family, 77, 4000, PTS).command.contains("kill -STOP 77"));
    // An ordinary user can only wait for the process of another one.
    let of_user = |uid: u32| {
        let other = format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}");
        let machine = family
            .clone()
            .with_file("/proc/self/status", USER)
            .with_file("/proc/77/status", &other);
        about(&machine, 77, 1, PTS)
    };
    let advice = of_user(1001);
    assert_eq!((advice.command.as_str(), advice.who), ("", Privilege::AnyUser));
    assert!(of_user(1000).command.contains("kill -CONT 77"));
}

#[test]
fn cores_that_are_throttled_now_are_advice() {
    let count = format!("{CPUS}/cpu2/thermal_throttle/core_throttle_count");
    let controls = shown_while(machines::intel(), &[(&count, "3\n".to_owned())]);
    assert_eq!(control_by_id(&controls, "thermal").state, ValueState::Improvable);
    assert!(advised(&controls).contains(&"thermal"));
    let cool = shown(&machines::intel());
    assert_eq!(control_by_id(&cool, "thermal").state, ValueState::Information);
}
