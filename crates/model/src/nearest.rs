//! The name that was probably meant.

/// The candidates nearest to `name`, the shortest first, at most three; none where
/// nothing is near enough to be a slip of the fingers.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let scored = scored(name, candidates);
    let best = scored.first().map(|&(distance, ..)| distance);
    scored
        .into_iter()
        .take_while(|&(distance, ..)| Some(distance) == best)
        .map(|(.., candidate)| candidate)
        .take(3)
        .collect()
}

/// The candidates near enough to be a slip of the fingers, the nearest first, at most so many.
pub fn several_near<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    scored(name, candidates).into_iter().map(|(.., candidate)| candidate).take(most).collect()
}

/// Distance, length and name of those near enough, the nearest first, each once.
fn scored<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<(usize, usize, &'a str)> {
    let scored = candidates.into_iter();
    let mut scored: Vec<(usize, usize, &str)> = scored
        .filter_map(|candidate| Some((distance(name, candidate)?, candidate.len(), candidate)))
        .collect();
    scored.sort();
    scored.dedup();
    scored
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

/// Edits between the two, if few enough; upper case does not matter. A name typed without its
/// group or without its ending (`div_i32` and `cpu.div` for `cpu.div_i32`) is as near as one
/// letter.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    let (name, candidate) = (name.to_lowercase(), candidate.to_lowercase());
    let start = candidate.find('.').map_or(0, |dot| dot + 1);
    let without_group = &candidate[start..];
    let ends = without_group.match_indices(['_', '/']);
    let shortened: Vec<&str> = ends.map(|(end, _)| &candidate[..start + end]).collect();
    if name == without_group || shortened.iter().any(|short| name == short[start..]) {
        return Some(1);
    }
    let allowed = (name.chars().count() / 3).clamp(1, 6);
    let edits = |candidate: &str| strsim::damerau_levenshtein(&name, candidate);
    let partial = shortened.into_iter().chain([without_group]);
    let partial = partial.map(|part| edits(part) + 1).min();
    let distance = edits(&candidate).min(partial.unwrap_or(usize::MAX));
    (distance <= allowed).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&str; 5] =
        ["cpu.add_i32", "cpu.div_i32", "cpu.div_i64", "memory.latency/L1", "memory.latency/L2"];

    #[test]
    fn swapped_letters_find_the_row() {
        assert_eq!(nearest("cpu.dvi_i32", ROWS), ["cpu.div_i32"]);
    }

    #[test]
    fn equally_near_names_are_all_given() {
        assert_eq!(nearest("memory.latency/L3", ROWS), ["memory.latency/L1", "memory.latency/L2"]);
        assert_eq!(
            suggestion("memory.latency/L3", ROWS),
            "; did you mean memory.latency/L1 or memory.latency/L2?"
        );
    }

    #[test]
    fn several_near_names_come_the_nearest_first() {
        let cpus = ["ryzen-7-5800x3d", "ryzen-7-5700x", "ryzen-7-5800u", "m7i.large"];
        let near = ["ryzen-7-5700x", "ryzen-7-5800u", "ryzen-7-5800x3d"];
        assert_eq!(several_near("ryzen-7-5800x", cpus, 5), near);
        assert_eq!(several_near("ryzen-7-5800x", cpus, 2), near[..2]);
    }

    #[test]
    fn a_forgotten_group_is_found() {
        assert_eq!(nearest("add_i32", ROWS), ["cpu.add_i32"]);
    }

    #[test]
    fn a_forgotten_ending_and_upper_case_are_found() {
        let both = ["cpu.div_i32", "cpu.div_i64"];
        for name in ["cpu.dvi", "cpu.div", "div", "CPU.DVI"] {
            assert_eq!(nearest(name, ROWS), both, "{name}");
        }
        assert_eq!(nearest("ASH", ["ash", "kurkin"]), ["ash"]);
    }

    #[test]
    fn nothing_is_suggested_for_nonsense() {
        assert!(nearest("xyzzy.plugh", ROWS).is_empty());
        assert!(nearest("", ROWS).is_empty());
        assert_eq!(suggestion("xyzzy.plugh", ROWS), "");
    }
}
