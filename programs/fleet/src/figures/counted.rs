//! Which runs of a campaign count.

use model::campaign::{Job, rank};
use model::summary::KeptRun;
use std::collections::BTreeMap;

/// Of the runs of one campaign (one digest), those that count: of each host and repetition the last attempt that
/// is whole, of two executions of one attempt that which began first. By host, each in the order of repetitions.
pub fn counted(runs: &[KeptRun]) -> BTreeMap<&str, Vec<&KeptRun>> {
    let mut best: BTreeMap<(&str, u32), (&Job, &KeptRun)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.partial.is_none()) {
        let Some(job) = &run.job else { continue };
        let order = |job: &Job, run: &KeptRun| rank(job.attempt, run.started_unix_ms, &run.id);
        let known = best.entry((&job.host, job.repetition)).or_insert((job, run));
        if order(job, run) > order(known.0, known.1) {
            *known = (job, run);
        }
    }
    let mut hosts: BTreeMap<&str, Vec<&KeptRun>> = BTreeMap::new();
    for ((host, _), (_, run)) in best {
        hosts.entry(host).or_default().push(run);
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::synthetic;

    fn kept_run(host: &str, repetition: u32, attempt: u32, started_unix_ms: u64) -> KeptRun {
        let mut run = synthetic::run();
        run.started_unix_ms = started_unix_ms;
        run.partial = None;
        run.id = format!("{host}-{repetition}-{attempt}-{started_unix_ms}");
        run.job = Some(Job {
            campaign: "c".into(),
            digest: "d".into(),
            host: host.into(),
            repetition,
            attempt,
            nonce: started_unix_ms.to_string(),
        });
        KeptRun::from_run(&run, "file".into())
    }

    #[test]
    fn the_last_whole_attempt_counts_and_of_two_the_earlier() {
        let mut broken = kept_run("a", 1, 3, 50);
        broken.partial = Some("interrupted".into());
        let runs = [
            kept_run("b", 2, 1, 9),
            kept_run("a", 1, 1, 10),
            kept_run("a", 1, 2, 30),
            kept_run("a", 1, 2, 20),
            broken,
            kept_run("b", 1, 1, 8),
        ];
        let ids: Vec<(&str, Vec<&str>)> = counted(&runs)
            .into_iter()
            .map(|(host, runs)| (host, runs.iter().map(|run| &*run.id).collect()))
            .collect();
        assert_eq!(ids, [("a", vec!["a-1-2-20"]), ("b", vec!["b-1-1-8", "b-2-1-9"])]);
    }
}
