//! The modes of a round trip: between which CPUs its hand-offs went.

/// Names of the modes: where the two hand-offs of a round trip went.
pub(super) const MODES: [&str; 3] = ["same CPU", "other CPU", "moved"];
pub(super) const SAME_CPU: u8 = 0;
pub(super) const OTHER_CPU: u8 = 1;
pub(super) const MOVED: u8 = 2;

/// The mode of a round trip: the CPU on which the first thread gave, the one
/// on which the second took and gave, the one on which the first took.
pub(super) fn mode(gave: u32, partner: u32, took: u32) -> u8 {
    match (gave == partner, partner == took) {
        (true, true) => SAME_CPU,
        (false, false) => OTHER_CPU,
        _ => MOVED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_told_by_both_hand_offs() {
        assert_eq!(mode(1, 1, 1), SAME_CPU);
        assert_eq!(mode(0, 1, 0), OTHER_CPU);
        assert_eq!(mode(0, 1, 1), MOVED, "the first thread came over");
        assert_eq!(mode(1, 1, 0), MOVED);
        assert_eq!(mode(0, 1, 2), OTHER_CPU);
    }
}
