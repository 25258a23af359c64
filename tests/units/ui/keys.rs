//! Unit tests of `src/ui/keys.rs`.

use super::*;
use crate::binding::Modifiers;
use crate::binding::chord;
use crate::features::FeatureCommand;
use crate::features::tree_keys::TreeCommand;

#[test]
fn keys_are_unique_in_overlapping_scopes() {
    for (at, a) in BINDINGS.iter().enumerate() {
        for b in &BINDINGS[at + 1..] {
            assert_ne!(a.command, b.command, "a command is in the table once");
            assert!(
                a.control != b.control
                    || ["tree-rows", GRID, TIMELINE, "device", "insights-report"].contains(&a.control),
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
                assert_eq!(shared, None, "{:?} and {:?}", a.command, b.command);
            }
        }
    }
}

#[test]
fn call_tree_overrides_only_listed_page_keys() {
    let of = |scope| BINDINGS.iter().filter(move |it| it.scope == scope).flat_map(|it| it.keys);
    let taken: Vec<&str> =
        of(KeyScope::Tab(Tab::CallTree)).filter(|key| of(KeyScope::Page).any(|it| it == *key)).copied().collect();
    assert_eq!(taken, ["e", "c", "n", "Shift+n"], "the keys of ptmem, and those for the next and previous match");
    let typed = |scope, key| command_for_key(scope, key, Letters::On);
    assert_eq!(
        typed(KeyScope::Tab(Tab::CallTree), "c"),
        Some(Command::Feature(FeatureCommand::Tree(TreeCommand::CollapseBelow)))
    );
    assert_eq!(
        (typed(KeyScope::Timeline, "c"), typed(KeyScope::Tab(Tab::CallTree), "o")),
        (Some(Command::CopyDetails), Some(Command::OpenFile))
    );
    assert_eq!(
        typed(KeyScope::Tab(Tab::CallTree), &chord(" ", Modifiers::default())),
        Some(Command::Feature(FeatureCommand::Tree(TreeCommand::Toggle)))
    );
    assert_eq!(
        command_for_key(KeyScope::Page, "Ctrl+,", Letters::Off),
        Some(Command::ToggleSettings),
        "not a single-letter key"
    );
}

#[test]
fn keys_work_in_their_scope() {
    use Letters::On;
    assert_eq!(command_for_key(KeyScope::Timeline, "a", On), Some(Command::MoveLeft));
    let typed = |key: &str, held: Modifiers| command_for_key(KeyScope::Timeline, &chord(key, held), On);
    let (alone, shift) = (Modifiers::default(), Modifiers { shift: true, ..Modifiers::default() });
    assert_eq!(typed("A", alone), Some(Command::MoveLeft), "works with caps lock");
    assert_eq!((typed("z", alone), typed("Z", shift)), (Some(Command::UndoView), Some(Command::RedoView)));
    assert_eq!(typed("?", shift), Some(Command::ToggleHelp), "a character typed with Shift");
    assert_eq!(typed("ArrowLeft", shift), Some(Command::MoveCrosshair(CrosshairStep::Earlier)));
    let both = Modifiers { ctrl: true, ..shift };
    assert_eq!(typed("ArrowLeft", both), Some(Command::MoveCrosshair(CrosshairStep::ColumnLeft)));
    assert_eq!(typed("c", Modifiers { ctrl: true, ..alone }), None, "left to the browser, which copies the selection");
    assert_eq!(command_for_key(KeyScope::Timeline, "?", On), Some(Command::ToggleHelp));
    assert_eq!((typed("n", alone), typed("N", shift)), (Some(Command::FindNext), Some(Command::FindPrevious)));
    assert_eq!(
        command_for_key(KeyScope::Tab(Tab::Allocations), "n", On),
        Some(Command::FindInScope(Direction::Next)),
        "finds in its own rows"
    );
}

#[test]
fn timeline_keys_work_with_any_focus() {
    let typed = |scope, key| command_for_key(scope, key, Letters::On);
    let letters_off = |scope, key| command_for_key(scope, key, Letters::Off);
    for scope in [KeyScope::Page, KeyScope::Tab(Tab::Insights), KeyScope::Tab(Tab::Events)] {
        let wanted = [
            ("0", Command::FitBoth),
            (".", Command::ZoomEventsIn),
            ("p", Command::GoToPeak),
            ("Shift+p", Command::CursorToPeak),
            ("a", Command::MoveLeft),
            ("ArrowRight", Command::MoveRight),
        ];
        for (key, wanted) in wanted {
            assert_eq!(typed(scope, key), Some(wanted), "{scope:?} {key}");
        }
        assert_ne!(typed(scope, "Delete"), Some(Command::RemoveMarker), "no marker has the focus");
        assert_eq!(letters_off(scope, "0"), None);
    }
    let of_flame = typed(KeyScope::Tab(Tab::Flame), "0");
    assert!(
        matches!(of_flame, Some(Command::Feature(FeatureCommand::Flame(_)))),
        "the flame graph's key takes precedence"
    );
    assert_eq!(typed(KeyScope::Export, "0"), None, "the dialog covers the timeline");
}

#[test]
fn single_letter_keys_can_be_switched_off() {
    for key in ["a", "o", "+", "0", "?", "Shift+z"] {
        assert_eq!(command_for_key(KeyScope::Timeline, key, Letters::Off), None);
    }
    assert_eq!(command_for_key(KeyScope::Timeline, "ArrowLeft", Letters::Off), Some(Command::MoveLeft));
    assert_eq!(command_for_key(KeyScope::Page, "F2", Letters::Off), Some(Command::ToggleLetters));
}
