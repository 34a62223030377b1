//! Rows whose quiet figure lies outside of the middle of the samples of their own run, with what
//! today's rules say of them: a figure below nearly all samples is that of an honest machine with
//! a busy neighbour, or a biased selection.

use crate::bars::Bars;
use crate::ours;
use crate::table::{TextTable, percent, three_digits};
use anyhow::Context as _;
use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::run::{Bound, Cell, Run};
use model::sample::{Sample, flag};
use model::selection_bias;
use model::stats::{self, Interval};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Run documents
    #[arg(required = true)]
    documents: Vec<PathBuf>,
    /// The middle that a figure should lie in, percent of the samples
    #[arg(long, default_value_t = 80.0)]
    middle: f64,
}

pub fn check_outside(arguments: &Arguments) -> anyhow::Result<Bars> {
    let tail = (1.0 - arguments.middle / 100.0) / 2.0;
    anyhow::ensure!((0.0..0.5).contains(&tail), "--middle is from 1 to 100");
    let (mut figures, mut biased) = (0, 0);
    for path in &arguments.documents {
        let run: Run = store::read_run(path)?;
        let mut table = TextTable::new(&[
            "row",
            "verdict",
            "quiet",
            "low",
            "high",
            "from",
            "median",
            "to",
            "reached",
            "quiet share",
            "today",
        ]);
        for row in &run.rows {
            for of in row.figures() {
                let Some(cell) = run.cell(&row.id, &of.at) else {
                    continue;
                };
                let samples = cell.samples.samples();
                let samples = samples.with_context(|| path.display().to_string())?;
                let Some(found) =
                    QuietFigure::from_cell(&run, cell, of.bound, of.estimate, &samples)
                else {
                    continue;
                };
                figures += 1;
                biased += usize::from(found.bias.is_some() && of.estimate.verdict == Verdict::Ok);
                let [from, median, to] = [tail, 0.5, 1.0 - tail].map(|share| found.quantile(share));
                let inside = found.quiet.low <= to && found.quiet.high >= from;
                if inside && found.bias.is_none() {
                    continue;
                }
                let numbers =
                    [found.quiet.value, found.quiet.low, found.quiet.high, from, median, to];
                let mut line =
                    vec![ours::figure_name(&row.id, &of.at), of.estimate.verdict.text().to_owned()];
                line.extend(numbers.map(|number| three_digits(Some(number))));
                line.push(percent(Some(found.reached())));
                line.push(percent(of.estimate.quiet_share));
                line.push(found.bias.unwrap_or_else(|| "-".into()));
                table.add_line(line);
            }
        }
        table.print(&format!(
            "{}: quiet figures outside of the middle {} % of their samples (cycles or ns)",
            path.display(),
            arguments.middle
        ));
    }
    println!("\n{figures} quiet figures; {biased} stored as ok are biased by today's rules");
    Ok(Bars::new())
}

/// A quiet figure among the ordinary samples of its row, in the row's own unit.
struct QuietFigure {
    quiet: Interval,
    /// Ordinary samples, ascending.
    values: Vec<f64>,
    /// What today's rules say.
    bias: Option<String>,
}

impl QuietFigure {
    fn from_cell(
        run: &Run,
        cell: &Cell,
        bound: Bound,
        estimate: &Estimate,
        samples: &[Sample],
    ) -> Option<QuietFigure> {
        let quiet = estimate.quiet.filter(|_| estimate.below_ns.is_none())?;
        let context = Context::for_cell(run, cell, bound);
        let in_cycles = bound == Bound::Core && quiet.cycles.is_some();
        let ordinary = samples.iter().filter(|s| !s.has(flag::WAITED_FOR_QUIET));
        let values = stats::sorted(ordinary.filter_map(|s| context.cost(s, in_cycles)));
        (!values.is_empty()).then(|| QuietFigure {
            quiet: quiet.cycles_or_ns(bound),
            values,
            bias: selection_bias::bias(&quiet, samples, &context).map(|bias| bias.to_string()),
        })
    }

    fn quantile(&self, share: f64) -> f64 {
        stats::quantile_sorted(&self.values, share).unwrap_or(f64::NAN)
    }

    /// Share of the ordinary samples at or below the upper end of the interval.
    fn reached(&self) -> f64 {
        let reached = self.values.iter().filter(|value| **value <= self.quiet.high);
        reached.count() as f64 / self.values.len() as f64
    }
}
