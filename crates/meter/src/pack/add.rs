//! Packs' probes, added to a catalogue.

use super::{Listed, Listing, Origin, PackRow, PackSite};
use crate::probe::{Effort, Probe, Text};
use model::run::{Bound, Regime, Scale};
use model::unit::Unit;
use std::path::Path;

/// A probe that is left out, and why.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Refused {
    #[error("{0:?} is not an id (group.name or group.name/variant, of letters, digits and _)")]
    Id(String),
    #[error("{0} is a row of latlas itself")]
    BuiltIn(String),
    #[error("{id} is a row of the pack {pack} already")]
    Twice { id: String, pack: String },
}

impl Refused {
    /// The id of the probe.
    pub fn id(&self) -> &str {
        match self {
            Refused::Id(id) | Refused::BuiltIn(id) | Refused::Twice { id, .. } => id,
        }
    }
}

/// Adds the probes of a pack to a catalogue: to the rows that it has for packs, and as new rows. Gives
/// those that are left out.
pub fn add_pack(catalogue: &mut Vec<Probe>, file: &Path, listing: &Listing) -> Vec<Refused> {
    let mut refused = Vec::new();
    for listed in &listing.probes {
        if !is_id(&listed.id) {
            refused.push(Refused::Id(listed.id.clone()));
            continue;
        }
        let known = catalogue.iter().position(|probe| probe.row_ids().contains(&listed.id));
        let new = pack_probe(file, listing, listed);
        let Some(number) = known else {
            // After the rows of its group.
            let group = catalogue.iter().rposition(|probe| probe.group() == new.group());
            catalogue.insert(group.map_or(catalogue.len(), |last| last + 1), new);
            continue;
        };
        let row = &mut catalogue[number];
        let id = listed.id.clone();
        match &row.origin {
            Origin::BuiltIn => refused.push(Refused::BuiltIn(id)),
            Origin::Pack(PackRow { pack, .. }) => {
                let pack = pack.clone();
                refused.push(Refused::Twice { id, pack });
            }
            // The row says what one operation is, the pack how it performs it.
            Origin::NoPack => {
                row.unit = new.unit;
                row.bound = new.bound;
                row.regime = new.regime;
                row.method = new.method;
                row.effort = new.effort;
                row.origin = new.origin;
                row.make = new.make;
            }
        }
    }
    refused
}

/// Whether this is an id of a row, `group.name` or `group.name/variant`.
fn is_id(id: &str) -> bool {
    let is_word = |word: &str| {
        let of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !word.is_empty() && word.chars().all(of_word)
    };
    id.split_once('.').is_some_and(|(group, name)| {
        let (name, variant) = name.split_once('/').unwrap_or((name, "one"));
        is_word(group) && is_word(name) && is_word(variant) && id.len() <= 80
    })
}

fn pack_probe(file: &Path, listing: &Listing, listed: &Listed) -> Probe {
    let (id, variant) = match listed.id.split_once('/') {
        Some((id, variant)) => (id, Some(variant)),
        None => (&*listed.id, None),
    };
    let or = |text: &str, other: &str| match text {
        "" => other.to_owned(),
        text => text.to_owned(),
    };
    let built_with = match &*listing.built_with {
        "" => String::new(),
        with => format!(", built with {with}"),
    };
    let of_pack = format!("Measured by the pack {}{built_with}.", listing.name);
    let method = match &*listed.method {
        "" => of_pack,
        method => format!("{method} {of_pack}"),
    };
    let site = PackSite { file: file.to_owned(), id: listed.id.clone() };
    Probe {
        variants: variant.map(|v| Text::from(v.to_owned())).into_iter().collect(),
        title: or(&listed.title, &listed.id).into(),
        operation: or(&listed.operation, "The pack does not say what one operation is.").into(),
        method: method.into(),
        source: format!("{}.", file.display()).into(),
        unit: match listed.bytes_per_op {
            0 => Unit::Time,
            bytes => Unit::Bandwidth { bytes_per_op: bytes as f64 },
        },
        bound: if listed.core_clock { Bound::Core } else { Bound::Memory },
        regime: match (listed.stamps, listed.long) {
            (true, _) => Regime::Stamped,
            (false, true) => Regime::Distribution,
            (false, false) => Regime::Gated,
        },
        since: Scale::Quick,
        effort: effort(listed),
        make: site.make(),
        origin: Origin::Pack(PackRow {
            site,
            pack: listing.name.clone(),
            disk_bytes: listed.disk_bytes,
            unavailable: listed.unavailable.clone(),
        }),
        ..Probe::blank(id.to_owned())
    }
}

/// Visits and samples by what an operation takes: about a second of all workers at most, where three
/// operations of each don't take longer.
fn effort(listed: &Listed) -> Effort {
    const MOST_NS: f64 = 60e6;
    let about_ns = (listed.about_ns as f64).max(1.0);
    let in_time = (MOST_NS / about_ns) as u32;
    match (listed.stamps, listed.long) {
        (true, _) => Effort::stamped(2, in_time.clamp(2, 32), about_ns),
        (false, true) => {
            let sample_ns = about_ns.max(crate::visit::LONG_SAMPLE_NS);
            let samples = ((MOST_NS / sample_ns) as u32).clamp(2, 6);
            Effort::stamped(2, samples, sample_ns)
        }
        (false, false) => {
            Effort { sample_ns: Some(about_ns.max(crate::visit::SAMPLE_NS)), ..Effort::visits(8) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::MachineShape;

    fn listing(ids: &[&str]) -> Listing {
        let listed = |id: &&str| Listed {
            id: (*id).to_owned(),
            operation: "One call.".into(),
            ..Listed::default()
        };
        Listing {
            name: "demo".into(),
            built_with: "cc -O2".into(),
            probes: ids.iter().map(listed).collect(),
        }
    }

    fn catalogue() -> Vec<Probe> {
        vec![
            Probe::blank("alloc.malloc_free"),
            Probe {
                operation: "One message.".into(),
                variants: vec!["16B".into()],
                unavailable: |_| Some("needs a pack".into()),
                origin: Origin::NoPack,
                ..Probe::blank("objc.data_read")
            },
            Probe::blank("ui.view_create"),
        ]
    }

    #[test]
    fn a_pack_fills_rows_and_adds_others_after_their_group() {
        let mut all = catalogue();
        let file = Path::new("/packs/demo.so");
        let refused =
            add_pack(&mut all, file, &listing(&["objc.data_read/16B", "alloc.mine", "go.chan"]));
        assert_eq!(refused, []);
        let ids: Vec<String> = all.iter().flat_map(Probe::row_ids).collect();
        let expected =
            ["alloc.malloc_free", "alloc.mine", "objc.data_read/16B", "ui.view_create", "go.chan"];
        assert_eq!(ids, expected);
        let filled = &all[2];
        assert_eq!(filled.operation, "One message.");
        assert_eq!(filled.missing(&MachineShape::default()), None);
        assert!(filled.method.contains("the pack demo, built with cc -O2"), "{}", filled.method);
    }

    #[test]
    fn rows_of_latlas_and_of_other_packs_stay_and_odd_ids_are_refused() {
        let mut all = catalogue();
        let file = Path::new("/packs/demo.so");
        add_pack(&mut all, file, &listing(&["c.one"]));
        let ids =
            ["alloc.malloc_free", "c.one", "", "noname", "a.b.c", "a.b/c/d", "a. b", ".b", "a.b/"];
        let before = all.len();
        let refused: Vec<String> =
            add_pack(&mut all, file, &listing(&ids)).iter().map(ToString::to_string).collect();
        assert_eq!(all.len(), before);
        insta::assert_snapshot!(refused.join("\n"), @r#"
        alloc.malloc_free is a row of latlas itself
        c.one is a row of the pack demo already
        "" is not an id (group.name or group.name/variant, of letters, digits and _)
        "noname" is not an id (group.name or group.name/variant, of letters, digits and _)
        "a.b.c" is not an id (group.name or group.name/variant, of letters, digits and _)
        "a.b/c/d" is not an id (group.name or group.name/variant, of letters, digits and _)
        "a. b" is not an id (group.name or group.name/variant, of letters, digits and _)
        ".b" is not an id (group.name or group.name/variant, of letters, digits and _)
        "a.b/" is not an id (group.name or group.name/variant, of letters, digits and _)
        "#);
    }

    #[test]
    fn a_pack_of_another_version_has_rows_with_the_reason() {
        let mut all = catalogue();
        let mut other = listing(&["c.one"]);
        other.probes[0].unavailable = Some("the pack demo is built for version 2".into());
        add_pack(&mut all, Path::new("/x.so"), &other);
        let reason = all.last().and_then(|probe| probe.missing(&MachineShape::default()));
        assert_eq!(reason.as_deref(), Some("the pack demo is built for version 2"));
    }
}
