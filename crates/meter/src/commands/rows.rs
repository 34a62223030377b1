//! The rows of a command: what each is, and how it comes from what a run cost.

use super::repeat::{Timed, walls_ns};
use model::command::{Commands, PageCache};
use model::figure::time as time_text;
use model::repeats::{FEW_EVENTS, LEAST_FOR_INTERVAL};
use model::unit::Unit;
use sys::command::Usage;
use sys::counters::{Counted, CounterEvent};

/// What one row is.
pub struct RowKind {
    /// What stands behind `exec.NAME/`.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Widths are judged as shares of this where the value is smaller.
    pub least: f64,
    /// The event that it needs, if one.
    pub event: Option<CounterEvent>,
    /// Its value as a fraction, exact: numerator and denominator.
    pub value: fn(&Usage) -> Option<(u64, u64)>,
}

const fn time(name: &'static str, value: fn(&Usage) -> Option<(u64, u64)>) -> RowKind {
    RowKind { name, unit: Unit::Time, least: 0.0, event: None, value }
}

const fn events(name: &'static str, value: fn(&Usage) -> Option<(u64, u64)>) -> RowKind {
    RowKind { unit: Unit::Count, least: FEW_EVENTS, ..time(name, value) }
}

/// The row of the time that a command was ready to run and had no CPU.
pub const RUN_DELAY: &str = "run_delay";

/// All rows, in the order in which they stand.
pub const ROWS: [RowKind; 18] = [
    time("wall", |u| Some((u.wall_ns, 1))),
    time("start", |u| Some((u.start_ns, 1))),
    time("user", |u| Some((u.user_ns, 1))),
    time("system", |u| Some((u.system_ns, 1))),
    RowKind {
        event: Some(CounterEvent::TaskClock),
        ..time("task_clock", |u| whole(u.counts.get(CounterEvent::TaskClock)))
    },
    RowKind {
        unit: Unit::Count,
        ..time("cpus_utilised", |u| Some((busy_ns(u), u.wall_ns)).filter(|_| u.wall_ns > 0))
    },
    time(RUN_DELAY, |u| whole(u.run_delay_ns)),
    RowKind { unit: Unit::Bytes, ..time("peak_memory", |u| Some((u.peak_bytes, 1))) },
    events("context_switches", |u| {
        let own = u.counts.get(CounterEvent::ContextSwitches);
        Some((own.unwrap_or(u.voluntary + u.involuntary), 1))
    }),
    events("voluntary_switches", |u| Some((u.voluntary, 1))),
    events("involuntary_switches", |u| Some((u.involuntary, 1))),
    RowKind {
        event: Some(CounterEvent::CpuMigrations),
        ..events("cpu_migrations", |u| whole(u.counts.get(CounterEvent::CpuMigrations)))
    },
    events("faults", |u| {
        let own = u.counts.get(CounterEvent::PageFaults);
        Some((own.unwrap_or(u.minor_faults + u.major_faults), 1))
    }),
    events("minor_faults", |u| {
        let own = u.counts.get(CounterEvent::MinorFaults);
        Some((own.unwrap_or(u.minor_faults), 1))
    }),
    events("major_faults", |u| {
        let own = u.counts.get(CounterEvent::MajorFaults);
        Some((own.unwrap_or(u.major_faults), 1))
    }),
    RowKind {
        event: Some(CounterEvent::Cycles),
        ..events("cycles", |u| whole(u.counts.get(CounterEvent::Cycles)))
    },
    RowKind {
        event: Some(CounterEvent::Instructions),
        ..events("instructions", |u| whole(u.counts.get(CounterEvent::Instructions)))
    },
    RowKind {
        unit: Unit::Frequency,
        event: Some(CounterEvent::Cycles),
        // Time of one cycle, as every frequency is measured here.
        ..time("frequency", |u| {
            let cycles = u.counts.get(CounterEvent::Cycles).filter(|&c| c > 0)?;
            Some((u.counts.get(CounterEvent::TaskClock)?, cycles))
        })
    },
];

fn whole(value: Option<u64>) -> Option<(u64, u64)> {
    value.map(|v| (v, 1))
}

/// CPU time: by the task clock, else as `wait4` has it.
fn busy_ns(usage: &Usage) -> u64 {
    let clock = usage.counts.get(CounterEvent::TaskClock);
    clock.unwrap_or(usage.user_ns + usage.system_ns)
}

/// Why a row can't be computed from what was counted, though each part was.
pub fn misleads(kind: &RowKind, counted: &[(CounterEvent, Counted)]) -> Option<String> {
    let user_only = counted.contains(&(CounterEvent::Cycles, Counted::UserModeOnly));
    (kind.name == "frequency" && user_only).then(|| {
        "cycles are counted in user mode only, the task clock in both modes: their ratio is not a \
         frequency; the kernel's part needs CAP_PERFMON (or root), or \
         kernel.perf_event_paranoid at 1 or below"
            .into()
    })
}

/// What a reader must know of how a row was counted here, if anything.
pub fn counting_note(kind: &RowKind, counted: &[(CounterEvent, Counted)]) -> Option<String> {
    let (event, instead) = match kind.name {
        "context_switches" => (CounterEvent::ContextSwitches, "switches"),
        "faults" => (CounterEvent::PageFaults, "faults"),
        "minor_faults" => (CounterEvent::MinorFaults, "faults"),
        "major_faults" => (CounterEvent::MajorFaults, "faults"),
        "cpus_utilised" => (CounterEvent::TaskClock, "CPU time"),
        _ => (kind.event?, ""),
    };
    match &counted.iter().find(|(e, _)| *e == event)?.1 {
        Counted::Everything => None,
        Counted::UserModeOnly => Some(
            "counted in user mode only: the kernel's part needs CAP_PERFMON (or root), or \
             kernel.perf_event_paranoid at 1 or below"
                .into(),
        ),
        Counted::Not(why) if !instead.is_empty() => Some(format!(
            "{instead} from wait4: counted from process creation, without descendants that were not \
             waited for; perf events are unavailable: {why}"
        )),
        Counted::Not(_) => None,
    }
}

/// By so much a first run is slower than all others before it is worth a word.
const SLOW_FIRST: f64 = 1.1;

/// That the first run was slower than all others, where no warm-up had read the files before it.
pub fn slow_first_run(commands: &Commands, runs: &[Timed]) -> Option<String> {
    let walls = walls_ns(runs);
    let (first, others) = walls.split_first()?;
    let longest = others.iter().copied().fold(0.0, f64::max);
    let is_worth_it = commands.warmups == 0
        && commands.page_cache == PageCache::Warm
        && walls.len() >= LEAST_FOR_INTERVAL
        && *first > SLOW_FIRST * longest;
    is_worth_it.then(|| {
        format!(
            "the first run took {}, the others at most {}: perhaps files were not cached yet; --warmup 1 leaves it \
             out",
            time_text(*first),
            time_text(longest)
        )
    })
}
