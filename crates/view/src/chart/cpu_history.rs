//! What each CPU did over time.

use super::{Axis, Body, Chart, Quantity, Section, Strip, Strips};
use model::cpu_history::{CpuHistory, CpuStrip, Ticks};
use model::figure::time;

/// A picture has not many more px.
const COLUMNS: usize = 480;

/// A strip for each CPU, grouped by kind of core.
pub fn of_cpu_history(history: &CpuHistory) -> Chart {
    let kinds = history.by_kind();
    let has_kinds = kinds.len() > 1;
    let strips = kinds.into_iter().flat_map(|(kind, cpus)| {
        let name = kind.map_or("kind not known", |kind| &kind.name);
        let group = if has_kinds { name } else { "" }.to_owned();
        cpus.into_iter().map(move |cpu| strip(history, cpu, &group))
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
        body: Body::Strips(Strips {
            x: Axis {
                label: "time".into(),
                quantity: Quantity::Nanoseconds,
                log: false,
                from_zero: true,
            },
            length_ns: history.duration_ns() as f64,
            label: "CPU".into(),
            parts: ["user", "system", "steal"].map(str::to_owned).to_vec(),
            strips: strips.collect(),
        }),
        notes: vec![format!(
            "Times are counted in whole ticks of {}.",
            time(history.tick_ns as f64)
        )],
    }
}

fn strip(history: &CpuHistory, cpu: &CpuStrip, group: &str) -> Strip {
    let columns = cpu.columns(&history.ends_ns, COLUMNS).into_iter();
    let shares = |shares: Option<[f64; 3]>| shares.map_or(Vec::new(), |shares| shares.to_vec());
    Strip {
        name: format!("CPU {}", cpu.cpu),
        group: group.to_owned(),
        mean: shares(Ticks::shares(cpu.sum())),
        columns: columns.map(shares).collect(),
    }
}
