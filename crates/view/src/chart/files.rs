//! Pictures of files.

use super::curves::{CURVES, Curves};
use super::maker::Maker;
use super::source::{ChartSource, Picture};
use super::writes::writes;
use super::{Quantity, Section};
use model::run::{self, Row};
use model::story::create_delete;
use model::unit::Unit;

pub(super) const PICTURES: &[Maker] = &[
    Maker::Curves(&READ_TIME),
    Maker::Curves(&READ),
    Maker::Curves(&READ_OPEN),
    Maker::Curves(&READ_WITH_OPEN),
    Maker::Curves(&CREATE_DELETE),
    Maker::Own("file.write_whole", writes),
];

/// Speeds over the size of a file.
const READING: Curves = Curves {
    section: Section::Files,
    over: run::Axis::FileBytes,
    x: ("size of the file", Quantity::Bytes),
    y: ("bytes of the file over the time", Quantity::GigabytesPerSecond),
    unit: bytes_of_file,
    ..CURVES
};

/// A file's bytes over the time of reading them.
fn bytes_of_file(_: &Row, bytes: u64) -> Unit {
    Unit::Bandwidth { bytes_per_op: bytes as f64 }
}

const READ_TIME: Curves = Curves {
    id: "file.read.time",
    title: "Time of reading files of growing size",
    caption: "Time of reading a whole file from the page cache, over its size: of a file that is \
              open, and with opening and closing it. Small files take the same time whatever their \
              size; where the curve turns upwards, each byte counts.",
    y: ("time of a file", Quantity::Nanoseconds),
    unit: CURVES.unit,
    ..READ
};

const READ: Curves = Curves {
    id: "file.read",
    title: "Reading files of growing size",
    caption: "Speed of reading a whole file from the page cache, over its size: of a file that is \
              open, and with opening and closing it. What opening costs is all of small files and \
              nothing of large ones.",
    rows: &[("file.read_open", "read"), ("file.read_with_open", "open + read + close")],
    ..READING
};

const READ_OPEN: Curves = Curves {
    id: "file.read_open",
    title: "Ways of reading a file that is open",
    caption: "In one call, in chunks, summing as LMbench does, and through a mapping.",
    rows: &[
        ("file.read_open", "one read"),
        ("file.read_open/chunked", "in chunks"),
        ("file.read_open/as_lmbench", "as LMbench, summing"),
        ("file.mmap_read", "mapped"),
    ],
    ..READING
};

const READ_WITH_OPEN: Curves = Curves {
    id: "file.read_with_open",
    title: "Ways of reading a file, with opening and closing it",
    caption: "In one call, in chunks, summing as LMbench does, and through a mapping.",
    rows: &[
        ("file.read_with_open", "one read"),
        ("file.read_with_open/chunked", "in chunks"),
        ("file.read_with_open/as_lmbench", "as LMbench, summing"),
        ("file.mmap_read/with_open", "mapped"),
    ],
    ..READING
};

const CREATE_DELETE: Curves = Curves {
    id: "file.create_delete",
    title: "Creating and deleting files",
    caption: "A file made and written, and deleted, of a hundred in a directory, over its size.",
    y: ("time of a file", Quantity::Nanoseconds),
    rows: &[(create_delete::CREATE, "create and write"), (create_delete::DELETE, "delete")],
    unit: CURVES.unit,
    finish: sentence,
    ..READING
};

fn sentence(source: &ChartSource, picture: &mut Picture) {
    let words = create_delete::conclusion(source.run);
    picture.chart.notes.insert(0, words);
}
