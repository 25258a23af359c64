//! Texts of a snapshot that can be left out of a file that is passed on.

use serde::{Deserialize, Serialize};

/// Kinds of texts to leave out. All sizes, times, addresses, totals, function names and line numbers are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveOut {
    /// Folders of files. Each is replaced by a hash. File names, and the paths of PyTorch, Python and well-known
    /// packages are kept.
    pub paths: bool,
    /// Text of source files and source lines of tracebacks.
    pub source: bool,
    /// Names of annotations, except those of PyTorch. They are numbered instead.
    pub annotations: bool,
    /// `user_metadata` of events, and names of tensors.
    pub metadata: bool,
    /// Name of the host.
    pub host: bool,
    /// Facts of the recorder about the run, except those that numbers depend on: capacities, counters, steps.
    pub recorder: bool,
}

/// Name of each kind, as on the command line.
pub const LEAVE_OUT_NAMES: [&str; 6] = ["paths", "source", "annotations", "metadata", "host", "recorder"];

impl LeaveOut {
    pub const ALL: LeaveOut =
        LeaveOut { paths: true, source: true, annotations: true, metadata: true, host: true, recorder: true };

    /// Returns whether each kind is left out, in the order of [`LEAVE_OUT_NAMES`].
    fn flags(&mut self) -> [&mut bool; 6] {
        let LeaveOut { paths, source, annotations, metadata, host, recorder } = self;
        [paths, source, annotations, metadata, host, recorder]
    }

    /// Adds the kind with this name. Returns false if there is none.
    pub fn add(&mut self, name: &str) -> bool {
        self.set(name, true)
    }

    /// Adds or removes the kind with this name. Returns false if there is none.
    pub fn set(&mut self, name: &str, is_left_out: bool) -> bool {
        let found = LEAVE_OUT_NAMES.iter().position(|known| *known == name);
        found.and_then(|index| self.flags().into_iter().nth(index)).is_some_and(|flag| {
            *flag = is_left_out;
            true
        })
    }

    /// Returns whether any kind is left out.
    pub fn is_any(self) -> bool {
        self != LeaveOut::default()
    }

    /// Returns a sentence that names these kinds, after a space. Empty if there are none.
    pub fn note(self) -> String {
        let names: Vec<&str> = self.names().collect();
        if names.is_empty() { String::new() } else { [" Left out: ", &names.join(", "), "."].concat() }
    }

    /// Iterates over the names of the kinds that are left out.
    pub fn names(mut self) -> impl Iterator<Item = &'static str> {
        let flags = self.flags().map(|flag| *flag);
        LEAVE_OUT_NAMES.into_iter().zip(flags).filter_map(|(name, is_left_out)| is_left_out.then_some(name))
    }
}
