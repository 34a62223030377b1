//! mmap and munmap.

use crate::engine::files::{for_nameless, nameless};
use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{PLAIN, calls};
use kernels::checked::touch_pages;
use meter::probe::{Effort, Probe, Work, WorkError};
use meter::worker_memory::WorkerMemory;
use sys::mapping::Mapping;

/// LMbench's PSIZE: how far apart it touches.
const APART_BYTES: usize = 16 << 10;
/// LMbench's N: it touches the first tenth.
const TENTH: usize = 10;
/// Of the mapped file.
const FILE_BYTES: usize = 1 << 20;

pub(crate) fn mapping_probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: ["64KiB", "1MiB", "16MiB"].map(Into::into).to_vec(),
            title: "memory mapped, touched a little, and unmapped".into(),
            operation: "One mmap of private anonymous memory, one byte stored every 16 KiB of its first tenth, and munmap: 1, 7 or 103 page faults with base pages.".into(),
            method: format!("{PLAIN} The system decides about huge pages; the row's note has the page faults that were taken.").into(),
            source: "The stores are those of LMbench's lat_mmap, which maps a file instead (the row /1MiB_file) and refuses less than 320 KiB.".into(),
            make: Box::new(|_, site| {
                let bytes = model::size::parse_size(&site.variant).and_then(|bytes| usize::try_from(bytes).ok());
                let bytes = bytes.ok_or_else(|| Reason::missing("the size is not a number of bytes"))?;
                let map = move || {
                    let mut mapping = Mapping::new(bytes)?;
                    touch(mapping.as_mut_slice());
                    Ok(())
                };
                calls("mmap", map).tried()?.faulting().boxed()
            }),
            ..mapping_probe()
        },
        Probe {
            variants: vec!["1MiB_file".into()],
            title: "a file mapped, touched a little, and unmapped".into(),
            operation: "One mmap of 1 MiB of a file in the page cache, shared and writable, one byte stored every 16 KiB of its first tenth (7 page faults), and munmap.".into(),
            method: format!("{PLAIN} The file has no name and is in the run's directory for files, or where that is not possible in the directory for temporary files; the note names the file system.").into(),
            source: "LMbench's lat_mmap 1m, without -r.".into(),
            on_disk: |_| Some(for_nameless(FILE_BYTES)),
            make: Box::new(|worker, _| file(worker)),
            ..mapping_probe()
        },
    ]
}

fn mapping_probe() -> Probe {
    Probe { effort: Effort::visits(6), ..Probe::blank("alloc.mmap_munmap") }
}

fn file<'w>(worker: &WorkerMemory) -> Result<Box<dyn Work + 'w>, WorkError> {
    let (mut mapping, note) = nameless(worker, FILE_BYTES)?;
    mapping.unmap().doing("can't unmap the file")?;
    let map = move || {
        mapping.map()?;
        touch(mapping.as_mut_slice());
        mapping.unmap()
    };
    calls("mmap of a file", map).tried()?.note(note).faulting().boxed()
}

/// Bytes of a mapping that contain the stores.
fn touched_bytes(bytes: usize) -> usize {
    (bytes / TENTH).next_multiple_of(APART_BYTES).min(bytes / APART_BYTES * APART_BYTES)
}

fn touch(memory: &mut [u8]) {
    let bytes = touched_bytes(memory.len());
    touch_pages(&mut memory[..bytes], APART_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing;

    #[test]
    fn as_many_stores_as_lmbench_makes() {
        for (bytes, stores) in [(64 << 10, 1), (1 << 20, 7), (16 << 20, 103)] {
            // for (p = where; p < where + size / N; p += PSIZE) *p = c;
            assert_eq!((0..bytes / 10).step_by(16 << 10).count(), stores);
            let mut memory = vec![0; bytes];
            touch(&mut memory);
            let at: Vec<usize> = (0..bytes).filter(|&i| memory[i] != 0).collect();
            assert_eq!(at.len(), stores);
            assert!(at.iter().enumerate().all(|(k, &at)| at == k * (16 << 10)));
        }
    }

    #[test]
    fn each_mapping_is_touched_afresh() {
        for (row, stores) in [("64KiB", 1.0), ("1MiB", 7.0), ("1MiB_file", 7.0)] {
            let notes = testing::run_row(&mapping_probes(), &format!("alloc.mmap_munmap/{row}"))
                .expect("runs");
            let faults = notes.last().expect("a note").split(": ").nth(1).expect("a figure");
            let faults: f64 = faults.parse().expect("a number");
            // Below 2 MiB there is no huge page; what the test itself faults
            // comes on top.
            assert!(faults >= stores && faults < stores + 40.0, "{row}: {notes:?}");
        }
        testing::run_row(&mapping_probes(), "alloc.mmap_munmap/16MiB").expect("it runs");
    }
}
