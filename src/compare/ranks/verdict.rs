//! The verdict on all ranks, in a few sentences.

use super::answer::{Group, Outlier, Rank, RankQuantiles, Ranks};
use super::spread::PART;
use crate::verdict::signed;
use base::units::{Bytes, group_digits, pluralize};

/// Maximum number of sentences.
const MAX_SENTENCES: usize = 6;
/// Maximum number of groups or ranks that a sentence names.
const MAX_NAMED: usize = 3;
/// Maximum number of ranges of ranks that a sentence lists.
const MAX_RANGES: usize = 6;
/// Maximum length of a call site in the verdict, in characters.
const LONGEST: usize = 60;

pub(super) fn verdict(ranks: &Ranks) -> Vec<String> {
    // What a rank needs more at its peak is often reserved, and live at the end, as well.
    let others = |found: &[Outlier]| -> Vec<Outlier> {
        found.iter().filter(|it| !ranks.differs_at_peak(it.at as usize)).copied().collect()
    };
    let (reserved, reserved_outliers) = ranks.judged(Rank::peak_reserved);
    let mut sentences = Vec::new();
    sentences.extend(outliers(ranks, &ranks.outliers, ranks.peak, "peak").or_else(|| wide_peaks(ranks)));
    sentences.extend(outliers(ranks, &others(&ranks.end_outliers), ranks.end, "live bytes at the end"));
    sentences.extend(outliers(ranks, &others(&reserved_outliers), reserved, "peak reserved"));
    // Where the ranks are alike at the peak, the rank that differs otherwise comes first.
    let place = if ranks.groups.len() > 1 { 0 } else { sentences.len() };
    if let Some(groups) = group_sentence(ranks) {
        sentences.insert(place, groups);
    }
    if let Some(oom) = first_oom(ranks) {
        sentences.insert(0, oom);
    }
    sentences.extend(steps(ranks));
    sentences.extend(failures(ranks));
    sentences.truncate(MAX_SENTENCES);
    sentences
}

fn first_oom(ranks: &Ranks) -> Option<String> {
    let first = ranks.first_oom.as_ref()?;
    let rank = ranks.ranks.get(first.at as usize)?;
    let oom = rank.survey.as_ref()?.out_of_memory?;
    let how_many =
        if first.ranks > 1 { format!(", the first of {} ranks that did", first.ranks) } else { String::new() };
    let title = capitalized(&rank.title_with_file());
    let requested = Bytes(oom.requested_bytes);
    let live = Bytes(oom.live_bytes);
    let free = oom.device_free_bytes;
    let free = free.map_or_else(|| "unknown memory".to_owned(), |free| Bytes(free).to_string());
    let others = first.others.map_or_else(String::new, |(least, most, count)| {
        let held = if least == most { Bytes(least).to_string() } else { format!("{}–{}", Bytes(least), Bytes(most)) };
        format!("; {} had about {held} live at that time", pluralize(count.into(), "other rank"))
    });
    let order = if first.is_by_time || first.ranks < 2 { "" } else { " (no timestamps recorded: the lowest rank)" };
    Some(format!(
        "{title} ran out of memory{how_many}{order}: {requested} requested with {live} live and {free} free on the device{others}."
    ))
}

fn group_sentence(ranks: &Ranks) -> Option<String> {
    let (first, others) = ranks.groups.split_first()?;
    let surveyed = ranks.surveys().count();
    let spread = ranks.peak?;
    if others.is_empty() {
        let are = match surveyed {
            1 => "One rank".to_owned(),
            surveyed if ranks.is_partial => format!("The {} surveyed ranks are alike", group_digits(surveyed as u64)),
            _ => "All ranks alike".to_owned(),
        };
        let peak = range(&spread);
        let end = ranks.end.filter(is_wide);
        return Some(match end {
            Some(end) => format!("{are} at the peak, {peak} requested, but not at the end: {}.", range(&end)),
            None => format!("{are}: peak {peak} requested."),
        });
    }
    let named: Vec<String> = others.iter().take(MAX_NAMED).map(|group| differing(ranks, group, first)).collect();
    let more = others.len() - named.len();
    let more = if more > 0 { "; ".to_owned() + &pluralize(more as u64, "more group") } else { String::new() };
    let alike = if first.ranks.len() == 1 {
        format!("No two ranks alike: {} peaks at {}", who(ranks, first), Bytes(first.peak))
    } else {
        largest(first)
    };
    Some(format!("{alike}; {}{more}.", named.join("; ")))
}

fn range(spread: &RankQuantiles) -> String {
    match spread.min == spread.max {
        true => Bytes(spread.min).to_string(),
        false => format!("{}–{}", Bytes(spread.min), Bytes(spread.max)),
    }
}

/// Returns true if two ranks differ by more than 2 %.
fn is_wide(spread: &RankQuantiles) -> bool {
    u128::from(spread.max - spread.min) * u128::from(PART) > u128::from(spread.min)
}

/// Describes the largest group, such as `504 ranks alike`.
fn largest(first: &Group) -> String {
    format!("{} alike (peak {})", pluralize(first.ranks.len() as u64, "rank"), Bytes(first.peak))
}

/// Names the ranks of a group, such as `8 ranks of pp 0 (0–7)`.
fn who(ranks: &Ranks, group: &Group) -> String {
    match (&group.shared, group.ranks.len()) {
        (Some(shared), count) => {
            format!("{} of {shared} ({})", pluralize(count as u64, "rank"), numbers(ranks, &group.ranks))
        }
        (None, 1) => group
            .ranks
            .first()
            .and_then(|&index| ranks.ranks.get(index as usize))
            .map_or_else(String::new, |it| it.title_with_file()),
        (None, count) => format!("{} ({})", pluralize(count as u64, "rank"), numbers(ranks, &group.ranks)),
    }
}

/// Describes how a group differs from the first, such as `8 ranks of pp 0 (0–7) peak at 9.00 GiB (+3.10 GiB), +3.10 GiB
/// in embedding.py:12`.
fn differing(ranks: &Ranks, group: &Group, first: &Group) -> String {
    let delta = i128::from(group.peak) - i128::from(first.peak);
    let who = who(ranks, group);
    let verb = if group.ranks.len() == 1 { "peaks" } else { "peak" };
    let cause = group.deltas.first().map_or_else(String::new, |delta| {
        if group.is_other_code {
            return ", with other call sites".to_owned();
        }
        let site: String = delta.site.chars().take(LONGEST).collect();
        format!(", {} in {site}", signed(delta.bytes.into()))
    });
    match delta {
        0 => format!("{who} {verb} at the same size{cause}"),
        _ => format!("{who} {verb} at {} ({}){cause}", Bytes(group.peak), signed(delta)),
    }
}

/// Reports that the peaks of most ranks are far from the median, which therefore has no outliers.
fn wide_peaks(ranks: &Ranks) -> Option<String> {
    let spread = ranks.peak?;
    let peaks = ranks.surveys().filter_map(|(_, rank, _)| rank.peak());
    let is_far = |peak: &u64| u128::from(peak.abs_diff(spread.median)) * u128::from(PART) > u128::from(spread.median);
    (peaks.filter(is_far).count() * 2 > ranks.surveys().count())
        .then(|| format!("Peaks differ widely: {}, median {}.", range(&spread), Bytes(spread.median)))
}

/// Names the ranks that are far from the median of `measure`.
fn outliers(ranks: &Ranks, outliers: &[Outlier], spread: Option<RankQuantiles>, measure: &str) -> Option<String> {
    let spread = spread.filter(|_| !outliers.is_empty())?;
    let named = outliers.iter().take(MAX_NAMED).filter_map(|outlier| {
        let rank = ranks.ranks.get(outlier.at as usize)?;
        Some(format!("{} ({})", rank.title(), signed(outlier.delta.into())))
    });
    let named: Vec<String> = named.collect();
    let more = outliers.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let verb = if outliers.len() == 1 { "is far" } else { "are far" };
    let median = Bytes(spread.median);
    Some(format!("{}{more} {verb} from the median {measure}, {median}.", capitalized(&named.join(", "))))
}

/// Describes the step whose peak varies most between ranks.
fn steps(ranks: &Ranks) -> Option<String> {
    let widest = |spread: &super::RankQuantiles| spread.max - spread.min;
    let (number, spread) = ranks.steps.iter().enumerate().rev().max_by_key(|(_, spread)| widest(spread))?;
    let is_wide = u128::from(widest(spread)) * u128::from(PART) > u128::from(spread.max);
    is_wide.then(|| {
        let (min, max) = (Bytes(spread.min), Bytes(spread.max));
        format!("Peaks differ most in step {number} (counted from 0): {min}–{max}.")
    })
}

fn failures(ranks: &Ranks) -> Option<String> {
    let failed: Vec<u32> =
        ranks.ranks.iter().zip(0..).filter(|(rank, _)| rank.error.is_some()).map(|(_, index)| index).collect();
    let (missing, unreadable): (Vec<u32>, Vec<u32>) =
        failed.into_iter().partition(|&index| ranks.ranks.get(index as usize).is_some_and(|rank| rank.file.is_empty()));
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("no file of {} ({})", pluralize(missing.len() as u64, "rank"), numbers(ranks, &missing)));
    }
    if !unreadable.is_empty() {
        let count = pluralize(unreadable.len() as u64, "file");
        parts.push(format!("{count} not readable ({})", numbers(ranks, &unreadable)));
    }
    (!parts.is_empty()).then(|| format!("{}.", capitalized(&parts.join("; "))))
}

/// Formats ranges of ranks, such as `0–7, 12`. `places` are indices into [`Ranks::ranks`].
pub(crate) fn numbers(ranks: &Ranks, places: &[u32]) -> String {
    let known = places.iter().filter_map(|&index| ranks.ranks.get(index as usize)?.rank);
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for rank in known {
        match ranges.last_mut() {
            Some((_, last)) if rank == *last || Some(rank) == last.checked_add(1) => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let more = if ranges.len() > MAX_RANGES { ", …" } else { "" };
    let shown = ranges.iter().take(MAX_RANGES).map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "no rank known".to_owned() } else { shown.join(", ") + more }
}

/// Capitalizes the first letter of a sentence, unless it starts with a file name.
fn capitalized(text: &str) -> String {
    if !["rank ", "no file", "file"].iter().any(|word| text.starts_with(word)) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
