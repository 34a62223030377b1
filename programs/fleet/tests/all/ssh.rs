//! Over ssh.

use crate::lab::Fleet;
use crate::support::processes::{signal, wait_until};
use crate::support::{has, json};

const SHORT: &str = "rows = ['cpu.add_i64']\nscale = 'quick'\nbudget = '1s'";

#[test]
fn hosts_are_measured_and_one_that_is_down_is_named() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a', 'down']"));
    let done = fleet.run_line("submit lab.toml -j 2").ended_with(3);
    has(&done.out, ["No route to host"]);
    assert_eq!(fleet.states(), ["done", "refused"]);
    assert_eq!(fleet.status()["jobs"][1]["refusal"], "unreachable");
    assert_eq!(json(&fleet.run_line("collect lab --json").ended_with(3).out)["stored"], 1);
    // Now it answers.
    let ssh = fleet.0.read_file("bin/ssh");
    fleet.0.write("bin/ssh", ssh.replace("!= down", "!= nothing"));
    fleet.run_line("submit lab.toml").ok();
    assert_eq!(fleet.states(), ["done", "done"]);
    assert_eq!(json(&fleet.run_line("collect lab --json").ok().out)["stored"], 1);
    let jobs = fleet.0.read_file("hosts/log").matches("fleet job").count();
    assert_eq!(jobs, 2, "what is done is not measured again");
}

#[test]
fn hosts_of_the_command_line_are_measured_and_reported_at_once() {
    let fleet = Fleet::new("hosts = ['a']");
    let line = "run --hosts a,b -j 2 --quick --budget 1s --name two cpu.add_i64";
    let done = fleet.run_line(line);
    // 3: of two hosts little is known.
    assert!([0, 3].contains(&done.code), "{}{}", done.out, done.err);
    has(&done.out, ["2 hosts"]);
    has(&fleet.0.read_file("two.toml"), ["engine = \"ssh\"", "cpu.add_i64"]);
    assert_eq!(json(&fleet.run_line("collect two --json").ok().out)["stored_before"], 2);
    fleet.run_line(line).refused("two.toml is there already");
    fleet.run_line("run cpu.add_i64").ended_with(2);
}

#[test]
fn a_host_that_is_down_is_reported_once_for_all_of_its_jobs() {
    let fleet = Fleet::new("engine = 'ssh'\nhosts = ['down']\nrepetitions = 3");
    let done = fleet.run_line("submit lab.toml").ended_with(3);
    assert_eq!(done.err.matches("No route to host").count(), 1);
    assert_eq!(fleet.states(), ["refused"; 3]);
}

#[test]
fn what_an_ssh_leaves_running_is_not_waited_for() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a']"));
    // As the master of a shared connection, which may keep the streams of its first client.
    let leaves = "case $3 in *'fleet job'*) sleep 600 & echo $! >\"$HOSTS/left\";; esac\nmkdir -p";
    let ssh = fleet.0.read_file("bin/ssh");
    fleet.0.write("bin/ssh", ssh.replace("mkdir -p", leaves));
    fleet.run_line("submit lab.toml").ok();
    let left = fleet.0.read_file("hosts/left");
    signal(left.trim().parse().expect("a number"), "KILL");
    assert_eq!(fleet.states(), ["done"]);
}

#[test]
fn what_a_host_measured_for_a_killed_submission_is_copied() {
    let fleet = Fleet::new(SHORT);
    fleet.0.write("hosts.txt", "a # the only one\n\n");
    let line = "submit lab.toml --hosts hosts.txt";
    let mut child = fleet.command(line).spawn().expect("it starts");
    let log = fleet.0.path("hosts/log");
    let log = || std::fs::read_to_string(&log).unwrap_or_default();
    wait_until("a job", || log().contains("fleet job"));
    assert_eq!(fleet.states(), ["running"]);
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert_eq!(fleet.states(), ["lost"]);
    let digest = fleet.status()["digest"].as_str().expect("a digest").to_owned();
    let results = fleet.0.path(&format!("hosts/a/.cache/latlas/fleet/{digest}/results"));
    let is_document = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".zst") && !name.starts_with('.')
    };
    wait_until("a document", || crate::support::entries(&results).iter().any(is_document));
    fleet.run_line(line).ok();
    assert_eq!(fleet.states(), ["done"]);
    let jobs = fleet.0.read_file("hosts/log").matches("fleet job").count();
    assert_eq!(jobs, 1, "it was copied, not measured again");
}

#[test]
fn a_document_that_the_host_has_is_copied_also_when_nothing_here_knows_of_it() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a']"));
    fleet.run_line("submit lab.toml").ok();
    let before = fleet.status()["jobs"][0]["run"].clone();
    std::fs::remove_dir_all(fleet.0.path("lab.fleet")).expect("removed");
    fleet.run_line("submit lab.toml").ok();
    assert_eq!(fleet.status()["jobs"][0]["run"], before);
    assert!(fleet.0.read_file("hosts/log").contains("fleet job"));
}

#[test]
fn a_host_is_believed_nothing_about_other_jobs() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['evil', 'good']"));
    fleet.run_line("submit lab.toml").ok();
    let goods = fleet.status()["jobs"][1]["run"].clone();
    let results = fleet.0.path("lab.fleet/results");
    let is_evils = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("evil."))
    };
    let evils = || crate::support::entries(&results).into_iter().find(is_evils);
    let own = evils().expect("its document");
    let run = serde_json::to_value(store::read_as_it_is(&own).expect("a run")).expect("JSON");
    std::fs::remove_file(own).expect("removed");
    let script =
        "#!/bin/sh\ncase $1 in */results/*) . $HOSTS/answer;; *) exec /bin/cat \"$@\";; esac\n";
    fleet.0.write("hosts/evil.bin/cat", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(fleet.0.path("hosts/evil.bin/cat"), mode).expect("executable");
    let other = |pointer: &str, value: serde_json::Value| {
        let mut run = run.clone();
        *run.pointer_mut(pointer).expect(pointer) = value;
        fleet.0.write("hosts/forged", run.to_string());
        "exec /bin/cat $HOSTS/forged"
    };
    type FakeReply<'a> = &'a dyn Fn() -> &'a str;
    let answers: [(FakeReply, &str); 7] = [
        (
            &|| other("/job/host", "good".into()),
            "sent a result of another job (host good, repetition 1",
        ),
        (
            &|| other("/job/repetition", 7.into()),
            "sent a result of another job (host evil, repetition 7",
        ),
        (&|| other("/job/nonce", "f".into()), "sent a result of another job"),
        (&|| other("/job/digest", "0".into()), "sent a result of another job"),
        (&|| other("/job", serde_json::Value::Null), "sent a run of no campaign"),
        (&|| other("/id", goods.clone()), "which is that of host good"),
        (&|| "exec /bin/cat /dev/zero", "it answered with more than 65536 KiB"),
    ];
    for (answer, reason) in answers {
        fleet.0.write("hosts/answer", answer());
        let done = fleet.run_line("submit lab.toml --again").ended_with(3);
        has(&done.out, ["evil", reason]);
        let jobs = fleet.status()["jobs"].clone();
        assert_eq!((&jobs[0]["state"], &jobs[0]["refusal"]), (&"refused".into(), &"answer".into()));
        assert_eq!((&jobs[1]["state"], &jobs[1]["run"]), (&"done".into(), &goods));
        assert_eq!(evils(), None, "nothing of it is kept");
    }
    // Its own result counts, as before.
    fleet.0.write("hosts/answer", "exec /bin/cat \"$@\"");
    fleet.run_line("submit lab.toml --again").ok();
    // A file that another user put into the directory is refused.
    let own = evils().expect("its document");
    let mut forged = run.clone();
    forged["job"]["host"] = "good".into();
    forged["job"]["attempt"] = 9.into();
    forged["id"] = crate::support::made_up_id(1).into();
    std::fs::write(own, forged.to_string()).expect("written");
    let standing = fleet.status();
    assert_eq!(standing["jobs"][1]["run"], goods);
    has(
        &standing["unreadable"][0]["reason"].to_string(),
        ["of host good, repetition 1, attempt 9"],
    );
}

#[test]
fn a_control_that_a_host_cannot_set_is_named_by_its_key() {
    let fleet = Fleet::new("hosts = ['a']\nengine = 'ssh'\n[controls]\ndir = '/nowhere'");
    fleet.run_line("submit lab.toml").ended_with(3);
    let job = fleet.status()["jobs"][0].clone();
    assert_eq!(job["refusal"], "controls");
    has(&job["reason"].to_string(), ["/nowhere", "controls.dir"]);
}

#[test]
fn an_interrupted_run_is_copied_and_measured_again() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a']"));
    fleet.run_line("submit lab.toml").ok();
    let of_host = results(&fleet);
    let name = of_host.file_name().expect("a name").to_string_lossy();
    let here = fleet.0.path(&format!("lab.fleet/results/{name}"));
    let mut run = serde_json::to_value(store::read_as_it_is(&here).expect("a run")).expect("JSON");
    run["partial"] = "interrupted".into();
    std::fs::write(&of_host, run.to_string()).expect("written");
    std::fs::remove_file(&here).expect("removed");
    fleet.run_line("submit lab.toml").ok();
    assert_eq!(fleet.states(), ["done"]);
    assert!(here.exists(), "the interrupted run is here too");
    assert_eq!(jobs(&fleet), 2);
}

#[test]
fn a_host_without_room_is_named_so_and_keeps_no_remains() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a']"));
    for (error, refusal) in
        [("No space left on device", "disk_full"), ("Permission denied", "directory")]
    {
        let script =
            format!("#!/bin/sh\nhead -c 10\necho 'cat: write error: {error}' >&2; exit 1\n");
        fleet.0.write("hosts/a.bin/cat", script);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(fleet.0.path("hosts/a.bin/cat"), mode).expect("executable");
        fleet.run_line("submit lab.toml --again").ended_with(3);
        let job = fleet.status()["jobs"][0].clone();
        assert_eq!((&job["state"], &job["refusal"]), (&"refused".into(), &refusal.into()));
        assert_eq!(programs(&fleet), 0);
    }
    let digest = fleet.status()["digest"].as_str().expect("a digest").to_owned();
    let staged = crate::support::entries(&fleet.0.path("lab.fleet"));
    let mut program = staged.iter().filter_map(|path| path.file_name()?.to_str());
    let program = program.find(|name| name.starts_with("latlas-")).expect("staged");
    fleet.0.write(&format!("hosts/a/.cache/latlas/fleet/{digest}/{program}.new.1"), "half");
    fleet.run_line("submit lab.toml").ended_with(3);
    assert_eq!(programs(&fleet), 1, "it is tried again only with --again");
    std::fs::remove_dir_all(fleet.0.path("hosts/a.bin")).expect("removed");
    fleet.run_line("submit lab.toml --again").ok();
    assert_eq!(programs(&fleet), 1, "what another attempt left is removed");
}

#[test]
fn a_host_whose_shell_prints_is_refused_with_what_to_do() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a']"));
    fleet.0.write("hosts/a.rc", "echo hello\n");
    fleet.run_line("submit lab.toml").ended_with(3);
    let job = fleet.status()["jobs"][0].clone();
    assert_eq!(job["refusal"], "answer", "{job}");
    let reason = job["reason"].as_str().expect("a reason");
    has(reason, ["its shell prints \"hello\"", "~/.bashrc", "--again"]);
    assert_eq!(programs(&fleet), 0, "nothing is sent there");
    std::fs::remove_file(fleet.0.path("hosts/a.rc")).expect("removed");
    fleet.run_line("submit lab.toml --again").ok();
    assert_eq!(fleet.states(), ["done"]);
}

#[test]
fn half_a_program_is_not_put_in_place_of_a_whole_one() {
    let fleet = Fleet::new(&format!("{SHORT}\nengine = 'ssh'\nhosts = ['a']"));
    let ssh = fleet.0.read_file("bin/ssh");
    let breaks =
        "case $3 in *'cat >'*) head -c 100000 | sh -c \"$3\"; exit;; esac; exec sh -c \"$3\"";
    fleet.0.write("bin/ssh", ssh.replace("exec sh -c \"$3\"", breaks));
    fleet.run_line("submit lab.toml").ended_with(3);
    let job = fleet.status()["jobs"][0].clone();
    assert_eq!(job["refusal"], "unreachable", "{job}");
    let reason = job["reason"].to_string();
    has(&reason, ["only 100000 of ", " bytes of latlas-", " arrived"]);
    assert_eq!((programs(&fleet), jobs(&fleet)), (0, 0));
    // As after a connection that broke, it is tried again without --again.
    fleet.0.write("bin/ssh", ssh);
    fleet.run_line("submit lab.toml").ok();
    assert_eq!((programs(&fleet), jobs(&fleet)), (1, 1));
}

#[test]
fn a_job_that_takes_too_long_is_ended_on_its_host() {
    for (limits, reasons, begun) in [
        ("deadline = '1h'\ntime_limit = '1s'", ["timed out after 1s", "timed out after 1s"], 2),
        (
            "deadline = '2s'",
            // Of the deadline, a busy machine has little left.
            ["timed out after ", "run `latlas fleet submit` again"],
            1,
        ),
    ] {
        let fleet = Fleet::new("");
        let campaign =
            "name = 'lab'\nhosts = ['a']\nengine = 'ssh'\nrepetitions = 2\nbudget = '60s'\n";
        fleet.0.write("lab.toml", format!("{campaign}{limits}"));
        let done = fleet.run_line("submit lab.toml").ended_with(3);
        assert_eq!(done.err.contains("the deadline of 2s is over"), begun == 1, "{}", done.err);
        let standing = fleet.status();
        let reason =
            |n: usize| standing["jobs"][n]["reason"].as_str().expect("a reason").to_owned();
        assert!(reason(0).starts_with(reasons[0]), "{}", reason(0));
        assert_eq!(reason(1), reasons[1]);
        assert_eq!(standing["jobs"][0]["state"], "lost");
        assert_eq!(jobs(&fleet), begun);
        let digest = standing["digest"].as_str().expect("a digest");
        let is_of_job = |path: &std::path::PathBuf| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains("fleet\0job") && line.contains(digest)
        };
        let running = crate::support::entries(std::path::Path::new("/proc"));
        assert_eq!(running.iter().find(|path| is_of_job(path)), None);
    }
}

#[test]
fn a_job_that_outlives_its_submission_is_measured_once() {
    let fleet = Fleet::new(
        "rows = ['cpu.*']\nscale = 'quick'\nbudget = '20s'\nengine = 'ssh'\nhosts = ['a']",
    );
    let mut command = fleet.command("submit lab.toml");
    let child = command.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    wait_until("a record", || {
        let records = fleet.0.path("hosts/a/.cache/latlas/fleet");
        let of_digest = crate::support::entries(&records);
        let of = |path: &std::path::PathBuf| crate::support::entries(&path.join("records")).len();
        of_digest.iter().map(of).sum::<usize>() > 0
    });
    signal(child.id(), "TERM");
    let done = child.wait_with_output().expect("ended");
    assert_eq!(done.status.code(), None, "it ends by the signal");
    has(&String::from_utf8_lossy(&done.stderr), ["continue on their hosts"]);
    assert_eq!(fleet.states(), ["lost"]);
    fleet.run_line("submit lab.toml").ok();
    assert_eq!(jobs(&fleet), 2, "the second begins before the first ends");
    assert_eq!(fleet.status()["jobs"][0]["twice"], serde_json::Value::Null);
    results(&fleet);
}

/// Jobs that began on hosts.
fn jobs(fleet: &Fleet) -> usize {
    fleet.0.read_file("hosts/log").matches("fleet job").count()
}

/// The one directory of the campaign on host a.
fn of_host(fleet: &Fleet, name: &str) -> std::path::PathBuf {
    let campaigns = crate::support::entries(&fleet.0.path("hosts/a/.cache/latlas/fleet"));
    assert_eq!(campaigns.len(), 1);
    campaigns[0].join(name)
}

/// The one document on host a.
fn results(fleet: &Fleet) -> std::path::PathBuf {
    let found = crate::support::entries(&of_host(fleet, "results"));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// Copies of the program on host a, whole or not.
fn programs(fleet: &Fleet) -> usize {
    let files = crate::support::entries(&of_host(fleet, ""));
    files.iter().filter(|path| path.to_string_lossy().contains("/latlas-")).count()
}
