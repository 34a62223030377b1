//! Rows of file operations: open, stat, read, write, map, create, delete. `cached.rs` gives the evidence that
//! the page cache served a read, `prepared.rs` the files that are read, `reader.rs` the ways of reading one.
//! Reads past the page cache are in `disk/`.

mod cached;
mod create_delete;
mod prepared;
mod read;
mod reader;
mod system_calls;
mod write_whole;

use meter::probe::Probe;

pub(crate) fn file_probes() -> Vec<Probe> {
    let mut probes = read::read_probes();
    probes.push(create_delete::create_delete_probe());
    probes.extend(read::whole());
    probes.extend(write_whole::write_whole_probes());
    probes.extend(system_calls::system_calls_probes());
    probes
}
