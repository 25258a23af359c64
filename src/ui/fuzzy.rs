//! Fuzzy matching of typed words against names.
//!
//! Each word must occur in the name as a subsequence. Letters at the start of a word and adjacent letters score
//! highest, so `gp` ranks "Go to the peak" above "Page up".

/// Number of characters of a name that are matched. The rest is ignored.
const MAX_LETTERS: usize = 160;

/// Score of an impossible match.
const NO_MATCH: i32 = i32::MIN / 2;
const LETTER: i32 = 1;
const START_OF_NAME: i32 = 8;
const START_OF_WORD: i32 = 8;
const ADJACENT: i32 = 6;
/// Penalty for a gap. Even at the start of a word, a letter after a gap scores less than an adjacent one.
const GAP: i32 = -3;
/// Factor applied to scores before the name's length is subtracted: this many letters cost one point.
pub(crate) const LETTERS_PER_POINT: i32 = 8;

/// Result of a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Match {
    /// Higher is better.
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

/// Returns the best score of a word within a name, and appends the indices of the matched letters to `places`.
fn align(word: &[char], letters: &[char], places: &mut Vec<usize>) -> Option<i32> {
    let mut rest = letters.iter();
    if !word.iter().all(|sign| rest.any(|letter| letter == sign)) {
        return None;
    }
    // One row per letter of the word. For each index in the name: the best score with the letter there, and the index
    // of the previous letter.
    let mut rows: Vec<Vec<(i32, usize)>> = Vec::new();
    for sign in word {
        let before = rows.last();
        let mut apart = (NO_MATCH, 0);
        let mut row = Vec::with_capacity(letters.len());
        for (place, letter) in letters.iter().enumerate() {
            let score_at = |place: usize| before.and_then(|row| row.get(place)).map_or(NO_MATCH, |(score, _)| *score);
            if let Some(far) = place.checked_sub(2) {
                apart = apart.max((score_at(far) + GAP, far));
            }
            let near = place.checked_sub(1).map_or((NO_MATCH, 0), |near| (score_at(near) + ADJACENT, near));
            let (score, from) = if before.is_some() { near.max(apart) } else { (0, 0) };
            let start = match place.checked_sub(1).and_then(|before| letters.get(before)) {
                None => START_OF_NAME,
                Some(before) if !before.is_alphanumeric() => START_OF_WORD,
                Some(_) => 0,
            };
            row.push(if letter == sign && score > NO_MATCH / 2 {
                (score + start + LETTER, from)
            } else {
                (NO_MATCH, 0)
            });
        }
        rows.push(row);
    }
    let last = rows.last()?;
    // Ties go to the leftmost match.
    let (mut place, score) = last.iter().enumerate().rev().map(|(place, it)| (place, it.0)).max_by_key(|it| it.1)?;
    for row in rows.iter().rev() {
        places.push(place);
        place = row.get(place)?.1;
    }
    Some(score)
}

#[cfg(test)]
#[path = "../../tests/units/ui/fuzzy.rs"]
mod tests;
