//! Events into states: each rule on the shortest sequence that shows it.

use crate::ring::{Bytes, layouts};
use model::trace::{Call, InterruptKind, Losses, ServedFault, State, Thread};
use trace::decode::Decoded;
use trace::event::{Event, What};
use trace::states::{Timeline, TimelineSettings, timeline};

/// Thread 1 of process 1 is traced, from 0 to 1000 ns.
fn settings() -> TimelineSettings {
    TimelineSettings {
        roots: vec![(1, 1)],
        from_ns: 0,
        to_ns: 1000,
        shown_from_ns: None,
        scheduler: true,
        tasks_of_all: false,
        all_threads: false,
        calls: true,
        yield_call: Some(24),
    }
}

fn timeline_of(rings: &[Bytes], settings: &TimelineSettings) -> Timeline {
    let mut decoded = Decoded::default();
    for (cpu, bytes) in (0..).zip(rings) {
        bytes.decode(&layouts(), cpu, &mut decoded);
    }
    decoded.sort();
    timeline(&decoded.events, settings)
}

fn full(rings: &[Bytes]) -> Timeline {
    timeline_of(rings, &settings())
}

fn states(thread: &Thread) -> Vec<(u64, State)> {
    let segments = thread.segments.iter();
    segments.map(|segment| (segment.from_ns, segment.state)).collect()
}

fn blocked(call: Option<u32>) -> State {
    State::Blocked { call, uninterruptible: false }
}

const IDLE: (u32, &str) = (0, "swapper");
const ME: (u32, &str) = (1, "me");
const READ: i64 = 0;
const RUNNING: State = State::Running(0);
use State::{BlockedOrRunnable, Lost, Runnable, Unknown};

#[test]
fn a_call_blocks_and_a_wake_up_ends_it() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .enter(200, 1, READ, [3, 4, 5, 0, 0, 0])
        .switch(300, 1, 1, IDLE)
        .waking(400, 0, 2, 1)
        .switch(500, 0, 0, ME)
        .returns(600, 1, READ, 5);
    let timeline = full(&[ring]);
    let thread = &timeline.threads[0];
    let wanted =
        [(0, Unknown), (100, RUNNING), (300, blocked(Some(0))), (400, Runnable), (500, RUNNING)];
    assert_eq!(states(thread), wanted);
    let call =
        Call { from_ns: 200, to_ns: 600, number: 0, arguments: [3, 4, 5], returned: Some(5) };
    assert_eq!(thread.calls, [call]);
    assert_eq!(timeline.wakeups[0].by, Some(2));
    assert_eq!(timeline.losses, Losses::default());
}

#[test]
fn ready_threads_were_preempted_or_yielded() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .switch(200, 1, 0x100, (7, "hog"))
        .switch(300, 7, 0, ME)
        .enter(310, 1, 24, [0; 6])
        .switch(400, 1, 0, (7, "hog"))
        .switch(500, 7, 0, ME)
        .returns(510, 1, 24, 0)
        .switch(600, 1, 0, IDLE)
        .switch(700, 0, 0, ME)
        .switch(800, 1, 4, IDLE);
    let wanted = [
        (0, Unknown),
        (100, RUNNING),
        (200, State::Preempted(7)),
        (300, RUNNING),
        (400, State::Yielded),
        (500, RUNNING),
        (600, State::Preempted(0)),
        (700, RUNNING),
        (800, State::Stopped),
    ];
    assert_eq!(states(&full(&[ring]).threads[0]), wanted);
    // Where calls are not recorded, only what the kernel preempts is certain.
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .switch(200, 1, 0x100, (7, "hog"))
        .switch(300, 7, 0, ME)
        .switch(400, 1, 0, (7, "hog"));
    let without = TimelineSettings { calls: false, ..settings() };
    let timeline = timeline_of(&[ring], &without);
    let states = states(&timeline.threads[0]);
    assert_eq!(states[2], (200, State::Preempted(7)));
    assert_eq!(states[4], (400, State::PreemptedOrYielded));
}

#[test]
fn a_thread_woken_while_it_leaves_was_never_blocked() {
    let waker = Bytes::default().waking(290, 0, 2, 1);
    let ring = Bytes::default().switch(100, 0, 0, ME).switch(300, 1, 1, IDLE).switch(500, 0, 0, ME);
    let timeline = full(&[ring, waker]);
    let wanted = [(0, Unknown), (100, RUNNING), (300, Runnable), (500, RUNNING)];
    assert_eq!(states(&timeline.threads[0]), wanted);
    // A wake-up of a thread that goes on running says nothing of a later block.
    let waker = Bytes::default().waking(200, 0, 2, 1);
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .enter(250, 1, READ, [0; 6])
        .switch(300, 1, 1, IDLE)
        .switch(500, 0, 0, ME);
    let timeline = full(&[ring, waker]);
    assert_eq!(states(&timeline.threads[0])[2], (300, BlockedOrRunnable));
    let waker = Bytes::default().waking(200, 0, 2, 1).waking(400, 0, 2, 1);
    let ring = Bytes::default().switch(100, 0, 0, ME).switch(300, 1, 1, IDLE).switch(500, 0, 0, ME);
    let timeline = full(&[ring, waker]);
    assert_eq!(states(&timeline.threads[0])[2..4], [(300, blocked(None)), (400, Runnable)]);
}

#[test]
fn a_wake_up_that_is_missing_is_not_invented() {
    let ring = Bytes::default().switch(100, 0, 0, ME).switch(300, 1, 2, IDLE).switch(500, 0, 0, ME);
    let timeline = full(&[ring]);
    let wanted = [(0, Unknown), (100, RUNNING), (300, BlockedOrRunnable), (500, RUNNING)];
    assert_eq!(states(&timeline.threads[0]), wanted);
}

#[test]
fn a_break_of_the_chain_is_a_gap() {
    // Its switch out is missing: 7 is switched out next.
    let out = Bytes::default().switch(100, 0, 0, ME).switch(400, 7, 1, IDLE);
    let timeline = full(&[out]);
    assert_eq!(states(&timeline.threads[0]), [(0, Unknown), (100, Lost)]);
    let broken = Losses { breaks: 1, ..Losses::default() };
    assert_eq!(timeline.losses, broken);
    assert_eq!(timeline.cpus[0].lost, [(100, 400)]);
    // Its switch in is missing: the idle task was switched in before.
    let ring =
        Bytes::default().switch(100, 0, 0, ME).switch(200, 1, 1, IDLE).switch(400, 1, 1, IDLE);
    let timeline = full(&[ring]);
    let wanted = [(0, Unknown), (100, RUNNING), (200, Lost), (400, blocked(None))];
    assert_eq!(states(&timeline.threads[0]), wanted);
    assert_eq!(timeline.losses, broken);
}

#[test]
fn a_thread_is_on_one_cpu() {
    // It left the first at an unknown time.
    let first = Bytes::default().switch(100, 0, 0, ME);
    let second = Bytes::default().switch(300, 0, 0, ME);
    let timeline = full(&[first, second]);
    let wanted = [(0, Unknown), (100, Lost), (300, State::Running(1))];
    assert_eq!(states(&timeline.threads[0]), wanted);
}

#[test]
fn breaks_between_others_change_nothing() {
    let ring = Bytes::default().switch(100, 0, 0, (7, "other")).switch(200, 8, 1, IDLE);
    let timeline = full(&[ring]);
    assert_eq!(states(&timeline.threads[0]), [(0, Unknown)]);
    assert_eq!((timeline.losses.breaks, timeline.losses.repaired), (1, 1));
}

#[test]
fn lost_records_leave_nothing_certain() {
    // While running on the CPU whose records are lost, until it shows itself.
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .enter(200, 1, READ, [0; 6])
        .lost(400, 9)
        .returns(500, 1, READ, 0)
        .switch(600, 1, 1, IDLE);
    let timeline = full(&[ring]);
    let wanted = [(0, Unknown), (100, RUNNING), (200, Lost), (500, RUNNING), (600, blocked(None))];
    assert_eq!(states(&timeline.threads[0]), wanted);
    assert_eq!(timeline.losses.records, 9);
    // What is counted as lost is no break as well.
    let ring =
        Bytes::default().switch(100, 0, 0, (7, "other")).lost(400, 2).switch(500, 8, 1, IDLE);
    assert_eq!(full(&[ring]).losses.breaks, 0);
    assert_eq!(timeline.cpus[0].lost, [(200, 400)]);
    // Off CPU, it could have run there.
    let other = Bytes::default().waking(300, 0, 5, 6).lost(400, 1);
    let ring = || {
        Bytes::default()
            .switch(100, 0, 0, ME)
            .switch(200, 1, 1, IDLE)
            .waking(450, 0, 5, 1)
            .switch(500, 0, 0, ME)
    };
    let timeline = full(&[ring(), other]);
    let wanted = [
        (0, Unknown),
        (100, RUNNING),
        (200, blocked(None)),
        (300, Lost),
        (450, Runnable),
        (500, RUNNING),
    ];
    assert_eq!(states(&timeline.threads[0]), wanted);
    // On another CPU, it could not have left that without a record.
    let other = Bytes::default().waking(120, 0, 5, 6).lost(180, 1);
    let timeline = full(&[ring(), other]);
    assert_eq!(states(&timeline.threads[0])[1..3], [(100, RUNNING), (200, blocked(None))]);
}

#[test]
fn a_thread_that_sleeps_at_the_beginning() {
    let asleep = |thread| Event {
        at_ns: 50,
        cpu: 0,
        what: What::Asleep { thread, call: Some(35), uninterruptible: false },
    };
    let states_of = |ring: Bytes| {
        let mut decoded = Decoded::default();
        ring.decode(&layouts(), 0, &mut decoded);
        decoded.events.push(asleep(1));
        decoded.sort();
        states(&timeline(&decoded.events, &settings()).threads[0])
    };
    let slept = (0, blocked(Some(35)));
    assert_eq!(states_of(Bytes::default()), [slept]);
    let woken = Bytes::default().waking(400, 0, 2, 1);
    assert_eq!(states_of(woken), [slept, (400, Runnable)]);
    // It was woken while /proc was read.
    let woken = Bytes::default().waking(40, 0, 2, 1).switch(90, 0, 0, ME);
    assert_eq!(states_of(woken), [(0, Unknown), (40, Runnable), (90, RUNNING)]);
}

#[test]
fn threads_begin_and_end() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .fork(200, 1, 2, 1)
        .switch(300, 1, 0x100, (2, "me"))
        .exit(400, 2)
        .switch(450, 2, 0x10, ME)
        // The number is used again, by a process.
        .fork(500, 2, 2, 1)
        .switch(600, 1, 1, (2, "me"))
        .exec(650, 2, "prog");
    let timeline = full(&[ring]);
    let [_, first, second] = &timeline.threads[..] else {
        panic!("{:?}", timeline.threads);
    };
    assert_eq!(states(first), [(200, Runnable), (300, RUNNING)]);
    assert_eq!((first.process, first.to_ns, first.ended), (1, 450, true));
    assert_eq!(first.created_by, Some(1));
    assert_eq!(states(second), [(500, Runnable), (600, RUNNING)]);
    assert_eq!((second.process, second.name.as_str()), (2, "prog"));
    assert_eq!((second.to_ns, second.ended), (1000, false));
}

#[test]
fn the_trace_of_a_command_begins_with_its_program() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .exec(200, 1, "prog")
        .returns(250, 1, 59, 0)
        .enter(300, 1, READ, [0; 6])
        .switch(400, 1, 1, IDLE);
    let timeline = full(&[ring]);
    let thread = &timeline.threads[0];
    assert_eq!(timeline.began_ns, 200);
    assert_eq!(states(thread), [(0, RUNNING), (200, blocked(Some(0)))]);
    assert_eq!((thread.from_ns, thread.to_ns), (0, 800));
    // The call that it is in at the end has not returned.
    assert_eq!(thread.calls.len(), 1);
    assert_eq!(thread.calls[0].from_ns, 100);
    assert_eq!(thread.calls[0].returned, None);
    // execve itself began before.
    assert_eq!(timeline.losses, Losses::default());
}

#[test]
fn calls_that_lack_an_end_are_counted() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .enter(200, 1, READ, [0; 6])
        .enter(300, 1, 1, [0; 6])
        .returns(400, 1, 1, 0)
        .returns(500, 1, 1, 0);
    let timeline = full(&[ring]);
    assert_eq!(timeline.losses.unpaired_calls, 2);
    assert_eq!(timeline.threads[0].calls.len(), 1);
    // Before the recording has begun, one end may be recorded without the other.
    let later = TimelineSettings { from_ns: 600, ..settings() };
    let ring = Bytes::default()
        .enter(200, 1, READ, [0; 6])
        .enter(300, 1, 1, [0; 6])
        .returns(400, 1, 1, 0)
        .returns(500, 1, 1, 0);
    assert_eq!(timeline_of(&[ring], &later).losses.unpaired_calls, 0);
}

#[test]
fn own_records_alone_tell_ready_from_blocked_when_it_leaves() {
    let own = TimelineSettings { scheduler: false, calls: false, ..settings() };
    let ring = Bytes::default()
        .own_switch(100, 1, false, false)
        .fork(150, 1, 2, 1)
        .own_switch(200, 1, true, false)
        .own_switch(210, 2, false, false)
        .own_switch(400, 1, false, false)
        .own_switch(500, 1, true, true)
        .exit(600, 2);
    let timeline = timeline_of(&[ring], &own);
    let wanted = [
        (0, Unknown),
        (100, RUNNING),
        (200, BlockedOrRunnable),
        (400, RUNNING),
        (500, State::PreemptedOrYielded),
    ];
    assert_eq!(states(&timeline.threads[0]), wanted);
    // It ran when the recording began.
    let out = Bytes::default().own_switch(100, 1, true, false);
    let first = &timeline_of(&[out], &own).threads[0];
    assert_eq!(states(first), [(0, Unknown), (100, BlockedOrRunnable)]);
    let second = &timeline.threads[1];
    assert_eq!(states(second), [(150, Runnable), (210, RUNNING)]);
    assert!(second.ended && second.to_ns == 600);
    assert!(timeline.cpus.is_empty());
    assert_eq!(timeline.losses, Losses::default());
}

#[test]
fn records_of_all_threads_begin_those_of_traced_ones_only() {
    let settings = TimelineSettings { tasks_of_all: true, ..settings() };
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .fork(110, 50, 50, 40)
        .exec(120, 50, "other")
        .fork(130, 1, 2, 1)
        .exit(140, 40)
        .exit(150, 2)
        // Another process has the number before its last switch is recorded.
        .exec(160, 2, "other")
        .fork(170, 60, 60, 2);
    let timeline = timeline_of(&[ring], &settings);
    let ids: Vec<u32> = timeline.threads.iter().map(|thread| thread.id).collect();
    assert_eq!(ids, [1, 2]);
    assert_ne!(timeline.threads[1].name, "other");
}

#[test]
fn interrupts_are_kept_by_cpu() {
    let (timer, device) = (InterruptKind::Timer, InterruptKind::Device);
    let interrupt = |at_ns, cpu, kind| Event { at_ns, cpu, what: What::Interrupt(kind) };
    let events = [
        interrupt(100, 0, timer),
        interrupt(150, 1, device),
        interrupt(200, 0, device),
        interrupt(1001, 0, timer),
    ];
    let timeline = timeline(&events, &settings());
    let of = |cpu: usize| -> Vec<(u64, InterruptKind)> {
        let interrupts = timeline.cpus[cpu].interrupts.iter();
        interrupts.map(|&interrupt| interrupt.into()).collect()
    };
    assert_eq!(of(0), [(100, timer), (200, device)], "within the recording");
    assert_eq!(of(1), [(150, device)]);
}

#[test]
fn where_the_end_is_shown_nothing_lies_outside_of_it() {
    let end = TimelineSettings { shown_from_ns: Some(300), ..settings() };
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .fork(110, 1, 2, 1)
        .enter(120, 1, READ, [0; 6])
        .waking(130, 0, 1, 2)
        .fault(140, 1, 4096, 0)
        .returns(290, 1, READ, 0)
        .switch(295, 1, 0x100, (2, "me"))
        .exit(297, 2)
        // It has ended when that begins.
        .switch(300, 2, 0x10, ME)
        .fault(300, 1, 8192, 0)
        .waking(300, 0, 5, 1)
        .enter(400, 1, READ, [0; 6])
        .returns(450, 1, READ, 0)
        .fault(1000, 1, 12288, 0)
        .fault(1001, 1, 16384, 0);
    let timeline = timeline_of(&[ring], &end);
    assert_eq!(timeline.began_ns, 300);
    let [thread] = &timeline.threads[..] else {
        panic!("{:?}", timeline.threads);
    };
    assert_eq!((thread.id, thread.from_ns, thread.to_ns), (1, 0, 700));
    assert_eq!(states(thread), [(0, RUNNING)]);
    let faults = thread.faults.iter().map(|fault| fault.at_ns);
    assert_eq!(faults.collect::<Vec<_>>(), [0, 700]);
    let calls = thread.calls.iter().map(|call| (call.from_ns, call.to_ns));
    assert_eq!(calls.collect::<Vec<_>>(), [(100, 150)]);
    let wakeups = timeline.wakeups.iter().map(|one| (one.at_ns, one.thread));
    assert_eq!(wakeups.collect::<Vec<_>>(), [(0, 1)]);
    let switches = timeline.cpus[0].switches.iter().map(|one| one.at_ns);
    assert_eq!(switches.collect::<Vec<_>>(), [0]);
}

#[test]
fn a_page_fault_lasts_from_its_begin_to_its_end() {
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .fault(110, 1, 0x1008, 6)
        .served(120, 1, 0x1008, false)
        // It waits for its page.
        .fault(130, 1, 0x2000, 4)
        .switch(140, 1, 2, IDLE)
        .waking(150, 0, 2, 1)
        .switch(160, 0, 0, ME)
        .served(170, 1, 0x2fff, true)
        // Without memory there.
        .fault(180, 1, 0x3000, 4)
        .fault(190, 1, 0x4000, 4)
        // An end of another page, which has no begin.
        .served(200, 1, 0x5000, false)
        .fault(210, 1, 0x6000, 4);
    let timeline = full(&[ring]);
    let faults = timeline.threads[0].faults.iter();
    let faults: Vec<_> = faults.map(|one| (one.at_ns, one.address, one.served)).collect();
    let served = |to_ns, major| Some(ServedFault { to_ns, major });
    assert_eq!(
        faults,
        [
            (110, 0x1008, served(120, false)),
            (130, 0x2000, served(170, true)),
            (180, 0x3000, None),
            (190, 0x4000, None),
            (200, 0x5000, None),
            (210, 0x6000, None),
        ]
    );
}

#[test]
fn a_page_fault_ends_when_the_kernel_counts_it() {
    let [served, major] = [2, 3];
    let ring = Bytes::default()
        .switch(100, 0, 0, ME)
        .fault(110, 1, 0x1008, 6)
        // Something else that is counted.
        .fault_count(115, 1, 0)
        .fault_count(120, 1, served)
        // It waits for its page.
        .fault(130, 1, 0x2000, 4)
        .fault_count(135, 1, major)
        .switch(140, 1, 2, IDLE)
        .waking(150, 0, 2, 1)
        .switch(160, 0, 0, ME)
        .fault_count(170, 1, served)
        // Without memory there. What the kernel reads in a call is no fault of the thread's.
        .fault(180, 1, 0x3000, 4)
        .enter(185, 1, READ, [0; 6])
        .fault_count(190, 1, served)
        .returns(195, 1, READ, 0)
        .fault(200, 1, 0x4000, 4)
        .fault_count(210, 1, served);
    let timeline = full(&[ring]);
    let faults = timeline.threads[0].faults.iter();
    let faults: Vec<_> = faults.map(|one| (one.at_ns, one.address, one.served)).collect();
    let served = |to_ns, major| Some(ServedFault { to_ns, major });
    assert_eq!(
        faults,
        [
            (110, 0x1008, served(120, false)),
            (130, 0x2000, served(170, true)),
            (180, 0x3000, None),
            (200, 0x4000, served(210, false)),
        ]
    );
}
