//! The list of all parts of the shared state (cursor, range, search, lanes, settings, rules and so on), and functions
//! that run one of their hooks in each.

use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::part::Part;
use super::shared::Shared;
use super::{
    comparing::part as comparing, crosshair, cursor, find, first_group, hit_testing, lane_scenes, planned, plots,
    rules, settings, slices, surroundings, tools,
};
use engine::protocol::Answer;

/// All parts, in the order they ask within a turn.
const PARTS: &[Part] = &[
    lane_scenes::PART,
    first_group::PART,
    comparing::PART,
    hit_testing::PART,
    rules::PART,
    find::PART,
    plots::PART,
    surroundings::PART,
    crosshair::PART,
    tools::PART,
    settings::PART,
    slices::PART,
    cursor::PART,
    planned::PART,
];

/// Resets every part immediately. The change is also queued for the features, which are reset before anything else is
/// asked.
pub(super) fn reset(shared: &mut Shared, change: Change) {
    for part in PARTS {
        (part.reset)(shared, change);
    }
    shared.node = None;
    shared.changes.push(change);
}

/// Lets every part with this turn send its questions.
pub(super) fn ask(shared: &mut Shared, turn: AskPhase, device: i64, effects: &mut Vec<Effect>) {
    for (_, ask) in PARTS.iter().flat_map(|part| part.asks).filter(|(when, _)| *when == turn) {
        ask(shared, device, effects);
    }
}

/// Offers an answer to each part until one takes it. Returns the answer if none did.
pub(super) fn take(shared: &mut Shared, serial: u32, answer: Answer, effects: &mut Vec<Effect>) -> Option<Answer> {
    PARTS.iter().try_fold(answer, |answer, part| (part.take)(shared, serial, answer, effects))
}
