//! One run's figure of a row as comparisons read it: on the logarithmic scale, with its variance.

use crate::movement::NORMAL_975;
use crate::stats::{self, Interval};

/// A variance, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// Of the logarithm: 0.0001 is a standard deviation of 1 %.
    pub value: f64,
    /// Degrees of freedom of its estimate; infinite where it is known.
    pub df: f64,
}

/// What the interval of a figure is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Values whose spread gave it its width: workers, runs, samples.
    pub values: u32,
    /// As how many independent ones they count: what is measured one after
    /// the other resembles what came before.
    pub independent: u32,
}

impl Repeats {
    /// Values that don't depend on each other.
    pub fn independent(values: u32) -> Repeats {
        Repeats { values, independent: values }
    }
}

/// One run's figure of a row, on the logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Logarithm of the figure.
    pub ln: f64,
    /// Of it, within this run: from its interval over worker processes.
    pub within: Variance,
}

impl Reading {
    /// From a figure whose 95 % interval is of Student's t over this many
    /// workers (or wider, such as that of a median by order statistics). A
    /// relative width becomes one of the logarithm to first order. `None` for
    /// a figure that is not above 0: it has no ratio.
    pub fn from_interval(figure: &Interval, workers: u32) -> Option<Reading> {
        Reading::of_repeats(figure, Repeats::independent(workers))
    }

    /// The same where the values count as fewer independent ones: the width is
    /// read as of all of them (of fewer it would be read as a smaller
    /// deviation), and known as well as from the independent ones.
    pub fn of_repeats(figure: &Interval, repeats: Repeats) -> Option<Reading> {
        let half = (figure.value - figure.low).max(figure.high - figure.value);
        let degrees = |count: u32| count.checked_sub(1).filter(|&df| df > 0);
        let df = degrees(repeats.independent)?;
        let of_width = degrees(repeats.values)?;
        let deviation = half / figure.value / stats::t_quantile_975(of_width as usize);
        (figure.value > 0.0 && deviation.is_finite()).then(|| Reading {
            ln: figure.value.ln(),
            within: Variance { value: deviation * deviation, df: f64::from(df) },
        })
    }

    /// A published figure, with half of its 95 % interval as a logarithm; where it came without one, it adds none.
    pub fn published(value: f64, error_ln: f64) -> Option<Reading> {
        let deviation = error_ln / NORMAL_975;
        (value > 0.0 && value.is_finite()).then(|| Reading {
            ln: value.ln(),
            within: Variance { value: deviation * deviation, df: f64::INFINITY },
        })
    }
}
