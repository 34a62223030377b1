//! What machines do to the costs of commands that run on them.

use crate::dice::Dice;

#[derive(Clone, Copy, Debug)]
pub(crate) enum World {
    /// Independent, 5 % to either side.
    Even,
    /// A floor with an exponential tail.
    Skewed,
    /// The machine's speed wanders, 15 %, over some twenty runs.
    Drift,
    /// The machine is half as fast again for ten runs or so.
    States,
    /// A run in ten takes twice as long.
    Outliers,
}

pub(crate) const WORLDS: [World; 5] =
    [World::Even, World::Skewed, World::Drift, World::States, World::Outliers];

/// Interleaved runs of two commands; the second takes `ratio` times as long.
pub(crate) fn rounds(
    world: World,
    n: usize,
    ratio: f64,
    random: &mut Dice,
) -> (Vec<f64>, Vec<f64>) {
    let (mut wander, mut slow) = (0.15 * random.normal(), random.uniform() < 0.5);
    let mut once = || {
        wander = 0.95 * wander + 0.15 * (1.0_f64 - 0.95 * 0.95).sqrt() * random.normal();
        slow = if random.uniform() < 0.1 { !slow } else { slow };
        match world {
            World::Even => (0.05 * random.normal()).exp(),
            World::Skewed => 1.0 - 0.05 * (1.0 - random.uniform()).ln(),
            World::Drift => (wander + 0.02 * random.normal()).exp(),
            World::States => f64::from(u8::from(slow)) * 0.5 + 1.0 + 0.02 * random.normal(),
            World::Outliers => {
                let twice = if random.uniform() < 0.1 { 2.0 } else { 1.0 };
                twice * (0.03 * random.normal()).exp()
            }
        }
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..n {
        if round % 2 == 0 {
            a.push(once());
            b.push(ratio * once());
        } else {
            b.push(ratio * once());
            a.push(once());
        }
    }
    (a, b)
}
