//! Calls whose target an object decides: a virtual method, a trait object, a
//! boxed closure.

use super::EFFORT;
use crate::engine::paired::{DIFFERENCE, Over, Paired};
use kernels::{Method, Nothing};
use meter::probe::{Probe, Work};

pub(crate) fn object_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "virtual call of C++".into(),
            operation: "One call of an empty virtual method through a pointer to the base class, and its return.".into(),
            method: format!("{DIFFERENCE} The loops are compiled C++ whose class is defined in another file, so that each call loads the object's table and the method's address from it; the target never changes. The object lies in static storage, in L1.").into(),
            source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source: 1e8 turns of ten calls of an empty virtual method through an object on the heap, built unoptimised, with the time of an empty loop's turn subtracted once per turn; this row is optimised and has no loop to subtract.".into(),
            effort: EFFORT,
            unavailable: |_| kernels::VIRTUAL_CALL_MISSING.map(str::to_string),
            make: Box::new(|_, _| {
                kernels::virtual_call()
                    .map(|pair| Box::new(Paired(pair)) as Box<dyn Work>)
                    .ok_or_else(|| kernels::VIRTUAL_CALL_MISSING.unwrap_or_default().into())
            }),
            ..Probe::blank("call.virtual")
        },
        Probe {
            title: "call through a trait object of Rust".into(),
            operation: "One call of an empty method through a reference to a trait object, and its return.".into(),
            method: format!("{DIFFERENCE} Compiled Rust; object and table are hidden from the compiler before each call, so that each loads the method's address from the table, whose address is in the reference: one load less than a virtual call of C++.").into(),
            source: "Ours, to compare with the virtual call of C++.".into(),
            effort: EFFORT,
            make: Box::new(|_, _| {
                Ok(Box::new(Paired(Over::<Box<dyn Method>> {
                    operand: Box::new(Nothing),
                    single: |object, turns| kernels::call_dyn_trait_single(&**object, turns),
                    double: |object, turns| kernels::call_dyn_trait_double(&**object, turns),
                })))
            }),
            ..Probe::blank("call.dyn_trait")
        },
        Probe {
            title: "call of a boxed closure of Rust".into(),
            operation: "One call of a boxed closure that returns the one number it captured, and its return.".into(),
            method: format!("{DIFFERENCE} Compiled Rust; closure and table are hidden from the compiler before each call, as for a trait object.").into(),
            source: "Ours, to compare with the call through a trait object.".into(),
            effort: EFFORT,
            make: Box::new(|worker, _| {
                let number = worker.rng.u64(..);
                Ok(Box::new(Paired(Over::<Box<dyn Fn() -> u64>> {
                    operand: Box::new(move || number),
                    single: |closure, turns| kernels::call_closure_single(&**closure, turns),
                    double: |closure, turns| kernels::call_closure_double(&**closure, turns),
                })))
            }),
            ..Probe::blank("call.closure_boxed")
        },
    ]
}
