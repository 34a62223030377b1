//! The order of bytes in a recording, which may be of another machine.

/// Where the least significant byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// First.
    Little,
    /// Last.
    Big,
}

impl Endian {
    /// That of this machine.
    pub const NATIVE: Endian =
        if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };

    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        }
    }

    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        }
    }

    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The number that begins at a place; `None` where it reaches beyond the end.
    pub fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = bytes.get(at..)?.first_chunk()?;
        Some(self.u32(*bytes))
    }

    /// The same of 8 bytes.
    pub fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        let bytes = bytes.get(at..)?.first_chunk()?;
        Some(self.u64(*bytes))
    }
}
