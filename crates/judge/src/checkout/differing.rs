//! Which files differ between two trees.

use super::copy::files_below;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that differ between two trees, or are in one of them alone, relative to these; none where they can't be
/// read. git's own file of a tree is not compared.
pub(crate) fn differing_files(base: &Path, head: &Path) -> Option<Vec<PathBuf>> {
    let [own, its] = [base, head].map(|tree| files_below(tree).ok());
    let all: BTreeSet<PathBuf> = own?.into_iter().chain(its?).collect();
    let mut differing = Vec::new();
    for file in all.into_iter().filter(|file| file != Path::new(".git")) {
        if !is_same(&base.join(&file), &head.join(&file)) {
            differing.push(file);
        }
    }
    Some(differing)
}

fn is_same(a: &Path, b: &Path) -> bool {
    let both = [a, b].map(|file| fs::symlink_metadata(file).ok());
    match both {
        [Some(a_is), Some(b_is)] if a_is.file_type() != b_is.file_type() => false,
        [Some(found), Some(_)] if found.is_symlink() => {
            fs::read_link(a).ok() == fs::read_link(b).ok()
        }
        [Some(a_is), Some(b_is)] => {
            a_is.len() == b_is.len()
                && fs::read(a).ok().is_some_and(|own| fs::read(b).is_ok_and(|its| own == its))
        }
        _ => false,
    }
}
