//! Registration of the Source tab as a feature.

use super::{SourceAction, Sources, act, ask, link, reset, take};
use crate::change::Turn;
use crate::feature::{Feature, commands_nothing, ends_nothing};
use std::convert::Infallible;

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
