//! Through the plan, block by block and round by round, on a stage that is
//! real or scripted. What was measured before something went wrong is kept.

use super::control::NONE;
use super::planned::{AbPlan, PlannedArm, PlannedBlock};
use super::toggle::{Toggles, still_on};
use meter::commands::repeat::{ALONE, Done, Runner, repeat};
use model::command::{Ended, Rule};
use model::noise::effect::{Block, EffectArm, Load, OneRun, Wakeups, Workload};
use std::path::PathBuf;
use sys::command::Usage;
use sys::counters::CounterEvent;

/// Where jobs run.
pub trait Stage {
    /// Makes ready for a block: starts its load and lets it settle.
    fn begin_block(
        &mut self,
        workload: Workload,
        load: Load,
        arms: &[PlannedArm],
    ) -> Result<(), Stop>;

    /// Runs the job once as one of the block's arms, in these control groups.
    fn run_job(&mut self, arm: usize, groups: &[PathBuf]) -> Result<Done<FinishedRun>, Stop>;

    /// Ends the load.
    fn end_load(&mut self);

    /// Time since the beginning, ms.
    fn elapsed_ms(&self) -> u64;
}

/// What one run was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FinishedRun {
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
pub struct AbProgress<'a> {
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
    plan: &AbPlan,
    stage: &mut impl Stage,
    toggles: &mut Toggles,
    seed: u64,
    mut watch: impl FnMut(&AbProgress),
) -> Conducted {
    let mut done = Conducted::default();
    let mut reasons: Vec<String> = Vec::new();
    let mut cut: Vec<usize> = Vec::new();
    for (k, planned) in plan.blocks.iter().enumerate() {
        let mut rounds = Rounds::new(plan, k, stage, toggles);
        let ended = rounds.conduct_rounds(plan, k, seed, &mut watch);
        let Rounds { runs, left_out, .. } = rounds;
        stage.end_load();
        let where_ = || format!("{} {}", planned.workload.name(), planned.load.in_words());
        for ((arm, runs), why) in planned.arms.iter().zip(&runs).zip(left_out) {
            if let Some(why) = why {
                let after = format!("{} left out after {} runs", arm.name, runs.len());
                reasons.push(format!("{}: {after}: {why}", where_()));
            }
        }
        let whole = runs.first().map_or(0, Vec::len);
        if runs.iter().any(|runs| !runs.is_empty()) {
            done.blocks.push(block(planned, runs));
        }
        match ended {
            Ok(()) => {}
            Err(Stop::Time) => cut.push(whole),
            Err(Stop::Block(why) | Stop::Arm(why)) => reasons.push(format!("{}: {why}", where_())),
            Err(Stop::All(why)) => {
                reasons.push(why);
                break;
            }
        }
    }
    done.partial = (!reasons.is_empty()).then(|| reasons.join("; "));
    done.cut = shortened_blocks_note(plan, &cut);
    done
}

/// What a reader must know of blocks that ended after so many rounds.
fn shortened_blocks_note(plan: &AbPlan, cut: &[usize]) -> Option<String> {
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
    let arm = |(arm, runs): (&PlannedArm, _)| EffectArm { name: arm.name.clone(), runs };
    Block {
        workload: planned.workload,
        load: planned.load,
        arms: planned.arms.iter().zip(runs).map(arm).collect(),
    }
}

/// One block, as something that is repeated.
struct Rounds<'a, 'f, S> {
    stage: &'a mut S,
    toggles: &'a mut Toggles<'f>,
    arms: &'a [PlannedArm],
    runs: Vec<Vec<OneRun>>,
    /// Why an arm is not tried to the end.
    left_out: Vec<Option<String>>,
    /// When the block is to end, ms since the beginning.
    until: Option<f64>,
    /// Runs of this round so far, and when it began, ms.
    round: (usize, f64),
    /// What the longest round took, the one of warming up too, ms.
    longest_ms: f64,
}

impl<'a, 'f, S: Stage> Rounds<'a, 'f, S> {
    /// A block that ends with its share of the time that is left for it and
    /// those after it.
    fn new(plan: &'a AbPlan, k: usize, stage: &'a mut S, toggles: &'a mut Toggles<'f>) -> Self {
        let arms = &plan.blocks[k].arms;
        let now_ms = stage.elapsed_ms() as f64;
        let left: f64 = plan.blocks[k..].iter().map(|b| b.round_ms).sum();
        let share = plan.blocks[k].round_ms / left;
        Rounds {
            stage,
            toggles,
            arms,
            runs: vec![Vec::new(); arms.len()],
            left_out: vec![None; arms.len()],
            until: plan.most_ms.map(|most_ms| now_ms + (most_ms as f64 - now_ms) * share),
            round: (0, now_ms),
            longest_ms: 0.0,
        }
    }

    fn conduct_rounds(
        &mut self,
        plan: &AbPlan,
        k: usize,
        seed: u64,
        watch: &mut impl FnMut(&AbProgress),
    ) -> Result<(), Stop> {
        let planned = &plan.blocks[k];
        let now_ms = self.elapsed_ms() as f64;
        if self.until.is_some_and(|until| until <= now_ms) {
            return Err(Stop::Time);
        }
        self.stage.begin_block(planned.workload, planned.load, &planned.arms)?;
        let began_ms = self.elapsed_ms();
        let rule = Rule { runs: Some(plan.most_rounds), ..ALONE };
        // Another order in each block.
        let seed = seed.wrapping_add(k as u64);
        let repeated = repeat(self, planned.arms.len(), 1, &rule, seed, |progress| {
            watch(&AbProgress {
                block: k + 1,
                blocks: plan.blocks.len(),
                planned,
                rounds: progress.runs[0].len(),
                elapsed_ms: began_ms + progress.measuring_ms,
            });
        })?;
        match repeated.ended {
            Some(Ended::Interrupted) => {
                Err(Stop::All("interrupted: completed runs are kept".into()))
            }
            _ => Ok(()),
        }
    }

    /// One run that begins at this time, if there is time for it; `None` of a
    /// state that is not tried any more. One that fails is left out from then
    /// on. That which the others are compared with ends the block: nothing could
    /// be shown without it.
    fn run_once(&mut self, k: usize, now_ms: f64) -> Result<Option<Done<FinishedRun>>, Stop> {
        if !self.fits(now_ms) {
            return Err(self.out_of_time());
        }
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

    /// Counts another run; false if there is no time for it.
    fn fits(&mut self, now_ms: f64) -> bool {
        let (runs, began_ms) = &mut self.round;
        if *runs == self.arms.len() {
            self.longest_ms = self.longest_ms.max(now_ms - *began_ms);
            *runs = 0;
        }
        let end_ms = match *runs {
            0 => now_ms + self.longest_ms,
            _ => now_ms - self.longest_ms / 2.0,
        };
        if *runs == 0 {
            *began_ms = now_ms;
        }
        *runs += 1;
        self.until.is_none_or(|until| end_ms < until)
    }

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

    /// One run with its control on, which is off again whatever came of it.
    fn one(&mut self, k: usize) -> Result<Done<FinishedRun>, Stop> {
        let Some(name) = &self.arms[k].toggle else {
            return self.stage.run_job(k, &[]);
        };
        let toggle = self.toggles.get_mut(name);
        let toggle = toggle.ok_or_else(|| Stop::All(format!("no switch for {name}")))?;
        let ran = match toggle.on() {
            Ok(groups) => self.stage.run_job(k, &groups),
            Err(why) => Err(Stop::Arm(format!("can't switch {name} on: {why}"))),
        };
        toggle.off().map_err(|why| Stop::All(still_on(name, why).to_string()))?;
        ran
    }
}

impl<S: Stage> Runner for Rounds<'_, '_, S> {
    type Error = Stop;

    fn warm_up(&mut self, k: usize) -> Result<Done<()>, Stop> {
        let now_ms = self.stage.elapsed_ms() as f64;
        Ok(match self.run_once(k, now_ms)? {
            Some(Done::Interrupted) => Done::Interrupted,
            Some(Done::Ended(_)) | None => Done::Ended(()),
        })
    }

    fn timed(&mut self, k: usize) -> Result<Done<Usage>, Stop> {
        let at_ms = self.stage.elapsed_ms();
        Ok(match self.run_once(k, at_ms as f64)? {
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

fn one_run(at_ms: u64, ran: &FinishedRun) -> OneRun {
    let usage = &ran.usage;
    OneRun {
        at_ms,
        wall_ns: usage.wall_ns,
        took_ns: ran.took_ns,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        voluntary: usage.voluntary,
        involuntary: usage.involuntary,
        migrations: usage.counts.get(CounterEvent::CpuMigrations),
        cycles: usage.counts.get(CounterEvent::Cycles),
        wakeups: ran.wakeups,
    }
}
