//! Apple systems have no `perf_event_open(2)`.

use std::io;
use std::time::Duration;

use crate::perf::{PerfEvent, RingError};
use crate::platform::unsupported;

#[derive(Debug)]
pub struct PerfRing(());

impl PerfRing {
    pub fn for_event(_first: &PerfEvent, _data_bytes: &[usize]) -> Result<PerfRing, RingError> {
        Err(RingError::Event(unsupported("perf events")))
    }

    pub fn add_event(&mut self, _event: &PerfEvent) -> io::Result<()> {
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

pub fn wait_half_full<'a>(
    _rings: impl IntoIterator<Item = &'a PerfRing>,
    _limit: Duration,
) -> io::Result<()> {
    Err(unsupported("perf events"))
}
