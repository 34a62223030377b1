//! What a directory is on, by `statfs(2)`, which names it.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use model::filesystem::{DeviceKind, Filesystem};

/// File systems whose files are another machine's.
const ELSEWHERE: [&str; 5] = ["nfs", "smbfs", "afpfs", "webdav", "ftp"];

pub(crate) fn filesystem_facts(directory: &Path) -> io::Result<Filesystem> {
    let status = rustix::fs::statfs(directory)?;
    let kind = field_text(&status.f_fstypename);
    let device = match kind.as_str() {
        "tmpfs" => DeviceKind::Memory,
        kind if ELSEWHERE.contains(&kind) => DeviceKind::Network,
        // IOKit would tell more.
        _ => DeviceKind::Unknown,
    };
    Ok(Filesystem {
        directory: directory.display().to_string(),
        source: field_text(&status.f_mntfromname),
        kind,
        device,
        mount_options: String::new(),
    })
}

/// The text of a field that ends with a zero.
fn field_text(field: &[libc::c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|&c| c.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

pub fn spread_directories(_directory: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn read_from_storage_bytes() -> Option<u64> {
    None
}
