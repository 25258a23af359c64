//! The parts of what all features share: the picture with its cursor, range, search and lanes, the settings and the rules. A part
//! forgets, asks and takes as a feature does; its actions are those of the page.

use super::change::{Change, Turn};
use super::effect::Effect;
use super::part::Part;
use super::shared::Shared;
use super::{
    comparing::part as comparing, cursor, find, first_group, lane_scenes, pinned, planned, plots, pointing, rules,
    settings, slices, surroundings, tools,
};
use engine::protocol::Answer;

/// All parts, in the order they ask in within a turn.
const PARTS: &[Part] = &[
    lane_scenes::PART,
    first_group::PART,
    comparing::PART,
    pointing::PART,
    rules::PART,
    find::PART,
    plots::PART,
    surroundings::PART,
    cursor::PART,
    tools::PART,
    settings::PART,
    slices::PART,
    pinned::PART,
    planned::PART,
];

/// Every part forgets what no longer holds, at once; the features do so before anything else is asked.
pub(super) fn reset(shared: &mut Shared, change: Change) {
    for part in PARTS {
        (part.reset)(shared, change);
    }
    shared.node = None;
    shared.changes.push(change);
}

/// Every part whose turn it is asks.
pub(super) fn ask(shared: &mut Shared, turn: Turn, device: i64, effects: &mut Vec<Effect>) {
    for (_, ask) in PARTS.iter().flat_map(|part| part.asks).filter(|(when, _)| *when == turn) {
        ask(shared, device, effects);
    }
}

/// Hands an answer to the part that asked for it.
pub(super) fn take(shared: &mut Shared, serial: u32, answer: Answer, effects: &mut Vec<Effect>) -> Option<Answer> {
    PARTS.iter().try_fold(answer, |answer, part| (part.take)(shared, serial, answer, effects))
}
