use super::*;
use std::collections::BTreeSet;

fn kinds(of: &[(&str, &[u32])]) -> Vec<CoreKind> {
    let kind = |&(name, cpus): &(&str, &[u32])| CoreKind {
        name: name.into(),
        cpus: cpus.to_vec(),
        capacity: None,
        max_hz: None,
    };
    of.iter().map(kind).collect()
}

fn m1() -> Vec<CoreKind> {
    kinds(&[("Firestorm", &[4, 5, 6, 7]), ("Icestorm", &[0, 1, 2, 3])])
}

/// 6 cores with two threads each, 8 without.
fn intel() -> Vec<CoreKind> {
    kinds(&[
        ("P-core", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("E-core", &[12, 13, 14, 15, 16, 17, 18, 19]),
    ])
}

fn arm() -> Vec<CoreKind> {
    kinds(&[("Cortex-X1", &[7]), ("Cortex-A76", &[4, 5, 6]), ("Cortex-A55", &[0, 1, 2, 3])])
}

fn alike() -> Vec<CoreKind> {
    kinds(&[("only kind", &[0, 1])])
}

fn block(begin_cpu: u32, end_cpu: u32, cpu_ms: u64, most_moves: Option<u64>) -> WorkBlock {
    WorkBlock {
        thread: 1,
        begin_cpu,
        end_cpu,
        cpu_ns: cpu_ms * 1_000_000,
        most_moves,
        clock_hz: None,
    }
}

fn work(blocks: u64, cpu_ms: u64) -> Work {
    Work { blocks, cpu_ns: cpu_ms * 1_000_000 }
}

#[test]
fn blocks_are_given_to_cores_and_kinds() {
    let blocks = [
        block(0, 0, 10, Some(0)),
        block(0, 0, 12, Some(1)),
        // From one core of a kind to another.
        block(0, 3, 20, Some(1)),
        block(5, 5, 5, Some(0)),
    ];
    let residency = residency(blocks, &m1(), None);
    let of = |kind: usize| residency.kinds[kind].work;
    assert_eq!((of(0), of(1)), (work(1, 5), work(3, 42)));
    let cpus: Vec<_> = residency.cpus.iter().map(|of| (of.cpu, of.work)).collect();
    assert_eq!(cpus, [(0, work(2, 22)), (5, work(1, 5))]);
    assert_eq!(residency.unknown(), Work::default());
    assert_eq!(residency.all, work(4, 47));
    assert_eq!(residency.kinds[0].work.blocks_per_cpu_second(), Some(200.0));
    let ratio = residency.fastest_over(1).expect("both worked");
    assert!((ratio - 2.8).abs() < 1e-9, "{ratio}");
}

#[test]
fn what_a_block_can_t_tell_is_given_to_no_core() {
    let blocks = [
        // Between kinds.
        block(4, 0, 1, Some(1)),
        // To another core and back, perhaps of another kind.
        block(0, 0, 2, Some(2)),
        block(0, 1, 4, Some(2)),
        // Nothing was counted.
        block(0, 0, 8, None),
        // No such CPU.
        block(9, 9, 16, Some(0)),
    ];
    let residency = residency(blocks, &m1(), None);
    assert_eq!(residency.moved_between_kinds, work(1, 1));
    assert_eq!(residency.may_have_moved, work(3, 14));
    assert_eq!(residency.kind_not_known, work(1, 16));
    assert_eq!(residency.unknown(), work(5, 31));
    assert!(residency.kinds.iter().all(|kind| kind.work == Work::default()));
    // CPU 9 is sure, its kind is not.
    assert_eq!(residency.cpus.len(), 1);
    let share = residency.share(1).expect("CPU time");
    assert_eq!((share.least, share.most), (0.0, 1.0));
}

#[test]
fn one_kind_needs_no_count() {
    let blocks = [block(0, 1, 5, None), block(0, 0, 5, None)];
    let residency = residency(blocks, &alike(), None);
    assert_eq!(residency.kinds[0].work, work(2, 10));
    assert!(residency.cpus.is_empty(), "which of the two is not known");
    assert_eq!(residency.carried_by_slowest(), Carried::OneKind);
    assert_eq!(residency.fastest_over(0), Some(1.0));
}

#[test]
fn a_cpuset_makes_the_kind_sure() {
    let blocks = [block(12, 12, 5, None), block(13, 12, 5, Some(9))];
    let judged = |allowed: &[u32]| residency(blocks, &intel(), Some(allowed)).carried_by_slowest();
    assert_eq!(judged(&[12, 13]), Carried::NoOtherAllowed);
    // On P-cores it may have been, too.
    let share = Share { least: 0.0, most: 1.0 };
    assert_eq!(judged(&[0, 12, 13]), Carried::CannotTell(share));
    let one = residency([block(12, 12, 5, None)], &intel(), Some(&[12]));
    assert_eq!(one.cpus.len(), 1, "there is no other CPU");
    let fast = residency([block(0, 0, 5, Some(0))], &intel(), Some(&[0, 1]));
    assert_eq!(fast.carried_by_slowest(), Carried::NotAllowed);
    // A CPU outside of what was allowed: nothing is concluded from it.
    assert_eq!(judged(&[13]), Carried::CannotTell(share));
}

#[test]
fn slow_cores_carried_it_alone_or_not() {
    let with = |fast: u64, moved: u64| {
        let mut blocks = vec![block(0, 1, 1, Some(0)); 1000];
        blocks.extend(vec![block(4, 4, 1, Some(0)); fast as usize]);
        blocks.extend(vec![block(4, 0, 1, Some(1)); moved as usize]);
        residency(blocks, &m1(), None).carried_by_slowest()
    };
    assert!(matches!(with(0, 0), Carried::Alone(share) if share.least == 1.0));
    assert!(matches!(with(5, 5), Carried::Alone(share) if share.most < 1.0));
    assert!(matches!(with(5, 20), Carried::CannotTell(_)));
    assert!(matches!(with(20, 5), Carried::NotAlone(_)));
    // The middle kind of three is not the slowest.
    let middle = residency([block(5, 5, 1, Some(0))], &arm(), None);
    assert!(matches!(middle.carried_by_slowest(), Carried::NotAlone(_)));
    let little = residency([block(2, 2, 1, Some(0))], &arm(), None);
    assert!(matches!(little.carried_by_slowest(), Carried::Alone(_)));
    let nothing = residency::<WorkBlock>([], &m1(), None).carried_by_slowest();
    assert_eq!(nothing, Carried::Nothing);
    assert_eq!(residency([block(0, 0, 1, None)], &[], None).carried_by_slowest(), Carried::Nothing);
}

/// Numbers from a seed (SplitMix64, Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, rarity: u64) -> bool {
        self.below(rarity) == 0
    }

    fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A block as a simulated scheduler ran it: the CPUs in turn, with the time on each.
struct SimulatedRun {
    block: WorkBlock,
    turns: Vec<(u32, u64)>,
}

/// A thread's next block. It runs in turns; after each it goes on where it was, or
/// moves within its kind or to any CPU, as the scheduler likes.
fn ran(
    numbers: &mut Numbers,
    kinds: &[CoreKind],
    cpus: &[u32],
    cpu: &mut u32,
    (restless, counts_moves): (u64, bool),
) -> SimulatedRun {
    let mut turns = vec![(*cpu, 1 + numbers.below(4_000_000))];
    for _ in 0..numbers.below(6) {
        if numbers.one_in(restless) {
            *cpu = numbers.choose(cpus);
        } else if numbers.one_in(restless) {
            let kind = kinds.iter().find(|kind| kind.cpus.contains(cpu));
            let alike = cpus.iter().filter(|c| kind.is_some_and(|kind| kind.cpus.contains(c)));
            let alike: Vec<u32> = alike.copied().collect();
            *cpu = numbers.choose(&alike);
        }
        turns.push((*cpu, 1 + numbers.below(4_000_000)));
    }
    // Between turns it was switched out; it may be so without a move, and at the ends.
    let switches = turns.len() as u64 - 1 + numbers.below(2);
    let moves = turns.windows(2).filter(|pair| pair[0].0 != pair[1].0).count() as u64;
    let counted = if counts_moves { moves } else { switches };
    let most_moves = (!numbers.one_in(10)).then_some(counted);
    let ends = [turns.first(), turns.last()].map(|turn| turn.map_or(0, |turn| turn.0));
    let block = WorkBlock {
        thread: 1,
        begin_cpu: ends[0],
        end_cpu: ends[1],
        cpu_ns: turns.iter().map(|turn| turn.1).sum(),
        most_moves,
        clock_hz: None,
    };
    SimulatedRun { block, turns }
}

/// The kinds that a block was on, and the time on each.
fn truth(ran: &SimulatedRun, kinds: &[CoreKind]) -> (BTreeSet<usize>, Vec<u64>) {
    let mut times = vec![0; kinds.len()];
    for (cpu, ns) in &ran.turns {
        let kind = kinds.iter().position(|kind| kind.cpus.contains(cpu));
        times[kind.expect("a CPU of the machine")] += ns;
    }
    let there = (0..kinds.len()).filter(|kind| times[*kind] > 0).collect();
    (there, times)
}

#[test]
fn no_schedule_mixes_kinds_without_a_flag() {
    let (mut mixed, mut alone, mut known, mut blocks_there) = (0, 0, 0, 0);
    for seed in 0..10_000 {
        let mut numbers = Numbers(seed);
        let machine = numbers.choose(&[m1, intel, arm, alike])();
        let all: Vec<u32> = machine.iter().flat_map(|kind| kind.cpus.clone()).collect();
        // A cpuset in one of three schedules.
        let mut cpus = all.clone();
        if numbers.one_in(3) {
            cpus.retain(|_| numbers.one_in(2));
            if cpus.is_empty() {
                cpus.push(numbers.choose(&all));
            }
        }
        // From a thread that moves at each turn to one that never does.
        let restless = numbers.choose(&[1, 3, 30, 1_000_000]);
        let scheduler = (restless, numbers.one_in(2));
        let mut cpu = numbers.choose(&cpus);
        let count = 1 + numbers.below(20);
        let ran: Vec<SimulatedRun> =
            (0..count).map(|_| ran(&mut numbers, &machine, &cpus, &mut cpu, scheduler)).collect();
        let mut times = vec![0; machine.len()];
        for ran in &ran {
            let (there, of) = truth(ran, &machine);
            times.iter_mut().zip(of).for_each(|(sum, ns)| *sum += ns);
            let one = residency([ran.block], &machine, Some(&cpus));
            let given = one.kinds.iter().position(|kind| kind.work.blocks > 0);
            mixed += u32::from(there.len() > 1);
            known += u32::from(given.is_some());
            blocks_there += 1;
            if let Some(kind) = given {
                assert_eq!(there, BTreeSet::from([kind]), "seed {seed}: {:?}", ran.turns);
            }
            if let [only] = &one.cpus[..] {
                let elsewhere = ran.turns.iter().any(|(cpu, _)| *cpu != only.cpu);
                assert!(!elsewhere, "seed {seed}: {:?}", ran.turns);
            }
        }
        let blocks: Vec<WorkBlock> = ran.iter().map(|ran| ran.block).collect();
        let residency = residency(blocks, &machine, Some(&cpus));
        let sum: u64 = times.iter().sum();
        let parts = residency.kinds.iter().map(|kind| kind.work.cpu_ns);
        assert_eq!(parts.sum::<u64>() + residency.unknown().cpu_ns, sum, "seed {seed}");
        for (kind, ns) in times.iter().enumerate() {
            let share = residency.share(kind).expect("CPU time");
            let truth = *ns as f64 / sum as f64;
            let within = (share.least - 1e-12..=share.most + 1e-12).contains(&truth);
            assert!(within, "seed {seed}: {truth} is not within {share:?}");
        }
        let last = times.last().copied().unwrap_or(0) as f64 / sum as f64;
        match residency.carried_by_slowest() {
            Carried::Alone(_) | Carried::NoOtherAllowed => {
                alone += 1;
                assert!(last >= ALONE, "seed {seed}: {last}");
            }
            Carried::NotAlone(_) => assert!(last < ALONE, "seed {seed}: {last}"),
            Carried::NotAllowed => assert_eq!(last, 0.0, "seed {seed}"),
            Carried::OneKind => assert_eq!(machine.len(), 1, "seed {seed}"),
            Carried::CannotTell(_) => {}
            Carried::Nothing => panic!("seed {seed}: there was work"),
        }
    }
    // The simulation has what it is to test, and most is told.
    assert!(mixed > 5_000, "{mixed} blocks of several kinds");
    assert!(alone > 400, "{alone} schedules");
    assert!(known * 2 > blocks_there, "{known} of {blocks_there} blocks are known");
}

#[test]
fn the_clock_of_a_core_is_the_median_of_its_blocks_and_the_mean_of_runs() {
    let at = |cpu: u32, mhz: u64| WorkBlock {
        clock_hz: Some(mhz * 1_000_000),
        ..block(cpu, cpu, 1, Some(0))
    };
    // One was interrupted; a block that moved counts nowhere.
    let moved = WorkBlock { end_cpu: 1, ..at(0, 9000) };
    let blocks = [at(0, 4000), at(0, 700), at(0, 4010), moved, at(1, 3000)];
    let mut all = residency(blocks, &[], None);
    let clocks = |of: &Residency| -> Vec<_> {
        let cpus = of.cpus.iter();
        cpus.map(|on| on.clock_hz.map(|hz| hz / 1_000_000)).collect()
    };
    assert_eq!(clocks(&all), [Some(4000), Some(3000)]);
    all.add_run(&residency([at(0, 3000), block(1, 1, 1, Some(0))], &[], None));
    assert_eq!(clocks(&all), [Some(3750), Some(3000)]);
}
