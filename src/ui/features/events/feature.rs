//! Registration of the Events tab as a feature.

use super::{EventStep, Events, EventsAction, KEYS, act, ask, link, reset, step, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

pub(crate) const FEATURE: Feature<Events, EventsAction, EventStep> = Feature {
    reset,
    asks: &[(Turn::WithScene, ask)],
    take,
    act,
    command: step,
    keys: KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};
