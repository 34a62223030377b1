//! Broken off before every action of tune, and again before an action of the
//! restore that follows: a third one finds all it needs.

use super::kernel::{Groups, Kernel};
use super::{Bench, IRQ_7, IRQ_8, RATE, THP, everything, free_inner, set, shield, two_cpus};
use noise::machines;
use noise::tune::{Faults, StateDir, Step, Tuned, restore};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::rc::Rc;

/// What a crash unwinds with.
struct Crash;

/// Crashes before the action of this number. Tells how many there were.
fn crash_at(number: u32) -> (Faults, Rc<Cell<u32>>) {
    let count = Rc::new(Cell::new(0));
    let counted = Rc::clone(&count);
    let faults = Faults::new(move |_| {
        counted.set(counted.get() + 1);
        if counted.get() == number {
            panic_any(Crash);
        }
    });
    (faults, count)
}

/// Whether it came to its end.
fn survives(what: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(()) => true,
        Err(cause) if cause.is::<Crash>() => false,
        Err(cause) => std::panic::resume_unwind(cause),
    }
}

fn tune_and_restore(kernel: &Kernel, state: &StateDir, steps: &[Step]) {
    let tuned = Tuned::begin(kernel, state, steps).expect("begun");
    assert!(tuned.restore().complete());
}

/// Breaks it off before each action, or each of so many; returns how many actions
/// there are.
fn everywhere(machine: impl Fn() -> (Kernel, Vec<Step>), second: bool, stride: usize) -> u32 {
    // Thousands of crashes need not be printed.
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().is::<Crash>() {
            eprintln!("{info}");
        }
    }));
    let mut rng = fastrand::Rng::with_seed(5);
    for number in (1..).step_by(stride) {
        let (kernel, steps) = machine();
        let bench = Bench::new(kernel);
        let (faults, count) = crash_at(number);
        let faulty = bench.state.clone().with_faults(faults);
        if survives(|| tune_and_restore(&bench, &faulty, &steps)) {
            assert!(count.get() < number);
            return number - 1;
        }
        if second {
            let (faults, _) = crash_at(rng.u32(1..=number));
            let faulty = bench.state.clone().with_faults(faults);
            survives(|| drop(restore(&bench.kernel, &faulty)));
        }
        let restored = bench.restore();
        assert!(restored.as_before(), "{number}: {restored:?}");
        assert_eq!(bench.snapshot(), bench.before, "{number}");
        // And the next tune begins.
        tune_and_restore(&bench, &bench.state, &steps);
    }
    unreachable!("a tune without an end")
}

/// Interrupts, pages, rates; a CPU goes; a shield of version 1.
fn small_with_shield() -> (Kernel, Vec<Step>) {
    let kernel = two_cpus(Groups::One);
    free_inner(&kernel, "0");
    kernel.force(IRQ_7, "00000002");
    kernel.force(IRQ_8, "00000003");
    kernel.force("/proc/irq/default_smp_affinity", "00000003");
    let steps = vec![
        set(IRQ_8, "1"),
        set(THP, "never"),
        set(RATE, "1"),
        set(RATE, "2"),
        set(RATE, "none"),
        shield(&[1]),
    ];
    (kernel, steps)
}

fn small_with_a_cpu_gone() -> (Kernel, Vec<Step>) {
    let (kernel, mut steps) = small_with_shield();
    steps.pop();
    steps.push(set(super::CPU_1, "0"));
    (kernel, steps)
}

#[test]
fn at_every_step_of_values_and_a_shield() {
    let places = everywhere(small_with_shield, true, 1);
    assert!(places > 100, "{places}");
}

#[test]
fn at_every_step_of_a_cpu_that_goes() {
    let places = everywhere(small_with_a_cpu_gone, true, 1);
    assert!(places > 100, "{places}");
}

#[test]
fn at_every_step_of_a_shield_of_version_two() {
    let machine = || {
        let kernel = two_cpus(Groups::Two);
        (kernel, vec![shield(&[1])])
    };
    let places = everywhere(machine, true, 1);
    assert!(places > 20, "{places}");
}

#[test]
fn at_many_steps_of_all_controls_of_intel() {
    let machine = || {
        let kernel = Kernel::new(&machines::intel(), Groups::None);
        let steps = everything(&kernel, &[3, 7]);
        (kernel, steps)
    };
    // Some 1500 actions, of the kinds that the others take one by one.
    let places = everywhere(machine, false, 13);
    assert!(places > 300, "{places}");
}
