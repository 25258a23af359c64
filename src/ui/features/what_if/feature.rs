//! Registration of the simulated allocator as a feature.

use super::{Simulator, WhatIfAction, act, ask, link, reset, take};
use crate::change::Turn;
use crate::feature::{Feature, commands_nothing, ends_nothing};
use std::convert::Infallible;

pub(crate) const FEATURE: Feature<Simulator, WhatIfAction, Infallible> = Feature {
    reset,
    asks: &[(Turn::Last, ask)],
    take,
    act,
    command: commands_nothing,
    keys: &[],
    links: link::LINKS,
    escape: ends_nothing,
};
