//! Made-up runs of a campaign on many hosts, marked so in their host names' system and their program's version.

use crate::figures::{FiguresByRun, Fleet, counted};
use model::campaign::Job;
use model::machine::{Fact, Machine};
use model::run::{Outcome, Row, Run};
use model::summary::{KeptResult, KeptRun};
use model::synthetic::random::Random;
use model::synthetic::{row_of_times, run};
use std::path::PathBuf;

/// How many hosts, rows and repetitions, and what hosts and repetitions differ by.
#[derive(Clone, Debug)]
pub(crate) struct MadeFleet {
    /// Hosts.
    pub(crate) hosts: usize,
    /// Rows.
    pub(crate) rows: usize,
    /// Repetitions on each.
    pub(crate) repetitions: u32,
    /// Standard deviation of a row's logarithm over hosts.
    pub(crate) between: f64,
    /// The same over the repetitions of a host.
    pub(crate) within: f64,
    /// Which of all such fleets.
    pub(crate) seed: u64,
}

impl MadeFleet {
    /// Hosts alike but for 1 %, repetitions but for 0.3 %.
    pub(crate) fn new(hosts: usize, rows: usize, repetitions: u32) -> MadeFleet {
        MadeFleet { hosts, rows, repetitions, between: 0.01, within: 0.003, seed: 1 }
    }

    /// The name of a host.
    pub(crate) fn host(at: usize) -> String {
        format!("n{:03}", at + 1)
    }

    /// The id of a row: each group has 25.
    pub(crate) fn row_id(at: usize) -> String {
        const GROUPS: [&str; 8] =
            ["cpu", "call", "memory", "alloc", "sync", "thread", "file", "net"];
        format!("{}.row_{:03}", GROUPS[at / 25 % GROUPS.len()], at + 1)
    }

    /// The runs, where `factor` says how many times as long a row takes on a host, and `change` what else the
    /// host is.
    pub(crate) fn runs(
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
                    row_of_times(
                        &MadeFleet::row_id(at),
                        model::synthetic::ok_outcome(ns, ns * 2.0 * self.within),
                    )
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
    made.machine.hostname = Fact::known(MadeFleet::host(host));
    made.machine.os = Fact::known("made up".into());
    made.machine.microcode = Fact::known("0xa0011d5".into());
    made.machine.firmware = Fact::known("Dell Inc. 2.14.1".into());
    made.machine.product = Fact::known("Dell Inc. PowerEdge R6525".into());
    made.machine.governor = Fact::known("performance".into());
    made.job = Some(Job {
        campaign: "made-up".into(),
        digest: "0123456789abcdef".into(),
        host: MadeFleet::host(host),
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
pub(crate) fn fleet(runs: &[Run]) -> Fleet {
    let kept: Vec<KeptRun> =
        runs.iter().map(|run| KeptRun::from_run(run, PathBuf::new())).collect();
    let figures: FiguresByRun = runs
        .iter()
        .map(|run| {
            let of = |row: &Row| match &row.outcome {
                Outcome::Unavailable { reason } => KeptResult::unavailable(row, reason),
                Outcome::Figure(_) => KeptResult::from_row(row, row.figures().remove(0)),
                other => panic!("{other:?}"),
            };
            (run.id.clone(), run.rows.iter().map(of).collect())
        })
        .collect();
    Fleet::from_runs(&counted(&kept), &figures, 0.05)
}

/// The same run where a row has no figure.
pub(crate) fn unavailable(mut run: Run, id: &str, reason: &str) -> Run {
    for row in run.rows.iter_mut().filter(|row| row.id == id) {
        row.outcome = Outcome::Unavailable { reason: reason.into() };
    }
    run
}
