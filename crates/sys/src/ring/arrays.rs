//! One array for each member, on pages of its own.

use crate::pages::base_page_bytes;
use crate::shared::SharedBytes;
use std::io;

/// One array for each member, on pages of its own.
#[derive(Debug)]
pub(super) struct Arrays {
    all: SharedBytes,
    bytes: usize,
    apart: usize,
}

impl Arrays {
    pub(super) fn new(members: usize, bytes: usize) -> io::Result<Arrays> {
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let apart = bytes.checked_next_multiple_of(base_page_bytes()).ok_or_else(too_large)?;
        let whole = apart.checked_mul(members).ok_or_else(too_large)?;
        let all = SharedBytes::new(whole, |all| {
            for (number, array) in all.chunks_mut(apart.max(1)).enumerate() {
                array.fill((number + 1) as u8);
            }
        })?;
        Ok(Arrays { all, bytes, apart })
    }

    pub(super) fn array(&self, member: usize) -> &[u8] {
        &self.all.all()[member * self.apart..][..self.bytes]
    }
}
