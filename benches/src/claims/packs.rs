//! What the C ABI of packs costs: malloc and free by a pack against the built-in row.

use crate::bars::Bars;
use crate::spread::{absolute, median};
use crate::table::{TextTable, three_digits};
use anyhow::{Context, ensure};
use model::run::{Outcome, Run};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// Runs; in each, the visits to both rows are interleaved
    #[arg(long, default_value_t = 8)]
    runs: u32,
    /// Measure on this CPU
    #[arg(long)]
    pin: Option<u32>,
}

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/pack.c");
const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../packs/include");
const BUILT_IN: &str = "alloc.malloc_free/16B";
const BY_PACK: &str = "cost.malloc_free";

pub fn check_packs(arguments: &Arguments) -> anyhow::Result<Bars> {
    let directory = tempfile::tempdir()?;
    let library = directory.path().join("cost.so");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread", "-I", INCLUDE, SOURCE, "-o"]);
    ensure!(cc.arg(&library).status().context("no cc")?.success(), "{SOURCE} was not built");
    let mut table = TextTable::new(&["run", "built in, ns", "by a pack, ns", "pack / built in"]);
    let mut ratios = Vec::new();
    for number in 0..arguments.runs {
        let run = run_pack(arguments, &library, number, directory.path())?;
        let of = |row: &str| match &run.row(row)?.outcome {
            Outcome::Figure(estimate) => Some(estimate.quiet.as_ref()?.ns.value),
            _ => None,
        };
        let (Some(built_in), Some(by_pack)) = (of(BUILT_IN), of(BY_PACK)) else {
            table.add_line(
                [&number.to_string(), "no quiet figure", "", ""].map(str::to_owned).into(),
            );
            continue;
        };
        ratios.push(by_pack / built_in);
        let cells = [built_in, by_pack].map(|ns| three_digits(Some(ns))).into_iter();
        let ratio = format!("{:.4}", by_pack / built_in);
        table.add_line([number.to_string()].into_iter().chain(cells).chain([ratio]).collect());
    }
    table.print("malloc and free of 16 bytes");
    ensure!(!ratios.is_empty(), "the machine was never quiet");
    let [median, range] = [median(&ratios), absolute(&ratios)].map(Option::unwrap_or_default);
    println!("median {median:.4}, range {range:.4}, {} runs", ratios.len());
    let mut bars = Bars::new();
    let off = Some((median - 1.0).abs() * 100.0);
    bars.at_most("a pack's malloc and free differ from the built-in row by", off, 2.0, " %");
    Ok(bars)
}

fn run_pack(of: &Arguments, library: &Path, seed: u32, data: &Path) -> anyhow::Result<Run> {
    let mut command = Command::new(&of.latlas);
    command.args([
        "run",
        BUILT_IN,
        BY_PACK,
        "--document",
        "--budget",
        "8s",
        "--seed",
        &seed.to_string(),
    ]);
    command.arg("--pack").arg(library).env("LATLAS_DATA_DIR", data);
    if let Some(cpu) = of.pin {
        command.arg("--pin").arg(cpu.to_string());
    }
    let output =
        command.output().with_context(|| format!("can't start {}", of.latlas.display()))?;
    ensure!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}: {}",
        of.latlas.display(),
        output.status
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}
