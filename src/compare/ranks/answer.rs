//! The answer about many ranks. Plain data, as the page and the command line take it.

use super::name::Named;
use super::survey::Surveyed;
use base::sorted::sorted_numbers;
use serde::{Deserialize, Serialize};

/// One rank: its survey, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    pub rank: Option<u32>,
    pub host: Option<String>,
    pub step: Option<u64>,
    /// Its file; empty where none was found.
    pub file: String,
    /// The place of its file in the list of all.
    pub place: Option<u32>,
    /// Which snapshot of the file, where it has several.
    pub member: Option<u32>,
    /// Its name says that it was written because memory ran out, or when the program ended.
    pub is_oom: bool,
    pub is_exit: bool,
    /// Coordinates, as the recorder or a pattern of names has them: `tp`, `pp`, `dp`.
    pub coords: Vec<(String, String)>,
    pub survey: Option<Surveyed>,
    /// Why there is no survey.
    pub error: Option<String>,
    /// Its group, by its place in [`Ranks::groups`].
    pub group: Option<u32>,
}

impl Rank {
    /// Of a file, by what its name says.
    pub fn of(file: String, named: Named) -> Rank {
        let Named { rank, step, host, is_oom, is_exit, coords } = named;
        Rank { rank, step, host, is_oom, is_exit, coords, file, ..Rank::default() }
    }

    /// With its survey. What the recorder says counts more than the name of the file.
    #[must_use]
    pub fn surveyed(mut self, survey: Surveyed) -> Rank {
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

    /// A coordinate, where it is a number.
    pub fn coordinate(&self, name: &str) -> Option<u64> {
        self.coords.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.parse().ok())
    }

    /// Without a survey, for a reason.
    #[must_use]
    pub fn failed(mut self, error: String) -> Rank {
        self.error = Some(error);
        self
    }

    /// The peak of its requested bytes.
    pub fn peak(&self) -> Option<u64> {
        self.survey.as_ref().and_then(|survey| u64::try_from(survey.peak_requested).ok())
    }

    /// `rank 7`, or its file where no rank is known.
    pub fn title(&self) -> String {
        self.rank.map_or_else(|| self.file.clone(), |rank| format!("rank {rank}"))
    }
}

/// The first rank that ran out of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOom {
    /// Its place in [`Ranks::ranks`].
    pub at: u32,
    /// How many ranks ran out of memory.
    pub ranks: u32,
    /// Whether the times of all of them are known; else it is the one with the lowest rank.
    pub is_by_time: bool,
    /// Least and most live bytes of the others at that time, and how many they are.
    pub others: Option<(u64, u64, u32)>,
}

/// All ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranks {
    /// By rank, then host, then file; those without a rank last.
    pub ranks: Vec<Rank>,
    /// Whether files are still to come or were left out, so that ranks without a file are not known.
    pub is_partial: bool,
    /// Files of other steps of the same ranks, which are not compared.
    pub left_out: Vec<String>,
    /// Ranks alike, the largest group first.
    pub groups: Vec<Group>,
    pub outliers: Vec<Outlier>,
    /// Of the peaks.
    pub peak: Option<Spread>,
    /// Of the live bytes over ranks, in [`BINS`](super::BINS) equal parts of the events of each.
    pub curve: Vec<Spread>,
    /// Of the peaks in each step that all ranks with steps have.
    pub steps: Vec<Spread>,
    pub first_oom: Option<FirstOom>,
    /// What is to be known of the files.
    pub notes: Vec<String>,
    pub verdict: Vec<String>,
}

impl Ranks {
    /// Those with a survey, and their places.
    pub fn surveys(&self) -> impl Iterator<Item = (usize, &Rank, &Surveyed)> {
        self.ranks.iter().enumerate().filter_map(|(at, rank)| Some((at, rank, rank.survey.as_ref()?)))
    }

    /// The rank of its group whose peak is in the middle, for this rank to be compared with; of the largest group, where it is alone.
    pub fn median_of(&self, at: usize) -> Option<usize> {
        let own = self.ranks.get(at)?.group?;
        let alone = self.groups.get(own as usize).is_none_or(|group| group.ranks.len() < 2);
        let group = self.groups.get(if alone { 0 } else { own as usize })?;
        Some(group.median as usize).filter(|&median| median != at).or_else(|| {
            let others = group.ranks.iter().map(|&other| other as usize);
            others.filter(|&other| other != at).min_by_key(|&other| {
                let peak = |at: usize| self.ranks.get(at).and_then(Rank::peak).unwrap_or(0);
                (peak(other).abs_diff(peak(at)), other)
            })
        })
    }
}

/// Ranks that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Their places in [`Ranks::ranks`], ascending.
    pub ranks: Vec<u32>,
    /// The place of the one whose peak is in the middle.
    pub median: u32,
    /// The median of their peaks.
    pub peak: u64,
    /// Coordinates that all of them share, and not all others have: `pp 0`.
    pub shared: Option<String>,
    /// Where they differ from the first group, the largest first: medians of the group less those of the first.
    pub deltas: Vec<SiteDelta>,
    /// Less than half of the bytes at the peak are at call sites of the first group: another program, or another part of one.
    pub is_other_code: bool,
}

/// A call site that has more or less live in one group than in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteDelta {
    pub site: String,
    pub bytes: i64,
}

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

/// Places in descending order of their numbers; of equal ones the first.
pub(super) fn largest_first(numbers: impl Iterator<Item = u64>) -> Vec<u32> {
    sorted_numbers(numbers.zip(0..).map(|(number, at)| (u128::from(!number), at)).collect())
}
