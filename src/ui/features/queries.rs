//! The SQL tab. The page and the worker handle queries and results. This file follows a result row to its allocation
//! or event.

use crate::effect::Effect;
use crate::feature::{Feature, commands_nothing, ends_nothing, keeps_all, takes_nothing};
use crate::selecting::select;
use crate::shared::Shared;
use engine::protocol::{encoded, own_ordinal};
use std::convert::Infallible;

/// State of the SQL tab. It has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries;

/// Target of a result row on the shown device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueriesAction {
    Allocation(u32),
    Event(u32),
}

/// Subject of the queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Load number of the open file. In a comparison, those of A and B.
    pub loads: Vec<u32>,
    /// True if B is the file that was opened second.
    pub is_b_second: bool,
    /// Name of a saved result.
    pub name: String,
    /// Version of the category rules.
    rules: u32,
}

impl Subject {
    /// Returns the subject for the open file. `None` without a file.
    pub fn of(state: &Shared) -> Option<Subject> {
        let name = state.file()?.file.clone();
        let is_b_second = state.comparing.pair.is_none_or(|[_, b]| {
            let device = state.device_at(b);
            device.is_some_and(|device| own_ordinal(device.device).1)
        });
        let loads = match state.comparing.number() {
            0 => vec![state.load],
            second if is_b_second => vec![state.load, second],
            second => vec![second, state.load],
        };
        Some(Subject { loads, is_b_second, name, rules: state.rules.version })
    }
}

/// Returns the category rules in the encoding that the worker reads.
pub fn rules(state: &Shared) -> Vec<u8> {
    encoded(&state.rules.set())
}

pub(crate) const FEATURE: Feature<Queries, QueriesAction, Infallible> = Feature {
    reset: keeps_all,
    asks: &[],
    take: takes_nothing,
    act,
    command: commands_nothing,
    keys: &[],
    links: &[],
    escape: ends_nothing,
};

fn act(_: &mut Queries, shared: &mut Shared, action: QueriesAction, effects: &mut Vec<Effect>) {
    match action {
        QueriesAction::Allocation(allocation) => select(shared, allocation, effects),
        QueriesAction::Event(event) => shared.pin_and_show(event.saturating_add(1)),
    }
}
