//! How often `latlas fit` is wrong on published figures alone: each cloud type in the place of a host, predicted without
//! itself by the product's own rule (`references::hosts`, `model::fit::published`).

use crate::bars::Bars;
use crate::table::TextTable;
use anyhow::Context;
use model::fit::published::{DETECTABLE, SPREADS, published_reach};
use model::stats::{deviation_from, median, quantile_sorted, sorted};
use references::hosts::{HostModel, LeftOutHost, Response, signature_keys, signature_memory};

/// By how much memory is made slower.
const SLOWER: [f64; 4] = [0.2, 0.3, 0.5, 1.0];
/// A tenth is counted with the threshold of the other nine.
const FOLDS: usize = 10;
/// Share of types that the threshold may refuse where it is chosen.
const BUDGET: f64 = 0.02;
/// Draws of groups for the intervals.
const DRAWS: usize = 1000;

/// What is said of a type.
#[derive(Clone, Copy)]
struct HostAnswer {
    group: usize,
    refused: bool,
    /// Whether it would have been, with its memory slower, by [`SLOWER`].
    found: [bool; SLOWER.len()],
    /// Whether it is quiet and 20 % would be seen.
    steady: bool,
}

/// A type as it is and with its memory slower.
struct TriedHost {
    as_is: LeftOutHost,
    slower: [LeftOutHost; SLOWER.len()],
}

pub(super) fn of_published(bars: &mut Bars) -> anyhow::Result<()> {
    let largest = tried_hosts(Response::LargestSet)?;
    let beyond = tried_hosts(Response::BeyondCaches)?;
    let mut table =
        TextTable::new(&["rule", "types", "refused", "+20 % found", "+30 %", "+50 %", "+100 %"]);
    table.add_line(answer_line("naive: median + 3 MAD", &naive(&largest, 3.0)));
    let by_fixed = format!("{SPREADS} spreads and 12 %");
    for (of, hosts) in [("largest set", &largest), ("a run's memory", &beyond)] {
        let chosen = cross_validated(hosts);
        let fixed = answers(hosts, |_| SPREADS);
        for (name, all) in [("threshold cross-validated", chosen), (by_fixed.as_str(), fixed)] {
            let steady: Vec<HostAnswer> = all.iter().filter(|host| host.steady).copied().collect();
            table.add_line(answer_line(&format!("{of}, {name}"), &all));
            table.add_line(answer_line("  of steady types", &steady));
            // The fixed number was chosen for a run's memory; nothing is judged by it and the largest set.
            if (of, name) != ("largest set", by_fixed.as_str()) {
                hold(bars, &format!("published, {of}, {name}"), &all, &steady);
            }
        }
    }
    let unknown = of_signatures()?;
    table.add_line(answer_line("provider unknown", &unknown));
    let refused: Vec<_> = unknown.iter().map(|host| (host.group, host.refused)).collect();
    bars.at_most(
        "published, provider unknown: good refused",
        Some(100.0 * share(&refused)),
        2.5,
        " %",
    );
    table.print(&format!(
        "Published types, each without itself; 95 % intervals over groups; refused and found in % of types; {:.1} % not \
         quiet",
        100.0 * share(&disturbed(&largest))
    ));
    Ok(())
}

fn hold(bars: &mut Bars, of: &str, all: &[HostAnswer], steady: &[HostAnswer]) {
    let percent = |all: &[HostAnswer], which: fn(&HostAnswer) -> bool| {
        let all: Vec<(usize, bool)> = all.iter().map(|host| (host.group, which(host))).collect();
        Some(100.0 * share(&all))
    };
    bars.at_most(&format!("{of}: good refused"), percent(all, |host| host.refused), 2.5, " %");
    let found = |all| percent(all, |host| host.found[0]);
    bars.within(&format!("{of}: +20 % found, %"), found(all), 55.0, 100.0);
    bars.within(&format!("{of}, steady types: +20 % found, %"), found(steady), 85.0, 100.0);
}

fn tried_hosts(response: Response) -> anyhow::Result<Vec<TriedHost>> {
    let model = HostModel::fitted(references::cloud_types()?, response).context("no group")?;
    let mut slower = SLOWER.map(|share| model.left_out(share).into_iter());
    let tried = model.left_out(0.0).into_iter().map(|as_is| {
        let slower = slower.each_mut().map(|hosts| hosts.next());
        let [Some(a), Some(b), Some(c), Some(d)] = slower else { return None };
        Some(TriedHost { as_is, slower: [a, b, c, d] })
    });
    tried.collect::<Option<_>>().context("a type without its slower self")
}

fn is_slow(host: &LeftOutHost, spreads: f64) -> bool {
    host.off > published_reach(host.deviation, spreads)
}

/// What is said with so many spreads for each type.
fn answers(hosts: &[TriedHost], spreads: impl Fn(usize) -> f64) -> Vec<HostAnswer> {
    let answer = |(index, host): (usize, &TriedHost)| {
        let spreads = spreads(index);
        let said = |host: &LeftOutHost| host.quiet && is_slow(host, spreads);
        let detectable = published_reach(host.as_is.deviation, spreads).exp_m1() <= DETECTABLE;
        HostAnswer {
            group: host.as_is.group,
            refused: said(&host.as_is),
            found: host.slower.each_ref().map(said),
            steady: host.as_is.quiet && detectable,
        }
    };
    hosts.iter().enumerate().map(answer).collect()
}

/// Each tenth with the smallest number of spreads that refuses few enough of the other nine.
fn cross_validated(hosts: &[TriedHost]) -> Vec<HostAnswer> {
    let fold = |index: usize| index % FOLDS;
    let chosen: Vec<f64> = (0..FOLDS)
        .map(|out| {
            let others: Vec<&LeftOutHost> = hosts
                .iter()
                .enumerate()
                .filter(|(index, _)| fold(*index) != out)
                .map(|(_, host)| &host.as_is)
                .collect();
            let refused = |spreads: f64| {
                let refused = others.iter().filter(|host| host.quiet && is_slow(host, spreads));
                refused.count() as f64 / others.len() as f64
            };
            let grid = (20..=100).map(|step| f64::from(step) * 0.05);
            grid.into_iter().find(|spreads| refused(*spreads) <= BUDGET).unwrap_or(5.0)
        })
        .collect();
    answers(hosts, |index| chosen[fold(index)])
}

/// What most tools do: so many deviations above the group's median, whether quiet or not.
fn naive(hosts: &[TriedHost], deviations: f64) -> Vec<HostAnswer> {
    let limit = |group: usize| {
        let own = hosts.iter().filter(|host| host.as_is.group == group);
        let own: Vec<f64> = own.map(|host| host.as_is.ln_ns).collect();
        let middle = median(own.iter().copied()).unwrap_or(f64::NAN);
        middle + deviations * deviation_from(middle, own).unwrap_or(f64::NAN)
    };
    let groups = hosts.iter().map(|host| host.as_is.group).max().map_or(0, |most| most + 1);
    let limits: Vec<f64> = (0..groups).map(limit).collect();
    let answer = |host: &TriedHost| HostAnswer {
        group: host.as_is.group,
        refused: host.as_is.ln_ns > limits[host.as_is.group],
        found: host.slower.each_ref().map(|slower| slower.ln_ns > limits[slower.group]),
        steady: false,
    };
    hosts.iter().map(answer).collect()
}

/// Types of each provider against those of all other providers with the same CPU.
fn of_signatures() -> anyhow::Result<Vec<HostAnswer>> {
    let spreads = model::fit::published::PublishedHosts::default().spreads();
    let mut all = Vec::new();
    let keys = signature_keys(references::cloud_types()?);
    for (group, by_provider) in keys.values().enumerate() {
        for (provider, types) in by_provider {
            let mut others = by_provider.clone();
            others.remove(provider);
            let known: usize = others.values().map(Vec::len).sum();
            let expected = signature_memory(&others);
            let Some((middle, spread)) =
                expected.filter(|_| known >= references::hosts::LEAST_TYPES)
            else {
                continue;
            };
            let reach = published_reach(spread.deviation, spreads);
            all.extend(types.iter().map(|(_, ln_ns)| HostAnswer {
                group,
                refused: ln_ns - middle > reach,
                found: SLOWER.map(|share: f64| ln_ns + share.ln_1p() - middle > reach),
                steady: false,
            }));
        }
    }
    Ok(all)
}

fn disturbed(hosts: &[TriedHost]) -> Vec<(usize, bool)> {
    hosts.iter().map(|host| (host.as_is.group, !host.as_is.quiet)).collect()
}

fn share(answers: &[(usize, bool)]) -> f64 {
    answers.iter().filter(|(_, yes)| *yes).count() as f64 / answers.len() as f64
}

fn answer_line(name: &str, all: &[HostAnswer]) -> Vec<String> {
    let text = |which: &dyn Fn(&HostAnswer) -> bool| {
        interval_text(&all.iter().map(|host| (host.group, which(host))).collect::<Vec<_>>())
    };
    let mut line = vec![name.to_owned(), all.len().to_string(), text(&|host| host.refused)];
    line.extend((0..SLOWER.len()).map(|place| text(&move |host| host.found[place])));
    line
}

/// `2.1 [1.1, 3.3]`, the interval by drawing groups.
fn interval_text(answers: &[(usize, bool)]) -> String {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for &(group, yes) in answers {
        groups.resize(groups.len().max(group + 1), (0, 0));
        groups[group].0 += usize::from(yes);
        groups[group].1 += 1;
    }
    groups.retain(|(_, all)| *all > 0);
    let mut random = fastrand::Rng::with_seed(2026);
    let drawn = (0..DRAWS).map(|_| {
        let draw = (0..groups.len()).map(|_| groups[random.usize(..groups.len())]);
        let (yes, all) = draw.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        100.0 * yes as f64 / all as f64
    });
    let drawn = sorted(drawn.collect::<Vec<f64>>());
    let at = |q: f64| quantile_sorted(&drawn, q).unwrap_or(f64::NAN);
    format!("{:.1} [{:.1}, {:.1}]", 100.0 * share(answers), at(0.025), at(0.975))
}
