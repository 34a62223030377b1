//! Whether this is the machine expected, as text.

use super::comparison::tone;
use model::fit::expectation::{Expectation, FEW_HOSTS, LeftOut};
use model::fit::identity::Differs;
use model::fit::judge::{
    ANOTHER_MACHINE, FITS, INCONCLUSIVE, Judged, NOT_QUIET, OUT_OF_RANGE, SLOW, Test, Tested,
};
use model::fit::published::PublishedHosts;
use model::fit::{Element, ElementUnit, Vector};
use model::phrases::counted;
use model::share::{half, percent};
use model::story::{Block, Cell, Table, Tone, left, right};

/// The verdict, what differs, and every test; then the same by published figures.
pub fn fit(judged: &Judged) -> Vec<Block> {
    let mut blocks = verdict_with_tests(judged);
    if let Some(published) = &judged.published {
        blocks.push(Block::empty_line());
        blocks.extend(verdict_with_tests(published));
    }
    if judged.published_disagrees() {
        blocks.push(Block::labelled("note: ", "runs and published figures disagree"));
    }
    blocks
}

fn verdict_with_tests(judged: &Judged) -> Vec<Block> {
    let mut blocks = vec![Block::Note(model::story::Note {
        tone: tone(judged.verdict.0),
        ..model::story::Note::new("", headline(judged))
    })];
    blocks.extend(differences(judged).into_iter().map(Block::note));
    blocks.push(Block::empty_line());
    let mut table = Table::new([
        left("element"),
        right("here"),
        right("expected"),
        right("factor"),
        right("allowed"),
        left(""),
    ]);
    for test in &judged.tests {
        table.row(test_cells(test));
    }
    for missing in &judged.not_compared {
        let text = format!("{}: not compared: {}", missing.element.text(), missing.why);
        table.note("  ", text);
    }
    blocks.push(Block::Table(table));
    if judged.few_hosts {
        let text = format!(
            "learned from {}: how hosts of one model differ is mostly assumed below {FEW_HOSTS}",
            hosts(judged.hosts)
        );
        blocks.push(Block::labelled("note: ", text));
    }
    if let Some(hosts) = judged.published_hosts() {
        blocks.push(Block::labelled("published: ", published_hosts_text(hosts)));
    }
    blocks
}

/// `44 cloud types with AMD EPYC 9V74 of Azure; Spare Cores`.
fn published_hosts_text(hosts: &PublishedHosts) -> String {
    let types = counted(hosts.types, "cloud type");
    match (&hosts.provider, hosts.types) {
        (_, 0) => "cycles of this CPU signature; InstLatX64".into(),
        (Some(_), _) => format!("{types} with {}; {}", hosts.cpu, hosts.credit),
        (None, _) => format!(
            "{types} with {} of {} (this host's is unknown, or too few of its types are published); {}",
            hosts.cpu,
            counted(hosts.providers, "provider"),
            hosts.credit
        ),
    }
}

/// The vector of a run that there is nothing to compare with, and why no published figure is.
pub fn vector(vector: &Vector, nothing_published: &str) -> Vec<Block> {
    let mut table = Table::new([left("element"), right("here")]);
    for (element, value) in &vector.elements {
        let text = match value.get() {
            Some(value) => element_text(*element, *value),
            None => "-".into(),
        };
        table.row([element.text().into(), text.into()]);
        if value.get().is_none() {
            table.note("  ", value.unknown.clone().unwrap_or_default());
        }
    }
    let mut blocks = vec![Block::Table(table), Block::empty_line()];
    blocks
        .extend(vector.noise.iter().map(|noise| Block::labelled("not quiet: ", noise.to_string())));
    blocks.push(Block::text(
        format!(
            "nothing to compare with: no quiet earlier `latlas fit` of this machine is stored, no --expect FILE was \
             given, and nothing is published: {nothing_published}"
        ),
    ));
    blocks
}

/// What was learned, and from what.
pub fn learned(expected: &Expectation) -> Vec<Block> {
    let mut table = Table::new([
        left("element"),
        right("median"),
        right("one host varies by"),
        right("from run to run"),
        right("hosts"),
    ]);
    for own in &expected.elements {
        table.row([
            own.element.text().into(),
            element_text(own.element, own.median).into(),
            half(own.spread.deviation).into(),
            own.spread.within.map_or("-".into(), half).into(),
            own.hosts.to_string().into(),
        ]);
    }
    let text = format!(
        "learned from {} of {}",
        run_count_text(expected.runs),
        hosts(expected.hosts.len())
    );
    let mut blocks = vec![Block::text(text), Block::empty_line(), Block::Table(table)];
    blocks.extend(expected.left_out.iter().map(|out| Block::labelled("left out: ", left_out(out))));
    if expected.hosts.len() < FEW_HOSTS {
        let text =
            format!("how hosts of one model differ is mostly assumed below {FEW_HOSTS} hosts");
        blocks.push(Block::labelled("note: ", text));
    }
    blocks
}

/// The verdict and what differs in one line: why a scheduler should not use the host.
pub fn reason(judged: &Judged) -> String {
    let mut line = vec![format!("latlas fit: {}", words(judged).0)];
    line.extend(differences(judged));
    if judged.published_disagrees()
        && let Some(published) = &judged.published
    {
        line.push(format!("published figures disagree: {}", words(published).0));
    }
    line.join("; ")
}

/// The verdict as printed, and what follows it where there is room.
fn words(judged: &Judged) -> (&'static str, String) {
    let published = judged.published_hosts();
    let of = match published {
        Some(_) => "published figures of this CPU".into(),
        None => format!("{} of {}", run_count_text(judged.runs), hosts(judged.hosts)),
    };
    match judged.verdict {
        FITS => ("fits", format!(" {of}")),
        ANOTHER_MACHINE if published.is_some() => ("another machine", " than it says it is".into()),
        ANOTHER_MACHINE => ("another machine", format!(" than in {of}")),
        OUT_OF_RANGE => ("out of range", format!(" of {of}")),
        SLOW => ("slow", format!(", by {of}")),
        INCONCLUSIVE => ("inconclusive", inconclusive_why(judged)),
        _ => ("not quiet now", ", measure again".into()),
    }
}

/// What would have been seen.
fn inconclusive_why(judged: &Judged) -> String {
    match judged.detectable() {
        Some(share) => {
            format!(": only a memory slower by {} or more would be seen", percent(share))
        }
        None => ": memory was not compared".into(),
    }
}

fn headline(judged: &Judged) -> String {
    let (words, rest) = words(judged);
    format!("{}: {words}{rest}", judged.host)
}

/// What differs and what disturbed, a line each.
fn differences(judged: &Judged) -> Vec<String> {
    let facts = judged.identity.iter().map(|fact| {
        let Differs { what, here, expected, .. } = fact;
        format!("{what} {here}, expected {expected}")
    });
    let tests = judged.tests.iter().filter(|test| test.differs).map(of_test);
    let quota = judged
        .throttled_share
        .map(|share| format!("a CPU quota stopped the run for {} of its time", percent(share)));
    let noise = judged.noise.iter().map(ToString::to_string);
    let relevant = judged.verdict == NOT_QUIET;
    let too_few = judged.too_few().filter(|_| relevant);
    let too_few = too_few.map(|few| format!("only {} could be compared", counted(few, "element")));
    facts.chain(tests).chain(quota).chain(too_few).chain(noise.filter(|_| relevant)).collect()
}

fn of_test(test: &Test) -> String {
    match (test.of, test.here, test.expected) {
        (Tested::Element(element), Some(here), Some(expected)) => format!(
            "{} {}, expected {} ({:.2}x)",
            element.text(),
            element_text(element, here),
            element_text(element, expected),
            test.factor
        ),
        (of, ..) => format!("{} {:.2}x slower", tested_name(of), test.factor),
    }
}

fn tested_name(of: Tested) -> &'static str {
    match of {
        Tested::Element(element) => element.text(),
        Tested::Group(group) => group.text(),
    }
}

fn test_cells(test: &Test) -> [Cell; 6] {
    let value = |value: Option<f64>| match (test.of, value) {
        (Tested::Element(element), Some(value)) => Cell::from(element_text(element, value)),
        _ => "-".into(),
    };
    let verdict = match test.differs {
        true => Cell::from("differs").toned(Tone::Bad),
        false => "".into(),
    };
    [
        tested_name(test.of).into(),
        value(test.here),
        value(test.expected),
        format!("{:.3}x", test.factor).into(),
        allowed_text(test.allowed).into(),
        verdict,
    ]
}

fn allowed_text([least, most]: [f64; 2]) -> String {
    match least > 0.0 {
        true => format!("{least:.2} to {most:.2}x"),
        false => format!("up to {most:.2}x"),
    }
}

fn element_text(element: Element, value: f64) -> String {
    let three = |value: f64| format!("{:.*}", model::figure::decimals(value, 0.0), value);
    match element.counted() {
        ElementUnit::Ghz => format!("{} GHz", three(value)),
        ElementUnit::Cycles => format!("{} cycles", three(value)),
        ElementUnit::Ns => model::figure::time(value),
        ElementUnit::Share => percent(value),
    }
}

fn left_out(out: &LeftOut) -> String {
    format!("{} ({}): {}", out.host, run_count_text(out.runs), out.why)
}

fn hosts(count: usize) -> String {
    format!("{count} host{}", if count == 1 { "" } else { "s" })
}

fn run_count_text(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}
