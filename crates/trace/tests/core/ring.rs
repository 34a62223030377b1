//! Bytes as the kernel writes them to a ring, with the layouts of
//! `tests/formats`.

use trace::decode::{Layouts, Tracepoint};

/// Records of one CPU.
#[derive(Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

/// The layouts of `tests/formats`.
pub(crate) fn layouts() -> Layouts {
    let texts = [
        (Tracepoint::Switch, include_str!("../formats/sched_switch.txt")),
        (Tracepoint::Waking, include_str!("../formats/sched_waking.txt")),
        (Tracepoint::Enter, include_str!("../formats/sys_enter.txt")),
        (Tracepoint::Return, include_str!("../formats/sys_exit.txt")),
        (Tracepoint::Fault, include_str!("../formats/page_fault_user.txt")),
    ];
    let mut layouts = Layouts::default();
    for (point, text) in texts {
        layouts.add(point, text).expect("a description");
    }
    layouts
}

const SWITCH: u16 = 372;
const WAKING: u16 = 375;
const ENTER: u16 = 443;
const RETURN: u16 = 442;
const FAULT: u16 = 190;

impl Bytes {
    fn record(mut self, kind: u32, misc: u16, body: &[u8]) -> Bytes {
        let length = u16::try_from(8 + body.len()).expect("short");
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(misc.to_ne_bytes());
        self.0.extend(length.to_ne_bytes());
        self.0.extend(body);
        self
    }

    fn sample(self, at_ns: u64, raw: &[u8]) -> Bytes {
        let mut body = at_ns.to_ne_bytes().to_vec();
        body.extend(u32::try_from(raw.len()).expect("short").to_ne_bytes());
        body.extend(raw);
        while !body.len().is_multiple_of(8) {
            body.push(0);
        }
        self.record(9, 0, &body)
    }

    pub(crate) fn switch(self, at_ns: u64, out: u32, state: i64, into: (u32, &str)) -> Bytes {
        let mut raw = common(SWITCH, 0, out);
        raw.extend(padded("prev"));
        raw.extend(out.to_ne_bytes());
        raw.extend(120_u32.to_ne_bytes());
        raw.extend(state.to_ne_bytes());
        raw.extend(padded(into.1));
        raw.extend(into.0.to_ne_bytes());
        raw.extend(120_u32.to_ne_bytes());
        self.sample(at_ns, &raw)
    }

    pub(crate) fn waking(self, at_ns: u64, flags: u8, by: u32, woken: u32) -> Bytes {
        let mut raw = common(WAKING, flags, by);
        raw.extend(padded("woken"));
        raw.extend(woken.to_ne_bytes());
        raw.extend([120_u32, 0].map(u32::to_ne_bytes).concat());
        self.sample(at_ns, &raw)
    }

    pub(crate) fn enter(self, at_ns: u64, thread: u32, number: i64, arguments: [u64; 6]) -> Bytes {
        let mut raw = common(ENTER, 0, thread);
        raw.extend(number.to_ne_bytes());
        raw.extend(arguments.map(u64::to_ne_bytes).concat());
        self.sample(at_ns, &raw)
    }

    pub(crate) fn returns(self, at_ns: u64, thread: u32, number: i64, returned: i64) -> Bytes {
        let mut raw = common(RETURN, 0, thread);
        raw.extend([number, returned].map(i64::to_ne_bytes).concat());
        self.sample(at_ns, &raw)
    }

    pub(crate) fn fault(self, at_ns: u64, thread: u32, address: u64, error: u64) -> Bytes {
        let mut raw = common(FAULT, 0, thread);
        raw.extend([address, 0, error].map(u64::to_ne_bytes).concat());
        self.sample(at_ns, &raw)
    }

    pub(crate) fn lost(self, at_ns: u64, count: u64) -> Bytes {
        self.record(2, 0, &[1, count, at_ns].map(u64::to_ne_bytes).concat())
    }

    pub(crate) fn own_switch(self, at_ns: u64, thread: u32, out: bool, ready: bool) -> Bytes {
        let misc = u16::from(out) << 13 | u16::from(ready) << 14;
        self.record(14, misc, &stamp(thread, at_ns))
    }

    pub(crate) fn fork(self, at_ns: u64, process: u32, thread: u32, parent: u32) -> Bytes {
        let parent_process = if thread == process { parent } else { process };
        self.task(7, at_ns, [process, parent_process, thread, parent])
    }

    pub(crate) fn exit(self, at_ns: u64, thread: u32) -> Bytes {
        self.task(4, at_ns, [thread, 1, thread, 1])
    }

    fn task(self, kind: u32, at_ns: u64, numbers: [u32; 4]) -> Bytes {
        let mut body = numbers.map(u32::to_ne_bytes).concat();
        body.extend(at_ns.to_ne_bytes());
        body.extend(stamp(numbers[2], at_ns));
        self.record(kind, 0, &body)
    }

    pub(crate) fn map(
        self,
        at_ns: u64,
        process: u32,
        address: u64,
        bytes: u64,
        offset: u64,
        path: &str,
    ) -> Bytes {
        let mut body = [process, process].map(u32::to_ne_bytes).concat();
        body.extend([address, bytes, offset, 0, 42, 0, 5].map(u64::to_ne_bytes).concat());
        body.extend(path.as_bytes());
        body.resize((body.len() + 1).next_multiple_of(8), 0);
        body.extend(stamp(process, at_ns));
        self.record(10, 0, &body)
    }

    pub(crate) fn stack(self, at_ns: u64, thread: u32, addresses: &[u64]) -> Bytes {
        let mut body = stamp(thread, at_ns);
        body.extend((addresses.len() as u64).to_ne_bytes());
        body.extend(addresses.iter().flat_map(|address| address.to_ne_bytes()));
        self.record(9, 0, &body)
    }

    pub(crate) fn exec(self, at_ns: u64, thread: u32, name: &str) -> Bytes {
        let mut body = [thread, thread].map(u32::to_ne_bytes).concat();
        body.extend(padded(name));
        body.extend(stamp(thread, at_ns));
        self.record(3, 1 << 13, &body)
    }
}

fn common(kind: u16, flags: u8, thread: u32) -> Vec<u8> {
    let mut raw = kind.to_ne_bytes().to_vec();
    raw.extend([flags, 0]);
    raw.extend(thread.to_ne_bytes());
    raw
}

fn stamp(thread: u32, at_ns: u64) -> Vec<u8> {
    let mut bytes = [thread, thread].map(u32::to_ne_bytes).concat();
    bytes.extend(at_ns.to_ne_bytes());
    bytes
}

fn padded(name: &str) -> [u8; 16] {
    std::array::from_fn(|at| name.as_bytes().get(at).copied().unwrap_or(0))
}
