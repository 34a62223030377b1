//! `latlas_probe.h`, version 1. SPDX-License-Identifier: MIT OR Apache-2.0
#![allow(dead_code)]

use std::ffi::{c_char, c_void};
use std::ptr::null;

pub const CORE_CLOCK: u32 = 1;
pub const LONG: u32 = 2;
pub const FAULTS: u32 = 4;

#[repr(C)]
pub struct Context {
    pub context_bytes: u32,
    pub reserved: u32,
    pub directory: *const c_char,
    pub ticks: extern "C" fn() -> u64,
    pub reason: *mut c_char,
    pub reason_bytes: usize,
}

#[repr(C)]
pub struct Stamp {
    pub from_ticks: u64,
    pub to_ticks: u64,
}

#[repr(C)]
pub struct Probe {
    pub id: *const c_char,
    pub title: *const c_char,
    pub operation: *const c_char,
    pub method: *const c_char,
    pub note: *const c_char,
    pub needs: *const c_char,
    pub flags: u32,
    pub ops_per_turn: u32,
    pub bytes_per_op: u64,
    pub about_ns: u64,
    pub disk_bytes: u64,
    pub setup: Option<extern "C" fn(*const Context) -> *mut c_void>,
    pub run: Option<extern "C" fn(*mut c_void, u64) -> u64>,
    pub stamped: Option<extern "C" fn(*mut c_void, u32, *mut Stamp) -> u32>,
    pub teardown: Option<extern "C" fn(*mut c_void)>,
}

impl Probe {
    pub const NONE: Probe = Probe {
        id: null(),
        title: null(),
        operation: null(),
        method: null(),
        note: null(),
        needs: null(),
        flags: 0,
        ops_per_turn: 1,
        bytes_per_op: 0,
        about_ns: 0,
        disk_bytes: 0,
        setup: None,
        run: None,
        stamped: None,
        teardown: None,
    };
}

#[repr(C)]
pub struct Pack {
    pub version: u32,
    pub count: u32,
    pub probe_bytes: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub probes: *const Probe,
    pub built_with: *const c_char,
}

// SAFETY: packs and probes are constants.
unsafe impl Sync for Pack {}
unsafe impl Sync for Probe {}

/// Exports these probes as the pack.
#[macro_export]
macro_rules! latlas_pack {
    ($name:literal, $built_with:literal, $($probe:expr),+ $(,)?) => {
        #[no_mangle]
        pub extern "C" fn latlas_probe_pack() -> *const $crate::latlas_probe::Pack {
            static PROBES: &[$crate::latlas_probe::Probe] = &[$($probe),+];
            static PACK: $crate::latlas_probe::Pack = $crate::latlas_probe::Pack {
                version: 1,
                count: PROBES.len() as u32,
                probe_bytes: std::mem::size_of::<$crate::latlas_probe::Probe>() as u32,
                reserved: 0,
                name: $name.as_ptr(),
                probes: PROBES.as_ptr(),
                built_with: $built_with.as_ptr(),
            };
            &PACK
        }
    };
}
