//! Through the plan, block by block and round by round, on a stage that is
//! real or scripted. What was measured before something went wrong is kept.

use super::control::NONE;
use super::plan::{Plan, PlannedArm, PlannedBlock};
use super::toggle::{Toggles, still_on};
use meter::commands::repeat::{ADAPTIVE, Done, Runner, repeat};
use model::command::{Ended, Rule};
use model::noise::effect::{Arm, Block, Load, OneRun, Wakeups, Workload};
use std::path::PathBuf;
use sys::command::Usage;
use sys::counters::Event;

/// Where jobs run.
pub trait Stage {
    /// Makes ready for a block: starts its load and lets it settle.
    ///
    /// # Errors
    /// Why the block can't be measured.
    fn begin(&mut self, workload: Workload, load: Load, arms: &[PlannedArm]) -> Result<(), Stop>;

    /// Runs the job once as one of the block's arms, in these control groups.
    ///
    /// # Errors
    /// Why it does not count, or a load that is no more.
    fn run(&mut self, arm: usize, groups: &[PathBuf]) -> Result<Done<Ran>, Stop>;

    /// Ends the load.
    fn end(&mut self);

    /// Time since the beginning, ms.
    fn elapsed_ms(&self) -> u64;
}

/// What one run was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ran {
    /// What it cost.
    pub usage: Usage,
    /// How long its work took, as it saw it itself, ns.
    pub took_ns: u64,
    /// What it said of its sleep.
    pub wakeups: Option<Wakeups>,
}

/// Why it can't go on so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This state is not tried any more in its block; the others are.
    Arm(String),
    /// This block ends here, the others are measured.
    Block(String),
    /// Nothing more is measured.
    All(String),
    /// The time that this block may take is used.
    Time,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The block, from 1, of how many.
    pub block: usize,
    /// Of how many.
    pub blocks: usize,
    /// Its job and load.
    pub planned: &'a PlannedBlock,
    /// Rounds that are done.
    pub rounds: usize,
    /// Time since the beginning, ms.
    pub elapsed_ms: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conducted {
    /// All blocks of which there is a run.
    pub blocks: Vec<Block>,
    /// Why it is not whole, if it is not.
    pub partial: Option<String>,
    /// That there are fewer rounds than planned, since the time was used.
    pub cut: Option<String>,
}

/// Measures all blocks. Each begins with one run of each arm that counts for
/// nothing; then come the rounds, in a random order and the next the other way
/// round ([`repeat`]). Where the plan has a time, a round that would not fit it
/// is not begun, and one that outlasts it by more than half is discarded.
pub fn conduct(
    plan: &Plan,
    stage: &mut impl Stage,
    toggles: &mut Toggles,
    seed: u64,
    mut watch: impl FnMut(&Progress),
) -> Conducted {
    let mut done = Conducted::default();
    let mut reasons: Vec<String> = Vec::new();
    let mut cut: Vec<usize> = Vec::new();
    for (k, planned) in plan.blocks.iter().enumerate() {
        let Measured {
            runs,
            left_out,
            stop,
        } = one_block(plan, k, stage, toggles, seed, &mut watch);
        stage.end();
        let where_ = || format!("{} {}", planned.workload.name(), planned.load.in_words());
        for ((arm, runs), why) in planned.arms.iter().zip(&runs).zip(left_out) {
            if let Some(why) = why {
                let after = format!("{} left out after {} runs", arm.name, runs.len());
                reasons.push(format!("{}: {after}: {why}", where_()));
            }
        }
        let rounds = runs.first().map_or(0, Vec::len);
        if runs.iter().any(|runs| !runs.is_empty()) {
            done.blocks.push(block(planned, runs));
        }
        match stop {
            None => {}
            Some(Stop::Time) => cut.push(rounds),
            Some(Stop::Block(why) | Stop::Arm(why)) => reasons.push(format!("{}: {why}", where_())),
            Some(Stop::All(why)) => {
                reasons.push(why);
                break;
            }
        }
    }
    done.partial = (!reasons.is_empty()).then(|| reasons.join("; "));
    done.cut = in_words(plan, &cut);
    done
}

/// What a reader must know of blocks that ended after so many rounds.
fn in_words(plan: &Plan, cut: &[usize]) -> Option<String> {
    let (least, most) = (cut.iter().min()?, cut.iter().max()?);
    if *least >= plan.rounds as usize {
        return None;
    }
    let rounds = match least == most {
        true => format!("{least}"),
        false => format!("{least} to {most}"),
    };
    Some(format!(
        "runs took longer than expected: {rounds} of {} rounds fit {:.0} s{}",
        plan.rounds,
        plan.most_ms.unwrap_or(plan.expected_ms) as f64 / 1e3,
        match plan.blocks.len() {
            1 => String::new(),
            all => format!(" (in {} of {all} jobs and loads)", cut.len()),
        }
    ))
}

fn block(planned: &PlannedBlock, runs: Vec<Vec<OneRun>>) -> Block {
    let arms = planned.arms.iter().zip(runs);
    Block {
        workload: planned.workload,
        load: planned.load,
        arms: arms
            .map(|(arm, runs)| Arm {
                name: arm.name.clone(),
                runs,
            })
            .collect(),
    }
}

/// What came of one block.
struct Measured {
    runs: Vec<Vec<OneRun>>,
    /// Why an arm was not tried to the end.
    left_out: Vec<Option<String>>,
    stop: Option<Stop>,
}

fn one_block(
    plan: &Plan,
    k: usize,
    stage: &mut impl Stage,
    toggles: &mut Toggles,
    seed: u64,
    watch: &mut impl FnMut(&Progress),
) -> Measured {
    let planned = &plan.blocks[k];
    let mut rounds = Rounds {
        stage,
        toggles,
        arms: &planned.arms,
        runs: vec![Vec::new(); planned.arms.len()],
        left_out: vec![None; planned.arms.len()],
        until: None,
        round: RoundClock::default(),
    };
    let now_ms = rounds.elapsed_ms() as f64;
    rounds.until = until(plan, k, now_ms);
    if rounds.until.is_some_and(|until| until <= now_ms) {
        return rounds.measured(Some(Stop::Time));
    }
    if let Err(stop) = rounds
        .stage
        .begin(planned.workload, planned.load, &planned.arms)
    {
        return rounds.measured(Some(stop));
    }
    let began_ms = rounds.elapsed_ms();
    // Another order in each block.
    let seed = seed.wrapping_add(k as u64);
    let ended = repeat(
        &mut rounds,
        planned.arms.len(),
        1,
        &Rule {
            runs: Some(plan.most_rounds),
            ..ADAPTIVE
        },
        seed,
        |progress| {
            watch(&Progress {
                block: k + 1,
                blocks: plan.blocks.len(),
                planned,
                rounds: progress.runs[0].len(),
                elapsed_ms: began_ms + progress.measuring_ms,
            });
        },
    );
    let stop = match ended {
        Err(stop) => Some(stop),
        Ok(repeated) => (repeated.ended == Some(Ended::Interrupted))
            .then(|| Stop::All("interrupted: completed runs are kept".into())),
    };
    rounds.measured(stop)
}

/// When this block is to end, ms since the beginning: its share of the time
/// that is left for it and those after it.
fn until(plan: &Plan, k: usize, now_ms: f64) -> Option<f64> {
    let left_ms = plan.most_ms? as f64 - now_ms;
    let left: f64 = plan.blocks[k..].iter().map(|b| b.round_ms).sum();
    Some(now_ms + left_ms * plan.blocks[k].round_ms / left)
}

/// Tells whether there is time for another run.
#[derive(Clone, Copy, Debug, Default)]
struct RoundClock {
    /// Runs of this round so far.
    runs: usize,
    /// When it began, ms.
    began_ms: f64,
    /// What the longest round took, the one of warming up too, ms.
    longest_ms: f64,
}

impl RoundClock {
    /// Counts another run that begins now, of rounds of so many; false if
    /// there is no time for it.
    fn begins(&mut self, now_ms: f64, of: usize, until: Option<f64>) -> bool {
        if self.runs == of {
            self.longest_ms = self.longest_ms.max(now_ms - self.began_ms);
            self.runs = 0;
        }
        if self.runs == 0 {
            self.began_ms = now_ms;
        }
        let end_ms = match self.runs {
            0 => now_ms + self.longest_ms,
            _ => now_ms - self.longest_ms / 2.0,
        };
        self.runs += 1;
        until.is_none_or(|until| end_ms < until)
    }
}

/// One block, as something that is repeated.
struct Rounds<'a, 'f, S> {
    stage: &'a mut S,
    toggles: &'a mut Toggles<'f>,
    arms: &'a [PlannedArm],
    runs: Vec<Vec<OneRun>>,
    left_out: Vec<Option<String>>,
    /// When the block is to end, ms since the beginning.
    until: Option<f64>,
    round: RoundClock,
}

impl<S: Stage> Rounds<'_, '_, S> {
    /// That the time is used. A round that is not whole is discarded.
    fn out_of_time(&mut self) -> Stop {
        let tried = self.runs.iter().zip(&self.left_out);
        let tried = tried.filter(|(_, left_out)| left_out.is_none());
        let whole = tried.map(|(runs, _)| runs.len()).min().unwrap_or(0);
        for runs in &mut self.runs {
            runs.truncate(whole);
        }
        Stop::Time
    }

    fn measured(self, stop: Option<Stop>) -> Measured {
        Measured {
            runs: self.runs,
            left_out: self.left_out,
            stop,
        }
    }

    /// One run, or `None` of a state that is not tried any more. One that fails
    /// is left out from then on. That which the others are set against ends the
    /// block: nothing could be told without it.
    fn unless_left_out(&mut self, k: usize) -> Result<Option<Done<Ran>>, Stop> {
        if self.left_out[k].is_some() {
            return Ok(None);
        }
        match self.one(k) {
            Ok(done) => Ok(Some(done)),
            Err(Stop::Arm(why)) if self.arms[k].name != NONE => {
                self.left_out[k] = Some(why);
                Ok(None)
            }
            Err(Stop::Arm(why)) => Err(Stop::Block(why)),
            Err(stop) => Err(stop),
        }
    }

    /// One run with its control on, which is off again whatever came of it.
    fn one(&mut self, k: usize) -> Result<Done<Ran>, Stop> {
        let Some(name) = &self.arms[k].toggle else {
            return self.stage.run(k, &[]);
        };
        let toggle = self.toggles.get_mut(name);
        let toggle = toggle.ok_or_else(|| Stop::All(format!("no switch for {name}")))?;
        let on = toggle.on();
        let ran = match &on {
            Ok(groups) => self.stage.run(k, groups),
            Err(why) => Err(Stop::Arm(format!("can't switch {name} on: {why}"))),
        };
        toggle
            .off()
            .map_err(|why| Stop::All(still_on(name, why).to_string()))?;
        ran
    }
}

impl<S: Stage> Runner for Rounds<'_, '_, S> {
    type Error = Stop;

    fn warm_up(&mut self, k: usize) -> Result<Done<()>, Stop> {
        let now_ms = self.stage.elapsed_ms() as f64;
        if !self.round.begins(now_ms, self.arms.len(), self.until) {
            return Err(self.out_of_time());
        }
        Ok(match self.unless_left_out(k)? {
            Some(Done::Interrupted) => Done::Interrupted,
            Some(Done::Ended(_)) | None => Done::Ended(()),
        })
    }

    fn timed(&mut self, k: usize) -> Result<Done<Usage>, Stop> {
        let at_ms = self.stage.elapsed_ms();
        if !self.round.begins(at_ms as f64, self.arms.len(), self.until) {
            return Err(self.out_of_time());
        }
        Ok(match self.unless_left_out(k)? {
            // What it cost is of no matter to the rule, which counts rounds or time.
            None => Done::Ended(Usage::default()),
            Some(Done::Interrupted) => Done::Interrupted,
            Some(Done::Ended(ran)) => {
                self.runs[k].push(one_run(at_ms, &ran));
                Done::Ended(ran.usage)
            }
        })
    }

    fn elapsed_ms(&self) -> u64 {
        self.stage.elapsed_ms()
    }
}

fn one_run(at_ms: u64, ran: &Ran) -> OneRun {
    let usage = &ran.usage;
    OneRun {
        at_ms,
        wall_ns: usage.wall_ns,
        took_ns: ran.took_ns,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        voluntary: usage.voluntary,
        involuntary: usage.involuntary,
        migrations: usage.counts.get(Event::CpuMigrations),
        cycles: usage.counts.get(Event::Cycles),
        wakeups: ran.wakeups,
    }
}
