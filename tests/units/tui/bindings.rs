//! Key bindings of the terminal, compared with those of the page.

use super::*;
use std::collections::BTreeSet;

#[test]
fn terminal_keys_are_unique_in_each_pane() {
    let mut seen = BTreeSet::new();
    for line in LINES {
        for key in line.keys {
            assert!(seen.insert((format!("{:?}", line.at), *key)), "{key} twice in {:?}", line.at);
        }
    }
}

#[test]
fn terminal_keys_run_their_commands() {
    for line in LINES {
        for key in line.keys {
            assert_eq!(does(line.at, key, Letters::On), Some(line.does), "{key} in {:?}", line.at);
        }
    }
}

#[test]
fn global_keys_work_in_every_view() {
    assert_eq!(does(At::Page(Scope::Timeline), "q", Letters::On), Some(Does::Own(Own::Back)));
    for tab in [Tab::Why, Tab::Tree, Tab::Flame, Tab::Table, Tab::Memory, Tab::Events] {
        let at = At::Page(Scope::Tab(tab));
        for (key, own) in [("q", Own::Back), ("Tab", Own::NextPane), ("Ctrl+e", Own::Exact), ("y", Own::Copy)] {
            assert_eq!(does(at, key, Letters::On), Some(Does::Own(own)), "{key} in {tab:?}");
        }
        assert_eq!(does(at, "/", Letters::On), Some(Does::Page(Command::Find)), "{tab:?}");
        assert_eq!(does(at, "Shift+t", Letters::On), Some(Does::Page(Command::Show(Tab::Tree))), "{tab:?}");
    }
}

/// Keys that users of ptmem know.
#[test]
fn ptmem_keys_run_the_same_commands() {
    use ui::tree_keys::TreeCommand;
    let timeline = At::Page(Scope::Timeline);
    let tree = At::Page(Scope::Tab(Tab::Tree));
    let of_tree = |command| Some(Does::Page(Command::Feature(FeatureCommand::Tree(command))));
    assert_eq!(does(timeline, "ArrowLeft", Letters::On), Some(Does::Page(Command::Cursor(CursorStep::ColumnLeft))));
    assert_eq!(does(timeline, "ArrowRight", Letters::On), Some(Does::Page(Command::Cursor(CursorStep::ColumnRight))));
    assert_eq!(does(timeline, "ArrowUp", Letters::On), Some(Does::Page(Command::MoveUp)));
    assert_eq!(does(timeline, "+", Letters::On), Some(Does::Own(Own::ZoomIn)));
    assert_eq!(does(timeline, "-", Letters::On), Some(Does::Own(Own::ZoomOut)));
    assert_eq!(does(tree, "e", Letters::On), of_tree(TreeCommand::OpenBelow));
    assert_eq!(does(tree, "c", Letters::On), of_tree(TreeCommand::CloseBelow));
    assert_eq!(does(tree, "f", Letters::On), of_tree(TreeCommand::Focus));
    assert_eq!(does(tree, "h", Letters::On), of_tree(TreeCommand::HideInternal));
    assert_eq!(does(tree, "ArrowRight", Letters::On), of_tree(TreeCommand::In));
    assert_eq!(does(tree, "ArrowLeft", Letters::On), of_tree(TreeCommand::Out));
    assert_eq!(does(tree, "n", Letters::On), of_tree(TreeCommand::NextMatch));
    assert_eq!(does(tree, "Shift+n", Letters::On), of_tree(TreeCommand::PreviousMatch));
    assert_eq!(does(tree, "q", Letters::On), Some(Does::Own(Own::Back)));
    assert_eq!(does(tree, "Shift+q", Letters::On), Some(Does::Own(Own::Quit)));
}

#[test]
fn page_keys_work_in_terminal() {
    for line in BINDINGS.iter().filter(|line| is_here(line) && !line.keys.is_empty()) {
        let here = keys_here(line);
        for key in &here {
            let at = LINES.iter().find(|own| own.does == Does::Page(line.command) && own.keys.contains(key));
            let at = at.map_or(At::Page(line.scope), |own| own.at);
            assert_eq!(does(at, key, Letters::On), Some(Does::Page(line.command)), "{key}: {}", line.label);
        }
    }
}

#[test]
fn browser_only_commands_are_omitted() {
    for label in ["Export…", "Show queries in SQL", "Open settings", "Copy a link to this view", "Edit category rules"]
    {
        let line = BINDINGS.iter().find(|line| line.label == label);
        assert!(line.is_none_or(|line| !is_here(line)), "{label}");
    }
}

#[test]
fn single_letter_keys_can_be_turned_off() {
    let timeline = At::Page(Scope::Timeline);
    assert_eq!(does(timeline, "x", Letters::Off), None);
    assert_eq!(does(timeline, "q", Letters::Off), Some(Does::Own(Own::Back)), "back always works");
    assert_eq!(does(timeline, "F2", Letters::Off), Some(Does::Page(Command::ToggleLetters)));
}
