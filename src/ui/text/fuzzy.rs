//! Fuzzy matching of typed words against names.
//!
//! The letters of each word must occur in the name, in the same order. Adjacent letters and letters at the start of a
//! word score highest, so `gp` ranks "Go to peak" above "Group by".

/// Number of characters of a name that are compared. Further characters are ignored.
const MAX_LETTERS: usize = 160;

/// Score of an alignment that does not match.
const NO_MATCH: i32 = i32::MIN / 2;
const LETTER: i32 = 1;
const START_OF_NAME: i32 = 8;
const START_OF_WORD: i32 = 8;
const ADJACENT: i32 = 6;
/// Penalty for letters skipped between two matched letters. It is high enough that a letter after a gap scores less
/// than an adjacent letter, even at the start of a word.
const GAP: i32 = -3;
/// Factor applied to scores before the name's length is subtracted. Therefore, this many letters of length cost one
/// point.
pub(crate) const LETTERS_PER_POINT: i32 = 8;

/// Result of matching typed words against a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Match {
    /// Score of the match. Higher is better.
    pub(crate) score: i32,
    /// Indices of the matched letters in the name.
    pub(crate) indices: Vec<usize>,
}

/// Matches typed words against a name, ignoring ASCII case. Returns `None` if a word does not occur in the name.
pub(crate) fn match_name(typed: &str, name: &str) -> Option<Match> {
    let lower = |letter: char| letter.to_ascii_lowercase();
    let letters: Vec<char> = name.chars().take(MAX_LETTERS).map(lower).collect();
    let mut found = Match::default();
    for word in typed.split_whitespace() {
        let word: Vec<char> = word.chars().map(lower).collect();
        found.score += align(&word, &letters, &mut found.indices)?;
    }
    // Of two equally good matches, the shorter name is closer to the typed text.
    found.score = found.score * LETTERS_PER_POINT - letters.len() as i32;
    Some(found)
}

/// Returns the best score of a word within a name, and appends the indices of the matched letters to `indices`. `None`
/// if the name does not contain the letters of the word in order.
fn align(word: &[char], letters: &[char], indices: &mut Vec<usize>) -> Option<i32> {
    let mut rest = letters.iter();
    if !word.iter().all(|word_letter| rest.any(|letter| letter == word_letter)) {
        return None;
    }
    // One row per letter of the word. For each index in the name: the best score with the letter there, and the index
    // of the previous letter.
    let mut rows: Vec<Vec<(i32, usize)>> = Vec::new();
    for word_letter in word {
        let previous_row = rows.last();
        let mut best_far = (NO_MATCH, 0);
        let mut row = Vec::with_capacity(letters.len());
        for (index, letter) in letters.iter().enumerate() {
            let score_at =
                |index: usize| previous_row.and_then(|row| row.get(index)).map_or(NO_MATCH, |(score, _)| *score);
            if let Some(far) = index.checked_sub(2) {
                best_far = best_far.max((score_at(far) + GAP, far));
            }
            let near = index.checked_sub(1).map_or((NO_MATCH, 0), |near| (score_at(near) + ADJACENT, near));
            let (score, from) = if previous_row.is_some() { near.max(best_far) } else { (0, 0) };
            let start = match index.checked_sub(1).and_then(|previous| letters.get(previous)) {
                None => START_OF_NAME,
                Some(previous) if !previous.is_alphanumeric() => START_OF_WORD,
                Some(_) => 0,
            };
            row.push(if letter == word_letter && score > NO_MATCH / 2 {
                (score + start + LETTER, from)
            } else {
                (NO_MATCH, 0)
            });
        }
        rows.push(row);
    }
    let last = rows.last()?;
    // Ties go to the leftmost match.
    let (mut index, score) = last.iter().enumerate().rev().map(|(index, it)| (index, it.0)).max_by_key(|it| it.1)?;
    for row in rows.iter().rev() {
        indices.push(index);
        index = row.get(index)?.1;
    }
    Some(score)
}

#[cfg(test)]
#[path = "../../../tests/units/ui/fuzzy.rs"]
mod tests;
