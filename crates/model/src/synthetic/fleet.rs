//! Made-up runs of a campaign on many hosts, marked so in their host names' system and their program's version.

use super::{row, run};
use crate::campaign::Job;
use crate::fleet::counted;
use crate::fleet::{Figures, Fleet};
use crate::machine::{Fact, Machine};
use crate::run::{Outcome, Row, Run};
use crate::summary::{KeptResult, KeptRun};
use std::path::PathBuf;

/// A source of numbers that look random, the same for a seed everywhere (Steele, Lea, Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of the normal distribution.
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (self.share().max(1e-300), self.share());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// How many hosts, rows and repetitions, and what hosts and repetitions differ by.
#[derive(Clone, Debug)]
pub struct Made {
    /// Hosts.
    pub hosts: usize,
    /// Rows.
    pub rows: usize,
    /// Repetitions on each.
    pub repetitions: u32,
    /// Standard deviation of a row's logarithm over hosts.
    pub between: f64,
    /// The same over the repetitions of a host.
    pub within: f64,
    /// Which of all such fleets.
    pub seed: u64,
}

impl Made {
    /// Hosts alike but for 1 %, repetitions but for 0.3 %.
    pub fn new(hosts: usize, rows: usize, repetitions: u32) -> Made {
        Made { hosts, rows, repetitions, between: 0.01, within: 0.003, seed: 1 }
    }

    /// The name of a host.
    pub fn host(at: usize) -> String {
        format!("n{:03}", at + 1)
    }

    /// The id of a row: each group has 25.
    pub fn row(at: usize) -> String {
        const GROUPS: [&str; 8] =
            ["cpu", "call", "memory", "alloc", "sync", "thread", "file", "net"];
        format!("{}.row_{:03}", GROUPS[at / 25 % GROUPS.len()], at + 1)
    }

    /// The runs, where `factor` says how many times as long a row takes on a host, and `change` what else the
    /// host is.
    pub fn runs(
        &self,
        factor: impl Fn(usize, usize) -> f64,
        change: impl Fn(usize, &mut Machine),
    ) -> Vec<Run> {
        let mut random = Random(self.seed);
        let mut runs = Vec::new();
        for host in 0..self.hosts {
            let own: Vec<f64> = (0..self.rows)
                .map(|row| {
                    base_ns(row) * factor(host, row) * (random.normal() * self.between).exp()
                })
                .collect();
            for repetition in 1..=self.repetitions {
                let figures = own.iter().enumerate().map(|(at, ns)| {
                    let ns = ns * (random.normal() * self.within).exp();
                    row(&Made::row(at), super::figure(ns, ns * 2.0 * self.within))
                });
                let mut made = empty(host, repetition, self.seed);
                made.rows = figures.collect();
                change(host, &mut made.machine);
                runs.push(made);
            }
        }
        runs
    }
}

/// From 1 ns to some ms over the rows.
fn base_ns(row: usize) -> f64 {
    0.5 * (row as f64 * 0.08).exp()
}

/// A run of a host without rows.
fn empty(host: usize, repetition: u32, seed: u64) -> Run {
    let mut made = run();
    let number = (seed << 32) + ((host as u64) << 8) + u64::from(repetition);
    made.id = format!(
        "{:08x}-3c4d-4e5f-8a9b-{number:012x}",
        (seed << 24) + ((host as u64) << 8) + u64::from(repetition)
    );
    made.started_unix_ms += number % (1 << 32) * 1000;
    made.program.version = "0.0.0-made-up".into();
    made.machine.hostname = Fact::known(Made::host(host));
    made.machine.os = Fact::known("made up".into());
    made.machine.microcode = Fact::known("0xa0011d5".into());
    made.machine.firmware = Fact::known("Dell Inc. 2.14.1".into());
    made.machine.product = Fact::known("Dell Inc. PowerEdge R6525".into());
    made.machine.governor = Fact::known("performance".into());
    made.job = Some(Job {
        campaign: "made-up".into(),
        digest: "0123456789abcdef".into(),
        host: Made::host(host),
        repetition,
        attempt: 1,
        nonce: format!("{number:x}"),
    });
    made.cells.clear();
    made
}

/// The fleet of made-up runs.
///
/// # Panics
/// If a row is not a single figure.
pub fn fleet(runs: &[Run]) -> Fleet {
    let kept: Vec<KeptRun> = runs.iter().map(|run| KeptRun::of(run, PathBuf::new())).collect();
    let figures: Figures = runs
        .iter()
        .map(|run| {
            let of = |row: &Row| match &row.outcome {
                Outcome::Unavailable { reason } => KeptResult::unavailable(row, reason),
                Outcome::Figure(_) => KeptResult::of(row, row.figures().remove(0)),
                other => panic!("{other:?}"),
            };
            (run.id.clone(), run.rows.iter().map(of).collect())
        })
        .collect();
    Fleet::of(&counted(&kept), &figures, 0.05)
}

/// The same run where a row has no figure.
pub fn unavailable(mut run: Run, id: &str, reason: &str) -> Run {
    for row in run.rows.iter_mut().filter(|row| row.id == id) {
        row.outcome = Outcome::Unavailable { reason: reason.into() };
    }
    run
}
