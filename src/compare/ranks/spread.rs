//! Computes distributions over ranks, and finds outliers.

use super::answer::{Outlier, RankQuantiles, Ranks, quantile};
use super::survey::{BINS, RankSurvey};

/// Distance from the median, in median absolute deviations, above which a rank is an outlier.
const DEVIATIONS: u64 = 3;
/// Distance from the median, in percent, above which a rank is an outlier. Either threshold suffices.
const PERCENT: u64 = 2;
/// Divisor of the median. Smaller distances than the quotient do not count as outliers by deviation, because the
/// deviation is tiny if ranks are nearly equal.
const PART: u64 = 1000;

/// Returns the outliers among the peaks, given as indices and values. The one furthest from the median comes first.
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
    let mut found: Vec<Outlier> =
        found.map(|&(index, number)| Outlier { at: index, delta: signed(number), deviation }).collect();
    found.sort_by_key(|outlier| (std::cmp::Reverse(outlier.delta.unsigned_abs()), outlier.at));
    found
}

impl Ranks {
    /// Computes the distributions over ranks, and finds outliers.
    pub(super) fn spread(&mut self) {
        let peaks: Vec<(u32, u64)> =
            self.surveys().filter_map(|(at, rank, _)| Some((at as u32, rank.peak()?))).collect();
        self.outliers = outliers(&peaks);
        self.peak = RankQuantiles::from_values(peaks.iter().map(|&(_, peak)| peak).collect());
        let distribution = |values: fn(&RankSurvey) -> &[u64], count: usize| -> Vec<RankQuantiles> {
            let all: Vec<&[u64]> =
                self.surveys().map(|(_, _, survey)| values(survey)).filter(|it| !it.is_empty()).collect();
            let at = |place: usize| {
                RankQuantiles::from_values(all.iter().filter_map(|numbers| numbers.get(place)).copied().collect())
            };
            (0..count).filter_map(at).collect()
        };
        let curve = distribution(|survey| &survey.curve, BINS as usize);
        let counts = self.surveys().map(|(_, _, survey)| survey.steps.len()).filter(|&count| count > 0);
        let steps = distribution(|survey| &survey.steps, counts.min().unwrap_or(0));
        (self.curve, self.steps) = (curve, steps);
    }
}
