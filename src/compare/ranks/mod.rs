//! Many snapshots of one program at once, one for each rank: which of them differ, and in what.
//!
//! Each file is [surveyed](Surveying) on its own, so that only one of them at a time needs memory; [`Ranks::new`] compares the surveys.

mod groups;
mod name;
mod spread;
mod survey;
mod verdict;

pub use groups::{Group, SiteDelta};
pub use name::{Named, named};
pub use spread::{Outlier, Spread, quantile};
pub use survey::{BINS, OutOfMemory, SiteBytes, Surveyed, Surveying};

use base::sorted::sorted_numbers;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

/// Missing ranks that get a row.
const MOST_MISSING: u32 = 4096;

/// One rank: its survey, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    pub rank: Option<u32>,
    pub host: Option<String>,
    pub step: Option<u64>,
    /// Its file; empty where none was found.
    pub file: String,
    /// Which snapshot of the file, where it has several.
    pub member: Option<u32>,
    /// Its name says that it was written because memory ran out, or when the program ended.
    pub is_oom: bool,
    pub is_exit: bool,
    /// Coordinates, as the recorder has them: `tp`, `pp`, `dp`.
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
        let Named { rank, step, host, is_oom, is_exit } = named;
        Rank { rank, step, host, is_oom, is_exit, file, ..Rank::default() }
    }

    /// With its survey. What the recorder says counts more than the name of the file.
    #[must_use]
    pub fn surveyed(mut self, survey: Surveyed) -> Rank {
        for (key, value) in &survey.recorder {
            match &**key {
                "rank" => self.rank = value.parse().ok().or(self.rank),
                "host" => self.host = Some(value.clone()),
                _ => {
                    let coordinate = key.strip_prefix("coords.").map(|name| (name.to_owned(), value.clone()));
                    self.coords.extend(coordinate);
                }
            }
        }
        self.survey = Some(survey);
        self
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
    /// Files of other steps of the same ranks, which are not compared.
    pub left_out: Vec<String>,
    /// Ranks alike, the largest group first.
    pub groups: Vec<Group>,
    pub outliers: Vec<Outlier>,
    /// Of the peaks.
    pub peak: Option<Spread>,
    /// Of the live bytes over ranks, in [`BINS`] equal parts of the events of each.
    pub curve: Vec<Spread>,
    /// Of the peaks in each step that all ranks with steps have.
    pub steps: Vec<Spread>,
    pub first_oom: Option<FirstOom>,
    /// What is to be known of the files.
    pub notes: Vec<String>,
    pub verdict: Vec<String>,
}

impl Ranks {
    /// Compares ranks. Their order does not matter.
    pub fn new(ranks: Vec<Rank>, notes: Vec<String>) -> Ranks {
        let (mut ranks, left_out) = chosen(ranks);
        let missing = missing(&ranks);
        ranks.extend(missing);
        in_order(&mut ranks);
        let mut all = Ranks { ranks, left_out, notes, ..Ranks::default() };
        all.group();
        all.spread();
        all.first_oom = all.find_first_oom();
        all.verdict = verdict::verdict(&all);
        all
    }

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

    fn find_first_oom(&self) -> Option<FirstOom> {
        let ooms: Vec<(usize, &OutOfMemory)> =
            self.surveys().filter_map(|(at, _, survey)| Some((at, survey.out_of_memory.as_ref()?))).collect();
        let is_by_time = ooms.iter().all(|(_, oom)| oom.time_us.is_some());
        let (at, oom) = match is_by_time {
            true => ooms.iter().min_by_key(|(at, oom)| (oom.time_us, *at))?,
            false => ooms.first()?,
        };
        let others = self.surveys().filter(|(other, _, _)| other != at);
        let held: Vec<u64> = others.filter_map(|(_, _, survey)| survey.live_at(oom.time_us?)).collect();
        let range = held.iter().min().zip(held.iter().max());
        Some(FirstOom {
            at: *at as u32,
            ranks: ooms.len() as u32,
            is_by_time,
            others: range.map(|(&least, &most)| (least, most, held.len() as u32)),
        })
    }
}

fn in_order(ranks: &mut [Rank]) {
    let key = |rank: &Rank| (rank.rank.is_none(), rank.rank, rank.host.clone(), rank.file.clone(), rank.member);
    ranks.sort_by_cached_key(key);
}

/// One file of each rank: that of its OOM, else of the step that most ranks have, of equal ones the last, else of its last step. And the
/// files that are left out.
fn chosen(mut ranks: Vec<Rank>) -> (Vec<Rank>, Vec<String>) {
    in_order(&mut ranks);
    let mut steps: HashMap<Option<u64>, u32, foldhash::fast::RandomState> = HashMap::default();
    ranks.iter().for_each(|rank| *steps.entry(rank.step).or_default() += 1);
    let common = steps.into_iter().max_by_key(|&(step, count)| (count, step)).and_then(|(step, _)| step);
    let mut best: HashMap<(u32, Option<String>), usize, foldhash::fast::RandomState> = HashMap::default();
    let worth = |rank: &Rank| (rank.survey.is_some(), rank.is_oom, rank.step == common, rank.is_exit, rank.step);
    for (at, rank) in ranks.iter().enumerate() {
        let Some(number) = rank.rank else { continue };
        let known = best.entry((number, rank.host.clone())).or_insert(at);
        if ranks.get(*known).is_none_or(|known| worth(known) < worth(rank)) {
            *known = at;
        }
    }
    let best: HashSet<usize, foldhash::fast::RandomState> = best.into_values().collect();
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (at, rank) in ranks.into_iter().enumerate() {
        match rank.rank.is_none() || best.contains(&at) {
            true => kept.push(rank),
            false => left_out.push(rank.file),
        }
    }
    (kept, left_out)
}

/// Ranks of which there is no file: below the number of ranks that the recorder says, else below the largest.
fn missing(ranks: &[Rank]) -> Vec<Rank> {
    let world = ranks.iter().filter_map(|rank| rank.survey.as_ref()).flat_map(|survey| &survey.recorder);
    let world = world.filter(|(key, _)| key == "world").filter_map(|(_, value)| value.parse::<u32>().ok()).max();
    let known: HashSet<u32, foldhash::fast::RandomState> = ranks.iter().filter_map(|rank| rank.rank).collect();
    let end = known.iter().max().map_or(0, |&most| most.saturating_add(1)).max(world.unwrap_or(0));
    // A far larger number than there are files is no rank but a date or a process.
    if end.saturating_sub(known.len() as u32) > MOST_MISSING.min(8 * ranks.len() as u32 + 8) {
        return Vec::new();
    }
    let missing = (0..end).filter(|rank| !known.contains(rank));
    missing.map(|rank| Rank { rank: Some(rank), ..Rank::default() }.failed("no file".to_owned())).collect()
}

/// Places in descending order of their numbers; of equal ones the first.
fn largest_first(numbers: impl Iterator<Item = u64>) -> Vec<u32> {
    sorted_numbers(numbers.zip(0..).map(|(number, at)| (u128::from(!number), at)).collect())
}

#[cfg(test)]
#[path = "../../../tests/units/compare/ranks/mod.rs"]
mod tests;
