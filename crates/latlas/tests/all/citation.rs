//! `CITATION.cff` names this version and this licence; CI has cffconvert check
//! its form.

#[test]
fn the_citation_is_of_this_version() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CITATION.cff");
    let text = std::fs::read_to_string(path).expect("CITATION.cff");
    let version = concat!("version: ", env!("CARGO_PKG_VERSION"));
    assert!(text.lines().any(|line| line == version), "{version}");
    for license in env!("CARGO_PKG_LICENSE").split(" OR ") {
        assert!(text.contains(&format!("- {license}")), "{license}");
    }
}
