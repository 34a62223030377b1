//! Apple systems drop the page cache by a program of their own (`purge`).

use std::fs::File;
use std::io;

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems let no program drop pages from the page cache",
    )
}

pub(crate) fn drop_all() -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn drop_pages(_file: &File) -> io::Result<()> {
    Err(unsupported())
}
