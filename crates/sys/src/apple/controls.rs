//! What controls need of the system, and Apple systems lack.

use std::io;

use crate::controls::NoAutogroups;
use crate::files::Tree;
use crate::platform::unsupported;

pub(crate) fn autogroups(_tree: &Tree) -> Result<(), NoAutogroups> {
    Err(NoAutogroups::Apple)
}

pub(crate) fn real_time_share(_tree: &Tree) -> Option<f64> {
    None
}

#[derive(Debug)]
pub struct Above(());

impl Above {
    pub fn raise(_priority: u8) -> io::Result<Above> {
        Err(unsupported("SCHED_FIFO for processes"))
    }
}
