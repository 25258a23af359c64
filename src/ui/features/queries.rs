//! The tab SQL. What is typed and answered there is the worker's and the page's; here a row of an answer leads to what it is about.

use crate::effect::Effect;
use crate::feature::{Feature, commands_nothing, ends_nothing, keeps_all, takes_nothing};
use crate::selecting::select;
use crate::shared::Shared;
use engine::protocol::{encoded, own_ordinal};
use std::convert::Infallible;

/// The tab keeps nothing of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries;

/// What a row of an answer leads to, on the shown device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueriesAction {
    Allocation(u32),
    Event(u32),
}

/// What queries are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The load of the open file; while it is compared with another one, those of A and B.
    pub loads: Vec<u32>,
    /// Whether B is the file that was opened second.
    pub is_b_second: bool,
    /// What a saved answer is called.
    pub name: String,
    /// Which rules classify categories: another number, other rules.
    rules: u32,
}

impl Subject {
    /// Of what is open; `None` without a file.
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

/// The rules that classify categories, as the worker reads them.
pub fn rules(state: &Shared) -> Vec<u8> {
    encoded(&state.rules.set())
}

/// How it takes part.
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
