//! The kernel's events of a CPU, bundle after bundle.

use super::clocks::ClockTable;
use super::packets::PacketPlace;
use crate::decode::Sampled;
use crate::event::What;
use crate::foreign::import::Importer;
use crate::foreign::in_order::CpuEvents;
use crate::foreign::{ForeignError, TraceInput};
use crate::perfetto::BOOTTIME;
use crate::perfetto::field::{
    bundle, call, compact, exit, ftrace, new_task, print, rename, switch, waking,
};
use crate::protobuf::{FieldValue, Fields, packed};
use model::trace::InterruptKind;
use std::ops::Range;
use std::rc::Rc;

/// Bits of `common_flags`: in an interrupt.
const IN_INTERRUPT: u64 = 0x08 | 0x10 | 0x40;

/// Where a bundle lies, and its first and last time on its clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) clock: u64,
    pub(super) place: PacketPlace,
}

impl Bundle {
    /// Its first time; `None` where no snapshot relates its clock to that of the trace.
    pub(super) fn ns(&self, clocks: &ClockTable) -> Option<u64> {
        clocks.convert(0, self.clock, self.first, BOOTTIME)
    }
}

/// Bundles of a CPU as rows of such that follow each other: those that overlap are of several rows.
pub(super) fn in_order(mut bundles: Vec<Bundle>) -> Vec<Vec<Bundle>> {
    /// More overlap in no file that a recorder writes.
    const MOST: usize = 64;
    bundles.sort_by_key(|bundle| bundle.first);
    let mut rows: Vec<Vec<Bundle>> = Vec::new();
    for bundle in bundles {
        let follows =
            |row: &&mut Vec<Bundle>| row.last().is_none_or(|last| last.last <= bundle.first);
        let is_full = rows.len() >= MOST;
        match rows.iter_mut().find(follows) {
            Some(row) => row.push(bundle),
            None if is_full => rows[MOST - 1].push(bundle),
            None => rows.push(vec![bundle]),
        }
    }
    rows
}

/// What an event is, by its place in the bundle.
#[derive(Clone, Debug)]
enum Kind {
    /// A message of its own.
    Whole(Range<usize>),
    Switch {
        state: u32,
        into: u32,
        name: Range<usize>,
    },
    Waking {
        thread: u32,
        flags: Option<u64>,
    },
}

/// The events of a CPU in the order of time.
pub(super) struct CpuBundles<'f> {
    cpu: u32,
    input: &'f TraceInput,
    clocks: &'f ClockTable,
    bundles: std::vec::IntoIter<Bundle>,
    unpacked: Option<(u64, Rc<Vec<u8>>)>,
    bytes: Vec<u8>,
    /// Time, and what it is.
    events: Vec<(u64, Kind)>,
    event: usize,
    has_lost: bool,
    /// The thread that the last switch switched in.
    current: Option<u32>,
}

impl<'f> CpuBundles<'f> {
    pub(super) fn new(
        input: &'f TraceInput,
        clocks: &'f ClockTable,
        cpu: u32,
        bundles: Vec<Bundle>,
    ) -> CpuBundles<'f> {
        CpuBundles {
            cpu,
            input,
            clocks,
            bundles: bundles.into_iter(),
            unpacked: None,
            bytes: Vec::new(),
            events: Vec::new(),
            event: 0,
            has_lost: false,
            current: None,
        }
    }

    fn add_bundle(&mut self, bundle: &Bundle) {
        self.events.clear();
        let base = self.bytes.as_ptr() as usize;
        let place = |bytes: &[u8]| {
            let from = bytes.as_ptr() as usize - base;
            from..from + bytes.len()
        };
        // All of a bundle by the same snapshot, unless there is one within.
        let clocks = self.clocks;
        let mut known: (u64, u64, u64) = (u64::MAX, 0, 0);
        let mut ns = |at: u64| {
            let (from, until, from_ns) = known;
            if (from..until).contains(&at) {
                return from_ns.saturating_add(at - from);
            }
            let read = clocks.convert_until(0, bundle.clock, at, BOOTTIME);
            let (ns, until) = read.unwrap_or((at, at));
            known = (at, until, ns);
            ns
        };
        for (field, value) in Fields(&self.bytes) {
            match field {
                bundle::EVENT => {
                    let at = Fields(value.bytes()).find(|(field, _)| *field == ftrace::TIMESTAMP);
                    if let Some((_, at)) = at {
                        let whole = Kind::Whole(place(value.bytes()));
                        self.events.push((ns(at.number()), whole));
                    }
                }
                bundle::LOST => self.has_lost |= value.number() == 1,
                bundle::COMPACT => compact_events(value.bytes(), &place, &mut |at, kind| {
                    self.events.push((ns(at), kind));
                }),
                _ => {}
            }
        }
        self.events.sort_by_key(|(at_ns, _)| *at_ns);
    }
}

impl CpuEvents for CpuBundles<'_> {
    fn at_ns(&self) -> u64 {
        self.events.get(self.event).map_or(u64::MAX, |(at_ns, _)| *at_ns)
    }

    fn advance(&mut self) -> Result<bool, ForeignError> {
        self.event += 1;
        while self.event >= self.events.len() {
            let Some(bundle) = self.bundles.next() else {
                self.events.clear();
                return Ok(false);
            };
            self.bytes = bundle.place.fetch(self.input, &mut self.unpacked)?;
            self.add_bundle(&bundle);
            self.event = 0;
        }
        Ok(true)
    }

    fn tell(&mut self, importer: &mut Importer) {
        let Some((at_ns, kind)) = self.events.get(self.event) else {
            return;
        };
        let (at_ns, cpu) = (*at_ns, self.cpu);
        if std::mem::take(&mut self.has_lost) {
            // One at least: how many is not written.
            importer.lost(at_ns, cpu, 1);
            self.current = None;
        }
        let sampled = match kind {
            Kind::Whole(place) => whole(&self.bytes[place.clone()]),
            Kind::Switch { state, into, name } => {
                // The first one does not say whom it switches out.
                let out = self.current.unwrap_or(0);
                let names: [&[u8]; 2] = [&[], &self.bytes[name.clone()]];
                Some(Sampled::Switch { out, state: *state, into: *into, names })
            }
            Kind::Waking { thread, flags } => {
                let by = flags.filter(|flags| flags & IN_INTERRUPT == 0).and(self.current);
                let by = by.filter(|&by| by != 0);
                Some(Sampled::Event(What::Waking { thread: *thread, by }))
            }
        };
        match sampled {
            Some(sampled) => {
                if let Sampled::Switch { into, .. } = sampled {
                    self.current = Some(into);
                }
                importer.sampled(at_ns, cpu, sampled);
            }
            None => importer.passed(at_ns),
        }
    }
}

/// Switches and wake-ups as columns of numbers; times are those since the one before.
fn compact_events(
    bytes: &[u8],
    place: &dyn Fn(&[u8]) -> Range<usize>,
    add: &mut dyn FnMut(u64, Kind),
) {
    let mut names: Vec<Range<usize>> = Vec::new();
    let mut columns: [&[u8]; 13] = [&[]; 13];
    for (field, value) in Fields(bytes) {
        match field {
            compact::NAMES => names.push(place(value.bytes())),
            field => {
                if let Some(column) = columns.get_mut(field as usize) {
                    *column = value.bytes();
                }
            }
        }
    }
    let column = |field: u32| packed(columns[field as usize]);
    let mut at = 0_u64;
    let switches = column(compact::SWITCH_TIME)
        .zip(column(compact::SWITCH_STATE))
        .zip(column(compact::SWITCH_NEXT).zip(column(compact::SWITCH_NAME)));
    for ((delta, state), (into, name)) in switches {
        at = at.wrapping_add(delta);
        let name = usize::try_from(name).ok().and_then(|name| names.get(name).cloned());
        if let Ok(into) = u32::try_from(into) {
            add(at, Kind::Switch { state: state as u32, into, name: name.unwrap_or(0..0) });
        }
    }
    at = 0;
    let mut flags = column(compact::WAKING_FLAGS);
    for (delta, thread) in column(compact::WAKING_TIME).zip(column(compact::WAKING_PID)) {
        at = at.wrapping_add(delta);
        let flags = flags.next();
        if let Ok(thread) = u32::try_from(thread) {
            add(at, Kind::Waking { thread, flags });
        }
    }
}

/// An event that is a message of its own; `None` of one that is not used, or damaged.
fn whole(bytes: &[u8]) -> Option<Sampled<'_>> {
    let mut thread = 0;
    let mut flags = 0;
    let mut event = None;
    for (field, value) in Fields(bytes) {
        match field {
            ftrace::PID => thread = value.id().unwrap_or(0),
            ftrace::FLAGS => flags = value.number(),
            ftrace::TIMESTAMP => {}
            field => event = Some((field, value.bytes())),
        }
    }
    let (kind, fields) = event?;
    let value = |field| Fields(fields).last(field);
    let id = |field| value(field).map_or(Some(0), FieldValue::id);
    let text = |field| value(field).map_or(&[][..], FieldValue::bytes);
    let by = (flags & IN_INTERRUPT == 0 && thread != 0).then_some(thread);
    Some(match kind {
        ftrace::SWITCH => {
            let (mut out, mut state, mut into) = (Some(0), 0, Some(0));
            let mut names: [&[u8]; 2] = [&[]; 2];
            for (field, value) in Fields(fields) {
                match field {
                    switch::PREV_PID => out = value.id(),
                    switch::PREV_STATE => state = value.number() as u32,
                    switch::NEXT_PID => into = value.id(),
                    switch::PREV_COMM => names[0] = value.bytes(),
                    switch::NEXT_COMM => names[1] = value.bytes(),
                    _ => {}
                }
            }
            Sampled::Switch { out: out?, state, into: into?, names }
        }
        ftrace::WAKING | ftrace::NEW_WAKING => {
            Sampled::Event(What::Waking { thread: id(waking::PID)?, by })
        }
        ftrace::WAKEUP => Sampled::Wakeup { thread: id(waking::PID)?, by },
        ftrace::NEW_TASK => Sampled::NewTask {
            parent: thread,
            thread: id(new_task::PID)?,
            name: text(new_task::COMM),
            flags: value(new_task::CLONE_FLAGS).map_or(0, FieldValue::number),
        },
        ftrace::RENAME => {
            Sampled::Rename { thread: id(rename::PID)?, name: text(rename::NEW_COMM) }
        }
        ftrace::EXIT => Sampled::Event(What::Exit { thread: id(exit::PID)? }),
        ftrace::ENTER => {
            let mut arguments = [0; 3];
            let all = Fields(fields).filter(|(field, _)| *field == call::ARGUMENTS);
            let all = all.flat_map(|(_, value)| match value {
                FieldValue::Number(number) => vec![number],
                FieldValue::Bytes(bytes) => packed(bytes).collect(),
            });
            for (to, argument) in arguments.iter_mut().zip(all) {
                *to = argument;
            }
            // What is no call (-1) has the number that none has.
            let number = value(call::ID).map_or(0, FieldValue::number);
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            Sampled::Event(What::Enter { thread, number, arguments })
        }
        ftrace::RETURN => {
            let returned = value(call::RETURNED).map_or(0, FieldValue::number).cast_signed();
            Sampled::Event(What::Return { thread, returned })
        }
        ftrace::PRINT => Sampled::Text { thread, text: text(print::TEXT) },
        ftrace::TIMER => Sampled::Event(What::Interrupt(InterruptKind::Timer)),
        ftrace::IRQ => Sampled::Event(What::Interrupt(InterruptKind::Device)),
        _ => return None,
    })
}
