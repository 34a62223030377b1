//! Whether two executables are the same program: equal machine code and equal data, whatever differs in what only
//! debuggers, unwinders and panics read. Then no benchmark of it can differ, and none is measured.

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, RelocationTarget, SectionFlags};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Loaded, and read by debuggers, unwinders, tracebacks and those who ask for the build: by name or its beginning.
const NOT_RUN: [&str; 6] =
    [".note", ".eh_frame", ".gopclntab", ".go.buildinfo", ".go.pclntab", ".gnu_debug"];

const RUST_DATA: &str = ".data.rel.ro";

/// Whether a file is an executable, or a library, of this kind of system.
pub(crate) fn is_elf(file: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(file).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// Whether two executables run the same: no section that is loaded differs, except tables of lines and of unwinding and
/// the line numbers of Rust's panics. Files of another kind do only where all their bytes are equal.
///
/// # Errors
/// If one can't be read.
pub fn is_same_program(base: &Path, head: &Path) -> io::Result<bool> {
    let files = [fs::read(base)?, fs::read(head)?];
    if files[0] == files[1] {
        return Ok(true);
    }
    Ok(match files.each_ref().map(|bytes| Loaded::from_bytes(bytes)) {
        [Some(base), Some(head)] => base.runs_like(&head),
        _ => false,
    })
}

/// The parts of an executable that are loaded.
struct Loaded<'b> {
    /// Address, size in memory and bytes of each.
    sections: BTreeMap<String, (u64, u64, &'b [u8])>,
    /// What is added to the load address, by where it is stored.
    pointers: HashMap<u64, i64>,
}

impl<'b> Loaded<'b> {
    fn from_bytes(bytes: &'b [u8]) -> Option<Loaded<'b>> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let mut sections = BTreeMap::new();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let name = section.name().ok()?;
            let is_run = !NOT_RUN.iter().any(|start| name.starts_with(start));
            if sh_flags.contains(object::elf::SHF_ALLOC) && is_run {
                let found = (section.address(), section.size(), section.data().ok()?);
                sections.insert(name.to_owned(), found);
            }
        }
        let relocations = file.dynamic_relocations().into_iter().flatten();
        let pointers = relocations
            .filter(|(_, relocation)| matches!(relocation.target(), RelocationTarget::Absolute))
            .map(|(at, relocation)| (at, relocation.addend()))
            .collect();
        Some(Loaded { sections, pointers })
    }

    fn runs_like(&self, other: &Loaded) -> bool {
        self.sections.keys().eq(other.sections.keys())
            && self.sections.iter().zip(other.sections.values()).all(|((name, own), its)| {
                let may_have_lines = name == RUST_DATA && own.0 == its.0;
                own == its || may_have_lines && self.differ_by_lines(other, own.0, own.2, its.2)
            })
    }

    /// Whether only numbers of lines and columns differ. A `core::panic::Location` is a pointer to the name of
    /// a source file, its length, and two numbers of four bytes.
    fn differ_by_lines(&self, other: &Loaded, at: u64, own: &[u8], its: &[u8]) -> bool {
        let is_number = |offset: usize| {
            [16, 20].into_iter().any(|before| {
                offset.checked_sub(before).is_some_and(|start| {
                    let name = self.source_name(at, own, start);
                    name.is_some() && name == other.source_name(at, its, start)
                })
            })
        };
        let mut words = own.chunks(4).zip(its.chunks(4)).enumerate();
        own.len() == its.len() && words.all(|(word, (a, b))| a == b || is_number(4 * word))
    }

    /// The source file that a location at this offset names.
    fn source_name(&self, at: u64, data: &[u8], offset: usize) -> Option<&str> {
        let target = u64::try_from(*self.pointers.get(&(at + offset as u64))?).ok()?;
        let length = data.get(offset + 8..offset + 16)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (start, _, bytes) = self.sections.values().find(|(start, _, bytes)| {
            target.checked_sub(*start).is_some_and(|from| from < bytes.len() as u64)
        })?;
        let from = usize::try_from(target - start).ok()?;
        // rustc's strings end in a zero byte that their length does not count, in some versions.
        let name = std::str::from_utf8(bytes.get(from..from.checked_add(length)?)?).ok()?;
        name.ends_with(".rs").then_some(name)
    }
}

#[cfg(test)]
mod tests;
