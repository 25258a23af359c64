//! Repeated measurements of one quantity, with median, best and spread.

use std::fmt;

/// Measurements of one quantity, in one unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figure {
    /// Values in ascending order.
    values: Vec<f64>,
}

impl Figure {
    /// Median; of an even number of values the lower one in the middle. `None` without measurements.
    pub(crate) fn median(&self) -> Option<f64> {
        self.values.get(self.values.len().checked_sub(1)? / 2).copied()
    }

    /// Largest value.
    pub(crate) fn worst(&self) -> Option<f64> {
        self.values.last().copied()
    }

    /// Value that this percentage of all values does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Option<f64> {
        self.values.get((self.values.len() * percent / 100).min(self.values.len().checked_sub(1)?)).copied()
    }

    /// Smallest value.
    pub(crate) fn best(&self) -> Option<f64> {
        self.values.first().copied()
    }

    /// Difference between the largest and the smallest value, in percent of the smallest.
    fn spread_percent(&self) -> Option<f64> {
        Some((self.values.last()? / self.values.first()? - 1.0) * 100.0)
    }

    /// Ratio of the median to that of another figure.
    pub(crate) fn ratio_to(&self, other: &Figure) -> Option<f64> {
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
                write!(f, "{} | {} | {spread:.0} %", three_digits(median), three_digits(self.values[0]))
            }
            (Some(median), _) => write!(f, "{} | once |", three_digits(median)),
            (None, _) => write!(f, "– | |"),
        }
    }
}

/// Formats a number with three significant digits; larger integer parts are kept.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
