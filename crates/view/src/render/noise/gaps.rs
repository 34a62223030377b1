//! What a spinning thread lost: by cause, by length, over time.

use super::super::pages;
use model::figure::{decimals, time};
use model::noise::osnoise::{
    Cause, Detour, Frequency, Osnoise, OsnoiseAround, OsnoiseDocument, Stretch,
};
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left, right};

/// Columns of a full bar.
const BAR: usize = 48;

/// Interrupts that are named; the others are summed up.
const NAMED: usize = 8;

/// A document as text, one block for each CPU.
pub fn gaps(document: &OsnoiseDocument, color: bool) -> String {
    let partial = document.partial.iter();
    let partial = partial.map(|why| vec![Block::warning("PARTIAL: ", why)]);
    let mut parts: Vec<Vec<Block>> = partial.collect();
    parts.extend(document.cpus.iter().flat_map(of_cpu));
    if document.cpus.len() > 1 {
        let text = "All these CPUs were measured at the same time, each with a thread that spins: \
                    whatever else wants to run shares a CPU with one of them.";
        parts.push(vec![Block::text(text)]);
    }
    pages(&parts, color)
}

/// A few words for the conditions of a run.
pub(crate) fn in_words(around: &OsnoiseAround) -> String {
    let lost = |gaps: &Osnoise| {
        let share = gaps.lost_share()?;
        let most = gaps.causes.iter().max_by_key(|lost| lost.lost_ns);
        Some(match most {
            None => "nothing".to_string(),
            Some(most) => format!("{} (most: {})", percent(share, 0.0), most.cause.words()),
        })
    };
    let before = lost(&around.before).map(|lost| format!("{lost} before"));
    let after = around.after.as_ref().and_then(lost);
    let after = after.map(|lost| format!("{lost} after"));
    let both: Vec<String> = before.into_iter().chain(after).collect();
    match both.is_empty() {
        true => "what a spinning thread loses is not known".into(),
        false => format!("a spinning thread lost {}", both.join(", ")),
    }
}

fn of_cpu(gaps: &Osnoise) -> Vec<Vec<Block>> {
    let mut parts = vec![vec![Block::text(first_words(gaps))]];
    let mut table = |table: Table| parts.push(vec![Block::Table(table)]);
    if !gaps.causes.is_empty() {
        table(by_cause(gaps));
        table(by_length(gaps));
    }
    parts.push(vec![Block::Lines(over_time(gaps))]);
    if !gaps.longest.is_empty() {
        parts.push(vec![Block::Table(longest(&gaps.longest))]);
    }
    parts.push(facts(gaps));
    parts
}

fn first_words(gaps: &Osnoise) -> String {
    let place = match (gaps.cpu, &gaps.not_pinned) {
        (Some(cpu), _) => format!("CPU {cpu}"),
        (None, Some(why)) => format!("On no CPU of its own ({why})"),
        (None, None) => "On no CPU of its own".into(),
    };
    let Some(share) = gaps.lost_share() else {
        return format!("{place}: nothing was watched");
    };
    let half = gaps.share.as_ref().map_or(0.0, Interval::half_width);
    format!(
        "{place}: a thread that only spins lost {}{} of its time, {} of {}, in {} gaps",
        percent(share, half),
        plus_minus(share, half),
        time(gaps.lost_ns as f64),
        time(gaps.watched_ns() as f64),
        gaps.detours
    )
}

/// A share as percent, with the digits that its interval supports.
fn percent(share: f64, half: f64) -> String {
    let places = decimals(share * 100.0, half * 100.0).min(4);
    format!("{:.places$} %", share * 100.0)
}

/// Half of the interval, in the same digits.
fn plus_minus(share: f64, half: f64) -> String {
    let places = decimals(share * 100.0, half * 100.0).min(4);
    match half > 0.0 {
        true => format!(" ±{:.places$}", half * 100.0),
        false => String::new(),
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

fn by_cause(gaps: &Osnoise) -> Table {
    let mut table = Table::new([
        left("by cause"),
        right("gaps"),
        right("lost"),
        right("share ±"),
        right("longest"),
        left(""),
    ]);
    for lost in &gaps.causes {
        let share = gaps.share_of(lost.cause).unwrap_or(0.0);
        let half = lost.share.as_ref().map_or(0.0, Interval::half_width);
        let name = format!("  {} {}", letter(lost.cause), lost.cause.words());
        let half_text = plus_minus(share, half).trim().to_owned();
        table.row([
            Cell::from(name).toned(tone(lost.cause)),
            lost.detours.to_string().into(),
            time(lost.lost_ns as f64).into(),
            Cell::digits([percent(share, half), half_text]),
            time(lost.longest_ns as f64).into(),
            meaning(lost.cause).into(),
        ]);
    }
    table
}

fn meaning(cause: Cause) -> &'static str {
    match cause {
        Cause::Scheduler => "other threads had the CPU",
        Cause::Tick => "its timer's interrupts",
        Cause::Interrupts => "its other interrupts",
        Cause::TickAndInterrupts => "both, in one gap or reading",
        Cause::Unexplained => "below the system: host, firmware",
        Cause::Unknown => "no source told, or too seldom",
    }
}

fn by_length(gaps: &Osnoise) -> Table {
    let count = |cause: &model::noise::osnoise::CauseTotal, bin: usize| {
        cause.histogram.get(bin).copied().unwrap_or(0)
    };
    let sum = |bin: usize| gaps.causes.iter().map(|c| count(c, bin)).sum::<u64>();
    let bins = gaps.causes.iter().map(|c| c.histogram.len()).max();
    let bins = bins.unwrap_or(0);
    let first = (0..bins).find(|&bin| sum(bin) > 0).unwrap_or(0);
    let most = (first..bins).map(sum).max().unwrap_or(0);
    let mut table = Table::new([
        right("by length, from"),
        right("gaps"),
        left("(bars by the logarithm of the number)"),
    ]);
    for bin in first..bins {
        let counts: Vec<(Cause, u64)> = gaps
            .causes
            .iter()
            .map(|c| (c.cause, count(c, bin)))
            .collect();
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
fn over_time(gaps: &Osnoise) -> Vec<String> {
    let stretches = &gaps.stretches;
    let lost = |s: &Stretch| {
        let lost: u64 = s.lost_ns.iter().sum();
        (s.watched_ns > 0).then(|| lost as f64 / s.watched_ns as f64)
    };
    let worst = stretches.iter().filter_map(lost).fold(0.0, f64::max);
    let fastest = stretches.iter().filter_map(|s| s.ghz).fold(0.0, f64::max);
    let share: String = stretches
        .iter()
        .map(|s| lost(s).map_or(' ', |share| level(share, worst)))
        .collect();
    let cause: String = stretches
        .iter()
        .map(|s| most(s).map_or(' ', letter))
        .collect();
    let clock: String = stretches
        .iter()
        .map(|s| s.ghz.map_or(' ', |ghz| level(ghz, fastest)))
        .collect();
    let each = gaps.span_ns as f64 / stretches.len().max(1) as f64;
    let mut text = vec![format!(
        "over time, {} a column; the highest is the number at its right",
        time(each)
    )];
    text.push(format!("  lost  {share} {}", percent(worst, 0.0)));
    text.push(format!("  most  {cause}"));
    if fastest > 0.0 {
        text.push(format!("  clock {clock} {fastest:.2} GHz"));
    }
    text
}

/// What a stretch lost most to.
fn most(stretch: &Stretch) -> Option<Cause> {
    let lost = Cause::ALL.into_iter().zip(&stretch.lost_ns);
    lost.filter(|&(_, &ns)| ns > 0)
        .max_by_key(|&(_, ns)| ns)
        .map(|(cause, _)| cause)
}

/// Eighths of a character's height; a dot for nothing.
fn level(value: f64, top: f64) -> char {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if value <= 0.0 || top <= 0.0 {
        return '.';
    }
    EIGHTHS[((value / top * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

fn longest(gaps: &[Detour]) -> Table {
    let mut table = Table::new([right("longest, at"), right("lost"), left("")]);
    for gap in gaps {
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
        table.row([
            time(gap.at_ns as f64).into(),
            time(gap.lost_ns as f64).into(),
            what.into(),
        ]);
    }
    table
}

/// What stands below the pictures.
fn facts(gaps: &Osnoise) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fact = |label: &str, what: String| blocks.push(Block::fact(label, what));
    if let Some(frequency) = &gaps.frequency {
        fact("clock", clock(frequency));
    }
    if !gaps.interrupts.is_empty() {
        fact("interrupts", interrupts(gaps));
    }
    let mut beside = Vec::new();
    if let Some(ns) = gaps.run_delay_ns {
        let during = match gaps.in_readings_ns {
            0 => String::new(),
            ns => format!(", {} of it during readings", time(ns as f64)),
        };
        let all = time(ns as f64);
        beside.push(format!("run delay over the whole span {all}{during}"));
    }
    if let Some(switches) = gaps.involuntary_switches {
        beside.push(format!("{switches} involuntary switches"));
    }
    if let Some(ns) = gaps.steal_ns {
        beside.push(format!("steal {} (in steps of 10 ms)", time(ns as f64)));
    }
    if gaps.migrated {
        beside.push("it was moved to another CPU".into());
    }
    if !beside.is_empty() {
        fact("beside", beside.join("; "));
    }
    fact("how", how(gaps));
    for remark in &gaps.remarks {
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

fn interrupts(gaps: &Osnoise) -> String {
    let seconds = gaps.span_ns as f64 / 1e9;
    let one =
        |name: &str, count: u64| format!("{name} {count} ({:.0} a second)", count as f64 / seconds);
    let named = gaps.interrupts.iter().take(NAMED);
    let mut all: Vec<String> = named.map(|i| one(&i.name, i.count)).collect();
    if let Some(others) = gaps
        .interrupts
        .get(NAMED..)
        .filter(|others| !others.is_empty())
    {
        let sum = others.iter().map(|i| i.count).sum();
        all.push(one(&format!("{} others", others.len()), sum));
    }
    all.join(", ")
}

fn how(gaps: &Osnoise) -> String {
    let detector = &gaps.detector;
    let mut text = format!(
        "blocks of {} dependent adds take {}; one that takes {} more than its neighbours is a gap; \
         {} of the time went into reading what had happened, and was not watched",
        detector.adds,
        time(detector.block_ns),
        time(detector.threshold_ns),
        percent(gaps.blind_share().unwrap_or(0.0), 0.0),
    );
    if let Some(ns) = gaps.reading_ns {
        text.push_str(&format!(
            " ({} readings of the interrupts, {} each, for {} gaps)",
            gaps.readings,
            time(ns as f64),
            gaps.detours
        ));
    }
    if detector.slower > 0 {
        text.push_str(&format!(
            "; {} steps to less than half of the clock",
            detector.slower
        ));
    }
    text
}

#[cfg(test)]
mod tests;
