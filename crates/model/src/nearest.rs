//! The name that was probably meant.

/// The candidates nearest to `name`, best first, at most three; none where
/// nothing is near enough to be a slip of the fingers.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(name, candidate)?, candidate)))
        .collect();
    scored.sort();
    scored.dedup();
    let best = scored.first().map(|&(distance, _)| distance);
    scored
        .into_iter()
        .take_while(|&(distance, _)| Some(distance) == best)
        .map(|(_, candidate)| candidate)
        .take(3)
        .collect()
}

/// `; did you mean ...?` to stand behind a name, where something is near
/// enough; else nothing.
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(name, candidates);
    match near.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", near.join(" or ")),
    }
}

/// Edits between the two, if few enough. A name typed without its group
/// (`div_i32`) is as near as one letter.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    let without_group = candidate
        .split_once('.')
        .map_or(candidate, |(_, rest)| rest);
    if name == without_group {
        return Some(1);
    }
    let allowed = (name.chars().count() / 3).clamp(1, 6);
    let whole = strsim::damerau_levenshtein(name, candidate);
    let partial = strsim::damerau_levenshtein(name, without_group) + 1;
    let distance = whole.min(partial);
    (distance <= allowed).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&str; 5] = [
        "cpu.add_i32",
        "cpu.div_i32",
        "cpu.div_i64",
        "memory.latency/L1",
        "memory.latency/L2",
    ];

    #[test]
    fn swapped_letters_find_the_row() {
        assert_eq!(nearest("cpu.dvi_i32", ROWS), ["cpu.div_i32"]);
    }

    #[test]
    fn equally_near_names_are_all_given() {
        assert_eq!(
            nearest("memory.latency/L3", ROWS),
            ["memory.latency/L1", "memory.latency/L2"]
        );
        assert_eq!(
            suggestion("memory.latency/L3", ROWS),
            "; did you mean memory.latency/L1 or memory.latency/L2?"
        );
    }

    #[test]
    fn a_forgotten_group_is_found() {
        assert_eq!(nearest("add_i32", ROWS), ["cpu.add_i32"]);
    }

    #[test]
    fn nothing_is_suggested_for_nonsense() {
        assert!(nearest("xyzzy.plugh", ROWS).is_empty());
        assert!(nearest("", ROWS).is_empty());
        assert_eq!(suggestion("xyzzy.plugh", ROWS), "");
    }
}
