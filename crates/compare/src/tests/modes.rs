//! Rows that ran in several modes or states.

use super::*;

#[test]
fn states_that_overlap_are_never_called_different() {
    const ID: &str = "cpu.div_f64_from_int_as_ash";
    let mut a = synthetic::run();
    // A tenth of its samples take four times as long: more than B's.
    change(&mut a, ID, |e| {
        if let Some(t) = &mut e.typical {
            t.p90_ns *= 4.0;
        }
    });
    let b = slower(&synthetic::run(), ID, 3.0);
    for c in [set(&a, &b, &USUAL), set(&b, &a, &USUAL)] {
        assert_eq!(row(&c, ID).finding, finding::Verdict::CannotTell);
    }
}

#[test]
fn rows_in_several_modes_are_compared_mode_by_mode() {
    const ID: &str = "sync.semaphore_switch/free";
    const PIPE: &str = "sync.handoff/pipe";
    let a = synthetic::run();
    let mut text = String::new();
    let with = |shares: [f64; 2], same_cpu: f64| {
        let mut b = a.clone();
        change(&mut b, ID, |e| {
            for (mode, share) in e.modes.iter_mut().zip(shares) {
                mode.share = share;
                if mode.name == "same CPU" {
                    mode.typical.ns = mode.typical.ns.scaled(same_cpu);
                }
            }
        });
        b
    };
    for (what, b) in [
        ("one mode slower", with([0.7, 0.3], 2.0)),
        ("another mix of the same modes", with([0.4, 0.6], 1.0)),
    ] {
        let c = set(&a, &b, &USUAL);
        for row in c.rows.iter().filter(|row| row.id == ID) {
            text += &described(what, row);
        }
        // A row that runs in one mode has no lines for modes.
        assert_eq!(c.rows.iter().filter(|row| row.id == PIPE).count(), 1);
    }
    let mut b = slower(&a, PIPE, 4.0);
    change(&mut b, PIPE, |e| {
        e.modes.iter_mut().for_each(|mode| mode.share = 1.0 - mode.share);
    });
    text += &described("a mode each", row(&set(&a, &b, &USUAL), PIPE));
    let run = |mixture, shares: [f64; 2]| {
        let modes = [("same CPU", shares[0], 4e3), ("other CPU", shares[1], 4e4)];
        let mut modes = modes.to_vec();
        modes.sort_by(|a, b| b.1.total_cmp(&a.1));
        synthetic::with_figure(synthetic::run(), PIPE, synthetic::in_modes(mixture, &modes))
    };
    // The mixture's median moves with the shares; the mode's does not.
    let a = run(5e3, [0.60, 0.40]);
    for (what, b) in [
        ("another mixture", run(9e3, [0.55, 0.45])),
        ("another usual mode: two quantities", run(3e4, [0.46, 0.54])),
    ] {
        text += &described(what, row(&set(&a, &b, &USUAL), PIPE));
    }
    insta::assert_snapshot!(text);
}
