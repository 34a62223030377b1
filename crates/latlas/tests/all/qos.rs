//! `latlas qos` on the real binary: what it refuses, the shape of its document, and
//! that nothing stays behind, however it ends.

use crate::support::processes::{
    alive, all_gone, as_user, command_line, copy_for_all, is_root, running_processes, signal,
    wait_for,
};
use crate::support::{Done, Home, entries, has, skip};
use model::qos::{Case, Level, Outcome, Qos, Setting};
use model::recording::Recording;
use model::run::Run;
use std::process::Child;

/// Two levels, as briefly as a job gets; lower ones would take minutes on a
/// busy machine.
const SHORT: &str = "qos --size 1MiB --block 64KiB --levels default,user-interactive --no-wait";

fn recording(run: &Run) -> &Qos {
    match &run.recordings[..] {
        [Recording::Qos(qos)] => qos,
        other => panic!("{other:?}"),
    }
}

/// Jobs of a latlas, the oldest first.
fn jobs_of(latlas: u32) -> Vec<u32> {
    let parent = format!("\"parent\":{latlas},");
    let mut jobs = running_processes();
    jobs.retain(|&pid| {
        let line = command_line(pid);
        line.contains("__qos_job") && line.contains(&parent) && alive(pid)
    });
    jobs.sort_unstable();
    jobs
}

fn no_files(home: &Home) {
    let left = entries(&home.path("scratch"));
    assert!(left.is_empty(), "{left:?}");
}

fn start_qos(home: &Home, more: &str) -> Child {
    std::fs::create_dir(home.path("scratch")).expect("a directory");
    home.start(format!("{SHORT} --dir scratch --document {more}"))
}

/// Two jobs that run at once.
fn wait_for_two(latlas: u32) -> Vec<u32> {
    wait_for("two jobs at once", || Some(jobs_of(latlas)).filter(|jobs| jobs.len() == 2))
}

#[test]
fn bad_requests_are_refused_with_what_to_do() {
    let home = Home::new();
    insta::assert_snapshot!(
        home.refusals(
            "qos --levels urgent
         qos --levels background,urgent
         qos --size 900GiB --dir .
         qos --size 5KiB
         qos --size much
         qos --block 1
         qos --jobs 0
         qos --rounds 0
         qos --cases some
         qos --codec gzip
         qos --compression 40
         qos --dir nowhere
         qos --cases operations --jobs 1 --size 1MiB --no-wait
         qos --out nowhere/qos.json"
        )
        .lines()
        // How much is free differs.
        .map(|line| line.split(" free in ").next().unwrap_or(line).to_owned())
        .map(|line| match line.rsplit_once(", ") {
            Some((needs, _)) if needs.contains("needs ") => needs.to_owned(),
            _ => line,
        })
        .filter(|line| !line.contains("writing 1MiB"))
        .collect::<Vec<_>>()
        .join("\n")
    );
}

#[test]
fn each_job_does_the_same_work_at_its_level() {
    let home = Home::new();
    std::fs::create_dir(home.path("scratch")).expect("a directory");
    let line = format!(
        "{SHORT} --rounds 1 --dir scratch --document --out qos.json --out qos.html \
         --codec lz4 --jobs 2 --history"
    );
    let done = home.run(line).ended_with(3);
    let run = done.document();
    assert_eq!(serde_json::from_str::<Run>(&home.read_file("qos.json")).expect("the same"), run);
    let qos = recording(&run);
    assert!(home.read_file("qos.html").contains("user-interactive + default"));
    assert_eq!(run.partial, None);
    let names: Vec<String> = qos.cases.iter().map(|runs| runs.case.label()).collect();
    assert_eq!(
        names,
        [
            "default alone",
            "user-interactive alone",
            "user-interactive + default",
            "two default",
            "two user-interactive",
            "default, 1 operation"
        ]
    );
    let whole = (1 << 20) * u64::from(qos.how.passes);
    for runs in &qos.cases {
        let [run] = runs.runs.as_slice() else {
            panic!("{}: {} runs", runs.case.label(), runs.runs.len());
        };
        assert_eq!(run.jobs.len(), runs.case.levels().len());
        if cfg!(target_os = "linux") {
            let history = runs.history.as_ref().expect("recorded");
            assert!(history.duration_ns() >= run.jobs[0].wall_ns, "{history:?}");
            assert!(!history.cpus.is_empty());
        }
        for job in &run.jobs {
            match runs.case {
                Case::Operations { .. } => assert_eq!(job.bytes, whole / 2),
                _ => assert_eq!(job.bytes, whole),
            }
            assert!(job.wall_ns >= run.together_ns && job.cpu_ns >= job.together_cpu_ns);
            let places = &job.residency;
            assert_eq!(places.all.blocks, job.bytes / (64 << 10));
            assert_eq!(places.all.cpu_ns, job.cpu_ns);
            let blocks: u64 = places.cpus.iter().map(|on| on.work.blocks).sum();
            assert!(blocks <= places.all.blocks);
            assert!(places.cpus.iter().all(|on| qos.how.cpus.contains(&on.cpu)));
            assert!(places.cpus.iter().all(|on| on.clock_hz.is_some()));
        }
    }
    assert!(qos.how.compressed_bytes < 1 << 20);
    let parts = qos.parts(Level::USER_INTERACTIVE);
    assert!(parts.len() >= 2, "{parts:?}");
    for part in parts {
        // Refused without privilege, but never silently something else.
        let outcome = &part.outcome;
        assert!(!matches!(outcome, Outcome::Differs(_) | Outcome::Applied), "{part:?}");
    }
    if cfg!(target_os = "linux") {
        let asked: Vec<Setting> = parts.iter().map(|part| part.setting.clone()).collect();
        let mut wanted = vec![Setting::Nice(-10), Setting::SliceNs(100_000)];
        if qos.conditions.autogroups.get() == Some(&true) {
            wanted.insert(0, Setting::Autogroup(-10));
        }
        assert_eq!(asked, wanted);
    }
    assert_eq!(qos.parts(Level::DEFAULT), []);
    no_files(&home);
    // Next to the published figures.
    let table = home.run("table oakley qos.json").ok().out;
    has(&table, ["Apple M1, 4 performance + 4 efficiency cores", "77.0 s"]);
    home.run("table oakley").ended_with(3);
    home.run("table oakley scratch").refused("scratch");
    home.write("else.json", "{}");
    home.run("table oakley else.json").refused("it is not a run document");
    home.write("newer.json", "{\"schema\": 9}");
    home.run("table oakley newer.json").refused("use a newer latlas");
    home.run("table oakley --measure").refused("latlas qos --out FILE");
}

#[test]
fn without_privilege_negative_nice_values_are_refused_and_the_rest_is_measured() {
    if !is_root() {
        return skip("needs root, to become another user");
    }
    let home = Home::new();
    copy_for_all(&home);
    let line = "qos --size 1MiB --levels user-interactive,32 --cases alone --rounds 1 --document \
                --no-wait --dir .";
    let done = as_user(&home, line).ended_with(3);
    let run = done.document();
    let qos = recording(&run);
    let parts = qos.parts(Level::USER_INTERACTIVE);
    let nice = parts.iter().find(|part| part.setting == Setting::Nice(-10));
    let outcome = nice.map(|part| part.outcome.clone());
    let why = "needs root or CAP_SYS_NICE".to_owned();
    assert_eq!(outcome, Some(Outcome::Refused(why)));
    assert_eq!(qos.parts(Level::from(32)), [], "no known level");
    assert_eq!(qos.cases.len(), 2);
}

#[test]
fn a_killed_competitor_leaves_its_case_out_and_the_rest_is_kept() {
    let home = Home::new();
    let latlas = start_qos(&home, "--rounds 1 --cases pairs,operations --jobs 2");
    let jobs = wait_for_two(latlas.id());
    signal(jobs[1], "KILL");
    let done = Done::after(latlas).ended_with(3);
    let run = done.document();
    let qos = recording(&run);
    let why = run.partial.clone().expect("marked");
    has(&why, ["user-interactive + default: left out after 0 rounds: a job ended early"]);
    for runs in &qos.cases {
        let is_pair = matches!(runs.case, Case::Pair { .. });
        assert_eq!(runs.runs.is_empty(), is_pair, "{}", runs.case.label());
    }
    all_gone(&jobs);
    no_files(&home);
}

#[test]
fn a_request_to_end_keeps_what_was_measured() {
    for name in ["INT", "TERM"] {
        let home = Home::new();
        let latlas = start_qos(&home, "--cases lowest --rounds 500");
        // Of a later round: one is complete.
        let first = wait_for_two(latlas.id());
        let jobs = wait_for("another pair", || {
            let jobs = jobs_of(latlas.id());
            let are_new = jobs.iter().all(|job| !first.contains(job));
            (jobs.len() == 2 && are_new).then_some(jobs)
        });
        signal(latlas.id(), name);
        signal(latlas.id(), name);
        let done = Done::after(latlas).ended_with(3);
        let run = done.document();
        let qos = recording(&run);
        let why = run.partial.clone().expect(name);
        has(&why, ["interrupted: completed runs are kept"]);
        assert!(qos.cases.iter().any(|runs| !runs.runs.is_empty()), "{name}");
        all_gone(&jobs);
        no_files(&home);
    }
}

#[test]
fn jobs_end_with_a_killed_latlas() {
    let home = Home::new();
    let mut latlas = start_qos(&home, "--rounds 1 --cases lowest");
    let jobs = wait_for_two(latlas.id());
    latlas.kill().expect("killed");
    latlas.wait().expect("ended");
    all_gone(&jobs);
}

#[test]
fn knobs_are_measured_and_leave_nothing() {
    let home = Home::new();
    home.run("qos knobs nise").refused("no knob has \"nise\"");
    if cfg!(not(target_os = "linux")) {
        return skip("these are controls of the Linux scheduler");
    }
    let done = home.run("qos knobs batch --rounds 1 --document").ok();
    let run = done.document();
    let [Recording::Knobs(knobs)] = &run.recordings[..] else { panic!("{run:?}") };
    // None and SCHED_BATCH, in one session and in two.
    assert_eq!(knobs.knobs.len(), 4);
    for row in &knobs.knobs {
        assert_eq!(row.not_available, None);
        assert_eq!(row.permission.set, Outcome::ReadBack);
        for shares in [&row.one_cpu, &row.all_cpus] {
            assert_eq!(shares.predicted, Some(0.5));
            let within = shares.measured.iter().all(|share| (0.0..=1.0).contains(share));
            assert!(shares.measured.len() == 1 && within, "{shares:?}");
        }
        for wakes in [&row.of_small_thread, &row.of_default_thread] {
            assert!(wakes.count > 0, "{wakes:?}");
        }
    }
}
