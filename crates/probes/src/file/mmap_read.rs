//! Reading a file through a mapping that is made for it.

use super::cached::Cached;
use super::prepared::{EFFORT, FILES, LONG_FROM, Prepared, on_disk, sizes};
use crate::repeated::PLAIN;
use kernels::checked::{sum_every_4th, words};
use meter::bench::Bench;
use meter::probe::{Effort, Probe, Shape, Site, Work, WorkingSet};
use model::run::Axis;
use std::hint::black_box;
use std::io;
use std::os::fd::AsFd;
use sys::mapping::FileView;
use sys::system_calls::open as open_path;

pub(super) fn probe() -> Probe {
    Probe {
        variants: vec!["".into(), "with_open".into()],
        title: "reading a file through a mapping, from the page cache".into(),
        operation: "One mmap() of an open file (MAP_SHARED, for reading), a load of every 4th 4-byte element of it, so that each page is touched, and its munmap(); as /with_open, open() before and close() after.".into(),
        method: format!("{PLAIN} {FILES} Files from 3 MiB on take longer than a short sample and are measured as a distribution. The page faults are part of the operation; how many there are is the kernel's choice, which maps neighbours too and whole large folios. Of files below 512 bytes, which have fewer elements than a turn of the loop, one byte is loaded.").into(),
        source: "LMbench's bw_mmap_rd: its open2close is /with_open, but adds up every 8-byte element, a longer job than ours; its mmap_only maps once, before the time, and is then a row of memory on a file's pages.".into(),
        long_from: Some(LONG_FROM),
        shape: Shape::Curve(Axis::FileBytes, sizes),
        effort: Effort {
            // There is no buffer.
            working_set: WorkingSet::Own(1),
            restore_ns_per_byte: 0.6,
            ..EFFORT
        },
        on_disk,
        make: Box::new(make),
        ..Probe::blank("file.mmap_read")
    }
}

fn make<'b>(bench: &'b mut Bench, site: &Site) -> Result<Box<dyn Work + 'b>, String> {
    let bytes = site.at.first().copied().unwrap_or_default();
    let prepared = Prepared::of(bench, bytes)?;
    let bytes = prepared.bytes;
    if site.variant == "with_open" {
        let path = prepared.path.clone();
        return Cached::boxed("opening and mapping", &prepared, true, move || {
            let file = open_path(&path)?;
            mapped(&file, bytes)
        });
    }
    let file = prepared.file.try_clone();
    let file = file.map_err(|e| format!("no second descriptor of the file: {e}"))?;
    Cached::boxed("mapping", &prepared, true, move || mapped(&file, bytes))
}

#[inline]
fn mapped(file: impl AsFd, bytes: usize) -> io::Result<()> {
    let view = FileView::new(file, bytes)?;
    black_box(look(view.as_slice()));
    Ok(())
}

/// The sum of every 4th element; of less than a turn of the loop, a byte.
#[inline]
fn look(bytes: &[u8]) -> u32 {
    match bytes.len() {
        0 => 0,
        1..512 => u32::from(bytes[0]),
        _ => sum_every_4th(words(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;

    #[test]
    fn every_page_is_looked_at() {
        assert_eq!(look(&[7; 100]), 7);
        let page = sys::base_page_bytes();
        for pages in [1, 3] {
            // 512 bytes are a turn: the last of each page is within one.
            let mut bytes = vec![0; pages * page];
            for k in 0..pages {
                bytes[k * page] = 1;
                bytes[(k + 1) * page - 16] = 2;
            }
            let expected = 3 * pages as u32;
            // The vector may begin anywhere in a word's alignment.
            assert_eq!(look(&bytes), expected);
        }
    }

    #[test]
    fn the_rows_run_and_their_faults_belong() {
        for row in ["file.mmap_read", "file.mmap_read/with_open"] {
            for bytes in [1, 100, 512, 1 << 20] {
                let notes = smoke::on_file(&[probe()], row, bytes).expect("it runs");
                assert!(notes[0].starts_with("file system: "), "{notes:?}");
            }
        }
    }
}
