//! The call tree without a browser: requests, keys, texts of rows.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    Arrangement, Details, DeviceSummary, Fold, FoldScope, FoldState, Highlight, Internal, Merge, NodeKind, NodeLabel,
    Reveal, Root, Scope, Tally, TreePage, TreeQuestion, TreeRow, Weight,
};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Scene, View};
use memscape::ui::features::command::Command;
use memscape::ui::features::tree_keys::TreeAction;
use memscape::ui::features::tree_rows::{TreeRowView, TreeView, share_level, view};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::effect::Effect;
use memscape::ui::state::settings::SettingsAction;
use memscape::ui::text::amount::{per_mille, percent};

/// Number of rows of the generated tree when fully open.
const ROWS: u32 = 100_000;

/// A row of a tree whose nodes have one child each, except for the last.
fn row(number: u32) -> TreeRow {
    let bytes = u64::from(ROWS - number) * 1024;
    let label = NodeLabel {
        name: format!("f{number}"),
        file: "/home/me/project/train.py".into(),
        line: number.to_string(),
        kind: NodeKind::User,
    };
    TreeRow {
        node: number,
        parent: number.saturating_sub(1),
        depth: number,
        indent: 0,
        sibling: [0, 1],
        weight: Weight { bytes, count: 3 },
        ends: Default::default(),
        self_weight: Weight::default(),
        parent_bytes: bytes,
        label,
        fold: if number + 1 == ROWS { FoldState::Leaf } else { FoldState::Open },
        matches: number % 1000 == 7,
        found: 0,
    }
}

/// A worker of a tree that is ten rows high. The tests answer for it.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    fn open() -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 999,
            peak_requested: 1 << 20,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        let mut page = Page::with_devices(SilentWorker, vec![device(0), device(1)]);
        page.draw();
        assert!(page.question().is_none(), "a hidden tree requests nothing");
        page.scroll(0);
        page
    }

    fn press(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    fn scroll(&mut self, row: u32) {
        let top_px = f64::from(row) * 22.0;
        self.act(Action::feature(TreeAction::Scrolled { top_px, height_px: 220.0 }));
    }

    /// The latest tree request.
    fn question(&self) -> Option<(u32, TreeQuestion)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, question: Question::Tree(question), .. }) => Some((*serial, *question.clone())),
            _ => None,
        })
    }

    /// Answers the latest tree request from the generated tree. `tell` changes the answer.
    fn answer(&mut self, tell: impl FnOnce(&TreeQuestion, &mut TreePage)) -> TreeQuestion {
        let (serial, question) = self.question().expect("a part of the tree was requested");
        let [first, count] = question.rows;
        let rows: Vec<TreeRow> = (first..first.saturating_add(count).min(ROWS)).map(row).collect();
        let total = Weight { bytes: row(0).weight.bytes, count: 3 };
        let mut page = TreePage { total, row_count: ROWS, first, rows, ..TreePage::default() };
        tell(&question, &mut page);
        self.answer_with(serial, Answer::Tree(Box::new(page)));
        question
    }

    fn rows(&self) -> Vec<TreeRowView> {
        view(&self.state.tree, &self.state).rows.into_iter().flatten().collect()
    }

    fn active(&self) -> Option<TreeRowView> {
        self.rows().into_iter().find(|row| row.is_active)
    }

    fn highlight(&self) -> Highlight {
        self.state.plot_settings.highlight
    }

    /// Selects an allocation and answers the request for its details.
    fn select(&mut self, allocation: u32) {
        self.act(Action::Command(commands::SELECT_NEXT));
        assert!(self.details_asked().is_some(), "details were requested");
        self.answer_details(Details { allocation, stack: Some(4), ..Details::default() });
    }

    /// Answers the latest scene request, if there is one.
    fn draw(&mut self) {
        if let Some((serial, _, view)) = self.scene_asked() {
            let scene = Box::new(scene_of(view));
            self.answer_with(serial, Answer::Scene(scene));
        }
    }
}

fn scene_of(view: View) -> Scene {
    let columns = SceneColumns { edge_px: vec![0, 1000], moment: vec![0], total: vec![0], ..SceneColumns::default() };
    Scene { view, band_px: 1, columns, quads: vec![], identities: vec![], ground: None }
}

fn nodes(folds: &[Fold]) -> Vec<(u32, FoldScope, FoldState)> {
    folds.iter().map(|fold| (fold.node, fold.scope, fold.state)).collect()
}

#[test]
fn only_visible_rows_are_requested_and_built() {
    let mut page = Page::open();
    let question = page.answer(|_, _| {});
    assert_eq!((question.scope, question.reveal), (page.state.views.scope, None));
    assert_eq!(question.rows, [0, 11 + 96]);
    let TreeView { row_count, first, rows, .. } = view(&page.state.tree, &page.state);
    assert_eq!((row_count, first, rows.len()), (ROWS, 0, 11 + 12), "visible rows with a margin");
    page.scroll(80);
    assert!(page.question().is_none(), "the rows are loaded");
    page.scroll(50_000);
    assert!(view(&page.state.tree, &page.state).rows.iter().all(Option::is_none), "rows in flight are empty");
    let question = page.answer(|_, _| {});
    assert_eq!(question.rows, [50_000 - 96, 11 + 96 + 96]);
    assert_eq!(page.rows().first().map(|row| row.number), Some(50_000 - 12));
    page.scroll(ROWS - 10);
    page.answer(|_, tree| tree.rows.truncate(98));
    assert!(page.rows().len() < 20);
    assert!(page.question().is_none(), "a short answer is not requested again");
}

#[test]
fn one_request_is_pending_and_newest_state_is_requested_next() {
    let mut page = Page::open();
    page.state.views.scope = Scope::At(7);
    page.scroll(0);
    assert!(page.question().is_none(), "one question is in flight");
    page.answer_late(0);
    assert_eq!(page.rows().len(), 23, "a late answer is shown");
    let (serial, question) = page.question().expect("the newest question is next");
    assert_eq!(question.scope, Scope::At(7));
    page.answer_with(serial + 1, Answer::Tree(Box::default()));
    assert_eq!(page.rows().len(), 23, "an answer with an unknown serial is dropped");
}

impl Page {
    /// Answers the first question of a page, which has the highest serial so far.
    fn answer_late(&mut self, first: u32) {
        let rows: Vec<TreeRow> = (first..first + 107).map(row).collect();
        let total = Weight { bytes: row(0).weight.bytes, count: 3 };
        let page = TreePage { total, row_count: ROWS, first, rows, ..TreePage::default() };
        self.answer_with(self.state.serial, Answer::Tree(Box::new(page)));
    }
}

#[test]
fn keys_move_through_all_rows() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(commands::tree::DOWN);
    assert_eq!(page.active().map(|row| (row.number, row.level)), Some((1, 2)));
    page.press(commands::tree::PAGE_DOWN);
    assert_eq!(
        (page.state.tree.active(), page.state.tree.scroll.visible_rows()[0]),
        (11, 2),
        "scrolls no further than necessary"
    );
    page.press(commands::tree::LAST);
    assert_eq!(page.state.tree.active(), ROWS - 1);
    page.answer(|_, _| {});
    assert_eq!(page.active().map(|row| row.fold), Some(FoldState::Leaf));
    page.press(commands::tree::DOWN);
    assert_eq!(page.state.tree.active(), ROWS - 1);
    page.press(commands::tree::COLLAPSE_OR_PARENT);
    assert_eq!(page.active().map(|row| row.number), Some(ROWS - 2), "a leaf cannot be closed, so its parent is active");
    page.press(commands::tree::FIRST);
    page.answer(|_, _| {});
    page.press(commands::tree::UP);
    assert_eq!(page.state.tree.active(), 0);
    page.press(commands::tree::EXPAND_OR_CHILD);
    assert_eq!(page.state.tree.active(), 1, "first child of an open node");
}

#[test]
fn parent_outside_loaded_rows_is_found_by_worker() {
    let mut page = Page::open();
    page.answer(|_, fetch_tree| {
        fetch_tree.rows.iter_mut().for_each(|row| (row.fold, row.parent) = (FoldState::Closed, 70_000));
    });
    page.press(commands::tree::DOWN);
    page.press(commands::tree::COLLAPSE_OR_PARENT);
    let question = page.answer(|_, tree| {
        tree.revealed = Some((70_000, 70_000));
        tree.opened = vec![3, 9];
    });
    assert_eq!(question.reveal, Some(Reveal::Node(70_000)));
    assert_eq!(page.state.tree.active(), 70_000);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(3, FoldScope::Node, FoldState::Open), (9, FoldScope::Node, FoldState::Open)]);
    assert!(question.rows[0] < 70_000 && 70_000 < question.rows[0] + question.rows[1]);
    assert_eq!(page.active().map(|row| row.node), Some(70_000));
}

#[test]
fn folds_are_sent_and_overridden_folds_are_dropped() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(commands::tree::DOWN);
    page.press(commands::tree::COLLAPSE_OR_PARENT);
    let question = page.answer(|_, tree| tree.rows.iter_mut().for_each(|row| row.fold = FoldState::Closed));
    assert_eq!(nodes(&question.folds), [(1, FoldScope::Node, FoldState::Closed)]);
    assert_eq!(question.reveal, Some(Reveal::Node(1)), "the active row keeps its position");
    page.press(commands::tree::EXPAND_OR_CHILD);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(1, FoldScope::Node, FoldState::Open)]);
    page.press(commands::tree::COLLAPSE_BELOW);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(1, FoldScope::Subtree, FoldState::Closed)]);
    page.press(commands::tree::EXPAND_ALL);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(0, FoldScope::Subtree, FoldState::Open)]);
    page.press(commands::tree::COLLAPSE_ALL);
    let question = page.answer(|_, _| {});
    let closed = [(0, FoldScope::Subtree, FoldState::Closed), (0, FoldScope::Node, FoldState::Open)];
    assert_eq!(nodes(&question.folds), closed);
    page.act(Action::feature(TreeAction::Toggled(4)));
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds).last(), Some(&(4, FoldScope::Node, FoldState::Closed)));
    for _ in 0..500 {
        page.press(commands::tree::TOGGLE);
        if page.question().is_some() {
            page.answer(|_, _| {});
        }
    }
    assert!(page.question().is_none());
    page.scroll(5000);
    assert_eq!(page.question().map(|(_, question)| question.folds.len()), Some(3), "folds do not accumulate");
}

#[test]
fn subtree_is_focused_and_unfocused() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(commands::tree::FOCUS);
    assert!(page.question().is_none(), "focusing the root does nothing");
    page.press(commands::tree::DOWN);
    page.press(commands::tree::DOWN);
    page.press(commands::tree::FOCUS);
    let question = page.answer(|_, tree| {
        tree.ancestors = (0..2).map(|node| (node, row(node).label)).collect();
        (tree.rows, tree.row_count) = (vec![row(2), row(3)], 2);
    });
    assert_eq!(question.focus, Some(2));
    let way: Vec<(u32, String)> = view(&page.state.tree, &page.state).path;
    assert_eq!(way, [(0, "f0".into()), (1, "f1".into()), (2, "f2".into())]);
    page.act(Action::feature(TreeAction::Focused(1)));
    assert_eq!(page.answer(|_, _| {}).focus, Some(1));
    page.press(commands::tree::BACK);
    assert_eq!(page.answer(|_, _| {}).focus, Some(2), "the previous focus");
    page.press(commands::tree::BACK);
    assert_eq!(page.answer(|_, _| {}).focus, None);
    page.press(commands::tree::BACK);
    assert!(page.question().is_none(), "no earlier focus");
    assert!(view(&page.state.tree, &page.state).path.is_empty());
}

#[test]
fn each_arrangement_keeps_its_own_nodes_and_position() {
    let mut page = Page::open();
    let first = page.state.views.arrangement;
    assert_eq!(
        first,
        Arrangement { internal: Internal::Hidden, ..Arrangement::default() },
        "internal frames are hidden by default"
    );
    page.answer(|_, _| {});
    page.press(commands::tree::DOWN);
    page.press(commands::tree::COLLAPSE_OR_PARENT);
    page.answer(|_, _| {});
    page.press(commands::tree::SELECT);
    assert_eq!(page.highlight(), Highlight::Node(first, 1));
    page.press(commands::tree::INVERT);
    let question = page.answer(|_, _| {});
    let inverted = Arrangement { root: Root::Innermost, ..first };
    assert_eq!((question.arrangement, question.folds, question.reveal), (inverted, vec![], None));
    assert_eq!((page.state.views.node, page.state.tree.active()), (None, 0));
    page.press(commands::tree::HIDE_INTERNAL);
    let question = page.answer(|_, _| {});
    assert_eq!(question.arrangement, Arrangement { internal: Internal::Shown, ..inverted });
    page.press(commands::tree::NEXT_MERGE);
    assert_eq!(page.answer(|_, _| {}).arrangement.merge, Merge::Function);
    page.act(Action::feature(TreeAction::Merged(Merge::Line)));
    page.answer(|_, _| {});
    page.press(commands::tree::HIDE_INTERNAL);
    page.answer(|_, _| {});
    page.press(commands::tree::INVERT);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(1, FoldScope::Node, FoldState::Closed)], "folds of the arrangement are kept");
    assert_eq!(page.state.tree.active(), 1);
    // Another device resets arrangement, folds and focus.
    page.act(Action::DeviceChosen(1));
    let (_, question) = page.question().expect("the other device's tree");
    assert_eq!((question.arrangement, question.folds.len()), (first, 0));
}

#[test]
fn active_row_keeps_position_while_cursor_moves() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.scroll(60);
    page.act(Action::feature(TreeAction::Clicked(63)));
    assert_eq!(page.state.views.node, Some(63));
    page.state.views.scope = Scope::At(8);
    page.scroll(60);
    let question = page.answer(|_, tree| {
        tree.rows.iter_mut().for_each(|row| row.node += 10);
        tree.revealed = Some((53, 63));
    });
    assert_eq!(question.reveal, Some(Reveal::Node(63)));
    assert_eq!((page.state.tree.active(), page.state.tree.scroll.visible_rows()[0]), (53, 50));
    assert_eq!(page.active().map(|row| (row.node, row.is_selected)), Some((63, true)));
    // The node is gone, so the row in its place is active.
    page.state.views.scope = Scope::At(9);
    page.scroll(50);
    page.answer(|_, _| {});
    assert_eq!(page.active().map(|row| (row.number, row.node)), Some((53, 53)));
}

#[test]
fn rows_of_previous_arrangement_cannot_be_selected() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.act(Action::feature(TreeAction::Clicked(3)));
    page.press(commands::tree::INVERT);
    assert_eq!(page.highlight(), Highlight::Nothing, "its id is another node there, so it is not requested");
    // Rows of the previous arrangement are shown until the answer arrives.
    let asked = page.question();
    page.act(Action::feature(TreeAction::Clicked(5)));
    page.press(commands::tree::SELECT);
    assert_eq!((page.state.views.node, page.highlight()), (None, Highlight::Nothing));
    let (serial, _) = asked.expect("the other tree was requested");
    let rows = (0..20).map(row).collect();
    let tree = TreePage { row_count: ROWS, rows, ..TreePage::default() };
    page.answer_with(serial, Answer::Tree(Box::new(tree)));
    page.press(commands::tree::SELECT);
    assert_eq!(page.state.views.node, Some(5), "the clicked row in the new tree");
}

#[test]
fn allocation_without_row_is_revealed_after_cursor_moves() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.select(12);
    let question = page.answer(|_, _| {});
    assert_eq!(question.reveal, Some(Reveal::Allocation(12)));
    page.scroll(1);
    assert_eq!(page.question().and_then(|(_, question)| question.reveal), None, "requested once");
    page.state.views.scope = Scope::At(9);
    page.act(Action::PointerLeft);
    let question = page.answer(|_, tree| tree.revealed = Some((5, 5)));
    assert_eq!(question.reveal, Some(Reveal::Allocation(12)));
    assert!(page.rows().iter().any(|row| row.has_selected_allocation));
    page.state.views.scope = Scope::At(10);
    page.act(Action::PointerLeft);
    assert_eq!(page.answer(|_, _| {}).reveal, Some(Reveal::Node(5)), "the found row is revealed as a node");
}

#[test]
fn changed_internal_frame_rules_request_new_tree() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.act(Action::feature(TreeAction::Clicked(3)));
    page.act(Action::Settings(SettingsAction::Changed("rule", "native".into())));
    page.act(Action::Settings(SettingsAction::RulesFinished));
    let is_sent = page.effects.iter().any(|effect| matches!(effect, Effect::Ask(Request::InternalFrames(_))));
    assert!(is_sent && page.question().is_some(), "the first change from the defaults is sent too");
    assert_eq!(page.state.views.node, None);
}

#[test]
fn selection_is_highlighted_and_escape_clears_it_first() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.select(12);
    let question = page.answer(|_, tree| tree.revealed = Some((5, 5)));
    assert_eq!(question.reveal, Some(Reveal::Allocation(12)));
    assert_eq!(page.active().map(|row| (row.node, row.has_selected_allocation)), Some((5, true)));
    assert_eq!(page.highlight(), Highlight::Stack(4));
    page.act(Action::feature(TreeAction::Clicked(3)));
    assert_eq!(page.highlight(), Highlight::Node(page.state.views.arrangement, 3));
    page.press(commands::tree::SELECT);
    assert_eq!(page.highlight(), Highlight::Stack(4), "a second press clears it");
    page.press(commands::tree::SELECT);
    page.act(Action::Command(commands::CLEAR_SELECTION));
    assert_eq!((page.highlight(), page.state.selection.is_some()), (Highlight::Stack(4), true));
    page.act(Action::Command(commands::CLEAR_SELECTION));
    assert_eq!((page.highlight(), page.state.selection.is_some()), (Highlight::Nothing, false));
    assert!(page.rows().iter().all(|row| !row.has_selected_allocation));
    // A node selected in another view is scrolled into view once.
    page.state.views.node = Some(70);
    page.act(Action::PointerLeft);
    let question = page.answer(|_, tree| tree.revealed = Some((70, 70)));
    assert_eq!(question.reveal, Some(Reveal::Node(70)));
    assert_eq!(page.active().map(|row| (row.node, row.is_selected)), Some((70, true)));
    page.scroll(0);
    assert_eq!((page.question(), page.active()), (None, None), "scrolling away does not jump back");
    // The root contains everything, so it highlights nothing.
    page.act(Action::feature(TreeAction::Clicked(0)));
    assert_eq!(page.state.views.node, None);
}

#[test]
fn search_steps_through_matching_rows() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(commands::tree::NEXT_MATCH);
    assert!(page.effects.contains(&Effect::FocusFind), "the search field is focused");
    page.act(Action::FindTyped("train".into()));
    let search_serial = page.effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, question: Question::Find(_), .. })) => Some(*serial),
        _ => None,
    });
    let search_serial = search_serial.expect("a search");
    let tally = Tally { count: 3, requested: 9, peak_count: 1, peak_requested: 3 };
    page.answer_with(search_serial, Answer::Find(tally));
    let question = page.answer(|_, tree| tree.rows.iter_mut().for_each(|row| row.found = 2048));
    assert_eq!(question.search_serial, Some(search_serial));
    assert!(view(&page.state.tree, &page.state).has_matches);
    assert_eq!(page.rows().first().map(|row| row.found.clone()), Some("2.00 KiB".into()));
    page.press(commands::tree::NEXT_MATCH);
    let question = page.answer(|_, tree| tree.revealed = Some((1007, 1007)));
    assert_eq!((question.reveal, page.state.tree.active()), (Some(Reveal::MatchAfter(0)), 1007));
    page.answer(|_, _| {});
    assert_eq!(page.active().map(|row| row.matches), Some(true));
    page.press(commands::tree::PREVIOUS_MATCH);
    let question = page.answer(|_, _| {});
    assert_eq!(question.reveal, Some(Reveal::MatchBefore(1007)));
    assert_eq!(page.state.tree.active(), 1007);
    assert!(page.state.remark.as_deref().is_some_and(|remark| remark.starts_with("No matches")));
}

#[test]
fn row_shows_location_bytes_and_counts() {
    let mut page = Page::open();
    page.answer(|_, fetch_tree| {
        fetch_tree.total.bytes = 1 << 30;
        fetch_tree.rows[2].weight = Weight { bytes: (1 << 30) / 3, count: 1200 };
        fetch_tree.rows[2].parent_bytes = 1 << 29;
        (fetch_tree.rows[2].indent, fetch_tree.rows[2].sibling) = (1, [1, 4]);
        fetch_tree.rows[2].self_weight = Weight { bytes: 512, count: 1 };
    });
    let rows = page.rows();
    let row = &rows[2];
    assert_eq!((row.name.as_str(), row.location.as_str()), ("f2", "/home/me/project/train.py:2"));
    assert_eq!(
        (row.bytes.as_str(), row.last_columns[1].as_str(), row.last_columns[2].as_str()),
        ("341 MiB", "1,200", "512 B")
    );
    assert_eq!(row.exact, "357,913,941 B in 1,200 allocations");
    assert_eq!((row.last_columns[0].as_str(), row.of_total.as_str()), ("66.7 %", "33.3 %"));
    assert_eq!((row.share_level, row.level, row.sibling, row.indent_px), (2, 3, [2, 4], 14));
    assert_eq!((rows[1].indent_px, rows[0].indent_px), (7, 0), "an only child is slightly indented");
    assert_eq!(row.title, "f2\n/home/me/project/train.py:2");
}

#[test]
fn names_of_rows_keep_what_differs() {
    let mut page = Page::open();
    page.answer(|_, tree| {
        let names = ["at::native::batch_norm", "at::native::softmax", "train.step"];
        names.into_iter().zip(&mut tree.rows).for_each(|(name, row)| row.label.name = name.to_owned());
    });
    let shared: Vec<usize> = page.rows().iter().map(|row| row.shared).take(3).collect();
    assert_eq!(shared, ["at::native::".len(), "at::native::".len(), 0]);
}

#[test]
fn shares_near_0_and_100_percent_are_not_rounded_to_0_or_100() {
    assert_eq!([0, 1, 999, 1000].map(|part| percent(part, 1000)), ["0 %", "0.1 %", "99.9 %", "100 %"]);
    assert_eq!(percent(u64::MAX - 1, u64::MAX), "> 99.9 %", "one byte less is not 100 %");
    assert_eq!(percent(1237, 10_000), "12.4 %", "rounds to the nearest tenth");
    assert_eq!((percent(1, u64::MAX), percent(0, 0), per_mille(5, 0)), ("< 0.1 %".into(), "0 %".into(), 0));
    assert_eq!([0, 49, 50, 199, 200, 399, 400, 699, 700, 1000].map(share_level), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}
