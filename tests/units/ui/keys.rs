//! Unit tests of `src/ui/keys.rs`.

use super::*;
use crate::state::binding::{Modifiers, chord};

#[test]
fn keys_are_unique_in_overlapping_scopes() {
    let all: Vec<Command> = commands::all().collect();
    for (at, a) in all.iter().enumerate() {
        for b in &all[at + 1..] {
            assert_ne!(a, b, "a command is in the table once");
            assert!(
                a.control != b.control
                    || ["tree-rows", "table-grid", "timeline", "device", "insights-report"].contains(&a.control),
                "{}",
                a.control
            );
            // A page key works in every scope, so it must differ from the keys of all others. Exceptions are the call
            // tree and the export dialog, whose keys take precedence.
            let goes_before = |scope| [KeyScope::Tab(Tab::CallTree), KeyScope::Export].contains(&scope);
            let near =
                [a.scope, b.scope].contains(&KeyScope::Page) && ![a.scope, b.scope].iter().any(|it| goes_before(*it));
            let rows = [a.scope, b.scope]
                .iter()
                .all(|it| [KeyScope::Tab(Tab::Events), KeyScope::Tab(Tab::Allocations)].contains(it));
            if a.scope == b.scope || near || rows {
                let shared = a.keys.iter().find(|key| b.keys.contains(key));
                assert_eq!(shared, None, "{a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn call_tree_overrides_only_listed_page_keys() {
    let of = |scope| commands::all().filter(move |it| it.scope == scope).flat_map(|it| it.keys);
    let taken: Vec<&str> =
        of(KeyScope::Tab(Tab::CallTree)).filter(|key| of(KeyScope::Page).any(|it| it == *key)).copied().collect();
    assert_eq!(taken, ["e", "c", "n", "Shift+n"], "the keys of ptmem, and those for the next and previous match");
    let typed = |scope, key| command_for_key(scope, key, Letters::On);
    assert_eq!(typed(KeyScope::Tab(Tab::CallTree), "c"), Some(commands::tree::COLLAPSE_BELOW));
    assert_eq!(
        (typed(KeyScope::Timeline, "c"), typed(KeyScope::Tab(Tab::CallTree), "o")),
        (Some(commands::COPY_DETAILS), Some(commands::OPEN_FILE))
    );
    assert_eq!(typed(KeyScope::Tab(Tab::CallTree), &chord(" ", Modifiers::default())), Some(commands::tree::TOGGLE));
    assert_eq!(
        command_for_key(KeyScope::Page, "Ctrl+,", Letters::Off),
        Some(commands::TOGGLE_SETTINGS),
        "not a single-letter key"
    );
}

#[test]
fn keys_work_in_their_scope() {
    use Letters::On;
    assert_eq!(command_for_key(KeyScope::Timeline, "a", On), Some(commands::MOVE_LEFT));
    let typed = |key: &str, held: Modifiers| command_for_key(KeyScope::Timeline, &chord(key, held), On);
    let (alone, shift) = (Modifiers::default(), Modifiers { shift: true, ..Modifiers::default() });
    assert_eq!(typed("A", alone), Some(commands::MOVE_LEFT), "works with caps lock");
    assert_eq!((typed("z", alone), typed("Z", shift)), (Some(commands::UNDO_VIEW), Some(commands::REDO_VIEW)));
    assert_eq!(typed("?", shift), Some(commands::TOGGLE_HELP), "a character typed with Shift");
    assert_eq!(typed("ArrowLeft", shift), Some(commands::CURSOR_EARLIER));
    let both = Modifiers { ctrl: true, ..shift };
    assert_eq!(typed("ArrowLeft", both), Some(commands::CURSOR_COLUMN_LEFT));
    assert_eq!(typed("c", Modifiers { ctrl: true, ..alone }), None, "left to the browser, which copies the selection");
    assert_eq!(command_for_key(KeyScope::Timeline, "?", On), Some(commands::TOGGLE_HELP));
    assert_eq!((typed("n", alone), typed("N", shift)), (Some(commands::FIND_NEXT), Some(commands::FIND_PREVIOUS)));
    assert_eq!(
        command_for_key(KeyScope::Tab(Tab::Allocations), "n", On),
        Some(commands::FIND_NEXT_IN_SCOPE),
        "finds in its own rows"
    );
}

#[test]
fn timeline_keys_work_with_any_focus() {
    let typed = |scope, key| command_for_key(scope, key, Letters::On);
    let letters_off = |scope, key| command_for_key(scope, key, Letters::Off);
    for scope in [KeyScope::Page, KeyScope::Tab(Tab::Insights), KeyScope::Tab(Tab::Events)] {
        let wanted = [
            ("0", commands::FIT_BOTH),
            (".", commands::ZOOM_EVENTS_IN),
            ("p", commands::GO_TO_PEAK),
            ("Shift+p", commands::CURSOR_TO_PEAK),
            ("a", commands::MOVE_LEFT),
            ("ArrowRight", commands::MOVE_RIGHT),
        ];
        for (key, wanted) in wanted {
            assert_eq!(typed(scope, key), Some(wanted), "{scope:?} {key}");
        }
        assert_ne!(typed(scope, "Delete"), Some(commands::REMOVE_MARKER), "no marker has the focus");
        assert_eq!(letters_off(scope, "0"), None);
    }
    let of_flame = typed(KeyScope::Tab(Tab::Flame), "0");
    assert!(
        of_flame.is_some_and(|command| command.scope == KeyScope::Tab(Tab::Flame)),
        "the flame graph's key takes precedence"
    );
    assert_eq!(typed(KeyScope::Export, "0"), None, "the dialog covers the timeline");
}

#[test]
fn single_letter_keys_can_be_switched_off() {
    for key in ["a", "o", "+", "0", "?", "Shift+z"] {
        assert_eq!(command_for_key(KeyScope::Timeline, key, Letters::Off), None);
    }
    assert_eq!(command_for_key(KeyScope::Timeline, "ArrowLeft", Letters::Off), Some(commands::MOVE_LEFT));
    assert_eq!(command_for_key(KeyScope::Page, "F2", Letters::Off), Some(commands::TOGGLE_LETTERS));
}
