//! What stands before the data: versions, descriptions of events, options.

use super::Scale;
use crate::decode::{Layouts, Tracepoint};
use crate::endian::Endian;
use crate::foreign::input::Cursor;
use crate::foreign::{ForeignError, TraceInput};
use crate::format::TracepointFormat;
use crate::ring_page::PageLayout;
use model::trace::Clocks;

/// Sections of version 7.
const COMPRESSED: u16 = 1;
/// A section of the head is not larger when it is unpacked.
const LARGEST_SECTION: usize = 256 << 20;
/// More are not there, but in a circle.
const MOST_SECTIONS: usize = 1 << 16;
const MOST_CPUS: u32 = 1 << 16;

/// How data is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Zlib,
    Zstd,
}

impl Compression {
    /// Unpacks what has so many bytes then.
    pub(super) fn unpack(self, packed: &[u8], bytes: usize) -> Result<Vec<u8>, ForeignError> {
        let damaged = ForeignError::Damaged("what is compressed can't be unpacked");
        match self {
            Compression::Zlib => {
                let unpack = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
                unpack(packed, bytes).map_err(|_| damaged)
            }
            Compression::Zstd => zstd::bulk::decompress(packed, bytes).map_err(|_| damaged),
        }
    }
}

/// The data of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CpuData {
    pub(super) cpu: u32,
    pub(super) at: u64,
    pub(super) bytes: u64,
}

/// What an instance of tracefs recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) clock: String,
    pub(super) page_bytes: usize,
    pub(super) cpus: Vec<CpuData>,
}

impl Buffer {
    pub(super) fn byte_count(&self) -> u64 {
        self.cpus.iter().fold(0, |sum, cpu| sum.saturating_add(cpu.bytes))
    }

    pub(super) fn is_cut_off(&self, length: u64) -> bool {
        self.cpus.iter().any(|cpu| cpu.at.saturating_add(cpu.bytes) > length)
    }
}

/// The head of a file.
pub(super) struct FileHead {
    pub(super) page: PageLayout,
    pub(super) layouts: Layouts,
    pub(super) names: Vec<(u32, String)>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) compression: Option<Compression>,
    pub(super) kernel: String,
    pub(super) architecture: String,
    version: u32,
    writer: Option<String>,
    clock: Option<String>,
    ticks: Option<Scale>,
}

impl FileHead {
    pub(super) fn parse_head(input: &TraceInput) -> Result<FileHead, ForeignError> {
        let mut cursor = input.cursor(super::MAGIC.len() as u64, Endian::Little);
        let version = cursor.take_text()?;
        let endian = match cursor.u8()? {
            0 => Endian::Little,
            1 => Endian::Big,
            _ => return Err(ForeignError::Damaged("its order of bytes is neither of two")),
        };
        cursor.endian = endian;
        let _long_bytes = cursor.u8()?;
        let page_bytes = page_bytes(cursor.u32()?)?;
        let mut head = FileHead {
            page: PageLayout::of_64_bits(endian),
            layouts: Layouts::default(),
            names: Vec::new(),
            buffers: Vec::new(),
            compression: None,
            kernel: String::new(),
            architecture: String::new(),
            version: version.parse().unwrap_or(0),
            writer: None,
            clock: None,
            ticks: None,
        };
        match head.version {
            6 => head.version_6(&mut cursor, page_bytes)?,
            7 => head.version_7(&mut cursor)?,
            _ => return Err(ForeignError::Version(version)),
        }
        Ok(head)
    }

    /// All parts follow each other.
    fn version_6(&mut self, cursor: &mut Cursor<'_>, page: usize) -> Result<(), ForeignError> {
        self.header_info(cursor)?;
        self.ftrace_formats(cursor)?;
        self.event_formats(cursor)?;
        // Symbols of the kernel, and formats of its texts.
        for _ in 0..2 {
            let bytes = cursor.u32()?;
            cursor.skip(bytes.into())?;
        }
        self.command_lines(cursor)?;
        let cpus = cursor.u32()?;
        if cpus > MOST_CPUS {
            return Err(ForeignError::Damaged("it has too many CPUs"));
        }
        let mut kind = cursor.array::<10>()?;
        if kind == *b"options  \0" {
            loop {
                let id = cursor.u16()?;
                if id == 0 {
                    break;
                }
                self.option(id, cursor)?;
            }
            kind = cursor.array()?;
        }
        if kind != *b"flyrecord\0" {
            return Err(ForeignError::Damaged("it holds text of the latency tracer, not events"));
        }
        let mut data = Vec::new();
        for cpu in 0..cpus {
            data.push(CpuData { cpu, at: cursor.u64()?, bytes: cursor.u64()? });
        }
        let top = Buffer { page_bytes: page, cpus: data, ..Buffer::default() };
        self.buffers.insert(0, top);
        // Of other instances there is only the place where their own data are described.
        for buffer in &mut self.buffers[1..] {
            let mut at = cursor.to(buffer.cpus.first().map_or(0, |cpu| cpu.at));
            at.skip(b"flyrecord\0".len() as u64)?;
            buffer.page_bytes = page;
            buffer.cpus = (0..cpus)
                .map(|cpu| Ok(CpuData { cpu, at: at.u64()?, bytes: at.u64()? }))
                .collect::<Result<_, ForeignError>>()?;
        }
        Ok(())
    }

    /// Sections wherever options say.
    fn version_7(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ForeignError> {
        let name = cursor.take_text()?;
        let _version = cursor.take_text()?;
        self.compression = match name.as_str() {
            "none" => None,
            "zlib" => Some(Compression::Zlib),
            "zstd" => Some(Compression::Zstd),
            _ => return Err(ForeignError::Compression(name)),
        };
        let mut next = cursor.u64()?;
        for _ in 0..MOST_SECTIONS {
            if next == 0 {
                return Ok(());
            }
            let options = self.section(&cursor.to(next))?;
            let mut options = options.cursor(0, cursor.endian);
            loop {
                let id = options.u16()?;
                if id == 0 {
                    options.skip(4)?;
                    next = options.u64()?;
                    break;
                }
                self.option_7(id, &mut options, cursor)?;
            }
        }
        Err(ForeignError::Damaged("its sections follow each other in a circle"))
    }

    /// The bytes of a section of the head.
    fn section(&self, at: &Cursor<'_>) -> Result<TraceInput, ForeignError> {
        let mut cursor = at.clone();
        let (_id, flags, _description) = (cursor.u16()?, cursor.u16()?, cursor.u32()?);
        let bytes = cursor.u64()?;
        if flags & COMPRESSED == 0 {
            return Ok(TraceInput::Memory(cursor.take_bytes(bytes)?));
        }
        let (packed, unpacked) = (cursor.u32()?, cursor.u32()? as usize);
        let packed = cursor.take_bytes(packed.into())?;
        let compression =
            self.compression.ok_or(ForeignError::Damaged("no compression is named"))?;
        match unpacked <= LARGEST_SECTION {
            true => Ok(TraceInput::Memory(compression.unpack(&packed, unpacked)?)),
            false => Err(ForeignError::Damaged("a section is too large")),
        }
    }

    fn option_7(
        &mut self,
        id: u16,
        options: &mut Cursor<'_>,
        file: &Cursor<'_>,
    ) -> Result<(), ForeignError> {
        let place = |options: &mut Cursor<'_>| {
            let bytes = options.u32()?;
            let end = options.at.saturating_add(bytes.into());
            let at = options.u64()?;
            options.skip(end.saturating_sub(options.at))?;
            Ok::<_, ForeignError>(at)
        };
        type Part = fn(&mut FileHead, &mut Cursor<'_>) -> Result<(), ForeignError>;
        let part: Part = match id {
            3 => return self.buffer(options),
            16 => FileHead::header_info,
            17 => FileHead::ftrace_formats,
            18 => FileHead::event_formats,
            21 => FileHead::command_lines,
            _ => return self.option(id, options),
        };
        let section = self.section(&file.to(place(options)?))?;
        part(self, &mut section.cursor(0, file.endian))
    }

    /// Of version 7.
    fn buffer(&mut self, options: &mut Cursor<'_>) -> Result<(), ForeignError> {
        let bytes = options.u32()?;
        let end = options.at.saturating_add(bytes.into());
        let _section = options.u64()?;
        let (name, clock) = (options.take_text()?, options.take_text()?);
        let page_bytes = page_bytes(options.u32()?)?;
        let count = options.u32()?;
        if count > MOST_CPUS {
            return Err(ForeignError::Damaged("it has too many CPUs"));
        }
        let mut cpus = Vec::new();
        for _ in 0..count {
            cpus.push(CpuData { cpu: options.u32()?, at: options.u64()?, bytes: options.u64()? });
        }
        self.buffers.push(Buffer { name, clock, page_bytes, cpus });
        options.skip(end.saturating_sub(options.at))
    }

    /// Of both versions.
    fn option(&mut self, id: u16, options: &mut Cursor<'_>) -> Result<(), ForeignError> {
        let bytes = options.u32()?;
        let data = TraceInput::Memory(options.take_bytes(bytes.into())?);
        let mut data = data.cursor(0, options.endian);
        let text = |data: &mut Cursor<'_>| {
            let text = data.take_bytes(bytes.into())?;
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            Ok::<_, ForeignError>(String::from_utf8_lossy(&text[..end]).into_owned())
        };
        match id {
            // The place of an instance's data, and its name.
            3 => {
                let at = data.u64()?;
                let name = data.take_text()?;
                let cpus = vec![CpuData { cpu: 0, at, bytes: 0 }];
                self.buffers.push(Buffer { name, cpus, ..Buffer::default() });
            }
            4 => self.clock = Some(text(&mut data)?),
            // "Linux host 6.1.0 x86_64"
            5 => {
                let text = text(&mut data)?;
                let mut words = text.split_whitespace();
                self.kernel = words.nth(2).unwrap_or_default().to_owned();
                self.architecture = words.last().unwrap_or_default().to_owned();
            }
            9 => self.writer = Some(text(&mut data)?.trim().to_owned()),
            14 => {
                let (factor, shift) = (data.u32()?, data.u32()?);
                self.ticks = (factor > 0).then_some(Scale::Ticks { factor, shift });
            }
            _ => {}
        }
        Ok(())
    }

    fn header_info(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ForeignError> {
        if cursor.array()? != *b"header_page\0" {
            return Err(ForeignError::Damaged("no description of a page"));
        }
        let bytes = cursor.u64()?;
        let text = String::from_utf8_lossy(&cursor.take_bytes(bytes)?).into_owned();
        // Of kernels that have none there are no bytes.
        if !text.is_empty() {
            let page = PageLayout::parse(&text, cursor.endian);
            self.page = page.map_err(|_| ForeignError::Damaged("no description of a page"))?;
        }
        if cursor.array()? != *b"header_event\0" {
            return Err(ForeignError::Damaged("no description of a record"));
        }
        let bytes = cursor.u64()?;
        cursor.skip(bytes)
    }

    fn ftrace_formats(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ForeignError> {
        for _ in 0..cursor.u32()? {
            self.format("ftrace", cursor)?;
        }
        Ok(())
    }

    fn event_formats(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ForeignError> {
        for _ in 0..cursor.u32()? {
            let system = cursor.take_text()?;
            for _ in 0..cursor.u32()? {
                self.format(&system, cursor)?;
            }
        }
        Ok(())
    }

    /// Adds an event that is used; one that lacks a field is not.
    fn format(&mut self, system: &str, cursor: &mut Cursor<'_>) -> Result<(), ForeignError> {
        let bytes = cursor.u64()?;
        let text = cursor.take_bytes(bytes)?;
        let text = String::from_utf8_lossy(&text);
        let name = text.lines().find_map(|line| line.strip_prefix("name:")).unwrap_or("").trim();
        let path = format!("{system}/{name}");
        let all = [&Tracepoint::ALL[..], &Tracepoint::INTERRUPTS, &Tracepoint::OF_FILES].concat();
        let point = all.into_iter().find(|point| point.tracefs_path() == path);
        if point.is_none() && system != "syscalls" {
            return Ok(());
        }
        if let Ok(format) = TracepointFormat::parse(&text, cursor.endian) {
            let _ = match point {
                Some(point) => self.layouts.add(point, &format),
                None => self.layouts.add_call(&format),
            };
        }
        Ok(())
    }

    /// `4711 name`
    fn command_lines(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ForeignError> {
        let bytes = cursor.u64()?;
        let text = cursor.take_bytes(bytes)?;
        for line in String::from_utf8_lossy(&text).lines() {
            let named = line.trim_start().split_once(' ');
            let named = named.and_then(|(id, name)| Some((id.parse().ok()?, name)));
            self.names.extend(named.map(|(id, name): (u32, &str)| (id, name.to_owned())));
        }
        Ok(())
    }

    /// The clock in use: `local [global] mono`, or its name alone.
    fn clock_name<'n>(&'n self, of_buffer: &'n str) -> &'n str {
        let clock = match of_buffer {
            "" => self.clock.as_deref().unwrap_or("local"),
            clock => clock,
        };
        let chosen = clock.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        chosen.map_or(clock.trim(), |(chosen, _)| chosen)
    }

    /// How times become ns.
    ///
    /// # Errors
    /// If the clock counts something else.
    pub(super) fn scale(&self, of_buffer: &str) -> Result<Scale, ForeignError> {
        match self.clock_name(of_buffer) {
            "counter" | "uptime" | "ppc-tb" | "s390-tod" | "x86-tsc" | "tsc2nsec"
                if self.ticks.is_none() =>
            {
                Err(ForeignError::Clock(self.clock_name(of_buffer).to_owned()))
            }
            "x86-tsc" | "tsc2nsec" => Ok(self.ticks.unwrap_or(Scale::Ns)),
            name @ ("counter" | "uptime") => Err(ForeignError::Clock(name.to_owned())),
            _ => Ok(Scale::Ns),
        }
    }

    /// The first event on the clocks that latlas names.
    pub(super) fn began(&self, of_buffer: &str, at_ns: u64) -> Clocks {
        match self.clock_name(of_buffer) {
            "boot" => Clocks { boot_ns: at_ns, ..Clocks::default() },
            _ => Clocks::default(),
        }
    }

    pub(super) fn recorder(&self) -> String {
        let writer = self.writer.as_deref().and_then(|text| text.split_whitespace().next());
        match writer {
            Some(writer) => format!("trace-cmd {writer}, trace.dat version {}", self.version),
            None => format!("trace-cmd, trace.dat version {}", self.version),
        }
    }

    /// The number of `sched_yield`.
    pub(super) fn yield_call(&self) -> Option<u32> {
        sys::system_calls::call_number_of(&self.architecture, "sched_yield")
    }
}

/// The size of a page, if one can have it.
fn page_bytes(bytes: u32) -> Result<usize, ForeignError> {
    match bytes {
        1_024..=0x400_0000 => Ok(bytes as usize),
        _ => Err(ForeignError::Damaged("no page has that size")),
    }
}
