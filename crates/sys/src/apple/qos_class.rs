//! `pthread_set_qos_class_self_np(3)`, <pthread/qos.h>.

use std::ffi::c_int;

unsafe extern "C" {
    /// `qos_class_t qos_class_self(void)`. A plain number here: it may be none of
    /// the known ones.
    fn qos_class_self() -> u32;
    fn pthread_set_qos_class_self_np(class: u32, relative: c_int) -> c_int;
}

/// Number of the calling thread's class. The system may lower it (App Nap).
pub(crate) fn current() -> u32 {
    // SAFETY: the call takes nothing and asks about the calling thread.
    unsafe { qos_class_self() }
}

/// Gives the calling thread a class. One that `pthread_setschedparam` was called
/// for can't have one.
pub(crate) fn set(number: u32) -> Result<(), i32> {
    // SAFETY: a call on numbers about the calling thread; it refuses unknown ones.
    match unsafe { pthread_set_qos_class_self_np(number, 0) } {
        0 => Ok(()),
        error => Err(error),
    }
}
