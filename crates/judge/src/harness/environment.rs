//! The variables of what is measured.

use crate::process::Variables;

/// Variables of what is measured: few, and the same on both sides and at all times.
pub(super) fn small_environment(more: impl IntoIterator<Item = (String, String)>) -> Variables {
    const KEPT: [&str; 6] = ["PATH", "HOME", "USER", "LD_LIBRARY_PATH", "JAVA_HOME", "VIRTUAL_ENV"];
    let kept = KEPT.iter().filter_map(|&name| Some((name.into(), std::env::var_os(name)?)));
    let mut all: Variables = kept.collect();
    all.push(("LC_ALL".into(), "C.UTF-8".into()));
    for (name, value) in more {
        all.retain(|(known, _)| *known != *name);
        all.push((name.into(), value.into()));
    }
    all
}
