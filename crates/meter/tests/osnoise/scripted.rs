//! A machine whose time passes only by what is done on it. One tick is half a
//! nanosecond, so that ticks taken for ns show.

use meter::osnoise::detector::{self, DetectorError};
use meter::osnoise::machine::{DetectorMachine, InterruptsSinceBoot};
use meter::osnoise::observe::{DetectorSettings, Observations};
use meter::osnoise::summary::summarize;
use model::noise::osnoise::Osnoise;

pub(crate) const NS_PER_TICK: f64 = 0.5;
/// The script begins here, so that a difference taken the wrong way shows.
const BEGIN: u64 = 7_000_000_000;
/// Of the counter and the loop, cycles of the core.
pub(crate) const OVERHEAD: u64 = 60;

/// Detours that it keeps.
pub(crate) const MOST_DETOURS: usize = 5_000;

pub(crate) fn ticks(us: f64) -> u64 {
    (us * 1e3 / NS_PER_TICK).round() as u64
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScriptedEvent {
    /// When, µs after the watching began (or soon after).
    pub(crate) at_us: f64,
    /// How long, µs.
    pub(crate) takes_us: f64,
    pub(crate) run_delay_us: f64,
    pub(crate) timer: u64,
    pub(crate) other: u64,
}

pub(crate) struct ScriptedMachine {
    pub(crate) now: u64,
    /// Not yet happened, the next last.
    pub(crate) events: Vec<ScriptedEvent>,
    /// Cycles a tick, by the time since the watching began, µs.
    pub(crate) ticks_per_cycle: fn(f64) -> f64,
    pub(crate) run_delay_ns: Option<u64>,
    pub(crate) counts: Option<InterruptsSinceBoot>,
    pub(crate) run_delay_cost_us: f64,
    pub(crate) interrupts_cost_us: f64,
    /// Set when the learning is over: events are reported from there.
    pub(crate) began: Option<u64>,
    spins: u64,
    /// The counter goes back by so much at this many spins.
    pub(crate) back_at: Option<(u64, u64)>,
    /// It stops at this many.
    pub(crate) stops_at: Option<u64>,
    /// It is asked to end then, µs.
    pub(crate) end_at_us: f64,
    pub(crate) read_interrupts: u64,
}

/// Spins of the learning: pairs of blocks.
const LEARNING: u64 = 2000;

impl ScriptedMachine {
    pub(crate) fn new(mut events: Vec<ScriptedEvent>) -> ScriptedMachine {
        events.sort_by(|a, b| b.at_us.total_cmp(&a.at_us));
        ScriptedMachine {
            now: BEGIN,
            events,
            ticks_per_cycle: |_| 0.7,
            run_delay_ns: Some(123_456),
            counts: Some(InterruptsSinceBoot { timer: 1000, other: 50 }),
            run_delay_cost_us: 1.2,
            interrupts_cost_us: 40.0,
            began: None,
            spins: 0,
            back_at: None,
            stops_at: None,
            end_at_us: f64::INFINITY,
            read_interrupts: 0,
        }
    }

    fn since_began_us(&self) -> f64 {
        let began = self.began.unwrap_or(self.now);
        (self.now - began.min(self.now)) as f64 * NS_PER_TICK / 1e3
    }

    /// Lets time pass, with whatever happens in it.
    fn pass(&mut self, mut left: u64) {
        let Some(began) = self.began else {
            self.now += left;
            return;
        };
        while let Some(next) = self.events.last().copied() {
            let at = began + ticks(next.at_us);
            if at >= self.now + left {
                break;
            }
            let before = at.saturating_sub(self.now).min(left);
            left -= before;
            self.now += before + ticks(next.takes_us);
            self.events.pop();
            if let Some(ns) = &mut self.run_delay_ns {
                *ns += (next.run_delay_us * 1e3).round() as u64;
            }
            if let Some(counts) = &mut self.counts {
                counts.timer += next.timer;
                counts.other += next.other;
            }
        }
        self.now += left;
    }
}

impl DetectorMachine for ScriptedMachine {
    fn now(&mut self) -> u64 {
        self.now
    }

    fn spin(&mut self, turns: u64) -> u64 {
        self.spins += 1;
        if self.spins == LEARNING + 1 {
            // The readings that learn their own time come before.
            self.began = Some(self.now);
        }
        if self.stops_at.is_some_and(|at| self.spins > at) {
            return self.now;
        }
        if let Some((_, by)) = self.back_at.filter(|&(at, _)| at == self.spins) {
            self.now -= by;
            return self.now;
        }
        let cycles = (turns * 32 + OVERHEAD) as f64;
        let block = cycles * (self.ticks_per_cycle)(self.since_began_us());
        self.pass(block.round() as u64);
        self.now
    }

    fn run_delay_ns(&mut self) -> Option<u64> {
        self.run_delay_ns?;
        let read = self.run_delay_ns;
        self.pass(ticks(self.run_delay_cost_us));
        read
    }

    fn interrupts(&mut self) -> Option<InterruptsSinceBoot> {
        self.read_interrupts += 1;
        // Counted first, then written.
        let read = self.counts;
        self.pass(ticks(self.interrupts_cost_us));
        read
    }

    fn has_interrupts(&self) -> bool {
        self.counts.is_some()
    }

    fn should_stop(&mut self) -> bool {
        self.since_began_us() >= self.end_at_us
    }
}

pub(crate) fn observe(
    machine: &mut ScriptedMachine,
    span_us: f64,
) -> Result<Observations, DetectorError> {
    let settings = DetectorSettings {
        span_ticks: ticks(span_us),
        windows: 400,
        reading_share: 0.02,
        most_detours: MOST_DETOURS,
    };
    detector::observe(machine, &settings)
}

pub(crate) fn measure(machine: &mut ScriptedMachine, span_us: f64) -> Osnoise {
    let observed = observe(machine, span_us).expect("the clock runs");
    summarize(&observed, NS_PER_TICK, 40)
}
