//! Questions to the index.

use super::handle::Index;
use super::percentiles::{Percentile, RowStanding};
use super::questions;
use crate::{StoreError, Tag};
use model::summary::{KeptResult, KeptRun, MachineKey, MachineSummary};
use std::collections::HashMap;
use std::path::PathBuf;

impl Index {
    /// All kept runs, the newest first. Those that say that they began in the
    /// future come last: no time can be believed of them.
    pub fn runs(&self) -> Result<Vec<KeptRun>, StoreError> {
        let mut runs = self.by_time()?;
        let tags = self.store.tags()?;
        runs.iter_mut().for_each(|run| tag(run, &tags));
        Ok(runs)
    }

    pub(super) fn by_time(&self) -> Result<Vec<KeptRun>, StoreError> {
        self.ask(|db| questions::runs_by_time(db, self.store.runs_dir()))
    }

    /// A kept run by its whole id.
    pub fn run(&self, id: &str) -> Result<Option<KeptRun>, StoreError> {
        let mut found = self.ask(|db| questions::run_by_id(db, self.store.runs_dir(), id))?;
        if let Some(run) = &mut found {
            tag(run, &self.store.tags()?);
        }
        Ok(found)
    }

    /// All machines with kept runs, the one with the newest run first.
    pub fn machines(&self) -> Result<Vec<MachineSummary>, StoreError> {
        let mut all: Vec<MachineSummary> = Vec::new();
        let mut places = HashMap::new();
        for kept in self.by_time()? {
            let place = *places.entry(kept.machine.clone()).or_insert(all.len());
            match all.get_mut(place) {
                Some(machine) => machine.runs += 1,
                None => all.push(MachineSummary {
                    key: kept.machine,
                    host: kept.host,
                    line: kept.machine_line,
                    runs: 1,
                    newest_unix_ms: kept.started_unix_ms,
                }),
            }
        }
        Ok(all)
    }

    /// Every figure of a row (or one point of it) on a machine, the oldest
    /// first (those of runs of the future before them): whole runs and partial ones, not those of other programs.
    pub fn history(
        &self,
        machine: &MachineKey,
        row: &str,
        at: &[u64],
    ) -> Result<Vec<(KeptRun, KeptResult)>, StoreError> {
        let dir = self.store.runs_dir();
        let mut all = self.ask(|db| questions::history(db, dir, (machine, row, at)))?;
        let tags = self.store.tags()?;
        all.iter_mut().for_each(|(run, _)| tag(run, &tags));
        Ok(all)
    }

    /// The figures of a row, ns, with their points, by the id of their run.
    ///
    /// # Errors
    /// If the index can't be read.
    pub(super) fn values_of(&self, row: &str) -> Result<questions::ValuesOfRow, StoreError> {
        self.ask(|db| questions::values_of(db, row))
    }

    /// The document of a kept run by its whole id: of several files that are
    /// called so, the one that the index has.
    ///
    /// # Errors
    /// If there is none, or several of which the index has none.
    pub fn document_path(&self, id: &str) -> Result<PathBuf, StoreError> {
        match self.store.find(id) {
            Err(StoreError::Twice { id, paths }) => match self.run(&id)? {
                Some(run) => Ok(run.path),
                None => Err(StoreError::Twice { id, paths }),
            },
            found => found,
        }
    }

    /// Every figure of a run by its whole id, in the order of its document;
    /// none of a run that is not kept.
    pub fn results_of(&self, id: &str) -> Result<Vec<KeptResult>, StoreError> {
        self.ask(|db| questions::results_of(db, id))
    }

    /// The single figures (no points of curves and maps) of these runs by their whole ids, in one question:
    /// each with the place of its run in `ids`, in no order. None of a run that is not kept.
    pub fn figures_of(&self, ids: &[&str]) -> Result<Vec<(usize, KeptResult)>, StoreError> {
        self.ask(|db| questions::figures_of(db, ids))
    }

    /// Every row, with the points of curves and maps, that any kept run of a
    /// machine has; without one, of all machines. Not those of other programs,
    /// which have no history.
    pub fn rows(
        &self,
        machine: Option<&MachineKey>,
    ) -> Result<Vec<(String, Vec<u64>)>, StoreError> {
        self.ask(|db| questions::quantities(db, machine))
    }

    /// Where a machine stands among all, for every row and point that it has a
    /// reliable figure of (`standing` says which count).
    pub fn percentiles(&self, machine: &MachineKey) -> Result<Vec<Percentile>, StoreError> {
        self.ask(|db| questions::percentiles(db, machine))
    }

    /// The figures of one row, or one point of it, over all machines.
    pub fn percentiles_of_row(&self, row: &str, at: &[u64]) -> Result<RowStanding, StoreError> {
        self.ask(|db| questions::standing(db, row, at))
    }
}

fn tag(run: &mut KeptRun, tags: &[Tag]) {
    let own = tags.iter().filter(|tag| tag.run == run.id);
    run.tags = own.map(|tag| tag.name.clone()).collect();
}
