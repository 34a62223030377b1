//! Commands that are run again and again: when it is enough, and what the
//! document says of them.

mod document;
mod repeat;

use meter::commands::repeat::ADAPTIVE;
use model::command::Rule;

const MS: u64 = 1_000_000;

fn exactly(runs: u32) -> Rule {
    Rule { runs: Some(runs), ..ADAPTIVE }
}
