//! Calls of functions: direct, through a pointer, in a shared library.

use super::EFFORT;
use crate::engine::paired::{DIFFERENCE, of_pair};
use kernels::Pair;
use meter::probe::{Probe, Text};

pub(crate) fn function_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "direct call".into(),
            operation: "One call of a function that is never inlined and does nothing, and its return.".into(),
            method: format!("{DIFFERENCE} The calls follow each other in assembly and all have the same target.").into(),
            ..pair("call.direct", &kernels::CALL_DIRECT)
        },
        Probe {
            title: "call through a pointer".into(),
            operation: "One call of the same function through a pointer that stays in a register, and its return.".into(),
            method: format!("{DIFFERENCE} The calls follow each other in assembly; the target never changes, so that each is predicted.").into(),
            ..pair("call.pointer", &kernels::CALL_POINTER)
        },
        Probe {
            title: "call into a shared library".into(),
            operation: "One call of the C library's labs through the procedure linkage table, and its return: labs itself is some three instructions.".into(),
            method: format!("{DIFFERENCE} The call is a plain one of a function that is linked dynamically, so that the linker puts a jump through the dynamic linker's table between; the table is filled before the first sample.").into(),
            unavailable: |_| kernels::SHARED_LIBRARY_MISSING.map(str::to_string),
            ..pair("call.shared_library", &kernels::CALL_SHARED_LIBRARY)
        },
    ]
}

fn pair(id: &'static str, loops: &'static Pair) -> Probe {
    Probe {
        source: "Ours: the steps between a direct call and a virtual one.".into(),
        effort: EFFORT,
        make: Box::new(move |_, _| of_pair(loops)),
        ..Probe::blank(Text::from(id))
    }
}
