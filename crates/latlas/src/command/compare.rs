//! `latlas compare A B...`: significant differences.

use super::picture::{Paint, painted};
use super::report::check_page;
use crate::arguments::compare::CompareOptions;
use crate::ending::{self, Ending};
use crate::{GATE_CROSSED, UNRELIABLE, output};
use anyhow::bail;
use compare::operand::Operand;
use compare::references::References;
use compare::{Comparison, Normalize, Options, compare as set_against};
use model::pattern::pattern_matches;
use model::story::Block;
use std::path::Path;
use std::process::ExitCode;
use store::operand;
use store::{self, Store};
use view::chart::of_comparison;
use view::render;
use view::report::comparison_html;

/// Compares each of the others with the baseline.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let ending = options.out.as_deref().map(|out| writable(options, out)).transpose()?;
    let (all, published) = compared(options, !options.json && ending.is_none())?;
    if let (Some(ending), Some(out)) = (ending, &options.out) {
        store::write_bytes(&file_of(&all, ending)?, out)?;
        output::print(&format!("{}\n", out.display()))?;
        return Ok(exit_code(&all));
    }
    output::show_json_or(options.json, &all, options.color, || {
        let pages = all.iter().zip(&published);
        let pages =
            pages.map(|(c, below)| [&render::comparison(c, options.wide)[..], below].concat());
        pages.collect::<Vec<_>>().concat()
    })?;
    Ok(exit_code(&all))
}

/// What is to be written there; refused before anything is read.
fn writable(options: &CompareOptions, out: &Path) -> anyhow::Result<Ending> {
    let ending = ending::one_of(out, &[Ending::Html, Ending::Svg, Ending::Png, Ending::Pdf])?;
    match ending {
        Ending::Html => check_page(out, options.force)?,
        _ if options.others.len() > 1 => {
            bail!("a picture is of one B: give one, or write a page (.html)")
        }
        _ => {}
    }
    Ok(ending)
}

/// The page of all, or the picture of the first.
fn file_of(all: &[Comparison], ending: Ending) -> anyhow::Result<Vec<u8>> {
    let Some(paint) = Paint::for_ending(ending) else {
        return Ok(comparison_html(all).into_bytes());
    };
    let first = all.first().filter(|first| first.rows.iter().any(|row| row.ratio.is_some()));
    match first {
        Some(first) => painted(&of_comparison(first, &first.rows), paint),
        None => bail!("no row has a ratio: there is nothing to draw (without -o: why)"),
    }
}

/// The comparison of each of the others.
pub(super) fn comparisons(options: &CompareOptions) -> anyhow::Result<Vec<Comparison>> {
    Ok(compared(options, false)?.0)
}

/// The same, with what is published of both sides and their curves where that is asked for.
fn compared(
    options: &CompareOptions,
    with_published: bool,
) -> anyhow::Result<(Vec<Comparison>, Vec<Vec<Block>>)> {
    let references = References::embedded()?;
    let store = Store::of_user();
    let mut messages = Vec::new();
    let mut find = |name: &String| operand::find_operand(name, &store, &references, &mut messages);
    let baseline = find(&options.baseline)?;
    let others: Vec<Operand> = options.others.iter().map(&mut find).collect::<Result<_, _>>()?;
    let how = Options {
        margin: options.margin,
        fail_above: options.fail_above,
        normalize: options.normalize.as_ref().map(|row| match row {
            Some(row) => Normalize::Row(row.clone()),
            None => Normalize::Usual,
        }),
    };
    let wanted =
        |id: &str| options.rows.is_empty() || options.rows.iter().any(|p| pattern_matches(p, id));
    super::atlas::print_messages(&messages);
    let all = against(store.as_ref().ok(), &baseline, &others, &wanted, &how)?;
    let published = match with_published {
        true => others
            .iter()
            .map(|other| {
                let sides = [&baseline, other].map(|side| side.runs().first());
                let mut below = render::published_of_sides(sides, wanted);
                if let [Some(old), Some(new)] = sides {
                    let named = [(&*baseline.name, old), (&*other.name, new)];
                    below.extend(render::curves_of_sides(named, options.wide, wanted));
                }
                below
            })
            .collect(),
        false => Vec::new(),
    };
    check_patterns(&options.rows, &all)?;
    Ok((all, published))
}

/// Each of the others against the baseline, with what stored runs say of the variation from run to run: nothing without
/// a store.
pub(super) fn against(
    store: Option<&Store>,
    baseline: &Operand,
    others: &[Operand],
    wanted: &dyn Fn(&str) -> bool,
    how: &Options,
) -> anyhow::Result<Vec<Comparison>> {
    let mut messages = Vec::new();
    let sides: Vec<&Operand> = [baseline].into_iter().chain(others).collect();
    let recent =
        store.map(|store| operand::recent_like(store, &sides, &mut messages)).transpose()?;
    super::atlas::print_messages(&messages);
    let recent = recent.unwrap_or_default();
    let each = others.iter().map(|other| {
        let kept = ::compare::operand::kept_like(&[baseline, other], &recent);
        Ok(set_against(baseline, other, &kept, wanted, how)?)
    });
    each.collect()
}

/// Refuses a pattern that matches nothing: a typing error.
fn check_patterns(patterns: &[String], all: &[Comparison]) -> anyhow::Result<()> {
    for pattern in patterns {
        let named = |id: &String| pattern_matches(pattern, id);
        let matched = all.iter().any(|c| {
            let rows = c.rows.iter().chain(&c.points).map(|row| &row.id);
            rows.chain(&c.only_in_a).chain(&c.only_in_b).any(named)
        });
        if !matched {
            bail!("no row {pattern:?} in any of them (latlas show RUN --wide lists a run's rows)");
        }
    }
    Ok(())
}

pub(super) fn exit_code(all: &[Comparison]) -> ExitCode {
    if all.iter().any(|c| !c.crossed.is_empty()) {
        ExitCode::from(GATE_CROSSED)
    } else if all.iter().any(|c| !c.has_findings()) {
        ExitCode::from(UNRELIABLE)
    } else {
        ExitCode::SUCCESS
    }
}
