//! Where latlas does not trace.

use crate::layout::RecordKind;

/// Whether the program is traced.
#[inline]
pub fn is_traced() -> bool {
    false
}

pub(crate) fn intern(_: &str) -> Option<u32> {
    None
}

pub(crate) fn mark(_: RecordKind, _: u32) -> bool {
    false
}

pub(crate) fn end(_: u32) {}

pub(crate) fn unnamed() {}
