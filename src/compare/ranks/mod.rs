//! Comparison of many snapshots of one program, one per rank: which ranks differ, and how.
//!
//! Each file is [scanned](RankSurveyor) separately, so that only one has to be in memory at a time. [`Ranks::new`]
//! compares the results.

mod answer;
mod endings;
mod file;
mod gathering;
mod groups;
mod map;
mod name;
mod pattern;
mod report;
mod spread;
mod survey;
mod verdict;

pub use answer::{FirstOom, Group, Outlier, Rank, RankQuantiles, Ranks, SiteDelta, quantile};
pub use file::{FileSurvey, FileSurveys};
pub use gathering::SurveyProgress;
pub use map::Order;
pub use name::{ParsedName, parse_names, parse_names_with};
pub use pattern::Pattern;
pub use report::report;
pub use survey::{BINS, OutOfMemory, RankSurvey, RankSurveyor, SiteBytes};

use base::natural::compare_names;
use base::units::pluralize;
use hashbrown::{HashMap, HashSet};
use std::cmp::Ordering;

/// Maximum number of missing ranks that are listed individually.
const MAX_MISSING: u32 = 4096;

impl Ranks {
    /// Compares all ranks, given in any order.
    pub fn new(ranks: Vec<Rank>, notes: Vec<String>) -> Ranks {
        Ranks::compared(ranks, notes, false)
    }

    /// Compares some of the ranks. Does not report missing ranks, because some files are not scanned yet or were
    /// omitted.
    pub fn partial(ranks: Vec<Rank>, notes: Vec<String>) -> Ranks {
        Ranks::compared(ranks, notes, true)
    }

    fn compared(mut ranks: Vec<Rank>, mut notes: Vec<String>, is_partial: bool) -> Ranks {
        notes.extend(number(&mut ranks));
        let (mut ranks, left_out) = chosen(ranks);
        if !is_partial {
            let (missing, note) = missing(&ranks);
            ranks.extend(missing);
            notes.extend(note);
        }
        in_order(&mut ranks);
        let mut all = Ranks { ranks, left_out, notes, is_partial, ..Ranks::default() };
        all.group();
        all.spread();
        all.first_oom = all.find_first_oom();
        all.verdict = verdict::verdict(&all);
        all
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
            others: range.map(|(&min, &max)| (min, max, held.len() as u32)),
        })
    }
}

/// Numbers the ranks in the order of their files if no file name contains a rank. Returns a note that says so.
fn number(ranks: &mut [Rank]) -> Option<String> {
    if ranks.iter().any(|rank| rank.rank.is_some()) {
        return None;
    }
    in_order(ranks);
    let mut surveyed: Vec<&mut Rank> = ranks.iter_mut().filter(|rank| rank.survey.is_some()).collect();
    surveyed.iter_mut().zip(0..).for_each(|(rank, number)| (rank.rank, rank.is_numbered) = (Some(number), true));
    (surveyed.len() > 1).then(|| "Ranks are numbered in the order of the files: no name has a rank.".to_owned())
}

fn in_order(ranks: &mut [Rank]) {
    let names = |one: Option<&str>, other: Option<&str>| match (one, other) {
        (Some(one), Some(other)) => compare_names(one, other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    };
    let by_number = |rank: &Rank| (rank.rank.is_none(), rank.rank);
    ranks.sort_by(|one, other| -> Ordering {
        let hosts = || names(one.host.as_deref(), other.host.as_deref());
        let files = || compare_names(&one.file, &other.file);
        let members = || one.member.cmp(&other.member);
        by_number(one).cmp(&by_number(other)).then_with(hosts).then_with(files).then_with(members)
    });
}

/// Selects one file per rank: preferably one written because of an out-of-memory error, otherwise the file of the most
/// common step (the latest if tied), otherwise of the last step. Also returns the names of the other files.
fn chosen(mut ranks: Vec<Rank>) -> (Vec<Rank>, Vec<String>) {
    in_order(&mut ranks);
    let mut steps: HashMap<Option<u64>, u32, foldhash::fast::RandomState> = HashMap::default();
    ranks.iter().for_each(|rank| *steps.entry(rank.step).or_default() += 1);
    let common = steps.into_iter().max_by_key(|&(step, count)| (count, step)).and_then(|(step, _)| step);
    let mut best: HashMap<(u32, Option<String>), usize, foldhash::fast::RandomState> = HashMap::default();
    let worth = |rank: &Rank| (rank.survey.is_some(), rank.is_oom, rank.step == common, rank.is_exit, rank.step);
    for (index, rank) in ranks.iter().enumerate() {
        let Some(number) = rank.rank else { continue };
        let known = best.entry((number, rank.host.clone())).or_insert(index);
        if ranks.get(*known).is_none_or(|known| worth(known) < worth(rank)) {
            *known = index;
        }
    }
    let best: HashSet<usize, foldhash::fast::RandomState> = best.into_values().collect();
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (index, rank) in ranks.into_iter().enumerate() {
        match rank.rank.is_none() || best.contains(&index) {
            true => kept.push(rank),
            false => left_out.push(rank.file),
        }
    }
    (kept, left_out)
}

/// Returns the ranks that have no file, up to the recorded world size or the highest rank. If they are too many,
/// returns a note instead.
fn missing(ranks: &[Rank]) -> (Vec<Rank>, Option<String>) {
    let world = ranks.iter().filter_map(|rank| rank.survey.as_ref()).flat_map(|survey| &survey.recorder);
    let world = world
        .filter(|(key, _)| matches!(&**key, "world_size" | "world"))
        .filter_map(|(_, value)| value.parse::<u32>().ok())
        .max();
    let known: HashSet<u32, foldhash::fast::RandomState> = ranks.iter().filter_map(|rank| rank.rank).collect();
    let end = known.iter().max().map_or(0, |&max_rank| max_rank.saturating_add(1)).max(world.unwrap_or(0));
    // A number far larger than the number of files is a date or process id, not a rank.
    if end.saturating_sub(known.len() as u32) > MAX_MISSING.min(8 * ranks.len() as u32 + 8) {
        let note = |world: u32| {
            format!(
                "The recorder names {}; there are files of {}.",
                pluralize(world.into(), "rank"),
                pluralize(known.len() as u64, "rank")
            )
        };
        return (Vec::new(), world.map(note));
    }
    let missing = (0..end).filter(|rank| !known.contains(rank));
    let row = |rank| Rank { rank: Some(rank), ..Rank::default() }.with_error("no file".to_owned());
    (missing.map(row).collect(), None)
}

#[cfg(test)]
#[path = "../../../tests/units/compare/ranks/mod.rs"]
mod tests;
