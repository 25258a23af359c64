//! A line of `PYTORCH_CUDA_ALLOC_CONF` or `PYTORCH_ALLOC_CONF` → settings, as PyTorch reads it.

use super::settings::{INTERVALS, MIB, Settings, Share};
use thiserror::Error;

/// What is wrong with a line, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem} at character {}: {word}", at + 1)]
pub struct LineError {
    /// Characters before it.
    pub at: usize,
    /// What stands there.
    pub word: String,
    pub problem: Problem,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    #[error("unknown setting")]
    Unknown,
    #[error("expected setting:value")]
    NoValue,
    #[error("expected True or False")]
    Truth,
    #[error("expected a whole number of MiB above {0}")]
    Above(u64),
    #[error("expected a size above that of large segments")]
    AboveSegments,
    #[error("expected a number between 0 and 1")]
    Share,
    #[error("expected a power of two")]
    PowerOfTwo,
    #[error("expected a list such as [256:1,512:2,1024:4,>:8]")]
    List,
    #[error("not simulated: only the native allocator is")]
    Backend,
}

/// Settings that change nothing that is simulated: pinned memory, locks, graphs.
const WITHOUT_EFFECT: [&str; 14] = [
    "pinned_use_cuda_host_register",
    "pinned_num_register_threads",
    "pinned_use_background_threads",
    "pinned_reserve_segment_size_mb",
    "pinned_max_register_threads",
    "pinned_free_catch_all",
    "pinned_use_hip_host_register",
    "pinned_max_round_threshold_mb",
    "pinned_max_cached_size_mb",
    "release_lock_on_cudamalloc",
    "release_lock_on_hipmalloc",
    "graph_capture_record_stream_reuse",
    "expandable_segments_reserve",
    "expandable_segments_reserve_by_class",
];

/// Settings, and the names of those in the line that change nothing that is simulated.
pub type Read = (Settings, Vec<String>);

/// Reads a line; the name of the variable in front, `export` and quotes do not matter. What the line does not set is as PyTorch has it.
///
/// # Errors
/// The line is not one that PyTorch takes: what is wrong with it, and where.
pub fn parse(line: &str) -> Result<Read, LineError> {
    let quoted = |letter: char| letter == '"' || letter == '\'' || letter.is_whitespace();
    let begin = line.find('=').map_or(0, |at| at + 1);
    let text = line.get(begin..).unwrap_or_default();
    let begin = begin + (text.len() - text.trim_start_matches(quoted).len());
    let text = text.trim_matches(quoted);
    let mut settings = Settings::default();
    let (mut ignored, mut non_split) = (Vec::new(), None);
    for (at, word) in parts(text) {
        let place = |problem| {
            let before = line.get(..begin + at).unwrap_or_default();
            LineError { at: before.chars().count(), word: word.to_owned(), problem }
        };
        let Some((key, value)) = word.split_once(':') else { return Err(place(Problem::NoValue)) };
        let (key, value) = (key.trim(), value.trim());
        let set = match key {
            "max_non_split_rounding_mb" => above(value, 20).map(|bytes| non_split = Some(bytes)),
            _ => set(&mut settings, key, value, &mut ignored),
        };
        set.map_err(place)?;
    }
    if settings.throws && settings.fraction == Share::ALL {
        // It is about that limit alone.
        settings.throws = false;
        ignored.push("throw_on_cudamalloc_oom".to_owned());
    }
    // Its own default is the size of large segments.
    settings.non_split = non_split.unwrap_or(settings.large_segment);
    if settings.max_split.is_some_and(|most| most <= settings.large_segment) {
        let key = "max_split_size_mb";
        let at = line.find(key).map_or(0, |at| line.get(..at).unwrap_or_default().chars().count());
        return Err(LineError { at, word: key.to_owned(), problem: Problem::AboveSegments });
    }
    Ok((settings, ignored))
}

/// The same of a line that a file has: what cannot be read counts as not set.
pub(crate) fn parse_leniently(line: &str) -> Settings {
    let mut settings = Settings::default();
    let mut non_split = None;
    for (_, word) in parts(line) {
        let Some((key, value)) = word.split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if key == "max_non_split_rounding_mb" {
            non_split = above(value, 0).ok();
        } else {
            let _ = set(&mut settings, key, value, &mut Vec::new());
        }
    }
    settings.non_split = non_split.unwrap_or(settings.large_segment);
    settings
}

/// The parts between commas that stand in no brackets, each with its place.
fn parts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut depth = 0;
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, letter) in text.char_indices().chain([(text.len(), ',')]) {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth <= 0 || at == text.len() => {
                found.push((begin, text.get(begin..at).unwrap_or_default()));
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.into_iter().filter(|(_, word)| !word.trim().is_empty())
}

fn set(settings: &mut Settings, key: &str, value: &str, ignored: &mut Vec<String>) -> Result<(), Problem> {
    match key {
        "expandable_segments" => settings.expandable = truth(value)?,
        "throw_on_cudamalloc_oom" => settings.throws = truth(value)?,
        "max_split_size_mb" => settings.max_split = Some(above(value, 20)?),
        "large_segment_size_mb" => settings.large_segment = above(value, 10)?,
        "roundup_power2_divisions" => settings.divisions = divisions(value)?,
        "garbage_collection_threshold" => {
            settings.collect_above = Share::parse(value)
                .filter(|share| *share > Share::NOTHING && *share < Share::ALL)
                .ok_or(Problem::Share)?;
        }
        "per_process_memory_fraction" => settings.fraction = Share::parse(value).ok_or(Problem::Share)?,
        "backend" if value == "native" => {}
        "backend" => return Err(Problem::Backend),
        _ if WITHOUT_EFFECT.contains(&key) => ignored.push(key.to_owned()),
        _ => return Err(Problem::Unknown),
    }
    Ok(())
}

fn truth(value: &str) -> Result<bool, Problem> {
    match value {
        "True" => Ok(true),
        "False" => Ok(false),
        _ => Err(Problem::Truth),
    }
}

/// Bytes, of a number of MiB above the least that PyTorch takes.
fn above(value: &str, least: u64) -> Result<u64, Problem> {
    let mib = value.parse::<u64>().ok().filter(|&mib| mib > least);
    mib.and_then(|mib| mib.checked_mul(MIB)).ok_or(Problem::Above(least))
}

fn power_of_two(value: &str) -> Result<u32, Problem> {
    value.trim().parse().ok().filter(|value: &u32| value.is_power_of_two()).ok_or(Problem::PowerOfTwo)
}

/// One number for all intervals, or a list: the first key fills what is below it, `>` what is above the last.
fn divisions(value: &str) -> Result<[u32; INTERVALS], Problem> {
    let Some(list) = value.strip_prefix('[') else { return power_of_two(value).map(|all| [all; INTERVALS]) };
    let list = list.strip_suffix(']').ok_or(Problem::List)?;
    let mut divisions = [0; INTERVALS];
    let mut last = None;
    for entry in list.split(',') {
        let (key, value) = entry.split_once(':').ok_or(Problem::List)?;
        let value = power_of_two(value)?;
        if key.trim() == ">" {
            let above = last.ok_or(Problem::List)? + 1;
            divisions.iter_mut().skip(above).for_each(|entry| *entry = value);
            continue;
        }
        let at = (power_of_two(key)?.trailing_zeros() as usize).min(INTERVALS - 1);
        let from = if last.is_none() { 0 } else { at };
        divisions.iter_mut().take(at + 1).skip(from).for_each(|entry| *entry = value);
        last = Some(at);
    }
    Ok(divisions)
}

#[cfg(test)]
#[path = "../../tests/units/allocator/conf.rs"]
mod tests;
