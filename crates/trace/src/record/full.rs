//! The full tier: tracepoints in the kernel's own buffers, each read by the kernel's description and provoked before.

use super::buffers::Traced;
use super::check::checked;
use super::kernel_buffers::{self, KernelBuffers};
use super::usdt::Defined;
use super::watchdog::Guard;
use super::{RecordRequest, gap};
use crate::decode::{Layouts, Tracepoint};
use model::trace::{Gap, NotRecorded, Topic};
use std::path::Path;
use sys::tracefs::Tracefs;

/// More than `/proc/vmstat` has.
const VMSTAT_BYTES: u64 = 1 << 20;

/// The kernel's buffers, which have begun to record, and what removes them if this process can't.
pub(super) type Begun = (KernelBuffers, Guard);

/// What is recorded, and what is not.
pub(super) struct Full {
    pub(super) layouts: Layouts,
    pub(super) gaps: Vec<Gap>,
    pub(super) kernel: Begun,
    /// After the buffers, which record them.
    pub(super) probes: Option<Defined>,
}

impl Full {
    /// # Errors
    /// Why there is no such recording. Nothing of it is left in the kernel then.
    pub(super) fn open(traced: &Traced, request: &RecordRequest) -> Result<Full, NotRecorded> {
        let unread = |error: std::io::Error| NotRecorded::NoTracefs(error.to_string());
        let tracefs = Tracefs::open().map_err(unread)?;
        let (mut layouts, mut gaps) = described(&tracefs, request)?;
        kernel_buffers::remove_leftovers(&tracefs).map_err(|error| no_buffers(&error))?;
        let guard = Guard::start().map_err(|error| no_buffers(&error))?;
        gaps.extend(leave_out_untrusted(&mut layouts, &request.cpus)?);
        // Nothing but their time is read. What a processor does not have is not recorded.
        for point in Tracepoint::INTERRUPTS.into_iter().filter(|_| request.interrupts) {
            let _ = add_layout(&tracefs, &mut layouts, point);
        }
        let mut probes = None;
        if let Some(usdt) = &request.usdt {
            match Defined::new(traced, usdt, &mut layouts) {
                Ok(defined) => probes = Some(defined),
                Err(reason) => gaps.push(gap(Topic::Probes, reason)),
            }
        }
        let begin =
            |probes: &[String]| KernelBuffers::begin(traced, &request.cpus, &layouts, probes);
        let paths = probes.as_ref().map(Defined::paths).unwrap_or_default();
        let kernel = match begin(&paths) {
            // A probe that the kernel refuses costs nothing else.
            Err(error) if probes.take().is_some() => {
                gaps.push(gap(Topic::Probes, NotRecorded::Failed(error.to_string())));
                begin(&[])
            }
            begun => begun,
        };
        let kernel = kernel.map_err(|error| no_buffers(&error))?;
        gaps.dedup();
        Ok(Full { layouts, gaps, kernel: (kernel, guard), probes })
    }
}

fn no_buffers(error: &dyn std::fmt::Display) -> NotRecorded {
    NotRecorded::Failed(format!("no trace buffers of the kernel: {error}"))
}

/// The layouts of the tracepoints and of the buffers' pages.
fn described(
    tracefs: &Tracefs,
    request: &RecordRequest,
) -> Result<(Layouts, Vec<Gap>), NotRecorded> {
    let mut layouts = Layouts::default();
    let mut gaps = Vec::new();
    for point in Tracepoint::ALL.into_iter().chain(Tracepoint::TASKS) {
        let topic = topic_of(point);
        if request.scheduler_only && (topic.is_some() || point == Tracepoint::KernelFault) {
            gaps.extend(topic.map(|topic| gap(topic, NotRecorded::NotAsked)));
            continue;
        }
        match (add_layout(tracefs, &mut layouts, point), topic) {
            (Ok(()), _) => {}
            // Of a fault in the kernel there is the end.
            (Err(_), None) if point == Tracepoint::KernelFault => {}
            (Err(reason), Some(topic)) => gaps.push(gap(topic, reason)),
            (Err(reason), None) => return Err(reason),
        }
    }
    let vmstat = sys::input::read_limited(Path::new("/proc/vmstat"), VMSTAT_BYTES);
    let vmstat = vmstat.unwrap_or_default();
    if layouts.knows(Tracepoint::Fault) && layouts.set_counted(&String::from_utf8_lossy(&vmstat)) {
        // Without it, perf has the ends.
        let _ = add_layout(tracefs, &mut layouts, Tracepoint::FaultCount);
    }
    let header = tracefs.read_text("events/header_page").map_err(|error| no_buffers(&error))?;
    layouts.set_page(&header).map_err(|error| no_buffers(&error))?;
    Ok((layouts, gaps))
}

/// Removes those whose provoked events are not read as they happened.
///
/// # Errors
/// That there is no recording without one of them.
fn leave_out_untrusted(layouts: &mut Layouts, cpus: &[u32]) -> Result<Vec<Gap>, NotRecorded> {
    let mut gaps = Vec::new();
    for point in checked(layouts, cpus).map_err(|error| no_buffers(&error))? {
        layouts.remove(point);
        if matches!(point, Tracepoint::KernelFault | Tracepoint::FaultCount) {
            continue;
        }
        let topic = topic_of(point).ok_or(NotRecorded::CheckFailed)?;
        gaps.push(gap(topic, NotRecorded::CheckFailed));
    }
    // A call needs both of its ends.
    let ends = [Tracepoint::Enter, Tracepoint::Return];
    if !ends.iter().all(|&end| layouts.knows(end)) {
        ends.iter().for_each(|&end| layouts.remove(end));
    }
    Ok(gaps)
}

/// Adds the layout of a tracepoint as tracefs describes it.
fn add_layout(
    tracefs: &Tracefs,
    layouts: &mut Layouts,
    point: Tracepoint,
) -> Result<(), NotRecorded> {
    let read = tracefs.read_text(&format!("events/{}/format", point.tracefs_path()));
    let read = read.map_err(|error| NotRecorded::Failed(error.to_string()))?;
    let added = layouts.add_tracepoint(point, &read);
    added.map_err(|error| NotRecorded::Failed(error.to_string()))
}

/// What a tracepoint records; `None` if nothing is lost without it.
fn topic_of(point: Tracepoint) -> Option<Topic> {
    match point {
        Tracepoint::Enter | Tracepoint::Return => Some(Topic::Calls),
        Tracepoint::Fault => Some(Topic::Faults),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_kernels_buffers_fail_after_their_check_nothing_of_them_is_left() {
        let Ok(tracefs) = Tracefs::open() else {
            return eprintln!("tracefs can't be opened: needs root");
        };
        let begun = |cpus: Vec<u32>| {
            let request = RecordRequest { cpus, ..RecordRequest::of_all() };
            Full::open(&Traced::Command, &request)
        };
        let mut cpus = sys::allowed_cpus().expect("CPUs");
        match begun(cpus.clone()) {
            Ok(full) => assert!(full.layouts.knows(Tracepoint::Switch)),
            Err(reason) => return eprintln!("no kernel buffers here: {reason}"),
        }
        // The check needs one CPU only; this one has no buffer.
        cpus.push(1 << 20);
        let reason = begun(cpus).err().expect("no such CPU").to_string();
        assert!(reason.contains("no trace buffers of the kernel: No such file"), "{reason}");
        let left = kernel_buffers::instances_of(&tracefs, std::process::id());
        assert_eq!(left.expect("readable"), [] as [String; 0]);
    }
}
