//! What each CPU did over time.

use super::figure::linear;
use super::{Body, Chart, Quantity, Section, Strip, Strips};
use model::cpu_history::{CpuHistory, CpuStrip, Ticks};
use model::experiment::slug;
use model::figure::time;

/// What a strip is stacked of.
pub(crate) const CPU_PARTS: [&str; 3] = ["user", "system", "steal"];

/// A picture has not many more px.
const COLUMNS: usize = 480;

/// The same of a part of a recording that has several: each has a name and an id of its own.
pub(crate) fn of_cpu_history_while(history: &CpuHistory, what: &str) -> Chart {
    let chart = of_cpu_history(history);
    Chart {
        id: format!("{}.{}", chart.id, slug(what)),
        title: format!("{}: {what}", chart.title),
        ..chart
    }
}

/// A strip for each CPU, grouped by kind of core.
pub fn of_cpu_history(history: &CpuHistory) -> Chart {
    let strips = grouped(history).into_iter().map(|(cpu, group)| {
        let columns = cpu.columns(&history.ends_ns, COLUMNS).into_iter();
        strip(cpu, format!("CPU {}", cpu.cpu), group, columns.collect())
    });
    let intervals = history.ends_ns.len().max(1);
    let interval_ns = history.duration_ns() as f64 / intervals as f64;
    Chart {
        id: "cpu.history".into(),
        title: "CPU history".into(),
        caption: format!(
            "Share of time of all programs, of the kernel and of the hypervisor on each CPU; \
             empty: idle. Intervals of {} on average.",
            time(interval_ns)
        ),
        section: Section::Threads,
        body: Body::Strips(strips_of(history.duration_ns() as f64, strips.collect())),
        notes: vec![format!(
            "Times are counted in whole ticks of {}.",
            time(history.tick_ns as f64)
        )],
    }
}

/// Strips of which a column is an interval, the last `columns` of them, each with its name.
/// Before the first interval nothing is drawn.
pub(crate) fn newest_intervals(
    history: &CpuHistory,
    columns: usize,
    name: impl Fn(&CpuStrip) -> String,
) -> Strips {
    let newest = |cpu: &CpuStrip| {
        let from = cpu.ticks.len().saturating_sub(columns);
        let ticks = &cpu.ticks[from..];
        let mut shares = vec![Some([0.0; 3]); columns - ticks.len()];
        // No tick passed in an interval shorter than one.
        let nothing = |ticks: &Ticks| ticks.shares().unwrap_or([0.0; 3]);
        shares.extend(ticks.iter().map(|ticks| ticks.as_ref().map(nothing)));
        shares
    };
    let strips = grouped(history).into_iter();
    let strips = strips.map(|(cpu, group)| strip(cpu, name(cpu), group, newest(cpu)));
    strips_of(history.duration_ns() as f64, strips.collect())
}

/// The CPUs with the name of their kind, where there are several.
fn grouped(history: &CpuHistory) -> Vec<(&CpuStrip, String)> {
    let kinds = history.by_kind();
    let has_kinds = kinds.len() > 1;
    let grouped = kinds.into_iter().flat_map(|(kind, cpus)| {
        let name = kind.map_or("kind not known", |kind| &kind.name);
        let group = if has_kinds { name } else { "" }.to_owned();
        cpus.into_iter().map(move |cpu| (cpu, group.clone()))
    });
    grouped.collect()
}

fn strips_of(length_ns: f64, strips: Vec<Strip>) -> Strips {
    Strips {
        x: linear("time", Quantity::Nanoseconds),
        length_ns,
        label: "CPU".into(),
        parts: CPU_PARTS.map(str::to_owned).to_vec(),
        strips,
    }
}

fn strip(cpu: &CpuStrip, name: String, group: String, columns: Vec<Option<[f64; 3]>>) -> Strip {
    let shares = |shares: Option<[f64; 3]>| shares.map_or(Vec::new(), |shares| shares.to_vec());
    Strip {
        name,
        group,
        mean: shares(Ticks::shares(cpu.sum())),
        columns: columns.into_iter().map(shares).collect(),
    }
}
