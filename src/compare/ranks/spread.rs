//! Computes distributions over ranks, and finds outliers.

use super::answer::{Outlier, Rank, RankQuantiles, Ranks};
use super::survey::{BINS, RankSurvey};

// An outlier is what the question `odd_ranks` of `memscape fleet` calls odd: both rules have the same constants.

/// Minimum number of ranks. The median of fewer is not typical.
const MIN_RANKS: usize = 4;
/// Distance from the median, in median absolute deviations, that outliers exceed.
const DEVIATIONS: u64 = 5;
/// Divisor of the median (2 %): outliers are further from the median than the quotient as well.
pub(super) const PART: u64 = 50;

/// Returns twice the median: the sum of the two numbers in the middle, or twice the one.
fn twice_median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    let number = |place: usize| numbers.get(place).copied().unwrap_or(0);
    number(numbers.len().saturating_sub(1) / 2).saturating_add(number(numbers.len() / 2))
}

/// Returns the outliers among values, given with the indices of their ranks. Their differences are from `typical`, the
/// median that is shown, which is the value of one rank. The largest difference comes first.
fn outliers(numbers: &[(u32, u64)], typical: u64) -> Vec<Outlier> {
    if numbers.len() < MIN_RANKS {
        return Vec::new();
    }
    // Multiples are exact: a median or deviation may lie between two numbers.
    let median_2 = twice_median(numbers.iter().map(|&(_, number)| number).collect());
    let apart_2 = |number: u64| number.saturating_mul(2).abs_diff(median_2);
    let deviation_4 = twice_median(numbers.iter().map(|&(_, number)| apart_2(number)).collect());
    let is_far = |apart_2: u64| {
        apart_2.saturating_mul(2) > deviation_4.saturating_mul(DEVIATIONS) && apart_2.saturating_mul(PART) > median_2
    };
    let found = numbers.iter().filter(|&&(_, number)| is_far(apart_2(number)));
    let signed = |number: u64| i64::try_from(i128::from(number) - i128::from(typical)).unwrap_or(i64::MAX);
    let mut found: Vec<Outlier> = found
        .map(|&(index, number)| Outlier { at: index, delta: signed(number), deviation: deviation_4 / 4 })
        .collect();
    found.sort_by_key(|outlier| (std::cmp::Reverse(outlier.delta.unsigned_abs()), outlier.at));
    found
}

impl Ranks {
    /// Computes the distributions over ranks, and finds outliers.
    pub(super) fn spread(&mut self) {
        (self.peak, self.outliers) = self.judged(Rank::peak);
        (self.end, self.end_outliers) = self.judged(Rank::end);
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

    /// Computes the distribution of a value over ranks, and finds outliers.
    pub(super) fn judged(&self, value: fn(&Rank) -> Option<u64>) -> (Option<RankQuantiles>, Vec<Outlier>) {
        let numbers: Vec<(u32, u64)> =
            self.surveys().filter_map(|(at, rank, _)| Some((at as u32, value(rank)?))).collect();
        let spread = RankQuantiles::from_values(numbers.iter().map(|&(_, number)| number).collect());
        (spread, outliers(&numbers, spread.map_or(0, |spread| spread.median)))
    }
}
