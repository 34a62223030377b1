//! The loop: block after block of dependent adds, each ended by a reading of
//! the counter that begins the next. A block that took too long holds a detour.
//! Right after it, outside the watched time, the system is asked what
//! happened.

use super::attribute::Lengths;
use super::machine::{DetectorMachine, InterruptsSinceBoot};
use super::observe::{Blind, DetectorSettings, Observations, SlowBlock, Window};
use super::quiet::{Quiet, TURNS, quiet_block, step, usual};

/// Quiet blocks after which the quiet length is renewed: some 20 µs.
const RENEWED_AFTER: u64 = 64;

/// So many blocks too long, one after the other and alike, are a slower
/// clock.
const SLOWER: usize = 16;

/// Times that a reading is made at most.
const TRIES: u64 = 3;

/// Steps of a broken counter in a row after which it is given up.
const BROKEN: u64 = 10_000;

/// A detour this many times as long as a reading of the interrupts is worth one
/// whatever the allowance says.
const LONG_DETOUR: u64 = 50;

/// Readings that may be saved up.
const SAVED: f64 = 10.0;

/// Why nothing was watched.
#[derive(thiserror::Error, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum DetectorError {
    #[error("the counter stands still")]
    NoCounter,
}

/// Watches for the length of the span.
///
/// # Errors
/// If the counter does not advance.
pub fn observe(
    machine: &mut impl DetectorMachine,
    settings: &DetectorSettings,
) -> Result<Observations, DetectorError> {
    let quiet = quiet_block(machine).ok_or(DetectorError::NoCounter)?;
    let mut this = Loop::begin(machine, quiet, *settings);
    this.observe()?;
    Ok(this.end())
}

struct Loop<'m, M> {
    machine: &'m mut M,
    settings: DetectorSettings,
    observed: Observations,
    quiet: Quiet,
    /// Length of a quiet block now, and of the longest that is no detour.
    block: f64,
    limit: u64,
    /// Where the counter stands, and how much of the span is over.
    at: u64,
    elapsed: u64,
    /// Quiet blocks that are not in a window yet.
    now: Window,
    /// Blocks too long, one after the other.
    streak: Vec<u64>,
    run_delay_ns: Option<u64>,
    first_run_delay_ns: Option<u64>,
    run_delay_ticks: u64,
    counts: Option<InterruptsSinceBoot>,
    /// How long detours with interrupts are.
    lengths: Lengths,
    /// Ticks that readings of the interrupts may still take, as of `granted`.
    allowance: f64,
    granted: u64,
}

impl<'m, M: DetectorMachine> Loop<'m, M> {
    fn begin(machine: &'m mut M, quiet: Quiet, settings: DetectorSettings) -> Self {
        let run_delay_ticks = usual(machine, M::run_delay_ns).unwrap_or(0);
        let reading_ticks = usual(machine, M::interrupts);
        let mut this = Loop {
            observed: Observations {
                quiet: Some(quiet),
                windows: vec![Window::default(); settings.windows.max(1)],
                window_ticks: (settings.span_ticks / settings.windows.max(1) as u64).max(1),
                reading_ticks,
                ..Observations::default()
            },
            settings,
            quiet,
            block: quiet.block,
            limit: quiet.limit(quiet.block),
            at: 0,
            elapsed: 0,
            now: Window::default(),
            streak: Vec::with_capacity(SLOWER),
            run_delay_ns: None,
            first_run_delay_ns: None,
            run_delay_ticks,
            counts: None,
            lengths: Lengths::default(),
            // The first detours of a short span need a reading too.
            allowance: 4.0 * reading_ticks.unwrap_or(0) as f64,
            granted: 0,
            machine,
        };
        this.counts = this.read_interrupts().1;
        this.run_delay_ns = this.read_run_delay().1;
        this.first_run_delay_ns = this.run_delay_ns;
        this.machine.spin(TURNS);
        this.at = this.machine.now();
        this.observed.began = this.at;
        this
    }

    fn observe(&mut self) -> Result<(), DetectorError> {
        let mut broken_in_a_row = 0;
        while self.elapsed < self.settings.span_ticks {
            let after = self.machine.spin(TURNS);
            let ticks = step(self.at, after);
            self.at = after;
            let Some(ticks) = ticks else {
                self.observed.broken_steps += 1;
                broken_in_a_row += 1;
                match broken_in_a_row {
                    BROKEN => return Err(DetectorError::NoCounter),
                    _ => continue,
                }
            };
            broken_in_a_row = 0;
            if ticks > self.limit {
                self.settle();
                self.detour(ticks);
                // Where detours are so many that no quiet blocks add up, too.
                self.observed.full = self.observed.records.len() >= self.settings.most_detours;
                if self.is_over() {
                    break;
                }
                continue;
            }
            self.elapsed += ticks;
            self.now.ticks += ticks;
            self.now.blocks += 1;
            if !self.streak.is_empty() {
                self.streak.clear();
            }
            if self.now.blocks == RENEWED_AFTER {
                self.renew();
                if self.is_over() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether to end before the span does.
    fn is_over(&mut self) -> bool {
        let over = self.machine.should_stop() || self.observed.full;
        self.observed.ended_early = over && self.elapsed < self.settings.span_ticks;
        over
    }

    /// Puts the quiet blocks since the last time into their window.
    fn settle(&mut self) {
        let middle = self.elapsed.saturating_sub(self.now.ticks / 2);
        let last = self.observed.windows.len() - 1;
        let place = (middle / self.observed.window_ticks) as usize;
        let window = &mut self.observed.windows[place.min(last)];
        window.ticks += self.now.ticks;
        window.blocks += self.now.blocks;
        self.now = Window::default();
    }

    /// A block that took too long.
    fn detour(&mut self, ticks: u64) {
        let from = self.elapsed;
        self.elapsed += ticks;
        self.streak.push(ticks);
        if self.streak.len() == SLOWER && self.is_slower() {
            return;
        }
        let lost = ticks - (self.block as u64).min(ticks);
        let (first, last) = self.read_run_delay();
        let grown = first.zip(self.run_delay_ns);
        let run_delay_ns = grown.map(|(now, before)| now.saturating_sub(before));
        self.run_delay_ns = last;
        let reading_from_ns = first;
        self.observed.records.push(SlowBlock {
            at: from,
            lost,
            run_delay_ns,
            group: self.observed.groups.len(),
        });
        if self.reading_is_due(lost, run_delay_ns) {
            self.close_group();
            // A switch while it read belongs to no detour, but to the reading.
            self.run_delay_ns = self.read_run_delay().1;
        }
        self.resume(reading_from_ns);
    }

    /// Sixteen blocks too long in a row, all alike: not detours, the clock has
    /// fallen to less than half.
    fn is_slower(&mut self) -> bool {
        let streak = std::mem::take(&mut self.streak);
        let longest = streak.iter().copied().max().unwrap_or(0);
        let shortest = streak.iter().copied().min().unwrap_or(0);
        if longest > self.quiet.limit(shortest as f64) {
            return false;
        }
        let records = &mut self.observed.records;
        // The last of the streak has no record yet.
        let taken_back = records.split_off(records.len().saturating_sub(SLOWER - 1));
        let delayed_ns = taken_back.iter().filter_map(|r| r.run_delay_ns).sum();
        self.in_readings(delayed_ns);
        self.now.ticks = streak.iter().sum();
        self.now.blocks = streak.len() as u64;
        self.renew();
        self.observed.slower += 1;
        true
    }

    /// Sets what a detour is against the quiet blocks that ran last.
    fn renew(&mut self) {
        self.block = self.now.ticks as f64 / self.now.blocks as f64;
        self.limit = self.quiet.limit(self.block);
        self.settle();
    }

    /// Whether the interrupts are read after this detour: while the allowance
    /// lasts, and after detours compared to which a reading is short. Of detours
    /// too short for an interrupt only some are looked at, from what is spared.
    fn reading_is_due(&mut self, lost: u64, run_delay_ns: Option<u64>) -> bool {
        let Some(cost) = self.observed.reading_ticks else {
            return false;
        };
        let passed = self.elapsed - self.granted;
        self.granted = self.elapsed;
        self.allowance += passed as f64 * self.settings.reading_share;
        // No more is saved than for some: a quiet second is no reason for a
        // burst of readings.
        self.allowance = self.allowance.min(SAVED * cost as f64);
        let worth = match lost < self.lengths.least() {
            true => SAVED * cost as f64,
            false => cost as f64,
        };
        let due = self.allowance >= worth
            || lost >= LONG_DETOUR * cost
            || run_delay_ns.is_some_and(|ns| ns > 0);
        if due {
            self.allowance -= cost as f64;
        }
        due
    }

    /// Reads the interrupts; all detours since the last time share them.
    fn close_group(&mut self) {
        let (first, last) = self.read_interrupts();
        let grown = first.zip(self.counts);
        let grown = grown.and_then(|(now, before)| now.since(before));
        let place = self.observed.groups.len();
        let sharing = self.observed.records.iter().rev();
        let sharing = sharing.take_while(|r| r.group == place).count();
        let first = self.observed.records.len() - sharing;
        self.lengths.learn(&self.observed.records[first..], grown);
        self.observed.groups.push(grown);
        self.counts = last;
        self.observed.readings += 1;
    }

    /// A reading that took longer than usual by half of what detours with an
    /// interrupt take was itself interrupted: it is made again, so that what
    /// came in between is not put on the next detour. Until the lengths are learned
    /// only one that took twice its time is. Each of them is paid from the
    /// allowance.
    fn read_interrupts(&mut self) -> (Option<InterruptsSinceBoot>, Option<InterruptsSinceBoot>) {
        let usual = self.observed.reading_ticks.unwrap_or(0);
        let more = match self.lengths.least() {
            0 => usual,
            least => least.min(usual),
        };
        let (first, last, again) = self.undisturbed(usual + more, M::interrupts);
        self.allowance -= (again * usual) as f64;
        (first, last)
    }

    /// What disturbs it is another thread, which takes much longer.
    fn read_run_delay(&mut self) -> (Option<u64>, Option<u64>) {
        let (first, last, _) = self.undisturbed(2 * self.run_delay_ticks, M::run_delay_ns);
        (first, last)
    }

    /// The first reading, which tells of the detour, one that nothing interrupted
    /// (it took no longer than `calm`), which the next detour is set against, and
    /// how often it was made again for that.
    fn undisturbed<T: Copy>(
        &mut self,
        calm: u64,
        read: impl Fn(&mut M) -> Option<T>,
    ) -> (Option<T>, Option<T>, u64) {
        let mut first = None;
        let mut last = None;
        let mut again = 0;
        for attempt in 0..TRIES {
            let begin = self.machine.now();
            last = read(self.machine);
            let end = self.machine.now();
            if attempt == 0 {
                first = last;
            }
            again = attempt;
            if last.is_none() || step(begin, end).is_some_and(|ticks| ticks <= calm) {
                break;
            }
        }
        (first, last, again)
    }

    /// Goes on spinning, after readings of which the first said that much run
    /// delay. The first block after a call of the system finds cold branches
    /// and is not watched.
    fn resume(&mut self, from_ns: Option<u64>) {
        self.machine.spin(TURNS);
        let now = self.machine.now();
        let passed = step(self.at, now);
        self.observed.broken_steps += u64::from(passed.is_none());
        let ticks = passed.unwrap_or(0);
        let delayed = self.run_delay_ns.zip(from_ns);
        self.observed.blind.push(Blind {
            at: self.elapsed,
            ticks,
            run_delay_ns: delayed.map_or(0, |(last, from)| last.saturating_sub(from)),
        });
        self.elapsed += ticks;
        self.at = now;
    }

    /// Adds run delay that no detour holds to the readings before.
    fn in_readings(&mut self, run_delay_ns: u64) {
        match self.observed.blind.last_mut() {
            Some(blind) => blind.run_delay_ns += run_delay_ns,
            None if run_delay_ns > 0 => {
                self.observed.blind.push(Blind { at: 0, ticks: 0, run_delay_ns })
            }
            None => {}
        }
    }

    fn end(mut self) -> Observations {
        self.settle();
        let last = self.machine.run_delay_ns();
        let since = last.zip(self.run_delay_ns);
        self.in_readings(since.map_or(0, |(last, before)| last.saturating_sub(before)));
        if self.observed.records.last().map(|last| last.group) == Some(self.observed.groups.len()) {
            match self.machine.has_interrupts() {
                true => self.close_group(),
                false => self.observed.groups.push(None),
            }
        }
        self.observed.run_delay_ns =
            last.zip(self.first_run_delay_ns).and_then(|(last, first)| last.checked_sub(first));
        self.observed.ticks = self.elapsed;
        self.observed
    }
}
