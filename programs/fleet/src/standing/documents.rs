//! What is kept of documents: little of each, since a campaign may have a hundred thousand.

use super::belongs::NotOurs;
use super::{ExpectedJobs, Foreign, JobDocument};
use model::campaign::rank;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The documents of a campaign, by job.
#[derive(Debug, Default)]
pub struct Documents {
    own: Vec<Own>,
    /// Of expected jobs, measured by another program.
    other_program: BTreeMap<usize, Vec<Foreign>>,
    foreign: Vec<Foreign>,
    /// Texts that many documents share.
    texts: HashSet<Arc<str>>,
}

#[derive(Debug)]
pub(super) struct Own {
    pub(super) place: usize,
    pub(super) attempt: u32,
    nonce: Box<str>,
    file: Box<str>,
    pub(super) id: Box<str>,
    pub(super) partial: Option<Box<str>>,
    pub(super) started_unix_ms: u64,
    pub(super) wall_ms: u64,
    pub(super) unavailable: usize,
    pub(super) first_unavailable: Option<Arc<str>>,
}

impl Own {
    /// What differs between two executions.
    fn execution(&self) -> (usize, u32, &str) {
        (self.place, self.attempt, &self.nonce)
    }

    /// Of those of one job.
    fn rank(&self) -> impl Ord + use<> {
        rank(self.attempt, self.started_unix_ms, &self.id)
    }
}

impl Documents {
    /// Takes a document. Returns whether it is of an expected job.
    pub fn take_document(&mut self, expected: &ExpectedJobs, document: &JobDocument) -> bool {
        let foreign =
            |reason| Foreign { file: document.file.clone(), run: document.id.clone(), reason };
        match expected.job(document) {
            Ok((job, place)) => {
                let own = Own {
                    place,
                    attempt: job.attempt,
                    nonce: (&*job.nonce).into(),
                    file: (&*document.file).into(),
                    id: (&*document.id).into(),
                    partial: document.partial.as_deref().map(Into::into),
                    started_unix_ms: document.started_unix_ms,
                    wall_ms: document.wall_ms,
                    unavailable: document.unavailable,
                    first_unavailable: document
                        .first_unavailable
                        .as_ref()
                        .map(|text| self.shared(text)),
                };
                self.own.push(own);
                return true;
            }
            Err(NotOurs::Program(place, text)) => {
                self.other_program.entry(place).or_default().push(foreign(text));
            }
            Err(NotOurs::Foreign(reason)) => self.foreign.push(foreign(reason)),
        }
        false
    }

    fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }

    /// By place, that which counts first; those of no expected job; and by place, those of another
    /// program. Of one id the first counts: a copy of a file is no second run.
    pub(super) fn by_job(self) -> (Vec<Own>, Vec<Foreign>, BTreeMap<usize, Vec<Foreign>>) {
        let Documents { mut own, mut foreign, other_program, .. } = self;
        own.sort_by(|a, b| a.id.cmp(&b.id));
        own.dedup_by(|later, first| {
            let is_same = later.id == first.id;
            if is_same && later.execution() != first.execution() {
                foreign.push(Foreign {
                    file: later.file.to_string(),
                    run: later.id.to_string(),
                    reason: format!("it has the id of results/{}", first.file),
                });
            }
            is_same
        });
        own.sort_by_key(|one| one.place);
        for of_job in own.chunk_by_mut(|a, b| a.place == b.place) {
            of_job.sort_by_key(|one| Reverse(one.rank()));
        }
        (own, foreign, other_program)
    }
}
