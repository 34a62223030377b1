//! `latlas history --cpus --live`: what each CPU does now, drawn anew in place.

use crate::arguments::history::RecordingOptions;
use anyhow::{Context, bail};
use meter::cpu_history::CpuReadings;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use sys::attached::Held;
use sys::terminal::{CTRL_C, KeysAtOnce, is_interactive};
use view::terminal::live;

/// Length of an interval, which is a column.
const EVERY: Duration = Duration::from_millis(500);
/// A key is noticed within this time.
const KEYS_EVERY: Duration = Duration::from_millis(50);

/// The other screen of the terminal without a cursor, and back (xterm; `tput smcup civis`).
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the first line; to the end of a line, and of the screen, without what was there.
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_REST: &str = "\x1b[J";

/// Draws until a key, a signal or the end of the time.
pub(super) fn live_cpus(options: &RecordingOptions) -> anyhow::Result<ExitCode> {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if !is_interactive() || is_dumb {
        bail!("--live needs a terminal; without one: latlas history --cpus --for 10s");
    }
    let every = options.every.unwrap_or(EVERY);
    let core_kinds = sys::machine_facts(Path::new("/")).core_kinds;
    let mut readings = CpuReadings::begin(core_kinds)
        .with_context(|| format!("can't read {}", sys::cpu_times::SOURCE))?;
    let end = sys::later(Instant::now(), options.limit.unwrap_or(Duration::MAX));
    let held = sys::attached::hold().context("can't hold signals back")?;
    let screen = OtherScreen::enter()?;
    loop {
        let next = sys::later(Instant::now(), every);
        screen.draw(&mut readings, every)?;
        if screen.is_ended_within(&held, next.min(end))? || Instant::now() >= end {
            return Ok(ExitCode::SUCCESS);
        }
        readings.add_reading();
    }
}

/// The terminal as it is while something is drawn in place: left as it was, however that ends.
struct OtherScreen {
    keys: KeysAtOnce,
}

impl OtherScreen {
    fn enter() -> anyhow::Result<OtherScreen> {
        let keys = KeysAtOnce::begin().context("can't read single keys of the terminal")?;
        let screen = OtherScreen { keys };
        print_now(ENTER)?;
        Ok(screen)
    }

    /// Draws the intervals that the terminal has room for.
    fn draw(&self, readings: &mut CpuReadings, every: Duration) -> anyhow::Result<()> {
        let (lines, columns) = console::Term::stdout().size();
        let [lines, columns] = [lines, columns].map(usize::from);
        readings.keep_newest(columns);
        let drawn = live::cpu_lines(readings.history(), every, columns, lines);
        print_now(&format!(
            "{HOME}{}{CLEAR_LINE}{CLEAR_REST}",
            drawn.join(&format!("{CLEAR_LINE}\r\n"))
        ))
    }

    /// Waits until then, or for a key or a signal that ends it: whether one came.
    fn is_ended_within(&self, held: &Held, until: Instant) -> anyhow::Result<bool> {
        loop {
            let keys = self.keys.pressed().context("can't read the terminal")?;
            if keys.iter().any(|key| [b'q', b'Q', CTRL_C].contains(key)) {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            if held.is_requested_within(left.min(KEYS_EVERY)) {
                return Ok(true);
            }
        }
    }
}

impl Drop for OtherScreen {
    fn drop(&mut self) {
        // Nothing is left to be done where the terminal is gone.
        let _ = print_now(LEAVE);
    }
}

/// Prints control characters and all, at once.
fn print_now(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("can't write to the terminal")
}
