//! `latlas ci`: two builds compared by commands run in both.

use crate::support::{Home, has};

/// Two builds of `prog`, which sleep this long.
fn builds(seconds: [&str; 2]) -> Home {
    let home = Home::new();
    for (directory, seconds) in ["base", "head"].iter().zip(seconds) {
        std::fs::create_dir(home.path(directory)).expect("a directory");
        home.write(&format!("{directory}/prog"), format!("sleep {seconds}\n"));
    }
    home
}

const CI: &str = "ci --base base --head head";

#[test]
fn what_is_wrong_is_refused_and_nothing_is_kept() {
    let home = builds(["0", "x"]);
    home.write("none", "# nothing\n\n");
    insta::assert_snapshot!(home.refusals(
        r#"ci --base base {}/prog
           ci --base base --head absent {}/prog
           ci --base base --head head
           ci --base base --head head ./prog
           ci --base base --head head "{}/prog 'x"
           ci --base base --head head --commands none
           ci --base base --head head --commands absent
           ci --base base --head head --markdown absent/x "sh {}/prog"
           ci --base base --head head --markdown - --json "sh {}/prog"
           ci --base base --head head --fail-above x "sh {}/prog"
           ci --base base --head head -r 6 "sh {}/absent""#
    ));
    assert_eq!(home.kept(), 0);
}

// Ten times as long is more than twice, and the same is not, however busy the machine is.
#[test]
fn a_head_that_sleeps_ten_times_as_long_fails_and_one_alike_passes() {
    let home = builds(["0.1", "1"]);
    home.write("commands", "# the program\nsh {}/prog\n");
    let line = format!("{CI} -r 12 --fail-above 100% --commands commands");
    let slow = home.run(format!("{line} --markdown said.md --out-dir runs")).ended_with(1);
    has(&slow.out, ["SLOWER", "REGRESSION above 100 % in 1 of", "sh {}/prog (wall)"]);
    has(&home.read("said.md"), ["REGRESSION above 100 %", "**SLOWER**"]);
    assert!(home.path("runs/1.json.zst").is_file());
    assert_eq!(home.kept(), 1);

    home.write("head/prog", "sleep 0.1\n");
    let same = home.run(format!("{line} --json")).ended_with(0).json();
    assert_eq!(same["rows"][0]["answer"], "not_slower", "{same}");
}

#[test]
fn a_shell_gets_the_directory_as_one_word() {
    let home = Home::new();
    for directory in ["old build", "new build"] {
        std::fs::create_dir(home.path(directory)).expect("a directory");
        home.write(&format!("{directory}/prog"), "exit 0\n");
    }
    let words = ["ci", "--base", "old build", "--head", "new build", "-r", "6", "--shell"];
    let line: Vec<&str> = words.into_iter().chain(["sh {}/prog | cat", "--json"]).collect();
    let done = home.run(line);
    assert!(done.json()["rows"][0]["rounds"] == 6, "{}", done.out);
}

#[test]
fn documents_that_cannot_be_written_are_refused_before_anything_is_measured() {
    let home = builds(["0", "0"]);
    std::fs::create_dir_all(home.path("runs/2.json.zst")).expect("a directory");
    let line = format!(r#"{CI} -r 6 --out-dir runs "sh {{}}/prog" "sh {{}}/prog 2""#);
    home.run(line).refused("runs/2.json.zst");
    assert_eq!(home.kept(), 0);
    assert!(!home.path("runs/1.json.zst").exists());
}

#[test]
fn a_file_of_commands_may_begin_with_a_byte_order_mark() {
    let home = builds(["0", "0"]);
    home.write("commands", "\u{feff}sh {}/prog\n");
    let done = home.run(format!("{CI} -r 6 --commands commands --markdown -"));
    let page = &done.measured().out;
    assert!(page.starts_with("### latlas: head compared with base"), "{page}");
    has(page, [r"sh \{\}/prog"]);
    assert!(!home.path("-").exists());
}
