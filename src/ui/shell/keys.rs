//! The command of a key, and the gestures that have no key.

use crate::features::command::Command;
use crate::shell::commands;
use crate::shell::commands::{
    FIND_NEXT, FIND_NEXT_IN_SCOPE, FIND_PREVIOUS, FIND_PREVIOUS_IN_SCOPE, REMOVE_MARKER, SELECT_AT_CURSOR,
};
use crate::state::binding::KeyScope;
use crate::state::stage::Letters;
use crate::text::tab::Tab;

/// Gestures with the pointer and the wheel, as listed in the help dialog.
pub const GESTURES: &[(&str, &str)] = &[
    ("wheel", "Zoom horizontally at the pointer"),
    ("Ctrl + wheel", "Zoom vertically at the pointer"),
    ("Shift + wheel", "Pan horizontally"),
    ("drag", "Pan"),
    ("Shift + drag", "Zoom to a box; on the minimap, select a range"),
    ("Alt + drag", "Measure"),
    ("click", "Select an allocation and move the cursor"),
    ("drag the axis", "Select a range; drag the handle to move the cursor"),
    ("click an annotation", "Select its range; double-click zooms to it"),
    ("right-click", "Add a marker"),
    ("drag the divider", "Resize the views; ↑ and ↓ do the same"),
];

/// Returns the command that `key` runs while the focus is in `scope`. `key` is in the notation of
/// [`crate::state::binding::chord`].
pub fn command_for_key(scope: KeyScope, key: &str, letters: Letters) -> Option<Command> {
    let last_key = key.rsplit_once('+').map_or(key, |(_, last_key)| if last_key.is_empty() { key } else { last_key });
    if last_key.chars().count() == 1 && letters == Letters::Off && !key.starts_with("Ctrl+") && !key.starts_with("Alt+")
    {
        return None;
    }
    let in_scope = |scope| commands::all().find(|command| command.scope == scope && command.keys.contains(&key));
    // Keys for rows work in the list of events as well.
    let rows_command = || if scope == KeyScope::Tab(Tab::Events) { in_scope(commands::rows::SCOPE) } else { None };
    // Keys of the timeline work wherever the focus is, except keys that remove or select, which act on the focused
    // view.
    let timeline_command = || {
        let is_global = |command: &Command| ![REMOVE_MARKER, SELECT_AT_CURSOR].contains(command);
        if scope == KeyScope::Export { None } else { in_scope(KeyScope::Timeline).filter(is_global) }
    };
    let found = in_scope(scope).or_else(rows_command).or_else(|| in_scope(KeyScope::Page)).or_else(timeline_command)?;
    // In these lists, matches are searched among the listed allocations.
    let searches_list = matches!(scope, KeyScope::Tab(Tab::Flame | Tab::Allocations));
    Some(match found {
        found if searches_list && found == FIND_NEXT => FIND_NEXT_IN_SCOPE,
        found if searches_list && found == FIND_PREVIOUS => FIND_PREVIOUS_IN_SCOPE,
        found => found,
    })
}

#[cfg(test)]
#[path = "../../../tests/units/ui/keys.rs"]
mod tests;
