//! Pictures of files.

use super::curves::{Curves, named, own_unit};
use super::figure::log;
use super::of_run::Maker;
use super::source::{Drawn, Source};
use super::{Quantity, Section};
use crate::render::create_delete;
use model::run::{self, Row};
use model::unit::Unit;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] = &[
    ("file.read", read),
    ("file.read_open", read_open),
    ("file.read_with_open", read_with_open),
    ("file.create_delete", create_delete),
];

/// A file's bytes over the time of reading them.
fn bytes_of_file(_: &Row, bytes: u64) -> Unit {
    Unit::Bandwidth {
        bytes_per_op: bytes as f64,
    }
}

fn read(source: &Source) -> Drawn {
    reading(
        source,
        "file.read",
        "Reading files of growing size",
        "Speed of reading a whole file from the page cache, over its size: of a file that is \
         open, and with opening and closing it. What opening costs is all of small files and \
         nothing of large ones.",
        &[
            ("file.read_open", "read"),
            ("file.read_with_open", "open + read + close"),
        ],
    )
}

fn read_open(source: &Source) -> Drawn {
    reading(
        source,
        "file.read_open",
        "Ways of reading a file that is open",
        "In one call, in chunks, summing as LMbench does, and through a mapping.",
        &[
            ("file.read_open", "one read"),
            ("file.read_open/chunked", "in chunks"),
            ("file.read_open/as_lmbench", "as LMbench, summing"),
            ("file.mmap_read", "mapped"),
        ],
    )
}

fn read_with_open(source: &Source) -> Drawn {
    reading(
        source,
        "file.read_with_open",
        "Ways of reading a file, with opening and closing it",
        "In one call, in chunks, summing as LMbench does, and through a mapping.",
        &[
            ("file.read_with_open", "one read"),
            ("file.read_with_open/chunked", "in chunks"),
            ("file.read_with_open/as_lmbench", "as LMbench, summing"),
            ("file.mmap_read/with_open", "mapped"),
        ],
    )
}

fn reading(source: &Source, id: &str, title: &str, caption: &str, rows: &[(&str, &str)]) -> Drawn {
    Curves {
        id,
        title,
        caption,
        section: Section::Files,
        over: run::Axis::FileBytes,
        x: log("size of the file", Quantity::Bytes),
        y: log(
            "bytes of the file over the time",
            Quantity::GigabytesPerSecond,
        ),
        rows: named(rows),
        unit: bytes_of_file,
    }
    .draw(source)
}

fn create_delete(source: &Source) -> Drawn {
    let mut picture = Curves {
        id: "file.create_delete",
        title: "Creating and deleting files",
        caption: "A file made and written, and deleted, of a hundred in a directory, over its \
                  size.",
        section: Section::Files,
        over: run::Axis::FileBytes,
        x: log("size of the file", Quantity::Bytes),
        y: log("time of a file", Quantity::Nanoseconds),
        rows: named(&[
            (create_delete::CREATE, "create and write"),
            (create_delete::DELETE, "delete"),
        ]),
        unit: own_unit,
    }
    .draw(source)?;
    let words = create_delete::in_words(source.run);
    picture.chart.notes.insert(0, words);
    Ok(picture)
}
