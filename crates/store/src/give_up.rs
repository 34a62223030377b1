//! Whether the user still waits for a database's answer.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "postgres")]
use std::sync::atomic::Ordering;

static FLAG: OnceLock<&'static AtomicBool> = OnceLock::new();

/// Has no answer of a database waited for any longer when this flag is set while it is waited for.
/// Only the first call counts.
pub fn give_up_when(flag: &'static AtomicBool) {
    let _ = FLAG.set(flag);
}

#[cfg(feature = "postgres")]
pub(crate) fn is_given_up() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
