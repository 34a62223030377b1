//! What a job is to do, and what it says to its controller: that it is ready, what it did, and then the
//! blocks of each thread; and what follows from them.

use crate::records::{BlockRecord, Records};
use model::machine::CoreKind;
use model::qos::{Codec, JobRun, Part, Setting};
use model::residency::{Residency, residency};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::PathBuf;
use sys::role::frame;

/// What a job is to do.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct JobOrder {
    /// What to compress.
    pub file: PathBuf,
    pub block_bytes: u64,
    /// Blocks to compress, beginning anew at the end of the file.
    pub blocks: u64,
    /// Time after which no more blocks begin, ns.
    pub for_ns: Option<u64>,
    pub codec: Codec,
    /// Most operations at once.
    pub operations: u32,
    /// What the level is made of.
    pub settings: Vec<Setting>,
    /// Whether each block is decompressed and compared.
    pub verify: bool,
}

/// The first message.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum Hello {
    /// It waits for its start at this level.
    Ready(Vec<Part>),
    /// It can't.
    Failed(String),
}

/// The second message.
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
    /// Threads whose blocks follow.
    pub threads: u16,
}

/// A job that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndedJob {
    /// What it said.
    pub report: Report,
    /// Its blocks, by thread.
    pub threads: Vec<Records>,
}

impl EndedJob {
    /// From everything after the first message.
    ///
    /// # Errors
    /// A connection that fails, or is closed before the end.
    pub fn receive(mut sent: &mut dyn Read) -> io::Result<EndedJob> {
        let report: Option<Report> = frame::receive(&mut sent)?;
        let report = report.ok_or(io::ErrorKind::UnexpectedEof)?;
        let threads = (0..report.threads).map(|thread| Records::receive(thread, &mut sent));
        Ok(EndedJob { threads: threads.collect::<io::Result<_>>()?, report })
    }

    fn records(&self) -> impl Iterator<Item = BlockRecord> + '_ {
        self.threads.iter().flat_map(Records::iter)
    }

    /// When its last block was compressed.
    pub fn end_ns(&self) -> Option<u64> {
        self.records().map(|record| record.end_ns).max()
    }

    /// What it was in a run that began at `go_ns` and in which all jobs ran
    /// until `first_end_ns`. Of a block that reaches beyond, CPU time counts by
    /// the part of its time that lies before.
    pub fn job_run(&self, go_ns: u64, first_end_ns: u64, tenths: bool) -> JobRun {
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
        for record in self.records() {
            run.cpu_ns += record.cpu_ns;
            run.together_cpu_ns += before(&record, first_end_ns);
        }
        if tenths && run.wall_ns > 0 {
            run.tenths = self.tenths(go_ns, run.wall_ns);
        }
        run
    }

    /// Where it ran, of the CPUs that were allowed.
    pub fn residency(&self, kinds: &[CoreKind], allowed: &[u32]) -> Residency {
        residency(self.records().map(|record| record.block()), kinds, Some(allowed))
    }

    /// Throughput in each tenth of the time, bytes per second; a block counts
    /// where it ended.
    fn tenths(&self, go_ns: u64, wall_ns: u64) -> Vec<f64> {
        let mut ended = [0_u64; 10];
        for record in self.records() {
            let at = record.end_ns.saturating_sub(go_ns) * 10 / wall_ns;
            ended[(at as usize).min(9)] += 1;
        }
        let blocks: u64 = ended.iter().sum();
        let bytes = self.report.bytes as f64 / blocks.max(1) as f64;
        let tenth_s = wall_ns as f64 / 10.0 / 1e9;
        ended.map(|n| n as f64 * bytes / tenth_s).to_vec()
    }
}

/// CPU time of a block up to a moment.
fn before(record: &BlockRecord, until_ns: u64) -> u64 {
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

    /// Blocks of a thread: end, CPU time and CPUs of each.
    fn blocks(of: &[(u64, u64, [u16; 2])]) -> Records {
        let mut records = Records::default();
        records.begin_thread(0, 1000);
        for &(end_ns, cpu_ns, [from_cpu, to_cpu]) in of {
            records.push(&BlockRecord {
                end_ns,
                cpu_ns,
                most_moves: Some(0),
                from_cpu,
                to_cpu,
                additions_ns: 1000,
                ..BlockRecord::default()
            });
        }
        records
    }

    #[test]
    fn a_report_that_is_cut_is_none() {
        let report = Report { threads: 2, ..Report::default() };
        let mut bytes = Vec::new();
        frame::send(&mut bytes, &report).expect("memory");
        let records = blocks(&[(1007, 6, [3, 3])]);
        records.send(&mut bytes).expect("memory");
        assert!(EndedJob::receive(&mut &bytes[..]).is_err(), "one of two threads");
        records.send(&mut bytes).expect("memory");
        let ended = EndedJob::receive(&mut &bytes[..]).expect("whole");
        let threads: Vec<u16> = ended.records().map(|record| record.thread).collect();
        assert_eq!(threads, [0, 1]);
        assert!(EndedJob::receive(&mut &b""[..]).is_err());
    }

    #[test]
    fn cpu_time_while_both_ran() {
        let ended = EndedJob {
            report: Report { bytes: 300, ..Report::default() },
            threads: vec![blocks(&[(1100, 90, [0, 0]), (1300, 100, [0, 1]), (1400, 80, [1, 1])])],
        };
        let run = ended.job_run(1000, 1200, true);
        assert_eq!(run.wall_ns, 400);
        assert_eq!(run.cpu_ns, 270);
        // The second block by half, the third not at all.
        assert_eq!(run.together_cpu_ns, 90 + 50);
        let alike =
            CoreKind { name: "only kind".into(), cpus: vec![0, 1], capacity: None, max_hz: None };
        let places = ended.residency(&[alike], &[0, 1]);
        let on: Vec<(u32, u64)> = places.cpus.iter().map(|on| (on.cpu, on.work.cpu_ns)).collect();
        assert_eq!(on, [(0, 90), (1, 80)], "the second block moved");
        assert_eq!(places.cpus[0].clock_hz, Some(4_096_000_000));
        assert_eq!(places.all.cpu_ns, 270);
        let all: f64 = run.tenths.iter().sum();
        assert!((all * 40e-9 - 300.0).abs() < 1e-6, "{all}");
        assert_eq!(ended.job_run(1000, 9999, false).together_cpu_ns, 270);
    }
}
