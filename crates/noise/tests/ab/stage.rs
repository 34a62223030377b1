//! A stage whose runs take what a script says, and switches that write down
//! whether they are on.

use meter::commands::repeat::Done;
use model::noise::effect::{Load, Wakeups, Workload};
use noise::ab::conduct::{FinishedRun, Stage, Stop};
use noise::ab::planned::PlannedArm;
use noise::ab::toggle::{Toggle, ToggleError, Toggles};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use sys::command::Usage;
use sys::counters::{CounterEvent, Counts};

/// What one run takes, ms: job, load, arm and how many runs were before it.
pub(crate) type Script = fn(Workload, Load, &str, usize) -> Result<f64, Stop>;

/// One run: job, load, arm and the switches that were on.
pub(crate) type Logged = (Workload, Load, String, Vec<&'static str>);

pub(crate) struct ScriptedStage {
    script: Script,
    pub(crate) now_ms: f64,
    at: Option<(Workload, Load)>,
    arms: Vec<String>,
    runs: usize,
    pub(crate) log: Vec<Logged>,
    pub(crate) on: Rc<RefCell<Vec<&'static str>>>,
    pub(crate) groups: Vec<PathBuf>,
    /// Loads begun and ended.
    pub(crate) loads: (usize, usize),
    pub(crate) interrupt_at: Option<usize>,
}

impl ScriptedStage {
    pub(crate) fn new(script: Script) -> ScriptedStage {
        ScriptedStage {
            script,
            now_ms: 0.0,
            at: None,
            arms: Vec::new(),
            runs: 0,
            log: Vec::new(),
            on: Rc::default(),
            groups: Vec::new(),
            loads: (0, 0),
            interrupt_at: None,
        }
    }
}

impl Stage for ScriptedStage {
    fn begin_block(
        &mut self,
        workload: Workload,
        load: Load,
        arms: &[PlannedArm],
    ) -> Result<(), Stop> {
        self.at = Some((workload, load));
        self.arms = arms.iter().map(|arm| arm.name.clone()).collect();
        self.loads.0 += 1;
        Ok(())
    }

    fn run_job(&mut self, arm: usize, groups: &[PathBuf]) -> Result<Done<FinishedRun>, Stop> {
        let (workload, load) = self.at.expect("begun");
        let name = self.arms[arm].clone();
        if self.interrupt_at == Some(self.runs) {
            return Ok(Done::Interrupted);
        }
        let ms = (self.script)(workload, load, &name, self.runs)?;
        self.runs += 1;
        self.now_ms += ms;
        self.groups = groups.to_vec();
        let on = self.on.borrow().clone();
        self.log.push((workload, load, name.clone(), on));
        Ok(Done::Ended(FinishedRun {
            usage: Usage {
                wall_ns: (ms * 1e6) as u64,
                user_ns: (ms * 5e5) as u64,
                // As in perf-book's appendix; no two rounds alike.
                voluntary: self.runs as u64 % 5 + if name == "pin" { 102 } else { 151 },
                counts: match name.as_str() {
                    "pin" => Counts::default().with(CounterEvent::CpuMigrations, 0),
                    _ => Counts::default()
                        .with(CounterEvent::CpuMigrations, 8 + self.runs as u64 % 4),
                },
                ..Usage::default()
            },
            took_ns: (ms * 1e6) as u64,
            wakeups: (workload == Workload::Wakeup)
                .then(|| Wakeups { mean_ns: ms * 1e3, ..Wakeups::default() }),
        }))
    }

    fn end_load(&mut self) {
        self.loads.1 += 1;
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ms as u64
    }
}

/// Switches itself into the list of those that are on.
pub(crate) struct Switch {
    name: &'static str,
    pub(crate) on: Rc<RefCell<Vec<&'static str>>>,
    turns: Cell<usize>,
    /// Turns after which it does not go on, and after which not off.
    goes_on: usize,
    goes_off: usize,
}

impl Toggle for Switch {
    fn on(&mut self) -> Result<Vec<PathBuf>, ToggleError> {
        self.turns.set(self.turns.get() + 1);
        if self.turns.get() > self.goes_on {
            return Err(ToggleError::NotSet("the file is read-only".into()));
        }
        self.on.borrow_mut().push(self.name);
        Ok(vec![format!("/groups/{}", self.name).into()])
    }

    fn off(&mut self) -> Result<(), ToggleError> {
        if self.turns.get() > self.goes_off {
            return Err(ToggleError::NotRestored("the file is gone".into()));
        }
        self.on.borrow_mut().retain(|name| *name != self.name);
        Ok(())
    }
}

pub(crate) const EVER: usize = usize::MAX;

pub(crate) fn switch(
    stage: &ScriptedStage,
    name: &'static str,
    goes_on: usize,
    goes_off: usize,
) -> Toggles<'static> {
    let switch = Switch { name, on: Rc::clone(&stage.on), turns: Cell::new(0), goes_on, goes_off };
    Toggles::from([(name.to_owned(), Box::new(switch) as Box<dyn Toggle>)])
}

pub(crate) fn quiet(_: Workload, _: Load, _: &str, before: usize) -> Result<f64, Stop> {
    // A little different each time, in a pattern that no arm fits.
    Ok(60.0 + (before * 37 % 101) as f64 / 10.0)
}
