//! The samples of a cell as documents hold them: one list for each column, repetitions and differences
//! encoded so that a hundred thousand samples stay small. Damaged columns are refused when they are decoded.
//! In memory a sample is the struct of `sample.rs`.

use crate::sample::{Canaries, Evidence, Sample};
use serde::{Deserialize, Serialize};

/// The samples of one cell as the document holds them: one list per column,
/// since a hundred thousand samples must stay below two megabytes.
///
/// All lists are as long as `turns`, but those that a row does not have
/// (`second_ticks` of a plain row, canaries of a distribution row) are empty,
/// and `lost_ns` and `flags` list only what is not 0, as `[index, value]`.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    /// Worker process of each sample, as `[worker, how many follow]`.
    pub workers: Vec<(u32, u32)>,
    /// When, ms since the run began; each as the step from the one before
    /// (the first of each worker from 0).
    pub at_ms_steps: Vec<i64>,
    /// Turns of the loop, as `[turns, how many follow]`.
    pub turns: Vec<(u64, u32)>,
    /// Ticks of the U loop or of the plain loop.
    pub first_ticks: Vec<u64>,
    /// Ticks of the 2U loop; empty for a plain row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub second_ticks: Vec<u64>,
    /// Visits with canaries, in order, as `[samples, multiply_permille,
    /// l1_load_ps]`: how many samples follow; dependent multiplications over
    /// dependent adds, per mille; a load of a chase through 4 KiB, ps (0: not
    /// measured). Empty where the row has no canary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<(u32, u32, u32)>,
    /// Taken branches over dependent adds, per mille: of each visit one reading
    /// before its first sample and one after each sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branch_permille: Vec<u32>,
    /// A load of a chase through 5/6 of L1 over one through 4 KiB, per mille: the
    /// same readings, of the visits whose `l1_load_ps` is not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity_permille: Vec<u32>,
    /// Worse canary, percent: only in documents before schema 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub canary_percent: Vec<u16>,
    /// Clock cycle, fs; empty where the row has no canary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_fs: Vec<u32>,
    /// Worse last-level canary, ps a load; empty where the row has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_level_ps: Vec<u32>,
    /// Time lost to others while ready to run: `[index, ns]`, where not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ns: Vec<(u32, u64)>,
    /// Marks: `[index, bits]`, where not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<(u32, u8)>,
    /// Modes, as `[mode, how many follow]`; empty where all are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<(u8, u32)>,
}

fn push_run<T: PartialEq + Copy>(runs: &mut Vec<(T, u32)>, value: T) {
    match runs.last_mut() {
        Some((last, count)) if *last == value => *count += 1,
        _ => runs.push((value, 1)),
    }
}

fn expand<T: Copy>(runs: &[(T, u32)], limit: usize) -> Vec<T> {
    runs.iter()
        .flat_map(|&(value, count)| std::iter::repeat_n(value, (count as usize).min(limit)))
        .take(limit)
        .collect()
}

/// How the columns of a document don't fit together.
#[derive(thiserror::Error, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum DamagedColumns {
    #[error("column {0} ends before the last visit")]
    Short(&'static str),
    #[error("{0} readings of canaries belong to no visit")]
    NoVisit(usize),
    #[error("column {column} has {length} entries, first_ticks has {samples}")]
    Length {
        column: &'static str,
        length: usize,
        /// That of `first_ticks`.
        samples: usize,
    },
    #[error("column {column} names sample {index}, which is not there")]
    NoSample { column: &'static str, index: u32 },
}

/// Takes the next `count` readings off a column.
fn cut<'c>(
    column: &mut &'c [u32],
    count: usize,
    name: &'static str,
) -> Result<&'c [u32], DamagedColumns> {
    let taken = column.split_at_checked(count).ok_or(DamagedColumns::Short(name))?;
    *column = taken.1;
    Ok(taken.0)
}

/// A column that every sample must have, or none may.
fn optional_column<T>(samples: &[Sample], get: impl Fn(&Sample) -> Option<T>) -> Vec<T> {
    samples.iter().map(get).collect::<Option<Vec<T>>>().unwrap_or_default()
}

impl From<&[Sample]> for Columns {
    fn from(samples: &[Sample]) -> Self {
        // Grouped by worker, in time order: long equal stretches compress.
        let mut samples = samples.to_vec();
        samples.sort_by_key(|s| (s.worker, s.at_ms));
        let mut columns = Columns::default();
        let mut before: Option<&Sample> = None;
        for (index, sample) in samples.iter().enumerate() {
            let start =
                before.filter(|b| b.worker == sample.worker).map_or(0, |b| i64::from(b.at_ms));
            push_run(&mut columns.workers, sample.worker);
            columns.at_ms_steps.push(i64::from(sample.at_ms) - start);
            push_run(&mut columns.turns, sample.turns);
            columns.first_ticks.push(sample.first_ticks);
            if sample.evidence.lost_ns != 0 {
                columns.lost_ns.push((index as u32, sample.evidence.lost_ns));
            }
            if sample.evidence.flags != 0 {
                columns.flags.push((index as u32, sample.evidence.flags));
            }
            before = Some(sample);
        }
        columns.second_ticks = optional_column(&samples, |s| s.second_ticks);
        columns.canary_percent = optional_column(&samples, |s| s.evidence.canary_percent);
        if samples.iter().all(|s| s.evidence.canaries.is_some()) {
            columns.push_canaries(&samples);
        }
        columns.cycle_fs = optional_column(&samples, |s| s.evidence.cycle_fs);
        columns.last_level_ps = optional_column(&samples, |s| s.evidence.last_level_ps);
        if samples.iter().any(|s| s.evidence.mode != 0) {
            for sample in &samples {
                push_run(&mut columns.modes, sample.evidence.mode);
            }
        }
        columns
    }
}

impl Columns {
    /// Readings of the canaries: samples of one visit share those between them.
    fn push_canaries(&mut self, samples: &[Sample]) {
        let mut before: Option<(&Sample, Canaries)> = None;
        for (sample, own) in samples.iter().filter_map(|s| Some((s, s.evidence.canaries?))) {
            let continues = before.is_some_and(|(last, canaries)| {
                let figures = |c: &Canaries| (c.multiply_permille, c.l1_load_ps);
                (last.worker, last.at_ms) == (sample.worker, sample.at_ms)
                    && figures(&canaries) == figures(&own)
                    && canaries.branch_permille[1] == own.branch_permille[0]
                    && canaries.capacity_permille.map(|c| c[1])
                        == own.capacity_permille.map(|c| c[0])
            });
            match self.visits.last_mut() {
                Some(visit) if continues => visit.0 += 1,
                _ => {
                    self.visits.push((1, own.multiply_permille, own.l1_load_ps));
                    self.branch_permille.push(own.branch_permille[0]);
                    self.capacity_permille.extend(own.capacity_permille.map(|c| c[0]));
                }
            }
            self.branch_permille.push(own.branch_permille[1]);
            self.capacity_permille.extend(own.capacity_permille.map(|c| c[1]));
            before = Some((sample, own));
        }
    }

    /// The canaries of each sample; none where the row has no canary.
    pub(super) fn canaries(&self) -> Result<Vec<Canaries>, DamagedColumns> {
        let (mut branch, mut capacity) = (&self.branch_permille[..], &self.capacity_permille[..]);
        let mut canaries = Vec::with_capacity(self.first_ticks.len());
        for &(samples, multiply_permille, l1_load_ps) in &self.visits {
            let readings = samples as usize + 1;
            let own = cut(&mut branch, readings, "branch_permille")?;
            let loads = match l1_load_ps {
                0 => None,
                _ => Some(cut(&mut capacity, readings, "capacity_permille")?),
            };
            canaries.extend((0..samples as usize).map(|k| Canaries {
                branch_permille: [own[k], own[k + 1]],
                capacity_permille: loads.map(|loads| [loads[k], loads[k + 1]]),
                multiply_permille,
                l1_load_ps,
            }));
        }
        match branch.len() + capacity.len() {
            0 => Ok(canaries),
            more => Err(DamagedColumns::NoVisit(more)),
        }
    }

    /// The samples again. Fails, naming the column, where the lists' lengths
    /// don't fit together (a damaged document).
    pub fn samples(&self) -> Result<Vec<Sample>, DamagedColumns> {
        let n = self.first_ticks.len();
        let workers = expand(&self.workers, n);
        let turns = expand(&self.turns, n);
        let modes = expand(&self.modes, n);
        let canaries = self.canaries()?;
        for (column, length, optional) in [
            ("workers", workers.len(), false),
            ("turns", turns.len(), false),
            ("at_ms_steps", self.at_ms_steps.len(), false),
            ("second_ticks", self.second_ticks.len(), true),
            ("canary_percent", self.canary_percent.len(), true),
            ("cycle_fs", self.cycle_fs.len(), true),
            ("last_level_ps", self.last_level_ps.len(), true),
            ("visits", canaries.len(), true),
            ("modes", modes.len(), true),
        ] {
            if length != n && !(optional && length == 0) {
                return Err(DamagedColumns::Length { column, length, samples: n });
            }
        }
        let mut at_ms = 0_i64;
        let mut samples: Vec<Sample> = (0..n)
            .map(|i| {
                let continues = i > 0 && workers[i] == workers[i - 1];
                at_ms = if continues { at_ms } else { 0 };
                at_ms = at_ms.saturating_add(self.at_ms_steps[i]);
                Sample {
                    worker: workers[i],
                    at_ms: u32::try_from(at_ms.max(0)).unwrap_or(u32::MAX),
                    turns: turns[i],
                    first_ticks: self.first_ticks[i],
                    second_ticks: self.second_ticks.get(i).copied(),
                    evidence: Evidence {
                        canaries: canaries.get(i).copied(),
                        canary_percent: self.canary_percent.get(i).copied(),
                        cycle_fs: self.cycle_fs.get(i).copied(),
                        last_level_ps: self.last_level_ps.get(i).copied(),
                        lost_ns: 0,
                        flags: 0,
                        mode: modes.get(i).copied().unwrap_or(0),
                    },
                }
            })
            .collect();
        let missing = |column, index| DamagedColumns::NoSample { column, index };
        for &(index, lost_ns) in &self.lost_ns {
            let sample = samples.get_mut(index as usize);
            sample.ok_or(missing("lost_ns", index))?.evidence.lost_ns = lost_ns;
        }
        for &(index, flags) in &self.flags {
            let sample = samples.get_mut(index as usize);
            sample.ok_or(missing("flags", index))?.evidence.flags = flags;
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests;
