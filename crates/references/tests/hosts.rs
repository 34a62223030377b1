//! What is expected of a host that was never seen: groups made up with a known mean and spread, and machines that show
//! what they are, that hide it, and that lie.

use model::fit::identity::Means;
use model::fit::judge::{
    ANOTHER_MACHINE, FITS, INCONCLUSIVE, Judged, NOT_QUIET, SLOW, VerdictWithReason, judge_host,
};
use model::fit::noise::Noise;
use model::fit::{Element, Vector};
use model::machine::{CpuSignature, Fact, Machine, Presence};
use model::run::{Outcome, Run};
use model::synthetic;
use references::checked_records;
use references::hosts::{
    HostModel, LEAST_TYPES, LeftOutHost, Response, SignatureKey, TypesByProvider,
    published_expectation, signature_keys, signature_memory,
};
use references::record::CloudType;

/// Types of one provider and CPU: L3 of 32 MiB, sets up to 128 MiB.
fn made_up(
    count: usize,
    largest_ns: impl Fn(usize) -> f64,
    more: impl Fn(usize) -> &'static str,
) -> &'static [CloudType] {
    let line = |n: usize| {
        let (largest, more) = (largest_ns(n), more(n));
        let half = 78 + n * 7 % 5;
        format!(
            r#"{{"provider":"aws","type":"f{}.{n}x","cpu":"AMD EPYC 1","sig":"amd 25.99.1","vcpus":{},"tpc":2,"cache":[32,512,32768],"membench":{{"date":"2026-01-01","kernel":"6.8","kib":[16,256,8192,65536,131072],"ns":[1.3,3.5,12,{half},{largest}],"dram":{}{more}}}}}"#,
            n % 2,
            4 << (n % 3),
            largest * 1.2,
        )
    };
    let lines: Vec<String> = (0..count).map(line).collect();
    checked_records::<CloudType>(&lines.join("\n")).expect("records").leak()
}

/// In turn 0, 2 and 4 % to either side.
fn spread_about(mean: f64) -> impl Fn(usize) -> f64 {
    move |n| mean * [1.0, 1.02, 0.98, 1.04, 0.96][n % 5]
}

fn left_out(records: &'static [CloudType], slower_by: f64) -> Vec<LeftOutHost> {
    let model = HostModel::fitted(records, Response::BeyondCaches).expect("a group");
    model.left_out(slower_by)
}

#[test]
fn a_host_is_predicted_by_the_others_and_a_slow_one_stands_out_by_what_it_is_slow() {
    let slow = |n: usize| if n == 7 { 140.0 } else { spread_about(100.0)(n) };
    let hosts = left_out(made_up(40, slow, |_| ""), 0.0);
    assert_eq!(hosts.len(), 40);
    for (n, host) in hosts.iter().enumerate() {
        let wanted = if n == 7 { 1.4_f64 } else { [1.0, 1.02, 0.98, 1.04, 0.96][n % 5] };
        assert!((host.off - wanted.ln()).abs() < 0.02, "{n}: {host:?}");
        assert!((0.02..0.04).contains(&host.deviation), "{host:?}");
        assert!(host.quiet, "{host:?}");
    }
}

#[test]
fn a_slower_memory_is_seen_whole_beyond_the_caches_and_almost_in_the_largest_set() {
    let records = made_up(40, spread_about(100.0), |_| "");
    let (as_is, slower) = (left_out(records, 0.0), left_out(records, 0.2));
    for (before, after) in as_is.iter().zip(&slower) {
        assert!((after.off - before.off - 1.2_f64.ln()).abs() < 1e-9);
    }
    let model = HostModel::fitted(records, Response::LargestSet).expect("a group");
    for (before, after) in model.left_out(0.0).iter().zip(model.left_out(0.2)) {
        assert!(after.off > before.off + 0.1, "{before:?} {after:?}");
    }
}

#[test]
fn unsteady_and_disturbed_hosts_are_not_quiet() {
    let unsteady = |n: usize| if n == 3 { r#","unsteady":[131072]"# } else { "" };
    let hosts = left_out(made_up(20, spread_about(100.0), unsteady), 0.0);
    let noisy: Vec<usize> = (0..20).filter(|n| !hosts[*n].quiet).collect();
    assert_eq!(noisy, [3]);
}

#[test]
fn too_few_types_are_no_group() {
    let few = made_up(LEAST_TYPES - 1, spread_about(100.0), |_| "");
    assert!(HostModel::fitted(few, Response::BeyondCaches).is_none());
    let enough = made_up(LEAST_TYPES, spread_about(100.0), |_| "");
    assert!(HostModel::fitted(enough, Response::BeyondCaches).is_some());
}

#[test]
fn providers_count_as_hosts_and_types_as_their_runs() {
    let records = made_up(30, spread_about(100.0), |_| "");
    let keys = signature_keys(records);
    let (key, one) = keys.iter().next().expect("one CPU");
    assert_eq!(*key, SignatureKey::X86("AuthenticAMD", [25, 99, 1]));
    let (middle, spread) = signature_memory(one).expect("types");
    assert!((middle.exp() - 120.0).abs() < 0.5, "{middle}");
    assert!(spread.deviation >= 0.1, "what providers differ by is assumed: {spread:?}");
    assert_eq!(signature_memory(&TypesByProvider::new()), None);
}

/// A run on a guest of this make whose loads from memory take so long.
fn run_on(product: &str, cpu: &str, [family, model, stepping]: [u32; 3], dram_ns: f64) -> Run {
    let mut run = synthetic::run();
    let mut machine = Machine::unknown("x86_64", "not read");
    machine.cpu_vendor = Fact::known("AuthenticAMD".into());
    machine.cpu_model = Fact::known(cpu.into());
    machine.cpu_signature = Fact::known(CpuSignature::X86 { family, model, stepping });
    machine.microarchitecture = Fact::known("Zen 3".into());
    machine.product = Fact::known(product.into());
    machine.online_cpus = Fact::known(vec![0, 1]);
    machine.caches = run.machine.caches.clone();
    run.machine = machine;
    for row in run.rows.iter_mut().filter(|row| row.id == "memory.latency/DRAM") {
        row.outcome = synthetic::ok_outcome(dram_ns, dram_ns * 0.005);
    }
    run
}

const AWS: (&str, &str, [u32; 3]) = ("Amazon EC2 m6a.large", "AMD EPYC 7R13 Processor", [25, 1, 1]);

fn on_aws(dram_ns: f64) -> Run {
    run_on(AWS.0, AWS.1, AWS.2, dram_ns)
}

/// The verdict on a run that nothing disturbed, but what is given.
fn judged(run: &Run, noise: &[Noise]) -> Judged {
    let vector = Vector { noise: noise.to_vec(), ..Vector::from_run(run) };
    judge_host(&vector, &published_expectation(run).expect("whole"))
}

fn verdict(run: &Run) -> VerdictWithReason {
    judged(run, &[]).verdict
}

#[test]
fn a_host_of_a_known_provider_is_held_against_its_group() {
    let fits = judged(&on_aws(111.0), &[]);
    assert_eq!(fits.verdict, FITS);
    let hosts = fits.published_hosts().expect("published");
    assert_eq!((hosts.provider.as_deref(), hosts.types, hosts.providers), (Some("AWS"), 16, 1));
    assert!(fits.detectable().is_some_and(|share| (0.12..=0.2).contains(&share)), "{fits:?}");
    // A faster one is as good.
    assert_eq!(verdict(&on_aws(60.0)), FITS);
    let slow = judged(&on_aws(150.0), &[]);
    assert_eq!(slow.verdict, SLOW);
    let memory = slow.tests.iter().find(|test| test.differs).expect("differs");
    assert!((memory.factor - 150.0 / 111.0).abs() < 0.06, "{memory:?}");
}

#[test]
fn of_a_disturbed_host_nothing_is_said_but_that_its_core_is_another() {
    for ns in [111.0, 150.0] {
        assert_eq!(judged(&on_aws(ns), &[Noise::Steal(0.1)]).verdict, NOT_QUIET);
    }
    let mut other = on_aws(111.0);
    other.machine.microarchitecture = Fact::unknown("contradicted by its features");
    let other = judged(&other, &[Noise::Steal(0.1)]);
    assert_eq!(other.verdict, ANOTHER_MACHINE);
    assert_eq!(other.identity[0].what, "CPU features");
}

#[test]
fn without_a_provider_only_much_would_be_seen_and_that_is_said() {
    let guest = |ns| {
        let mut run = run_on("", "AMD EPYC", [25, 17, 1], ns);
        run.machine.product = Fact::unknown("not shown");
        run.machine.microarchitecture = Fact::known("Zen 4".into());
        run
    };
    let usual = judged(&guest(120.0), &[]);
    assert_eq!(usual.verdict, INCONCLUSIVE);
    let hosts = usual.published_hosts().expect("published");
    assert_eq!((hosts.provider.as_deref(), hosts.types, hosts.providers), (None, 116, 5));
    let limit = usual.detectable().expect("memory");
    assert!((0.5..0.7).contains(&limit), "{limit}");
    assert_eq!(verdict(&guest(118.0 * (1.1 + limit))), SLOW);
}

#[test]
fn an_unknown_or_hidden_cpu_has_no_memory_to_compare_with_and_says_why() {
    let why = |run: &Run| {
        let expected = published_expectation(run).expect("whole");
        assert_eq!(expected.element(Element::Dram), None);
        let judged = judge_host(&Vector::from_run(run), &expected);
        judged.published_hosts().and_then(|hosts| hosts.no_memory.clone()).expect("a reason")
    };
    let unknown = run_on("", "AMD Something", [25, 200, 1], 100.0);
    assert_eq!(
        why(&unknown),
        "0 published hosts have CPU signature AuthenticAMD 25.200.1, 12 needed"
    );
    let model = run_on("QEMU Standard PC", "QEMU Virtual CPU version 2.5+", [25, 1, 1], 100.0);
    assert_eq!(why(&model), "the hypervisor hides which CPU this is");
    let mut emulated = on_aws(111.0);
    emulated.machine.emulated = Fact::known(Presence::Present("QEMU TCG".into()));
    assert_eq!(why(&emulated), "the CPU is emulated");
}

#[test]
fn a_cache_that_the_hypervisor_makes_up_is_noted_and_a_set_that_may_lie_in_the_real_one_not_compared()
 {
    let mut emulated = on_aws(111.0);
    for cache in emulated.machine.caches.value.iter_mut().flatten() {
        if cache.level == 3 {
            cache.size_bytes = Some(4 << 20);
        }
    }
    let noted = judged(&emulated, &[]);
    assert_eq!(noted.verdict, FITS, "sets are large enough");
    let l3 = noted.identity.iter().find(|fact| fact.what == "stated L3").expect("noted");
    assert_eq!((l3.here.as_str(), l3.expected.as_str(), l3.means), ("4MiB", "32MiB", Means::Note));
    for row in emulated.rows.iter_mut().filter(|row| row.id == "memory.latency") {
        if let Outcome::Curve { points, .. } = &mut row.outcome {
            points.retain(|point| point.x <= 16 << 20);
        }
    }
    let within = judged(&emulated, &[]);
    assert_eq!(within.verdict, INCONCLUSIVE);
    assert_eq!(within.not_compared.len(), 1);
    let why = &within.not_compared[0].why;
    assert_eq!(why, "the largest set (16MiB) may lie in an L3 of 32MiB, as others have");
}

#[test]
fn cycles_of_another_core_are_another_machine() {
    let mut guest = run_on("", "AMD EPYC", [25, 17, 1], 120.0);
    guest.machine.microarchitecture = Fact::known("Zen 4".into());
    // 3 cycles on Zen 4, at 0.33 ns.
    let mut with_multiply = |cycles: f64| {
        guest.rows.retain(|row| row.id != "cpu.mul_i64");
        let outcome = synthetic::ok_outcome(cycles * 0.33, 0.003);
        guest.rows.push(synthetic::row_of_times("cpu.mul_i64", outcome));
        let test = judged(&guest, &[]);
        let multiply = test.tests.iter().find(|test| test.expected == Some(3.0)).copied();
        (multiply.map(|test| test.differs), test.verdict)
    };
    assert_eq!(with_multiply(3.0), (Some(false), INCONCLUSIVE));
    assert_eq!(with_multiply(4.0), (Some(true), ANOTHER_MACHINE));
}
