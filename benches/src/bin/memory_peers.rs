//! The chase beside google/multichase, streams beside LMbench's bw_mem: same
//! CPU, pages and order, pairs by turns.

use anyhow::{Context, bail};
use bench::bars::Bars;
use bench::ours::{self, Task};
use bench::pairs::{Ratios, alternate};
use bench::process::{on_cpu, output, peer};
use bench::spread::median;
use bench::table::{Table, figure};
use clap::Parser;
use model::stats;
use std::path::Path;
use std::process::ExitCode;

/// Latency beside multichase (path in MULTICHASE), bandwidth beside bw_mem
/// (path in BW_MEM): medians of the ratios of alternated pairs.
#[derive(Parser)]
struct Arguments {
    /// Pairs of each comparison
    #[arg(long, default_value_t = 11)]
    pairs: u32,
    /// Length of one measurement, s, ours and the peer's
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// The CPU; the last allowed one if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Only comparisons whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// The ratio that the bar is held against
    #[arg(long, default_value = "mean")]
    statistic: Statistic,
    /// Only measure this cell with latlas, such as memory.latency@16KiB
    #[arg(long, value_name = "ROW@SIZE")]
    ours: Option<String>,
}

/// What of ours is set against what of the peer's.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Statistic {
    /// All time over all operations, against the mean of the peer's samples
    /// (bw_mem: its median, the only figure it prints)
    Mean,
    /// Median of the samples, against the median of the peer's
    Typical,
    /// The quiet figure, against the smallest of the peer's samples
    Quiet,
    /// The smallest quiet sample, against the smallest of the peer's
    Minimum,
}

const STATISTICS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::Typical,
    Statistic::Quiet,
    Statistic::Minimum,
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Multichase,
    BwMem,
}

struct Comparison {
    name: &'static str,
    row: &'static str,
    size: &'static str,
    tool: Tool,
    arguments: &'static str,
    /// Bytes that the peer counts for one operation of ours; 0 for a latency.
    bytes_per_op: f64,
    bar: bool,
}

/// Orders and pages. multichase: one element a 64-byte line, random over the
/// whole set (`-T` as large as the set), on huge pages (`-H`; the offset `-O`
/// fills the small sets up to one huge page). bw_mem: `rd` loads 4 bytes of
/// every 16 and counts all 16, as 4 of our every_4th row's operations touch
/// 16 each; `frd` loads every 4 bytes, but in chains of 128 where ours has 32,
/// which can show in L1 and not in memory; `bcopy` and `bzero` are the C
/// library's.
const COMPARISONS: [Comparison; 11] = {
    const fn latency(
        name: &'static str,
        size: &'static str,
        arguments: &'static str,
    ) -> Comparison {
        Comparison {
            name,
            row: "memory.latency",
            size,
            tool: Tool::Multichase,
            arguments,
            bytes_per_op: 0.0,
            bar: true,
        }
    }
    const fn speed(
        name: &'static str,
        row: &'static str,
        size: &'static str,
        arguments: &'static str,
        bytes_per_op: f64,
        bar: bool,
    ) -> Comparison {
        Comparison {
            name,
            row,
            size,
            tool: Tool::BwMem,
            arguments,
            bytes_per_op,
            bar,
        }
    }
    [
        latency("latency 16KiB", "16KiB", "-s 64 -m 16k -O 2032k -H"),
        latency("latency 256KiB", "256KiB", "-s 64 -m 256k -O 1792k -H"),
        latency("latency 256MiB", "256MiB", "-s 64 -m 256m -T 256m -H"),
        speed(
            "read every 4th 16KiB",
            "memory.read/every_4th",
            "16KiB",
            "16k rd",
            16.0,
            true,
        ),
        speed(
            "read every 4th 128MiB",
            "memory.read/every_4th",
            "128MiB",
            "128m rd",
            16.0,
            true,
        ),
        speed(
            "read 16KiB",
            "memory.read/sequential",
            "16KiB",
            "16k frd",
            4.0,
            false,
        ),
        speed(
            "read 128MiB",
            "memory.read/sequential",
            "128MiB",
            "128m frd",
            4.0,
            true,
        ),
        speed("copy 16KiB", "memory.copy", "16KiB", "16k bcopy", 1.0, true),
        speed(
            "copy 128MiB",
            "memory.copy",
            "128MiB",
            "128m bcopy",
            1.0,
            true,
        ),
        speed(
            "fill 16KiB",
            "memory.fill",
            "16KiB",
            "16k bzero",
            1.0,
            false,
        ),
        speed(
            "fill 128MiB",
            "memory.fill",
            "128MiB",
            "128m bzero",
            1.0,
            false,
        ),
    ]
};

/// Figures by statistic, ns per operation (latency) or per byte counted.
type Figures = [Option<f64>; 4];

fn main() -> ExitCode {
    ours::enter_if_child();
    let arguments = Arguments::parse();
    if let Some(cell) = &arguments.ours {
        return match print_ours(&arguments, cell) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::from(2)
            }
        };
    }
    bench::finish(compare(&arguments))
}

fn print_ours(arguments: &Arguments, cell: &str) -> anyhow::Result<()> {
    let (row, size) = cell.split_once('@').context("give ROW@SIZE")?;
    let cpu = ours::cpu(arguments.cpu)?;
    let (figures, verdict) = measure_ours(arguments, row, size, cpu, 1)?;
    println!("{cell} on CPU {cpu}: {verdict}");
    for (statistic, value) in STATISTICS.iter().zip(figures) {
        println!(
            "{:<8} {} ns",
            format!("{statistic:?}").to_lowercase(),
            figure(value)
        );
    }
    Ok(())
}

fn compare(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpu = ours::cpu(arguments.cpu)?;
    let (multichase, bw_mem) = (peer("MULTICHASE"), peer("BW_MEM"));
    if multichase.is_none() && bw_mem.is_none() {
        bail!("name the peers: MULTICHASE=/path/to/multichase BW_MEM=/path/to/bw_mem");
    }
    println!(
        "CPU {cpu}, {} alternated pairs of {} s; ratios are ours / the peer's time",
        arguments.pairs, arguments.seconds
    );
    let mut bars = Bars::new();
    let mut table = Table::new(&[
        "comparison",
        "ours mean",
        "peer mean",
        "mean/mean",
        "typical/median",
        "quiet/min",
        "min/min",
        "in the bar",
    ]);
    for comparison in &COMPARISONS {
        if arguments
            .only
            .as_ref()
            .is_some_and(|only| !comparison.name.contains(only.as_str()))
        {
            continue;
        }
        let path = match comparison.tool {
            Tool::Multichase => &multichase,
            Tool::BwMem => &bw_mem,
        };
        let Some(path) = path else {
            println!("{}: its peer is not named, left out", comparison.name);
            continue;
        };
        eprintln!("{}", comparison.name);
        one(arguments, comparison, path, cpu, &mut table, &mut bars)?;
    }
    table.print(
        "Median ratio with its distribution-free 95 % interval (ns an operation, or a byte)",
    );
    println!(
        "bw_mem prints only the median of its repetitions: it stands for its mean and its median; it has no minimum."
    );
    Ok(bars)
}

fn one(
    arguments: &Arguments,
    comparison: &Comparison,
    path: &Path,
    cpu: u32,
    table: &mut Table,
    bars: &mut Bars,
) -> anyhow::Result<()> {
    let measure = |pair: u32| -> anyhow::Result<Figures> {
        let (mut figures, _) = measure_ours(
            arguments,
            comparison.row,
            comparison.size,
            cpu,
            u64::from(pair) + 1,
        )?;
        if comparison.bytes_per_op > 0.0 {
            for value in figures.iter_mut().flatten() {
                *value /= comparison.bytes_per_op;
            }
        }
        Ok(figures)
    };
    let peer = |_| match comparison.tool {
        Tool::Multichase => multichase(arguments, comparison, path, cpu),
        Tool::BwMem => bw_mem(arguments, comparison, path, cpu),
    };
    let pairs = alternate(arguments.pairs, measure, peer)?;
    let ratios = |index: usize| {
        Ratios::new(
            pairs
                .iter()
                .filter_map(|(ours, theirs)| Some(ours[index]? / theirs[index]?)),
        )
    };
    let text = |index: usize| ratios(index).text();
    let middle = |pick: &dyn Fn(&(Figures, Figures)) -> Option<f64>| {
        median(&pairs.iter().filter_map(pick).collect::<Vec<_>>())
    };
    table.line(vec![
        comparison.name.into(),
        figure(middle(&|(ours, _)| ours[0])),
        figure(middle(&|(_, theirs)| theirs[0])),
        text(0),
        text(1),
        text(2),
        text(3),
        if comparison.bar { "yes" } else { "no" }.into(),
    ]);
    if comparison.bar {
        // bw_mem has one figure only: its median.
        let index = match (comparison.tool, arguments.statistic) {
            (_, Statistic::Mean) => 0,
            (_, Statistic::Typical) => 1,
            (_, Statistic::Quiet) => 2,
            (Tool::BwMem, Statistic::Minimum) => 1,
            (_, Statistic::Minimum) => 3,
        };
        let inside = ratios(index).inside(0.9, 1.1);
        bars.hold(
            inside,
            format!("{}: {} (inside 0.9 to 1.1)", comparison.name, text(index)),
        );
    }
    Ok(())
}

fn measure_ours(
    arguments: &Arguments,
    row: &str,
    size: &str,
    cpu: u32,
    seed: u64,
) -> anyhow::Result<(Figures, String)> {
    let point = model::size::parse(size).with_context(|| format!("{size} is no size"))?;
    let run = ours::measure(&Task {
        points: vec![point],
        budget_s: Some(arguments.seconds.max(1.0)),
        fill: true,
        pin: Some(cpu),
        seed,
        ..Task::of(&[row])
    })?;
    let cell = run.cells.first().with_context(|| {
        let notes = run.rows.iter().flat_map(|r| r.notes.clone());
        format!(
            "{row} gave no samples: {}",
            notes.collect::<Vec<_>>().join("; ")
        )
    })?;
    let mean = ours::mean_ns(&run, cell);
    let (_, _, estimate) = ours::estimates(&run)
        .into_iter()
        .next()
        .context("no estimate")?;
    let figures = [
        mean,
        estimate.typical.map(|t| t.ns.value),
        estimate.quiet.map(|q| q.ns.value),
        estimate.quiet.map(|q| q.minimum_ns),
    ];
    let verdict = format!("{} {}", estimate.verdict.text(), estimate.reason);
    Ok((figures, verdict.trim().to_string()))
}

fn multichase(
    arguments: &Arguments,
    comparison: &Comparison,
    path: &Path,
    cpu: u32,
) -> anyhow::Result<Figures> {
    // Half a second a sample; the first one it drops.
    let samples = (arguments.seconds * 2.0 - 1.0).max(2.0) as u32;
    let mut command = on_cpu(path, Some(cpu));
    command.args(comparison.arguments.split(' '));
    command.args(["-n", &samples.to_string(), "-v"]);
    let (out, err, _) = output(&mut command)?;
    let values = chase_samples(&format!("{out}{err}"));
    if values.is_empty() {
        bail!("{command:?} printed no samples:\n{out}{err}");
    }
    Ok([
        stats::mean(&values),
        median(&values),
        values.iter().copied().reduce(f64::min),
        values.iter().copied().reduce(f64::min),
    ])
}

/// The samples that `-v` prints, `  3.004  avg=3.004` each.
fn chase_samples(text: &str) -> Vec<f64> {
    text.lines()
        .filter_map(|line| line.split_once("avg=")?.1.trim().parse().ok())
        .collect()
}

fn bw_mem(
    arguments: &Arguments,
    comparison: &Comparison,
    path: &Path,
    cpu: u32,
) -> anyhow::Result<Figures> {
    // Repetitions of 0.1 s.
    let repetitions = (arguments.seconds * 8.0).max(5.0) as u32;
    let mut command = on_cpu(path, Some(cpu));
    command
        .env("ENOUGH", "100000")
        .env("LOOP_O", "0")
        .env("TIMING_O", "0")
        // Huge pages, as ours has them.
        .env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
        .args(["-P", "1", "-W", "0", "-N", &repetitions.to_string()])
        .args(comparison.arguments.split(' '));
    let (out, err, _) = output(&mut command)?;
    let text = format!("{out}{err}");
    let speed_mb_s: Option<f64> = text
        .lines()
        .last()
        .and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    let Some(speed_mb_s) = speed_mb_s else {
        bail!("{command:?} printed no speed:\n{text}");
    };
    let ns_per_byte = Some(1e3 / speed_mb_s);
    Ok([ns_per_byte, ns_per_byte, ns_per_byte, None])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_multichase() {
        let text = "chase = simple\nsamples (one column per thread):\n  3.004  avg=3.004\n  2.925  avg=2.925\n 2.925\n";
        assert_eq!(chase_samples(text), [3.004, 2.925]);
    }

    #[test]
    fn sizes_are_readable_and_rows_exist() {
        let known: Vec<String> = ours::catalogue()
            .iter()
            .flat_map(meter::probe::Probe::row_ids)
            .collect();
        for comparison in &COMPARISONS {
            assert!(model::size::parse(comparison.size).is_some());
            assert!(known.iter().any(|id| id == comparison.row));
        }
    }
}
