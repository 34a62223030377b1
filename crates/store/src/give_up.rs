//! Whether the user still waits for a database's answer.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

static FLAG: OnceLock<&'static AtomicBool> = OnceLock::new();

/// Has no answer of a database waited for any longer when this flag is set while it is waited for.
/// Only the first call counts.
pub fn give_up_when(flag: &'static AtomicBool) {
    let _ = FLAG.set(flag);
}

/// The flag, unless it is set already: what is asked for after that is wanted all the same.
pub(crate) fn flag() -> Option<&'static AtomicBool> {
    FLAG.get().copied().filter(|flag| !flag.load(Ordering::Relaxed))
}
