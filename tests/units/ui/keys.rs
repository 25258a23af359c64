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
                a.control != b.control || ["tree-rows", GRID, TIMELINE, "device", "why-report"].contains(&a.control),
                "{}",
                a.control
            );
            // A page key works in every scope, so it must differ from the keys of all others. Exceptions are the call
            // tree and the export dialog, whose keys take precedence.
            let goes_before = |scope| [Scope::Tab(Tab::Tree), Scope::Export].contains(&scope);
            let near =
                [a.scope, b.scope].contains(&Scope::Page) && ![a.scope, b.scope].iter().any(|it| goes_before(*it));
            let rows =
                [a.scope, b.scope].iter().all(|it| [Scope::Tab(Tab::Events), Scope::Tab(Tab::Table)].contains(it));
            if a.scope == b.scope || near || rows {
                let shared = a.keys.iter().find(|key| b.keys.contains(key));
                assert_eq!(shared, None, "{:?} and {:?}", a.command, b.command);
            }
        }
    }
}

#[test]
fn call_tree_overrides_only_these_page_keys() {
    let of = |scope| BINDINGS.iter().filter(move |it| it.scope == scope).flat_map(|it| it.keys);
    let taken: Vec<&str> =
        of(Scope::Tab(Tab::Tree)).filter(|key| of(Scope::Page).any(|it| it == *key)).copied().collect();
    assert_eq!(taken, ["e", "c", "n", "Shift+n"], "the keys of ptmem, and those for the next and previous match");
    let typed = |scope, key| command(scope, key, Letters::On);
    assert_eq!(
        typed(Scope::Tab(Tab::Tree), "c"),
        Some(Command::Feature(FeatureCommand::Tree(TreeCommand::CloseBelow)))
    );
    assert_eq!(
        (typed(Scope::Timeline, "c"), typed(Scope::Tab(Tab::Tree), "o")),
        (Some(Command::CopyDetails), Some(Command::OpenFile))
    );
    assert_eq!(
        typed(Scope::Tab(Tab::Tree), &chord(" ", Modifiers::default())),
        Some(Command::Feature(FeatureCommand::Tree(TreeCommand::Toggle)))
    );
    assert_eq!(command(Scope::Page, "Ctrl+,", Letters::Off), Some(Command::ToggleSettings), "not a single-letter key");
}

#[test]
fn keys_work_in_their_scope() {
    use Letters::On;
    assert_eq!(command(Scope::Timeline, "a", On), Some(Command::MoveLeft));
    let typed = |key: &str, held: Modifiers| command(Scope::Timeline, &chord(key, held), On);
    let (alone, shift) = (Modifiers::default(), Modifiers { shift: true, ..Modifiers::default() });
    assert_eq!(typed("A", alone), Some(Command::MoveLeft), "works with caps lock");
    assert_eq!((typed("z", alone), typed("Z", shift)), (Some(Command::WindowBack), Some(Command::WindowForward)));
    assert_eq!(typed("?", shift), Some(Command::ToggleHelp), "a character typed with Shift");
    assert_eq!(typed("ArrowLeft", shift), Some(Command::Cursor(CursorStep::Earlier)));
    let both = Modifiers { ctrl: true, ..shift };
    assert_eq!(typed("ArrowLeft", both), Some(Command::Cursor(CursorStep::ColumnLeft)));
    assert_eq!(typed("c", Modifiers { ctrl: true, ..alone }), None, "left to the browser, which copies the selection");
    assert_eq!(command(Scope::Timeline, "?", On), Some(Command::ToggleHelp));
    assert_eq!((typed("n", alone), typed("N", shift)), (Some(Command::FindNext), Some(Command::FindPrevious)));
    assert_eq!(
        command(Scope::Tab(Tab::Table), "n", On),
        Some(Command::FindHere(Direction::Next)),
        "finds in its own rows"
    );
}

#[test]
fn timeline_keys_work_with_any_focus() {
    let typed = |scope, key| command(scope, key, Letters::On);
    let letters_off = |scope, key| command(scope, key, Letters::Off);
    for scope in [Scope::Page, Scope::Tab(Tab::Why), Scope::Tab(Tab::Events)] {
        let wanted = [
            ("0", Command::FitBoth),
            (".", Command::ZoomEventsIn),
            ("p", Command::GoToPeak),
            ("Shift+p", Command::PinPeak),
            ("a", Command::MoveLeft),
            ("ArrowRight", Command::MoveRight),
        ];
        for (key, wanted) in wanted {
            assert_eq!(typed(scope, key), Some(wanted), "{scope:?} {key}");
        }
        assert_ne!(typed(scope, "Delete"), Some(Command::RemoveMarker), "no marker has the focus");
        assert_eq!(letters_off(scope, "0"), None);
    }
    let of_flame = typed(Scope::Tab(Tab::Flame), "0");
    assert!(
        matches!(of_flame, Some(Command::Feature(FeatureCommand::Flame(_)))),
        "the flame graph's key takes precedence"
    );
    assert_eq!(typed(Scope::Export, "0"), None, "the dialog covers the timeline");
}

#[test]
fn single_letter_keys_can_be_switched_off() {
    for key in ["a", "o", "+", "0", "?", "Shift+z"] {
        assert_eq!(command(Scope::Timeline, key, Letters::Off), None);
    }
    assert_eq!(command(Scope::Timeline, "ArrowLeft", Letters::Off), Some(Command::MoveLeft));
    assert_eq!(command(Scope::Page, "F2", Letters::Off), Some(Command::ToggleLetters));
}
