//! What is known of all files, and the insight made of it.

use compare::ranks::{Named, OfFile, Rank, Ranks, named, report};
use engine::protocol::Report;

/// Between an archive and what is in it.
const INSIDE: &str = " › ";

/// The files of a survey.
#[derive(Default)]
pub(super) struct Gathering {
    files: Vec<(String, Named)>,
    ranks: Vec<Rank>,
    notes: Vec<String>,
}

impl Gathering {
    /// Of these files.
    pub(super) fn of(files: Vec<String>) -> Gathering {
        let paths: Vec<String> = files.iter().map(|file| file.replace(INSIDE, "/")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let said = named(&paths);
        Gathering { files: files.into_iter().zip(said).collect(), ..Gathering::default() }
    }

    /// The file of this place is done.
    pub(super) fn take(&mut self, place: u32, of: Result<OfFile, String>) {
        let Some((file, named)) = self.files.get(place as usize) else { return };
        let rank = Rank { place: Some(place), ..Rank::of(file.clone(), named.clone()) };
        match of {
            Ok(of) => {
                let (ranks, note) = rank.of_file(of);
                self.ranks.extend(ranks);
                self.notes.extend(note);
            }
            Err(error) => self.ranks.push(rank.failed(error)),
        }
    }

    /// The insight, with so many rows of each table at most. Of files that are not done it says nothing.
    pub(super) fn report(&self, rows: usize) -> Report {
        let mut notes = self.notes.clone();
        notes.sort_unstable();
        report(&Ranks::new(self.ranks.clone(), notes), rows)
    }
}
