//! How the view of the allocator's state takes part in the page.

use super::{Memory, MemoryAction, MemoryStep, act, ask, keys, link, reset, step, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

/// What it declares.
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
