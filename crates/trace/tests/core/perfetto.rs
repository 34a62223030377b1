//! What Perfetto gets, read back field by field.

use crate::anything;
use crate::ring::{Bytes, layouts};
use model::trace::{Clocks, Losses, Trace};

/// The fields of a message: numbers, and the bytes of what is within.
fn fields(mut bytes: &[u8]) -> Vec<(u32, Field<'_>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = bytes.split_first().expect("a whole number");
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let number = u32::try_from(tag >> 3).expect("a field");
        all.push((
            number,
            match tag & 7 {
                0 => Field::Number(varint(&mut bytes)),
                2 => {
                    let length = usize::try_from(varint(&mut bytes)).expect("short");
                    let (within, rest) = bytes.split_at(length);
                    bytes = rest;
                    Field::Bytes(within)
                }
                other => panic!("wire type {other}"),
            },
        ));
    }
    all
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            Field::Number(number) => panic!("the number {number}"),
        }
    }
}

fn fields_numbered<'a>(bytes: &'a [u8], number: u32) -> Vec<Field<'a>> {
    let of = fields(bytes).into_iter().filter(|(of, _)| *of == number);
    of.map(|(_, field)| field).collect()
}

/// The packets, which the file has in compressed blocks.
fn written(trace: &Trace) -> Vec<u8> {
    const COMPRESSED: u32 = 50;
    let mut bytes = Vec::new();
    trace::perfetto::write_perfetto(trace, &mut bytes).expect("to memory");
    let blocks = fields_numbered(&bytes, 1).into_iter();
    let blocks = blocks.map(|block| {
        let block = fields_numbered(block.bytes(), COMPRESSED)[0].bytes();
        miniz_oxide::inflate::decompress_to_vec_zlib(block).expect("a stream")
    });
    blocks.collect::<Vec<_>>().concat()
}

#[test]
fn switches_have_the_stamps_and_states_of_the_kernel() {
    let ring = Bytes::default()
        .switch(100, 0, 0, (1, "me"))
        .enter(110, 1, 39, [7, 0, 0, 0, 0, 0])
        .returns(120, 1, 39, -4)
        .switch(150, 1, 0x102, (8, "other"))
        .waking(160, 0, 8, 1);
    let trace = Trace {
        began: Clocks { raw_ns: 1 << 40, boot_ns: 2 << 40, real_ns: 3 << 40 },
        call_names: [(39, "getppid".to_owned())].into(),
        ..anything::trace(&layouts(), &[ring], true)
    };
    assert_eq!(trace.losses, Losses::default());
    let bytes = written(&trace);
    let packets: Vec<&[u8]> = fields_numbered(&bytes, 1).into_iter().map(Field::bytes).collect();
    assert_eq!(packets.len(), fields(&bytes).len(), "packets and nothing else");
    let bundles: Vec<&[u8]> =
        packets.iter().flat_map(|packet| fields_numbered(packet, 1)).map(Field::bytes).collect();
    // New threads, and those of the CPU.
    let [_, bundle] = bundles[..] else {
        panic!("{bundles:?}");
    };
    // CPU 0, CLOCK_MONOTONIC_RAW.
    assert_eq!(fields_numbered(bundle, 1), [Field::Number(0)]);
    assert_eq!(fields_numbered(bundle, 5), [Field::Number(4)]);
    let events = fields_numbered(bundle, 2);
    let second = events[1].bytes();
    assert_eq!(fields_numbered(second, 1), [Field::Number((1 << 40) + 150)]);
    let switch = fields_numbered(second, 4)[0].bytes();
    let numbers = [2, 4, 6].map(|number| fields_numbered(switch, number)[0]);
    assert_eq!(numbers, [1, 0x102, 8].map(Field::Number));
    assert_eq!(fields_numbered(events[2].bytes(), 20).len(), 1, "a wake-up");
    // The call: begin with its name, end with what it returned.
    let events: Vec<&[u8]> =
        packets.iter().flat_map(|packet| fields_numbered(packet, 11)).map(Field::bytes).collect();
    let kinds: Vec<Field<'_>> = events.iter().flat_map(|event| fields_numbered(event, 9)).collect();
    assert_eq!(kinds, [Field::Number(1), Field::Number(2)]);
    let returned = fields_numbered(events[1], 4)[0].bytes();
    assert_eq!(fields_numbered(returned, 4), [Field::Number((-4_i64).cast_unsigned())]);
    assert!(bytes.windows(7).any(|part| part == b"getppid"));
}

#[test]
fn missing_records_are_marked() {
    let ring = Bytes::default().switch(100, 0, 0, (1, "me")).switch(150, 8, 1, (0, ""));
    let trace = anything::trace(&layouts(), &[ring], true);
    let bytes = written(&trace);
    assert!(bytes.windows(15).any(|part| part == b"records missing"));
    // On a track that is named before: Perfetto shows no other.
    let packets = fields_numbered(&bytes, 1).into_iter().map(Field::bytes);
    let packets: Vec<&[u8]> = packets.collect();
    let place = |field| packets.iter().position(|one| !fields_numbered(one, field).is_empty());
    let [described, event] = [60, 11].map(|field| place(field).expect("a packet"));
    assert!(described < event);
    let [track, event] = [(60, described), (11, event)]
        .map(|(field, place)| fields_numbered(packets[place], field)[0].bytes());
    assert_eq!(fields_numbered(track, 2), [Field::Bytes(b"CPU 0")]);
    assert_eq!(fields_numbered(track, 1), fields_numbered(event, 11));
}

/// The clocks of a snapshot: their numbers, as `clock_gettime(2)` and Perfetto's own documentation
/// have them (64 and above: of a sequence), and what they showed; and the one that stamps.
fn snapshot(packet: &[u8]) -> Option<(Vec<(u64, u64)>, Field<'_>)> {
    let number = |field: Option<&Field<'_>>| match field {
        Some(Field::Number(number)) => *number,
        other => panic!("{other:?}"),
    };
    let snapshot = fields_numbered(packet, 6).first()?.bytes();
    let clocks = fields_numbered(snapshot, 1).into_iter().map(Field::bytes);
    let clocks = clocks.map(|clock| {
        let of = |field| number(fields_numbered(clock, field).first());
        (of(1), of(2))
    });
    Some((clocks.collect(), fields_numbered(snapshot, 2)[0]))
}

#[test]
fn the_clocks_are_those_of_the_beginning() {
    const REALTIME: u64 = 1;
    const MONOTONIC_RAW: u64 = 5;
    const BOOTTIME: u64 = 6;
    let ring = Bytes::default().switch(100, 0, 0, (1, "me"));
    let trace = Trace {
        began: Clocks { raw_ns: 1 << 40, boot_ns: 2 << 40, real_ns: 3 << 40 },
        ..anything::trace(&layouts(), &[ring], true)
    };
    let bytes = written(&trace);
    let packets: Vec<&[u8]> = fields_numbered(&bytes, 1).into_iter().map(Field::bytes).collect();
    let snapshots: Vec<_> = packets.iter().filter_map(|packet| snapshot(packet)).collect();
    let (mut clocks, stamps) = snapshots[0].clone();
    clocks.sort_unstable();
    assert_eq!(clocks, [(REALTIME, 3 << 40), (MONOTONIC_RAW, 1 << 40), (BOOTTIME, 2 << 40)]);
    assert!(snapshots.iter().all(|(_, stamps)| *stamps == Field::Number(MONOTONIC_RAW)));
    assert_eq!(stamps, Field::Number(MONOTONIC_RAW));
    // What a packet without a clock of its own is stamped by.
    let defaults = fields_numbered(packets[0], 59)[0].bytes();
    assert_eq!(fields_numbered(defaults, 58), [Field::Number(MONOTONIC_RAW)]);
}
