//! Tests of `src/ui/keys.rs`, a module of its: they reach what is private there.

use super::*;
use crate::binding::Modifiers;
use crate::binding::chord;
use crate::features::FeatureCommand;
use crate::features::tree_keys::TreeCommand;

#[test]
fn no_two_commands_share_a_key() {
    for (at, a) in BINDINGS.iter().enumerate() {
        for b in &BINDINGS[at + 1..] {
            assert_ne!(a.command, b.command, "a command stands in the table once");
            assert!(
                a.control != b.control || ["tree-rows", GRID, TIMELINE, "device", "why-report"].contains(&a.control),
                "{}",
                a.control
            );
            // A page key works in every scope, so it must differ from all but those of the tree and of the dialog of exports, behind
            // which there is no page: they go before it.
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
fn the_tree_takes_only_these_keys_from_the_page() {
    let of = |scope| BINDINGS.iter().filter(move |it| it.scope == scope).flat_map(|it| it.keys);
    let taken: Vec<&str> =
        of(Scope::Tab(Tab::Tree)).filter(|key| of(Scope::Page).any(|it| it == *key)).copied().collect();
    assert_eq!(taken, ["e", "c", "n", "Shift+n"], "the keys of ptmem, and the way from match to match");
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
    assert_eq!(command(Scope::Page, "Ctrl+,", Letters::Off), Some(Command::ToggleSettings), "no single letter");
}

#[test]
fn keys_work_in_their_scope() {
    use Letters::On;
    assert_eq!(command(Scope::Timeline, "a", On), Some(Command::MoveLeft));
    let typed = |key: &str, held: Modifiers| command(Scope::Timeline, &chord(key, held), On);
    let (alone, shift) = (Modifiers::default(), Modifiers { shift: true, ..Modifiers::default() });
    assert_eq!(typed("A", alone), Some(Command::MoveLeft), "caps lock is not a trap");
    assert_eq!((typed("z", alone), typed("Z", shift)), (Some(Command::WindowBack), Some(Command::WindowForward)));
    assert_eq!(typed("?", shift), Some(Command::ToggleHelp), "a sign that takes Shift to type");
    assert_eq!(typed("ArrowLeft", shift), Some(Command::Cursor(CursorStep::Earlier)));
    let both = Modifiers { ctrl: true, ..shift };
    assert_eq!(typed("ArrowLeft", both), Some(Command::Cursor(CursorStep::ColumnLeft)));
    assert_eq!(typed("c", Modifiers { ctrl: true, ..alone }), None, "that copies what is marked");
    assert_eq!(command(Scope::Timeline, "?", On), Some(Command::ToggleHelp));
    assert_eq!((typed("n", alone), typed("N", shift)), (Some(Command::FindNext), Some(Command::FindPrevious)));
    assert_eq!(command(Scope::Tab(Tab::Table), "n", On), Some(Command::FindHere(Direction::Next)), "of what it shows");
}

#[test]
fn keys_that_move_the_timeline_work_wherever_the_focus_is() {
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
        assert_ne!(typed(scope, "Delete"), Some(Command::RemoveMarker), "what has the focus is no marker");
        assert_eq!(letters_off(scope, "0"), None);
    }
    let of_flame = typed(Scope::Tab(Tab::Flame), "0");
    assert!(matches!(of_flame, Some(Command::Feature(FeatureCommand::Flame(_)))), "its own key goes before");
    assert_eq!(typed(Scope::Export, "0"), None, "the dialog lies over it");
}

#[test]
fn letters_can_be_switched_off_and_on_again() {
    for key in ["a", "o", "+", "0", "?", "Shift+z"] {
        assert_eq!(command(Scope::Timeline, key, Letters::Off), None);
    }
    assert_eq!(command(Scope::Timeline, "ArrowLeft", Letters::Off), Some(Command::MoveLeft));
    assert_eq!(command(Scope::Page, "F2", Letters::Off), Some(Command::ToggleLetters));
}
