//! Files that code is mapped from: how functions of them are unwound and named.

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolizer};
use cpp_demangle::DemangleOptions;
use framehop::ExplicitModuleSectionInfo;
use object::{Object, ObjectSection, ObjectSegment, ReadCache};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Modules {
    all: Vec<Module>,
    by_file: HashMap<(Vec<u8>, u64), u32>,
}

#[derive(Debug)]
struct Module {
    path: Vec<u8>,
    /// Open, so that it can be read after its process is gone; `None` if it is no
    /// longer the one that was mapped.
    file: Option<File>,
    /// How its functions are unwound, once that was asked for.
    sections: Option<Option<Sections>>,
}

/// Sections that say how functions are unwound, with their addresses in the file.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    info: ExplicitModuleSectionInfo<Arc<[u8]>>,
    /// Place in the file, and address there.
    segments: Vec<(Range<u64>, u64)>,
}

/// No program maps more files.
const MOST: usize = 1 << 14;
/// A section is no larger than this.
const LARGEST_SECTION: u64 = 1 << 28;
/// Most bytes of a function's name: what a few hundred bytes of a file stand for may be gigabytes.
const LONGEST_NAME: usize = 1 << 16;

impl Modules {
    /// The number of a file that a process maps; `None` of what is no file.
    pub(super) fn module_number(&mut self, path: &[u8], inode: u64, process: u32) -> Option<u32> {
        // Memory without a file has no name, or "//anon".
        if path.is_empty() || path.starts_with(b"//") || self.all.len() >= MOST {
            return None;
        }
        let key = (path.to_vec(), inode);
        if let Some(&number) = self.by_file.get(&key) {
            return Some(number);
        }
        let number = u32::try_from(self.all.len()).ok()?;
        self.all.push(Module {
            path: path.to_vec(),
            file: opened(path, inode, process),
            sections: None,
        });
        self.by_file.insert(key, number);
        Some(number)
    }

    /// How functions of a file are unwound.
    pub(super) fn sections(&mut self, number: u32) -> Option<&Sections> {
        let module = self.all.get_mut(number as usize)?;
        let file = module.file.as_ref();
        let sections = &mut module.sections;
        let read = || file.and_then(|file| sections_of(file.try_clone().ok()?));
        sections.get_or_insert_with(read).as_ref()
    }

    pub(super) fn paths(&self) -> Vec<String> {
        let paths = self.all.iter().map(|module| &module.path);
        paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    }

    /// The functions at these places of a file, as far as they have names, and there is room for
    /// so many bytes.
    pub(super) fn functions(
        &self,
        number: u32,
        offsets: &[u64],
        room: &mut usize,
    ) -> Vec<Option<String>> {
        let none = vec![None; offsets.len()];
        let file = self.all.get(number as usize).and_then(|module| module.file.as_ref());
        let Some(file) = file else {
            return none;
        };
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let source = Source::Elf(Elf::new(path));
        let symbolizer = Symbolizer::new();
        let found = symbolizer.symbolize(&source, Input::FileOffset(offsets));
        let Ok(found) = found else {
            return none;
        };
        let names = found.iter().map(|found| {
            let symbol = found.as_sym()?;
            // Beyond its end, it is not the one.
            let within = symbol.size.is_none_or(|size| symbol.offset < size.max(1));
            let name = within.then(|| readable(&symbol.name)).flatten()?;
            *room = room.checked_sub(name.len())?;
            Some(name)
        });
        names.collect()
    }
}

/// The name as its program has it; as the file has it, where that is too long, and none where
/// both are. A name of C is none of a type: `f` is no `float`.
fn readable(name: &str) -> Option<String> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let is_mangled = ["_Z", "__Z", "_R"].iter().any(|mark| name.starts_with(mark));
    let demangled = is_mangled.then(|| rust(name).or_else(|| cpp(name)));
    Some(demangled.flatten().unwrap_or_else(|| name.to_owned()))
}

fn rust(name: &str) -> Option<String> {
    let symbol = rustc_demangle::try_demangle(name).ok()?;
    let mut text = Bounded::default();
    write!(text, "{symbol:#}").ok()?;
    Some(text.0)
}

fn cpp(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let mut text = Bounded::default();
    let written = symbol.structured_demangle(&mut text, &DemangleOptions::default());
    written.ok()?;
    Some(text.0)
}

/// A text that takes no more than a name may have.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > LONGEST_NAME - self.0.len() {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The file, if it is still the one that was mapped. In a container it has another
/// path, as long as its process lives.
fn opened(path: &[u8], inode: u64, process: u32) -> Option<File> {
    let path = Path::new(OsStr::from_bytes(path));
    let relative = path.strip_prefix("/").ok()?;
    let within = Path::new("/proc").join(process.to_string()).join("root");
    [within.join(relative), path.to_owned()].iter().find_map(|path| {
        let is_it = |file: &File| file.metadata().is_ok_and(|found| found.ino() == inode);
        sys::input::open_file(path).ok().filter(is_it)
    })
}

impl Sections {
    /// Where address 0 of the file lies, if this place of it is mapped here.
    pub(super) fn base(&self, start: u64, offset: u64) -> Option<u64> {
        let mut segments = self.segments.iter();
        // A mapping begins at the page in which its segment does.
        let (place, address) =
            segments.find(|(place, _)| (place.start & !0xffff..place.end).contains(&offset))?;
        let address = address.wrapping_add(offset).wrapping_sub(place.start);
        Some(start.wrapping_sub(address))
    }

    pub(super) fn info(&self) -> ExplicitModuleSectionInfo<Arc<[u8]>> {
        self.info.clone()
    }
}

fn sections_of(file: File) -> Option<Sections> {
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).ok()?;
    let section = |name: &str| object.section_by_name(name);
    let range = |name: &str| {
        let section = section(name)?;
        Some(section.address()..section.address().checked_add(section.size())?)
    };
    let data = |name: &str| {
        let section = section(name).filter(|section| section.size() <= LARGEST_SECTION)?;
        Some(Arc::from(section.uncompressed_data().ok()?.as_ref()))
    };
    let info = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: range(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        debug_frame: data(".debug_frame"),
        ..ExplicitModuleSectionInfo::default()
    };
    let segments = object.segments().filter_map(|segment| {
        let (at, bytes) = segment.file_range();
        Some((at..at.checked_add(bytes)?, segment.address()))
    });
    Some(Sections { info, segments: segments.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mangled_names_are_demangled() {
        for (name, expected) in [
            ("f", "f"),
            ("i", "i"),
            ("main", "main"),
            ("_Z3addii", "add(int, int)"),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_Read", "_Read"),
        ] {
            assert_eq!(readable(name).as_deref(), Some(expected));
        }
    }

    /// The function f of C++ with types that each have the one before twice.
    fn of_cpp(types: u32) -> String {
        let digit = |n| char::from_digit(n, 36).expect("few");
        let number = |n: u32| digit(n).to_ascii_uppercase();
        let types = (0..types).map(|n| format!("S_IS{0}_S{0}_E", number(n)));
        format!("_Z1f1AIiiE{}", types.collect::<String>())
    }

    /// The same of Rust, of one type.
    fn of_rust(pairs: u32) -> String {
        let digit = |n| char::from_digit(n, 36).expect("few");
        let backs = (3..pairs + 3).rev().map(|n| format!("B{}_E", digit(n)));
        let begins = "T".repeat(pairs as usize);
        format!("_RMC0{begins}p{}", backs.collect::<String>())
    }

    #[test]
    fn a_name_that_unfolds_to_more_than_any_stays_as_it_is() {
        let two = "f(A<int, int>, A<A<int, int>, A<int, int> >)";
        assert_eq!(readable(&of_cpp(1)).as_deref(), Some(two));
        assert_eq!(readable(&of_rust(1)).as_deref(), Some("<(_, _)>"));
        for n in 1..30 {
            for (name, most) in [(of_cpp(n), 10), (of_rust(n), 13)] {
                let readable = readable(&name).expect("short");
                assert!(readable.len() <= LONGEST_NAME, "{name}");
                assert_eq!(readable == name, n > most, "{name}");
            }
        }
        let long = "f".repeat(LONGEST_NAME);
        assert_eq!(readable(&long), Some(long.clone()));
        assert_eq!(readable(&(long + "f")), None);
    }
}
