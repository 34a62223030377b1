//! Threads have a QoS class here ([`super::qos_class`]) and not what Linux gives
//! them.

use std::io;

use model::noise::applied;

use crate::platform::unsupported;
use crate::scheduling::{IoPriority, Policy, Scheduling};

/// `ENOTSUP`: what the calls of Linux say where they are absent.
const ABSENT: i32 = libc::ENOTSUP;

pub(crate) fn of(_task: u32) -> Scheduling {
    Scheduling::default()
}

pub(crate) fn policy_of(_pid: libc::pid_t) -> Option<applied::Policy> {
    None
}

pub(crate) fn set_nice(_pid: libc::pid_t, _nice: i32) -> Result<(), i32> {
    Err(ABSENT)
}

pub(crate) fn set_policy(_pid: libc::pid_t, _policy: Policy) -> Result<(), i32> {
    Err(ABSENT)
}

pub(crate) fn set_slice(_pid: libc::pid_t, _slice_ns: u64) -> io::Result<()> {
    Err(unsupported("EEVDF slices"))
}

pub(crate) fn set_autogroup_of(_process: u32, _nice: i32) -> io::Result<()> {
    Err(unsupported("autogroups"))
}

pub(crate) fn set_io(_pid: libc::pid_t, _priority: IoPriority) -> io::Result<()> {
    Err(unsupported("ioprio_set"))
}
