//! `latlas pack new`: a project with one probe.

use crate::arguments::pack::Language;
use crate::output;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::ExitCode;

/// What a name is replaced for, in file names and in texts.
const NAME: &str = "@NAME@";

/// What each project has in addition to its own files.
const HEADER: (&str, &str) =
    ("latlas_probe.h", include_str!("../../../../../packs/include/latlas_probe.h"));

/// Files of a template: name and text.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($language:literal: $($name:literal from $file:literal),+) => {
        &[$((
            $name,
            include_str!(concat!("../../../../../packs/templates/", $language, "/", $file)),
        )),+]
    };
}

fn files(language: Language) -> Files {
    match language {
        Language::C => files!("c": "@NAME@.c" from "NAME.c", "Makefile" from "Makefile"),
        Language::Cpp => files!("cpp": "@NAME@.cpp" from "NAME.cpp", "Makefile" from "Makefile"),
        Language::Rust => {
            files!("rust": "Cargo.toml" from "Cargo.toml", "Makefile" from "Makefile",
            "src/lib.rs" from "src/lib.rs", "src/latlas_probe.rs" from "src/latlas_probe.rs")
        }
        Language::Go => {
            files!("go": "@NAME@.go" from "NAME.go", "probes.c" from "probes.c", "go.mod" from "go.mod", "Makefile" from "Makefile")
        }
        Language::Zig => {
            files!("zig": "@NAME@.zig" from "NAME.zig", "latlas_probe.zig" from "latlas_probe.zig", "Makefile" from "Makefile")
        }
        Language::Swift => files!("swift": "@NAME@.swift" from "NAME.swift",
            "module.modulemap" from "module.modulemap", "Makefile" from "Makefile"),
        Language::Objc => files!("objc": "@NAME@.m" from "NAME.m", "Makefile" from "Makefile"),
    }
}

/// Writes the project into a new directory of its name.
pub(super) fn new(language: Language, name: &str) -> anyhow::Result<ExitCode> {
    check_name(name)?;
    let directory = Path::new(name);
    match std::fs::create_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{name} exists: left unchanged")
        }
        created => created.with_context(|| format!("can't create {name}"))?,
    }
    if let Err(error) = write_template(language, name, directory) {
        // Half a project would be in the way of the next try. The first error is the one to tell.
        let _ = std::fs::remove_dir_all(directory);
        return Err(error);
    }
    output::print(&format!(
        "{name}: build, check and measure it with\n  make -C {name}\n  latlas pack check {name}/{name}.so\n  \
         latlas run --pack {name}/{name}.so '{name}.*'\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn write_template(language: Language, name: &str, directory: &Path) -> anyhow::Result<()> {
    for (file, text) in files(language).iter().chain([&HEADER]) {
        let path = directory.join(file.replace(NAME, name));
        let parent = path.parent().unwrap_or(directory);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text.replace(NAME, name)))
            .with_context(|| format!("can't write {}", path.display()))?;
    }
    Ok(())
}

/// It becomes a directory, a group of rows, and a name in the language.
fn check_name(name: &str) -> anyhow::Result<()> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_ascii_lowercase());
    let goes_on = letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !begins || !goes_on || name.len() > 40 {
        bail!(
            "{name:?} can't be the name of a pack: give up to 40 of a-z, 0-9 and _, a letter first"
        );
    }
    if probes::GROUPS.contains(&name) {
        bail!("{name} is a group of latlas's own rows: choose another name");
    }
    Ok(())
}
