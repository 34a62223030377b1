//! `pthread_set_qos_class_self_np(3)`, <pthread/qos.h>.

use std::ffi::c_int;
use std::io;

unsafe extern "C" {
    /// `qos_class_t qos_class_self(void)`. A plain number here: it may be none of
    /// the known ones.
    fn qos_class_self() -> u32;
    fn pthread_set_qos_class_self_np(class: u32, relative: c_int) -> c_int;
}

pub(crate) fn current() -> u32 {
    // SAFETY: the call takes nothing and asks about the calling thread.
    unsafe { qos_class_self() }
}

pub(crate) fn set(number: u32) -> io::Result<()> {
    // SAFETY: a call on numbers about the calling thread; it refuses unknown ones.
    match unsafe { pthread_set_qos_class_self_np(number, 0) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
