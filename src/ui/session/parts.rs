//! List of all parts of the shared state (cursor, range, search, lanes, settings, rules and so on), and functions that
//! call all parts.

use crate::plot::comparing::part as comparing;
use crate::plot::{crosshair, hit_testing, lane_scenes, planned, plots, slices, surroundings, tools};
use crate::prefs::{rules, settings};
use crate::scope::{cursor, find};
use crate::session::first_group;
use crate::state::change::AskPhase;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
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
pub(crate) fn ask(shared: &mut Shared, phase: AskPhase, device: i64, out: &mut Outbox) {
    for (_, ask) in PARTS.iter().flat_map(|part| part.asks).filter(|(when, _)| *when == phase) {
        ask(shared, device, out);
    }
}

/// Offers an answer of the worker to each part until one accepts it. Returns the answer if none does.
pub(crate) fn take(shared: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    PARTS.iter().try_fold(answer, |answer, part| (part.take)(shared, serial, answer, out))
}
