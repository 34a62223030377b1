//! USDT probes: places in a program that its authors mark for tracers (`sys/sdt.h`,
//! the crates `usdt` and `probe`). Notes of its file say where they are.

use object::{Object, ObjectSection, ObjectSegment, ReadCache, ReadRef};
use std::fs::File;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// `provider:name`. The same may stand at several places.
    pub name: String,
    /// The instruction: where in the file.
    pub offset: u64,
    /// A counter that says whether the probe is used, where in the file.
    pub counter: Option<u64>,
}

/// The kind of a note that describes a probe.
const PROBE: u32 = 3;
/// A section of notes is no larger than this.
const LARGEST: u64 = 1 << 24;

/// The probes of a file; `None` if it is no program or library.
pub fn file_probes(file: File) -> Option<Vec<Probe>> {
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).ok()?;
    Some(of_object(&object))
}

/// Where an address lies in the file, by the segments' addresses, offsets and bytes.
fn file_offset(segments: &[[u64; 3]], address: u64) -> Option<u64> {
    segments.iter().find_map(|&[from, offset, bytes]| {
        let within = address.checked_sub(from)?;
        (within < bytes).then(|| offset.saturating_add(within))
    })
}

fn of_object<'a>(object: &object::File<'a, impl ReadRef<'a>>) -> Vec<Probe> {
    let notes = object.section_by_name(".note.stapsdt");
    let notes = notes.filter(|notes| notes.size() <= LARGEST);
    let Some(notes) = notes.and_then(|notes| notes.data().ok()) else {
        return Vec::new();
    };
    let base = object.section_by_name(".stapsdt.base");
    let base = base.map(|base| base.address());
    let segments = object.segments().map(|segment| {
        let (offset, bytes) = segment.file_range();
        [segment.address(), offset, bytes]
    });
    let segments: Vec<[u64; 3]> = segments.collect();
    let place = |address| file_offset(&segments, address);
    let probes = split(notes).filter_map(|note| {
        let (word, texts) = note.split_at_checked(24)?;
        let words = word.as_chunks().0;
        let [address, linked_base, counter] = [0, 1, 2].map(|at| u64::from_ne_bytes(words[at]));
        // The file was moved after it was linked (prelink).
        let moved = base.map_or(0, |base| base.wrapping_sub(linked_base));
        let mut texts = texts.split(|&byte| byte == 0);
        let provider = String::from_utf8_lossy(texts.next()?);
        let name = String::from_utf8_lossy(texts.next()?);
        let counter = (counter != 0).then(|| counter.wrapping_add(moved));
        Some(Probe {
            name: format!("{provider}:{name}"),
            offset: place(address.wrapping_add(moved))?,
            counter: counter.and_then(place),
        })
    });
    probes.collect()
}

/// What the notes hold that describe probes.
fn split(mut notes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let all = std::iter::from_fn(move || {
        let (header, rest) = notes.split_at_checked(12)?;
        let words = header.as_chunks().0;
        let [name, bytes, kind] = [0, 1, 2].map(|at| u32::from_ne_bytes(words[at]));
        let room = |bytes: u32| (bytes as usize).next_multiple_of(4);
        let (owner, rest) = rest.split_at_checked(room(name))?;
        let content = rest.get(..bytes as usize)?;
        notes = rest.get(room(bytes)..).unwrap_or_default();
        Some((kind == PROBE && owner.starts_with(b"stapsdt\0"), content))
    });
    all.filter_map(|(is_probe, content)| is_probe.then_some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_placed_by_the_segment_that_holds_them() {
        // Code that begins in the file elsewhere than in memory; the last has bytes of memory only.
        let segments = [[0, 0, 0x100], [0x1100, 0x100, 0x80], [0x3000, 0x200, 0]];
        let places = [0, 0xff, 0x100, 0x10ff, 0x1100, 0x117f, 0x1180, 0x3000];
        let found = places.map(|address| file_offset(&segments, address));
        let [none, first, last] = [None, Some(0x100), Some(0x17f)];
        assert_eq!(found, [Some(0), Some(0xff), none, none, first, last, none, none]);
    }

    #[test]
    fn notes_that_are_cut_off_hold_no_probe() {
        let mut note = [8_u32, 30, PROBE].map(u32::to_ne_bytes).concat();
        note.extend(b"stapsdt\0");
        note.extend([1_u64, 2, 3].map(u64::to_ne_bytes).concat());
        note.extend(b"a\0bc\0\0\0\0");
        assert_eq!(split(&note).count(), 1);
        for length in 0..note.len() - 2 {
            assert_eq!(split(&note[..length]).count(), 0, "{length}");
        }
        let two = [note.as_slice(), &note].concat();
        assert_eq!(split(&two).count(), 2);
        let other = [&note[..12], b"another\0", &note[20..]].concat();
        assert_eq!(split(&other).count(), 0);
    }
}
