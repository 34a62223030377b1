//! Apple systems have no `perf_event_open(2)`.

use std::io;
use std::time::Duration;

use crate::perf::{Event, RingError};
use crate::platform::unsupported;

#[derive(Debug)]
pub struct Ring(());

impl Ring {
    pub fn open(_first: &Event, _data_bytes: &[usize]) -> Result<Ring, RingError> {
        Err(RingError::Event(unsupported("perf events")))
    }

    pub fn add(&mut self, _event: &Event) -> io::Result<()> {
        Err(unsupported("perf events"))
    }

    pub fn disable(&self) -> io::Result<()> {
        Err(unsupported("perf events"))
    }

    pub fn data_bytes(&self) -> usize {
        0
    }

    pub fn drain(&mut self, _into: &mut Vec<u8>) {}
}

pub fn wait<'a>(_rings: impl IntoIterator<Item = &'a Ring>, _limit: Duration) -> io::Result<()> {
    Err(unsupported("perf events"))
}
