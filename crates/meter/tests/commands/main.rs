//! Commands that are run again and again: when it is enough, and what the
//! document says of them.

extern crate latlas_meter as meter;

mod document;
mod repeat;

use meter::commands::repeat::ALONE;
use model::command::Rule;

const MS: u64 = 1_000_000;

fn exactly(runs: u32) -> Rule {
    Rule { runs: Some(runs), ..ALONE }
}
