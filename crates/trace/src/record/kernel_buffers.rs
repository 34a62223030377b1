//! The kernel's own buffers of trace events: two instances of tracefs, one with what the scheduler does with
//! everybody, one with the calls and faults of the traced threads. A record costs a tenth of what perf's sampling
//! takes for it.

use super::buffers::{Chunk, Traced};
use super::kept::Drained;
use super::process;
use crate::decode::{Layouts, Tracepoint};
use crate::ring_page::PageLayout;
use std::collections::BTreeSet;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use sys::tracefs::{CpuBuffer, Instance, Tracefs};

/// The first part of the instances' names, before the number of the process that records.
const NAME: &str = "latlas_";
/// Room for the records of a CPU, and of all.
const CPU_BYTES: usize = 8 << 20;
const ALL_BYTES: usize = 512 << 20;
/// The least that is of use.
const LEAST_BYTES: usize = 256 << 10;
/// Of several recordings of this process.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The tracepoints of everybody, and those of the traced threads.
#[derive(Debug)]
pub(super) struct KernelBuffers {
    everybody: Buffers,
    /// `None` if none of theirs is recorded.
    own: Option<Buffers>,
    layout: PageLayout,
    page_bytes: usize,
    pub(super) cpu_bytes: usize,
}

/// An instance, which can't be removed before its buffers are closed.
#[derive(Debug)]
struct Buffers {
    cpus: Vec<(u32, CpuBuffer)>,
    instance: Instance,
}

impl KernelBuffers {
    /// Begins to record what the scheduler does. Threads that run are recorded as well from here on; of a
    /// command, see [`KernelBuffers::begin_with_command`]. Probes are given by the paths of their events.
    ///
    /// # Errors
    /// What the kernel says of the instances and their files. None of them is left then.
    pub(super) fn begin(
        traced: &Traced,
        cpus: &[u32],
        layouts: &Layouts,
        probes: &[String],
    ) -> io::Result<KernelBuffers> {
        let layout = layouts.page().ok_or(io::ErrorKind::Unsupported)?;
        let scheduler = [Tracepoint::Switch, Tracepoint::Waking];
        let scheduler = scheduler.into_iter().chain(Tracepoint::TASKS);
        let wide: Vec<Tracepoint> = scheduler.chain(Tracepoint::INTERRUPTS).collect();
        let own = Tracepoint::ALL.into_iter().chain([Tracepoint::FaultCount]);
        let own = own.filter(|point| !wide.contains(point));
        let own: Vec<Tracepoint> = own.filter(|&point| layouts.knows(point)).collect();
        let wide: Vec<Tracepoint> =
            wide.into_iter().filter(|&point| layouts.knows(point)).collect();
        let cpu_bytes = CPU_BYTES.min(ALL_BYTES / cpus.len().max(1)).max(LEAST_BYTES);
        let everybody = Buffers::make("everybody", cpus, &wide, layouts, cpu_bytes)?;
        let page_bytes = everybody.page_bytes(layout);
        let is_asked = !own.is_empty() || !probes.is_empty();
        let own = is_asked.then(|| Buffers::make("own", cpus, &own, layouts, cpu_bytes));
        let own = own.transpose()?;
        for (path, own) in probes.iter().zip(own.iter().cycle()) {
            own.instance.set(&format!("events/{path}/enable"), "1")?;
        }
        everybody.instance.set("tracing_on", "1")?;
        if let (Traced::Process(id), Some(own)) = (traced, &own) {
            own.begin_with_process(*id)?;
        }
        Ok(KernelBuffers { everybody, own, layout, page_bytes, cpu_bytes })
    }

    /// Has a command begin to record itself.
    pub(super) fn begin_with_command(&self, command: &mut Command) -> io::Result<()> {
        self.own.as_ref().map_or(Ok(()), |own| own.instance.begin_with_command(command))
    }

    /// Begins to record the calling thread.
    pub(super) fn begin_here(&self) -> io::Result<()> {
        let Some(own) = &self.own else {
            return Ok(());
        };
        let thread = sys::thread::current_id().ok_or(io::ErrorKind::Unsupported)?;
        own.instance.begin_with_threads(&[thread])?;
        own.instance.set("tracing_on", "1")
    }

    fn all(&self) -> impl Iterator<Item = &Buffers> {
        [Some(&self.everybody), self.own.as_ref()].into_iter().flatten()
    }

    /// Moves what is there to the pages.
    pub(super) fn drain(&self, drained: &mut Drained) -> io::Result<()> {
        self.drain_buffers(&self.everybody, &mut drained.pages)?;
        let own = self.own.as_ref();
        own.map_or(Ok(()), |own| self.drain_buffers(own, &mut drained.own_pages))
    }

    fn drain_buffers(&self, buffers: &Buffers, chunks: &mut Vec<Chunk>) -> io::Result<()> {
        for (cpu, buffer) in &buffers.cpus {
            let pages = self.pages(buffer)?;
            if !pages.is_empty() {
                chunks.push((*cpu, pages));
            }
        }
        Ok(())
    }

    /// What a CPU has recorded, each page cut off behind its records. No more than there is room for: who writes
    /// as fast as this reads would keep it here.
    fn pages(&self, buffer: &CpuBuffer) -> io::Result<Vec<u8>> {
        let mut pages = Vec::new();
        for _ in 0..=self.cpu_bytes / self.page_bytes {
            let at = pages.len();
            if !buffer.read_page(&mut pages, self.page_bytes)? {
                break;
            }
            let used = self.layout.used_bytes(&pages[at..]);
            pages.truncate(at + used);
        }
        Ok(pages)
    }

    /// Ends the recording; what is in the buffers stays there.
    pub(super) fn disable(&self) -> io::Result<()> {
        self.all().try_for_each(|buffers| buffers.instance.set("tracing_on", "0"))
    }
}

impl Buffers {
    fn make(
        of: &str,
        cpus: &[u32],
        points: &[Tracepoint],
        layouts: &Layouts,
        cpu_bytes: usize,
    ) -> io::Result<Buffers> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME}{}_{number}_{of}", std::process::id());
        let instance = Tracefs::open()?.make_instance(&name)?;
        instance.set("tracing_on", "0")?;
        instance.set("buffer_size_kb", &(cpu_bytes >> 10).to_string())?;
        instance.set("trace_clock", "mono_raw")?;
        for &point in points {
            let path = format!("events/{}", point.tracefs_path());
            if let (Tracepoint::FaultCount, Some(items)) = (point, layouts.fault_items()) {
                // Of all that is counted there.
                let filter = format!("item == {} || item == {}", items.served, items.major);
                instance.set(&format!("{path}/filter"), &filter)?;
            }
            instance.set(&format!("{path}/enable"), "1")?;
        }
        let cpus = cpus.iter().map(|&cpu| Ok((cpu, instance.buffer(cpu)?)));
        let cpus: io::Result<Vec<_>> = cpus.collect();
        Ok(Buffers { cpus: cpus?, instance })
    }

    /// The length of a page: kernels since 6.8 may have larger ones.
    fn page_bytes(&self, layout: PageLayout) -> usize {
        let kb = self.instance.read_text("buffer_subbuf_size_kb").ok();
        let kb = kb.and_then(|kb| kb.trim().parse::<usize>().ok());
        kb.map_or(sys::base_page_bytes(), |kb| kb << 10).max(layout.head_bytes() * 2)
    }

    /// Begins with the threads of a process. One that is created meanwhile is recorded if its creator is; else the
    /// next pass finds it.
    fn begin_with_process(&self, id: u32) -> io::Result<()> {
        let mut known = BTreeSet::new();
        loop {
            let new = process::threads(id)?.into_iter().filter(|thread| !known.contains(thread));
            let new: Vec<u32> = new.collect();
            if new.is_empty() {
                return self.instance.set("tracing_on", "1");
            }
            self.instance.begin_with_threads(&new)?;
            known.extend(new);
        }
    }
}

/// Removes the instances of recorders that were killed together with their watchdogs.
pub(super) fn remove_leftovers(tracefs: &Tracefs) -> io::Result<()> {
    for name in tracefs.instances()? {
        let owner = name.strip_prefix(NAME).and_then(|rest| rest.split('_').next()?.parse().ok());
        if owner.is_some_and(|id: u32| id != std::process::id() && !process::is_alive(id)) {
            // Another recorder may do the same.
            let _ = tracefs.remove_instance(&name);
        }
    }
    Ok(())
}

/// The names of the instances of a process.
pub(super) fn instances_of(tracefs: &Tracefs, process: u32) -> io::Result<Vec<String>> {
    let beginning = format!("{NAME}{process}_");
    let all = tracefs.instances()?.into_iter();
    Ok(all.filter(|name| name.starts_with(&beginning)).collect())
}
