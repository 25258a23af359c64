//! A figure: the same thing measured several times, told by its median, its best and its spread.

use std::fmt;

/// Measurements of one thing, in one unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figure {
    /// In ascending order.
    values: Vec<f64>,
}

impl Figure {
    /// The lower one of the two in the middle of an even number; `None` where nothing was measured.
    pub(crate) fn median(&self) -> Option<f64> {
        self.values.get(self.values.len().checked_sub(1)? / 2).copied()
    }

    /// The largest.
    pub(crate) fn worst(&self) -> Option<f64> {
        self.values.last().copied()
    }

    /// The one that so many in a hundred do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Option<f64> {
        self.values.get((self.values.len() * percent / 100).min(self.values.len().checked_sub(1)?)).copied()
    }

    /// How far the largest is above the smallest, in percent of the smallest.
    fn spread_percent(&self) -> Option<f64> {
        Some((self.values.last()? / self.values.first()? - 1.0) * 100.0)
    }

    /// The median of this as a multiple of another's.
    pub(crate) fn over(&self, other: &Figure) -> Option<f64> {
        Some(self.median()? / other.median()?)
    }
}

impl FromIterator<f64> for Figure {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Figure { values }
    }
}

/// `0.274 | 0.261 | 8 %`: median, best and spread, as cells of a table.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.median(), self.spread_percent()) {
            (Some(median), Some(spread)) if self.values.len() > 1 => {
                write!(f, "{} | {} | {spread:.0} %", digits(median), digits(self.values[0]))
            }
            (Some(median), _) => write!(f, "{} | once |", digits(median)),
            (None, _) => write!(f, "– | |"),
        }
    }
}

/// A number with three significant digits, as long as it has no more than three before the point.
pub(crate) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
