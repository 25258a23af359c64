//! Fuzzy matching: whether the letters of each typed word occur in a name in their order, and how well. Letters at the start of a word
//! and letters side by side count most, so that `gp` finds "Go to the peak" before "Page up".

/// Longer names are matched by their beginning.
const MOST_LETTERS: usize = 160;

/// Where no match ends.
const NEVER: i32 = i32::MIN / 2;
const LETTER: i32 = 1;
const START_OF_NAME: i32 = 8;
const START_OF_WORD: i32 = 8;
const SIDE_BY_SIDE: i32 = 6;
/// A gap is no gain, even before the start of a word.
const APART: i32 = -3;
/// So many letters of a name weigh as much as one point.
pub(crate) const SCALE: i32 = 8;

/// How well a name matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Match {
    /// The higher the better.
    pub(crate) score: i32,
    /// Which letters of the name were typed.
    pub(crate) places: Vec<usize>,
}

/// Matches what was typed with a name; `None` where a word of it is not in the name. ASCII letters match in either case.
pub(crate) fn matched(typed: &str, name: &str) -> Option<Match> {
    let lower = |letter: char| letter.to_ascii_lowercase();
    let letters: Vec<char> = name.chars().take(MOST_LETTERS).map(lower).collect();
    let mut found = Match::default();
    for word in typed.split_whitespace() {
        let word: Vec<char> = word.chars().map(lower).collect();
        found.score += align(&word, &letters, &mut found.places)?;
    }
    // Of two names that match alike, the shorter says more precisely what was typed.
    found.score = found.score * SCALE - letters.len() as i32;
    Some(found)
}

/// The best way to find the letters of a word in a name.
fn align(word: &[char], letters: &[char], places: &mut Vec<usize>) -> Option<i32> {
    let mut rest = letters.iter();
    if !word.iter().all(|sign| rest.any(|letter| letter == sign)) {
        return None;
    }
    // For each letter of the word, and each place in the name: the best score with the letter there, and the place of the one before.
    let mut rows: Vec<Vec<(i32, usize)>> = Vec::new();
    for sign in word {
        let before = rows.last();
        let mut apart = (NEVER, 0);
        let mut row = Vec::with_capacity(letters.len());
        for (place, letter) in letters.iter().enumerate() {
            let score_at = |place: usize| before.and_then(|row| row.get(place)).map_or(NEVER, |(score, _)| *score);
            if let Some(far) = place.checked_sub(2) {
                apart = apart.max((score_at(far) + APART, far));
            }
            let near = place.checked_sub(1).map_or((NEVER, 0), |near| (score_at(near) + SIDE_BY_SIDE, near));
            let (score, from) = if before.is_some() { near.max(apart) } else { (0, 0) };
            let start = match place.checked_sub(1).and_then(|before| letters.get(before)) {
                None => START_OF_NAME,
                Some(before) if !before.is_alphanumeric() => START_OF_WORD,
                Some(_) => 0,
            };
            row.push(if letter == sign && score > NEVER / 2 { (score + start + LETTER, from) } else { (NEVER, 0) });
        }
        rows.push(row);
    }
    let last = rows.last()?;
    // The first of equal ones.
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
