//! Bytes of the rings into events.

use crate::event::{Event, Name, What};
use crate::format::{Field, Format, FormatError};
use model::trace::{Access, InterruptKind};
use std::collections::{BTreeMap, HashMap};
use sys::perf::{Body, fault_sample, records, tracepoint_sample};

/// The tracepoints that are recorded, as tracefs names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tracepoint {
    /// A switch from one thread to another.
    Switch,
    /// A wake-up.
    Waking,
    /// Entry of a system call.
    Enter,
    /// Return of a system call.
    Return,
    /// A page fault in user mode.
    Fault,
    /// An interrupt of the CPU's timer.
    Timer,
    /// One by which another CPU has a function run, on all CPUs or on this one.
    CallFunction,
    /// The same on this one.
    CallFunctionSingle,
    /// One by which another CPU has the scheduler run.
    Reschedule,
    /// One of a device.
    Device,
}

impl Tracepoint {
    /// Those of interrupts, which are recorded if asked for.
    pub const INTERRUPTS: [Tracepoint; 5] = [
        Tracepoint::Timer,
        Tracepoint::CallFunction,
        Tracepoint::CallFunctionSingle,
        Tracepoint::Reschedule,
        Tracepoint::Device,
    ];

    /// All others.
    pub const ALL: [Tracepoint; 5] = [
        Tracepoint::Switch,
        Tracepoint::Waking,
        Tracepoint::Enter,
        Tracepoint::Return,
        Tracepoint::Fault,
    ];

    /// Its directory below `events`.
    pub fn path(self) -> &'static str {
        match self {
            Tracepoint::Switch => "sched/sched_switch",
            Tracepoint::Waking => "sched/sched_waking",
            Tracepoint::Enter => "raw_syscalls/sys_enter",
            Tracepoint::Return => "raw_syscalls/sys_exit",
            Tracepoint::Fault => "exceptions/page_fault_user",
            Tracepoint::Timer => "irq_vectors/local_timer_entry",
            Tracepoint::CallFunction => "irq_vectors/call_function_entry",
            Tracepoint::CallFunctionSingle => "irq_vectors/call_function_single_entry",
            Tracepoint::Reschedule => "irq_vectors/reschedule_entry",
            Tracepoint::Device => "irq/irq_handler_entry",
        }
    }
}

/// The layouts of the samples.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    common: Option<Common>,
    by_id: BTreeMap<u16, Layout>,
    ids: BTreeMap<Tracepoint, u64>,
}

/// Fields that all tracepoints have, at the same place.
#[derive(Clone, Copy, Debug)]
struct Common {
    kind: Field,
    flags: Field,
    thread: Field,
}

#[derive(Clone, Copy, Debug)]
enum Layout {
    Switch {
        out: Field,
        out_name: Field,
        state: Field,
        into: Field,
        into_name: Field,
    },
    Waking {
        thread: Field,
    },
    Enter {
        number: Field,
        arguments: Field,
    },
    Return {
        returned: Field,
    },
    Fault {
        address: Field,
        error: Field,
    },
    Interrupt(InterruptKind),
    /// A USDT probe, by the place of its name.
    Probe(u32),
}

impl Layouts {
    pub fn add(&mut self, tracepoint: Tracepoint, description: &str) -> Result<(), FormatError> {
        let format = Format::parse(description)?;
        let common = Common {
            kind: format.field("common_type")?,
            flags: format.field("common_flags")?,
            thread: format.field("common_pid")?,
        };
        let layout = match tracepoint {
            Tracepoint::Switch => Layout::Switch {
                out: format.field("prev_pid")?,
                out_name: format.field("prev_comm")?,
                state: format.field("prev_state")?,
                into: format.field("next_pid")?,
                into_name: format.field("next_comm")?,
            },
            Tracepoint::Waking => Layout::Waking { thread: format.field("pid")? },
            Tracepoint::Enter => {
                Layout::Enter { number: format.field("id")?, arguments: format.field("args")? }
            }
            Tracepoint::Return => Layout::Return { returned: format.field("ret")? },
            Tracepoint::Fault => Layout::Fault {
                address: format.field("address")?,
                error: format.field("error_code")?,
            },
            Tracepoint::Timer => Layout::Interrupt(InterruptKind::Timer),
            Tracepoint::CallFunction | Tracepoint::CallFunctionSingle => {
                Layout::Interrupt(InterruptKind::CallFunction)
            }
            Tracepoint::Reschedule => Layout::Interrupt(InterruptKind::Reschedule),
            Tracepoint::Device => Layout::Interrupt(InterruptKind::Device),
        };
        let id = u16::try_from(format.id).map_err(|_| FormatError::NoId)?;
        self.common = Some(common);
        self.by_id.insert(id, layout);
        self.ids.insert(tracepoint, format.id);
        Ok(())
    }

    /// Adds the tracepoint of a USDT probe, with the place of its name; its id.
    pub fn add_probe(&mut self, name: u32, description: &str) -> Result<u64, FormatError> {
        let format = Format::parse(description)?;
        let id = u16::try_from(format.id).map_err(|_| FormatError::NoId)?;
        self.by_id.insert(id, Layout::Probe(name));
        Ok(format.id)
    }

    /// The id of a tracepoint that was added.
    pub fn id(&self, tracepoint: Tracepoint) -> Option<u64> {
        self.ids.get(&tracepoint).copied()
    }

    /// No longer knows a tracepoint.
    pub fn remove(&mut self, tracepoint: Tracepoint) {
        self.ids.remove(&tracepoint);
    }
}

/// What the samples in the rings are.
#[derive(Clone, Debug)]
pub enum Samples {
    Tracepoints(Layouts),
    Faults,
}

impl Samples {
    /// Whether those of this tracepoint are among them.
    pub fn has(&self, tracepoint: Tracepoint) -> bool {
        match self {
            Samples::Tracepoints(layouts) => layouts.id(tracepoint).is_some(),
            Samples::Faults => false,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The events, CPU after CPU until [`Decoded::sort`].
    pub events: Vec<Event>,
    /// The last names of all threads that were switched in or out.
    pub names: HashMap<u32, Name>,
    /// Bytes that could not be read as records.
    pub unread_bytes: u64,
}

impl Decoded {
    /// Adds the records of a CPU's ring.
    pub fn add(&mut self, samples: &Samples, cpu: u32, bytes: &[u8]) {
        let mut last_ns = 0;
        for record in records(bytes) {
            let Some((at_ns, what)) = self.what(samples, &record) else {
                continue;
            };
            let at_ns = at_ns.unwrap_or(last_ns);
            last_ns = at_ns;
            self.events.push(Event { at_ns, cpu, what });
        }
    }

    /// Puts the events of all CPUs into the order of their time.
    pub fn sort(&mut self) {
        self.events.sort_by_key(|event| event.at_ns);
    }

    fn what(
        &mut self,
        samples: &Samples,
        record: &sys::perf::Record<'_>,
    ) -> Option<(Option<u64>, What)> {
        let what = match record.body {
            Body::Sample(body) => {
                let read = match samples {
                    Samples::Tracepoints(layouts) => tracepoint_sample(body)
                        .and_then(|(at_ns, raw)| Some((at_ns, self.tracepoint(layouts, raw)?))),
                    Samples::Faults => fault_sample(body).map(|fault| {
                        let what = What::Fault {
                            thread: fault.thread,
                            address: fault.address,
                            access: Access::Unknown,
                        };
                        (fault.at_ns, what)
                    }),
                };
                if read.is_none() {
                    self.unread_bytes += body.len() as u64;
                }
                return read.map(|(at_ns, what)| (Some(at_ns), what));
            }
            Body::Lost(count) => What::Lost(count),
            Body::Fork(task) => What::Fork {
                process: task.process,
                thread: task.thread,
                parent: task.parent_thread,
            },
            Body::Exit(task) => What::Exit { thread: task.thread },
            Body::Name { process, thread, name, exec } => {
                What::Name { process, thread, name: name_of(name), exec }
            }
            Body::Map { thread, address, bytes, .. } => What::Map { thread, address, bytes },
            Body::Switch { thread, out, ready } => What::OwnSwitch { thread, out, ready },
            Body::Malformed(bytes) => {
                self.unread_bytes += bytes as u64;
                return None;
            }
            Body::Other => return None,
        };
        Some((record.at_ns, what))
    }

    fn tracepoint(&mut self, layouts: &Layouts, raw: &[u8]) -> Option<What> {
        let common = layouts.common?;
        let kind = u16::try_from(common.kind.number(raw)?).ok()?;
        let thread = number(common.thread, raw)?;
        Some(match *layouts.by_id.get(&kind)? {
            Layout::Switch { out, out_name, state, into, into_name } => {
                let (out, into) = (number(out, raw)?, number(into, raw)?);
                self.names.insert(into, name_of(into_name.bytes(raw)?));
                let out_name = name_of(out_name.bytes(raw)?);
                self.names.entry(out).or_insert(out_name);
                // Of the states of a thread, none lies above.
                let state = state.number(raw)? as u32;
                What::Switch { out, state, into }
            }
            Layout::Waking { thread: woken } => {
                let flags = common.flags.number(raw)?;
                let by_thread = flags & IN_INTERRUPT == 0 && thread != 0;
                What::Waking { thread: number(woken, raw)?, by: by_thread.then_some(thread) }
            }
            Layout::Enter { number: call, arguments } => What::Enter {
                thread,
                // What is no call (-1) has the number that none has.
                number: number(call, raw).unwrap_or(u32::MAX),
                arguments: arguments.words(raw)?,
            },
            Layout::Return { returned } => What::Return { thread, returned: returned.number(raw)? },
            Layout::Fault { address, error } => What::Fault {
                thread,
                address: address.number(raw)?.cast_unsigned(),
                access: access(error.number(raw)?),
            },
            Layout::Interrupt(kind) => What::Interrupt(kind),
            Layout::Probe(name) => What::Probe { thread, name },
        })
    }
}

/// Bits of `common_flags`: in an interrupt, a soft one, or one that can't be
/// masked.
const IN_INTERRUPT: i64 = 0x08 | 0x10 | 0x40;

/// The access, from the processor's error code.
fn access(error: i64) -> Access {
    const WRITE: i64 = 1 << 1;
    const INSTRUCTION: i64 = 1 << 4;
    match cfg!(target_arch = "x86_64") {
        true if error & INSTRUCTION != 0 => Access::Execute,
        true if error & WRITE != 0 => Access::Write,
        true => Access::Read,
        // Other processors have other codes.
        false => Access::Unknown,
    }
}

fn number(field: Field, raw: &[u8]) -> Option<u32> {
    u32::try_from(field.number(raw)?).ok()
}

fn name_of(bytes: &[u8]) -> Name {
    let mut name = Name::default();
    for (to, from) in name.iter_mut().zip(bytes) {
        *to = *from;
    }
    name
}
