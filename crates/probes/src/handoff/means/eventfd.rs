//! An eventfd for each direction.

use crate::handoff::pair::{Means, Side};
use std::fs::File;
use std::io::{self, Read, Write};

pub(crate) struct EventFds([File; 2]);

impl EventFds {
    pub(crate) fn new() -> Result<EventFds, String> {
        let one = || {
            sys::eventfd::eventfd()
                .map(File::from)
                .map_err(|e| format!("no eventfd could be made: {e}"))
        };
        Ok(EventFds([one()?, one()?]))
    }
}

impl Means for EventFds {
    fn give(&self, from: Side) -> io::Result<()> {
        (&self.0[from.place()]).write_all(&1_u64.to_ne_bytes())
    }
    fn take(&self, at: Side) -> io::Result<()> {
        (&self.0[at.other().place()]).read_exact(&mut [0; 8])
    }
}
