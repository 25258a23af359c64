//! How the reports take part in the page.

use super::{Why, WhyAction, WhyStep, act, ask_one, ask_unseen, keys, link, reset, step, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};

/// What it declares.
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
