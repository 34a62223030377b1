//! What a spinning thread lost: by cause, by length, over time. As tables for `noise measure`, in a few words
//! for the header of a run. The measuring is in `crates/meter/src/osnoise`.

use model::figure::time;
use model::noise::osnoise::{Cause, Detour, Frequency, Osnoise, OsnoiseAround, Stretch};
use model::phrases::counted;
use model::share::{self, percent};
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left, right};

/// Columns of a full bar.
const BAR: usize = 48;

/// Interrupts that are named; the others are summed up.
const NAMED: usize = 8;

/// Parts of a page for each CPU.
pub(crate) fn osnoise(cpus: &[Osnoise]) -> Vec<Vec<Block>> {
    let mut parts: Vec<Vec<Block>> = cpus.iter().flat_map(of_cpu).collect();
    if cpus.len() > 1 {
        let text = "All these CPUs were measured at the same time, each with a thread that spins: \
                    whatever else wants to run shares a CPU with one of them.";
        parts.push(vec![Block::text(text)]);
    }
    parts
}

/// A few words for the conditions of a run.
pub(crate) fn conditions_text(around: &OsnoiseAround) -> String {
    let lost = |osnoise: &Osnoise| {
        let share = osnoise.lost_share()?;
        let most = osnoise.causes.iter().max_by_key(|lost| lost.lost_ns);
        Some(match most {
            None => "nothing".to_string(),
            Some(most) => format!("{} (most: {})", percent(share), most.cause.words()),
        })
    };
    let before = lost(&around.before).map(|lost| format!("{lost} before"));
    let after = around.after.as_ref().and_then(lost);
    let after = after.map(|lost| format!("{lost} after"));
    let both: Vec<String> = before.into_iter().chain(after).collect();
    match both.is_empty() {
        true => "CPU time lost is unknown".into(),
        false => format!("CPU time lost {}", both.join(", ")),
    }
}

fn of_cpu(osnoise: &Osnoise) -> Vec<Vec<Block>> {
    let mut parts = vec![vec![Block::text(first_words(osnoise))]];
    let mut table = |table: Table| parts.push(vec![Block::Table(table)]);
    if !osnoise.causes.is_empty() {
        table(by_cause(osnoise));
        table(by_length(osnoise));
    }
    parts.push(vec![Block::Lines(over_time(osnoise))]);
    if !osnoise.longest.is_empty() {
        parts.push(vec![Block::Table(longest(&osnoise.longest))]);
    }
    parts.push(osnoise_facts(osnoise));
    parts
}

fn first_words(osnoise: &Osnoise) -> String {
    let place = match (osnoise.cpu, &osnoise.not_pinned) {
        (Some(cpu), _) => format!("CPU {cpu}"),
        (None, Some(why)) => format!("On no CPU of its own ({why})"),
        (None, None) => "On no CPU of its own".into(),
    };
    let Some(share) = osnoise.lost_share() else {
        return format!("{place}: nothing was watched");
    };
    format!(
        "{place}: a spinning thread lost {} of its CPU time ({} of {}) to {}",
        lost(share, osnoise.share.as_ref()).join(" ").trim_end(),
        time(osnoise.lost_ns as f64),
        time(osnoise.watched_ns() as f64),
        counted(osnoise.detours as usize, "interruption")
    )
}

/// A share that was lost, with half of its interval where it has one.
fn lost(share: f64, interval: Option<&Interval>) -> [String; 2] {
    match interval.filter(|interval| interval.half_width() > 0.0) {
        Some(interval) => share::share_and_half(&Interval { value: share, ..*interval }),
        None => [percent(share), String::new()],
    }
}

fn letter(cause: Cause) -> char {
    match cause {
        Cause::Scheduler => 'S',
        Cause::Tick => 'T',
        Cause::Interrupts => 'I',
        Cause::TickAndInterrupts => 'B',
        Cause::Unexplained => 'U',
        Cause::Unknown => '?',
    }
}

/// The tick is the least that can be; others can be done something about, or
/// tell of the machine.
fn tone(cause: Cause) -> Tone {
    match cause {
        Cause::Tick => Tone::Good,
        Cause::Scheduler | Cause::Interrupts | Cause::TickAndInterrupts => Tone::Doubtful,
        Cause::Unexplained | Cause::Unknown => Tone::Bad,
    }
}

fn by_cause(osnoise: &Osnoise) -> Table {
    let mut table = Table::new([
        left("by cause"),
        right("detours"),
        right("lost"),
        right("share ±"),
        right("longest"),
        // Goes before the intervals where there is little room.
        left("").optional(),
    ]);
    for lost in &osnoise.causes {
        let share = osnoise.share_of(lost.cause).unwrap_or(0.0);
        let name = format!("  {} {}", letter(lost.cause), lost.cause.words());
        table.row([
            Cell::from(name).toned(tone(lost.cause)),
            lost.detours.to_string().into(),
            time(lost.lost_ns as f64).into(),
            Cell::digits(self::lost(share, lost.share.as_ref())),
            time(lost.longest_ns as f64).into(),
            meaning(lost.cause).into(),
        ]);
    }
    table
}

fn meaning(cause: Cause) -> &'static str {
    match cause {
        Cause::Scheduler => "other threads had the CPU",
        Cause::Tick => "timer interrupts",
        Cause::Interrupts => "other interrupts",
        Cause::TickAndInterrupts => "both in one interruption",
        Cause::Unexplained => "hypervisor or firmware",
        Cause::Unknown => "counter missing or too rare",
    }
}

fn by_length(osnoise: &Osnoise) -> Table {
    let count = |cause: &model::noise::osnoise::CauseTotal, bin: usize| {
        cause.histogram.get(bin).copied().unwrap_or(0)
    };
    let sum = |bin: usize| osnoise.causes.iter().map(|c| count(c, bin)).sum::<u64>();
    let bins = osnoise.causes.iter().map(|c| c.histogram.len()).max();
    let bins = bins.unwrap_or(0);
    let first = (0..bins).find(|&bin| sum(bin) > 0).unwrap_or(0);
    let most = (first..bins).map(sum).max().unwrap_or(0);
    let mut table = Table::new([
        right("by length, from"),
        right("detours"),
        left("(bars by the logarithm of the number)"),
    ]);
    for bin in first..bins {
        let counts: Vec<(Cause, u64)> =
            osnoise.causes.iter().map(|c| (c.cause, count(c, bin))).collect();
        table.row([
            time((1_u64 << bin.min(63)) as f64).into(),
            sum(bin).to_string().into(),
            bar(&counts, most).into(),
        ]);
    }
    table
}

/// A bar as long as the logarithm of its number, divided among the causes in
/// proportion; each that is there has a letter at least.
fn bar(counts: &[(Cause, u64)], most: u64) -> String {
    let sum: u64 = counts.iter().map(|&(_, n)| n).sum();
    let log = |n: u64| (n as f64 + 1.0).log2();
    let length = (log(sum) / log(most.max(1)) * BAR as f64).round() as usize;
    let mut bar = String::new();
    for &(cause, n) in counts.iter().filter(|&&(_, n)| n > 0) {
        let own = (n as f64 / sum as f64 * length as f64).round().max(1.0) as usize;
        let letters = letter(cause).to_string().repeat(own);
        bar.push_str(&letters);
    }
    bar
}

/// Three strips over the span: how much was lost, to what most, and the clock.
fn over_time(osnoise: &Osnoise) -> Vec<String> {
    let stretches = &osnoise.stretches;
    let lost = |s: &Stretch| {
        let lost: u64 = s.lost_ns.iter().sum();
        (s.watched_ns > 0).then(|| lost as f64 / s.watched_ns as f64)
    };
    let worst = stretches.iter().filter_map(lost).fold(0.0, f64::max);
    let fastest = stretches.iter().filter_map(|s| s.ghz).fold(0.0, f64::max);
    let share: String =
        stretches.iter().map(|s| lost(s).map_or(' ', |share| level(share, worst))).collect();
    let cause: String = stretches.iter().map(|s| most(s).map_or(' ', letter)).collect();
    let clock: String =
        stretches.iter().map(|s| s.ghz.map_or(' ', |ghz| level(ghz, fastest))).collect();
    let each = osnoise.span_ns as f64 / stretches.len().max(1) as f64;
    let mut text =
        vec![format!("over time, {} a column; the highest is the number at its right", time(each))];
    text.push(format!("  lost  {share} {}", percent(worst)));
    text.push(format!("  most  {cause}"));
    if fastest > 0.0 {
        text.push(format!("  clock {clock} {fastest:.2} GHz"));
    }
    text
}

/// What a stretch lost most to.
fn most(stretch: &Stretch) -> Option<Cause> {
    let lost = Cause::ALL.into_iter().zip(&stretch.lost_ns);
    lost.filter(|&(_, &ns)| ns > 0).max_by_key(|&(_, ns)| ns).map(|(cause, _)| cause)
}

/// Eighths of a character's height; a dot for nothing.
fn level(value: f64, top: f64) -> char {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if value <= 0.0 || top <= 0.0 {
        return '.';
    }
    EIGHTHS[((value / top * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

fn longest(osnoise: &[Detour]) -> Table {
    let mut table = Table::new([right("longest, at"), right("lost"), left("")]);
    for gap in osnoise {
        let parts: Vec<String> = gap
            .parts
            .iter()
            .map(|part| format!("{} {}", part.cause.words(), time(part.lost_ns as f64)))
            .collect();
        let what = match gap.parts.as_slice() {
            [] => String::new(),
            [only] => only.cause.words().into(),
            _ => format!("mixed: {}", parts.join(", ")),
        };
        table.row([time(gap.at_ns as f64).into(), time(gap.lost_ns as f64).into(), what.into()]);
    }
    table
}

/// What stands below the pictures.
fn osnoise_facts(osnoise: &Osnoise) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fact = |label: &str, what: String| blocks.push(Block::fact(label, what));
    if let Some(frequency) = &osnoise.frequency {
        fact("clock", clock(frequency));
    }
    if !osnoise.interrupts.is_empty() {
        fact("interrupts", interrupts(osnoise));
    }
    let mut more = Vec::new();
    if let Some(ns) = osnoise.run_delay_ns {
        let during = match osnoise.in_readings_ns {
            0 => String::new(),
            ns => format!(", {} of it during readings", time(ns as f64)),
        };
        let all = time(ns as f64);
        more.push(format!("run delay over the whole span {all}{during}"));
    }
    if let Some(switches) = osnoise.involuntary_switches {
        more.push(format!("{switches} involuntary switches"));
    }
    if let Some(ns) = osnoise.steal_ns {
        more.push(format!("steal {} (in steps of 10 ms)", time(ns as f64)));
    }
    if osnoise.migrated {
        more.push("it was moved to another CPU".into());
    }
    if !more.is_empty() {
        fact("also", more.join("; "));
    }
    fact("how", how(osnoise));
    for remark in &osnoise.remarks {
        fact("note", remark.clone());
    }
    blocks
}

fn clock(f: &Frequency) -> String {
    format!(
        "{:.2} GHz, 1 % of {} windows of {} below {:.2}, 1 % above {:.2}",
        f.p50_ghz,
        f.windows,
        time(f.window_ns as f64),
        f.p1_ghz,
        f.p99_ghz
    )
}

fn interrupts(osnoise: &Osnoise) -> String {
    let seconds = osnoise.span_ns as f64 / 1e9;
    let one =
        |name: &str, count: u64| format!("{name} {count} ({:.0} a second)", count as f64 / seconds);
    let named = osnoise.interrupts.iter().take(NAMED);
    let mut all: Vec<String> = named.map(|i| one(&i.name, i.count)).collect();
    if let Some(others) = osnoise.interrupts.get(NAMED..).filter(|others| !others.is_empty()) {
        let sum = others.iter().map(|i| i.count).sum();
        all.push(one(&format!("{} others", others.len()), sum));
    }
    all.join(", ")
}

fn how(osnoise: &Osnoise) -> String {
    let detector = &osnoise.detector;
    let mut text = format!(
        "blocks of {} dependent adds take {}; one that takes {} more than its neighbours is a detour; \
         {} of the time went into reading what had happened, and was not watched",
        detector.adds,
        time(detector.block_ns),
        time(detector.threshold_ns),
        percent(osnoise.blind_share().unwrap_or(0.0)),
    );
    if let Some(ns) = osnoise.reading_ns {
        text.push_str(&format!(
            " ({} readings of the interrupts, {} each, for {} detours)",
            osnoise.readings,
            time(ns as f64),
            osnoise.detours
        ));
    }
    if detector.slower > 0 {
        text.push_str(&format!("; {} steps to less than half of the clock", detector.slower));
    }
    text
}

#[cfg(test)]
mod tests;
