//! What each CPU did over time: strips, sums and imbalance.

use super::trace::{ended, shortened};
use crate::chart::of_cpu_history;
use model::cpu_history::{BusySpread, CpuHistory, Imbalance, Ticks};
use model::figure::time;
use model::phrases::counted;
use model::printable::visible;
use model::share::percent;
use model::story::{Block, Cell, Note, Table, Tone, left, right};

/// The recording as blocks.
pub(super) fn cpu_history(history: &CpuHistory) -> Vec<Block> {
    let mut blocks = vec![
        Block::text(heading(history)),
        Block::empty_line(),
        Block::chart(of_cpu_history(history)),
        Block::empty_line(),
        Block::Table(sums(history)),
        Block::empty_line(),
    ];
    blocks.extend(imbalance(history));
    blocks
}

/// What was recorded, and for how long.
fn heading(history: &CpuHistory) -> String {
    let target = match &history.command {
        Some(words) => shortened(&visible(&words.join(" "))),
        None => "CPUs".into(),
    };
    format!(
        "{target}: {}, {}; {}",
        time(history.duration_ns() as f64),
        counted(history.cpus.len(), "CPU"),
        ended(history.ended)
    )
}

/// The shares of each CPU, and of each kind where there are several.
fn sums(history: &CpuHistory) -> Table {
    let columns = ["user", "system", "steal", "idle", "CPU time"].map(right);
    let mut table = Table::new([left("")].into_iter().chain(columns));
    let mut row = |name: String, ticks: Ticks| {
        let cells: Vec<Cell> = match ticks.shares() {
            None => vec!["-".into(); 5],
            Some(shares) => {
                let idle = f64::from(ticks.idle) / ticks.total() as f64;
                let busy_ns = ticks.busy() as f64 * history.tick_ns as f64;
                let shares = shares.into_iter().chain([idle]).map(percent);
                shares.chain([time(busy_ns)]).map(Cell::from).collect()
            }
        };
        table.row([Cell::from(name)].into_iter().chain(cells));
    };
    let kinds = history.by_kind();
    let has_kinds = kinds.len() > 1;
    let sum = |sum: Ticks, ticks: Ticks| sum.plus(ticks);
    for (kind, cpus) in kinds {
        let sums = cpus.iter().map(|cpu| cpu.sum());
        if has_kinds {
            let name = kind.map_or("kind not known", |kind| &kind.name);
            let of = counted(cpus.len(), "CPU");
            row(format!("{} ({of})", visible(name)), sums.fold(Ticks::default(), sum));
        }
        let indent = if has_kinds { "  " } else { "" };
        for cpu in cpus {
            row(format!("{indent}CPU {}", cpu.cpu), cpu.sum());
        }
    }
    table
}

fn imbalance(history: &CpuHistory) -> Vec<Block> {
    let uneven = match history.imbalance() {
        Some(of) => Block::Table(uneven(of)),
        None if history.is_empty() => Block::fact(
            "imbalance",
            format!(
                "not known: the recording is shorter than a tick of {}",
                time(history.tick_ns as f64)
            ),
        ),
        None => Block::fact(
            "imbalance",
            "not known: needs two CPUs that were online all the time, and work",
        ),
    };
    let queued = &history.queued_while_idle_ns;
    let queued = match (queued.value, &queued.unknown) {
        (Some(ns), _) => time(ns as f64),
        (None, why) => format!("not available here: {}", why.as_deref().unwrap_or("no reason")),
    };
    let ticks = format!(
        "Counters of all programs on the machine ({}), in ticks of {}.",
        visible(&history.source),
        time(history.tick_ns as f64)
    );
    vec![
        uneven,
        Block::empty_line(),
        Block::fact("queue", format!("one CPU had a queue while another was idle: {queued}")),
        Block::Note(Note { tone: Tone::Dim, ..Note::new("", ticks) }),
    ]
}

fn uneven(of: Imbalance) -> Table {
    let mut table = Table::new([
        left("imbalance"),
        right("busiest CPU's share"),
        right("coefficient of variation"),
    ]);
    let equal = BusySpread { busiest_share: 1.0 / of.cpus as f64, variation: 0.0 };
    let rows = [
        (format!("whole recording (CPU {})", of.busiest), of.whole),
        ("within intervals, mean".into(), of.intervals),
        (format!("{} used equally", counted(of.cpus, "CPU")), equal),
    ];
    for (name, spread) in rows {
        let cells = [percent(spread.busiest_share), format!("{:.2}", spread.variation)];
        table.row([name].into_iter().chain(cells).map(Cell::from));
    }
    table
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::terminal::layout::keeps_to;
    use crate::terminal::{live, paint_plain};
    use model::cpu_history::{CpuStrip, NO_QUEUES};
    use model::machine::{CoreKind, Fact};
    use model::trace::Ended;
    use std::time::Duration;

    /// Eight CPUs of two kinds, 100 intervals of 100 ms: background work on the
    /// efficiency cores, then a command on all.
    pub(crate) fn hybrid() -> CpuHistory {
        let kind = |name: &str, cpus: std::ops::Range<u32>| CoreKind {
            name: name.into(),
            cpus: cpus.collect(),
            capacity: None,
            max_hz: None,
        };
        let ticks = |cpu: u32, at: u32| match (cpu, at) {
            (7, 80..) => None,
            (4.., 20..50) => Some([8, 1, 0, 1]),
            (4.., 50..) => Some([at % 10, 0, 0, 10 - at % 10]),
            (0, 70..80) => Some([1, 7, 0, 2]),
            (1, 70..80) => Some([1, 0, 9, 0]),
            (_, 50..) => Some([10, 0, 0, 0]),
            (0, _) => Some([0, 1, 0, 9]),
            _ => Some([0, 0, 0, 10]),
        };
        let strip = |cpu| CpuStrip {
            cpu,
            ticks: (0..100).map(|at| ticks(cpu, at).map(Into::into)).collect(),
        };
        CpuHistory {
            command: Some(vec!["./program".into(), "--fast\u{1b}[2J".into()]),
            ended: Ended::Exited(3),
            tick_ns: 10_000_000,
            source: "/proc/stat".into(),
            core_kinds: Fact::known(vec![kind("P-core", 0..4), kind("E-core", 4..8)]),
            ends_ns: (1..=100).map(|at| at * 100_000_000).collect(),
            cpus: (0..8).map(strip).collect(),
            queued_while_idle_ns: Fact::unknown(NO_QUEUES),
        }
    }

    fn alike() -> CpuHistory {
        let mut history = hybrid();
        history.cpus.truncate(2);
        history.command = None;
        history.ended = Ended::Requested;
        history.core_kinds = Fact::unknown("a test");
        history
    }

    #[test]
    fn a_terminal_shows_each_cpu() {
        for (name, history) in [("hybrid", hybrid()), ("alike", alike())] {
            let page = paint_plain(&cpu_history(&history), 80);
            assert!(keeps_to(&page, 80), "{page}");
            insta::assert_snapshot!(name, page);
        }
    }

    fn live_screen(columns: usize, lines: usize) -> String {
        let every = Duration::from_millis(500);
        live::cpu_lines(&hybrid(), every, columns, lines).join("\n")
    }

    #[test]
    fn the_live_screen_has_the_newest_intervals_of_each_cpu() {
        let screen = live_screen(80, 24);
        assert!(keeps_to(&screen, 80), "{screen}");
        insta::assert_snapshot!(screen);
    }

    #[test]
    fn a_small_window_says_what_is_missing() {
        let screen = live_screen(60, 8);
        assert_eq!(screen.lines().count(), 8, "{screen}");
        assert!(keeps_to(&screen, 60), "{screen}");
        insta::assert_snapshot!(screen);
        assert_eq!(live_screen(40, 1).lines().count(), 1);
        assert!(keeps_to(&live_screen(20, 24), 20));
    }

    #[test]
    fn before_the_first_interval_nothing_is_claimed() {
        let mut history = hybrid();
        history.cpus.clear();
        history.ends_ns.clear();
        let lines = live::cpu_lines(&history, Duration::from_secs(1), 80, 24);
        assert!(lines[0].starts_with("All programs"), "{lines:?}");
        assert!(!lines.join("\n").contains('%'), "{lines:?}");
    }

    #[test]
    fn nothing_recorded_is_said() {
        let mut history = alike();
        history.cpus.clear();
        history.ends_ns.clear();
        let page = paint_plain(&cpu_history(&history), 80);
        assert!(page.contains("imbalance   not known"), "{page}");
    }

    #[test]
    fn the_page_is_whole_and_shows_no_strangers_markup() {
        let mut history = hybrid();
        history.command = Some(vec!["<script>".into()]);
        let blocks = cpu_history(&history);
        let page = crate::html::paint(&blocks, crate::html::PageContext::CHAPTER).into_string();
        for text in ["&lt;script&gt;", "E-core", "CPU 7", "busiest CPU", "data-csv="] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("<script>"));
    }

    #[test]
    fn figures_and_picture_are_the_recordings() {
        let chart = of_cpu_history(&hybrid());
        let svg = crate::chart::svg::to_svg(&chart, crate::chart::svg::Theme::Light);
        for text in [">P-core<", ">E-core<", ">CPU 0<", ">user<", ">not known<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let csv = crate::chart::csv(&chart);
        assert!(csv.starts_with("group,CPU,from_ns,to_ns,user,system,steal\n"));
        assert_eq!(csv.lines().count(), 1 + 8 * 480);
        assert_eq!(csv.lines().nth(1), Some("P-core,CPU 0,0,20833333,0,0.1,0"));
        assert!(csv.trim_end().ends_with(",,,"), "CPU 7 is offline at the end");
    }
}
