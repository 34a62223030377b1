//! `sysctlbyname(3)`.

use std::ffi::CString;
use std::ptr;

/// The bytes behind a name; `None` if there is no such name.
fn bytes(name: &str) -> Option<Vec<u8>> {
    let name = CString::new(name).ok()?;
    let mut len = 0;
    // SAFETY: with no buffer the call only writes the length.
    let status = unsafe {
        libc::sysctlbyname(name.as_ptr(), ptr::null_mut(), &raw mut len, ptr::null_mut(), 0)
    };
    if status != 0 {
        return None;
    }
    let mut value = vec![0_u8; len];
    // SAFETY: the buffer has the `len` bytes that the call may write.
    let status = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            &raw mut len,
            ptr::null_mut(),
            0,
        )
    };
    value.truncate(len);
    (status == 0).then_some(value)
}

pub(super) fn sysctl_text(name: &str) -> Option<String> {
    let value = bytes(name)?;
    let text = String::from_utf8_lossy(&value);
    let text = text.trim_matches('\0').trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A number of 4 or 8 bytes.
pub(super) fn sysctl_number(name: &str) -> Option<u64> {
    let value = bytes(name)?;
    match value.len() {
        4 => Some(u64::from(u32::from_ne_bytes(value.try_into().ok()?))),
        8 => Some(u64::from_ne_bytes(value.try_into().ok()?)),
        _ => None,
    }
}
