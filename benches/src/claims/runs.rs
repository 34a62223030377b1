//! What several runs of one machine say of each other: how often an interval holds the other
//! runs' median, how many rows are flagged, how many keep their verdict from run to run, how far
//! runs spread. The runs are made here or read from documents, whose samples are then judged
//! again by today's rules against the figures as stored.

use crate::bars::Bars;
use crate::ours::{self, EMPTY, MeasureTask};
use crate::spread::median;
use crate::table::{TextTable, percent};
use anyhow::Context;
use model::estimate::{Estimate, Verdict};
use model::run::{Bound, Row, Run, Scale};
use model::stats::Interval;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Stored documents, in the order in which they were made; absent: runs are made
    documents: Vec<PathBuf>,
    /// Runs to make
    #[arg(long, default_value_t = 5, conflicts_with = "documents")]
    runs: u64,
    /// Rows to run: ids, or patterns that end in *; the default rows if absent
    #[arg(long, value_name = "ROW", conflicts_with = "documents")]
    row: Vec<String>,
    /// Few points and rounds
    #[arg(long, conflicts_with = "documents")]
    quick: bool,
    /// Budget of a run, s; what latlas itself takes if absent
    #[arg(long, conflicts_with = "documents")]
    seconds: Option<f64>,
    /// The CPU to run on; each run chooses the quieter one if absent
    #[arg(long, conflicts_with = "documents")]
    cpu: Option<u32>,
    /// Print each row: its figures run by run, and its verdicts
    #[arg(long)]
    rows: bool,
}

pub fn check_runs(arguments: &Arguments) -> anyhow::Result<Bars> {
    let catalogue = probes::catalogue();
    let (mut stored, mut today) = (Vec::new(), Vec::new());
    for path in &arguments.documents {
        let run: Run = store::read_run(path)?;
        let rows = meter::rejudge::again(&catalogue, &run)
            .map_err(anyhow::Error::msg)
            .with_context(|| path.display().to_string())?;
        let again = JudgedRun::from_rows(&rows, None);
        stored.push(JudgedRun::from_rows(&run.rows, Some(&again)));
        today.push(again);
    }
    if arguments.documents.is_empty() {
        today = made(arguments)?;
    }
    if !stored.is_empty() {
        print("as stored", &by_family(&stored));
    }
    let families = by_family(&today);
    print("today", &families);
    if arguments.rows {
        print_rows(&stored, &today);
    }
    Ok(held(&families))
}

/// The figures of runs made now.
fn made(arguments: &Arguments) -> anyhow::Result<Vec<JudgedRun>> {
    let run = |number: u64| {
        eprintln!("run {number} of {}", arguments.runs);
        let run = ours::measure_in_child(&MeasureTask {
            rows: arguments.row.clone(),
            scale: match arguments.quick {
                true => Scale::Quick,
                false => Scale::Default,
            },
            budget_s: arguments.seconds,
            seed: number,
            pin: arguments.cpu,
            ..MeasureTask::for_rows(&[])
        })?;
        Ok(JudgedRun::from_rows(&run.rows, None))
    };
    (1..=arguments.runs).map(run).collect()
}

/// The claims of docs/method.md.
fn held(families: &BTreeMap<String, Summary>) -> Bars {
    let mut bars = Bars::new();
    let hundred = |share: Option<f64>| share.map(|share| share * 100.0);
    for (family, of) in families {
        if !family.starts_with("all") {
            bars.within(&format!("coverage of {family}, %"), hundred(of.held.share()), 90.0, 99.0);
        }
    }
    if let Some(all) = families.get("all rows") {
        bars.at_most("rows flagged", hundred(all.flagged.share()), 15.0, " %");
        let same = hundred(all.same_verdict.share());
        bars.within("rows with the same verdict in the next run, %", same, 90.0, 100.0);
    }
    for (family, of) in families.iter().filter(|(family, _)| family.starts_with("all")) {
        let off = Some(of.ok_and_off.hits as f64);
        bars.at_most(&format!("{family}: ok and more than 5 % off"), off, 0.0, "");
    }
    bars
}

fn print(name: &str, families: &BTreeMap<String, Summary>) {
    let mut table = TextTable::new(&[
        "family",
        "rows",
        "held",
        "held, typical",
        "held, p99",
        "half width",
        "flagged",
        "two states",
        "inconclusive",
        "same verdict",
        "spread",
        "spread, ns",
        "spread, cycles",
        "ok and > 5 % off",
    ]);
    for (family, summary) in families {
        table.add_line(vec![
            family.clone(),
            summary.rows.to_string(),
            percent(summary.held.share()),
            percent(summary.typical.share()),
            percent(summary.p99.share()),
            percent(summary.half_width()),
            percent(summary.flagged.share()),
            percent(summary.two_states.share()),
            percent(summary.cannot_tell.share()),
            percent(summary.same_verdict.share()),
            percent(summary.spread()),
            percent(summary.spread_ns()),
            percent(summary.spread_cycles()),
            summary.ok_and_off.hits.to_string(),
        ]);
    }
    table.print(name);
}

fn print_rows(before: &[JudgedRun], today: &[JudgedRun]) {
    let mut table = TextTable::new(&[
        "row",
        "as stored",
        "judged again",
        "figures, cycles or ns",
        "ns",
        "cycles",
    ]);
    for id in today.iter().flat_map(|run| run.0.keys()).collect::<BTreeSet<_>>() {
        let of = |runs: &[JudgedRun], text: fn(&EstimateFigures) -> String| {
            let texts: Vec<String> =
                runs.iter().map(|run| run.0.get(id).map_or("-".into(), text)).collect();
            texts.join(" ")
        };
        table.add_line(vec![
            id.clone(),
            of(before, |f| f.verdict.text().into()),
            of(today, |f| f.verdict.text().into()),
            of(today, EstimateFigures::own_figure_text),
            of(today, |f| f.ns.map_or("-".into(), |ns| format!("{:.4}", ns.value))),
            of(today, |f| f.cycles.map_or("-".into(), |c| format!("{:.4}", c.value))),
        ]);
    }
    table.print("rows");
}

/// A figure this far from the other runs' median, in its own unit, is off.
const OFF: f64 = 0.05;

const IN_CYCLES: &str = "quiet, cycles";

/// The figures of one run, by row, `row@x` for points.
pub struct JudgedRun(pub BTreeMap<String, EstimateFigures>);

/// What one estimate says.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateFigures {
    /// Cycles or ns, whichever the row is answerable for.
    pub own: Option<Interval>,
    /// ns on the quiet machine.
    pub ns: Option<Interval>,
    /// Cycles on the quiet machine.
    pub cycles: Option<Interval>,
    /// The median of everything.
    pub typical: Option<Interval>,
    /// The 99 % quantile, and whether it is given as known.
    pub p99: Option<(Interval, bool)>,
    /// Of which kind it is.
    pub family: &'static str,
    pub verdict: Verdict,
}

impl JudgedRun {
    /// Every figure of these rows. `today` says which points of curves count in
    /// cycles, where the documents are too old to.
    pub fn from_rows(rows: &[Row], today: Option<&JudgedRun>) -> JudgedRun {
        let mut figures = BTreeMap::new();
        for row in rows.iter().filter(|row| row.id != EMPTY) {
            let mut add = |id: String, estimate: &Estimate| {
                let in_cycles = match today.filter(|_| id.contains('@')) {
                    Some(today) => today.0.get(&id).is_some_and(|f| f.family == IN_CYCLES),
                    None if today.is_some() => row.bound == Bound::Core,
                    None => estimate.quiet.is_some_and(|quiet| quiet.at_run_clock),
                };
                figures.insert(id, EstimateFigures::from_estimate(estimate, in_cycles));
            };
            for figure in row.figures() {
                add(ours::figure_name(&row.id, &figure.at), figure.estimate);
            }
        }
        JudgedRun(figures)
    }
}

impl EstimateFigures {
    fn from_estimate(estimate: &Estimate, in_cycles: bool) -> EstimateFigures {
        let gated = estimate.quiet_share.is_some();
        let known = estimate.below_ns.is_none();
        let quiet = estimate.quiet.filter(|_| known);
        let ns = quiet.map(|quiet| quiet.ns);
        let cycles = quiet.and_then(|quiet| quiet.cycles);
        let (own, family) = match (gated, in_cycles) {
            (true, true) => (cycles.or(ns), IN_CYCLES),
            (true, false) => (ns, "quiet, ns"),
            (false, _) if estimate.tail.is_some() || !estimate.modes.is_empty() => {
                (estimate.ns(), "stamped")
            }
            (false, _) => (estimate.ns(), "distribution"),
        };
        let p99 = estimate.tail.and_then(|tail| {
            let known = tail.verdict != Some(Verdict::CannotTell);
            Some((tail.p99_ns?, known))
        });
        EstimateFigures {
            own,
            ns,
            cycles,
            typical: estimate.typical.map(|typical| typical.ns),
            p99,
            family,
            verdict: estimate.verdict,
        }
    }

    /// The row's own figure with half of its interval in percent.
    pub fn own_figure_text(&self) -> String {
        match self.own {
            Some(own) => format!("{:.4}±{:.1}%", own.value, own.relative_half_width() * 100.0),
            None => "-".into(),
        }
    }
}

/// How many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Those that did.
    pub hits: usize,
    pub all: usize,
}

impl Count {
    fn count_hit(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.all += 1;
    }

    /// The share; none of none.
    pub fn share(&self) -> Option<f64> {
        (self.all > 0).then(|| self.hits as f64 / self.all as f64)
    }
}

/// What is said of a family of rows.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Rows with a figure in two runs or more.
    pub rows: usize,
    /// Runs whose interval of the row's own figure holds the others' median.
    pub held: Count,
    /// The same of the median of everything.
    pub typical: Count,
    /// The same of the 99 % quantile, where the run gives it as known.
    pub p99: Count,
    /// Rows that are not ok.
    pub flagged: Count,
    /// Rows in two states.
    pub two_states: Count,
    /// Rows that are inconclusive or invalid.
    pub cannot_tell: Count,
    /// Rows whose verdict the next run repeats.
    pub same_verdict: Count,
    /// Rows that are ok and off.
    pub ok_and_off: Count,
    widths: Vec<f64>,
    spreads: Vec<f64>,
    ns: Vec<f64>,
    cycles: Vec<f64>,
}

impl Summary {
    /// Median of the half widths, as shares.
    pub fn half_width(&self) -> Option<f64> {
        median(&self.widths)
    }
    /// Median over rows of the range of the runs over their median.
    pub fn spread(&self) -> Option<f64> {
        median(&self.spreads)
    }
    /// The same of ns.
    pub fn spread_ns(&self) -> Option<f64> {
        median(&self.ns)
    }
    /// The same of cycles.
    pub fn spread_cycles(&self) -> Option<f64> {
        median(&self.cycles)
    }

    fn add_runs(&mut self, runs: &[&EstimateFigures]) {
        self.rows += 1;
        let of = |figure: fn(&EstimateFigures) -> Option<Interval>| -> Vec<Option<Interval>> {
            runs.iter().map(|run| figure(run)).collect()
        };
        let own = of(|f| f.own);
        count_held(&own, &mut self.held);
        count_held(&of(|f| f.typical), &mut self.typical);
        count_held(&of(|f| f.p99.filter(|&(_, known)| known).map(|(p99, _)| p99)), &mut self.p99);
        self.widths.extend(own.iter().flatten().map(Interval::relative_half_width));
        self.spreads.extend(range(&own));
        let (ns, cycles) = (of(|f| f.ns), of(|f| f.cycles));
        if let (Some(ns), Some(cycles)) = (range(&ns), range(&cycles)) {
            self.ns.push(ns);
            self.cycles.push(cycles);
        }
        for (k, run) in runs.iter().enumerate() {
            self.flagged.count_hit(run.verdict != Verdict::Ok);
            self.two_states.count_hit(run.verdict == Verdict::TwoStates);
            self.cannot_tell
                .count_hit(matches!(run.verdict, Verdict::CannotTell | Verdict::Invalid));
            if let Some(next) = runs.get(k + 1) {
                self.same_verdict.count_hit(next.verdict == run.verdict);
            }
            if let (Verdict::Ok, Some(own), Some(others)) = (run.verdict, own[k], others(&own, k)) {
                self.ok_and_off.count_hit((own.value / others - 1.0).abs() > OFF);
            }
        }
    }
}

/// Median of the other runs' figures.
fn others(figures: &[Option<Interval>], but: usize) -> Option<f64> {
    let values = figures.iter().enumerate().filter(|&(k, _)| k != but);
    let values: Vec<f64> = values.filter_map(|(_, f)| Some((*f)?.value)).collect();
    median(&values)
}

fn count_held(figures: &[Option<Interval>], count: &mut Count) {
    for (k, figure) in figures.iter().enumerate() {
        if let (Some(figure), Some(others)) = (figure, others(figures, k)) {
            count.count_hit((figure.low..=figure.high).contains(&others));
        }
    }
}

fn range(figures: &[Option<Interval>]) -> Option<f64> {
    let values: Vec<f64> = figures.iter().flatten().map(|f| f.value).collect();
    let middle = median(&values).filter(|_| values.len() >= 2)?;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (middle > 0.0).then(|| (most - least) / middle)
}

/// By kind of row, and all.
pub fn by_family(runs: &[JudgedRun]) -> BTreeMap<String, Summary> {
    let mut families: BTreeMap<String, Summary> = BTreeMap::new();
    let Some(first) = runs.first() else {
        return families;
    };
    for (id, figures) in &first.0 {
        let all: Vec<&EstimateFigures> = runs.iter().filter_map(|run| run.0.get(id)).collect();
        if all.len() < 2 {
            continue;
        }
        let place = if id.contains('@') { "point" } else { "row" };
        for family in [format!("{}, {place}s", figures.family), format!("all {place}s")] {
            families.entry(family).or_default().add_runs(&all);
        }
    }
    families
}
