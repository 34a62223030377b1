//! How often `latlas fit` is wrong: on published figures of cloud types (`published.rs`), on recorded runs
//! (`benches/data/fit.json`), and on fleets simulated from them (`fleets.rs`). The rule itself is in `crates/model/src/fit`.

mod fleets;
mod published;

use crate::bars::Bars;
use crate::table::TextTable;
use anyhow::{Context, bail};
use fleets::{Fleets, WORLDS, Wrong};
use model::fit::Vector;
use model::fit::judge::{
    ANOTHER_MACHINE, FITS, NOT_QUIET, OUT_OF_RANGE, VerdictWithReason, judge_host,
};
use model::fit::learn::learn;
use model::stats::share_interval;
use serde::Deserialize;
use std::path::PathBuf;

/// Vectors of real runs on one machine.
const RECORDED: &str = include_str!("../../data/fit.json");

#[derive(clap::Args)]
pub struct Arguments {
    /// Made-up fleets of each kind and size
    #[arg(long, default_value_t = 1000)]
    fleets: u32,
    /// Hosts of a fleet (repeatable)
    #[arg(long, default_values_t = [8, 50, 200])]
    hosts: Vec<usize>,
    /// Runs on each of them
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Seed; constants of the rule were chosen with 1
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// Only the rule for published figures (10 s)
    #[arg(long)]
    published: bool,
    /// Other recorded vectors than those of benches/data/fit.json
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,
}

/// Recorded vectors by what the machine was.
#[derive(Deserialize)]
pub struct Recorded {
    /// Nothing else ran.
    quiet: Vec<Vector>,
    /// A quota of half a CPU.
    half: Vec<Vector>,
    /// A busy loop on each CPU.
    load: Vec<Vector>,
}

/// Of these tries so many came out as wanted.
#[derive(Clone, Copy, Default)]
pub struct Rate {
    hits: u64,
    tries: u64,
}

impl Rate {
    fn count_hit(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.tries += 1;
    }

    fn share(self) -> Option<f64> {
        (self.tries > 0).then(|| self.hits as f64 / self.tries as f64)
    }

    /// `99.2 % [98.4, 99.7]`
    fn rate_text(self) -> String {
        match share_interval(self.hits, self.tries) {
            None => "-".into(),
            Some(share) => format!(
                "{:.1} % [{:.1}, {:.1}]",
                share.value * 100.0,
                share.low * 100.0,
                share.high * 100.0
            ),
        }
    }
}

/// Runs what is asked for.
///
/// # Errors
/// If the recorded vectors can't be read.
pub fn check_fit(arguments: &Arguments) -> anyhow::Result<Bars> {
    let recorded: Recorded = match &arguments.recorded {
        Some(path) => serde_json::from_slice(&std::fs::read(path)?)
            .with_context(|| format!("{}", path.display()))?,
        None => serde_json::from_str(RECORDED).context("benches/data/fit.json")?,
    };
    let mut bars = Bars::new();
    published::of_published(&mut bars)?;
    if arguments.published {
        return Ok(bars);
    }
    of_recorded(&recorded, &mut bars)?;
    of_fleets(&recorded, arguments, &mut bars)?;
    Ok(bars)
}

/// The first half of the quiet runs is learned from, all others are judged.
fn of_recorded(recorded: &Recorded, bars: &mut Bars) -> anyhow::Result<()> {
    let (learned, quiet) = recorded.quiet.split_at(recorded.quiet.len() / 2);
    let expected = learn(learned)?;
    let mut table = TextTable::new(&[
        "recorded",
        "runs",
        "fits",
        "out of range",
        "not quiet",
        "another machine",
    ]);
    for (name, vectors) in
        [("quiet", quiet), ("half by a quota", &recorded.half), ("loaded", &recorded.load)]
    {
        let verdicts: Vec<VerdictWithReason> =
            vectors.iter().map(|v| judge_host(v, &expected).verdict).collect();
        let count = |wanted| verdicts.iter().filter(|own| **own == wanted).count();
        let all = [FITS, OUT_OF_RANGE, NOT_QUIET, ANOTHER_MACHINE];
        let mut line = vec![name.to_owned(), vectors.len().to_string()];
        line.extend(all.map(|wanted| count(wanted).to_string()));
        table.add_line(line);
        let (wanted, right) = match name {
            "quiet" => ("fit", count(FITS)),
            "loaded" => ("are not quiet", count(NOT_QUIET)),
            _ => ("are out of range", count(OUT_OF_RANGE)),
        };
        bars.hold(
            right == vectors.len(),
            format!("recorded, {name}: {right} of {} {wanted}", vectors.len()),
        );
    }
    table.print(&format!("Recorded runs, learned from {} others", expected.runs));
    Ok(())
}

fn of_fleets(recorded: &Recorded, arguments: &Arguments, bars: &mut Bars) -> anyhow::Result<()> {
    let quiet: Vec<Vector> = recorded.quiet.iter().filter(|v| v.is_quiet()).cloned().collect();
    if quiet.len() < 8 {
        bail!("only {} recorded runs were quiet: 8 needed", quiet.len());
    }
    for world in WORLDS {
        let mut titles = vec!["hosts".to_owned(), "good, refused".into()];
        titles.extend(Wrong::ALL.map(|wrong| wrong.text().to_owned()));
        let mut table = TextTable::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
        for &hosts in &arguments.hosts {
            let mut fleets = Fleets::new(&quiet, world, arguments.seed);
            let mut good = Rate::default();
            let mut named = [Rate::default(); Wrong::ALL.len()];
            for _ in 0..arguments.fleets {
                let expected = learn(&fleets.runs(hosts, arguments.runs))?;
                let verdict = |vector: &Vector| judge_host(vector, &expected).verdict;
                good.count_hit(verdict(&fleets.host()) != FITS);
                for (wrong, rate) in Wrong::ALL.iter().zip(&mut named) {
                    rate.count_hit(wrong.is_named(verdict(&wrong.applied_to(fleets.host()))));
                }
            }
            let mut line = vec![hosts.to_string(), good.rate_text()];
            line.extend(named.iter().map(|rate| rate.rate_text()));
            table.add_line(line);
            let of = format!("{}, {hosts} hosts", world.name);
            bars.at_most(
                &format!("{of}, good refused"),
                good.share().map(|s| s * 100.0),
                2.0,
                " %",
            );
            for (wrong, rate) in Wrong::ALL.iter().zip(&named) {
                bars.hold(
                    rate.hits == rate.tries,
                    format!("{of}, {}: {}", wrong.text(), rate.rate_text()),
                );
            }
        }
        table.print(&format!(
            "{}: {} fleets of each size, {} runs a host; wrong hosts named",
            world.name, arguments.fleets, arguments.runs
        ));
    }
    Ok(())
}
