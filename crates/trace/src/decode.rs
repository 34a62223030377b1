//! Bytes of the rings into events.

use crate::endian::Endian;
use crate::event::{Event, Name, What};
use crate::format::{Field, FormatError, TracepointFormat};
use crate::ids::IdMap;
use crate::ring_page::{LostBefore, PageError, PageLayout};
use model::trace::{Access, InterruptKind};
use std::collections::BTreeMap;
use sys::perf::{Body, fault_sample, records, served_fault_sample};

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
    /// A page fault of the kernel, in a system call for example.
    KernelFault,
    /// The kernel counts a page fault that it has served, or that it waits for a device to serve one.
    FaultCount,
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
    /// The first wake-up of a new thread.
    NewWaking,
    /// The end of a wake-up, where its begin is not recorded.
    Wakeup,
    /// Creation of a thread.
    NewTask,
    /// A thread gets a name.
    Rename,
    /// The end of a thread.
    TaskExit,
    /// A program was executed.
    Exec,
    /// A text that a program wrote to `trace_marker`.
    Text,
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
    pub const ALL: [Tracepoint; 6] = [
        Tracepoint::Switch,
        Tracepoint::Waking,
        Tracepoint::Enter,
        Tracepoint::Return,
        Tracepoint::Fault,
        Tracepoint::KernelFault,
    ];

    /// Those of threads' lives.
    pub const TASKS: [Tracepoint; 4] =
        [Tracepoint::NewTask, Tracepoint::TaskExit, Tracepoint::Rename, Tracepoint::Exec];

    /// What files of other recorders may hold in addition.
    pub const OF_FILES: [Tracepoint; 6] = [
        Tracepoint::NewWaking,
        Tracepoint::Wakeup,
        Tracepoint::NewTask,
        Tracepoint::Rename,
        Tracepoint::TaskExit,
        Tracepoint::Text,
    ];

    /// Its directory below `events`.
    pub fn tracefs_path(self) -> &'static str {
        match self {
            Tracepoint::Switch => "sched/sched_switch",
            Tracepoint::Waking => "sched/sched_waking",
            Tracepoint::Enter => "raw_syscalls/sys_enter",
            Tracepoint::Return => "raw_syscalls/sys_exit",
            Tracepoint::Fault => "exceptions/page_fault_user",
            Tracepoint::KernelFault => "exceptions/page_fault_kernel",
            Tracepoint::FaultCount => "memcg/count_memcg_events",
            Tracepoint::Timer => "irq_vectors/local_timer_entry",
            Tracepoint::CallFunction => "irq_vectors/call_function_entry",
            Tracepoint::CallFunctionSingle => "irq_vectors/call_function_single_entry",
            Tracepoint::Reschedule => "irq_vectors/reschedule_entry",
            Tracepoint::Device => "irq/irq_handler_entry",
            Tracepoint::NewWaking => "sched/sched_wakeup_new",
            Tracepoint::Wakeup => "sched/sched_wakeup",
            Tracepoint::NewTask => "task/task_newtask",
            Tracepoint::Rename => "task/task_rename",
            Tracepoint::TaskExit => "sched/sched_process_exit",
            Tracepoint::Exec => "sched/sched_process_exec",
            Tracepoint::Text => "ftrace/print",
        }
    }
}

/// The layouts of the samples.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    common: Option<Common>,
    by_id: LayoutTable,
    ids: BTreeMap<Tracepoint, u16>,
    page: Option<PageLayout>,
    counted: Option<CountedItems>,
}

/// The numbers of what `count_memcg_events` counts: faults that are served, and those that wait for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedItems {
    pub(crate) served: i64,
    pub(crate) major: i64,
}

/// Layouts by the numbers of the tracepoints, which are looked up for each record.
#[derive(Clone, Debug, Default)]
struct LayoutTable {
    layouts: Vec<Layout>,
    /// Places of the layouts, and a number that is none of those without one.
    places: Vec<u16>,
}

impl LayoutTable {
    const NONE: u16 = u16::MAX;

    fn insert(&mut self, id: u16, layout: Layout) {
        let at = usize::from(id);
        if self.places.len() <= at {
            self.places.resize(at + 1, LayoutTable::NONE);
        }
        match self.layouts.get_mut(usize::from(self.places[at])) {
            Some(known) => *known = layout,
            None => {
                self.places[at] = u16::try_from(self.layouts.len()).unwrap_or(LayoutTable::NONE);
                self.layouts.push(layout);
            }
        }
    }

    fn get(&self, id: u16) -> Option<&Layout> {
        self.layouts.get(usize::from(*self.places.get(usize::from(id))?))
    }
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
        /// The bit of the state by which the kernel says that it preempted a thread.
        preempted: Option<u32>,
    },
    Waking {
        thread: Field,
        /// It was recorded when the wake-up was done.
        is_late: bool,
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
    FaultCount {
        item: Field,
    },
    Interrupt(InterruptKind),
    /// A USDT probe, by the place of its name.
    Probe(u32),
    NewTask {
        thread: Field,
        name: Field,
        flags: Field,
    },
    Rename {
        thread: Field,
        name: Field,
    },
    Exit {
        thread: Field,
    },
    Exec {
        thread: Field,
    },
    Text {
        text: Field,
    },
}

/// What a sample of a tracepoint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled<'b> {
    /// An event.
    Event(What),
    /// A switch, with the names of both threads.
    Switch { out: u32, state: u32, into: u32, names: [&'b [u8]; 2] },
    /// The end of a wake-up.
    Wakeup { thread: u32, by: Option<u32> },
    /// A thread created another, with the flags of clone(2).
    NewTask { parent: u32, thread: u32, name: &'b [u8], flags: u64 },
    /// A thread has this name from now on.
    Rename { thread: u32, name: &'b [u8] },
    /// A thread wrote this.
    Text { thread: u32, text: &'b [u8] },
}

impl Layouts {
    pub fn add_tracepoint(
        &mut self,
        tracepoint: Tracepoint,
        description: &str,
    ) -> Result<(), FormatError> {
        self.add(tracepoint, &TracepointFormat::parse(description, Endian::NATIVE)?)
    }

    /// Adds the entry or return of a system call that has an event of its own.
    pub fn add_call(&mut self, format: &TracepointFormat) -> Result<(), FormatError> {
        let layout = match format.call_fields() {
            Some((number, arguments)) if format.name.starts_with("sys_enter_") => {
                Layout::Enter { number, arguments }
            }
            _ => Layout::Return { returned: format.field("ret")? },
        };
        let id = u16::try_from(format.id).map_err(|_| FormatError::NoId)?;
        self.by_id.insert(id, layout);
        Ok(())
    }

    /// Adds a tracepoint of any machine.
    pub fn add(
        &mut self,
        tracepoint: Tracepoint,
        format: &TracepointFormat,
    ) -> Result<(), FormatError> {
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
                preempted: format.preempted,
            },
            Tracepoint::Waking | Tracepoint::NewWaking | Tracepoint::Wakeup => Layout::Waking {
                thread: format.field("pid")?,
                is_late: tracepoint == Tracepoint::Wakeup,
            },
            Tracepoint::Enter => {
                Layout::Enter { number: format.field("id")?, arguments: format.field("args")? }
            }
            Tracepoint::Return => Layout::Return { returned: format.field("ret")? },
            Tracepoint::Fault | Tracepoint::KernelFault => Layout::Fault {
                address: format.field("address")?,
                error: format.field("error_code")?,
            },
            Tracepoint::FaultCount => Layout::FaultCount { item: format.field("item")? },
            Tracepoint::Timer => Layout::Interrupt(InterruptKind::Timer),
            Tracepoint::CallFunction | Tracepoint::CallFunctionSingle => {
                Layout::Interrupt(InterruptKind::CallFunction)
            }
            Tracepoint::Reschedule => Layout::Interrupt(InterruptKind::Reschedule),
            Tracepoint::Device => Layout::Interrupt(InterruptKind::Device),
            Tracepoint::NewTask => Layout::NewTask {
                thread: format.field("pid")?,
                name: format.field("comm")?,
                flags: format.field("clone_flags")?,
            },
            Tracepoint::Rename => {
                Layout::Rename { thread: format.field("pid")?, name: format.field("newcomm")? }
            }
            Tracepoint::TaskExit => Layout::Exit { thread: format.field("pid")? },
            Tracepoint::Exec => Layout::Exec { thread: format.field("pid")? },
            Tracepoint::Text => Layout::Text { text: format.field("buf")? },
        };
        let id = u16::try_from(format.id).map_err(|_| FormatError::NoId)?;
        self.common = Some(common);
        self.by_id.insert(id, layout);
        self.ids.insert(tracepoint, id);
        Ok(())
    }

    /// Adds the tracepoint of a USDT probe, with the place of its name.
    pub fn add_probe(&mut self, name: u32, description: &str) -> Result<(), FormatError> {
        let format = TracepointFormat::parse(description, Endian::NATIVE)?;
        let id = u16::try_from(format.id).map_err(|_| FormatError::NoId)?;
        self.by_id.insert(id, Layout::Probe(name));
        Ok(())
    }

    /// What a sample says; `None` of a tracepoint that was not added, or of one that is cut off.
    pub fn sampled<'b>(&self, raw: &'b [u8]) -> Option<Sampled<'b>> {
        let common = self.common?;
        let kind = u16::try_from(common.kind.number(raw)?).ok()?;
        let layout = self.by_id.get(kind)?;
        let thread = field_value(common.thread, raw)?;
        let what = match *layout {
            Layout::Switch { out, out_name, state, into, into_name, preempted } => {
                // Of the states of a thread, none lies above.
                let state = state.number(raw)? as u32;
                return Some(Sampled::Switch {
                    out: field_value(out, raw)?,
                    state: preempted.map_or(state, |bit| state_of_old_kernel(state, bit)),
                    into: field_value(into, raw)?,
                    names: [out_name.bytes(raw)?, into_name.bytes(raw)?],
                });
            }
            Layout::Waking { thread: woken, is_late } => {
                let flags = common.flags.number(raw)?;
                let by_thread = flags & IN_INTERRUPT == 0 && thread != 0;
                let (woken, by) = (field_value(woken, raw)?, by_thread.then_some(thread));
                match is_late {
                    true => return Some(Sampled::Wakeup { thread: woken, by }),
                    false => What::Waking { thread: woken, by },
                }
            }
            Layout::Enter { number: call, arguments } => What::Enter {
                thread,
                // What is no call (-1) has the number that none has.
                number: field_value(call, raw).unwrap_or(u32::MAX),
                arguments: arguments.words(raw)?,
            },
            Layout::Return { returned } => What::Return { thread, returned: returned.number(raw)? },
            Layout::Fault { address, error } => What::Fault {
                thread,
                address: address.number(raw)?.cast_unsigned(),
                access: access(error.number(raw)?),
            },
            Layout::FaultCount { item } => {
                let CountedItems { served, major } = self.counted?;
                match item.number(raw)? {
                    item if item == served => What::Served { thread, address: None, major: false },
                    item if item == major => What::Major { thread },
                    _ => return None,
                }
            }
            Layout::Interrupt(kind) => What::Interrupt(kind),
            Layout::Probe(name) => What::Probe { thread, name },
            Layout::Exit { thread } => What::Exit { thread: field_value(thread, raw)? },
            Layout::Exec { thread } => What::Exec { thread: field_value(thread, raw)? },
            Layout::NewTask { thread: new, name, flags } => {
                return Some(Sampled::NewTask {
                    parent: thread,
                    thread: field_value(new, raw)?,
                    name: name.bytes(raw)?,
                    flags: flags.number(raw)?.cast_unsigned(),
                });
            }
            Layout::Rename { thread, name } => {
                let (thread, name) = (field_value(thread, raw)?, name.bytes(raw)?);
                return Some(Sampled::Rename { thread, name });
            }
            Layout::Text { text } => {
                return Some(Sampled::Text { thread, text: text.rest(raw)? });
            }
        };
        Some(Sampled::Event(what))
    }

    /// Sets the numbers of what the kernel counts of page faults, by the text of `/proc/vmstat`: it has their names
    /// in the order of their numbers, of which `pgpgin` has the first. Whether they are there.
    pub fn set_counted(&mut self, vmstat: &str) -> bool {
        let names = vmstat.lines().map(|line| line.split(' ').next().unwrap_or(line));
        let names: Vec<&str> = names.skip_while(|&name| name != "pgpgin").collect();
        let number = |name| {
            let at = names.iter().position(|&known| known == name)?;
            i64::try_from(at).ok()
        };
        let (Some(served), Some(major)) = (number("pgfault"), number("pgmajfault")) else {
            return false;
        };
        self.counted = Some(CountedItems { served, major });
        true
    }

    pub(crate) fn fault_items(&self) -> Option<CountedItems> {
        self.counted
    }

    /// Sets how the pages of the kernel's buffers lie, by the text of `events/header_page`.
    ///
    /// # Errors
    /// A text without its fields.
    pub fn set_page(&mut self, header_page: &str) -> Result<(), PageError> {
        self.page = Some(PageLayout::parse(header_page, Endian::NATIVE)?);
        Ok(())
    }

    /// How the pages lie, if that was set.
    pub(crate) fn page(&self) -> Option<PageLayout> {
        self.page
    }

    /// Whether a tracepoint was added.
    pub fn knows(&self, tracepoint: Tracepoint) -> bool {
        self.ids.contains_key(&tracepoint)
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
    fn page_layout(&self) -> Option<PageLayout> {
        match self {
            Samples::Tracepoints(layouts) => layouts.page(),
            Samples::Faults => None,
        }
    }

    /// Whether records of threads' lives are of everybody's, not of the traced ones only.
    pub fn has_all_tasks(&self) -> bool {
        matches!(self, Samples::Tracepoints(_))
    }

    /// Whether those of this tracepoint are among them.
    pub fn has(&self, tracepoint: Tracepoint) -> bool {
        match self {
            Samples::Tracepoints(layouts) => layouts.knows(tracepoint),
            Samples::Faults => false,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The events, CPU after CPU until [`Decoded::sort`].
    pub events: Vec<Event>,
    /// The last names of all threads that were switched in or out, with the times of those.
    pub names: IdMap<(u64, Name)>,
    /// Bytes that could not be read as records.
    pub unread_bytes: u64,
}

impl Decoded {
    /// Adds the records of a CPU's ring.
    pub fn add_ring(&mut self, samples: &Samples, cpu: u32, bytes: &[u8]) {
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

    /// Adds the pages of a CPU's buffer of the kernel, each cut off behind its records.
    pub fn add_pages(&mut self, samples: &Samples, cpu: u32, bytes: &[u8]) {
        let (Samples::Tracepoints(layouts), Some(layout)) = (samples, samples.page_layout()) else {
            self.unread_bytes += bytes.len() as u64;
            return;
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (page, after) = rest.split_at(layout.used_bytes(rest));
            rest = after;
            let Ok(mut records) = layout.records(page) else {
                // Where the next one begins is not known.
                self.unread_bytes += (page.len() + rest.len()) as u64;
                return;
            };
            let mut lost = match records.lost() {
                LostBefore::None => None,
                LostBefore::Records(count) => Some(count),
                // At least one.
                LostBefore::Unknown => Some(1),
            };
            while let Some(Ok(record)) = records.next() {
                let at_ns = record.at;
                if let Some(count) = lost.take() {
                    self.events.push(Event { at_ns, cpu, what: What::Lost(count) });
                }
                match self.tracepoint(layouts, at_ns, record.bytes) {
                    Some(what) => self.events.push(Event { at_ns, cpu, what }),
                    None => self.unread_bytes += record.bytes.len() as u64,
                }
            }
            self.unread_bytes += records.unread_bytes() as u64;
        }
    }

    /// Puts the events of all CPUs into the order of their time.
    pub fn sort(&mut self) {
        self.events.sort_by_key(|event| event.at_ns);
    }

    fn what(
        &mut self,
        samples: &Samples,
        record: &sys::perf::PerfRecord<'_>,
    ) -> Option<(Option<u64>, What)> {
        let what = match record.body {
            // They are in the kernel's buffers.
            Body::Fork(_) | Body::Exit(_) | Body::Name { .. } if samples.has_all_tasks() => {
                return None;
            }
            Body::Sample(body) => {
                if let Some((fault, major)) = served_fault_sample(body) {
                    let (thread, address) = (fault.thread, Some(fault.address));
                    let what = What::Served { thread, address, major };
                    return Some((Some(fault.at_ns), what));
                }
                let read = match samples {
                    // What perf samples there are ends of faults alone.
                    Samples::Tracepoints(_) => None,
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
                process: Some(task.process),
                thread: task.thread,
                parent: task.parent_thread,
            },
            Body::Exit(task) => What::Exit { thread: task.thread },
            Body::Name { process, thread, name, exec } => {
                What::Name { process: Some(process), thread, name: name_of(name), exec }
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

    fn tracepoint(&mut self, layouts: &Layouts, at_ns: u64, raw: &[u8]) -> Option<What> {
        Some(match layouts.sampled(raw)? {
            Sampled::Event(what) => what,
            Sampled::Switch { out, state, into, names: [out_name, into_name] } => {
                // CPUs are read one after the other.
                let known = self.names.entry(into).or_default();
                if at_ns >= known.0 {
                    *known = (at_ns, name_of(into_name));
                }
                self.names.entry(out).or_insert_with(|| (at_ns, name_of(out_name)));
                What::Switch { out, state, into }
            }
            Sampled::NewTask { parent, thread, flags, .. } => {
                let process = (flags & CLONE_THREAD == 0).then_some(thread);
                What::Fork { process, thread, parent }
            }
            Sampled::Rename { thread, name } => {
                What::Name { process: None, thread, name: name_of(name), exec: false }
            }
            // Not recorded here.
            Sampled::Wakeup { .. } | Sampled::Text { .. } => return None,
        })
    }
}

/// Of clone(2): the new thread is one of the same process.
pub(crate) const CLONE_THREAD: u64 = 0x0001_0000;

/// The state of a thread that was switched out, as kernels since 4.14 write it.
fn state_of_old_kernel(state: u32, preempted: u32) -> u32 {
    const PREEMPTED: u32 = 0x100;
    const DEAD: u32 = 0x40;
    const DEAD_NOW: u32 = 0x10;
    let dead = if state & DEAD != 0 { DEAD_NOW } else { 0 };
    let preempted = if state & preempted != 0 { PREEMPTED } else { 0 };
    state & 0x3f | dead | preempted
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

fn field_value(field: Field, raw: &[u8]) -> Option<u32> {
    u32::try_from(field.number(raw)?).ok()
}

pub(crate) fn name_of(bytes: &[u8]) -> Name {
    // As the kernel has it.
    if let Ok(name) = bytes.try_into() {
        return name;
    }
    let mut name = Name::default();
    for (to, from) in name.iter_mut().zip(bytes) {
        *to = *from;
    }
    name
}
