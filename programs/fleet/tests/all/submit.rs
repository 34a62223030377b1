//! Plans, submission, and kills of it.

use crate::lab::Fleet;
use crate::support::processes::wait_until;
use crate::support::{Done, has, json};
use std::time::Duration;

#[test]
fn a_plan_names_hosts_jobs_and_rows() {
    let fleet = Fleet::new(
        "rows = ['cpu.add_i64']\npartition = 'lab'\nconstraint = 'epyc'\nrepetitions = 2",
    );
    let plan = json(&fleet.run_line("plan lab.toml --json").ok().out);
    assert_eq!(plan["hosts"], serde_json::json!(["n1", "n2"]));
    assert_eq!((&plan["jobs"], &plan["rows"][0]), (&4.into(), &"cpu.add_i64".into()));
    has(&fleet.run_line("plan lab.toml").ok().out, ["4 (2 hosts, 2 repetitions)", "latlas run"]);
    assert!(!fleet.0.path("lab.fleet").exists(), "a plan leaves nothing");
}

#[test]
fn what_is_wrong_is_refused_in_a_line() {
    for (campaign, why) in [
        ("rows = ['cpu.ad_i64']\nhosts = ['n1']", "cpu.add_i64"),
        ("rows = ['cpu.ad_i64']\nhosts = ['n1']", "lab.toml: "),
        ("hosts = ['n1']\nrepetition = 2", "lab.toml:4: unknown: \"repetition\""),
        ("hosts = ['n1']\n[controls]\nfifo = 99", "lab.toml: invalid value '99' for 'fifo"),
        ("hosts = ['n1']\nbudget = '25h'", "lab.toml: invalid value"),
        ("hosts = ['n1']\n[controls]\npin = 0\nno_controls = true", "cannot be used with"),
        ("hosts_file = 'absent'", "can't read"),
        ("partition = 'lab'\nconstraint = 'gpu'", "partition lab has no host with gpu"),
        ("partition = 'lab'\nconstraint = '[a|b]'", "name the hosts"),
        ("hosts = ['-x']", "is not the name of a host"),
    ] {
        let fleet = Fleet::new(campaign);
        for command in ["plan", "submit"] {
            fleet.run_line(&format!("{command} lab.toml")).refused(why);
        }
    }
    let fleet = Fleet::new("hosts = ['n1']");
    fleet.run_line("status lab.toml").refused("campaign \"lab\" was not submitted");
    fleet.run_line("collect nothing").refused("was not submitted");
    fleet.run_line("submit lab.toml").ok();
    std::fs::remove_dir_all(fleet.0.path("lab.fleet")).expect("removed");
    fleet
        .run_line("status lab")
        .refused("lab.fleet: the directory of campaign \"lab\" does not exist");
}

#[test]
fn what_only_a_host_can_check_is_not_checked_here() {
    let fleet = Fleet::new("hosts = ['n1']\n[controls]\npin = 99999\ndir = '/nowhere'");
    fleet.run_line("plan lab.toml").ok();
    fleet.run_line("submit lab.toml").ok();
}

#[test]
fn a_file_of_hosts_that_changed_is_another_campaign() {
    let fleet = Fleet::new("hosts_file = 'h.txt'");
    fleet.0.write("h.txt", "n1\n");
    fleet.run_line("submit lab.toml").ok();
    fleet.0.write("h.txt", "n1\nn2\n");
    for command in ["submit", "status", "collect"] {
        let done = fleet.run_line(&format!("{command} lab.toml"));
        done.refused("was submitted as campaign");
    }
}

#[test]
fn each_host_gets_a_batch_once() {
    let fleet = Fleet::new("hosts = ['n1', 'bad', 'n2']\nrepetitions = 2");
    let done = fleet.run_line("submit lab.toml").ended_with(3);
    has(
        &done.out,
        [
            "submitted 4 jobs",
            "bad: refused by Slurm: Batch job submission failed: Invalid node name",
        ],
    );
    let queue: Vec<String> = ["n1#1|1", "n1#1|2", "n2#1|1", "n2#1|2"]
        .map(|job| format!("{job}|PENDING|Resources"))
        .into();
    assert_eq!(fleet.queue(), queue);
    has(
        &fleet.run_line("submit lab.toml").ok().out,
        ["submitted 0 jobs", "6 jobs submitted before"],
    );
    assert_eq!(fleet.queue(), queue);
    let states = ["waiting", "waiting", "refused", "refused", "waiting", "waiting"];
    assert_eq!(fleet.states(), states);
    // The controller forgot the jobs of n1.
    fleet.0.write("queue", queue[2..].join("\n") + "\n");
    assert_eq!(fleet.states()[..2], ["lost", "lost"]);
    fleet.run_line("submit lab.toml --again").ended_with(3);
    assert_eq!(fleet.queue()[2..], ["n1#2|1|PENDING|Resources", "n1#2|2|PENDING|Resources"]);
    let batches = json(&fleet.0.read_file("lab.fleet/submitted/n1.json"));
    assert_eq!(batches[1]["first_attempt"], 2);
    // Another content under the same name.
    let file = fleet.0.read_file("lab.toml");
    fleet.0.write("lab.toml", file + "max_busy = '50%'\n");
    for command in ["submit", "status", "collect"] {
        fleet.run_line(&format!("{command} lab.toml")).refused("give it another name");
    }
}

#[test]
fn a_killed_submission_is_repeated_without_doubling() {
    for point in ["submission written", "program staged", "intention written", "batch submitted"] {
        let fleet = Fleet::new("hosts = ['n1', 'n2']");
        fleet.killed_at(point, "submit lab.toml");
        fleet.run_line("submit lab.toml").ok();
        assert_eq!(fleet.queue().len(), 2, "{point}: {:?}", fleet.queue());
        assert_eq!(fleet.states(), ["waiting", "waiting"], "{point}");
    }
}

#[test]
fn an_sbatch_that_outlives_its_killed_parent_is_waited_for() {
    let fleet = Fleet::new("hosts = ['n1']");
    let mut child = fleet
        .command("submit lab.toml")
        .env("WAITS_FOR", fleet.0.path("go"))
        .spawn()
        .expect("it starts");
    wait_until("sbatch", || fleet.0.path("queue.begun").exists());
    child.kill().expect("killed");
    child.wait().expect("ended");
    let mut second = fleet.command("submit lab.toml").spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    assert!(second.try_wait().expect("a child").is_none(), "it waits");
    assert_eq!(fleet.queue().len(), 0, "sbatch is still busy");
    fleet.0.write("go", "");
    Done::after(second).ok();
    assert_eq!(fleet.queue(), ["n1#1|1|PENDING|Resources"]);
}

#[test]
fn without_an_answer_of_slurm_nothing_is_submitted_again() {
    let fleet = Fleet::new("hosts = ['n1']");
    fleet.run_line("submit lab.toml").ok();
    fleet.0.write("queue.silent", "");
    let standing = fleet.status();
    has(&standing.to_string(), ["Unable to contact slurm controller"]);
    assert_eq!(standing["jobs"][0]["state"], "waiting");
    fleet.run_line("submit lab.toml --again").refused("Slurm does not answer");
}

#[test]
fn a_job_measures_once_and_only_with_its_program() {
    let fleet =
        Fleet::new("hosts = ['n1', 'n2']\nrows = ['cpu.add_i64']\nscale = 'quick'\nbudget = '1s'");
    fleet.run_line("submit lab.toml").ok();
    let job = |host: &str| {
        let script = fleet.0.path("lab.fleet/job.sh");
        let mut command = fleet.0.launch(vec!["sh", script.to_str().expect("UTF-8"), host, "1"]);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}:{path}", fleet.0.path("bin").display()))
            .env("QUEUE", fleet.0.path("queue"))
            .env("SLURM_JOB_ID", "1")
            .env("SLURM_ARRAY_TASK_ID", "1")
            .env("SLURM_RESTART_COUNT", "2");
        crate::support::Done::from_command(&mut command)
    };
    let record = json(&job("n1").ok().out);
    assert_eq!((&record["stage"], &record["job"]["attempt"]), (&"finished".into(), &3.into()));
    assert!(record["reference_unix_ms"].as_u64().is_some());
    // A clock of the controller that can't be read is no reason to lose the job.
    fleet.0.write("bin/squeue", "#!/bin/sh\necho N/A\n");
    let again = json(&job("n1").ok().out);
    assert_eq!(again["stage"], "unneeded");
    assert_eq!(again["reference_unix_ms"], serde_json::Value::Null);
    fleet.0.write("bin/squeue", crate::lab::SQUEUE);
    let staged = crate::support::entries(&fleet.0.path("lab.fleet"));
    let staged = staged.iter().find(|path| path.to_string_lossy().contains("/latlas-"));
    let staged = staged.expect("the program");
    let mut bytes = std::fs::read(staged).expect("read");
    bytes.push(0);
    std::fs::remove_file(staged).expect("removed");
    fleet.0.write(
        &format!("lab.fleet/{}", staged.file_name().expect("a name").to_string_lossy()),
        bytes,
    );
    std::fs::set_permissions(staged, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("mode");
    has(&job("n2").ended_with(2).err, ["the program here is not the campaign's"]);
    fleet.0.write("queue", "");
    let standing = fleet.status();
    assert_eq!(standing["jobs"][0]["state"], "done");
    assert_eq!(standing["jobs"][1]["refusal"], "program");
    let collected = json(&fleet.run_line("collect lab --json").ended_with(3).out);
    assert_eq!(collected["stored"], 1);
    fleet.run_line("submit lab.toml --again").refused("not the program of this campaign");
}
