//! Key bindings of the terminal, compared with those of the page.

use super::*;
use std::collections::BTreeSet;

#[test]
fn terminal_keys_are_unique_in_each_pane() {
    let mut seen = BTreeSet::new();
    for line in TERMINAL_BINDINGS {
        for key in line.keys {
            assert!(seen.insert((format!("{:?}", line.at), *key)), "{key} twice in {:?}", line.at);
        }
    }
}

#[test]
fn terminal_keys_run_their_commands() {
    for line in TERMINAL_BINDINGS {
        for key in line.keys {
            assert_eq!(command_for(line.at, key, Letters::On), Some(line.does), "{key} in {:?}", line.at);
        }
    }
}

#[test]
fn global_keys_work_in_every_view() {
    assert_eq!(
        command_for(BindingScope::Page(KeyScope::Timeline), "q", Letters::On),
        Some(KeyCommand::Terminal(TerminalCommand::Back))
    );
    for tab in [Tab::Insights, Tab::CallTree, Tab::Flame, Tab::Allocations, Tab::Segments, Tab::Events] {
        let at = BindingScope::Page(KeyScope::Tab(tab));
        for (key, own) in [
            ("q", TerminalCommand::Back),
            ("Tab", TerminalCommand::NextPane),
            ("Ctrl+e", TerminalCommand::Exact),
            ("y", TerminalCommand::Copy),
        ] {
            assert_eq!(command_for(at, key, Letters::On), Some(KeyCommand::Terminal(own)), "{key} in {tab:?}");
        }
        assert_eq!(command_for(at, "/", Letters::On), Some(KeyCommand::Page(commands::FIND)), "{tab:?}");
        assert_eq!(
            command_for(at, "Shift+t", Letters::On),
            Some(KeyCommand::Page(commands::show(Tab::CallTree))),
            "{tab:?}"
        );
    }
}

/// Keys that users of ptmem know.
#[test]
fn keys_of_ptmem_run_same_commands_as_in_ptmem() {
    let timeline = BindingScope::Page(KeyScope::Timeline);
    let tree = BindingScope::Page(KeyScope::Tab(Tab::CallTree));
    let of_tree = |command| Some(KeyCommand::Page(command));
    assert_eq!(command_for(timeline, "ArrowLeft", Letters::On), Some(KeyCommand::Page(commands::CURSOR_COLUMN_LEFT)));
    assert_eq!(command_for(timeline, "ArrowRight", Letters::On), Some(KeyCommand::Page(commands::CURSOR_COLUMN_RIGHT)));
    assert_eq!(command_for(timeline, "ArrowUp", Letters::On), Some(KeyCommand::Page(commands::MOVE_UP)));
    assert_eq!(command_for(timeline, "+", Letters::On), Some(KeyCommand::Terminal(TerminalCommand::ZoomIn)));
    assert_eq!(command_for(timeline, "-", Letters::On), Some(KeyCommand::Terminal(TerminalCommand::ZoomOut)));
    assert_eq!(command_for(tree, "e", Letters::On), of_tree(commands::tree::EXPAND_BELOW));
    assert_eq!(command_for(tree, "c", Letters::On), of_tree(commands::tree::COLLAPSE_BELOW));
    assert_eq!(command_for(tree, "f", Letters::On), of_tree(commands::tree::FOCUS));
    assert_eq!(command_for(tree, "h", Letters::On), of_tree(commands::tree::HIDE_INTERNAL));
    assert_eq!(command_for(tree, "ArrowRight", Letters::On), of_tree(commands::tree::EXPAND_OR_CHILD));
    assert_eq!(command_for(tree, "ArrowLeft", Letters::On), of_tree(commands::tree::COLLAPSE_OR_PARENT));
    assert_eq!(command_for(tree, "n", Letters::On), of_tree(commands::tree::NEXT_MATCH));
    assert_eq!(command_for(tree, "Shift+n", Letters::On), of_tree(commands::tree::PREVIOUS_MATCH));
    assert_eq!(command_for(tree, "q", Letters::On), Some(KeyCommand::Terminal(TerminalCommand::Back)));
    assert_eq!(command_for(tree, "Shift+q", Letters::On), Some(KeyCommand::Terminal(TerminalCommand::Quit)));
}

#[test]
fn page_keys_work_in_terminal() {
    for command in commands::all().filter(|command| works_here(*command) && !command.keys.is_empty()) {
        let here = keys_here(command);
        for key in &here {
            let at =
                TERMINAL_BINDINGS.iter().find(|own| own.does == KeyCommand::Page(command) && own.keys.contains(key));
            let at = at.map_or(BindingScope::Page(command.scope), |own| own.at);
            assert_eq!(command_for(at, key, Letters::On), Some(KeyCommand::Page(command)), "{key}: {command:?}");
        }
    }
}

#[test]
fn browser_only_commands_are_omitted() {
    for label in ["Export…", "Show queries in SQL", "Open settings", "Copy a link to this view", "Edit category rules"]
    {
        let command = commands::all().find(|command| command.title == label);
        assert!(command.is_none_or(|command| !works_here(command)), "{label}");
    }
}

#[test]
fn single_letter_keys_can_be_turned_off() {
    let timeline = BindingScope::Page(KeyScope::Timeline);
    assert_eq!(command_for(timeline, "x", Letters::Off), None);
    assert_eq!(
        command_for(timeline, "q", Letters::Off),
        Some(KeyCommand::Terminal(TerminalCommand::Back)),
        "back always works"
    );
    assert_eq!(command_for(timeline, "F2", Letters::Off), Some(KeyCommand::Page(commands::TOGGLE_LETTERS)));
}
