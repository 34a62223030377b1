//! Bytes as the kernel writes them to a ring, with the layouts of
//! `tests/formats`.

use trace::decode::{Decoded, Layouts, Samples, Tracepoint};

/// Records of one CPU: those of perf's ring, and those of the kernel's own buffer with their times.
#[derive(Clone, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>, pub(crate) Vec<(u64, Vec<u8>)>);

/// The layouts of `tests/formats`.
pub(crate) fn layouts() -> Layouts {
    let texts = [
        (Tracepoint::Switch, include_str!("../formats/sched_switch.txt")),
        (Tracepoint::Waking, include_str!("../formats/sched_waking.txt")),
        (Tracepoint::Enter, include_str!("../formats/sys_enter.txt")),
        (Tracepoint::Return, include_str!("../formats/sys_exit.txt")),
        (Tracepoint::Fault, include_str!("../formats/page_fault_user.txt")),
        (Tracepoint::KernelFault, include_str!("../formats/page_fault_kernel.txt")),
        (Tracepoint::FaultCount, include_str!("../formats/count_memcg_events.txt")),
    ];
    let mut layouts = Layouts::default();
    for (point, text) in texts {
        layouts.add_tracepoint(point, text).expect("a description");
    }
    assert!(layouts.set_counted("nr_free 1\npgpgin 5\npgpgout 5\npgfault 9\npgmajfault 1\n"));
    layouts.set_page(include_str!("../formats/header_page.txt")).expect("a page");
    layouts
}

const SWITCH: u16 = 372;
const WAKING: u16 = 375;
const ENTER: u16 = 443;
const RETURN: u16 = 442;
const FAULT: u16 = 190;
const FAULT_COUNT: u16 = 761;
/// The flags of a page before which records were lost, of a known number.
const LOST: u64 = 1 << 31 | 1 << 30;

impl Bytes {
    fn record(mut self, kind: u32, misc: u16, body: &[u8]) -> Bytes {
        let length = u16::try_from(8 + body.len()).expect("short");
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(misc.to_ne_bytes());
        self.0.extend(length.to_ne_bytes());
        self.0.extend(body);
        self
    }

    /// A record of the kernel's buffer.
    fn sample(mut self, at_ns: u64, raw: &[u8]) -> Bytes {
        self.1.push((at_ns, raw.to_vec()));
        self
    }

    /// The pages of the kernel's buffer, each with one record: they may stand in any order.
    pub(crate) fn pages(&self) -> Vec<u8> {
        self.1.iter().flat_map(|record| page(record.0, 0, std::slice::from_ref(record))).collect()
    }

    /// What the recorder makes of both.
    pub(crate) fn decode(&self, layouts: &Layouts, cpu: u32, decoded: &mut Decoded) {
        decoded.add_ring(&Samples::Faults, cpu, &self.0);
        decoded.add_pages(&Samples::Tracepoints(layouts.clone()), cpu, &self.pages());
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

    pub(crate) fn served(self, at_ns: u64, thread: u32, address: u64, major: bool) -> Bytes {
        let mut body = stamp(thread, at_ns);
        // The CPU; of a major one also the period.
        let rest = [address, 3, 1].into_iter().take(2 + usize::from(major));
        body.extend(rest.flat_map(u64::to_ne_bytes));
        self.record(9, 0, &body)
    }

    /// The kernel counts this item for a thread.
    pub(crate) fn fault_count(self, at_ns: u64, thread: u32, item: i32) -> Bytes {
        let mut raw = common(FAULT_COUNT, 0, thread);
        raw.extend(33_u64.to_ne_bytes());
        raw.extend(item.to_ne_bytes());
        raw.extend([0; 4]);
        raw.extend(1_u64.to_ne_bytes());
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

pub(crate) fn common(kind: u16, flags: u8, thread: u32) -> Vec<u8> {
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

pub(crate) fn padded(name: &str) -> [u8; 16] {
    std::array::from_fn(|at| name.as_bytes().get(at).copied().unwrap_or(0))
}

/// A page that begins at this time.
pub(crate) fn page(at_ns: u64, lost: u64, records: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut before = at_ns;
    for (at_ns, raw) in records {
        let delta = u32::try_from(at_ns - before).expect("soon");
        before = *at_ns;
        let words = raw.len().div_ceil(4);
        data.extend((delta << 5 | u32::try_from(words).expect("short")).to_ne_bytes());
        data.extend(raw);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    let flags = if lost > 0 { LOST } else { 0 };
    let mut page = [at_ns, data.len() as u64 | flags].map(u64::to_ne_bytes).concat();
    page.extend(data);
    page.extend((lost > 0).then(|| lost.to_ne_bytes()).into_iter().flatten());
    page
}
