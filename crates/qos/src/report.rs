//! What a job says to its controller: a line once it is ready, a line when it is
//! done, and then a record of 36 bytes for each block; and what follows from the
//! records.

use model::machine::CoreKind;
use model::qos::{JobRun, Part};
use model::residency::{Residency, WorkBlock, residency};
use serde::{Deserialize, Serialize};

/// The first line.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum Hello {
    /// It waits for its start at this level.
    Ready(Vec<Part>),
    /// It can't.
    Failed(String),
}

/// The second line.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Why it failed, if it did; what it did until then stands below.
    pub failed: Option<String>,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of the compressed blocks.
    pub compressed_bytes: u64,
    /// Time its threads waited for a CPU, ns.
    pub run_delay_ns: Option<u64>,
    /// Times its threads gave up their CPU.
    pub voluntary: Option<u64>,
    /// Times a CPU was taken from them.
    pub involuntary: Option<u64>,
    /// Times a thread went on on another CPU.
    pub migrations: Option<u64>,
    /// Parts of the level that held at the start, and what they were at the end.
    pub changed: Vec<Part>,
}

/// One block. Times of CLOCK_MONOTONIC_RAW, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// When it was taken from the queue.
    pub begin_ns: u64,
    /// When it was compressed.
    pub end_ns: u64,
    /// CPU time of its thread for it.
    pub cpu_ns: u64,
    /// The thread.
    pub thread: u16,
    /// How often the thread moved at most: its context switches. `None` where they
    /// are not counted by thread.
    pub most_moves: Option<u16>,
    /// CPU at the beginning; [`u16::MAX`] if not known.
    pub from_cpu: u16,
    /// CPU at the end.
    pub to_cpu: u16,
    /// What [`crate::clock::ADDITIONS`] took then, ns; 0 if not known.
    pub additions_ns: u32,
}

/// Bytes of a record.
pub const RECORD_BYTES: usize = 36;
/// Stands for a count that is not known.
const NOT_COUNTED: u16 = u16::MAX;

impl Record {
    /// As it is sent.
    pub fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.begin_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.end_ns.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.cpu_ns.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.thread.to_le_bytes());
        let moves = self.most_moves.unwrap_or(NOT_COUNTED);
        bytes[26..28].copy_from_slice(&moves.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.from_cpu.to_le_bytes());
        bytes[30..32].copy_from_slice(&self.to_cpu.to_le_bytes());
        bytes[32..].copy_from_slice(&self.additions_ns.to_le_bytes());
        bytes
    }

    /// From what was sent; `None` for another length.
    pub fn parse(bytes: &[u8]) -> Option<Record> {
        let eight = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let two = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        if bytes.len() != RECORD_BYTES {
            return None;
        }
        Some(Record {
            begin_ns: eight(0)?,
            end_ns: eight(8)?,
            cpu_ns: eight(16)?,
            thread: two(24)?,
            most_moves: two(26).filter(|&moves| moves != NOT_COUNTED),
            from_cpu: two(28)?,
            to_cpu: two(30)?,
            additions_ns: u32::from_le_bytes(bytes.get(32..)?.try_into().ok()?),
        })
    }

    fn block(&self) -> WorkBlock {
        let [begin_cpu, end_cpu] = [self.from_cpu, self.to_cpu].map(u32::from);
        WorkBlock {
            thread: u32::from(self.thread),
            begin_cpu,
            end_cpu,
            cpu_ns: self.cpu_ns,
            most_moves: self.most_moves.map(u64::from),
            clock_hz: crate::clock::hz(self.additions_ns),
        }
    }
}

/// A job that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// What it said.
    pub report: Report,
    /// Its blocks.
    pub records: Vec<Record>,
}

impl Ended {
    /// From everything after the first line; `None` if it is cut.
    pub fn parse(bytes: &[u8]) -> Option<Ended> {
        let line = bytes.iter().position(|&byte| byte == b'\n')?;
        let records = bytes[line + 1..].chunks(RECORD_BYTES).map(Record::parse);
        Some(Ended {
            report: serde_json::from_slice(&bytes[..line]).ok()?,
            records: records.collect::<Option<_>>()?,
        })
    }

    /// When its last block was compressed.
    pub fn end_ns(&self) -> Option<u64> {
        self.records.iter().map(|record| record.end_ns).max()
    }

    /// What it was in a run that began at `go_ns` and in which all jobs ran
    /// until `first_end_ns`. Of a block that reaches beyond, CPU time counts by
    /// the part of its time that lies before.
    pub fn run(&self, go_ns: u64, first_end_ns: u64, tenths: bool) -> JobRun {
        let report = &self.report;
        let mut run = JobRun {
            wall_ns: self.end_ns().unwrap_or(go_ns).saturating_sub(go_ns),
            bytes: report.bytes,
            run_delay_ns: report.run_delay_ns,
            voluntary: report.voluntary,
            involuntary: report.involuntary,
            migrations: report.migrations,
            changed: report.changed.clone(),
            ..JobRun::default()
        };
        for record in &self.records {
            run.cpu_ns += record.cpu_ns;
            run.together_cpu_ns += before(record, first_end_ns);
        }
        if tenths && run.wall_ns > 0 {
            run.tenths = self.tenths(go_ns, run.wall_ns);
        }
        run
    }

    /// Where it ran, of the CPUs that were allowed.
    pub fn residency(&self, kinds: &[CoreKind], allowed: &[u32]) -> Residency {
        residency(self.records.iter().map(Record::block), kinds, Some(allowed))
    }

    /// Throughput in each tenth of the time, bytes per second; a block counts
    /// where it ended.
    fn tenths(&self, go_ns: u64, wall_ns: u64) -> Vec<f64> {
        let mut ended = [0_u64; 10];
        for record in &self.records {
            let at = record.end_ns.saturating_sub(go_ns) * 10 / wall_ns;
            ended[(at as usize).min(9)] += 1;
        }
        let bytes = self.report.bytes as f64 / self.records.len().max(1) as f64;
        let tenth_s = wall_ns as f64 / 10.0 / 1e9;
        ended.map(|n| n as f64 * bytes / tenth_s).to_vec()
    }
}

/// CPU time of a block up to a moment.
fn before(record: &Record, until_ns: u64) -> u64 {
    let took = record.end_ns.saturating_sub(record.begin_ns);
    let within = until_ns.min(record.end_ns).saturating_sub(record.begin_ns);
    match took {
        0 => 0,
        _ => (record.cpu_ns as f64 * within as f64 / took as f64).round() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(begin_ns: u64, end_ns: u64, cpu_ns: u64, cpus: [u16; 2]) -> Record {
        Record {
            begin_ns,
            end_ns,
            cpu_ns,
            thread: 1,
            most_moves: Some(0),
            from_cpu: cpus[0],
            to_cpu: cpus[1],
            additions_ns: 1000,
        }
    }

    #[test]
    fn records_come_back() {
        let sent = record(1 << 40, (1 << 40) + 7, 6, [3, 8000]);
        assert_eq!(Record::parse(&sent.bytes()), Some(sent));
        assert_eq!(Record::parse(&sent.bytes()[1..]), None);
        let not_counted = Record {
            most_moves: None,
            ..sent
        };
        assert_eq!(Record::parse(&not_counted.bytes()), Some(not_counted));
        let mut bytes = serde_json::to_vec(&Report::default()).expect("a line");
        bytes.push(b'\n');
        bytes.extend(sent.bytes());
        let ended = Ended::parse(&bytes).expect("whole");
        assert_eq!(ended.records, [sent]);
        assert_eq!(Ended::parse(&bytes[..bytes.len() - 1]), None, "cut");
        assert_eq!(Ended::parse(b""), None);
    }

    #[test]
    fn cpu_time_while_both_ran() {
        let ended = Ended {
            report: Report {
                bytes: 300,
                ..Report::default()
            },
            records: vec![
                record(1000, 1100, 90, [0, 0]),
                record(1100, 1300, 100, [0, 1]),
                record(1300, 1400, 80, [1, 1]),
            ],
        };
        let run = ended.run(1000, 1200, true);
        assert_eq!(run.wall_ns, 400);
        assert_eq!(run.cpu_ns, 270);
        // The second block by half, the third not at all.
        assert_eq!(run.together_cpu_ns, 90 + 50);
        let alike = CoreKind {
            name: "only kind".into(),
            cpus: vec![0, 1],
            capacity: None,
            max_hz: None,
        };
        let places = ended.residency(&[alike], &[0, 1]);
        let on: Vec<(u32, u64)> = places
            .cpus
            .iter()
            .map(|on| (on.cpu, on.work.cpu_ns))
            .collect();
        assert_eq!(on, [(0, 90), (1, 80)], "the second block moved");
        assert_eq!(places.cpus[0].clock_hz, Some(4_096_000_000));
        assert_eq!(places.all.cpu_ns, 270);
        let all: f64 = run.tenths.iter().sum();
        assert!((all * 40e-9 - 300.0).abs() < 1e-6, "{all}");
        assert_eq!(ended.run(1000, 9999, false).together_cpu_ns, 270);
    }
}
