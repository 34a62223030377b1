//! The virtual call of compiled C++ (`cpp/`), where there was a compiler.

use crate::pair::Pair;

/// Why there is no virtual call, if there is none.
#[cfg(latlas_cpp)]
pub const VIRTUAL_CALL_MISSING: Option<&str> = None;
/// Why there is no virtual call, if there is none.
#[cfg(not(latlas_cpp))]
pub const VIRTUAL_CALL_MISSING: Option<&str> = Some(concat!(
    "this latlas was built without a C++ compiler that works (",
    env!("LATLAS_CPP_MISSING"),
    "); install one (Debian: g++) or name it in CXX, then `cargo clean -p latlas-kernels` and \
     build again"
));

/// The loops of virtual calls: of an empty method, through a pointer to the
/// base class. `None` where [`VIRTUAL_CALL_MISSING`] says why.
pub fn virtual_call() -> Option<&'static Pair> {
    #[cfg(latlas_cpp)]
    return Some(&cpp::PAIR);
    #[cfg(not(latlas_cpp))]
    None
}

#[cfg(latlas_cpp)]
mod cpp {
    use crate::UNROLL;
    use crate::pair::Pair;

    pair_of_module!(
        "an indirect call through the object's table, as the C++ compiler makes it",
        UNROLL,
        true
    );

    pub(super) static PAIR: Pair =
        pair("No arguments but the object, and a method that returns at once.", None);

    unsafe extern "C" {
        fn latlas_virtual_call_single(turns: u64);
        fn latlas_virtual_call_double(turns: u64);
    }

    fn single(turns: u64) {
        // SAFETY: takes any number, and touches a static object of its own,
        // which it only reads.
        unsafe { latlas_virtual_call_single(turns) }
    }

    fn double(turns: u64) {
        // SAFETY: as above.
        unsafe { latlas_virtual_call_double(turns) }
    }
}
