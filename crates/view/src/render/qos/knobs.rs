//! What each control of the scheduler does: shares, wake-ups, permissions.

use crate::chart::of_knobs;
use crate::render::figures::digits;
use model::compare::finding::Verdict;
use model::figure::time;
use model::machine::Fact;
use model::phrases::counted;
use model::printable::visible;
use model::qos::Outcome;
use model::qos::knobs::{KnobRow, Knobs, Permission, Session, Shares, Wakes};
use model::share::{self, percent};
use model::stats::Interval;
use model::story::{Block, Cell, Column, Row, Table, left, right};

/// Points by which a share may differ from what is predicted.
const CLOSE_POINTS: f64 = 2.0;

/// The page of `latlas qos knobs`.
pub(crate) fn knobs(knobs: &Knobs) -> Vec<Block> {
    let mut blocks: Vec<Block> = summary_of_shares(knobs).map(Block::text).into_iter().collect();
    blocks.push(Block::empty_line());
    if let Some(chart) = of_knobs(knobs) {
        blocks.extend([Block::chart(chart), Block::empty_line()]);
    }
    blocks.push(Block::text(heading(knobs)));
    let parts = [
        (
            "Share of CPU time against as many default threads (lowest to highest round)",
            shares(knobs),
        ),
        (
            "Wake-up latency of a small thread that has it; default threads keep all CPUs busy",
            wakes(knobs, |row| &row.of_small_thread),
        ),
        (
            "Wake-up latency of a small default thread; threads that have it keep all CPUs busy",
            wakes(knobs, |row| &row.of_default_thread),
        ),
        ("Permission", permissions(knobs)),
    ];
    for (title, table) in parts {
        blocks.push(Block::empty_line());
        blocks.push(Block::Heading(title.into()));
        blocks.push(Block::Table(table));
    }
    blocks.push(Block::empty_line());
    blocks.extend(notes(knobs));
    blocks
}

/// How many knobs change the share, and which most; `None` where no share was measured with one.
fn summary_of_shares(knobs: &Knobs) -> Option<String> {
    let effects = knobs.share_effects();
    if effects.is_empty() {
        return None;
    }
    let of =
        |verdict: Verdict| effects.iter().filter(move |effect| effect.found.verdict == verdict);
    let changed = of(Verdict::Different).filter_map(|one| Some((one.row, one.found.ratio?)));
    let changed: Vec<(&KnobRow, Interval)> = changed.collect();
    let most = |word: &str, way: f64| {
        let size = |ratio: &Interval| way * ratio.value.ln();
        let own = || changed.iter().filter(|(_, ratio)| size(ratio) > 0.0);
        let (row, ratio) = own().max_by(|a, b| size(&a.1).total_cmp(&size(&b.1)))?;
        let ratio = digits(ratio.value, ratio.half_width());
        Some(format!("{} {word} it, {} most ({ratio}x)", own().count(), row.knob.label()))
    };
    let ways = [most("raise", 1.0), most("lower", -1.0)];
    let ways = ways.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let ways = if ways.is_empty() { ways } else { format!(": {ways}") };
    Some(format!(
        "{} of {} change the share of CPU time against default threads{ways}. {} are inconclusive, {} the \
         same within noise.",
        changed.len(),
        counted(effects.len(), "measured knob"),
        of(Verdict::CannotTell).count(),
        of(Verdict::SameWithinNoise).count()
    ))
}

fn heading(knobs: &Knobs) -> String {
    format!(
        "{}, {}, {}; shares over {}, wake-ups over {} a round, each {} after the last; {}",
        counted(knobs.knobs.len(), "knob"),
        counted(knobs.cpus.len(), "CPU"),
        counted(knobs.rounds as usize, "round"),
        time(knobs.share_window_ns as f64),
        time(knobs.wakeup_window_ns as f64),
        time(knobs.period_ns as f64),
        if knobs.root { "as root" } else { "not as root" },
    )
}

/// A table with the rows of one session after the other.
fn knob_table(
    knobs: &Knobs,
    columns: impl IntoIterator<Item = Column>,
    cells: impl Fn(&KnobRow) -> Vec<String>,
) -> Table {
    let mut table = Table::new([left("knob")].into_iter().chain(columns));
    for (session, title) in [
        (Session::Same, "all threads in one session"),
        (Session::Other, "the others in another session"),
    ] {
        let mut rows = knobs.knobs.iter().filter(|row| row.session == session).peekable();
        if rows.peek().is_some() {
            table.note("", title);
        }
        for row in rows {
            let cells = cells(row).into_iter().map(Cell::from);
            let name = Cell::from(format!("  {}", row.knob.label()));
            table.rows.push(Row::Cells([name].into_iter().chain(cells).collect()));
        }
    }
    table
}

fn shares(knobs: &Knobs) -> Table {
    let columns = ["predicted", "one CPU", "", "all CPUs", ""].map(right);
    knob_table(knobs, columns, |row| {
        let predicted = row.all_cpus.predicted.or(row.one_cpu.predicted);
        let measured = |shares: &Shares| {
            let range = shares.range().filter(|_| shares.measured.len() > 1);
            [
                shares.median().map_or("-".into(), percent),
                range.map_or(String::new(), |(low, high)| share::range(low, high)),
            ]
        };
        let [one, one_range] = measured(&row.one_cpu);
        let [all, all_range] = measured(&row.all_cpus);
        let predicted = predicted.map_or("-".into(), percent);
        vec![predicted, one, one_range, all, all_range]
    })
}

fn wakes(knobs: &Knobs, of: impl Fn(&KnobRow) -> &Wakes) -> Table {
    let columns = ["p50", "p99", "max", "wake-ups", "missed"].map(right);
    knob_table(knobs, columns, |row| {
        let wakes = of(row);
        let ns = |ns: Option<f64>| ns.map_or("-".into(), time);
        let times = [wakes.p50_ns, wakes.p99_ns, wakes.max_ns].map(ns);
        let counts = match wakes.count {
            0 => ["-".into(), "-".into()],
            count => [count, wakes.missed].map(|number| number.to_string()),
        };
        times.into_iter().chain(counts).collect()
    })
}

fn permissions(knobs: &Knobs) -> Table {
    let user = if knobs.root { "as root" } else { "as this user" };
    let columns = [user, "undo", "unprivileged", "undo", "acts on"].map(left);
    knob_table(knobs, columns, |row| {
        let both = |permission: &Permission| {
            let undo = permission.undo.as_ref().map_or("-", tried);
            [visible(tried(&permission.set)), visible(undo)]
        };
        let unprivileged = match &row.unprivileged {
            Fact { value: Some(permission), .. } => both(permission),
            _ => ["not tried".into(), "-".into()],
        };
        let own = both(&row.permission).into_iter().chain(unprivileged);
        own.chain([row.knob.scope()]).collect()
    })
}

fn tried(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Applied | Outcome::ReadBack => "yes",
        Outcome::Refused(error) => error,
        Outcome::Differs(_) => "no effect",
    }
}

fn notes(knobs: &Knobs) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut apart = Vec::new();
    for row in &knobs.knobs {
        let name = format!("{} ({} session)", row.knob.label(), row.session.text());
        if let Some(why) = &row.not_available {
            let text = format!("{name}: not available here: {}", visible(why));
            blocks.push(Block::note(text));
        }
        for (where_, shares) in [("one CPU", &row.one_cpu), ("all CPUs", &row.all_cpus)] {
            let off = shares.points_off().filter(|off| off.abs() > CLOSE_POINTS);
            let others = shares.median_of_others().map_or("-".into(), percent);
            apart.extend(
                off.map(|off| format!("{name}, {where_}: {off:+.1} (others had {others})")),
            );
        }
    }
    let mut causes: Vec<&str> = Vec::new();
    for row in &knobs.knobs {
        if let Fact { value: None, unknown: Some(why), .. } = &row.unprivileged
            && !causes.contains(&why.as_str())
        {
            causes.push(why);
        }
    }
    blocks.extend(causes.into_iter().map(|why| Block::note(visible(why))));
    if !apart.is_empty() {
        let text = format!(
            "More than {CLOSE_POINTS:.0} points from the predicted share, with the part of the CPUs' \
             time that neither side had: {}.",
            apart.join("; ")
        );
        blocks.push(Block::note(text));
    }
    let io = match (&knobs.io_schedulers.value, &knobs.io_schedulers.unknown) {
        (Some(names), _) => visible(&names.join(", ")),
        (None, why) => visible(why.as_deref().unwrap_or("not known")),
    };
    blocks.extend([
        Block::note(
            "A late thread wakes up less often, so its percentiles look better than they are; \
             missed: the wake-ups that a thread which is never late has more. p99 is given of \
             1000 wake-ups and more.",
        ),
        Block::note(format!(
            "I/O priorities act on requests to a disk, of which no share is measured here, and only \
             with an I/O scheduler that knows them ({io})."
        )),
        Block::note("Nothing is left changed: all of it ended with the threads that had it."),
    ]);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::layout::keeps_to;
    use crate::terminal::paint_plain;
    use model::qos::Setting;
    use model::qos::knobs::Knob;

    fn shares(predicted: Option<f64>, measured: &[f64]) -> Shares {
        Shares { predicted, measured: measured.to_vec(), of_others: vec![0.031; measured.len()] }
    }

    fn done(undo: Outcome) -> Permission {
        Permission { set: Outcome::ReadBack, undo: Some(undo) }
    }

    fn made_up() -> Knobs {
        let row = |settings: &[Setting], session| KnobRow {
            knob: Knob(settings.to_vec()),
            session,
            not_available: None,
            one_cpu: shares(Some(0.0970), &[0.0966, 0.0971, 0.0962]),
            all_cpus: shares(Some(0.0970), &[0.0981, 0.13, 0.14]),
            of_small_thread: Wakes::from_delays(&[20_000; 1000], 1004),
            of_default_thread: Wakes::from_delays(&[20_000, 30_000, 949_000_000], 477),
            permission: done(Outcome::ReadBack),
            unprivileged: Fact::known(done(Outcome::Refused("EACCES".into()))),
        };
        let group = KnobRow {
            not_available: Some("refused: EROFS".into()),
            one_cpu: shares(Some(0.0029), &[]),
            all_cpus: shares(None, &[]),
            of_small_thread: Wakes::default(),
            of_default_thread: Wakes::default(),
            permission: Permission { set: Outcome::Refused("EROFS".into()), undo: None },
            unprivileged: Fact::unknown("not tried as uid 65534: no answer"),
            ..row(&[Setting::GroupIdle], Session::Other)
        };
        Knobs {
            cpus: vec![0, 1],
            rounds: 3,
            seed: 7,
            share_window_ns: 500_000_000,
            wakeup_window_ns: 750_000_000,
            period_ns: 2_000_000,
            autogroups: Fact::known(true),
            root: true,
            io_schedulers: Fact::known(vec!["vda mq-deadline".into()]),
            knobs: vec![
                row(&[Setting::Nice(10)], Session::Same),
                row(&[Setting::IDLE, Setting::Autogroup(19)], Session::Other),
                group,
            ],
        }
    }

    #[test]
    fn all_tables_on_80_columns() {
        let page = paint_plain(&knobs(&made_up()), 80);
        assert!(keeps_to(&page, 80), "{page}");
        insta::assert_snapshot!(page);
    }
}
