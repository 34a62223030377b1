//! Stacks with which threads leave their CPU: from the bytes of their rings to
//! functions with names. They are read while the recording goes on, since
//! copies of stacks are large, and files of programs may not last.

mod interner;
mod module;
mod space;
mod unwind;

use crate::event::{Event, What};
use interner::{Code, Interner};
use model::trace::Stacks;
use model::trace::stacks::Frame;
use module::Modules;
use space::{Mapping, Spaces};
use std::collections::{BTreeMap, HashMap};
use sys::perf::{
    Body, Capture, StackSample, UserStack, addresses, parse_record, split, stack_sample,
};
use unwind::{ModuleUnwinder, Unwinding};

/// Most bytes of the names of all functions: a program has fewer, and a document has room for no
/// more.
const MOST_NAME_BYTES: usize = 1 << 27;

/// Stacks so far.
pub struct Reader {
    capture: Capture,
    modules: Modules,
    spaces: Spaces<ModuleUnwinder>,
    unwinding: Unwinding,
    table: Interner<Code>,
    /// Records that are later than what other rings are known to hold.
    held: Vec<Vec<u8>>,
    events: Vec<Event>,
    lost: u64,
    unread_bytes: u64,
}

#[derive(Debug, Default)]
pub struct Read {
    /// [`What::Stack`], in the order of their time.
    pub events: Vec<Event>,
    pub stacks: Stacks,
    /// Stacks that found no room.
    pub lost: u64,
    /// Bytes that could not be read as records.
    pub unread_bytes: u64,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("capture", &self.capture).finish_non_exhaustive()
    }
}

impl Reader {
    /// Of samples of this kind.
    pub fn new(capture: Capture) -> Reader {
        Reader {
            capture,
            modules: Modules::default(),
            spaces: Spaces::default(),
            unwinding: Unwinding::new(),
            table: Interner::default(),
            held: Vec::new(),
            events: Vec::new(),
            lost: 0,
            unread_bytes: 0,
        }
    }

    /// Adds what a process had mapped before, as `/proc/PID/maps` has it.
    pub fn add_maps(&mut self, process: u32, maps: &str) {
        for line in maps.lines() {
            let Some((start, end, offset, inode, path)) = mapping(line) else {
                continue;
            };
            self.map(process, start, end, offset, inode, path.as_bytes());
        }
    }

    /// Reads bytes of the rings of CPUs, up to this time.
    pub fn read_rings(&mut self, chunks: &[(u32, Vec<u8>)], until_ns: u64) {
        let held = std::mem::take(&mut self.held);
        let new = chunks.iter().flat_map(|(_, bytes)| split(bytes));
        let all = held.iter().map(Vec::as_slice).chain(new);
        let mut all: Vec<(u64, &[u8])> = all.map(|bytes| (self.at_ns(bytes), bytes)).collect();
        all.sort_by_key(|(at_ns, _)| *at_ns);
        for (at_ns, bytes) in all {
            match at_ns > until_ns {
                true => self.held.push(bytes.to_vec()),
                false => self.read_record(at_ns, bytes),
            }
        }
    }

    /// How many stacks were read.
    pub fn count(&self) -> usize {
        self.events.len()
    }

    fn at_ns(&self, bytes: &[u8]) -> u64 {
        let record = parse_record(bytes);
        let of_sample = match record.body {
            Body::Sample(body) => stack_sample(body, self.capture).map(|sample| sample.at_ns),
            _ => None,
        };
        of_sample.or(record.at_ns).unwrap_or(0)
    }

    fn read_record(&mut self, at_ns: u64, bytes: &[u8]) {
        match parse_record(bytes).body {
            Body::Sample(body) => match stack_sample(body, self.capture) {
                Some(sample) => self.sample(at_ns, &sample),
                None => self.unread_bytes += body.len() as u64,
            },
            Body::Lost(count) => self.lost = self.lost.saturating_add(count),
            Body::Fork(task) => self.spaces.fork(task.process, task.parent_process),
            Body::Exit(task) => self.spaces.exit(task.process),
            Body::Name { process, exec: true, .. } => self.spaces.exec(process),
            Body::Map { process, address, bytes, offset, inode, file, .. } => {
                let end = address.saturating_add(bytes);
                self.map(process, address, end, offset, inode, file);
            }
            Body::Malformed(bytes) => self.unread_bytes += bytes as u64,
            _ => {}
        }
    }

    fn map(&mut self, process: u32, start: u64, end: u64, offset: u64, inode: u64, file: &[u8]) {
        if start < end {
            let module = self.modules.module_number(file, inode, process);
            self.spaces.space(process).map(Mapping { start, end, offset, module });
        }
    }

    fn sample(&mut self, at_ns: u64, sample: &StackSample<'_>) {
        let space = self.spaces.space(sample.process);
        let mut found = Vec::new();
        match sample.stack {
            UserStack::Addresses(bytes) => {
                // Those of returns lie behind the call.
                let all = addresses(bytes).enumerate();
                found.extend(all.map(|(at, address)| address - u64::from(at > 0 && address > 0)));
            }
            UserStack::Copy(copy) => {
                let modules = &mut self.modules;
                self.unwinding.unwind(space, modules, &copy, &mut found);
            }
        }
        // A thread that ends has no user mode any more.
        let Some((&first, rest)) = found.split_first() else {
            return;
        };
        let first = space.code(first).unwrap_or(Code::without_file(first));
        // Where no code is mapped, what was taken for a caller is none: a function
        // without frame pointers uses the register for something else.
        let rest = rest.iter().map_while(|&address| space.code(address));
        let codes: Vec<Code> = [first].into_iter().chain(rest).collect();
        match self.table.stack(&codes) {
            Some(stack) => self.events.push(Event {
                at_ns,
                cpu: 0,
                what: What::Stack { thread: sample.thread, stack },
            }),
            None => self.lost += 1,
        }
    }

    /// The stacks with the names of their functions.
    pub fn finish(mut self) -> Read {
        self.read_rings(&[], u64::MAX);
        let frames = self.named_frames();
        let mut table = Interner::default();
        // Callers come before what they call.
        let mut places: Vec<Option<u32>> = Vec::new();
        for node in &self.table.nodes {
            let caller = node.caller.map(|caller| places[caller as usize]);
            let frame = frames[node.frame as usize].clone();
            places.push(table.node(frame, caller.flatten()));
        }
        for event in &mut self.events {
            if let What::Stack { stack, .. } = &mut event.what {
                *stack = places[*stack as usize].unwrap_or(*stack);
            }
        }
        Read {
            events: self.events,
            stacks: Stacks {
                modules: self.modules.paths(),
                frames: table.frames,
                nodes: table.nodes,
            },
            lost: self.lost,
            unread_bytes: self.unread_bytes,
        }
    }

    /// All frames with the functions that they are in.
    fn named_frames(&self) -> Vec<Frame> {
        let mut by_module: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for code in &self.table.frames {
            if let Some(module) = code.module {
                by_module.entry(module).or_default().push(code.offset);
            }
        }
        let mut names: HashMap<Code, String> = HashMap::new();
        let mut room = MOST_NAME_BYTES;
        for (module, offsets) in by_module {
            let functions = self.modules.functions(module, &offsets, &mut room);
            let named = offsets.into_iter().zip(functions);
            names.extend(named.filter_map(|(offset, function)| {
                let module = Some(module);
                Some((Code { module, offset }, function?))
            }));
        }
        let frames = self.table.frames.iter().map(|code| {
            let function = names.get(code).cloned();
            let offset = function.is_none().then_some(code.offset);
            Frame { function, module: code.module, offset }
        });
        frames.collect()
    }
}

/// `start-end perms offset device inode path` of code.
fn mapping(line: &str) -> Option<(u64, u64, u64, u64, &str)> {
    let mut fields = line.split_ascii_whitespace();
    let mut field = || fields.next();
    let (start, end) = field()?.split_once('-')?;
    let permissions = field()?;
    let offset = field()?;
    let _device = field()?;
    let inode = field()?.parse().ok()?;
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    // A path may have blanks.
    let path = line.find(['/', '[']).map_or("", |at| &line[at..]);
    permissions.contains('x').then_some(())?;
    Some((hexadecimal(start)?, hexadecimal(end)?, hexadecimal(offset)?, inode, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_find_no_room_are_counted() {
        let mut reader = Reader::new(Capture::FramePointers);
        let sample = |reader: &mut Reader, address: u64| {
            let sample = StackSample {
                process: 7,
                thread: 8,
                at_ns: 10,
                stack: UserStack::Addresses(&address.to_ne_bytes()),
            };
            reader.sample(10, &sample);
            (reader.count(), reader.lost)
        };
        assert_eq!(sample(&mut reader, 1), (1, 0));
        let node = reader.table.nodes[0];
        reader.table.nodes.resize(interner::MOST, node);
        let others = [2, 1, 3].map(|address| sample(&mut reader, address));
        assert_eq!(others, [(1, 1), (2, 1), (2, 2)], "one of them is known");
    }

    #[test]
    fn lines_of_maps() {
        let line = "7f10-7f20 r-xp 00001000 fd:01 42   /usr/lib/a b.so";
        let wanted = Some((0x7f10, 0x7f20, 0x1000, 42, "/usr/lib/a b.so"));
        assert_eq!(mapping(line), wanted);
        assert_eq!(mapping(&line.replace("r-xp", "rw-p")), None);
        let vdso = mapping("1000-2000 r-xp 00000000 00:00 0 [vdso]");
        assert_eq!(vdso, Some((0x1000, 0x2000, 0, 0, "[vdso]")));
        assert_eq!(mapping("7f10-7f20 r-xp 0 0:0"), None);
    }
}
