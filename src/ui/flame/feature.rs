//! How the flame graph takes part in the page.

use super::{FlameAction, FlameGraph, FlameStep, act, ask, keys, link, reset, step, take, unzoom};
use crate::change::Turn;
use crate::feature::Feature;

/// What it declares.
pub(crate) const FEATURE: Feature<FlameGraph, FlameAction, FlameStep> = Feature {
    reset,
    asks: &[(Turn::Early, ask)],
    take,
    act,
    command: step,
    keys: keys::KEYS,
    links: link::LINKS,
    escape: unzoom,
};
