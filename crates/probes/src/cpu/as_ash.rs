//! Ash's three divisions: ten independent ones a turn, as his program has
//! them.

use crate::engine::paired::{DIFFERENCE, of_pair};
use fastrand::Rng;
use kernels::Pair;
use kernels::cpu::{DIV_F64_AS_ASH, DIV_F64_FROM_INT_AS_ASH};
use meter::probe::{Probe, Work};

const SOURCE: &str =
    "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source.";

pub(crate) fn as_ash_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "unsigned 64-bit division as Ash measured it".into(),
            operation: "1000000000 / i with i an unsigned 64-bit counter; results are not chained.".into(),
            method: format!("{DIFFERENCE} Each sample begins at another i, drawn evenly from 1 to 1e8: his loop runs through all of them, and small divisors cost differently.").into(),
            source: SOURCE.into(),
            make: Box::new(|worker, _| {
                Ok(Box::new(CountedCall {
                    rng: worker.rng.fork(),
                    first: 1,
                }))
            }),
            ..Probe::blank("cpu.div_u64_as_ash")
        },
        float("cpu.div_f64_as_ash", &DIV_F64_AS_ASH, "double-precision division as Ash measured it", "1e8 / 42.3, both from memory; results are not chained."),
        float("cpu.div_f64_from_int_as_ash", &DIV_F64_FROM_INT_AS_ASH, "division by a converted integer as Ash measured it", "1e8 / (double)i: the conversion of an integer and a division; results are not chained."),
    ]
}

fn float(
    id: &'static str,
    pair: &'static Pair,
    title: &'static str,
    operation: &'static str,
) -> Probe {
    Probe {
        title: title.into(),
        operation: operation.into(),
        method: DIFFERENCE.into(),
        source: SOURCE.into(),
        make: Box::new(move |_, _| of_pair(pair)),
        ..Probe::blank(id)
    }
}

struct CountedCall {
    rng: Rng,
    first: u64,
}

impl Work for CountedCall {
    fn ops_per_turn(&self) -> f64 {
        10.0
    }
    fn paired(&self) -> bool {
        true
    }
    fn ready(&mut self) {
        self.first = self.rng.u64(1..100_000_000);
    }
    fn run(&mut self, turns: u64, double: bool) {
        if double {
            kernels::ash_div_u64_double(self.first, turns);
        } else {
            kernels::ash_div_u64_single(self.first, turns);
        }
    }
}
