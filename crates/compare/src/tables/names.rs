//! A row that its columns call by different names.

/// One name for what several columns name: the only one, or with its first
/// words side by side (`NSView/UIView create/destroy`) where only these differ,
/// else all of them.
pub(super) fn joined<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    let (first, others) = distinct.split_first()?;
    let split = |name: &'a str| name.split_once(' ').unwrap_or((name, ""));
    let (_, rest) = split(first);
    if others.iter().all(|other| split(other).1 == rest) && !rest.is_empty() {
        let words: Vec<&str> = distinct.iter().map(|name| split(name).0).collect();
        return Some(format!("{} {rest}", words.join("/")));
    }
    Some(distinct.join(" / "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_are_all_given() {
        let of = |names: &[&'static str]| joined(names.iter().copied());
        assert_eq!(of(&["16 byte memcpy", "16 byte memcpy"]).as_deref(), Some("16 byte memcpy"));
        assert_eq!(
            of(&["NSView create/destroy", "UIView create/destroy"]).as_deref(),
            Some("NSView/UIView create/destroy")
        );
        assert_eq!(of(&["one", "two"]).as_deref(), Some("one / two"));
        assert_eq!(of(&["a b", "a c"]).as_deref(), Some("a b / a c"));
        let three = of(&["one x", "two x", "three y"]);
        assert_eq!(three.as_deref(), Some("one x / two x / three y"));
        assert_eq!(of(&[]), None);
    }
}
