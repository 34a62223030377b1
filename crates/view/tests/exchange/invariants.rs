//! What holds whatever is imported, for the mutation test and the fuzzer.

use compare::references::References;
use model::run::Run;
use std::collections::HashSet;
use store::exchange::export::{self, ExportError};
use store::exchange::import::files::{CriterionFolder, Input, InputPart};
use store::exchange::import::{ImportError, InputFormat, Origin, import};
use view::render;

/// Between criterion's files in one input.
pub(crate) const SEPARATOR: u8 = 0x1e;

/// Every format that an export knows.
pub(crate) const EXPORTS: [export::ExportFormat; 6] = [
    export::ExportFormat::Markdown,
    export::ExportFormat::Csv,
    export::ExportFormat::JsonLines,
    export::ExportFormat::GoogleBenchmark,
    export::ExportFormat::Hyperfine,
    export::ExportFormat::Bencher,
];

pub(crate) fn origin() -> Origin {
    Origin {
        id: "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b".into(),
        now_unix_ms: 1_795_225_964_000,
        by: "latlas 0.1.0".into(),
        name: None,
        machine: None,
    }
}

pub(crate) fn file(bytes: &[u8]) -> Input {
    Input::File { name: "any.json".into(), bytes: bytes.to_vec() }
}

fn criterion(bytes: &[u8]) -> Input {
    let mut parts = bytes.split(|&b| b == SEPARATOR).map(|part| {
        (!part.is_empty()).then(|| InputPart { name: "part.json".into(), bytes: part.to_vec() })
    });
    let mut next = || parts.next().flatten();
    Input::Criterion {
        name: "criterion".into(),
        benchmarks: vec![CriterionFolder {
            directory: "criterion/x/new".into(),
            fallback_name: "x".into(),
            id: next(),
            sample: next(),
            estimates: next(),
        }],
    }
}

/// Imports the bytes as every format they could be, and checks what comes of
/// it. Gives the number of runs that came.
pub(crate) fn import_anything(bytes: &[u8]) -> usize {
    let formats = [
        None,
        Some(InputFormat::Hyperfine),
        Some(InputFormat::GoogleBenchmark),
        Some(InputFormat::Run),
    ];
    let mut runs = 0;
    if bytes.contains(&SEPARATOR) {
        runs += check_import(import(&[criterion(bytes)], None, origin()));
    }
    for format in formats {
        runs += check_import(import(&[file(bytes)], format, origin()));
    }
    runs
}

/// A refusal is one harmless line, a run is whole.
pub(crate) fn check_import(imported: Result<Run, ImportError>) -> usize {
    match imported {
        Err(error) => {
            let line = error.to_string();
            assert!(is_harmless(&line) && !line.contains('\n'), "{line:?}");
            assert!(line.starts_with("can't import ") && line.len() < 20_000, "{line:?}");
            0
        }
        Ok(run) => {
            check_run(&run);
            1
        }
    }
}

fn check_run(run: &Run) {
    assert!(!run.rows.is_empty() || run.imported.is_none());
    let mut ids = HashSet::new();
    for row in &run.rows {
        assert!(ids.insert(&row.id), "{} twice", row.id);
        if run.imported.is_some() {
            assert!(row.id.chars().all(|c| c.is_ascii_graphic()), "{:?}", row.id);
            assert!(!row.id.split('/').any(|part| part.is_empty() || part == ".."));
        }
    }
    let bytes = store::to_json(run).expect("what was imported can be kept");
    assert!(store::from_bytes(&bytes).expect("and read again") == *run);
    let references = References::embedded().expect("references");
    for wide in [false, true] {
        let options = render::Options { wide, ..render::Options::default() };
        let screen = view::terminal::Screen { columns: 100, color: false };
        let text =
            view::terminal::blocks_text(&render::render_run(run, &references, &options), screen);
        assert!(is_harmless(&text), "{text:?}");
    }
    for format in EXPORTS {
        match export::export(run, format, &[]) {
            Ok(exported) => assert!(exported.text.ends_with('\n')),
            Err(ExportError::Nothing { .. } | ExportError::Empty) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !c.is_control())
}
