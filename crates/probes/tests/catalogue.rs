//! The catalogue as a whole: what is measured, how much, and by which rules.
//! The texts are read in `latlas help rows`, which is made from them.

use meter::probe::{Derive, MachineShape, Probe, Shape, Site};
use model::run::Scale;
use std::collections::BTreeSet;
use std::fmt::Write;

fn machine() -> MachineShape {
    MachineShape {
        last_level_bytes: 32 << 20,
        last_level_at_core_clock: true,
        largest_bytes: 256 << 20,
        cpus: vec![0, 1],
        huge_page_bytes: Some(2 << 20),
        ..MachineShape::default()
    }
}

fn points(probe: &Probe, scale: Scale) -> Vec<Vec<u64>> {
    match &probe.shape {
        Shape::Figure => Vec::new(),
        Shape::Curve(_, points) | Shape::Pairs(_, points) => vec![points(&machine(), scale)],
        Shape::Map { y, x } => vec![(y.1)(&machine(), scale), (x.1)(&machine(), scale)],
    }
}

/// Everything of a probe that decides its figures, on two lines.
fn probe_lines(probe: &Probe) -> String {
    let rows = [probe.row_ids(), probe.point_ids()].concat().join(" ");
    let mut line = format!(
        "{rows}\n    {:?} {:?} {:?} from {:?}",
        probe.unit, probe.bound, probe.regime, probe.since
    );
    for (axis, points) in probe.shape.axes().iter().zip(points(probe, Scale::Default)) {
        let ends = [points.first(), points.last()].map(|end| end.copied().unwrap_or_default());
        let _ = write!(line, ", {axis:?} {ends:?} {} points", points.len());
    }
    let effort = &probe.effort;
    let _ = write!(
        line,
        "\n    {} x {}, {:?}, restore {} ns/B, sample {:?} ns",
        effort.visits,
        effort.samples,
        effort.working_set,
        effort.restore_ns_per_byte,
        effort.sample_ns
    );
    let flags = [
        ("together", probe.together),
        ("tail", probe.tail),
        ("no extra visits", !probe.extra_visits),
        ("second buffer", probe.second_buffer),
        ("levels", matches!(probe.derive, Derive::Levels(_))),
        ("core clock", probe.derive == Derive::CoreClock),
    ];
    for (name, _) in flags.iter().filter(|(_, set)| *set) {
        let _ = write!(line, ", {name}");
    }
    if let Some(from) = probe.long_from {
        let _ = write!(line, ", long from {from}");
    }
    let site = Site {
        variant: probe.variants.last().map_or("", |v| v).to_string(),
        at: vec![1 << 20, 1 << 20],
    };
    if let Some(disk) = (probe.on_disk)(&site) {
        let _ = write!(line, "\n    {disk:?}");
    }
    line
}

#[test]
fn the_catalogue() {
    let lines: Vec<String> = probes::catalogue().iter().map(probe_lines).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn row_ids_are_unique_and_well_formed() {
    let ids: Vec<String> = probes::catalogue().iter().flat_map(Probe::row_ids).collect();
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "an id stands twice");
    for id in &ids {
        let (group, name) = id.split_once('.').expect("group.probe");
        assert!(probes::GROUPS.contains(&group), "{id}");
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/';
        assert!(name.chars().all(allowed), "{id}");
    }
}

#[test]
fn groups_come_in_their_order() {
    let place = |group: &str| probes::GROUPS.iter().position(|known| *known == group);
    let catalogue = probes::catalogue();
    let places: Vec<Option<usize>> = catalogue.iter().map(|probe| place(probe.group())).collect();
    assert!(places.is_sorted(), "a group is not where GROUPS has it");
    let unique: BTreeSet<&str> = probes::GROUPS.into();
    assert_eq!(unique.len(), probes::GROUPS.len());
}

#[test]
fn no_point_is_twice_on_a_curve() {
    for probe in probes::catalogue() {
        for scale in [Scale::Quick, Scale::Default, Scale::Full] {
            for points in points(&probe, scale) {
                // Maps over NUMA nodes have none on this machine.
                let id = &probe.id;
                assert!(points.is_sorted_by(|a, b| a < b), "{id} {scale:?}: {points:?}");
                assert!(!points.is_empty() || id == "memory.numa", "{id} {scale:?}");
            }
        }
    }
}

#[test]
fn every_text_is_a_sentence() {
    for probe in probes::catalogue() {
        for text in [&probe.operation, &probe.method, &probe.source] {
            let first = text.chars().next();
            let begins = first.is_some_and(|c| c.is_uppercase() || c.is_ascii_digit());
            assert!(
                begins && text.ends_with('.') && text.len() > 20,
                "{}: \"{text}\" is no sentence",
                probe.id
            );
        }
        let title = &probe.title;
        assert!(!title.is_empty() && !title.ends_with('.'), "{}", probe.id);
    }
}

#[test]
fn every_feature_that_a_row_needs_can_be_detected() {
    for feature in probes::catalogue().iter().filter_map(|probe| probe.needs) {
        assert!(sys::cpu_feature::is_present(feature).is_some(), "{feature}");
    }
}

#[test]
fn a_cpu_without_the_feature_has_no_such_row() {
    let probe = Probe { needs: Some("none that any CPU has"), ..Probe::blank("cpu.nothing") };
    let reason = probe.missing(&machine());
    assert_eq!(reason.as_deref(), Some("this CPU lacks none that any CPU has"));
    assert_eq!(Probe::blank("cpu.nothing").missing(&machine()), None);
}

#[test]
fn the_row_that_confirms_older_documents_is_there() {
    let row = meter::rejudge::MULTIPLY_ROW.to_owned();
    let mut rows = probes::catalogue().into_iter().flat_map(|probe| probe.row_ids());
    assert!(rows.any(|id| id == row));
}
