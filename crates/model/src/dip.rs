//! Hartigan's dip: how far sorted values are from any distribution with one
//! mode (Hartigan and Hartigan, Annals of Statistics 13, 1985, 70-84;
//! algorithm AS 217, Applied Statistics 34, 1985, 320-325, with the later
//! correction of its loop's end).

/// Greatest distance between the empirical distribution of these values and
/// the nearest one with a single mode; between 1 / (2 n) and 1/4.
pub(crate) fn dip(x: &[f64]) -> f64 {
    let n = x.len();
    if n < 4 || x[0] == x[n - 1] {
        return 0.5 / n.max(1) as f64;
    }
    // Where the convex minorant of the points up to each one comes from, and
    // the concave majorant of the points from each one on goes to.
    let mut minorant = vec![0_usize; n];
    for j in 1..n {
        let mut to = j - 1;
        while to != 0 {
            let next = minorant[to];
            let steeper =
                (x[j] - x[to]) * ((to - next) as f64) < (x[to] - x[next]) * ((j - to) as f64);
            if steeper {
                break;
            }
            to = next;
        }
        minorant[j] = to;
    }
    let mut majorant = vec![n - 1; n];
    for k in (0..n - 1).rev() {
        let mut to = k + 1;
        while to != n - 1 {
            let next = majorant[to];
            let flatter =
                (x[to] - x[k]) * ((next - to) as f64) < (x[next] - x[to]) * ((to - k) as f64);
            if flatter {
                break;
            }
            to = next;
        }
        majorant[k] = to;
    }
    // In units of 1 / (2 n) until the end.
    let (mut low, mut high, mut found) = (0, n - 1, 1.0_f64);
    loop {
        // The minorant from `high` down to `low`, the majorant up again.
        let mut down = vec![high];
        while let Some(&last) = down.last()
            && last > low
        {
            down.push(minorant[last]);
        }
        let mut up = vec![low];
        while let Some(&last) = up.last()
            && last < high
        {
            up.push(majorant[last]);
        }
        let (farthest, at_down, at_up) = between(x, &down, &up);
        if farthest < found {
            break;
        }
        let below = down[at_down..]
            .windows(2)
            .map(|pair| bulge(x, pair[1], pair[0], 1.0))
            .fold(0.0, f64::max);
        let above =
            up[at_up..].windows(2).map(|pair| bulge(x, pair[0], pair[1], -1.0)).fold(0.0, f64::max);
        found = found.max(below).max(above);
        if low == down[at_down] && high == up[at_up] {
            break;
        }
        (low, high) = (down[at_down], up[at_up]);
    }
    found / (2.0 * n as f64)
}

/// The greatest distance between the minorant and the majorant, and which
/// points of theirs bound it.
fn between(x: &[f64], down: &[usize], up: &[usize]) -> (f64, usize, usize) {
    let (mut at_down, mut at_up) = (down.len() - 1, up.len() - 1);
    if down.len() == 2 && up.len() == 2 {
        return (1.0, at_down, at_up);
    }
    let (mut i, mut v, mut farthest) = (down.len() - 2, 1, 0.0_f64);
    loop {
        let (lower, upper) = (down[i], up[v]);
        if lower > upper {
            let before = down[i + 1];
            let slope = (lower - before) as f64 / (x[lower] - x[before]);
            let distance = upper as f64 - before as f64 + 1.0 - (x[upper] - x[before]) * slope;
            v += 1;
            if distance >= farthest {
                (farthest, at_down, at_up) = (distance, i + 1, v - 1);
            }
        } else {
            let before = up[v - 1];
            let slope = (upper - before) as f64 / (x[upper] - x[before]);
            let distance = (x[lower] - x[before]) * slope - (lower as f64 - before as f64 - 1.0);
            let was = i;
            i = i.saturating_sub(1);
            if distance >= farthest {
                (farthest, at_down, at_up) = (distance, was, v);
            }
        }
        v = v.min(up.len() - 1);
        if down[i] == up[v] {
            return (farthest, at_down, at_up);
        }
    }
}

/// How far the points from one to another lie off the line between these two:
/// above it (`side` 1), or below it (-1).
fn bulge(x: &[f64], from: usize, to: usize, side: f64) -> f64 {
    if to - from <= 1 || x[to] == x[from] {
        return 1.0;
    }
    let slope = (to - from) as f64 / (x[to] - x[from]);
    (from..=to)
        .map(|k| {
            let off = (k - from) as f64 - (x[k] - x[from]) * slope;
            off * side + 1.0
        })
        .fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::dip;

    #[test]
    fn evenly_spread_values_have_the_smallest_dip() {
        let even: Vec<f64> = (0..50).map(f64::from).collect();
        assert!((dip(&even) - 0.01).abs() < 1e-12, "{}", dip(&even));
        assert_eq!(dip(&[3.0; 9]), 0.5 / 9.0);
    }

    #[test]
    fn two_points_have_the_largest() {
        let mut two = vec![1.0; 20];
        two.extend([2.0; 20]);
        assert!((dip(&two) - 0.25).abs() < 1e-12, "{}", dip(&two));
        // A tenth of the values apart: half of that share.
        let mut few = (0..180).map(|k| 1.0 + 0.001 * f64::from(k)).collect::<Vec<_>>();
        few.extend((0..20).map(|k| 5.0 + 0.001 * f64::from(k)));
        assert!((dip(&few) - 0.05).abs() < 0.01, "{}", dip(&few));
    }

    #[test]
    fn it_is_that_of_the_published_example() {
        // R's diptest, data set statfaculty: dip 0.05952381.
        let faculty = [
            30.0, 33.0, 35.0, 36.0, 37.0, 37.0, 39.0, 39.0, 39.0, 39.0, 39.0, 40.0, 40.0, 40.0,
            40.0, 41.0, 42.0, 43.0, 43.0, 43.0, 44.0, 44.0, 45.0, 45.0, 46.0, 47.0, 47.0, 48.0,
            48.0, 48.0, 49.0, 50.0, 50.0, 51.0, 52.0, 52.0, 53.0, 53.0, 53.0, 53.0, 53.0, 54.0,
            54.0, 57.0, 57.0, 59.0, 60.0, 60.0, 60.0, 61.0, 61.0, 61.0, 61.0, 62.0, 62.0, 62.0,
            62.0, 63.0, 66.0, 70.0, 72.0, 72.0, 76.0,
        ];
        assert_eq!(faculty.len(), 63);
        assert!((dip(&faculty) - 0.059_523_81).abs() < 1e-6, "{}", dip(&faculty));
    }
}
