//! Names by pattern.

/// Whether a pattern that a reader gives matches a row: its id, its
/// probe with all that stands before the first slash, or a pattern.
pub fn pattern_matches(pattern: &str, id: &str) -> bool {
    let probe = id.split_once('/').map(|(probe, _)| probe);
    matches(pattern, id) || probe == Some(pattern)
}

/// Whether a text matches a pattern in which `*` stands for any letters, `/`
/// included, and `?` for one.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star stood, and how far it reached: the only place to
    // come back to.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, reached)) => {
                    star = Some((at, reached + 1));
                    p = at + 1;
                    t = reached + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("app:hit", "app:hit") && matches("*", "app:hit"));
        assert!(matches("app:*", "app:hit") && matches("*:h*t", "app:hit"));
        assert!(!matches("app:*", "libc:setjmp") && !matches("app:hi", "app:hit"));
        assert!(!matches("a*x", "app:hit"));
    }

    #[test]
    fn many_stars_take_no_longer_than_one() {
        // With a choice at each star this would take longer than a day.
        let pattern = "*a".repeat(40) + "b";
        assert!(!matches(&pattern, &"a".repeat(4_000)));
        assert!(matches(&"*a".repeat(40), &"a".repeat(4_000)));
    }

    #[test]
    fn a_row_is_meant_by_its_id_its_probe_and_a_pattern() {
        for pattern in ["memory.latency/L1", "memory.latency", "memory.*", "*/L?"] {
            assert!(pattern_matches(pattern, "memory.latency/L1"), "{pattern}");
        }
        for pattern in ["memory", "memory.latency/L", "memory.latency/", "L1"] {
            assert!(!pattern_matches(pattern, "memory.latency/L1"), "{pattern}");
        }
        assert!(pattern_matches("a.b", "a.b/c/d") && !pattern_matches("a.b/c", "a.b/c/d"));
    }
}
