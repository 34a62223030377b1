//! Made-up runs, to fill an atlas with.

use anyhow::{Context, ensure};
use model::machine::Fact;
use model::run::{Cell, Outcome, Row, Run};
use std::path::Path;

/// A document with every field, from which the others are made.
const TEMPLATE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/latlas/tests/fixtures/synthetic.json");

/// Of ten figures nine are ok.
const NOISY_OF_TEN: u32 = 1;

/// After so many runs of a machine all its rows change their level, and after as
/// many more they change back: a history with something to find takes longest.
const LEVEL_RUNS: u32 = 90;
/// The other level over the first: figures vary by half about theirs.
const OTHER_LEVEL: f64 = 4.0;

/// The first begins then, ms since 1970 UTC; each a minute later.
const FIRST_MS: u64 = 1_700_000_000_000;

/// Makes runs of as many results as wanted, on as many machines.
pub struct MadeUp {
    template: Run,
    row: Row,
    cell: Cell,
    rng: fastrand::Rng,
    /// Results of each run.
    pub results: u32,
    /// Machines, in rotation.
    pub machines: u32,
}

impl MadeUp {
    /// With a seed.
    ///
    /// # Errors
    /// If the template is not what it was.
    pub fn new(results: u32, machines: u32, seed: u64) -> anyhow::Result<MadeUp> {
        let template = store::read_run(Path::new(TEMPLATE))?;
        let cell = template.cells.first().cloned();
        let cell = cell.context("the template has no samples")?;
        let row = template.row(&cell.row).cloned();
        let row = row.context("the samples are of no row")?;
        let figure = matches!(&row.outcome, Outcome::Figure(e) if e.quiet.is_some());
        ensure!(figure, "{} is no figure", row.id);
        ensure!(machines > 0, "on no machine at all");
        Ok(MadeUp { template, row, cell, rng: fastrand::Rng::with_seed(seed), results, machines })
    }

    /// Run number `number`, under an id of its own.
    pub fn numbered_run(&mut self, number: u32) -> Run {
        let (a, b) = (self.rng.u64(..), self.rng.u64(..));
        let mut run = Run {
            id: format!(
                "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
                a >> 32,
                a & 0xffff,
                b & 0xfff,
                b >> 52,
                b >> 4 & 0xffff_ffff_ffff
            ),
            started_unix_ms: FIRST_MS + u64::from(number) * 60_000,
            rows: Vec::new().into(),
            cells: Vec::new().into(),
            ..self.template.clone()
        };
        run.machine.hostname = Fact::known(format!("made-up-{}", number % self.machines));
        let level = match number / self.machines / LEVEL_RUNS % 2 {
            0 => 1.0,
            _ => OTHER_LEVEL,
        };
        for place in 0..self.results {
            let mut row = self.row.clone();
            row.id = row_id(place);
            let factor = level * (0.5 + self.rng.f64());
            let noisy = self.rng.u32(0..10) < NOISY_OF_TEN;
            if let Outcome::Figure(estimate) = &mut row.outcome {
                if let Some(quiet) = &mut estimate.quiet {
                    quiet.ns = quiet.ns.scaled(factor);
                    quiet.cycles = quiet.cycles.map(|cycles| cycles.scaled(factor));
                }
                if noisy {
                    estimate.verdict = model::estimate::Verdict::Noisy;
                    estimate.reason = format!("the interval is wide: {place} %");
                }
            }
            let mut cell = self.cell.clone();
            cell.row.clone_from(&row.id);
            run.rows.push(row);
            run.cells.push(cell);
        }
        run
    }
}

pub fn row_id(place: u32) -> String {
    format!("made_up.group_{}/row_{place}", place / 50)
}
