//! Families of cloud types: types of one family share hardware, and differ in size.

use crate::record::{CloudType, Provider};

/// The type's name without its size: `c7a` of `c7a.24xlarge`, `Das_v5` of `Standard_D16as_v5`, `c3d-highmem`.
pub(super) fn type_family(record: &CloudType) -> String {
    let name = record.type_name.as_str();
    match record.provider {
        Provider::Aws | Provider::Alicloud => {
            name.rsplit_once('.').map_or(name, |(family, _)| family).into()
        }
        Provider::Azure => without_first_number(name.strip_prefix("Standard_").unwrap_or(name)),
        _ => {
            let words = name.split('-').take_while(|word| !begins_with_digit(word));
            let family = words.collect::<Vec<_>>().join("-");
            match family == name {
                true => name.trim_end_matches(|c: char| c.is_ascii_digit()).into(),
                false => family,
            }
        }
    }
}

/// What follows the letters that a family begins with, which tells generations of hardware apart: `7a` of `c7a`, `_v5`
/// of `Das_v5`.
pub(super) fn family_generation(family: &str) -> &str {
    let family = family.strip_prefix("ecs.").unwrap_or(family);
    family.trim_start_matches(|c: char| c.is_ascii_alphabetic())
}

fn begins_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Without the first number, and without the second of `E8-4as_v5`: CPUs, and those in use.
fn without_first_number(name: &str) -> String {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let Some(at) = name.find(|c: char| c.is_ascii_digit()) else {
        return name.into();
    };
    let (before, rest) = name.split_at(at);
    let rest = &rest[digits(rest)..];
    let in_use = rest.strip_prefix('-').filter(|rest| begins_with_digit(rest));
    let rest = in_use.map_or(rest, |in_use| &in_use[digits(in_use)..]);
    format!("{before}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_a_type_are_one_family() {
        let known = crate::cloud_types().expect("whole");
        for (name, family, generation) in [
            ("c7a.24xlarge", "c7a", "7a"),
            ("ecs.c8a.12xlarge", "ecs.c8a", "8a"),
            ("Standard_D16as_v5", "Das_v5", "_v5"),
            ("Standard_E8-4as_v5", "Eas_v5", "_v5"),
            ("c3d-highmem-60", "c3d-highmem", "3d-highmem"),
            ("b2-30", "b2", "2"),
            ("cpx41", "cpx", ""),
            ("2xCPU-2GB", "", ""),
        ] {
            let record = known.iter().find(|record| record.type_name == name).expect(name);
            assert_eq!(type_family(record), family);
            assert_eq!(family_generation(family), generation);
        }
    }
}
