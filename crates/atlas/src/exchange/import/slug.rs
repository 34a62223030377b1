//! Names of strangers as ids of rows.

use std::collections::HashSet;

/// Longest part between two slashes.
const MAX_PART: usize = 64;
/// Longest name of all parts.
const MAX_SLUG: usize = 128;

/// A name as one part of an id: letters, digits and `_ - . + = , : %` stay,
/// every other stretch becomes one `_`. Never empty, never only dots.
pub(super) fn part(name: &str) -> String {
    let mut part = String::new();
    for c in name.chars() {
        let stays = c.is_ascii_alphanumeric() || "_-.+=,:%".contains(c);
        match (stays, part.ends_with('_')) {
            (true, _) => part.push(c),
            (false, false) => part.push('_'),
            (false, true) => {}
        }
        if part.len() >= MAX_PART {
            break;
        }
    }
    // A dash in front would read as an option where ids are arguments.
    let trimmed = part.trim_matches('_').trim_start_matches(['-', '_']);
    match trimmed.chars().any(|c| c.is_ascii_alphanumeric()) {
        true => trimmed.to_owned(),
        false => "unnamed".to_owned(),
    }
}

/// A name with its own slashes kept, each part well formed.
pub(super) fn path(name: &str) -> String {
    let mut path = String::new();
    for part in name
        .split('/')
        .filter(|p| p.chars().any(|c| c.is_ascii_alphanumeric()))
        .map(part)
    {
        if path.len() + part.len() >= MAX_SLUG {
            break;
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&part);
    }
    match path.is_empty() {
        true => "unnamed".to_owned(),
        false => path,
    }
}

/// The slug, or the first of `slug_2`, `slug_3`, ... that is not taken.
pub(super) fn unique(slug: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = slug.to_owned();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{slug}_{number}");
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_become_parts_of_ids() {
        for (name, expected) in [
            ("sleep 0.01", "sleep_0.01"),
            ("seq 1 | grep 2", "seq_1_grep_2"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", "unnamed"),
            ("größe", "gr_e"),
            ("日本", "unnamed"),
            ("", "unnamed"),
            ("--version", "version"),
            ("*?*", "unnamed"),
        ] {
            assert_eq!(part(name), expected, "{name}");
        }
    }

    #[test]
    fn slashes_stay_and_lead_nowhere() {
        for (name, expected) in [
            ("BM_sort<int>/512", "BM_sort_int/512"),
            ("a//b", "a/b"),
            ("/../a/./b/..", "a/b"),
            ("///", "unnamed"),
            ("BM/threads:2", "BM/threads:2"),
        ] {
            assert_eq!(path(name), expected, "{name}");
        }
    }

    #[test]
    fn a_taken_slug_is_numbered() {
        let mut taken = HashSet::new();
        let names = ["a", "a", "a_2", "a"].map(|s| unique(s, &mut taken));
        assert_eq!(names, ["a", "a_2", "a_2_2", "a_3"]);
    }

    proptest! {
        #[test]
        fn whatever_the_name_the_id_is_well_formed(name in "\\PC*|[./ -]{0,9}|.{0,300}") {
            for slug in [part(&name), path(&name)] {
                prop_assert!(!slug.is_empty() && slug.len() <= MAX_SLUG, "{slug}");
                prop_assert!(slug.split('/').all(|p| p.chars().any(|c| c.is_ascii_alphanumeric())));
                prop_assert!(slug.chars().all(|c| c.is_ascii_graphic()));
                prop_assert!(!slug.contains(['*', '?', '"', '\\', '|']) && !slug.starts_with('-'));
            }
        }
    }
}
