//! Sets of CPUs as the kernel writes them: lists and masks
//! (`Documentation/core-api/irq/irq-affinity.rst`).

use sys::files::cpu_list;

/// `0-3,8`: a list as the kernel prints it.
pub fn cpu_ranges(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    texts.join(",")
}

/// The CPUs of a list, sorted, each once.
pub(crate) fn parse_cpus(list: &str) -> Option<Vec<u32>> {
    let mut cpus = cpu_list(list)?;
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// `CPU 1`, `CPUs 0-3, 8`, `no CPU`.
pub(crate) fn in_words(cpus: &[u32]) -> String {
    match cpus {
        [] => "no CPU".to_owned(),
        [one] => format!("CPU {one}"),
        many => format!("CPUs {}", cpu_ranges(many).replace(',', ", ")),
    }
}

/// `ff,ffffffff`: a mask as the kernel prints it, in groups of 32 bits.
pub(crate) fn mask(cpus: &[u32]) -> String {
    let groups = cpus.iter().max().map_or(1, |&most| most as usize / 32 + 1);
    let mut words = vec![0_u32; groups];
    for &cpu in cpus {
        words[cpu as usize / 32] |= 1 << (cpu % 32);
    }
    let mut words = words.iter().rev();
    let first = words.next().map_or(String::new(), |word| format!("{word:x}"));
    words.fold(first, |text, word| format!("{text},{word:08x}"))
}

/// The CPUs of a mask, with or without commas.
pub(crate) fn of_mask(mask: &str) -> Option<Vec<u32>> {
    let digits: Vec<char> = mask.trim().chars().filter(|c| *c != ',').collect();
    let mut cpus = Vec::new();
    for (place, digit) in digits.iter().rev().enumerate() {
        let bits = digit.to_digit(16)?;
        let first = u32::try_from(place).ok()?.checked_mul(4)?;
        cpus.extend((0..4).filter(|bit| bits >> bit & 1 == 1).map(|b| first + b));
    }
    (!digits.is_empty()).then_some(cpus)
}

/// `cpus` without those in `taken`.
pub(crate) fn without(cpus: &[u32], taken: &[u32]) -> Vec<u32> {
    let mut left = cpus.to_vec();
    left.retain(|cpu| !taken.contains(cpu));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_are_those_of_the_kernel() {
        assert_eq!(cpu_ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(in_words(&[0, 1, 2, 8]), "CPUs 0-2, 8");
        assert_eq!(cpu_ranges(&[]), "");
        assert_eq!(parse_cpus("0-2,5,1"), Some(vec![0, 1, 2, 5]));
        assert_eq!(mask(&[0, 1]), "3");
        assert_eq!(mask(&[0, 32, 33]), "3,00000001");
        assert_eq!(mask(&[]), "0");
        for cpus in [vec![], vec![5], vec![0, 31, 32, 95]] {
            assert_eq!(of_mask(&mask(&cpus)), Some(cpus));
        }
        assert_eq!(of_mask("100000000"), of_mask("00000001,00000000"));
        assert_eq!((of_mask("x"), of_mask("")), (None, None));
    }
}
