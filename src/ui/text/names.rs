//! Names in lists, shortened so that the part that differs stays visible, and units that stay with their numbers.

use protocol::{NO_STACK, NO_STACK_BEFORE_RECORDING};
use std::borrow::Cow;

/// Minimum number of bytes that names have to share before their beginnings are cut.
const MIN_SHARED: usize = 4;
/// A name with a longer rest, in characters, is cut at its end if its beginning is shorter than [`MAX_KEPT`]: then the
/// rest would not fit a narrow list even without its beginning, and what differs follows the beginning.
const MAX_REST: usize = 20;
/// Maximum length, in characters, of a shared beginning that is not worth cutting.
const MAX_KEPT: usize = 16;

/// Returns for each name the length in bytes of the beginning that it shares with another name of the list. This part
/// is cut first. It ends after a separator, such as in `transformer.py:` or `ProfilerStep#`. 0 if it is shorter than
/// four bytes, or if the name is better cut at its end.
pub fn shared_beginnings(names: &[&str]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|&index| names.get(index).copied());
    // Equal names are one run. The name that shares most with a name is a neighbour in sorted order.
    let runs: Vec<&[usize]> = order.chunk_by(|&a, &b| names.get(a) == names.get(b)).collect();
    let name = |run: &[usize]| run.first().and_then(|&index| names.get(index)).copied().unwrap_or_default();
    let mut shared = vec![0; names.len()];
    for pair in runs.windows(2) {
        let [one, other] = pair else { continue };
        let common = common_beginning(name(one), name(other));
        for &index in one.iter().chain(*other) {
            shared.get_mut(index).into_iter().for_each(|known| *known = common.max(*known));
        }
    }
    for (shared, name) in shared.iter_mut().zip(names) {
        let is_end_cut =
            |(beginning, rest): (&str, &str)| char_width(rest) > MAX_REST && char_width(beginning) < MAX_KEPT;
        if name.split_at_checked(*shared).is_some_and(is_end_cut) {
            *shared = 0;
        }
    }
    shared
}

fn common_beginning(one: &str, other: &str) -> usize {
    let equal = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    // A word or a number that differs is shown whole.
    let ends =
        equal.filter(|((_, letter), _)| !letter.is_alphanumeric()).map(|((at, letter), _)| at + letter.len_utf8());
    ends.last().filter(|&end| end >= MIN_SHARED).unwrap_or(0)
}

/// Shortens a name to a width in characters. `shared` is its length from [`shared_beginnings`]. Cuts the end of the
/// shared beginning if the rest fits, otherwise the end of the name, and the whole beginning if the word that differs
/// would be cut too: `tr…138 softmax`, `model.py:55 scal…`, `138 soft…`.
pub fn shorten(name: &str, shared: usize, max_chars: usize) -> String {
    if char_width(name) <= max_chars {
        return name.to_owned();
    }
    let (beginning, rest) = name.split_at_checked(shared).unwrap_or(("", name));
    match max_chars.checked_sub(char_width(rest) + 1) {
        Some(room) if shared > 0 => [prefix(beginning, room), "…", rest].concat(),
        _ => {
            let word = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            let is_word_shown = char_width(beginning) + char_width(word) < max_chars;
            let kept = prefix(if is_word_shown { name } else { rest }, max_chars.saturating_sub(1));
            [kept, if max_chars > 0 { "…" } else { "" }].concat()
        }
    }
}

/// Returns the width of a text in characters. Wide characters count twice.
pub fn char_width(text: &str) -> usize {
    text.chars().map(wide).sum()
}

fn wide(letter: char) -> usize {
    if matches!(letter, '\u{1100}'..'\u{1200}' | '\u{2e80}'..) { 2 } else { 1 }
}

fn prefix(text: &str, max_chars: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|&(_, letter)| {
        used += wide(letter);
        used > max_chars
    });
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Returns the text shown in place of the call site of an allocation without a stack.
pub fn no_stack(is_recorded: bool) -> &'static str {
    if is_recorded { NO_STACK } else { NO_STACK_BEFORE_RECORDING }
}

/// Units that stay on the line of their number.
const UNITS: [&str; 12] = ["B", "KiB", "MiB", "GiB", "TiB", "GB", "kB", "s", "ms", "µs", "min", "%"];

/// Returns whether a line may not end at the space at byte `at`: between a number and its unit, after `≤` and `≥`,
/// around `−`, and before `·` and `→`.
pub fn keeps_together(text: &str, at: usize) -> bool {
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
    let is_unit = |unit: &str| {
        let next = after.strip_prefix(unit).map(|rest| rest.chars().next());
        next.is_some_and(|next| next.is_none_or(|next| !next.is_alphanumeric()))
    };
    match before.chars().next_back() {
        Some('≤' | '≥' | '−') => true,
        _ if after.starts_with(['·', '→', '−']) => true,
        Some('0'..='9') => UNITS.iter().copied().any(is_unit),
        _ => false,
    }
}

/// Replaces the spaces at which a line may not end ([`keeps_together`]) by no-break spaces.
pub fn keep_units(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices(' ').filter(|(at, _)| keeps_together(text, *at)) {
        kept.push_str(text.get(copied..at).unwrap_or_default());
        kept.push('\u{a0}');
        copied = at + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(kept)
}

#[cfg(test)]
#[path = "../../../tests/units/ui/names.rs"]
mod tests;
