//! restore(tune(x)) = x.

use super::kernel::{Groups, Kernel};
use super::{Bench, RATE, everything, set, shield};
use fastrand::Rng;
use noise::machines;
use noise::tune::SetOutcome;
use sys::files::Files;

/// A machine with some of its values others, and faults of all kinds.
fn random_machine(rng: &mut Rng) -> (Kernel, Vec<u32>, Groups) {
    let all = machines::all_machines();
    let machine = &all[rng.usize(..all.len())];
    let groups = [Groups::None, Groups::One, Groups::Two][rng.usize(..3)];
    let kernel = Kernel::new(machine, groups);
    let online = sys::files::cpu_list(&kernel.value("/sys/devices/system/cpu/online"))
        .expect("a list of CPUs");
    let everyone = online.iter().fold(0_u64, |bits, cpu| bits | 1 << cpu);
    for path in kernel.paths() {
        let old = kernel.value(&path);
        let new = match path.rsplit('/').next().expect("a name") {
            "smp_affinity" => format!("{:x}", (rng.u64(..) & everyone).max(1)),
            "perf_event_max_sample_rate" => rng.u32(1..200_000).to_string(),
            "scaling_governor" => ["powersave", "performance", "schedutil"][rng.usize(..3)].into(),
            "scaling_max_freq" | "scaling_min_freq" => rng.u32(1_000_000..5_000_000).to_string(),
            "sched_rt_runtime_us" => "-1".into(),
            "enabled" if path.contains("transparent") => {
                ["[always] madvise never", "always madvise [never]"][rng.usize(..2)].into()
            }
            _ => old,
        };
        if rng.u8(..4) == 0 {
            continue;
        }
        match path.ends_with("scaling_governor") {
            // With its effect on the preference.
            true => kernel.write(&path, &new).expect("a governor"),
            false => kernel.force(&path, &new),
        }
        kernel.quirks(|quirks| match rng.u8(..40) {
            0 if path.starts_with("/proc/irq/") => drop(quirks.managed.insert(path)),
            1 if path.starts_with("/proc/sys/") => drop(quirks.ignored.insert(path)),
            2 => drop(quirks.fixed.insert(path)),
            _ => {}
        });
    }
    kernel.quirks(|quirks| {
        // What can't be written can't be put back after a side effect either;
        // these are the kernel's own to change.
        quirks.fixed.retain(|path| {
            !path.contains("cpufreq") && !path.contains("/cg") && !path.ends_with("smp_affinity")
        });
        quirks.forking = rng.bool();
        quirks.late = rng.bool();
    });
    if rng.u8(..4) > 0 {
        super::free_inner(&kernel, &online[0].to_string());
    }
    (kernel, online, groups)
}

#[test]
fn a_thousand_machines_are_as_before() {
    let (mut set_at_all, mut failed, mut shields, mut cpus_gone) = (0, 0, 0, 0);
    for seed in 0..1000 {
        let mut rng = Rng::with_seed(seed);
        let (kernel, online, groups) = random_machine(&mut rng);
        let quiet: Vec<u32> = match online.len() {
            1 => Vec::new(),
            all => online[rng.usize(1..all)..].to_vec(),
        };
        let mut steps = everything(&kernel, &quiet);
        steps.retain(|_| rng.u8(..5) > 0);
        if rng.bool() {
            // The same value twice, and nonsense.
            steps.push(set(RATE, "77"));
            steps.push(set(RATE, "78"));
            steps.push(set(RATE, "many"));
            steps.push(set("/proc/irq/9999/smp_affinity", "1"));
            steps.push(set("/etc/passwd", "1"));
        }
        if let (true, Some(&last)) = (rng.bool(), online.last())
            && online.len() > 1
        {
            let path = format!("/sys/devices/system/cpu/cpu{last}/online");
            kernel.force(&path, "1");
            steps.push(set(&path, "0"));
            cpus_gone += 1;
        } else if rng.bool() && groups != Groups::None && !quiet.is_empty() {
            steps.push(shield(&quiet));
        }

        let bench = Bench::new(kernel);
        let tuned = bench.begin(&steps);
        for one in tuned.applied() {
            match &one.outcome {
                SetOutcome::Set if one.control == "shield" => shields += 1,
                SetOutcome::Set => set_at_all += 1,
                SetOutcome::Failed(_) => failed += 1,
                SetOutcome::Already => {}
            }
        }
        if !tuned.shield_groups().is_empty() {
            bench.fork_in("/latlas-shield");
            bench.fork_in(match groups {
                Groups::One => "/latlas-system",
                _ => "/latlas-shield",
            });
        }
        bench.settle();
        let restored = tuned.restore();
        assert!(restored.as_before(), "seed {seed}: {restored:?}");
        let (after, tasks) = bench.snapshot();
        for (path, old) in &bench.before.0 {
            let now = after.get(path);
            assert!(
                now.is_some_and(|now| alike(path, now, old)),
                "seed {seed}: {path} was {old:?}, is {now:?}"
            );
        }
        assert_eq!(bench.before.0.len(), after.len(), "seed {seed}");
        assert_eq!(bench.before.1, tasks, "seed {seed}");
        assert_eq!(bench.pending(), None, "seed {seed}");
    }
    // A loop that sets nothing proves nothing.
    assert!(
        set_at_all > 5000 && failed > 1000 && shields > 50 && cpus_gone > 300,
        "{set_at_all} {failed} {shields} {cpus_gone}"
    );
}

/// Masks come back as the kernel writes them.
fn alike(path: &str, a: &str, b: &str) -> bool {
    let number = |text: &str| u64::from_str_radix(&text.trim().replace(',', ""), 16).ok();
    match path.contains("affinity") || path.ends_with("cpumask") {
        true => number(a) == number(b),
        false => a.trim() == b.trim(),
    }
}
