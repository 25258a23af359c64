//! The list of all parts of the shared state (cursor, range, search, lanes, settings, rules and so on), and functions
//! that call them all.

use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::part::Part;
use super::shared::Shared;
use super::{
    comparing::part as comparing, crosshair, cursor, find, first_group, hit_testing, lane_scenes, planned, plots,
    rules, settings, slices, surroundings, tools,
};
use engine::protocol::Answer;

/// All parts, in the order of their questions within a phase.
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

/// Lets every part drop what the change made invalid. Queues the change for the features, which do the same before the
/// next question to the worker.
pub(super) fn reset(shared: &mut Shared, change: Change) {
    for part in PARTS {
        (part.reset)(shared, change);
    }
    shared.selected_label = None;
    shared.changes.push(change);
}

/// Calls the functions of all parts that send their questions in this phase.
pub(super) fn ask(shared: &mut Shared, phase: AskPhase, device: i64, effects: &mut Vec<Effect>) {
    for (_, ask) in PARTS.iter().flat_map(|part| part.asks).filter(|(when, _)| *when == phase) {
        ask(shared, device, effects);
    }
}

/// Offers an answer to each part until one takes it. Returns the answer if none did.
pub(super) fn take(shared: &mut Shared, serial: u32, answer: Answer, effects: &mut Vec<Effect>) -> Option<Answer> {
    PARTS.iter().try_fold(answer, |answer, part| (part.take)(shared, serial, answer, effects))
}
