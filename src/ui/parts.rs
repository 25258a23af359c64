//! List of all parts of the shared state (cursor, range, search, lanes, settings, rules and so on), and functions that
//! call all parts.

use super::change::AskPhase;
use super::outbox::Outbox;
use super::part::Part;
use super::shared::Shared;
use super::{
    comparing::part as comparing, crosshair, cursor, find, first_group, hit_testing, lane_scenes, planned, plots,
    rules, settings, slices, surroundings, tools,
};
use protocol::Answer;

/// All parts. Within a phase, they send their requests in this order.
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

/// Calls the functions of all parts that send requests to the worker in this phase.
pub(super) fn ask(shared: &mut Shared, phase: AskPhase, device: i64, out: &mut Outbox) {
    for (_, ask) in PARTS.iter().flat_map(|part| part.asks).filter(|(when, _)| *when == phase) {
        ask(shared, device, out);
    }
}

/// Offers an answer of the worker to each part until one accepts it. Returns the answer if none does.
pub(super) fn take(shared: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    PARTS.iter().try_fold(answer, |answer, part| (part.take)(shared, serial, answer, out))
}
