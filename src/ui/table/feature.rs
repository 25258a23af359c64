//! How the table of allocations takes part in the page.

use super::{KEYS, Table, TableAction, TableStep, act, ask, command, link, reset, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

/// What it declares.
pub(crate) const FEATURE: Feature<Table, TableAction, TableStep> = Feature {
    reset,
    asks: &[(Turn::WithScene, ask)],
    take,
    act,
    command,
    keys: KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};
