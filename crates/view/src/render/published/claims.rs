//! What a publication concludes, and whether it holds on this machine.

use compare::references::ClaimRatio;
use compare::tables::{JudgedClaim, JudgedRatio, Judgement, PublishedTable, RatioObstacle};
use model::figure::magnitude;
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left, right};

/// A line for each claim, below it its ratios and why there is no answer; empty where a table has no
/// claims, or no run to judge them by.
pub(super) fn claims(table: &PublishedTable) -> Vec<Block> {
    if table.claims.is_empty() || table.run.is_none() {
        return Vec::new();
    }
    let mut page = Table::new([left(""), left("published"), right("here")]);
    page.columns.extend(["95 %", "holds at", "verdict"].map(left));
    for claim in &table.claims {
        page.note(" ", claim.says.clone() + ":");
        for ratio in &claim.ratios {
            page.row(cells(ratio));
            if let Some(why) = why_not(ratio) {
                page.note("      └ ", why);
            }
        }
        if claim.ratios.len() > 1 {
            page.note("   ", format!("together: {}", claim.judgement.word()));
        }
    }
    vec![
        Block::Heading("conclusions of the study, judged here".into()),
        Block::Table(page),
        Block::note(tally(table)),
    ]
}

fn cells(ratio: &JudgedRatio) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![format!("   {}", ratio.rule.name).into()];
    cells.push(published_range(ratio).into());
    let ends = |i: Interval| format!("{} to {}", three_digits(i.low), three_digits(i.high));
    cells.push(ratio.here.map_or("-".into(), |here| three_digits(here.value)).into());
    cells.push(ratio.here.map_or(String::new(), ends).into());
    cells.push(limits(&ratio.rule).into());
    let tone = match ratio.judgement {
        Judgement::Holds => Tone::Good,
        Judgement::DoesNotHold => Tone::Bad,
        Judgement::CannotTell => Tone::Doubtful,
    };
    cells.push(Cell::from(ratio.judgement.word()).toned(tone));
    cells
}

/// From the least to the most of the published figures.
fn published_range(ratio: &JudgedRatio) -> String {
    let known = || ratio.published.iter().flatten().copied();
    let (least, most) = (known().reduce(f64::min), known().reduce(f64::max));
    match least.zip(most) {
        Some((least, most)) if known().count() > 1 => {
            format!("{} to {}", three_digits(least), three_digits(most))
        }
        Some((only, _)) => three_digits(only),
        None => String::new(),
    }
}

/// Digits that show on which side of a limit a ratio lies.
fn three_digits(value: f64) -> String {
    format!("{value:.*}", (2 - magnitude(value)).clamp(0, 4) as usize)
}

fn limits(rule: &ClaimRatio) -> String {
    match (rule.at_least, rule.at_most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("{most} or less"),
        (None, None) => String::new(),
    }
}

/// Why there is no answer, with the row that it takes.
fn why_not(ratio: &JudgedRatio) -> Option<String> {
    match &ratio.obstacle {
        Some(RatioObstacle::Missing { row, reason }) => {
            Some(format!("no figure of {row}: {reason}"))
        }
        Some(RatioObstacle::Uncertain { row, verdict, reason }) => {
            let reason = Some(reason).filter(|reason| !reason.is_empty());
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            Some(format!("{row} is {}{reason}", uncertain(*verdict)))
        }
        Some(RatioObstacle::TooSmall { row }) => {
            Some(format!("the interval of {row} reaches 0 in this run"))
        }
        None if ratio.judgement == Judgement::CannotTell => {
            let ClaimRatio { of, over, .. } = &ratio.rule;
            Some(format!("a limit lies within the interval of {of} over {over}"))
        }
        None => None,
    }
}

/// The verdict as part of a sentence.
fn uncertain(verdict: model::estimate::Verdict) -> &'static str {
    match verdict {
        model::estimate::Verdict::CannotTell => "uncertain",
        verdict => verdict.text(),
    }
}

/// How many hold, and how that was judged.
fn tally(table: &PublishedTable) -> String {
    let claims: &[JudgedClaim] = &table.claims;
    let count = |judgement| claims.iter().filter(|claim| claim.judgement == judgement).count();
    let mut ratios = claims.iter().flat_map(|claim| &claim.ratios);
    let missing = ratios.any(|ratio| matches!(ratio.obstacle, Some(RatioObstacle::Missing { .. })));
    let advice = match missing {
        true => format!(" latlas table {} --measure measures what is missing.", table.key),
        false => String::new(),
    };
    let [hold, fail, unknown] = Judgement::ALL.map(count);
    format!(
        "{} conclusions: {hold} hold, {fail} do not hold, {unknown} inconclusive. A conclusion holds where \
         the whole 95 % interval of each of its ratios lies within the limits, and does not hold where \
         one lies beyond them as a whole. published: the same ratios of the study's own figures. The \
         wording and the limits are ours.{advice}",
        claims.len()
    )
}
