//! How much memory each kind of worker gets.

use super::request::PlanError;
use crate::probe::MachineShape;

/// Workers for working sets above twice the last level, which are dear to
/// touch.
pub const LARGE_WORKERS: u32 = 3;

/// Bytes.
pub(super) const MIB: u64 = 1 << 20;

/// More than this is dear to touch, however large the last level is: such
/// working sets are the large workers'.
const SMALL_MOST: u64 = 128 * MIB;

/// The catalogue's largest working set: eight times the last level, at least
/// 256 MiB, at most 1 GiB.
pub(super) fn catalogue_largest(machine_shape: &MachineShape) -> u64 {
    (8 * machine_shape.last_level_bytes).clamp(256 * MIB, 1024 * MIB)
}

/// How much memory each kind of worker gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room {
    pub(super) small_bytes: u64,
    pub(super) large_bytes: u64,
    pub(super) base_bytes: u64,
}

impl Room {
    /// Fits the workers' buffers into seven tenths of the memory that may be
    /// used. When it is short, the ordinary workers' buffers shrink first (the
    /// large workers take over what no longer fits), then the largest.
    pub(super) fn fit(
        machine_shape: &MachineShape,
        usable: u64,
        workers: u32,
    ) -> Result<Room, PlanError> {
        let budget = usable / 10 * 7;
        let large_workers = u64::from(LARGE_WORKERS.min(workers));
        let small_workers = u64::from(workers) - large_workers;
        let need = |room: &Room| {
            // 4 bytes of order for each line of 64.
            let buffers = large_workers * room.large_bytes
                + small_workers * (room.small_bytes + room.base_bytes);
            buffers / 16 * 17 + u64::from(workers) * 6 * MIB
        };
        let least_small = (8 * machine_shape.l2_bytes).next_multiple_of(2 * MIB);
        let mut room = Room {
            small_bytes: (2 * machine_shape.last_level_bytes).min(SMALL_MOST.max(least_small)),
            large_bytes: catalogue_largest(machine_shape),
            base_bytes: 64 * MIB,
        };
        while need(&room) > budget {
            if room.small_bytes / 2 >= least_small {
                room.small_bytes /= 2;
                room.base_bytes = room.base_bytes.min(room.small_bytes).max(4 * MIB);
            } else if room.large_bytes > 16 * MIB {
                room.large_bytes = (room.large_bytes / 4 * 3).next_multiple_of(2 * MIB);
            } else {
                return Err(PlanError::NoMemory {
                    usable: model::size::about(usable),
                    needed: model::size::about(need(&room).div_ceil(7) * 10),
                });
            }
        }
        room.small_bytes = room.small_bytes.min(room.large_bytes);
        Ok(room)
    }
}
