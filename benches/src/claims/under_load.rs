//! What controls of single processes are worth to `latlas run` under a
//! competing load: how far the figures of some small rows are off, and how far
//! they spread.

use crate::bars::Bars;
use crate::busy::{Busy, SchedulerSession};
use crate::ours;
use crate::spread::{between_quartiles, median};
use crate::table::{TextTable, percent};
use anyhow::{Context, bail};
use model::estimate::Verdict;
use model::run::Run;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Arguments {
    /// The program
    #[arg(long, default_value = "target/release/latlas")]
    latlas: PathBuf,
    /// Rounds: one run of each variant in each
    #[arg(long, default_value_t = 8)]
    rounds: u32,
    /// Budget of a run, such as 5s; what latlas itself takes if absent
    #[arg(long)]
    budget: Option<String>,
    /// The quick scale
    #[arg(long)]
    quick: bool,
    /// In whose session the load runs
    #[arg(long, default_value = "other-session")]
    load: SchedulerSession,
    /// Busy loops on each CPU
    #[arg(long, default_value_t = 1)]
    loops: u32,
    /// The CPU for taskset; the last one if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Only these variants (quiet is always one); see the table's titles
    #[arg(long)]
    only: Vec<String>,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rows; ten small ones if none
    rows: Vec<String>,
}

const ROWS: [&str; 10] = [
    "cpu.add_i32",
    "cpu.div_f64",
    "cpu.branch_mispredict",
    "cpu.memcpy/1MiB",
    "call.virtual",
    "call.syscall",
    "alloc.malloc_free/16B",
    "collections.sort/1000",
    "collections.hash_lookup/out_of_cache",
    "memory.read_sequential_1MB",
];

/// One way to run latlas.
struct Variant {
    name: &'static str,
    loaded: bool,
    /// What latlas is started by.
    wrapper: Vec<String>,
    options: &'static [&'static str],
}

fn variants(cpu: u32) -> Vec<Variant> {
    let cpu = cpu.to_string();
    let of = |name, wrapper: &[&str], options| Variant {
        name,
        loaded: name != QUIET,
        wrapper: wrapper.iter().map(ToString::to_string).collect(),
        options,
    };
    vec![
        of(QUIET, &[], &[]),
        of("default", &[], &[]),
        of("none", &[], &["--no-controls"]),
        of("taskset", &["taskset", "-c", &cpu], &["--no-controls"]),
        of("nice", &["nice", "-n", "-10"], &["--no-controls"]),
        of("autogroup", &[], &["--autogroup=-10"]),
        of("autogroup+nice", &[], &["--autogroup=-10", "--nice=-10"]),
        of("fifo", &[], &["--fifo"]),
    ]
}

const QUIET: &str = "quiet";

/// What a run says of a row.
struct SeenRow {
    quiet_ns: Option<f64>,
    typical_ns: Option<f64>,
    ok: bool,
}

/// Of each variant, of each row, what the rounds said.
type ResultsByVariant = BTreeMap<&'static str, BTreeMap<String, Vec<SeenRow>>>;

pub fn check_under_load(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpus = sys::affinity::allowed_cpus()?;
    let mut variants = variants(ours::cpu(arguments.cpu)?);
    if let Some(no) = unknown(&arguments.only, &variants) {
        bail!("there is no variant {no:?}");
    }
    variants.retain(|v| v.name == QUIET || arguments.only.is_empty() || is_in(&arguments.only, v));
    let home = tempfile::tempdir().context("can't make a directory")?;
    let mut order: Vec<usize> = (0..variants.len()).collect();
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let mut found = ResultsByVariant::new();
    for round in 0..arguments.rounds {
        // As the rounds of exec: random, then the other way round.
        match round % 2 {
            0 => random.shuffle(&mut order),
            _ => order.reverse(),
        }
        for &k in &order {
            let variant = &variants[k];
            eprintln!("round {} of {}: {}", round + 1, arguments.rounds, variant.name);
            let load = match variant.loaded {
                true => Some(Busy::start_loops(&cpus, arguments.loops, arguments.load)?),
                false => None,
            };
            let run = run_variant(arguments, variant, home.path())?;
            drop(load);
            let rows = found.entry(variant.name).or_default();
            for (row, _, estimate) in ours::estimates(&run) {
                rows.entry(row).or_default().push(SeenRow {
                    quiet_ns: estimate.quiet.map(|q| q.ns.value),
                    typical_ns: estimate.typical.map(|t| t.ns.value),
                    ok: estimate.verdict == Verdict::Ok,
                });
            }
        }
    }
    let names: Vec<&'static str> = variants.iter().map(|v| v.name).collect();
    let typical = report(&found, &names, "typical", |seen| seen.typical_ns);
    report(&found, &names, "quiet", |seen| seen.quiet_ns);
    flagged(&found, &names);
    Ok(judge_summary(&typical))
}

fn is_in(only: &[String], variant: &Variant) -> bool {
    only.iter().any(|name| name == variant.name)
}

fn unknown<'a>(only: &'a [String], variants: &[Variant]) -> Option<&'a String> {
    only.iter().find(|name| variants.iter().all(|variant| variant.name != **name))
}

/// One run of latlas.
fn run_variant(arguments: &Arguments, variant: &Variant, home: &Path) -> anyhow::Result<Run> {
    let latlas = arguments.latlas.display().to_string();
    let words: Vec<&String> = variant.wrapper.iter().chain([&latlas]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg("run").arg("--document");
    command.args(variant.options);
    if arguments.quick {
        command.arg("--quick");
    }
    if let Some(budget) = &arguments.budget {
        command.args(["--budget", budget]);
    }
    match arguments.rows.is_empty() {
        true => command.args(ROWS),
        false => command.args(&arguments.rows),
    };
    command.env("LATLAS_DATA_DIR", home);
    let output = command.output().with_context(|| format!("can't run {command:?}"))?;
    // 3: no row is ok, which is a finding here.
    if !matches!(output.status.code(), Some(0 | 3)) {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?}: {}\n{}", output.status, said.trim_end());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// How far the figures of a variant are off and spread, each the median over
/// the rows.
struct Worth {
    bias: Option<f64>,
    spread: Option<f64>,
}

/// By variant.
type Summary = BTreeMap<&'static str, Worth>;

/// Prints how far each row is off and how far its runs spread.
fn report(
    found: &ResultsByVariant,
    names: &[&'static str],
    what: &str,
    value: impl Fn(&SeenRow) -> Option<f64>,
) -> Summary {
    let values = |name: &str, row: &str| -> Vec<f64> {
        let seen = found.get(name).and_then(|rows| rows.get(row));
        seen.into_iter().flatten().filter_map(&value).collect()
    };
    let Some(reference) = found.get(QUIET) else {
        return Summary::new();
    };
    let titles: Vec<&str> = ["row"].into_iter().chain(names.iter().copied()).collect();
    let (mut biases, mut spreads) = (TextTable::new(&titles), TextTable::new(&titles));
    let mut all: BTreeMap<&'static str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for row in reference.keys() {
        let quiet = median(&values(QUIET, row));
        let (mut bias_line, mut spread_line) = (vec![row.clone()], vec![row.clone()]);
        for &name in names {
            let own = values(name, row);
            let bias = median(&own).zip(quiet).map(|(own, quiet)| own / quiet - 1.0);
            let spread = between_quartiles(&own);
            let (of_bias, of_spread) = all.entry(name).or_default();
            of_bias.extend(bias.map(f64::abs));
            of_spread.extend(spread);
            bias_line.push(percent(bias));
            spread_line.push(percent(spread));
        }
        biases.add_line(bias_line);
        spreads.add_line(spread_line);
    }
    let summary: Summary = all
        .iter()
        .map(|(&name, (biases, spreads))| {
            let (bias, spread) = (median(biases), median(spreads));
            (name, Worth { bias, spread })
        })
        .collect();
    let line = |pick: fn(&Worth) -> Option<f64>| {
        let of = |name| percent(summary.get(name).and_then(pick));
        ["median".to_owned()].into_iter().chain(names.iter().map(|&name| of(name))).collect()
    };
    biases.add_line(line(|worth| worth.bias));
    spreads.add_line(line(|worth| worth.spread));
    biases.print(&format!(
        "{what} ns: bias, the median of the rounds over that on the quiet machine (last line: of \
         its amount, over the rows)"
    ));
    spreads
        .print(&format!("{what} ns: spread of the rounds, between the quartiles over the median"));
    summary
}

/// Prints the share of figures that latlas itself does not call ok.
fn flagged(found: &ResultsByVariant, names: &[&'static str]) {
    let mut table = TextTable::new(&["variant", "figures", "not ok"]);
    for name in names {
        let seen: Vec<&SeenRow> =
            found.get(name).into_iter().flat_map(BTreeMap::values).flatten().collect();
        let flagged = seen.iter().filter(|seen| !seen.ok).count();
        let share = (!seen.is_empty()).then(|| flagged as f64 / seen.len() as f64);
        table.add_line(vec![(*name).into(), seen.len().to_string(), percent(share)]);
    }
    table.print("Figures that latlas does not call ok");
}

/// The defaults must not be worse than nothing, nor than what people do without
/// a right.
fn judge_summary(summary: &Summary) -> Bars {
    let mut bars = Bars::new();
    let Some(ours) = summary.get("default") else {
        return bars;
    };
    for other in ["none", "taskset"] {
        let Some(theirs) = summary.get(other) else {
            continue;
        };
        for (what, ours, theirs) in
            [("bias", ours.bias, theirs.bias), ("spread", ours.spread, theirs.spread)]
        {
            let holds = ours.zip(theirs).is_some_and(|(ours, theirs)| ours <= theirs);
            bars.hold(
                holds,
                format!(
                    "typical, {what} with the defaults: {} (at most that of {other}, {})",
                    percent(ours),
                    percent(theirs)
                ),
            );
        }
    }
    bars
}
