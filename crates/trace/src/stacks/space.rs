//! What is mapped where in each process, from records of mappings.

use super::interner::Code;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Where in the file it begins.
    pub(super) offset: u64,
    /// The file; `None` of memory without one.
    pub(super) module: Option<u32>,
}

/// What is mapped in a process. `cached` is what was derived from it.
#[derive(Clone, Debug)]
pub(super) struct Space<T> {
    mappings: BTreeMap<u64, Mapping>,
    /// How many there are; not known of a process that was there before.
    threads: Option<usize>,
    pub(super) cached: Option<T>,
}

impl<T> Space<T> {
    pub(super) fn map(&mut self, new: Mapping) {
        self.cached = None;
        let Mapping { start, end, .. } = new;
        let overlapping = self.mappings.range(..end).rev();
        let overlapping = overlapping.take_while(|(_, old)| old.end > start);
        let overlapping: Vec<Mapping> = overlapping.map(|(_, old)| *old).collect();
        for old in overlapping {
            self.mappings.remove(&old.start);
            if old.start < start {
                let end = start;
                self.mappings.insert(old.start, Mapping { end, ..old });
            }
            if old.end > end {
                let offset = old.offset.saturating_add(end - old.start);
                let start = end;
                let rest = Mapping { start, offset, ..old };
                self.mappings.insert(end, rest);
            }
        }
        if self.mappings.len() < MOST_MAPPINGS {
            self.mappings.insert(start, new);
        }
    }

    pub(super) fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.mappings.values()
    }

    /// What lies at an address; `None` where no code is mapped.
    pub(super) fn code(&self, address: u64) -> Option<Code> {
        let (&start, mapping) = self.mappings.range(..=address).next_back()?;
        (address < mapping.end).then(|| match mapping.module {
            Some(_) => Code {
                module: mapping.module,
                offset: mapping.offset.saturating_add(address - start),
            },
            None => Code::without_file(address),
        })
    }
}

/// Of a process; code that is compiled at run time may have many.
const MOST_MAPPINGS: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Spaces<T>(HashMap<u32, Space<T>>);

impl<T> Default for Spaces<T> {
    fn default() -> Spaces<T> {
        Spaces(HashMap::new())
    }
}

impl<T: Clone> Spaces<T> {
    pub(super) fn space(&mut self, process: u32) -> &mut Space<T> {
        self.0.entry(process).or_default()
    }

    pub(super) fn fork(&mut self, process: u32, parent: u32) {
        if process != parent {
            let parent = self.0.get(&parent).cloned().unwrap_or_default();
            let child = Space { threads: Some(0), ..parent };
            self.0.insert(process, child);
        }
        let space = self.space(process);
        space.threads = space.threads.map(|threads| threads + 1);
    }

    pub(super) fn exec(&mut self, process: u32) {
        let threads = Some(1);
        let empty = Space { threads, ..Space::default() };
        self.0.insert(process, empty);
    }

    /// A thread ended. The last one takes what is mapped with it.
    pub(super) fn exit(&mut self, process: u32) {
        if let Some(space) = self.0.get_mut(&process) {
            match space.threads {
                Some(..=1) => drop(self.0.remove(&process)),
                threads => space.threads = threads.map(|threads| threads - 1),
            }
        }
    }
}

impl<T> Default for Space<T> {
    fn default() -> Space<T> {
        Space { mappings: BTreeMap::new(), threads: None, cached: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, end: u64, module: u32) -> Mapping {
        Mapping { start, end, offset: 0x1000, module: Some(module) }
    }

    fn code(space: &Space<()>, address: u64) -> Option<(u32, u64)> {
        let code = space.code(address)?;
        Some((code.module?, code.offset))
    }

    #[test]
    fn a_mapping_hides_what_was_there() {
        let mut space = Space::<()>::default();
        space.map(mapping(100, 200, 1));
        space.map(mapping(140, 160, 2));
        assert_eq!(code(&space, 99), None);
        assert_eq!(code(&space, 139), Some((1, 0x1000 + 39)));
        assert_eq!(code(&space, 140), Some((2, 0x1000)));
        assert_eq!(code(&space, 160), Some((1, 0x1000 + 60)));
        assert_eq!(code(&space, 200), None);
        space.map(mapping(0, 300, 3));
        assert_eq!(code(&space, 150), Some((3, 0x1000 + 150)));
        assert_eq!(space.mappings().count(), 1);
    }

    #[test]
    fn a_process_inherits_and_replaces() {
        let mut spaces = Spaces::<()>::default();
        spaces.space(1).map(mapping(100, 200, 1));
        spaces.fork(2, 1);
        spaces.exec(1);
        assert_eq!(code(spaces.space(2), 100), Some((1, 0x1000)));
        assert_eq!(code(spaces.space(1), 100), None);
        spaces.fork(2, 2);
        spaces.exit(2);
        assert_eq!(code(spaces.space(2), 100), Some((1, 0x1000)), "one is left");
        spaces.exit(2);
        assert_eq!(code(spaces.space(2), 100), None);
    }

    #[test]
    fn what_was_mapped_before_outlives_a_new_thread() {
        let mut spaces = Spaces::<()>::default();
        spaces.space(1).map(mapping(100, 200, 1));
        spaces.fork(1, 1);
        spaces.exit(1);
        assert_eq!(code(spaces.space(1), 100), Some((1, 0x1000)));
    }
}
