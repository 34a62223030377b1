use super::*;
use crate::hosts;

fn parsed(text: &str) -> Result<Campaign, String> {
    Campaign::parse(Path::new("lab.toml"), text).map_err(|error| error.to_string())
}

#[test]
fn a_file_becomes_the_arguments_of_run() {
    let campaign = parsed(
        "name = 'lab'\nrows = ['cpu.*', 'memory.latency']\nscale = 'quick'\nbudget = '90s'\n\
         hosts = ['n1']\ndeadline = '2h'\n[controls]\nnice = -5\nin_process = true\nfifo = 3",
    );
    let arguments = campaign.expect("a campaign").arguments().join(" ");
    let expected = "--quick --budget=1m30s --fifo=3 --in-process --nice=-5 -- cpu.* memory.latency";
    assert_eq!(arguments, expected);
}

#[test]
fn mistakes_are_one_line_that_names_the_place() {
    let base = "name = 'lab'\nhosts = ['n1']\ndeadline = '1h'\n";
    for (added, expected) in [
        ("repetition = 2", "lab.toml:4: unknown: \"repetition\""),
        ("repetitions = 0", "lab.toml:4: repetitions = 0: give 1 to 1000"),
        ("budget = 'soon'", "lab.toml:4: \"soon\" is not a time"),
        ("max_busy = '7'", "lab.toml:4: \"7\" is not a share"),
        ("hosts_file = 'h'", "lab.toml:4: give hosts or hosts_file"),
        (&format!("rows = [{}]", "'a',".repeat(4097)), "lab.toml:4: 4097 entries: at most 4096"),
        ("max_busy = 0.1", "lab.toml:4: 0.1 is not a share such as \"20%\""),
        ("time_limit = '600000000y'", "lab.toml:4: \"600000000y\": give 10 years at most"),
        ("budget = '300000000000y'", "lab.toml:4: \"300000000000y\": give 10 years at most"),
        ("engine = 'ray'", "lab.toml:4: unknown: \"ray\""),
        ("[controls]\nnicer = 1", "lab.toml:5: unknown: \"nicer\""),
    ] {
        let error = parsed(&format!("{base}{added}")).expect_err(added);
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let long = format!("'{}'", "n".repeat(129));
    for hosts in ["'-oProxyCommand=x'", "'a b'", "'a/b'", "''", "'n1','n1'", &long] {
        let error = parsed(&format!("name='l'\nhosts=[{hosts}]\ndeadline='1h'"));
        assert!(error.expect_err(hosts).contains("host"), "{hosts}");
    }
    let without = parsed("name = 'l'\ndeadline = '1h'").expect("hosts may come with --hosts");
    let error = hosts::campaign_hosts(&without, Path::new("lab.toml")).expect_err("no hosts");
    assert!(error.to_string().starts_with("lab.toml: no hosts: "), "{error}");
    parsed("name = 'a/b'\nhosts = ['n1']\ndeadline = '1h'").expect_err("a path");
}

#[test]
fn a_long_value_is_not_printed_whole() {
    let long = "y".repeat(200_000);
    let shown = format!("\"{}...\"", "y".repeat(60));
    for text in [
        format!("name='{long}'\nhosts=['n1']\ndeadline='1h'"),
        format!("name='l'\nhosts=['n1']\ndeadline='{long}'"),
        format!("name='l'\nhosts=['{long}.']\ndeadline='1h'"),
    ] {
        let error = parsed(&text).expect_err("long");
        assert!(error.contains(&shown) && error.len() < 300, "{}", &error[..300]);
    }
}

#[test]
fn names_in_a_file_of_hosts_are_content() {
    let home = tempfile::tempdir().expect("a directory");
    let (file, hosts) = (home.path().join("lab.toml"), home.path().join("h.txt"));
    std::fs::write(&file, "name = 'lab'\nhosts_file = 'h.txt'\ndeadline = '1h'").expect("written");
    let digest = |names: &str| {
        std::fs::write(&hosts, names).expect("written");
        Campaign::read_file(&file).expect("a campaign").digest()
    };
    let one = digest("n1\n");
    assert_eq!(digest("n1 # the only one\n\n"), one);
    assert_ne!(digest("n1\nn2\n"), one);
    let given = parsed("name = 'lab'\nhosts = ['n1']\ndeadline = '1h'").expect("one");
    assert_eq!(given.digest(), one);
    std::fs::remove_file(&hosts).expect("removed");
    let error = Campaign::read_file(&file).expect_err("no file").to_string();
    assert_eq!(error.matches("No such file").count(), 1, "{error}");
}

#[test]
fn the_digest_is_of_the_content() {
    let plain = parsed("name = 'lab'\nhosts = ['n1']\ndeadline = '1h'").expect("one");
    let same =
        parsed("# a comment\ndeadline = '60m'\nhosts = [\n 'n1' ]\nname = 'lab'\ndirectory = '/x'");
    let other = parsed("name = 'lab'\nhosts = ['n2']\ndeadline = '1h'").expect("another");
    assert_eq!(plain.digest(), same.expect("the same").digest());
    assert_ne!(plain.digest(), other.digest());
    assert_eq!(plain.digest().len(), 16);
}
