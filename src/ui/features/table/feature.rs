//! Registration of the Allocations tab as a feature.

use super::{KEYS, Table, TableAction, TableStep, act, ask, command, link, reset, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

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
