//! Registration of the Segments tab as a feature.

use super::{Memory, MemoryAction, MemoryStep, act, ask, keys, link, reset, step, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

pub(crate) const FEATURE: Feature<Memory, MemoryAction, MemoryStep> = Feature {
    reset,
    asks: &[(Turn::WithScene, ask)],
    take,
    act,
    command: step,
    keys: keys::KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};
