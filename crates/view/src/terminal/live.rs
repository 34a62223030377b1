//! What each CPU does now, as lines that are drawn again and again.

use super::layout::{width, wrap};
use super::strips;
use crate::chart::{CPU_PARTS, newest_intervals};
use model::cpu_history::{CpuHistory, CpuStrip};
use model::figure::time;
use model::share::percent;
use std::time::Duration;

/// The screen: a strip for each CPU, of which a column is an interval of this length, the newest at
/// the right, and how busy it is in that. No wider than `columns`, and no more than `lines`.
pub fn cpu_lines(
    history: &CpuHistory,
    every: Duration,
    columns: usize,
    lines: usize,
) -> Vec<String> {
    let interval = time(every.as_nanos() as f64);
    let head = format!("All programs on each CPU, a column every {interval}. q or Ctrl-C ends.");
    let mut drawn = wrap("", &head, columns);
    let names = history.cpus.iter().map(|cpu| width(&name_now(cpu))).max().unwrap_or(0);
    let room = strips::room(names, columns);
    let drawing = newest_intervals(history, room, name_now);
    let ago = format!("{} ago", time(every.as_nanos() as f64 * room as f64));
    let gap = " ".repeat(room.saturating_sub(width(&ago) + width("now")));
    let mut body = strips::strip_lines(&drawing, columns, &format!("{ago}{gap}now"));
    let is_offline = history.cpus.iter().any(|cpu| cpu.ticks.contains(&None));
    let legend = strips::legend_of(CPU_PARTS.into_iter().enumerate(), is_offline);
    let mut legend = wrap("", &legend, columns);
    if drawn.len() + body.len() + legend.len() > lines {
        legend.clear();
    }
    let left = lines.saturating_sub(drawn.len() + legend.len());
    if body.len() > left {
        let more = body.len() + 1 - left;
        body.truncate(left.saturating_sub(1));
        body.push(format!("{more} more lines: enlarge the window"));
    }
    drawn.extend(body);
    drawn.extend(legend);
    drawn.truncate(lines);
    // A window narrower than a strip would break lines, and what is drawn next would not cover them.
    drawn.iter().map(|line| line.chars().take(columns).collect()).collect()
}

/// `CPU 3  45 %`: the CPU with its share of programs and kernel in the newest interval.
fn name_now(cpu: &CpuStrip) -> String {
    let now = cpu.ticks.last().copied().flatten().filter(|ticks| ticks.total() > 0);
    let busy = now.map_or("-".into(), |t| percent(t.busy() as f64 / t.total() as f64));
    format!("CPU {:<3} {busy:>5}", cpu.cpu)
}
