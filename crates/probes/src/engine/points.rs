//! Where curves have their points.

use meter::probe::MachineShape;
use model::run::Scale;

/// Sizes from `from` to `to` bytes, `per_octave` to the octave, each a
/// multiple of `step`; both ends included where they fit.
pub(crate) fn octaves(from: u64, to: u64, per_octave: u32, step: u64) -> Vec<u64> {
    let mut points = Vec::new();
    let mut k = 0;
    loop {
        let exact = from as f64 * 2_f64.powf(f64::from(k) / f64::from(per_octave));
        let bytes = (exact / step as f64).round() as u64 * step;
        if bytes > to {
            return points;
        }
        if points.last() != Some(&bytes) && bytes > 0 {
            points.push(bytes);
        }
        k += 1;
    }
}

/// Points per octave of curves that are not the main one.
pub(crate) fn coarse(scale: Scale) -> u32 {
    match scale {
        Scale::Quick | Scale::Default => 1,
        Scale::Full => 2,
    }
}

/// Working sets of streaming curves, 4 KiB to the largest. A quick run has
/// one point a level.
pub(crate) fn streaming(machine: &MachineShape, scale: Scale) -> Vec<u64> {
    if scale == Scale::Quick {
        return levels(machine);
    }
    octaves(4096, machine.largest_bytes, coarse(scale), 4096)
}

/// One working set well inside each level: half of each cache that has
/// another beyond it, a quarter of the last (which is shared), and the
/// largest.
pub(crate) fn levels(machine: &MachineShape) -> Vec<u64> {
    let page = |bytes: u64| (bytes / 4096).max(1) * 4096;
    let mut points = vec![page(machine.l1_bytes / 2), page(machine.l2_bytes / 2)];
    if machine.last_level_bytes > machine.l2_bytes {
        points.push(page(machine.last_level_bytes / 4));
    }
    points.push(page(machine.largest_bytes));
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_curve_has_73_points() {
        let points = octaves(1024, 256 << 20, 4, 64);
        assert_eq!(points.len(), 73);
        assert_eq!(points[0], 1024);
        assert_eq!(points[72], 256 << 20);
        assert!(points.is_sorted());
        assert!(points.iter().all(|p| p.is_multiple_of(64)));
    }
}
