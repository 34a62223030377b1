//! A trace as a profile that <https://profiler.firefox.com> and samply load: states,
//! system calls, page faults and signposts as markers of their threads, and time on a
//! CPU as samples. What is recorded of stacks is that of the marker of its state and of the
//! sample at which the thread left its CPU.

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerFieldFlags,
    MarkerFieldFormat, MarkerHandle, MarkerTiming, ProcessHandle, Profile, ReferenceTimestamp,
    SamplingInterval, StackHandle, StaticSchemaMarker, StaticSchemaMarkerField, StringHandle,
    ThreadHandle, Timestamp,
};
use model::trace::{State, Thread, ThreadsById, Trace};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

/// Firefox wants the distance of samples.
const INTERVAL: Duration = Duration::from_millis(1);

/// Writes the trace as JSON.
///
/// # Errors
/// What the writer says.
pub fn write(trace: &Trace, to: &mut dyn Write) -> io::Result<()> {
    let began = Duration::from_nanos(trace.began.real_ns);
    let reference = ReferenceTimestamp::from_duration_since_unix_epoch(began);
    let mut profile = Profile::new("latlas trace", reference, SamplingInterval::from(INTERVAL));
    profile.set_os_name(&format!("Linux {}", trace.kernel));
    let mut writer = Writer {
        trace,
        threads: trace.by_id(),
        categories: Categories::new(&mut profile),
        profile,
        processes: HashMap::new(),
        stacks: HashMap::new(),
    };
    for thread in &trace.threads {
        writer.thread(thread);
    }
    serde_json::to_writer(to, &writer.profile).map_err(io::Error::from)
}

struct Categories {
    state: CategoryHandle,
    call: CategoryHandle,
    fault: CategoryHandle,
    signpost: CategoryHandle,
}

impl Categories {
    fn new(profile: &mut Profile) -> Categories {
        Categories {
            state: profile.add_category("State", CategoryColor::Blue),
            call: profile.add_category("System call", CategoryColor::Green),
            fault: profile.add_category("Page fault", CategoryColor::Red),
            signpost: profile.add_category("Signpost", CategoryColor::DarkGray),
        }
    }
}

struct Writer<'t> {
    trace: &'t Trace,
    threads: ThreadsById<'t>,
    profile: Profile,
    categories: Categories,
    processes: HashMap<u32, ProcessHandle>,
    /// Of the thread that is written.
    stacks: HashMap<u32, Option<StackHandle>>,
}

impl Writer<'_> {
    fn thread(&mut self, thread: &Thread) {
        self.stacks.clear();
        let process = self.process(thread);
        let is_main = thread.id == thread.process;
        let from = moment(thread.from_ns);
        let handle = self.profile.add_thread(process, thread.id, from, is_main);
        self.profile.set_thread_name(handle, &thread.name);
        self.profile.set_thread_end_time(handle, moment(thread.to_ns));
        self.profile.set_thread_show_markers_in_timeline(handle, true);
        for (segment, stack) in thread.segments.iter().zip(thread.stacks()) {
            let name = segment.state.kind().name();
            let detail = self.detail(segment.state);
            let timing = stretch(segment.from_ns, segment.to_ns);
            let marker = self.add(handle, timing, self.categories.state, name, &detail);
            if let Some(stack) = stack {
                let stack = self.stack(handle, stack);
                self.profile.set_marker_stack(handle, marker, stack);
            }
        }
        self.running(handle, thread);
        for call in &thread.calls {
            let name = self.trace.call_name(call.number);
            let [first, second, third] = call.arguments;
            let returned = call.returned.map(|value| format!(" = {value}"));
            let detail = format!(
                "{first:#x}, {second:#x}, {third:#x}{}",
                returned.unwrap_or_else(|| ", not returned".into())
            );
            let timing = stretch(call.from_ns, call.to_ns);
            self.add(handle, timing, self.categories.call, &name, &detail);
        }
        for fault in &thread.faults {
            let timing = MarkerTiming::Instant(moment(fault.at_ns));
            let detail = format!("{:#x}", fault.address);
            self.add(handle, timing, self.categories.fault, "page fault", &detail);
        }
        for signpost in &thread.signposts {
            let name = self.trace.signpost_name(signpost).unwrap_or("unknown");
            let timing = match signpost.to_ns {
                Some(to_ns) => stretch(signpost.from_ns, to_ns),
                None => MarkerTiming::Instant(moment(signpost.from_ns)),
            };
            self.add(handle, timing, self.categories.signpost, name, "");
        }
    }

    fn stack(&mut self, handle: ThreadHandle, stack: u32) -> Option<StackHandle> {
        if let Some(&known) = self.stacks.get(&stack) {
            return known;
        }
        let mut names = self.trace.stack_names(stack);
        names.reverse();
        let category_pair = self.categories.state.into();
        let names = names.iter().map(|name| self.profile.intern_string(name));
        let frames: Vec<FrameInfo> = names
            .map(|name| FrameInfo {
                frame: Frame::Label(name),
                category_pair,
                flags: FrameFlags::empty(),
            })
            .collect();
        let new = self.profile.intern_stack_frames(handle, frames.into_iter());
        self.stacks.insert(stack, new);
        new
    }

    /// Time on a CPU up to each end of a stretch, as samples. The format has whole
    /// microseconds: what is left goes to the next.
    fn running(&mut self, handle: ThreadHandle, thread: &Thread) {
        // What is before the first sample counts for nothing.
        if let Some(first) = thread.segments.first() {
            let at = moment(first.from_ns);
            self.profile.add_sample(handle, at, None, CpuDelta::ZERO, 1);
        }
        let (mut running_ns, mut written_us) = (0u64, 0);
        // It leaves with the stack of the next.
        let stacks = thread.stacks().skip(1).chain([None]);
        for (segment, stack) in thread.segments.iter().zip(stacks) {
            if matches!(segment.state, State::Running(_)) {
                running_ns = running_ns.saturating_add(segment.duration_ns());
            }
            let delta = CpuDelta::from_micros(running_ns / 1000 - written_us);
            written_us = running_ns / 1000;
            let stack = stack.and_then(|stack| self.stack(handle, stack));
            let at = moment(segment.to_ns);
            self.profile.add_sample(handle, at, stack, delta, 1);
        }
    }

    fn process(&mut self, thread: &Thread) -> ProcessHandle {
        let main = self.threads.thread(thread.process).unwrap_or(thread);
        let profile = &mut self.profile;
        let new = || profile.add_process(&main.name, thread.process, moment(main.from_ns));
        *self.processes.entry(thread.process).or_insert_with(new)
    }

    fn detail(&self, state: State) -> String {
        match state {
            State::Running(cpu) => format!("CPU {cpu}"),
            State::Preempted(0) => "by no thread (CPU quota)".into(),
            State::Preempted(by) => match self.threads.name_of(by) {
                Some(name) => format!("by {name} {by}"),
                None => format!("by thread {by}"),
            },
            State::Blocked { call: Some(call), .. } => format!("in {}", self.trace.call_name(call)),
            _ => String::new(),
        }
    }

    fn add(
        &mut self,
        thread: ThreadHandle,
        timing: MarkerTiming,
        category: CategoryHandle,
        name: &str,
        detail: &str,
    ) -> MarkerHandle {
        let marker = Marker {
            category,
            name: self.profile.intern_string(name),
            detail: self.profile.intern_string(detail),
        };
        self.profile.add_marker(thread, timing, marker)
    }
}

fn moment(ns: u64) -> Timestamp {
    Timestamp::from_nanos_since_reference(ns)
}

fn stretch(from_ns: u64, to_ns: u64) -> MarkerTiming {
    MarkerTiming::Interval(moment(from_ns), moment(to_ns))
}

/// Everything here: a name and what is said of it.
struct Marker {
    category: CategoryHandle,
    name: StringHandle,
    detail: StringHandle,
}

impl StaticSchemaMarker for Marker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "latlas";
    const CHART_LABEL: Option<&'static str> = Some("{marker.name} {marker.data.detail}");
    const TOOLTIP_LABEL: Option<&'static str> = Some("{marker.name} {marker.data.detail}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.detail}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "detail",
        label: "Detail",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _: u32) -> StringHandle {
        self.detail
    }

    fn number_field_value(&self, _: u32) -> f64 {
        // The schema has no number.
        f64::NAN
    }
}
