//! Both sides built: what there is to measure, and how one slot is measured.

mod count;
mod equal;
mod places;
mod run;

use super::adapter::Adapter;
use super::build::Build;
use super::error::HarnessError;
use super::fill::Filling;
use super::layout::Layouts;
use super::listing;
use super::options::SuiteOptions;
use super::programs::Program;
use crate::checkout::{BuildSide, Checkouts};
use crate::counting::{CountError, WorkCounter};
use crate::process::Processes;
use crate::slot::{Benchmark, Presence};
use model::phrases::several;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Names of benchmarks in an error.
const NAMES: usize = 5;

/// The benchmarks of a side, by program and name: the program's place, and the time that was listed.
type SideList = BTreeMap<(String, String), (usize, Option<f64>)>;

/// A side with its programs.
#[derive(Debug)]
struct Built {
    side: BuildSide,
    programs: Vec<Program>,
}

/// A benchmark beside its entry in the list.
#[derive(Debug)]
struct Found {
    /// As its harness calls it.
    name: String,
    /// Its program on each side.
    programs: [Option<usize>; 2],
    /// Time of an operation, when it was listed by running it.
    ns: Option<f64>,
    /// Iterations of a sample of such a length, ns, found once and the same in all arms.
    iterations: HashMap<u128, u64>,
    /// It takes no notice of how long its samples should be.
    sets_its_work: bool,
}

/// Both sides, built. The trees are removed when this is dropped.
#[derive(Debug)]
pub struct Suites {
    adapters: Vec<Adapter>,
    options: SuiteOptions,
    python: String,
    sides: [Built; 2],
    benchmarks: Vec<Benchmark>,
    found: Vec<Found>,
    /// Which line of `run` each harness takes, once it is known.
    lines: Vec<Option<usize>>,
    layouts: Layouts,
    processes: Processes,
    remarks: Vec<String>,
    /// Made when work is counted first.
    counter: Option<Result<WorkCounter, CountError>>,
    /// Dropped last: children are gone by then.
    _checkouts: Checkouts,
}

impl Suites {
    /// Detects, builds and lists on both sides.
    ///
    /// # Errors
    /// Each in one line.
    pub fn build(
        checkouts: Checkouts,
        options: SuiteOptions,
        mut processes: Processes,
    ) -> Result<Suites, HarnessError> {
        let adapters = options.adapters();
        let python = options.python(&mut processes)?;
        let [base, head] = &checkouts.sides;
        let wanted =
            options.detected(&adapters, &[base, head].map(|side| (&*side.label, &*side.root)))?;
        // Before a build writes into the trees.
        let differing = match options.commands.is_empty() {
            true => equal::Differing::between(base, head),
            false => equal::Differing::unknown(),
        };
        let mut lists: Vec<SideList> = Vec::new();
        let mut order: Vec<(String, String)> = Vec::new();
        let mut seen = HashSet::new();
        let mut built = Vec::new();
        let mut remarks = checkouts.remarks.clone();
        for side in &checkouts.sides {
            let mut build = Build {
                adapters: &adapters,
                options: &options,
                side,
                python: &python,
                processes: &mut processes,
                done: Vec::new(),
                owners: HashMap::new(),
            };
            let programs = build.programs(&wanted)?;
            let mut names = BTreeMap::new();
            for (at, program) in programs.iter().enumerate() {
                let adapter = &adapters[program.adapter];
                let listed = match adapter.is_of_commands() {
                    true => {
                        options.commands.iter().map(|command| (command.clone(), None)).collect()
                    }
                    false => {
                        let filling = program.filling(side, &python);
                        let (listed, failure) =
                            listing::list(program, adapter, side, &filling, &mut processes)?;
                        remarks.extend(failure.map(|why| {
                            format!("{}: some benchmarks may not be listed: {why}", side.label)
                        }));
                        listed
                    }
                };
                for (name, ns) in listed {
                    let key = (program.key.clone(), name);
                    order.extend(seen.insert(key.clone()).then(|| key.clone()));
                    names.insert(key, (at, ns));
                }
            }
            if names.is_empty() {
                let harness = wanted.iter().map(|&at| &*adapters[at].name).collect::<Vec<_>>();
                let (side, harness) = (side.label.clone(), harness.join(", "));
                return Err(HarnessError::Empty { side, harness });
            }
            lists.push(names);
            built.push(Built { side: side.clone(), programs });
        }
        let Ok(sides) = <[Built; 2]>::try_from(built) else { unreachable!("a side each") };
        let mut suites = Suites {
            lines: vec![None; adapters.len()],
            adapters,
            options,
            python,
            sides,
            benchmarks: Vec::new(),
            found: Vec::new(),
            layouts: Layouts::default(),
            processes,
            remarks,
            counter: None,
            _checkouts: checkouts,
        };
        suites.match_names(&order, &lists, &differing)?;
        Ok(suites)
    }

    /// What the user should know of both sides.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn match_names(
        &mut self,
        order: &[(String, String)],
        lists: &[SideList],
        differing: &equal::Differing,
    ) -> Result<(), HarnessError> {
        let mut programs_of: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for (program, name) in order {
            programs_of.entry(name).or_default().insert(program);
        }
        let mut relinks: HashMap<String, bool> = HashMap::new();
        let mut equals: HashMap<String, bool> = HashMap::new();
        for key in order {
            let (program, name) = key;
            // A name that several programs have is preceded by its program.
            let shown = match programs_of[&**name].len() {
                1 => name.clone(),
                _ => format!("{program}: {name}"),
            };
            if !self.options.wants(&shown) {
                continue;
            }
            let on = [lists[0].get(key), lists[1].get(key)];
            let (presence, at, ns) = match on {
                [Some((at, ns)), Some(_)] => (Presence::Both, (0, *at), *ns),
                [Some((at, ns)), None] => (Presence::OnlyBase, (0, *at), *ns),
                [None, Some((at, ns))] => (Presence::OnlyHead, (1, *at), *ns),
                [None, None] => continue,
            };
            let programs = on.map(|found| found.map(|(at, _)| *at));
            let own = self.sides[at.0].programs[at.1].clone();
            let (mut equal_program, mut can_relink) = (false, false);
            if let [Some(base), Some(head)] = programs {
                equal_program = *equals.entry(program.clone()).or_insert_with(|| {
                    let of = |side: usize, at: usize| {
                        (&self.sides[side].side, &self.sides[side].programs[at])
                    };
                    differing.is_equal(of(0, base), of(1, head))
                });
                can_relink = match relinks.get(program) {
                    Some(can) => *can,
                    None => {
                        let can = !equal_program && self.can_relink(&own)?;
                        relinks.insert(program.clone(), can);
                        can
                    }
                };
            }
            self.benchmarks.push(Benchmark {
                name: shown,
                harness: self.adapters[own.adapter].name.clone(),
                presence,
                equal_program,
                can_relink,
            });
            self.found.push(Found {
                name: name.clone(),
                programs,
                ns,
                iterations: HashMap::new(),
                sets_its_work: false,
            });
        }
        if self.benchmarks.is_empty() {
            let names: Vec<&str> = order.iter().map(|(_, name)| &**name).collect();
            let names = several(&names, NAMES);
            return Err(HarnessError::NoMatch { patterns: self.options.only.join(", "), names });
        }
        if !self.benchmarks.iter().any(|one| one.presence == Presence::Both) {
            let [base, head] = self.sides.each_ref().map(|built| built.side.label.clone());
            let names = |presence: Presence| {
                let own = self.benchmarks.iter().filter(|one| one.presence == presence);
                let own: Vec<&str> = own.map(|one| &*one.name).collect();
                if own.is_empty() { "none that matches".into() } else { several(&own, NAMES) }
            };
            let (of_base, of_head) = (names(Presence::OnlyBase), names(Presence::OnlyHead));
            return Err(HarnessError::NothingInBoth { base, of_base, head, of_head });
        }
        Ok(())
    }

    /// Whether a program of the base can be linked again, by trying it.
    fn can_relink(&mut self, program: &Program) -> Result<bool, HarnessError> {
        let adapter = &self.adapters[program.adapter];
        if adapter.relink.is_empty() || program.exe.is_none() || self.options.build.is_some() {
            return Ok(false);
        }
        let side = &self.sides[0].side;
        let made = self.layouts.executable(0, side, program, adapter, 1, &mut self.processes)?;
        if made.is_none() {
            self.remarks.push(format!(
                "{} can't be relinked, so its layout is not randomized",
                program.key
            ));
        }
        Ok(made.is_some())
    }

    fn filling(&self, side: usize, program: &Program) -> Filling {
        program.filling(&self.sides[side].side, &self.python)
    }
}
