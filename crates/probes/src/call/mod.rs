//! What reaching code costs.

mod function;
mod kernel;
mod object;

use meter::probe::{Effort, Probe};

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = function::probes();
    probes.extend(object::probes());
    probes.extend(kernel::probes());
    probes
}

/// What a call deserves: it is short, and steady.
const EFFORT: Effort = Effort::visits(8);

#[cfg(test)]
mod tests {
    use crate::engine::testing;

    #[test]
    fn every_call_runs_or_says_why_not() {
        let probes = super::probes();
        for probe in &probes {
            for row in probe.row_ids() {
                let missing = match row.as_str() {
                    "call.virtual" => kernels::VIRTUAL_CALL_MISSING.map(str::to_string),
                    "call.shared_library" => kernels::SHARED_LIBRARY_MISSING.map(str::to_string),
                    "call.vdso" => sys::vdso::check().err().map(|e| e.to_string()),
                    _ => None,
                };
                assert_eq!(testing::run(&probes, &row).err(), missing.map(Into::into), "{row}");
            }
        }
    }
}
