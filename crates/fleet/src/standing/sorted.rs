//! The evidence by job.

use super::{Document, Evidence, Foreign, NotOurs, Queue, Queued, belongs};
use crate::record::Record;
use model::campaign::{Job, rank};
use std::collections::BTreeMap;

/// A host and a repetition.
pub(super) type Key<'a> = (&'a str, u32);

/// The evidence by job.
#[derive(Default)]
pub(super) struct Sorted<'a> {
    pub(super) documents: BTreeMap<Key<'a>, Vec<(&'a Job, &'a Document)>>,
    pub(super) other_program: Vec<(Key<'a>, Foreign)>,
    pub(super) records: BTreeMap<Key<'a>, Vec<&'a Record>>,
    pub(super) queued: BTreeMap<Key<'a>, Vec<&'a Queued>>,
    pub(super) foreign: Vec<Foreign>,
}

impl<'a> Sorted<'a> {
    pub(super) fn of(evidence: &Evidence<'a>) -> Sorted<'a> {
        let mut sorted = Sorted::default();
        let mut seen: BTreeMap<&str, &Document> = BTreeMap::new();
        for document in evidence.documents {
            let foreign = |reason: String| Foreign {
                file: document.file.clone(),
                run: document.id.clone(),
                reason,
            };
            match (belongs(evidence.submission, document), &document.job) {
                (Ok(job), _) => match seen.get(&*document.id) {
                    None => {
                        seen.insert(&document.id, document);
                        let of_job = sorted.documents.entry((&job.host, job.repetition));
                        of_job.or_default().push((job, document));
                    }
                    Some(known) if known.job != document.job => {
                        let reason = format!("it has the id of results/{}", known.file);
                        sorted.foreign.push(foreign(reason));
                    }
                    // A copy of a file is no second run.
                    Some(_) => {}
                },
                (Err(NotOurs::Program(text)), Some(job)) => {
                    let key = (&*job.host, job.repetition);
                    sorted.other_program.push((key, foreign(text)));
                }
                (Err(NotOurs::Foreign(reason) | NotOurs::Program(reason)), _) => {
                    sorted.foreign.push(foreign(reason));
                }
            }
        }
        for documents in sorted.documents.values_mut() {
            documents.sort_by_key(|(job, document)| {
                std::cmp::Reverse(rank(job, document.started_unix_ms, &document.id))
            });
        }
        let ours = |record: &&Record| record.job.digest == evidence.submission.digest;
        for record in evidence.records.iter().filter(ours) {
            let of_job = sorted
                .records
                .entry((&record.job.host, record.job.repetition));
            of_job.or_default().push(record);
        }
        for records in sorted.records.values_mut() {
            records.sort_by_key(|record| (record.job.attempt, record.started_unix_ms));
        }
        if let Queue::Jobs(jobs) = evidence.queue {
            for job in jobs {
                let of_job = sorted.queued.entry((&job.host, job.repetition));
                of_job.or_default().push(job);
            }
        }
        sorted
    }
}
