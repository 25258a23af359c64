//! Link keys of the Events tab.

use super::{Events, EventsAction, act};
use crate::link::reading::{Key, hexadecimal, kept, word};

pub(super) const LINKS: &[Key<Events>] = &[
    kept(
        "events",
        |events, _| events.text.clone(),
        |events, shared, link| act(events, shared, EventsAction::Typed(link.text.to_owned()), link.effects),
    ),
    kept(
        "actions",
        |events, _| word(events.actions() != 0, &hexadecimal(events.actions().into())),
        |events, _, link| {
            let actions = link.hexadecimal().and_then(|actions| u32::try_from(actions).ok());
            events.list_actions(actions.unwrap_or(0));
        },
    ),
];
