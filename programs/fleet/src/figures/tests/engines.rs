//! What is said of hosts apart, of groups and of campaigns, to the last bit: a change of structure leaves it as it is.

use crate::figures::paired::PairedFleets;
use crate::made_up::{MadeFleet, fleet};
use model::machine::Fact;
use serde_json::{Value, json};

fn of_fleets(hosts: usize, factor: f64) -> Value {
    let old = |host: usize| host % 3 == 1;
    let [a, b] = [(1, 1.0), (2, factor)].map(|(seed, factor)| {
        let made = MadeFleet { seed, ..MadeFleet::new(hosts, 3, 2) };
        let is_longer = |host: usize, row: usize| [old(host), host == 4, true][row];
        let factor = |host, row| if is_longer(host, row) { factor } else { 1.0 };
        let runs = made.runs(factor, |host, machine| {
            machine.kernel = Fact::known(if old(host) { "5.9" } else { "6.1" }.into());
        });
        fleet(&runs)
    });
    let tests: Vec<_> = b.groupings.iter().map(|grouping| &grouping.tests).collect();
    let outliers: Vec<_> =
        b.rows.iter().map(|row| (&row.outliers, &row.apart, row.reach)).collect();
    let paired = PairedFleets::compare([&a, &b], &|_| true, 0.05, Some(0.05));
    json!([tests, outliers, paired.rows, paired.crossed, paired.unable, paired.needed_hosts])
}

#[test]
fn what_is_said_of_fleets_stays() {
    let mut text = String::new();
    for factor in [1.0, 1.03, 1.4] {
        for size in [5, 9, 30] {
            text += &format!("{size} hosts {}\n", of_fleets(size, factor));
        }
    }
    insta::assert_snapshot!(text);
}
