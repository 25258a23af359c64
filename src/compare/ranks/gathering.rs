//! Collects the scan results of files one by one, and compares the ranks that are scanned so far.

use super::{FileSurveys, Order, Pattern, Rank, Ranks, parse_names_with, report};
use base::units::group_digits;
use protocol::Report;

/// Separator between the name of an archive and the name of a member.
const INSIDE: &str = " › ";

/// Files that are being scanned, and the results so far.
#[derive(Clone, Debug, Default)]
pub struct SurveyProgress {
    files: Vec<String>,
    /// Index of each scanned file, with its result.
    done: Vec<(u32, Result<FileSurveys, String>)>,
    /// File name pattern as typed by the user. Empty if there is none.
    pattern: String,
    /// Sentence about files that were found but are not scanned.
    omitted_note: Option<String>,
}

impl SurveyProgress {
    /// Creates the collection for these files, without results.
    pub fn new(files: Vec<String>) -> SurveyProgress {
        SurveyProgress { files, ..SurveyProgress::default() }
    }

    /// Adds the result of the file with index `place`.
    pub fn add(&mut self, place: u32, result: Result<FileSurveys, String>) {
        self.done.push((place, result));
    }

    /// Sets the file name pattern, as typed by the user.
    pub fn set_pattern(&mut self, typed: String) {
        self.pattern = typed;
    }

    /// Sets the sentence about files that are not scanned. Empty if there are none.
    pub fn set_omitted_note(&mut self, sentence: String) {
        self.omitted_note = Some(sentence).filter(|sentence| !sentence.is_empty());
    }

    /// Returns the number of files that have a result.
    pub fn done(&self) -> usize {
        self.done.len()
    }

    /// Returns true if the file with index `place` has a result.
    pub fn is_done(&self, place: usize) -> bool {
        self.done.iter().any(|(done, _)| *done as usize == place)
    }

    /// Compares the ranks in the files that have a result.
    pub fn ranks(&self) -> Ranks {
        let (mut ranks, mut notes) = (Vec::new(), Vec::new());
        let pattern = match self.pattern.trim() {
            "" => None,
            typed => Pattern::parse(typed).map_err(|error| notes.push(["File names: ", &error, "."].concat())).ok(),
        };
        let paths: Vec<String> = self.files.iter().map(|file| file.replace(INSIDE, "/")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (named, fitting) = parse_names_with(&paths, pattern.as_ref());
        if pattern.is_some() && fitting < self.files.len() {
            notes.push(format!("File names: the pattern fits {fitting} of {}.", self.files.len()));
        }
        for (place, of) in &self.done {
            let index = *place as usize;
            let (Some(file), Some(named)) = (self.files.get(index), named.get(index)) else { continue };
            let rank = Rank { place: Some(*place), ..Rank::from_file(file.clone(), named.clone()) };
            match of {
                Ok(of) => {
                    let (found, note) = rank.of_file(of.clone());
                    ranks.extend(found);
                    notes.extend(note);
                }
                Err(error) => ranks.push(rank.with_error(error.clone())),
            }
        }
        notes.sort_unstable();
        notes.extend(self.omitted_note.clone());
        let (done, all) = (self.done.len(), self.files.len());
        if done < all {
            notes.push(format!("{} of {} files surveyed so far.", group_digits(done as u64), group_digits(all as u64)));
        }
        if done < all || self.omitted_note.is_some() { Ranks::partial(ranks, notes) } else { Ranks::new(ranks, notes) }
    }

    /// Returns the report on the ranks scanned so far, with at most `rows` rows per table.
    pub fn report(&self, rows: usize, order: Order) -> Report {
        report(&self.ranks(), rows, order)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/compare/ranks/gathering.rs"]
mod tests;
