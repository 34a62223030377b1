//! Names of strangers as ids of rows.
//!
//! One name is one id in whatever file and order it comes, and no two names
//! share one: compare sets rows of one id against each other.

use std::collections::HashMap;

const MAX_PART: usize = 64;
/// Longest name of all parts.
const MAX_SLUG: usize = 128;
/// Length of what stands for a name that an id can't hold: a dash and eight
/// digits.
const MARK: usize = 9;

/// What a `_` of an id was in the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Underscore {
    /// A single space, as between the words of a command.
    Space,
    /// Itself, as in the name of a function.
    Itself,
}

/// A name as one part of an id: letters, digits and `_ - . + = , : %` stay,
/// every other stretch becomes one `_`. Where that, or its length, loses
/// anything of the name, a mark of the whole name follows. Never empty, never
/// only dots.
pub(super) fn part(name: &str, underscore: Underscore) -> String {
    let mut part = String::new();
    let mut lost = false;
    for c in name.chars() {
        let stays = c.is_ascii_alphanumeric()
            || "-.+=,:%".contains(c)
            || (c == '_' && underscore == Underscore::Itself);
        if stays {
            part.push(c);
            continue;
        }
        let first = !part.ends_with('_');
        lost |= !(first && c == ' ' && underscore == Underscore::Space);
        if first {
            part.push('_');
        }
    }
    // A dash in front would read as an option where ids are arguments.
    let mut kept = part.trim_matches('_').trim_start_matches(['-', '_']);
    lost |= kept.len() < part.len() || kept.len() > MAX_PART;
    if !kept.chars().any(|c| c.is_ascii_alphanumeric()) {
        (kept, lost) = ("unnamed", true);
    }
    match lost {
        true => kept[..kept.len().min(MAX_PART - MARK)].to_owned() + &mark(name),
        false => kept.to_owned(),
    }
}

/// A name with its own slashes kept, each part well formed.
pub(super) fn slug_path(name: &str) -> String {
    let mut path = String::new();
    let mut lost = false;
    for part in name.split('/') {
        let part = match part.chars().any(|c| c.is_ascii_alphanumeric()) {
            true => self::part(part, Underscore::Itself),
            false => String::new(),
        };
        if part.is_empty() || path.len() + part.len() >= MAX_SLUG - MARK {
            lost = true;
            continue;
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&part);
    }
    if path.is_empty() {
        path.push_str("unnamed");
    }
    if lost { path + &mark(name) } else { path }
}

/// What stands for a whole name: the same whenever it comes (FNV-1a, whose
/// digits no version of a library changes).
fn mark(name: &str) -> String {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("-{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

/// The slug, or `slug#2`, `slug#3`, ... where one name comes again or has this number in its file. No slug
/// has a `#` of its own.
pub(super) fn unique(slug: &str, number: Option<u32>, times: &mut HashMap<String, u32>) -> String {
    let wished = number.map_or(slug.to_owned(), |number| format!("{slug}#{number}"));
    if !times.contains_key(&wished) {
        times.insert(wished.clone(), 1);
        return wished;
    }
    loop {
        let before = times.entry(slug.to_owned()).or_insert(1);
        *before += 1;
        let next = format!("{slug}#{before}");
        if !times.contains_key(&next) {
            times.insert(next.clone(), 1);
            return next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn marked(slug: &str, start: &str) -> bool {
        slug.strip_prefix(start).is_some_and(|mark| {
            let digits = mark.strip_prefix('-').unwrap_or_default();
            digits.len() == 8 && digits.chars().all(|c| c.is_ascii_hexdigit())
        })
    }

    #[test]
    fn names_become_parts_of_ids() {
        for (name, expected) in [("sleep 0.01", "sleep_0.01"), ("make -j2", "make_-j2"), ("x", "x")]
        {
            assert_eq!(part(name, Underscore::Space), expected, "{name}");
        }
        for (name, expected) in [
            ("seq 1 | grep 2", "seq_1_grep_2"),
            ("sleep  1", "sleep_1"),
            ("a_b", "a_b"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", "unnamed"),
            ("größe", "gr_e"),
            ("日本", "unnamed"),
            ("", "unnamed"),
            ("--version", "version"),
            ("*?*", "unnamed"),
        ] {
            let slug = part(name, Underscore::Space);
            assert!(marked(&slug, expected), "{name} {slug}");
        }
        assert_eq!(part("BM__push_", Underscore::Space).len(), 7 + MARK);
        assert_eq!(part("BM__push", Underscore::Itself), "BM__push");
        assert!(marked(&part("BM push", Underscore::Itself), "BM_push"));
    }

    #[test]
    fn slashes_stay_and_lead_nowhere() {
        for name in ["BM_sort/512", "BM/threads:2", "a"] {
            assert_eq!(slug_path(name), name);
        }
        for (name, expected) in [("a//b", "a/b"), ("/../a/./b/..", "a/b"), ("///", "unnamed")] {
            assert!(marked(&slug_path(name), expected), "{name} {}", slug_path(name));
        }
        let sort = slug_path("BM_sort<int>/512");
        assert!(marked(sort.strip_suffix("/512").expect(&sort), "BM_sort_int"));
    }

    #[test]
    fn names_that_look_alike_stay_apart() {
        let long = "x".repeat(70);
        let names = [
            "a b",
            "a_b",
            "a  b",
            "a|b",
            "a",
            "a ",
            "日本",
            "中国",
            "*",
            "..",
            "-a",
            &format!("{long} 1"),
            &format!("{long} 2"),
            &long,
        ];
        for underscore in [Underscore::Space, Underscore::Itself] {
            let slugs: HashSet<String> = names.iter().map(|n| part(n, underscore)).collect();
            assert_eq!(slugs.len(), names.len(), "{slugs:?}");
        }
        let deep = "part/".repeat(40);
        let names = ["a/b", "a//b", "a/b/", "a/./b", "b/a", &deep, &format!("{deep}x")];
        let slugs: HashSet<String> = names.iter().map(|n| slug_path(n)).collect();
        assert_eq!(slugs.len(), names.len(), "{slugs:?}");
        // Whatever is changed here, kept runs must find their rows again.
        assert_eq!(part("日本", Underscore::Space), "unnamed-b4ceb0a4");
    }

    #[test]
    fn a_taken_slug_is_numbered() {
        let mut times = HashMap::new();
        let names = ["a", "a", "a_2", "a"].map(|s| unique(s, None, &mut times));
        assert_eq!(names, ["a", "a#2", "a_2", "a#3"]);
        // Quadratic, this would take minutes.
        for n in 4..=100_000 {
            assert_eq!(unique("a", None, &mut times), format!("a#{n}"));
        }
        // A number of the file's own stays, unless it is taken.
        let numbered = [Some(3), None, Some(2), None, Some(2), None];
        let names = numbered.map(|number| unique("b", number, &mut times));
        assert_eq!(names, ["b#3", "b", "b#2", "b#4", "b#5", "b#6"]);
    }

    proptest! {
        #[test]
        fn whatever_the_name_the_id_is_well_formed(name in "\\PC*|[./ -]{0,9}|.{0,300}") {
            for slug in [part(&name, Underscore::Space), part(&name, Underscore::Itself), slug_path(&name)] {
                prop_assert!(!slug.is_empty() && slug.len() <= MAX_SLUG, "{slug}");
                prop_assert!(slug.split('/').all(|p| p.chars().any(|c| c.is_ascii_alphanumeric())));
                prop_assert!(slug.chars().all(|c| c.is_ascii_graphic()));
                prop_assert!(!slug.contains(['*', '?', '"', '\\', '|', '#']) && !slug.starts_with('-'));
            }
        }
    }
}
