//! What the maker calls the device, and Android's version: programs of the shell can't read
//! /system/build.prop, but may ask `getprop`.

use crate::capture;
use crate::files::{Files, Tree};
use model::machine::Fact;
use std::process::Command;

const GETPROP: &str = "/system/bin/getprop";
const MODEL: &str = "/proc/device-tree/model";

pub(super) fn read_device(tree: &Tree) -> Fact<String> {
    if let Some(model) = property(tree, "ro.product.model") {
        let maker = property(tree, "ro.product.manufacturer");
        let name = match maker.filter(|maker| !model.starts_with(maker)) {
            Some(maker) => format!("{maker} {model}"),
            None => model,
        };
        return Fact::known(name).from_source("getprop ro.product.model");
    }
    if !tree.exists(MODEL) {
        return Fact::unknown("neither a device tree nor Android's getprop is there");
    }
    tree.fact(MODEL, |text| super::non_empty(text.trim_end_matches('\0').trim()))
}

/// `None` where this is not Android.
pub(super) fn android(tree: &Tree) -> Option<Fact<String>> {
    if let Some(version) = property(tree, "ro.build.version.release") {
        let level = property(tree, "ro.build.version.sdk");
        let level = level.map_or(String::new(), |level| format!(" (API {level})"));
        let source = "getprop ro.build.version.release";
        return Some(Fact::known(format!("Android {version}{level}")).from_source(source));
    }
    let is_android = tree.exists("/system/build.prop");
    is_android.then(|| Fact::known("Android".to_owned()).from_source("/system/build.prop is there"))
}

fn property(tree: &Tree, name: &str) -> Option<String> {
    if !tree.exists(GETPROP) {
        return None;
    }
    let mut getprop = Command::new(tree.full_path(GETPROP));
    let text = capture::program_output(getprop.arg(name)).ok()?;
    super::non_empty(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn android_is_asked_and_others_have_a_device_tree_or_a_reason() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        let write = |path: &str, text: &str| tree.make(path, text);
        assert!(read_device(&tree).unknown.expect("a reason").contains("getprop"));
        assert_eq!(android(&tree), None);
        write(MODEL, "Raspberry Pi 5 Model B Rev 1.0\0");
        assert_eq!(
            read_device(&tree).get().map(String::as_str),
            Some("Raspberry Pi 5 Model B Rev 1.0")
        );
        let script = "#!/bin/sh\ncase $1 in\n*.model) echo Pixel 8;;\n*.manufacturer) echo Google;;\n\
                      *.release) echo 15;;\n*.sdk) echo 35;;\nesac\n";
        let getprop = write(GETPROP, script);
        fs::set_permissions(getprop, fs::Permissions::from_mode(0o755)).expect("set");
        assert_eq!(read_device(&tree).get().map(String::as_str), Some("Google Pixel 8"));
        let os = android(&tree).expect("Android");
        assert_eq!(os.get().map(String::as_str), Some("Android 15 (API 35)"));
    }
}
