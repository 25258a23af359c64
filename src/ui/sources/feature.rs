//! How the view by source takes part in the page.

use super::{SourceAction, Sources, act, ask, link, reset, take};
use crate::change::Turn;
use crate::feature::{Feature, commands_nothing, ends_nothing};
use std::convert::Infallible;

/// What it declares.
pub(crate) const FEATURE: Feature<Sources, SourceAction, Infallible> = Feature {
    reset,
    asks: &[(Turn::Early, ask)],
    take,
    act,
    command: commands_nothing,
    keys: &[],
    links: link::LINKS,
    escape: ends_nothing,
};
