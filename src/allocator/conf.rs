//! Parsing of `PYTORCH_CUDA_ALLOC_CONF` and `PYTORCH_ALLOC_CONF` by PyTorch's rules.

use super::settings::{INTERVALS, MIB, Settings, Share};
use thiserror::Error;

/// Parse error with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem} at character {}: {word}", at + 1)]
pub struct LineError {
    /// Position of the error in characters, counted from 0.
    pub at: usize,
    /// Text at the position of the error.
    pub word: String,
    pub problem: Problem,
}

/// Cause of a parse error.
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

/// Settings that do not affect the simulation, such as those about pinned memory, locks and graphs.
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

/// Parsed settings, and the names of specified settings that do not affect the simulation.
pub type Read = (Settings, Vec<String>);

/// Parses the value of the environment variable. A leading variable name, `export` and quotes are skipped. Unspecified
/// settings have PyTorch's defaults.
///
/// # Errors
/// Returns the first setting that PyTorch would reject, and its position.
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
        // Without a fraction this setting has no effect.
        settings.throws = false;
        ignored.push("throw_on_cudamalloc_oom".to_owned());
    }
    // Defaults to the size of large segments.
    settings.non_split = non_split.unwrap_or(settings.large_segment);
    if settings.max_split.is_some_and(|most| most <= settings.large_segment) {
        let key = "max_split_size_mb";
        let at = line.find(key).map_or(0, |at| line.get(..at).unwrap_or_default().chars().count());
        return Err(LineError { at, word: key.to_owned(), problem: Problem::AboveSegments });
    }
    Ok((settings, ignored))
}

/// Parses a value found in a file. Settings that cannot be parsed are skipped.
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

/// Splits a text at commas outside of brackets. Returns each part with its byte offset.
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

/// Parses a number of MiB that must be greater than `least` (also in MiB). Returns bytes.
fn above(value: &str, least: u64) -> Result<u64, Problem> {
    let mib = value.parse::<u64>().ok().filter(|&mib| mib > least);
    mib.and_then(|mib| mib.checked_mul(MIB)).ok_or(Problem::Above(least))
}

fn power_of_two(value: &str) -> Result<u32, Problem> {
    value.trim().parse().ok().filter(|value: &u32| value.is_power_of_two()).ok_or(Problem::PowerOfTwo)
}

/// Parses `roundup_power2_divisions`: one number for all intervals, or a list of `size:number` pairs. The first pair
/// also applies to smaller sizes, and `>` to all sizes above the last one.
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
