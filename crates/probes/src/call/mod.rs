//! Rows of calls: of a function, direct or through a pointer (`function.rs`), of an object's method
//! (`object.rs`), of the kernel (`kernel.rs`). What is called is in `crates/kernels`, for the kernel in
//! `crates/sys`.

mod function;
mod kernel;
mod object;

use meter::probe::{Effort, Probe};

pub(crate) fn call_probes() -> Vec<Probe> {
    let mut probes = function::function_probes();
    probes.extend(object::object_probes());
    probes.extend(kernel::kernel_probes());
    probes
}

/// What a call deserves: it is short, and steady.
const EFFORT: Effort = Effort::visits(8);

#[cfg(test)]
mod tests {
    use crate::engine::testing;

    #[test]
    fn every_call_runs_or_says_why_not() {
        let probes = super::call_probes();
        for probe in &probes {
            for row in probe.row_ids() {
                let missing = match row.as_str() {
                    "call.virtual" => kernels::VIRTUAL_CALL_MISSING.map(str::to_string),
                    "call.shared_library" => kernels::SHARED_LIBRARY_MISSING.map(str::to_string),
                    "call.vdso" => sys::vdso::check_coarse_clock().err().map(|e| e.to_string()),
                    _ => None,
                };
                assert_eq!(testing::run_row(&probes, &row).err(), missing.map(Into::into), "{row}");
            }
        }
    }
}
