//! The SQL tab. The page and the worker handle queries and results. This module selects the allocation or event of a
//! result row.

use crate::features::feature::{Feature, close_nothing, reset_nothing, take_nothing};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use protocol::{encode, split_ordinal};

/// State of the SQL tab. Empty, because the page and the worker keep all state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sql;

/// Click on a result row that belongs to an allocation or event of the shown device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlAction {
    Allocation(u32),
    Event(u32),
}

/// Data that queries run on. If it changes, earlier results are outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuerySubject {
    /// Load ids of the queried files: the open file, or the files of A and B in a comparison of two files.
    pub loads: Vec<u32>,
    /// True if device B is in the file that was opened second.
    pub is_b_second: bool,
    /// File name of the snapshot, for naming a saved result.
    pub name: String,
    /// Version of the category rules.
    rules: u32,
}

impl QuerySubject {
    /// Returns the data of the open files. `None` if no file is open.
    pub fn from_state(state: &Shared) -> Option<QuerySubject> {
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

/// Returns the category rules in the encoding that the worker reads.
pub fn encoded_rules(state: &Shared) -> Vec<u8> {
    encode(&state.rules.set())
}

pub(crate) const FEATURE: Feature<Sql, SqlAction> = Feature {
    reset: reset_nothing,
    questions: &[],
    on_reply: take_nothing,
    on_action,
    link_keys: &[],
    on_escape: close_nothing,
};

fn on_action(_: &mut Sql, _: &Shared, action: SqlAction, out: &mut Outbox) {
    match action {
        SqlAction::Allocation(allocation) => out.intend(Intent::Select(Some(allocation))),
        SqlAction::Event(event) => out.intend(Intent::MoveCursor(event.saturating_add(1))),
    }
}
