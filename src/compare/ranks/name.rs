//! Parses rank, step, host and reason from file names. Supports the names written by torchtitan, Megatron-LM,
//! Megatron-Bridge, composer, lmms-engine, NeMo, slime and verl.

use super::endings::strip_endings;
use super::pattern::Pattern;
use base::sorted::sorted_by_key;
use hashbrown::HashMap;

/// Month names in `strftime("%b_%d_%H_%M_%S")`, the format of PyTorch's default file names.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Values parsed from a file name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedName {
    pub rank: Option<u32>,
    pub step: Option<u64>,
    pub host: Option<String>,
    /// True if the name says that the file was written because of an out-of-memory error.
    pub is_oom: bool,
    /// True if the name says that the file was written when the program exited.
    pub is_exit: bool,
    /// Coordinates such as `pp`. Only a user's pattern provides them.
    pub coords: Vec<(String, String)>,
}

/// Parses file names, given as paths below one folder with `/` as separator. The rank is the number after `rank`, the
/// number before `_step`, or the number at the end if the files of a folder are numbered from 0 without gaps.
pub fn parse_names(files: &[&str]) -> Vec<ParsedName> {
    let mut all: Vec<ParsedName> = files.iter().map(|file| parse_name(&file.to_ascii_lowercase(), file)).collect();
    let mut siblings: HashMap<String, Vec<(u32, usize)>, foldhash::fast::RandomState> = HashMap::default();
    for (place, (file, named)) in files.iter().zip(&all).enumerate() {
        if let (None, Some((before, number))) = (named.rank, last_number(file)) {
            siblings.entry(before.to_owned()).or_default().push((number, place));
        }
    }
    for numbers in siblings.into_values() {
        let numbers = sorted_by_key(numbers, |&(number, _)| number.into());
        let are_all = numbers.iter().zip(0..).all(|(&(number, _), expected)| number == expected);
        if are_all && numbers.len() > 1 {
            for (number, place) in numbers {
                all.get_mut(place).into_iter().for_each(|named| named.rank = Some(number));
            }
        }
    }
    all
}

/// Parses file names with a user's pattern, whose values override the result of [`parse_names`]. Also returns the
/// number of names that match the pattern.
pub fn parse_names_with(files: &[&str], pattern: Option<&Pattern>) -> (Vec<ParsedName>, usize) {
    let mut all = parse_names(files);
    let mut fitting = 0;
    for (file, named) in files.iter().zip(&mut all) {
        let Some(fields) = pattern.and_then(|pattern| pattern.match_path(file)) else { continue };
        fitting += 1;
        for (field, value) in fields {
            match field {
                "rank" => named.rank = value.parse().ok(),
                "step" => named.step = value.parse().ok(),
                "host" => named.host = Some(value.to_owned()),
                name => named.coords.push((name.to_owned(), value.to_owned())),
            }
        }
    }
    (all, fitting)
}

fn parse_name(name: &str, written: &str) -> ParsedName {
    let base = name.rsplit('/').next().unwrap_or(name);
    let rank =
        number_after(name, "rank").or_else(|| base.split_once("_step").and_then(|(before, _)| parse_number(before)));
    // composer: rank0.1200.memory_snapshot.pickle
    let batch = || {
        let mut parts = base.split('.');
        parts.next().filter(|first| first.starts_with("rank"))?;
        parts.next().and_then(parse_number)
    };
    let step = ["step", "iteration", "iter", "batch"].into_iter().find_map(|word| number_after(name, word));
    let has = |word: &str| name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| part == word);
    ParsedName {
        rank: rank.and_then(|rank| u32::try_from(rank).ok()),
        step: step.or_else(batch),
        host: host(base, written.rsplit('/').next().unwrap_or(written)),
        is_oom: has("oom"),
        is_exit: has("exit"),
        coords: Vec::new(),
    }
}

/// Parses a number. Returns `None` if the text contains anything but digits.
fn parse_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Returns the number after the last occurrence of `word` that is followed by one: `rank3`, `rank-3`, `rank_03`,
/// `rank=3`.
fn number_after(name: &str, word: &str) -> Option<u64> {
    let found = name.rmatch_indices(word).filter_map(|(at, _)| {
        let rest = name.get(at + word.len()..)?;
        let rest = rest.strip_prefix(['-', '_', '=']).unwrap_or(rest);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..digits).and_then(parse_number)
    });
    found.take(1).next()
}

/// Splits off the number at the end of a name. Returns the text before the number, and the number. The number must be
/// the whole name or follow `_`.
fn last_number(name: &str) -> Option<(&str, u32)> {
    let stem = strip_endings(name);
    let digits = stem.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, last) = stem.split_at_checked(stem.len() - digits)?;
    let is_special = before.is_empty() || before.ends_with(['_', '/']);
    Some((before, last.parse().ok()?)).filter(|_| is_special)
}

/// Returns the host in a name such as `oom_snap_{host}_rank{r}` or `{host}_Nov_23_19_21_00`.
fn host(base: &str, written: &str) -> Option<String> {
    if let Some(rest) = base.strip_prefix("oom_snap_") {
        let length = rest.rfind("_rank")?;
        let from = base.len() - rest.len();
        return written.get(from..from + length).map(str::to_owned);
    }
    let (at, _) = base.match_indices('_').find(|&(at, _)| {
        let mut parts = base.get(at + 1..).map(strip_endings).unwrap_or_default().split('_');
        let is_month = parts.next().is_some_and(|month| MONTHS.contains(&month));
        is_month && parts.clone().count() == 4 && parts.all(|part| parse_number(part).is_some())
    })?;
    written.get(..at).map(str::to_owned)
}

#[cfg(test)]
#[path = "../../../tests/units/compare/ranks/name.rs"]
mod tests;
