//! The tab SQL. What is typed and answered there is the worker's and the page's; here a row of an answer leads to what it is about.

use crate::effect::Effect;
use crate::feature::{Feature, commands_nothing, ends_nothing, keeps_all, takes_nothing};
use crate::selecting::select;
use crate::shared::Shared;
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
