//! What a machine shows that a CPU of its signature can't have.

use super::memory::stated_l3;
use crate::comparison::{PublishedFigure, PublishedRatio, PublishedUnit, RowName, published_rows};
use crate::machine::{IdentityDoubt, MachineIdentity, MatchCertainty};
use model::fit::identity::{Differs, Means};
use model::run::Run;
use model::size::format_size;

/// Cycles of an instruction that differ by more are those of another core: two measurements of one differ by 2 %, by 6 % at
/// most.
const ANOTHER_CORE: f64 = 1.10;
/// One instruction may be measured otherwise; two are another core.
const LEAST_INSTRUCTIONS: usize = 2;

/// Everything that contradicts the CPU that the machine says it is.
pub(super) fn contradictions(
    run: &Run,
    identity: &MachineIdentity,
    figures: &[PublishedFigure],
    usual_l3: Option<u64>,
) -> Vec<Differs> {
    let mut all = Vec::new();
    if identity.doubts.contains(&IdentityDoubt::Contradicted) {
        all.push(Differs {
            what: "CPU features",
            here: "of a newer core".into(),
            expected: "those of its signature".into(),
            means: Means::Machine,
        });
    }
    let other = other_cycles(run, figures);
    let means = if other.len() < LEAST_INSTRUCTIONS { Means::Note } else { Means::Machine };
    all.extend(other.into_iter().map(|(row, here, expected)| Differs {
        what: "cycles",
        here: format!("{row} {here:.1}"),
        expected: format!("{expected:.1}"),
        means,
    }));
    let stated = run.machine.caches.get().and_then(|caches| stated_l3(caches));
    if let (Some(stated), Some(usual)) = (stated, usual_l3)
        && stated != usual
    {
        all.push(Differs {
            what: "stated L3",
            here: format_size(stated),
            expected: format_size(usual),
            means: Means::Note,
        });
    }
    all
}

/// Rows of the core that differ clearly from the signature's record, with their cycles here and there.
fn other_cycles(run: &Run, figures: &[PublishedFigure]) -> Vec<(String, f64, f64)> {
    let own = figures.iter().filter(|figure| {
        let of_core = matches!(&figure.row, RowName::Row(id) if id.starts_with("cpu."));
        of_core && figure.unit == PublishedUnit::Cycles && figure.certainty != MatchCertainty::Weak
    });
    let own: Vec<PublishedFigure> = own.cloned().collect();
    let rows = published_rows(run, &own, &[]).into_iter();
    let clear = |ratio: &PublishedRatio| {
        ratio.ratio.low > ANOTHER_CORE || ratio.ratio.high < 1.0 / ANOTHER_CORE
    };
    let differing = rows.filter_map(|row| Some((row.row, row.ratio.filter(clear)?)));
    let cycles = |(row, ratio): (String, PublishedRatio)| {
        let expected = ratio.published.expected.value;
        (row, ratio.ratio.value * expected, expected)
    };
    differing.map(cycles).collect()
}
