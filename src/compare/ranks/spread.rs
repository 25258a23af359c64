//! How numbers of ranks are spread, and which ranks stand out.

use super::answer::{Outlier, Ranks, Spread, quantile};
use super::survey::{BINS, Surveyed};

/// A rank stands out that is so many median absolute deviations from the median, or so many percent of it.
const DEVIATIONS: u64 = 3;
const PERCENT: u64 = 2;
/// Where ranks are nearly equal, the deviation says nothing: so many parts of the median never stand out.
const PART: u64 = 1000;

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
