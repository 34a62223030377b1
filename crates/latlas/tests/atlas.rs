//! `latlas atlas` as a user runs it: names, tags, deleting, and bad days of the
//! place where runs are kept.

#[path = "atlas/bad_disk.rs"]
mod bad_disk;
#[path = "atlas/home.rs"]
mod home;
#[path = "atlas/kills.rs"]
mod kills;
#[path = "atlas/last.rs"]
mod last;
#[path = "atlas/strangers.rs"]
mod strangers;

use home::{Home, id};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn an_empty_atlas_says_so() {
    let home = Home::new();
    let done = home.run(&["atlas", "list"]);
    assert_eq!((done.code, done.out.as_str()), (0, ""));
    assert!(done.err.contains("no run is kept"), "{}", done.err);
    let done = home.run(&["atlas", "list", "--json"]);
    assert_eq!(
        (done.code, done.out.trim(), done.err.as_str()),
        (0, "[]", "")
    );
    home.run(&["atlas", "show"]).refused("no run is kept");
    let done = home.run(&["atlas", "verify"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let done = home.run(&["atlas", "rebuild"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{}", done.out);
    assert!(done.out.contains("nothing is kept"), "{}", done.out);
    assert!(!home.path("data").exists(), "looking makes nothing");
}

#[test]
fn runs_are_listed_filtered_and_shown() {
    let home = Home::with(&[1, 2, 3]);
    let done = home.run(&["atlas", "list"]);
    let places: Vec<_> = [3, 2, 1].map(|n| done.out.find(&id(n)[..8])).into();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{}",
        done.out
    );
    assert!(
        done.out.lines().all(|line| line.chars().count() <= 100),
        "{}",
        done.out
    );
    let all = json(&home.run(&["atlas", "list", "--json"]).out);
    assert_eq!(all[0]["id"], id(3));
    let key = all[0]["machine"].as_str().expect("a key").to_owned();
    for (arguments, count) in [
        (vec!["--limit", "2"], 2),
        (vec!["--machine", "EXAMPLE"], 3),
        (vec!["--machine", &key[..6]], 3),
        (vec!["--tag"], 0),
    ] {
        let arguments = [vec!["atlas", "list", "--json"], arguments].concat();
        let done = home.run(&arguments);
        let found = json(&done.out).as_array().map(Vec::len);
        assert_eq!(found, Some(count), "{arguments:?} {}", done.err);
    }
    home.run(&["atlas", "list", "--machine", "exampel"])
        .refused("did you mean example");
    let done = home.run(&["atlas", "show", "last~1"]);
    assert_eq!(done.code, 0, "{}", done.err);
    for told in [&id(2)[..], "example", &key, "figures"] {
        assert!(done.out.contains(told), "{told} not in {}", done.out);
    }
    let shown = json(&home.run(&["atlas", "show", "last", "--json"]).out);
    let size =
        std::fs::metadata(shown["run"]["path"].as_str().expect("a path")).expect("the document");
    assert_eq!(shown["bytes"], size.len());
    // As the document has it.
    let run = json(&home.run(&["show", "last", "--json"]).out);
    let figures = run["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| {
            let outcome = &row["outcome"];
            let level = outcome["level"]["estimate"].as_object();
            outcome["figure"].as_object().or(level)
        });
    let ok = figures
        .filter(|estimate| estimate["verdict"] == "ok")
        .count();
    assert!(ok > 0);
    assert_eq!(shown["tally"]["rows"]["ok"], ok, "{shown}");
    let rows = run["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(shown["run"]["rows"], rows);
}

#[test]
fn a_machine_stands_among_all() {
    let home = Home::with(&[1, 2]);
    let done = home.run(&["atlas", "percentiles", "--json"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let all = json(&done.out);
    let of = |row: &str| {
        let mut all = all.as_array().expect("an array").iter();
        all.find(|p| p["row"] == row && p["at"] == serde_json::json!([]))
            .unwrap_or_else(|| panic!("no {row}"))
            .clone()
    };
    let add = of("cpu.add_i32");
    assert_eq!((&add["results"], &add["machines"]), (&2.into(), &1.into()));
    assert_eq!(add["percentile"], 0.0, "nobody is slower");
    let listed = home.run(&["atlas", "percentiles", "EXAMPLE"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(listed.out.contains("cpu.add_i32"), "{}", listed.out);
    let points = home.run(&["atlas", "percentiles", "--points"]).out;
    assert!(points.lines().count() > listed.out.lines().count());
    home.run(&["atlas", "percentiles", "nobody"])
        .refused("no kept run is of a machine");
    Home::new()
        .run(&["atlas", "percentiles"])
        .refused("no run is kept");
}

#[test]
fn a_tag_is_a_name_wherever_a_run_is_named() {
    let home = Home::with(&[1, 2, 3]);
    let done = home.run(&["atlas", "tag", "last~2", "base-6.19"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.out.contains(&id(1)), "{}", done.out);
    let document = json(&home.run(&["show", "base-6.19", "--json"]).out);
    assert_eq!(document["id"], id(1));
    for arguments in [
        vec!["export", "--format", "csv", "base-6.19"],
        vec!["table", "ash", "base-6.19"],
        vec!["compare", "base-6.19", "last"],
        vec!["atlas", "show", "base-6.19"],
    ] {
        let done = home.run(&arguments);
        assert_ne!(done.code, 2, "{arguments:?}: {}", done.err);
        assert!(!done.out.is_empty(), "{arguments:?}");
    }
    // A file of that name comes first.
    let other = home.document(9);
    std::fs::copy(other, home.path("base-6.19")).expect("a file");
    let document = json(&home.run(&["show", "base-6.19", "--json"]).out);
    assert_eq!(document["id"], id(9));
    home.run(&["atlas", "show", "base-6.19"])
        .refused("is not kept in");
    std::fs::remove_file(home.path("base-6.19")).expect("removed");
    home.run(&["atlas", "tag", "last", "base-6.19"])
        .refused("--move");
    let done = home.run(&["atlas", "tag", "last", "base-6.19", "--move", "--json"]);
    let moved = json(&done.out);
    assert_eq!(
        (&moved["run"], &moved["moved_from"]),
        (&id(3).into(), &vec![id(1)].into())
    );
    let done = home.run(&["atlas", "list", "--tag"]);
    assert_eq!(done.out.lines().count(), 2, "{}", done.out);
    for (name, why) in [
        ("cafe", "id"),
        ("last-good", "counts back"),
        ("iphone-x", "published"),
        ("../x", "letters"),
        ("a b", "letters"),
    ] {
        home.run(&["atlas", "tag", "last", name]).refused(why);
    }
    let done = home.run(&["atlas", "tag", "--remove", "base-6.19"]);
    assert!(done.code == 0 && done.out.contains(&id(3)), "{}", done.out);
    home.run(&["show", "base-6.19"]).refused("no such file");
    home.run(&["atlas", "tag", "--remove", "base-6.19"])
        .refused("no tag");
}

#[test]
fn several_runs_may_have_a_tag() {
    let home = Home::with(&[1, 2, 3]);
    for run in ["last~1", "last~2"] {
        let done = home.run(&["atlas", "tag", run, "main", "--add"]);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
    }
    home.run(&["atlas", "tag", "last", "main"]).refused("--add");
    let both = home.run(&["atlas", "tag", "last", "main", "--add", "--move"]);
    assert!(both.code == 2 && both.err.contains("--move"), "{both:?}");
    let listed = json(&home.run(&["atlas", "list", "--tag", "--json"]).out);
    let ids: Vec<_> = listed.as_array().expect("runs").iter().collect();
    assert_eq!((ids.len(), &ids[0]["id"]), (2, &id(2).into()));
    let newest = json(&home.run(&["show", "main", "--json"]).out);
    assert_eq!(newest["id"], id(2));
    // The tag goes with one run, and stays with the other.
    let done = home.run(&["atlas", "delete", "main", "--yes", "--json"]);
    assert_eq!(json(&done.out)[0]["tags"][0], "main");
    let left = json(&home.run(&["show", "main", "--json"]).out);
    assert_eq!(left["id"], id(1));
    assert_eq!(home.run(&["atlas", "verify"]).code, 0);
    let done = home.run(&["atlas", "tag", "--remove", "main", "--json"]);
    assert_eq!(json(&done.out)["runs"], serde_json::json!([id(1)]));
    home.run(&["show", "main"]).refused("no such file");
}

#[test]
fn deleting_needs_a_yes() {
    let home = Home::with(&[1, 2, 3]);
    home.run(&["atlas", "tag", "last", "base"]);
    home.run(&["atlas", "delete", "last"]).refused("--yes");
    home.run(&["atlas", "delete", "last", "ffff", "--yes"])
        .refused("no run");
    assert_eq!(home.kept(), 3, "nothing goes where one is not known");
    let done = home.run(&["atlas", "delete", "base", "last", "--yes", "--json"]);
    let deleted = json(&done.out);
    assert_eq!(
        deleted.as_array().map(Vec::len),
        Some(1),
        "one run by two names"
    );
    assert_eq!(
        (&deleted[0]["id"], &deleted[0]["tags"][0]),
        (&id(3).into(), &"base".into())
    );
    assert_eq!(home.kept(), 2);
    home.run(&["show", "base"]).refused("no such file");
    let done = home.run(&["atlas", "verify"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
}

#[test]
fn deleting_asks_on_a_terminal() {
    let home = Home::with(&[1, 2]);
    for (answer, left) in [("n\n", 2), ("\n", 2), ("y\n", 1)] {
        // util-linux's script gives the program a terminal.
        let Some(said) = home.on_a_terminal("atlas delete last", answer) else {
            println!("SKIPPED: there is no script(1)");
            return;
        };
        assert!(said.contains("Delete it for good?"), "{said}");
        assert_eq!(home.kept(), left, "{answer:?}: {said}");
    }
}

#[test]
fn verify_names_what_is_damaged_and_changes_nothing() {
    let home = Home::with(&[1, 2, 3]);
    let broken = home.kept_document(2);
    let bytes = std::fs::read(&broken).expect("bytes");
    std::fs::write(&broken, &bytes[..bytes.len() - 100]).expect("cut");
    let done = home.run(&["atlas", "verify", "--json"]);
    assert_eq!(done.code, 3, "{}", done.err);
    let found = json(&done.out);
    assert_eq!(found["documents"], 2);
    assert_eq!(found["damaged"][0]["path"], broken.display().to_string());
    let done = home.run(&["atlas", "verify"]);
    assert_eq!(done.code, 3);
    assert!(
        done.out.contains("truncated") && done.out.contains(&id(2)),
        "{}",
        done.out
    );
    assert_eq!(home.kept(), 3);
    // The others are as good as ever, in spite of a rebuild.
    let done = home.run(&["atlas", "rebuild", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let rebuilt = json(&done.out);
    assert_eq!(
        (&rebuilt["documents"], &rebuilt["unreadable"]),
        (&2.into(), &1.into())
    );
    assert_eq!(home.run(&["atlas", "show", "last"]).code, 0);
    home.run(&["atlas", "show", &id(2)]).refused("truncated");
    // A whole document takes its place, or it goes.
    std::fs::remove_file(home.path("run-2.json")).expect("removed");
    let document = home.document(2);
    let document = document.to_str().expect("UTF-8");
    let import = ["import", "--format", "run", document];
    assert_eq!(home.run(&import).out.trim(), id(2));
    assert_eq!(home.run(&["atlas", "show", &id(2)]).code, 0);
    home.run(&import).refused("already kept");
    std::fs::write(&broken, b"").expect("broken again");
    let done = home.run(&["atlas", "delete", &id(2), "--yes"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(home.kept(), 2);
    assert_eq!(home.run(&["atlas", "verify"]).code, 0);
}

#[test]
fn a_broken_index_is_said_in_one_line_and_made_anew() {
    let home = Home::with(&[1, 2]);
    let index = home.path("data/index-1.sqlite");
    std::fs::write(&index, vec![0x55; 9000]).expect("broken");
    let done = home.run(&["atlas", "list", "--json"]);
    assert_eq!(done.code, 0);
    assert_eq!(json(&done.out).as_array().map(Vec::len), Some(2));
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    assert!(done.err.contains("damaged"), "{}", done.err);
    assert_eq!(home.run(&["atlas", "list"]).err, "");
}

#[test]
fn a_strangers_texts_are_harmless() {
    let home = Home::new();
    let mut run = home.template();
    run["machine"]["hostname"]["value"] = "evil\u{1b}[2J\u{202e}host".into();
    run["program"]["version"] = "1\r\n2".into();
    home.keep_by_hand(&run);
    for command in ["list", "show"] {
        let done = home.run(&["atlas", command]);
        assert_eq!(done.code, 0, "{}", done.err);
        let fits = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(done.out.chars().all(fits), "{:?}", done.out);
    }
}
