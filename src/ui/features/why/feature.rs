//! Registration of the Insights tab as a feature.

use super::{Why, WhyAction, WhyStep, act, ask_one, ask_unseen, keys, link, reset, step, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

pub(crate) const FEATURE: Feature<Why, WhyAction, WhyStep> = Feature {
    reset,
    asks: &[(Turn::Early, ask_one), (Turn::AfterScene, ask_unseen)],
    take,
    act,
    command: step,
    keys: keys::KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};
