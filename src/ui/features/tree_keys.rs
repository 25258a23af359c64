//! Commands and pointer input of the call tree.

use super::tree::{Tree, TreeScroll};
use crate::binding::{Binding, KeyScope, bind};
use crate::effect::Effect;
use crate::find;
use crate::outbox::{Intent, Outbox};
use crate::shared::Shared;
use crate::tab::Tab;
use protocol::{Arrangement, FoldScope, FoldState, Internal, Merge, Question, Reveal, Root};

/// Commands of the call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeCommand {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    /// Expands the row, or goes to its first child.
    ExpandOrChild,
    /// Collapses the row, or goes to its parent.
    CollapseOrParent,
    /// Expands or collapses the row.
    Toggle,
    /// Expands the row and all its descendants.
    ExpandBelow,
    /// Collapses the row and all its descendants.
    CollapseBelow,
    ExpandAll,
    CollapseAll,
    Focus,
    /// Shows the tree of the previously focused node again.
    Back,
    ShowAll,
    /// Inverts the tree: the root is at the outermost or at the innermost frames.
    Invert,
    /// Hides or shows internal frames.
    HideInternal,
    NextMerge,
    /// Selects or deselects the node of the row.
    Select,
    /// Selects the largest allocation of the row.
    SelectLargest,
    /// Goes to the stack of the selected allocation.
    GoToSelection,
    /// Goes to the next row that matches the search.
    NextMatch,
    /// Goes to the previous row that matches the search.
    PreviousMatch,
    OpenSource,
}

/// Pointer and browser events of the call tree.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeAction {
    /// The list was scrolled or resized. Holds its offset and height in CSS pixels.
    Scrolled {
        top_px: f64,
        height_px: f64,
    },
    /// The row at this index was clicked.
    Clicked(u32),
    /// The row at this index was double-clicked, or its expander was clicked.
    Toggled(u32),
    /// A node of the breadcrumb path was clicked.
    Focused(u32),
    Merged(Merge),
}

/// Ways to merge frames, with their labels, in the order of the picker.
pub const MERGES: [(Merge, &str); 3] = [(Merge::Line, "line"), (Merge::Function, "function"), (Merge::File, "file")];

/// Handles a pointer or browser event.
pub(crate) fn handle_action(tree: &mut Tree, shared: &Shared, action: TreeAction, out: &mut Outbox) {
    match action {
        TreeAction::Scrolled { top_px, height_px } => {
            tree.scroll = TreeScroll { top_px: top_px.max(0.0), height_px: height_px.max(0.0), ..tree.scroll };
        }
        TreeAction::Clicked(row) => {
            tree.go_to(row);
            out.intend(Intent::Node(tree.position.node.filter(|&node| node > 0)));
        }
        TreeAction::Toggled(row) => {
            tree.go_to(row);
            toggle(tree);
        }
        TreeAction::Focused(node) => tree.focus_on(Some(node).filter(|&node| node > 0)),
        TreeAction::Merged(merge) => out.intend(Intent::Arrange(Arrangement { merge, ..shared.views.arrangement })),
    }
}

/// Runs a command.
pub(crate) fn command(tree: &mut Tree, shared: &Shared, command: TreeCommand, out: &mut Outbox) {
    let (searched, arrangement) = (find::match_serial(shared).is_some(), shared.views.arrangement);
    let (row, page) = (tree.active(), tree.scroll.rows_per_page());
    let active = tree.active_row().map(|row| (row.node, row.fold, row.depth, row.parent));
    match command {
        TreeCommand::Up => tree.go_to(row.saturating_sub(1)),
        TreeCommand::Down => tree.go_to(row.saturating_add(1)),
        TreeCommand::PageUp => tree.go_to(row.saturating_sub(page)),
        TreeCommand::PageDown => tree.go_to(row.saturating_add(page)),
        TreeCommand::First => tree.go_to(0),
        TreeCommand::Last => tree.go_to(u32::MAX),
        TreeCommand::ExpandOrChild => match active {
            Some((node, FoldState::Closed, ..)) => tree.position.fold(node, FoldScope::Node, FoldState::Open),
            Some((_, FoldState::Open, ..)) => tree.go_to(row.saturating_add(1)),
            _ => {}
        },
        TreeCommand::CollapseOrParent => match active {
            Some((node, FoldState::Open, ..)) => tree.position.fold(node, FoldScope::Node, FoldState::Closed),
            Some((_, _, depth, parent)) if depth > 0 => {
                let known = (0..row).rev().map_while(|number| Some((number, tree.row(number)?.node)));
                let above = known.into_iter().find(|&(_, node)| node == parent);
                match above {
                    Some((number, _)) => tree.go_to(number),
                    None => tree.reveal(Reveal::Node(parent)),
                }
            }
            _ => {}
        },
        TreeCommand::Toggle => toggle(tree),
        TreeCommand::ExpandBelow | TreeCommand::CollapseBelow => {
            if let Some((node, ..)) = active {
                let opens = command == TreeCommand::ExpandBelow;
                tree.position.fold(node, FoldScope::Subtree, if opens { FoldState::Open } else { FoldState::Closed });
            }
        }
        TreeCommand::ExpandAll => {
            tree.position.fold(tree.position.focus.unwrap_or(0), FoldScope::Subtree, FoldState::Open);
        }
        TreeCommand::CollapseAll => {
            let top = tree.position.focus.unwrap_or(0);
            tree.position.fold(top, FoldScope::Subtree, FoldState::Closed);
            tree.position.fold(top, FoldScope::Node, FoldState::Open);
            tree.go_to(0);
        }
        TreeCommand::Focus => match active {
            Some((_, FoldState::Leaf, ..)) => out.say("This row has no children."),
            Some((node, _, depth, _)) if depth > 0 => tree.focus_on(Some(node)),
            _ => {}
        },
        TreeCommand::Back => tree.focus_back(),
        TreeCommand::ShowAll => tree.focus_on(None),
        TreeCommand::Invert => {
            let root = if arrangement.root == Root::Outermost { Root::Innermost } else { Root::Outermost };
            out.intend(Intent::Arrange(Arrangement { root, ..arrangement }));
        }
        TreeCommand::HideInternal => {
            let is_shown = arrangement.internal == Internal::Shown;
            let internal = if is_shown { Internal::Hidden } else { Internal::Shown };
            out.intend(Intent::Arrange(Arrangement { internal, ..arrangement }));
        }
        TreeCommand::NextMerge => {
            let index = MERGES.iter().position(|(kind, _)| *kind == arrangement.merge).map_or(0, |index| index + 1);
            let merge = MERGES.get(index).map_or(Merge::Line, |(kind, _)| *kind);
            out.intend(Intent::Arrange(Arrangement { merge, ..arrangement }));
        }
        TreeCommand::Select => {
            let node = active.map(|(node, ..)| node).filter(|&node| node > 0);
            out.intend(Intent::Node(node.filter(|_| shared.views.node != node)));
        }
        TreeCommand::SelectLargest => {
            let device = shared.device().map(|device| device.device);
            if let (Some((node, ..)), Some(device)) = (active, device) {
                let question = Question::Heaviest { scope: shared.views.scope, arrangement, node };
                tree.pending_heaviest = Some(out.ask(device, question));
            }
        }
        TreeCommand::GoToSelection => match shared.selection.as_deref() {
            Some(selection) => tree.reveal(Reveal::Allocation(selection.allocation)),
            None => out.say("No allocation is selected."),
        },
        TreeCommand::NextMatch | TreeCommand::PreviousMatch => {
            if !searched {
                out.push(Effect::FocusFind);
                return;
            }
            let from = tree.position.node.unwrap_or(0);
            let is_next = command == TreeCommand::NextMatch;
            tree.reveal(if is_next { Reveal::MatchAfter(from) } else { Reveal::MatchBefore(from) });
        }
        TreeCommand::OpenSource => {
            let label = tree.active_row().map(|row| (row.label.file.clone(), row.label.line.clone()));
            match label.map(|(file, line)| shared.settings.link(&file, &line)) {
                Some(Ok(_)) => out.push(Effect::FollowSource),
                Some(Err(error)) => out.say(error.to_string()),
                None => {}
            }
        }
    }
}

/// Selects the largest allocation of a row, once the worker has found it.
pub(crate) fn select_largest(tree: &mut Tree, serial: u32, allocation: Option<u32>, out: &mut Outbox) {
    if tree.pending_heaviest.take_if(|asked| *asked == serial).is_none() {
        return;
    }
    match allocation {
        Some(_) => out.intend(Intent::Select(allocation)),
        None => out.say("There is no allocation here."),
    }
}

fn toggle(tree: &mut Tree) {
    let Some(row) = tree.active_row() else { return };
    let (node, fold) = (row.node, row.fold);
    match fold {
        FoldState::Leaf => {}
        FoldState::Open => tree.position.fold(node, FoldScope::Node, FoldState::Closed),
        FoldState::Closed => tree.position.fold(node, FoldScope::Node, FoldState::Open),
    }
}

/// Id of the page element that the navigation commands belong to: the list of rows.
const ROWS: &str = "tree-rows";

pub(crate) const KEYS: &[Binding<TreeCommand>] = {
    const AT: KeyScope = KeyScope::Tab(Tab::CallTree);
    use TreeCommand::*;
    &[
        bind(AT, &["ArrowUp"], Up, "Go to the previous row", ROWS),
        bind(AT, &["ArrowDown"], Down, "Go to the next row", ROWS),
        bind(AT, &["ArrowRight"], ExpandOrChild, "Expand the row, or go to its first child", ROWS),
        bind(AT, &["ArrowLeft"], CollapseOrParent, "Collapse the row, or go to its parent", ROWS),
        bind(AT, &["Space"], Toggle, "Expand or collapse the row", ROWS),
        bind(AT, &["PageUp"], PageUp, "Go one page up", ROWS),
        bind(AT, &["PageDown"], PageDown, "Go one page down", ROWS),
        bind(AT, &["Home"], First, "Go to the first row", ROWS),
        bind(AT, &["End"], Last, "Go to the last row", ROWS),
        bind(AT, &["e", "*"], ExpandBelow, "Expand all below the row", "tree-open-below"),
        bind(AT, &["c"], CollapseBelow, "Collapse all below the row", "tree-close-below"),
        bind(AT, &["Shift+e"], ExpandAll, "Expand all rows", "tree-open-all"),
        bind(AT, &["Shift+c"], CollapseAll, "Collapse all rows", "tree-close-all"),
        bind(AT, &["f"], Focus, "Focus on the row", "tree-focus"),
        bind(AT, &["Backspace"], Back, "Go back to the previous root", "tree-back"),
        bind(AT, &["Shift+Backspace"], ShowAll, "Show the whole tree", "tree-whole"),
        bind(AT, &["r"], Invert, "Invert the call tree", "tree-invert"),
        bind(AT, &["h"], HideInternal, "Hide or show internal frames", "tree-internal"),
        bind(AT, &["m"], NextMerge, "Merge frames by line, function or file", "tree-merge"),
        bind(AT, &["Enter"], Select, "Select the allocations of the row", "tree-select"),
        bind(AT, &["a"], SelectLargest, "Select the largest allocation of the row", "tree-heaviest"),
        bind(AT, &["g"], GoToSelection, "Go to the stack of the selected allocation", "tree-selection"),
        bind(AT, &["n"], NextMatch, "Go to the next matching row", "tree-next-match"),
        bind(AT, &["Shift+n"], PreviousMatch, "Go to the previous matching row", "tree-previous-match"),
        bind(AT, &["s"], OpenSource, "Open the source of the row", "tree-source"),
    ]
};
