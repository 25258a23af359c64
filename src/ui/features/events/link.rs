//! Link keys of the Events tab.

use crate::features::events::{Events, EventsAction, handle_action};
use crate::state::link_value::{Key, hexadecimal, view_key, word_if};

pub(super) const LINKS: &[Key<Events>] = &[
    view_key(
        "events",
        |events, _| events.text.clone(),
        |events, shared, link| {
            handle_action(events, shared, EventsAction::FilterTyped(link.text.to_owned()), link.out);
        },
    ),
    view_key(
        "actions",
        |events, _| word_if(events.actions() != 0, &hexadecimal(events.actions().into())),
        |events, _, link| {
            let actions = link.hex_number().and_then(|actions| u32::try_from(actions).ok());
            events.set_actions(actions.unwrap_or(0));
        },
    ),
];
