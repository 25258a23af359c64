//! Snapshots to compare with, and which of them belongs to a checked snapshot.

use crate::serve::{ALL_ENTRIES, search};
use base::natural::compare_names;
use compare::ranks::parse_names;
use std::path::{Path, PathBuf};

/// Reasons in the names of the files that memscape's recorder saves.
const REASONS: [&str; 8] = ["oom", "error", "exit", "signal", "manual", "growth", "peak", "step"];

/// Rank, step and reason of a snapshot, as given by the name of its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) rank: Option<u32>,
    pub(super) step: Option<u64>,
    pub(super) reason: Option<&'static str>,
}

/// Returns the identity of each file. Names are paths with `/` as separator.
pub(super) fn identities(names: &[&str]) -> Vec<Identity> {
    let reason = |name: &str| {
        let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let words = base.split(|letter: char| !letter.is_ascii_alphanumeric()).rev();
        words.filter_map(|word| REASONS.into_iter().find(|reason| *reason == word)).next()
    };
    let parsed = parse_names(names).into_iter().zip(names);
    parsed.map(|(parsed, name)| Identity { rank: parsed.rank, step: parsed.step, reason: reason(name) }).collect()
}

/// A snapshot to compare with.
#[derive(Clone, Debug)]
struct Candidate {
    path: PathBuf,
    name: String,
    identity: Identity,
}

/// The baseline of a command: one snapshot for all files, or a folder of snapshots.
#[derive(Clone, Debug, Default)]
pub(super) struct Baseline {
    candidates: Vec<Candidate>,
    is_folder: bool,
}

impl Baseline {
    /// Finds the snapshots of a file or folder. A path that does not exist has none.
    pub(super) fn find(path: &Path) -> Baseline {
        let is_folder = path.is_dir();
        let mut found = search(&[path], ALL_ENTRIES).snapshots;
        found.sort_by(|a, b| compare_names(&a.name, &b.name));
        let names: Vec<&str> = found.iter().map(|it| &*it.name).collect();
        let identities = identities(&names);
        let candidate = |(found, identity): (crate::serve::Snapshot, Identity)| Candidate {
            path: found.path,
            name: found.name,
            identity,
        };
        Baseline { candidates: found.into_iter().zip(identities).map(candidate).collect(), is_folder }
    }

    /// Returns the snapshot of the baseline that belongs to a checked file: path and name.
    ///
    /// In a folder, this is the file of the same rank, step and reason. If there is none, it is the only one of the
    /// same rank and reason, or the only one of the same rank.
    pub(super) fn partner(&self, name: &str, identity: &Identity) -> Option<(&Path, &str)> {
        let found = if self.is_folder { self.in_folder(name, identity) } else { self.candidates.first() };
        found.map(|it| (&*it.path, &*it.name))
    }

    fn in_folder(&self, name: &str, identity: &Identity) -> Option<&Candidate> {
        let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let same: Vec<&Candidate> = self.candidates.iter().filter(|it| it.identity == *identity).collect();
        if let Some(first) = same.first() {
            return Some(same.iter().find(|it| base(&it.name) == base(name)).unwrap_or(first));
        }
        let only = |fits: &dyn Fn(&Identity) -> bool| {
            let mut all = self.candidates.iter().filter(|it| fits(&it.identity));
            all.next().filter(|_| all.next().is_none())
        };
        let of_rank = |it: &Identity| it.rank == identity.rank;
        only(&|it| of_rank(it) && it.reason == identity.reason).or_else(|| only(&of_rank))
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/check/baseline.rs"]
mod tests;
