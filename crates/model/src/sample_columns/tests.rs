//! Samples survive their columns; damaged columns are refused.

use super::*;
use proptest::prelude::*;

prop_compose! {
    // Few values, so that neighbours often share a reading.
    fn any_canaries()(
        branch in proptest::array::uniform2(990_u32..992),
        capacity in proptest::option::of(proptest::array::uniform2(1000_u32..1002)),
        multiply_permille in 2999_u32..3001,
    ) -> Canaries {
        Canaries {
            branch_permille: branch,
            capacity_permille: capacity,
            multiply_permille,
            l1_load_ps: capacity.map_or(0, |_| 1300),
        }
    }
}

prop_compose! {
    fn any_sample(paired: bool, gated: bool)(
        worker in 0_u32..8, at_ms in 0_u32..60_000, turns in 1_u64..5,
        first_ticks in 0_u64..1 << 40, second in 0_u64..1 << 40,
        canaries in any_canaries(), canary in 90_u16..300, cycle in 200_000_u32..600_000,
        lost_ns in prop_oneof![Just(0), 1_u64..1_000_000], flags in 0_u8..128,
        mode in 0_u8..3,
    ) -> Sample {
        Sample {
            worker, at_ms, turns, first_ticks,
            second_ticks: paired.then_some(second),
            evidence: Evidence {
                canaries: gated.then_some(canaries),
                canary_percent: gated.then_some(canary),
                cycle_fs: gated.then_some(cycle),
                last_level_ps: None, lost_ns, flags, mode,
            },
        }
    }
}

proptest! {
    #[test]
    fn columns_keep_every_sample(
        mut samples in (any::<bool>(), any::<bool>()).prop_flat_map(|(p, g)| {
            proptest::collection::vec(any_sample(p, g), 0..60)
        })
    ) {
        let columns = Columns::from(&samples[..]);
        samples.sort_by_key(|s| (s.worker, s.at_ms));
        prop_assert_eq!(columns.samples().expect("whole"), samples);
    }
}

#[test]
fn damaged_columns_are_refused() {
    let sample = Sample { at_ms: 3, turns: 10, first_ticks: 100, ..Sample::default() };
    let mut columns = Columns::from(&[sample, sample][..]);
    columns.at_ms_steps.pop();
    assert_eq!(
        columns.samples(),
        Err(DamagedColumns::Length { column: "at_ms_steps", length: 1, samples: 2 })
    );
    let mut columns = Columns::from(&[sample, sample][..]);
    columns.flags.push((9, 1));
    assert_eq!(columns.samples(), Err(DamagedColumns::NoSample { column: "flags", index: 9 }));
}

#[test]
fn a_visit_shares_the_readings_between_its_samples() {
    let sample = |branch_permille| Sample {
        at_ms: 3,
        turns: 10,
        first_ticks: 100,
        evidence: Evidence {
            canaries: Some(Canaries {
                branch_permille,
                capacity_permille: Some(branch_permille),
                multiply_permille: 2998,
                l1_load_ps: 1320,
            }),
            ..Evidence::default()
        },
        ..Sample::default()
    };
    let samples = [sample([1000, 1001]), sample([1001, 1700]), sample([999, 998])];
    let mut columns = Columns::from(&samples[..]);
    assert_eq!(columns.visits, [(2, 2998, 1320), (1, 2998, 1320)]);
    assert_eq!(columns.branch_permille, [1000, 1001, 1700, 999, 998]);
    assert_eq!(columns.samples().expect("whole"), samples);
    columns.capacity_permille.pop();
    assert_eq!(columns.samples(), Err(DamagedColumns::Short("capacity_permille")));
    columns.capacity_permille.extend([1, 2]);
    assert_eq!(columns.samples(), Err(DamagedColumns::NoVisit(1)));
    columns.visits.pop();
    columns.branch_permille.truncate(3);
    columns.capacity_permille.truncate(3);
    assert_eq!(
        columns.samples(),
        Err(DamagedColumns::Length { column: "visits", length: 2, samples: 3 })
    );
}
