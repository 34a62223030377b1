//! Records and samples that were made up, whole and broken.

use super::records::*;
use super::samples::*;

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(HEADER_BYTES + body.len()).expect("short");
    let mut bytes = kind.to_ne_bytes().to_vec();
    bytes.extend(misc.to_ne_bytes());
    bytes.extend(length.to_ne_bytes());
    bytes.extend(body);
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[test]
fn each_kind_of_record() {
    let mut bytes = record(FORK, 0, &words(&[10, 10, 12, 11, 77, 0, 10, 11, 78, 0]));
    bytes.extend(record(EXIT, 0, &words(&[10, 1, 12, 1, 79, 0])));
    let lost = [words(&[5, 0, 3, 0]), words(&[80, 0])].concat();
    bytes.extend(record(LOST, 0, &lost));
    let name = [words(&[10, 12]), b"worker\0\0".to_vec(), words(&[10, 12, 81, 0])].concat();
    bytes.extend(record(COMM, MISC_COMM_EXEC, &name));
    let out = MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT;
    bytes.extend(record(SWITCH, out, &words(&[10, 12, 82, 0])));
    bytes.extend(record(SWITCH, 0, &words(&[10, 12, 83, 0])));
    let task = TaskIds { process: 10, thread: 12, parent_process: 10, parent_thread: 11 };
    let ended = TaskIds { parent_process: 1, parent_thread: 1, ..task };
    let switch = |out, ready| Body::Switch { thread: 12, out, ready };
    let name = Body::Name { process: 10, thread: 12, name: b"worker", exec: true };
    let wanted = [
        (77, Body::Fork(task)),
        (79, Body::Exit(ended)),
        (80, Body::Lost(3)),
        (81, name),
        (82, switch(true, true)),
        (83, switch(false, false)),
    ];
    let wanted = wanted.map(|(at_ns, body)| PerfRecord { at_ns: Some(at_ns), body });
    assert_eq!(records(&bytes).collect::<Vec<_>>(), wanted);
}

#[test]
fn memory_that_was_mapped() {
    let mut body = words(&[10, 12]);
    for word in [0x7f00_u64, 4096, 0x1000, 0, 42, 0, 3] {
        body.extend(word.to_ne_bytes());
    }
    body.extend(b"//anon\0\0");
    body.extend(words(&[10, 12, 84, 0]));
    let bytes = record(MMAP2, 0, &body);
    let wanted = PerfRecord {
        at_ns: Some(84),
        body: Body::Map {
            process: 10,
            thread: 12,
            address: 0x7f00,
            bytes: 4096,
            offset: 0x1000,
            inode: 42,
            file: b"//anon",
        },
    };
    assert_eq!(records(&bytes).collect::<Vec<_>>(), [wanted]);
}

#[test]
fn samples() {
    let fault = words(&[10, 12, 91, 0, 4096, 0]);
    let wanted = FaultSample { process: 10, thread: 12, at_ns: 91, address: 4096 };
    assert_eq!(fault_sample(&fault), Some(wanted));
    assert_eq!(served_fault_sample(&fault), None, "its begin");
    let minor = words(&[10, 12, 91, 0, 4096, 0, 3, 0]);
    assert_eq!(served_fault_sample(&minor), Some((wanted, false)));
    let major = words(&[10, 12, 91, 0, 4096, 0, 3, 0, 1, 0]);
    assert_eq!(served_fault_sample(&major), Some((wanted, true)));
    // Tracepoints of 20 and 28 bytes.
    for (length, words_of) in [(20, 8), (28, 10)] {
        let mut body = vec![90, 0, length];
        body.resize(words_of, 0);
        assert_eq!(served_fault_sample(&words(&body)), None);
    }
}

#[test]
fn what_is_cut_off_ends_the_records() {
    let whole = record(EXIT, 0, &words(&[10, 1, 12, 1, 79, 0]));
    for length in 1..whole.len() {
        let bodies: Vec<_> = records(&whole[..length]).map(|r| r.body).collect();
        assert_eq!(bodies, [Body::Malformed(length)], "{length}");
    }
    // A record of no length does not stand still, a short one is not read.
    let none: Vec<_> = records(&[0; 16]).map(|r| r.body).collect();
    assert_eq!(none, [Body::Malformed(16)]);
    for kind in 0..20 {
        let bytes = record(kind, 0, &[0; 4]);
        let bodies: Vec<_> = records(&bytes).map(|r| r.body).collect();
        let sample = Body::Sample(&[0; 4]);
        let wanted = if kind == SAMPLE { sample } else { Body::Other };
        assert_eq!(bodies, [wanted], "{kind}");
    }
}
