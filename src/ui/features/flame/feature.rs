//! Registration of the flame graph as a feature.

use super::{FlameAction, FlameGraph, FlameStep, act, ask, keys, link, reset, step, take, unzoom};
use crate::change::Turn;
use crate::feature::Feature;

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
