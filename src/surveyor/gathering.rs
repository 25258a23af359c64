//! What is known of all files, and the insight made of it.

use compare::ranks::{OfFile, Order, Pattern, Rank, Ranks, named_by, report};
use engine::protocol::Report;

/// Between an archive and what is in it.
const INSIDE: &str = " › ";

/// The files of a survey.
#[derive(Default)]
pub(super) struct Gathering {
    files: Vec<String>,
    /// What came of them, by their places in the list.
    done: Vec<(u32, Result<OfFile, String>)>,
    /// What stands where in their names, as a person has typed it; empty where nobody has.
    pattern: String,
}

impl Gathering {
    /// Of these files.
    pub(super) fn of(files: Vec<String>) -> Gathering {
        Gathering { files, ..Gathering::default() }
    }

    /// The file of this place is done.
    pub(super) fn take(&mut self, place: u32, of: Result<OfFile, String>) {
        self.done.push((place, of));
    }

    /// Reads names by this pattern from now on.
    pub(super) fn set_pattern(&mut self, typed: String) {
        self.pattern = typed;
    }

    /// The insight, with so many rows of each table at most. Of files that are not done it says nothing.
    pub(super) fn report(&self, rows: usize, order: Order) -> Report {
        let (mut ranks, mut notes) = (Vec::new(), Vec::new());
        let pattern = match self.pattern.trim() {
            "" => None,
            typed => Pattern::parse(typed).map_err(|error| notes.push(["File names: ", &error, "."].concat())).ok(),
        };
        let paths: Vec<String> = self.files.iter().map(|file| file.replace(INSIDE, "/")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (said, fitting) = named_by(&paths, pattern.as_ref());
        if pattern.is_some() && fitting < self.files.len() {
            notes.push(format!("File names: the pattern fits {fitting} of {}.", self.files.len()));
        }
        for (place, of) in &self.done {
            let at = *place as usize;
            let (Some(file), Some(named)) = (self.files.get(at), said.get(at)) else { continue };
            let rank = Rank { place: Some(*place), ..Rank::of(file.clone(), named.clone()) };
            match of {
                Ok(of) => {
                    let (found, note) = rank.of_file(of.clone());
                    ranks.extend(found);
                    notes.extend(note);
                }
                Err(error) => ranks.push(rank.failed(error.clone())),
            }
        }
        notes.sort_unstable();
        report(&Ranks::new(ranks, notes), rows, order)
    }
}
