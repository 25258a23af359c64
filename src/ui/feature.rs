//! What a feature of the face declares, and the list of all of them: what it forgets and when, what it asks and when, which answers
//! are its own. No field has a default, so what is left out does not compile; a `FEATURE` that is not
//! in the list is dead code, which the lints refuse.

use super::effect::Effect;
use super::shared::Shared;
use super::{cursor, events, export, find, flame, lane_scenes, memory, opening, pinned, plots, pointing, rules};
use super::{settings, sources, surroundings, table, tools, tree, why};
use engine::protocol::Reply;

/// One feature.
pub(super) struct Feature {
    /// Forgets what no longer holds.
    pub(super) reset: fn(&mut Shared, Change),
    /// What it asks the worker of the shown device, and when. It is called after everything that happens, so it asks for what is
    /// wanted and neither known nor on its way.
    pub(super) asks: &'static [(Turn, Ask)],
    /// Takes an answer to a question of its own, and gives back any other.
    pub(super) take: fn(&mut Shared, Reply, now_ms: f64, &mut Vec<Effect>) -> Option<Reply>,
}

/// Asks for what is missing; the number is the shown device's ordinal.
pub(super) type Ask = fn(&mut Shared, i64, &mut Vec<Effect>);

/// What has changed under a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Another file is open, or none; a change of the device follows.
    File,
    /// Another device is shown, from the beginning.
    Device,
    /// Another of the devices that are shown together has the focus.
    Lane,
}

/// When a feature asks, from first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before anything that rests on categories or on the arrangement of stacks.
    Ground,
    /// Before the scene: what the look of the scene follows from.
    Early,
    /// With the scene.
    WithScene,
    /// Once the scene of the window is there: the picture comes first.
    AfterScene,
    /// After everything else.
    Last,
}

/// All features, in the order they ask in within a turn.
pub(super) const FEATURES: &[Feature] = &[
    export::FEATURE,
    opening::FEATURE,
    lane_scenes::FEATURE,
    pointing::FEATURE,
    rules::FEATURE,
    find::FEATURE,
    flame::FEATURE,
    sources::FEATURE,
    why::FEATURE,
    plots::FEATURE,
    table::FEATURE,
    events::FEATURE,
    memory::FEATURE,
    surroundings::FEATURE,
    cursor::FEATURE,
    tools::FEATURE,
    settings::FEATURE,
    tree::FEATURE,
    pinned::FEATURE,
];

/// For a feature that keeps nothing of a file.
pub(super) fn keeps_all(_: &mut Shared, _: Change) {}

/// For a feature that asks nothing.
pub(super) fn takes_nothing(_: &mut Shared, reply: Reply, _: f64, _: &mut Vec<Effect>) -> Option<Reply> {
    Some(reply)
}

/// Every feature forgets what no longer holds.
pub(super) fn reset(state: &mut Shared, change: Change) {
    for feature in FEATURES {
        (feature.reset)(state, change);
    }
}

/// Every feature whose turn it is asks.
pub(super) fn ask(state: &mut Shared, turn: Turn, device: i64, effects: &mut Vec<Effect>) {
    for (_, ask) in FEATURES.iter().flat_map(|feature| feature.asks).filter(|(when, _)| *when == turn) {
        ask(state, device, effects);
    }
}

/// Hands an answer to the feature that asked for it; one that nobody waits for any more is dropped.
pub(super) fn take(state: &mut Shared, reply: Reply, now_ms: f64, effects: &mut Vec<Effect>) {
    let mut reply = Some(reply);
    for feature in FEATURES {
        let Some(open) = reply else { return };
        reply = (feature.take)(state, open, now_ms, effects);
    }
}
