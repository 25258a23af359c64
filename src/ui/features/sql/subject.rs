//! Snapshots that queries run on.

use crate::state::shared::Shared;
use protocol::split_ordinal;

/// Data that queries run on. If it changes, earlier results are outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuerySubject {
    /// Load ids of the queried files: the open file, or the files of A and B in a comparison of two files.
    pub(super) loads: Vec<u32>,
    /// True if device B is in the file that was opened second.
    pub(super) is_b_second: bool,
    /// File name of the snapshot, for naming a saved result.
    pub(super) name: String,
    /// Version of the category rules.
    rules: u32,
}

impl QuerySubject {
    /// Returns the data of the open files. `None` if no file is open.
    pub(super) fn from_state(state: &Shared) -> Option<QuerySubject> {
        let name = state.file()?.file.clone();
        let is_b_second = state.comparing.pair.is_none_or(|[_, b]| {
            let device = state.device_at(b);
            device.is_some_and(|device| split_ordinal(device.device).1)
        });
        let loads = match state.comparing.second_load() {
            0 => vec![state.load],
            second if is_b_second => vec![state.load, second],
            second => vec![second, state.load],
        };
        Some(QuerySubject { loads, is_b_second, name, rules: state.rules.version })
    }
}
