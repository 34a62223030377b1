//! How much memory a measurement may take.

pub use crate::platform::memory::{available_memory, peak_resident_bytes};

/// What bounds the memory of this process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLimits {
    /// All memory the kernel manages.
    pub physical_bytes: u64,
    /// What the kernel thinks can be had without swapping (MemAvailable).
    pub available_bytes: u64,
    /// The tightest limit of the control groups this process is in (versions
    /// 1 and 2, ancestors too); `None` where none is set.
    pub cgroup_limit_bytes: Option<u64>,
    /// What the group with that limit uses, page cache it could drop not counted.
    pub cgroup_usage_bytes: Option<u64>,
    /// The least that any limited group above this process has left: less
    /// than limit minus usage where an ancestor is tighter.
    pub cgroup_headroom_bytes: Option<u64>,
    /// Limit on the address space (`ulimit -v`); `None` where none is set.
    pub rlimit_as_bytes: Option<u64>,
    /// Address space in use.
    pub address_space_bytes: Option<u64>,
}

impl MemoryLimits {
    /// The least of the bounds that apply: asking for more than this ends in
    /// swapping, a refused mapping or a kill. A caller leaves a margin.
    pub fn usable_bytes(&self) -> u64 {
        let address_space = self
            .rlimit_as_bytes
            .map(|limit| limit.saturating_sub(self.address_space_bytes.unwrap_or(0)));
        [self.cgroup_headroom_bytes, address_space]
            .into_iter()
            .flatten()
            .fold(self.available_bytes, u64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_is_the_least_that_applies() {
        let none =
            MemoryLimits { physical_bytes: 1000, available_bytes: 800, ..MemoryLimits::default() };
        assert_eq!(none.usable_bytes(), 800);
        let cgroup = MemoryLimits {
            cgroup_limit_bytes: Some(700),
            cgroup_headroom_bytes: Some(500),
            ..none
        };
        assert_eq!(cgroup.usable_bytes(), 500);
        let rlimit =
            MemoryLimits { rlimit_as_bytes: Some(600), address_space_bytes: Some(150), ..cgroup };
        assert_eq!(rlimit.usable_bytes(), 450);
        let full = MemoryLimits { address_space_bytes: Some(601), ..rlimit };
        assert_eq!(full.usable_bytes(), 0);
    }
}
