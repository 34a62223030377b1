//! Numbers and texts in a record's bytes, as this machine writes them.

/// Name of a C string's bytes.
pub(super) fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&b| b == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*bytes))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}
