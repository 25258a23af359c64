//! How numbers of ranks are spread, and which ranks stand out.

use super::{BINS, Ranks, Surveyed};
use serde::{Deserialize, Serialize};

/// A rank stands out that is so many median absolute deviations from the median, or so many percent of it.
const DEVIATIONS: u64 = 3;
const PERCENT: u64 = 2;
/// Where ranks are nearly equal, the deviation says nothing: so many parts of the median never stand out.
const PART: u64 = 1000;

/// Quantiles over ranks: each is the number of one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    pub min: u64,
    pub p5: u64,
    pub median: u64,
    pub p95: u64,
    pub max: u64,
}

impl Spread {
    /// Of any numbers; `None` where there are none.
    pub fn of(mut numbers: Vec<u64>) -> Option<Spread> {
        numbers.sort_unstable();
        let of = |percent| quantile(&numbers, percent);
        Some(Spread { min: of(0)?, p5: of(5)?, median: of(50)?, p95: of(95)?, max: of(100)? })
    }
}

/// The smallest of ascending numbers that so many percent of them are not above.
pub fn quantile(ascending: &[u64], percent: usize) -> Option<u64> {
    let place = (ascending.len() * percent).div_ceil(100).saturating_sub(1);
    ascending.get(place).copied()
}

/// A rank whose peak is far from the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its place in [`Ranks::ranks`].
    pub at: u32,
    /// From the median, in bytes.
    pub delta: i64,
    /// The median absolute deviation of all.
    pub deviation: u64,
}

/// Places of the numbers that stand out, by how far, the furthest first, and the median absolute deviation.
fn outliers(numbers: &[(u32, u64)]) -> Vec<Outlier> {
    let median_of = |mut numbers: Vec<u64>| {
        numbers.sort_unstable();
        quantile(&numbers, 50).unwrap_or(0)
    };
    let median = median_of(numbers.iter().map(|&(_, number)| number).collect());
    let deviation = median_of(numbers.iter().map(|&(_, number)| number.abs_diff(median)).collect());
    let stands_out = |number: u64| {
        let apart = number.abs_diff(median);
        let is_far = apart > DEVIATIONS.saturating_mul(deviation) && apart > median / PART;
        is_far || u128::from(apart) * 100 > u128::from(median) * u128::from(PERCENT)
    };
    let found = numbers.iter().filter(|&&(_, number)| stands_out(number));
    let signed = |number: u64| i64::try_from(i128::from(number) - i128::from(median)).unwrap_or(i64::MAX);
    let mut found: Vec<Outlier> = found.map(|&(at, number)| Outlier { at, delta: signed(number), deviation }).collect();
    found.sort_by_key(|outlier| (std::cmp::Reverse(outlier.delta.unsigned_abs()), outlier.at));
    found
}

impl Ranks {
    /// Spreads, and what stands out.
    pub(super) fn spread(&mut self) {
        let peaks: Vec<(u32, u64)> =
            self.surveys().filter_map(|(at, rank, _)| Some((at as u32, rank.peak()?))).collect();
        self.outliers = outliers(&peaks);
        self.peak = Spread::of(peaks.iter().map(|&(_, peak)| peak).collect());
        let over = |of: fn(&Surveyed) -> &[u64], count: usize| -> Vec<Spread> {
            let all: Vec<&[u64]> =
                self.surveys().map(|(_, _, survey)| of(survey)).filter(|it| !it.is_empty()).collect();
            let at = |place: usize| Spread::of(all.iter().filter_map(|numbers| numbers.get(place)).copied().collect());
            (0..count).filter_map(at).collect()
        };
        let curve = over(|survey| &survey.curve, BINS as usize);
        let counts = self.surveys().map(|(_, _, survey)| survey.steps.len()).filter(|&count| count > 0);
        let steps = over(|survey| &survey.steps, counts.min().unwrap_or(0));
        (self.curve, self.steps) = (curve, steps);
    }
}
