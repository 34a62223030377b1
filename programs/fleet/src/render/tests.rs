//! The report of made-up fleets: the terminal's page as a whole, the HTML page's size and safety.

use crate::figures::paired::PairedFleets;
use crate::figures::{ExpectedHosts, Fleet, Missing};
use crate::made_up::{MadeFleet, fleet};
use crate::{fleet_page, render};
use model::keyed::count;
use model::machine::Fact;
use model::story::Block;
use view::report::is_ours;
use view::terminal::{Screen, blocks_text};

fn plain(blocks: &[Block]) -> String {
    blocks_text(blocks, Screen { columns: 80, color: false })
}

/// One host slow with other microcode, a third with another kernel and slower in a row; one missing.
fn made(hosts: usize, rows: usize) -> Fleet {
    let factor = |host: usize, row: usize| match (host, row % 25) {
        (7, 0 | 1) => 1.3,
        (host, 3) if host.is_multiple_of(3) => 1.15,
        _ => 1.0,
    };
    let runs = MadeFleet::new(hosts, rows, 2).runs(factor, |host, machine| {
        if host == 7 {
            machine.microcode = Fact::known("0xa001079".into());
        }
        if host.is_multiple_of(3) {
            machine.kernel = Fact::known("5.14.0".into());
        }
    });
    let mut fleet = fleet(&runs);
    fleet.not_expected = vec!["zz99".into()];
    fleet.expected = Some(ExpectedHosts {
        hosts: hosts + 1,
        missing: vec![Missing {
            host: "n999".into(),
            why: "repetition 1 lost: its node is down".into(),
        }],
    });
    fleet
}

#[test]
fn the_page_of_a_terminal() {
    let few = plain(&render::fleet(&made(3, 4)));
    let many = plain(&render::fleet(&made(50, 30)));
    insta::assert_snapshot!(format!("{few}\n{}\n{many}", "=".repeat(80)));
    assert!(many.lines().all(|line| line.chars().count() <= 80), "{many}");
}

#[test]
fn two_campaigns() {
    let runs = |factor: f64, seed| {
        let made = MadeFleet { seed, between: 0.004, ..MadeFleet::new(12, 6, 2) };
        fleet(&made.runs(|_, row| if row == 2 { factor } else { 1.0 }, |_, _| ()))
    };
    let page = |a: &Fleet, b: &Fleet| {
        let pair = PairedFleets::compare([a, b], &|_| true, 0.05, Some(0.1));
        plain(&render::paired(&pair, true))
    };
    let gate = page(&runs(1.0, 1), &runs(1.2, 2));
    let mut other = few(7, 10.0, 0.004);
    other.digest = "fedcba9876543210".into();
    other.other_digests = vec!["0123456789abcdef".into(), "00aa".into()];
    let tenfold = page(&few(7, 1.0, 0.004), &other);
    let unable = page(&few(7, 1.0, 0.2), &few(7, 1.2, 0.2));
    let five = page(&few(5, 1.0, 0.004), &few(5, 10.0, 0.004));
    insta::assert_snapshot!([gate, tenfold, unable, five].join(&format!("{}\n", "=".repeat(80))));
}

/// Few hosts, which differ by `between` from time to time, and a row with a factor.
fn few(hosts: usize, factor: f64, between: f64) -> Fleet {
    let made = MadeFleet {
        seed: if factor == 1.0 { 1 } else { 2 },
        between,
        ..MadeFleet::new(hosts, 4, 1)
    };
    fleet(&made.runs(|_, row| if row == 2 { factor } else { 1.0 }, |_, _| ()))
}

#[test]
fn a_page_of_200_hosts_and_200_rows_is_below_2_mb() {
    let page = fleet_page(&made(200, 200));
    println!("{} bytes", page.len());
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    assert!(is_ours(&page.as_bytes()[..4096]));
    // A dot for each host in each row; a line of the table for each host.
    let rows =
        &page[page.find("id=\"rows\"").expect("rows")..page.find("id=\"hosts\"").expect("hosts")];
    let apart = rows.matches("class=\"apart\"").count();
    assert_eq!(rows.matches("h0").count(), 200 * 200 + apart, "each host apart has a second dot");
    assert_eq!(page.matches("<tr id=\"host-").count(), 200);
    // Every host with an unusual value is named with it.
    let facts = &page[page.find("id=\"facts\"").expect("facts")..];
    let of_other_kernel: Vec<String> = (0..200).step_by(3).map(MadeFleet::host).collect();
    assert!(facts.contains(&of_other_kernel.join(", ")), "{facts}");
    assert!(page.contains("href=\"#host-8\"") && page.contains("id=\"host-8\""));
    assert!(rows.contains("data-to=\"host-\" data-of=\""));
    for request in ["src=", "http-equiv=\"refresh\"", "<link", "url("] {
        assert!(!page.contains(request), "{request}");
    }
}

#[test]
fn nothing_of_a_document_is_markup() {
    let mut runs = MadeFleet::new(8, 2, 1).runs(|_, _| 1.0, |_, _| ());
    let hostile = "</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[2J";
    for run in &mut runs[..2] {
        let job = run.job.as_mut().expect("a job");
        job.host = format!("{hostile}{}", job.host);
        job.campaign = hostile.into();
        run.machine.kernel = Fact::known(hostile.into());
        run.rows[0].id = format!("cpu.{hostile}");
    }
    let fleet = fleet(&runs);
    let page = fleet_page(&fleet);
    for part in ["<img", "</script><img", "\u{202e}", "\u{1b}"] {
        assert!(!page.contains(part), "{part:?}");
    }
    let text = plain(&render::fleet(&fleet));
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[test]
fn fleets_of_one_host_and_of_none_and_long_names_have_a_page() {
    for hosts in [0, 1] {
        let fleet = fleet(&MadeFleet::new(hosts, 3, 1).runs(|_, _| 1.0, |_, _| ()));
        let page = fleet_page(&fleet);
        assert_eq!(page.matches("<tr id=\"host-").count(), hosts);
        assert!(page.contains("Too few hosts to name outliers."), "{hosts}");
        assert!(plain(&render::fleet(&fleet)).lines().all(|line| line.chars().count() <= 80));
    }
    let mut runs = MadeFleet::new(2, 3, 1).runs(|_, _| 1.0, |_, _| ());
    runs[0].job.as_mut().expect("a job").host = "h".repeat(300);
    let page = fleet_page(&fleet(&runs));
    assert!(page.contains(&"h".repeat(300)), "a name is whole");
}

#[test]
fn no_page_of_a_fleet_searches_for_each_host() {
    type Page<'p> = (&'p str, &'p dyn Fn(&Fleet));
    let pages: [Page; 2] = [
        ("report", &|fleet| drop(plain(&render::fleet(fleet)))),
        ("report -o", &|fleet| drop(fleet_page(fleet))),
    ];
    for (name, draw) in pages {
        let [few, many] = [40, 640].map(|hosts| {
            // One host of twelve lies apart, in another row than the next.
            let factor = |host: usize, row: usize| match (host % 12, host / 12 % 4 == row) {
                (7, true) => 1.3,
                _ => 1.0,
            };
            let fleet = fleet(&MadeFleet::new(hosts, 4, 1).runs(factor, |_, _| ()));
            assert_eq!(fleet.apart().len(), (hosts + 4) / 12);
            count::during(|| draw(&fleet))
        });
        assert!(many <= 16 * few * 13 / 10, "{name}: {few} hosts of 40 handed out, {many} of 640");
    }
}
