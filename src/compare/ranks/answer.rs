//! Result of comparing many ranks, as plain data for the page and the command line.

use super::name::ParsedName;
use super::survey::RankSurvey;
use base::sorted::sorted_numbers;
use serde::{Deserialize, Serialize};

/// A rank with the result of scanning its snapshot, or the reason why it could not be scanned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    pub rank: Option<u32>,
    /// True if `rank` is the position in the order of the files, because no file name contains a rank.
    pub is_numbered: bool,
    pub host: Option<String>,
    pub step: Option<u64>,
    /// Name of the file. Empty if the rank has no file.
    pub file: String,
    /// Index of the file in the list of all files.
    pub place: Option<u32>,
    /// Index of the snapshot within its file, if the file contains several.
    pub member: Option<u32>,
    /// True if the file name says that the file was written because of an out-of-memory error.
    pub is_oom: bool,
    /// True if the file name says that the file was written when the program exited.
    pub is_exit: bool,
    /// Coordinates in the device mesh, such as `tp`, `pp` and `dp`, from the recorder or the file name.
    pub coords: Vec<(String, String)>,
    pub survey: Option<RankSurvey>,
    /// Reason why the snapshot could not be scanned.
    pub error: Option<String>,
    /// Index of the rank's group in [`Ranks::groups`].
    pub group: Option<u32>,
}

impl Rank {
    /// Creates a rank that is not scanned yet, from a file and its parsed name.
    pub fn from_file(file: String, named: ParsedName) -> Rank {
        let ParsedName { rank, step, host, is_oom, is_exit, coords } = named;
        Rank { rank, step, host, is_oom, is_exit, coords, file, ..Rank::default() }
    }

    /// Adds the result of a scan. Values from the recorder override values from the file name.
    #[must_use]
    pub fn with_survey(mut self, survey: RankSurvey) -> Rank {
        for (key, value) in &survey.recorder {
            match &**key {
                "rank" => self.rank = value.parse().ok().or(self.rank),
                "host" => self.host = Some(value.clone()),
                "step" => self.step = value.parse().ok().or(self.step),
                "reason" => {
                    self.is_oom |= value == "oom";
                    self.is_exit |= value == "exit";
                }
                "tp" | "pp" | "dp" | "ep" | "cp" => self.set_coordinate(key, value),
                _ => {
                    let name = key.strip_prefix("mesh.").or_else(|| key.strip_prefix("coords."));
                    name.into_iter().for_each(|name| self.set_coordinate(name, value));
                }
            }
        }
        self.survey = Some(survey);
        self
    }

    fn set_coordinate(&mut self, name: &str, value: &str) {
        self.coords.retain(|(known, _)| known != name);
        self.coords.push((name.to_owned(), value.to_owned()));
    }

    /// Returns a coordinate of the rank in the device mesh, such as `pp`, if it is known and is a number.
    pub fn coordinate(&self, name: &str) -> Option<u64> {
        self.coords.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.parse().ok())
    }

    /// Adds the reason why the snapshot could not be scanned.
    #[must_use]
    pub fn with_error(mut self, error: String) -> Rank {
        self.error = Some(error);
        self
    }

    /// Returns the peak of live (requested) bytes, or `None` if the rank was not scanned.
    pub fn peak(&self) -> Option<u64> {
        self.survey.as_ref().and_then(|survey| u64::try_from(survey.peak_requested).ok())
    }

    /// Returns the peak of reserved bytes, or `None` if the rank was not scanned.
    pub fn peak_reserved(&self) -> Option<u64> {
        self.survey.as_ref().and_then(|survey| u64::try_from(survey.peak_reserved).ok())
    }

    /// Returns the live (requested) bytes at the end, or `None` if the rank was not scanned.
    pub fn end(&self) -> Option<u64> {
        self.survey.as_ref().map(|survey| survey.end_requested)
    }

    /// Returns the title with the file name if the rank was only numbered: `rank 0 (before.pickle)`.
    pub fn title_with_file(&self) -> String {
        if self.is_numbered { [&self.title(), " (", &*self.file, ")"].concat() } else { self.title() }
    }

    /// Returns a title such as `rank 7`, or the file name if the rank is unknown.
    pub fn title(&self) -> String {
        self.rank.map_or_else(|| self.file.clone(), |rank| format!("rank {rank}"))
    }
}

/// The rank that ran out of memory first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOom {
    /// Index of the rank in [`Ranks::ranks`].
    pub at: u32,
    /// Number of ranks that ran out of memory.
    pub ranks: u32,
    /// True if all ranks that ran out of memory recorded the time. Otherwise, the lowest of these ranks counts as the
    /// first.
    pub is_by_time: bool,
    /// Minimum and maximum live bytes of the other ranks at that time, and the number of these ranks.
    pub others: Option<(u64, u64, u32)>,
}

/// Result of comparing all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranks {
    /// All ranks, sorted by rank, host and file. Files with an unknown rank come last.
    pub ranks: Vec<Rank>,
    /// True if some files are not scanned yet or were omitted, so that missing ranks are not known.
    pub is_partial: bool,
    /// Names of files that belong to other steps of the same ranks. They are not compared.
    pub left_out: Vec<String>,
    /// Groups of ranks with similar memory use, largest first.
    pub groups: Vec<Group>,
    /// Ranks whose peaks are far from the median.
    pub outliers: Vec<Outlier>,
    /// Ranks whose live bytes at the end are far from the median.
    pub end_outliers: Vec<Outlier>,
    /// Distribution of the peaks over ranks.
    pub peak: Option<RankQuantiles>,
    /// Distribution of the live bytes at the end over ranks.
    pub end: Option<RankQuantiles>,
    /// Distribution of the live bytes over ranks, for each of [`BINS`](super::BINS) equal parts of the traces.
    pub curve: Vec<RankQuantiles>,
    /// Distribution of the peaks over ranks, for each step. Stops after the number of steps that every rank with steps
    /// has.
    pub steps: Vec<RankQuantiles>,
    pub first_oom: Option<FirstOom>,
    /// Notes about the files, as sentences.
    pub notes: Vec<String>,
    pub verdict: Vec<String>,
}

impl Ranks {
    /// Returns the scanned ranks with their indices in [`Ranks::ranks`].
    pub fn surveys(&self) -> impl Iterator<Item = (usize, &Rank, &RankSurvey)> {
        self.ranks.iter().enumerate().filter_map(|(index, rank)| Some((index, rank, rank.survey.as_ref()?)))
    }

    /// Returns the indices of all ranks. Those that could not be read, ran out of memory or are outliers come first.
    pub fn most_important_first(&self) -> Vec<usize> {
        let is_oom = |rank: &Rank| rank.survey.as_ref().is_some_and(|survey| survey.out_of_memory.is_some());
        let stands_out = |index: &usize| {
            self.outliers.iter().chain(&self.end_outliers).any(|it| it.at as usize == *index)
                || self.ranks.get(*index).is_some_and(|rank| rank.error.is_some() || is_oom(rank))
        };
        let (first, rest): (Vec<usize>, Vec<usize>) = (0..self.ranks.len()).partition(stands_out);
        [first, rest].concat()
    }

    /// Returns true if the rank's peak is far from the median.
    pub(super) fn differs_at_peak(&self, index: usize) -> bool {
        self.outliers.iter().any(|it| it.at as usize == index)
    }

    /// Returns true if the rank differs from the others at the end, but not at the peak.
    pub fn differs_only_at_end(&self, index: usize) -> bool {
        self.end_outliers.iter().any(|it| it.at as usize == index) && !self.differs_at_peak(index)
    }

    /// Returns the index of the rank to compare a rank with: the one with the median peak of its group, or, for this
    /// rank itself, the one with the nearest peak. A rank without others in its group is compared with the largest
    /// group. A rank that differs at the end is compared with one that does not. If the group has no such rank, the
    /// nearest peak of all ranks decides. `None` if no other rank was scanned.
    pub fn median_of(&self, index: usize) -> Option<usize> {
        let own_group = self.ranks.get(index)?.group?;
        let alone = self.groups.get(own_group as usize).is_none_or(|group| group.ranks.len() < 2);
        let group = self.groups.get(if alone { 0 } else { own_group as usize })?;
        let is_alike =
            |other: usize| other == index || self.differs_only_at_end(index) && self.differs_only_at_end(other);
        let nearest = |others: &mut dyn Iterator<Item = usize>| {
            let peak = |index: usize| self.ranks.get(index).and_then(Rank::peak).unwrap_or(0);
            others.filter(|&other| !is_alike(other)).min_by_key(|&other| (peak(other).abs_diff(peak(index)), other))
        };
        Some(group.median as usize)
            .filter(|&median| !is_alike(median))
            .or_else(|| nearest(&mut group.ranks.iter().map(|&other| other as usize)))
            .or_else(|| nearest(&mut self.surveys().map(|(other, ..)| other)))
    }
}

/// A group of ranks with similar memory use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Indices in [`Ranks::ranks`], in ascending order.
    pub ranks: Vec<u32>,
    /// Index of the rank with the median peak.
    pub median: u32,
    /// Median of the peaks of the group, in bytes.
    pub peak: u64,
    /// Coordinate shared by all ranks of this group and by no other rank, such as `pp 0`.
    pub shared: Option<String>,
    /// Median live bytes of each call site in this group minus the median in the first group, largest difference first.
    pub deltas: Vec<SiteDelta>,
    /// True if less than half of the bytes at the peak belong to call sites that also occur in the first group. The
    /// group then runs different code.
    pub is_other_code: bool,
}

/// Difference of a call site's live bytes between two groups of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteDelta {
    pub site: String,
    pub bytes: i64,
}

/// Quantiles of a value over ranks. Each quantile is the value of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankQuantiles {
    pub min: u64,
    pub p5: u64,
    pub median: u64,
    pub p95: u64,
    pub max: u64,
}

impl RankQuantiles {
    /// Computes the quantiles of values. Returns `None` if there are no values.
    pub fn from_values(mut numbers: Vec<u64>) -> Option<RankQuantiles> {
        numbers.sort_unstable();
        let percentile = |percent| quantile(&numbers, percent);
        Some(RankQuantiles {
            min: percentile(0)?,
            p5: percentile(5)?,
            median: percentile(50)?,
            p95: percentile(95)?,
            max: percentile(100)?,
        })
    }
}

/// Returns the given percentile of ascending numbers: the smallest number with at least `percent` percent of the
/// numbers at or below it.
pub fn quantile(ascending: &[u64], percent: usize) -> Option<u64> {
    let place = (ascending.len() * percent).div_ceil(100).saturating_sub(1);
    ascending.get(place).copied()
}

/// A rank whose peak, or live bytes at the end, are far from the median of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlier {
    /// Index of the rank in [`Ranks::ranks`].
    pub at: u32,
    /// Difference from the median, in bytes.
    pub delta: i64,
    /// Median absolute deviation of all ranks, in bytes.
    pub deviation: u64,
}

/// Returns the indices of the numbers, largest number first. Equal numbers stay in order.
pub(super) fn largest_first(numbers: impl Iterator<Item = u64>) -> Vec<u32> {
    sorted_numbers(numbers.zip(0..).map(|(number, index)| (u128::from(!number), index)).collect())
}
