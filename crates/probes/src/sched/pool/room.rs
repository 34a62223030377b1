//! How large the buffers may be.

use meter::probe::{MachineShape, WorkError};

/// What each thread sums.
pub(super) const BUFFER_BYTES: u64 = 10 << 20;
/// Where memory is short, that is halved so many times at most.
const HALVINGS: u32 = 6;

/// Bytes for each of these threads.
///
/// Room for one largest working set more is always left besides the workers'
/// buffers (the plan takes seven tenths of the memory, three such sets at
/// most). More than that is taken where there is much more; and otherwise
/// the buffers shrink to it, to the same size in all workers.
pub(super) fn thread_share(
    threads: u64,
    machine: &MachineShape,
    usable: u64,
) -> Result<u64, WorkError> {
    let fits = |bytes: &u64| bytes * threads <= machine.largest_bytes;
    if fits(&BUFFER_BYTES) && BUFFER_BYTES * threads <= usable
        || BUFFER_BYTES * threads <= usable / 2
    {
        return Ok(BUFFER_BYTES);
    }
    (1..=HALVINGS)
        .map(|halvings| BUFFER_BYTES >> halvings)
        .find(fits)
        .filter(|bytes| bytes * threads <= usable)
        .ok_or_else(|| {
            format!(
                "only {} of memory may be used: too little for a buffer for each of {threads} threads",
                model::size::about(usable)
            )
        }).map_err(WorkError::from)
}

/// What to say of buffers that were made smaller.
pub(super) fn shortage(threads: u64, bytes: u64, machine: &MachineShape) -> Option<String> {
    let in_mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    (bytes < BUFFER_BYTES).then(|| {
        format!(
            "each of {threads} threads sums {}MiB instead of {}MiB: memory is short, so together they take no more than the largest working set, {}",
            in_mib(bytes),
            in_mib(BUFFER_BYTES),
            model::size::format_size(machine.largest_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine_with_limit(largest_bytes: u64) -> MachineShape {
        MachineShape { largest_bytes, cpus: vec![0, 1], ..MachineShape::default() }
    }

    #[test]
    fn buffers_shrink_only_where_memory_is_short() {
        const MIB: u64 = 1 << 20;
        const PLENTY: u64 = 16 << 30;
        let of =
            |threads, largest, usable| thread_share(threads, &machine_with_limit(largest), usable);
        assert_eq!(of(16, 256 * MIB, PLENTY), Ok(10 * MIB));
        assert_eq!(of(64, 256 * MIB, PLENTY), Ok(10 * MIB));
        // Beyond what the plan leaves, half of what may be used is too much.
        assert_eq!(of(64, 256 * MIB, 1200 * MIB), Ok(5 * MIB / 2));
        assert_eq!(of(16, 256 * MIB, 200 * MIB), Ok(10 * MIB));
        assert_eq!(of(16, 64 * MIB, 200 * MIB), Ok(5 * MIB / 2));
        let error = of(16, 64 * MIB, 30 * MIB).expect_err("too little");
        assert!(error.to_string().contains("only 30.0MiB"), "{error}");
        assert!(of(64, 4 * MIB, 30 * MIB).is_err());
    }

    #[test]
    fn shrunk_buffers_are_reported() {
        assert_eq!(
            shortage(16, 5 << 19, &machine_with_limit(40 << 20)).as_deref(),
            Some(
                "each of 16 threads sums 2.5MiB instead of 10MiB: memory is short, so together they take no more than the largest working set, 40MiB"
            )
        );
        assert_eq!(shortage(16, 10 << 20, &machine_with_limit(40 << 20)), None);
    }
}
