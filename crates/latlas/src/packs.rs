//! Probe packs: finds the files given and those of the packs directory, and adds their probes to the
//! catalogue. `child.rs` is the child process that loads a pack to list or try it, since loading may crash.
//! How a pack's probe is measured is in `crates/meter/src/pack.rs`.

mod child;

use child::listed;
pub(crate) use child::{Failure, serve, tried};

use crate::output;
use anyhow::{Context, anyhow, bail};
use meter::pack::{Listing, add_pack};
use meter::probe::Probe;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use sys::trust;

/// The directory whose packs are always loaded.
fn directory() -> Option<PathBuf> {
    Some(store::data_dir().ok()?.join("packs"))
}

/// Adds the probes of the packs given, and of those in the packs directory.
///
/// # Errors
/// A file that was given and is no pack. One in the directory is skipped with a message.
pub(crate) fn add_to(catalogue: &mut Vec<Probe>, given: &[PathBuf]) -> anyhow::Result<()> {
    for file in given {
        let file = absolute(file)?;
        let listing = listing_named(&file)?;
        say(&file, &add_pack(catalogue, &file, &listing));
    }
    let skipped = |why: &dyn Display| output::message(format_args!("skipped: {why}"));
    let files = in_directory().unwrap_or_else(|why| {
        skipped(&format_args!("the packs directory: {why}"));
        Vec::new()
    });
    for file in files {
        let file = match absolute(&file) {
            Ok(file) => file,
            Err(why) => {
                skipped(&format_args!("{why:#}"));
                continue;
            }
        };
        match listed(&file) {
            Ok(listing) => say(&file, &add_pack(catalogue, &file, &listing)),
            Err(why) => skipped(&format_args!("pack {} {why}", file.display())),
        }
    }
    Ok(())
}

/// Lists a pack that the user named.
pub(crate) fn listing_named(file: &Path) -> anyhow::Result<Listing> {
    listed(file).map_err(|why| anyhow!("pack {} {why}", file.display()))
}

/// A pack's path, as workers need it: its code runs as this user.
///
/// # Errors
/// If there is no such file, or another user could have put it there or changed it.
pub(crate) fn absolute(file: &Path) -> anyhow::Result<PathBuf> {
    let found = trust::check_path(file)
        .and_then(|()| file.canonicalize())
        .with_context(|| format!("can't read {}", file.display()))?;
    if !found.is_file() {
        bail!("{} is not a file", file.display());
    }
    if found.to_str().is_none() {
        bail!("the path {} is not UTF-8", file.display());
    }
    Ok(found)
}

/// Says which probes are left out.
fn say(file: &Path, refused: &[meter::pack::Refused]) {
    for why in refused {
        output::message(format_args!("pack {}: {why}; ignored", file.display()));
    }
}

/// The packs of the directory, by name; none where there is no directory.
///
/// # Errors
/// That another user could put packs there.
fn in_directory() -> std::io::Result<Vec<PathBuf>> {
    let is_library = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        (extension == "so" || extension == "dylib") && path.is_file()
    };
    let Some(directory) = directory().filter(|directory| directory.is_dir()) else {
        return Ok(Vec::new());
    };
    trust::check_path(&directory)?;
    let entries = std::fs::read_dir(directory)?.flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_library).collect();
    files.sort();
    Ok(files)
}
