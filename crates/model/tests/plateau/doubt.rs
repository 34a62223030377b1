//! Levels in doubt.

use super::*;

/// Whether L1, L2 and DRAM are as they should be, and L3 is there but in doubt,
/// with its range.
fn l3_in_doubt(found: &[Plateau], range: (f64, f64)) -> Result<(), String> {
    if plateau_names(found) != ["L1", "L2", "L3", "DRAM"] {
        return Err(format!("{found:#?}"));
    }
    let l3 = &found[2];
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.1;
    if l3.certain || l3.reason.is_none() {
        return Err(format!("certain: {l3:?}"));
    }
    if !near(l3.low_ns, range.0) || !near(l3.high_ns, range.1) {
        return Err(format!("range: {l3:?}"));
    }
    if l3.from_bytes < MIB || l3.to_bytes >= found[3].from_bytes {
        return Err(format!("ends: {found:#?}"));
    }
    for (index, ns) in [(0, 1.2), (1, 4.0), (3, 240.0)] {
        if !found[index].certain || !near(found[index].ns, ns) {
            return Err(format!("{:#?}", found[index]));
        }
    }
    Ok(())
}

/// L3 from 2 to 24 MiB spoilt by `spoil`, between L2 and a DRAM of `dram`.
fn with_l3(dram: f64, random: &mut Dice, spoil: impl Fn(&mut Point, &mut Dice)) -> Vec<Point> {
    let clean = curve(&[
        level(KIB, 48 * KIB, 1.2),
        level(64 * KIB, 1280 * KIB, 4.0),
        level(2 * MIB, 24 * MIB, 15.0),
        level(48 * MIB, 256 * MIB, dram),
    ]);
    let mut points = noisy(&clean, 0.03, random);
    for p in &mut points {
        if (2 * MIB..=24 * MIB).contains(&p.bytes) {
            spoil(p, random);
        }
    }
    points
}

/// Points of L3 drawn at random from 15 and 97 ns. A draw that looks like a
/// level of 15 ns and then one of 97, but for three points or fewer, is drawn
/// again: the two are indistinguishable.
fn two_states(dram: f64, random: &mut Dice) -> Vec<Point> {
    loop {
        let points = with_l3(dram, random, |p, random| {
            if random.uniform() < 0.5 {
                *p = point(p.bytes, 97.0);
            }
        });
        let slow: Vec<bool> = points
            .iter()
            .filter(|p| (2 * MIB..=24 * MIB).contains(&p.bytes))
            .map(|p| p.ns > 50.0)
            .collect();
        let misplaced = (0..=slow.len()).map(|cut| {
            slow[..cut].iter().filter(|s| **s).count() + slow[cut..].iter().filter(|s| !**s).count()
        });
        if misplaced.min() > Some(3) {
            return points;
        }
    }
}

#[test]
fn a_level_in_two_states_is_in_doubt() {
    succeeds(|random| l3_in_doubt(&found_levels(&two_states(240.0, random)), (15.0, 97.0)));
}

#[test]
fn a_level_whose_slow_state_is_as_slow_as_dram_is_in_doubt() {
    succeeds(|random| {
        let mut found = found_levels(&two_states(95.0, random));
        let dram = found.last().map_or(0.0, |l| l.ns);
        if (dram / 95.0 - 1.0).abs() > 0.05 {
            return Err(format!("{found:#?}"));
        }
        if let Some(last) = found.last_mut() {
            last.ns = 240.0;
        }
        l3_in_doubt(&found, (15.0, 97.0))
    });
}

#[test]
fn the_level_at_the_slow_state_of_one_in_doubt_stays() {
    let mut points = curve(&intel().iter().map(|l| l.1).collect::<Vec<_>>());
    let l2 = 64 * KIB..=1280 * KIB;
    for (index, p) in points.iter_mut().filter(|p| l2.contains(&p.bytes)).enumerate() {
        if index % 2 == 0 {
            *p = point(p.bytes, 20.0);
        }
    }
    // L3 here lasts longer than L2.
    points.retain(|p| p.bytes <= 300 * KIB || p.bytes >= 2 * MIB);
    let found = found_levels(&points);
    assert_eq!(plateau_names(&found), ["L1", "L2", "L3", "DRAM"], "{found:#?}");
    let certain: Vec<bool> = found.iter().map(|f| f.certain).collect();
    assert_eq!(certain, [true, false, true, true], "{found:#?}");
}

#[test]
fn points_flagged_two_states_put_a_level_in_doubt() {
    succeeds(|random| {
        let points = with_l3(240.0, random, |p, _| {
            p.two_states = true;
        });
        l3_in_doubt(&found_levels(&points), (15.0, 15.0))
    });
}

#[test]
fn wide_intervals_put_a_level_in_doubt() {
    succeeds(|random| {
        let points = with_l3(240.0, random, |p, _| {
            p.ns *= 2.0;
            p.low = 19.0;
            p.high = 82.0;
        });
        l3_in_doubt(&found_levels(&points), (19.0, 82.0))
    });
}

#[test]
fn the_reason_gives_the_range_in_words() {
    let mut slow = false;
    let mut points = with_l3(240.0, &mut Dice(1), |_, _| ());
    for p in &mut points {
        if (2 * MIB..=24 * MIB).contains(&p.bytes) {
            slow = !slow;
            *p = point(p.bytes, if slow { 97.0 } else { 15.0 });
        }
    }
    let found = found_levels(&points);
    assert_eq!(
        found[2].reason.as_deref(),
        Some("the points disagree: from size to size they jump between 15.0 ns and 97.0 ns"),
        "{found:#?}"
    );
}
