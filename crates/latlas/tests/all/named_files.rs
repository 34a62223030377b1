//! Files that the user names: pipes, devices and links, files of other users, what their
//! endings say, and what an existing file keeps.

use crate::support::{Done, Home, has, lacks, processes::is_root, skip};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::{Command, Stdio};
use std::time::Duration;

const NOBODY: u32 = 65_534;

fn chmod(home: &Home, name: &str, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(home.path(name), mode).expect("a mode");
}

fn pipe(home: &Home) {
    let made = Command::new("mkfifo").arg(home.path("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
}

#[test]
fn a_pipe_without_another_end_is_waited_for_by_no_command() {
    let home = Home::with(&[0]);
    pipe(&home);
    chmod(&home, "pipe", 0o755);
    insta::assert_snapshot!(home.refusals(
        "exec --output ./pipe -- true
         exec --cold-files pipe -- true
         exec --out pipe -- true
         run --out pipe cpu.add_i64
         noise measure --out pipe
         trace --out pipe -- true
         trace --usdt -- ./pipe
         export --format csv -o pipe
         plot overview -o pipe --format svg
         report -o pipe
         run --pack pipe cpu.add_i64"
    ));
}

#[test]
fn a_request_to_end_ends_the_wait_for_a_pipe_and_the_lock_is_free() {
    let home = Home::new();
    pipe(&home);
    let mut child = home.start("exec --input pipe -- cat");
    // Until it reads, or longer: it has no handler then either.
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("asked").is_none(), "it waits for input");
    home.run("noise measure --for 100ms --no-wait").measured();
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.expect("kill runs").success());
    assert_eq!(Done::after(child).code, -1);
}

#[test]
fn every_run_reads_the_same_input() {
    let home = Home::new();
    let mut command = home.command("exec -r 3 --warmup 1 --input /dev/stdin --output out -- wc -l");
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"1\n2\n3\n").expect("written");
    drop(input);
    Done::after(child).measured();
    assert_eq!(home.read_file("out").trim(), "3");
    home.write("in", "text");
    home.write("empty", "");
    insta::assert_snapshot!(home.refusals(
        "exec --input empty -- cat
         exec --input in --warmup 0 -r 2 -- sh -c 'echo more >> in'
         exec --input . -- cat"
    ));
}

#[test]
fn what_another_user_may_change_is_not_used() {
    let home = Home::new();
    home.write("config/latlas/config", "--color never\n");
    home.write("data/packs/any.so", "no library");
    home.write("token", "a-token-of-some-length-123456789");
    home.out("config show");
    // A pack that may be loaded is tried.
    let tried = home.run("--no-config list cpu.add_i64").ok();
    has(&tried.err, ["skipped: pack", "any.so"]);
    lacks(&tried.err, ["writable"]);
    chmod(&home, "data/packs", 0o777);
    let skipped = home.run("--no-config list cpu.add_i64").ok();
    has(&skipped.err, ["skipped: the packs directory", "writable by other users (chmod go-w)"]);
    lacks(&skipped.err, ["any.so"]);
    chmod(&home, "data/packs", 0o755);
    chmod(&home, "data/packs/any.so", 0o646);
    let skipped = home.run("--no-config list cpu.add_i64").ok();
    has(&skipped.err, ["skipped: can't read", "any.so is writable by other users"]);
    // Else it is skipped by each command below.
    std::fs::rename(home.path("data/packs/any.so"), home.path("any.so")).expect("moved");
    chmod(&home, "config/latlas", 0o777);
    chmod(&home, "token", 0o666);
    insta::assert_snapshot!(home.refusals(
        "list cpu.add_i64
         --no-config run --pack any.so cpu.add_i64"
    ));
    home.run("--no-config list cpu.add_i64").ok();
}

#[test]
fn the_index_of_another_user_is_neither_used_nor_followed() {
    let home = Home::with(&[0]);
    let listed = home.out("atlas list");
    chmod(&home, "data", 0o777);
    let open = home.run("atlas list").ok();
    assert_eq!(open.out, listed);
    has(&open.err, ["index-1.sqlite can't be used", "writable by other users"]);
    chmod(&home, "data", 0o755);
    if !is_root() {
        return skip("only root can give files away");
    }
    std::fs::remove_file(home.path("data/index-1.sqlite")).expect("there");
    symlink(home.path("made"), home.path("data/index-1.sqlite")).expect("a link");
    chown(home.path("data"), Some(NOBODY), None).expect("root may");
    let theirs = home.run("atlas list").ok();
    assert_eq!(theirs.out, listed);
    has(&theirs.err, ["owned by user 65534"]);
    assert!(!home.path("made").exists());
    // Nor is anything written through a link in it.
    std::fs::rename(home.path("data/runs"), home.path("runs")).expect("moved");
    symlink(home.path("runs"), home.path("data/runs")).expect("a link");
    std::os::unix::fs::lchown(home.path("data/runs"), Some(NOBODY), None).expect("root may");
    home.document(1);
    let kept = home.run("import --format run run-1.json");
    assert_eq!(kept.code, 2, "{}", kept.err);
    has(&kept.err, ["data/runs is a link of user 65534, not followed"]);
    assert_eq!(std::fs::read_dir(home.path("runs")).expect("there").count(), 1);
}

#[test]
fn ones_own_links_in_a_store_are_followed() {
    let home = Home::with(&[0]);
    std::fs::rename(home.path("data"), home.path("elsewhere")).expect("moved");
    symlink("elsewhere", home.path("data")).expect("a link");
    home.run("atlas list").silent();
    home.document(1);
    home.run("import --format run run-1.json").ok();
    home.run("atlas tag last kept").ok();
    assert_eq!(home.kept_documents(), 2);
}

#[test]
fn an_existing_file_keeps_its_mode_its_owner_and_its_names() {
    let home = Home::with(&[0]);
    for (name, command) in [
        ("x.csv", "export --format csv -o x.csv"),
        ("x.svg", "plot overview -o x.svg"),
        ("x.html", "report -o x.html --no-documents --force"),
    ] {
        home.write(name, "old");
        chmod(&home, name, 0o600);
        let given = chown(home.path(name), Some(NOBODY), Some(NOBODY)).is_ok();
        home.run(command).ok();
        let found = std::fs::metadata(home.path(name)).expect("there");
        assert_eq!(found.mode() & 0o7777, 0o600, "{command}");
        assert_eq!(given, found.uid() == NOBODY, "{command}");
        assert_ne!(home.read_file(name), "old", "{command}");
        std::fs::hard_link(home.path(name), home.path("other")).expect("a link");
        let refused = home.run(command);
        assert_eq!(refused.code, 2, "{command}");
        has(&refused.err, ["hard links"]);
        std::fs::remove_file(home.path("other")).expect("there");
    }
}

#[test]
fn a_file_holds_what_its_ending_says() {
    let home = Home::with(&[0]);
    insta::assert_snapshot!(home.refusals(
        "run --out x.html cpu.add_i64
         run --out x.json.gz cpu.add_i64
         run --out - cpu.add_i64
         exec --out x.svg -- true
         fit --out x.csv
         noise measure --out x.html
         noise ab --out x.gz
         qos --out x.png
         trace --out x.csv -- true
         trace --out x.html --from 2ms --to 1ms -- true
         history --cpus --out x.csv
         report -o x.pdf
         plot overview --json -o x.svg"
    ));
    for (name, begins) in [("t.html", "<!DOCTYPE html>"), ("t.svg", "<svg ")] {
        let line = format!("trace --tier minimal --out {name} -- sleep 0.2");
        home.run(&line).recorded();
        let text = home.read_file(name);
        assert!(text.starts_with(begins), "{name}: {:?}", &text[..20]);
    }
    home.run("trace --tier minimal --out t.zst -- sleep 0.2").recorded();
    home.run("trace show t.zst").ok();
}
