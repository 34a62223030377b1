//! Bytes into events.

use crate::ring::{Bytes, layouts};
use model::trace::{Access, InterruptKind};
use trace::decode::{Decoded, Layouts, Samples, Tracepoint};
use trace::event::{Event, What, text_of};

fn decoded(bytes: &Bytes) -> Decoded {
    let mut decoded = Decoded::default();
    bytes.decode(&layouts(), 3, &mut decoded);
    decoded.sort();
    decoded
}

#[test]
fn each_event_is_read_by_its_description() {
    let bytes = Bytes::default()
        .switch(10, 7, 0x100, (8, "other"))
        .waking(20, 0, 8, 7)
        .waking(21, 0x08, 8, 7)
        .waking(22, 0, 0, 7)
        .enter(30, 8, 202, [1, 2, 3, 4, 5, 6])
        .returns(40, 8, 202, -11)
        .fault(50, 8, 0x7fff_0000_1000, 0x6)
        .fault(51, 8, 0x40_0000, 0x14)
        .served(52, 8, 0x40_0000, false)
        .served(53, 8, 0x40_0000, true)
        .lost(60, 5)
        .own_switch(70, 8, true, true)
        .fork(80, 8, 9, 8)
        .exit(90, 9)
        .exec(95, 9, "prog");
    let mut name = [0; 16];
    name[..4].copy_from_slice(b"prog");
    let waking = |by| What::Waking { thread: 7, by };
    let fault = |address, access| What::Fault { thread: 8, address, access };
    let on_x86 = |access| match cfg!(target_arch = "x86_64") {
        true => access,
        false => Access::Unknown,
    };
    let wanted = [
        (10, What::Switch { out: 7, state: 0x100, into: 8 }),
        (20, waking(Some(8))),
        (21, waking(None)),
        (22, waking(None)),
        (30, What::Enter { thread: 8, number: 202, arguments: [1, 2, 3] }),
        (40, What::Return { thread: 8, returned: -11 }),
        (50, fault(0x7fff_0000_1000, on_x86(Access::Write))),
        (51, fault(0x40_0000, on_x86(Access::Execute))),
        (52, What::Served { thread: 8, address: Some(0x40_0000), major: false }),
        (53, What::Served { thread: 8, address: Some(0x40_0000), major: true }),
        (60, What::Lost(5)),
        (70, What::OwnSwitch { thread: 8, out: true, ready: true }),
        (80, What::Fork { process: Some(8), thread: 9, parent: 8 }),
        (90, What::Exit { thread: 9 }),
        (95, What::Name { process: Some(9), thread: 9, name, exec: true }),
    ];
    let wanted = wanted.map(|(at_ns, what)| Event { at_ns, cpu: 3, what });
    let decoded = decoded(&bytes);
    assert_eq!(decoded.events, wanted);
    assert_eq!(decoded.unread_bytes, 0);
    assert_eq!(text_of(&decoded.names[&8].1), "other");
}

#[test]
fn the_kernels_fields_may_move() {
    // The same tracepoint on a kernel with an int for the state.
    let text = include_str!("../formats/sched_switch.txt")
        .replace("long prev_state;\toffset:32;\tsize:8;", "int prev_state;\toffset:32;\tsize:4;")
        .replace("offset:40;", "offset:36;")
        .replace("next_pid;\toffset:56;", "next_pid;\toffset:52;");
    let mut other = layouts();
    other.add_tracepoint(Tracepoint::Switch, &text).expect("a description");
    let bytes = Bytes::default().switch(10, 7, 1, (8, "other"));
    // With one layout it is this switch, with the other it is not.
    let read = |layouts| {
        let mut decoded = Decoded::default();
        decoded.add_pages(&Samples::Tracepoints(layouts), 0, &bytes.pages());
        decoded.events[0].what
    };
    let wanted = What::Switch { out: 7, state: 1, into: 8 };
    assert_eq!(read(layouts()), wanted);
    assert_ne!(read(other), wanted);
    let lacking = text.replace("next_pid", "next_id");
    assert!(layouts().add_tracepoint(Tracepoint::Switch, &lacking).is_err());
}

#[test]
fn a_tracepoint_that_is_removed_is_not_known() {
    let mut layouts = layouts();
    layouts.remove(Tracepoint::Fault);
    let has = |samples: &Samples| {
        [Tracepoint::Enter, Tracepoint::Fault, Tracepoint::Timer].map(|point| samples.has(point))
    };
    assert_eq!(has(&Samples::Tracepoints(layouts)), [true, false, false]);
    assert_eq!(has(&Samples::Faults), [false; 3]);
}

#[test]
fn without_the_names_of_what_is_counted_no_fault_ends() {
    let mut layouts = Layouts::default();
    assert!(!layouts.set_counted("pgpgin 5\npgfault 1\n"));
    assert!(!layouts.set_counted("pgfault 1\npgmajfault 1\n"));
}

#[test]
fn interrupts_and_probes_are_told_by_their_ids() {
    use InterruptKind::{CallFunction, Device, Reschedule, Timer};
    let text = include_str!("../formats/sys_exit.txt");
    let bytes = Bytes::default().returns(10, 8, 0, 0);
    let read = |layouts: Layouts| {
        let mut decoded = Decoded::default();
        decoded.add_pages(&Samples::Tracepoints(layouts), 3, &bytes.pages());
        decoded.events[0].what
    };
    let kinds = Tracepoint::INTERRUPTS.map(|point| {
        let mut layouts = layouts();
        layouts.add_tracepoint(point, text).expect("a description");
        read(layouts)
    });
    let wanted = [Timer, CallFunction, CallFunction, Reschedule, Device];
    assert_eq!(kinds, wanted.map(What::Interrupt));
    // A probe has no fields but the common ones, which another tracepoint tells.
    let mut probe = layouts();
    probe.add_probe(5, text).expect("a description");
    let passed = What::Probe { thread: 8, name: 5 };
    assert_eq!(read(probe), passed);
}

#[test]
fn what_is_cut_off_is_counted() {
    let bytes = Bytes::default().lost(10, 7).own_switch(20, 8, true, false);
    for length in 1..bytes.0.len() {
        let cut = decoded(&Bytes(bytes.0[..length].to_vec(), Vec::new()));
        let whole = cut.events.len();
        let read: usize = if whole == 1 { 32 } else { 0 };
        assert_eq!(cut.unread_bytes, (length - read) as u64, "{length}");
    }
}

#[test]
fn faults_without_tracepoints() {
    let mut bytes = Bytes::default().own_switch(5, 8, false, false).0;
    bytes.extend(9_u32.to_ne_bytes());
    bytes.extend([0, 0]);
    bytes.extend(32_u16.to_ne_bytes());
    bytes.extend([8_u32, 8].map(u32::to_ne_bytes).concat());
    bytes.extend([6_u64, 4096].map(u64::to_ne_bytes).concat());
    let mut decoded = Decoded::default();
    decoded.add_ring(&Samples::Faults, 0, &bytes);
    let fault = What::Fault { thread: 8, address: 4096, access: Access::Unknown };
    assert_eq!(decoded.events[1].what, fault);
    assert_eq!(decoded.events[1].at_ns, 6);
}
