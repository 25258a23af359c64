//! The call tree without a browser: what is asked when, what keys do, what rows say.
#![allow(clippy::expect_used, clippy::panic, reason = "the helpers of a test fail as it does, by panicking")]

use crate::face::{self, Worker};
use memscape::engine::protocol::{
    Arrangement, Details, DeviceSummary, Fold, FoldState, Highlight, Internal, Merge, NodeKind, NodeLabel, Reach,
    Reveal, Root, Scope, Tally, TreePage, TreeQuestion, TreeRow, Weight,
};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Scene, View};
use memscape::ui::amount::{per_mille, percent};
use memscape::ui::features::FeatureCommand;
use memscape::ui::settings::{Field, SettingsAction};
use memscape::ui::tree_keys::{TreeAction, TreeCommand};
use memscape::ui::tree_rows::{RowView, TreeView, heat, view};
use memscape::ui::{Action, Command, Effect};

/// Rows of the made-up tree when all is open.
const ROWS: u32 = 100_000;

/// A row of a tree in which every node but the last is the only child of the one before.
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
        forks: 0,
        place: [0, 1],
        weight: Weight { bytes, count: 3 },
        ends: Default::default(),
        own: Weight::default(),
        parent_bytes: bytes,
        label,
        fold: if number + 1 == ROWS { FoldState::Leaf } else { FoldState::Open },
        matches: number % 1000 == 7,
        found: 0,
    }
}

/// A tree that is ten rows high, which the test answers from.
struct Tree;

impl Worker for Tree {}

type Page = face::Page<Tree>;

impl Page {
    fn open() -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 999,
            peak_requested: 1 << 20,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        let mut page = Page::with(Tree, vec![device(0), device(1)]);
        page.draw();
        assert!(page.question().is_none(), "what is not seen is not asked");
        page.scroll(0);
        page
    }

    fn press(&mut self, command: TreeCommand) {
        self.act(Action::Command(Command::Feature(FeatureCommand::Tree(command))));
    }

    fn scroll(&mut self, row: u32) {
        let top_px = f64::from(row) * 22.0;
        self.act(Action::of(TreeAction::Scrolled { top_px, height_px: 220.0 }));
    }

    /// The part of the tree that was just asked for.
    fn question(&self) -> Option<(u32, TreeQuestion)> {
        self.request(|request| match request {
            Request::Ask(Ask { serial, what: Question::Tree(question), .. }) => Some((*serial, *question.clone())),
            _ => None,
        })
    }

    /// Answers it from the made-up tree; `tell` adds to the answer.
    fn answer(&mut self, tell: impl FnOnce(&TreeQuestion, &mut TreePage)) -> TreeQuestion {
        let (serial, question) = self.question().expect("a part of the tree was asked for");
        let [first, count] = question.rows;
        let rows: Vec<TreeRow> = (first..first.saturating_add(count).min(ROWS)).map(row).collect();
        let total = Weight { bytes: row(0).weight.bytes, count: 3 };
        let mut page = TreePage { total, row_count: ROWS, first, rows, ..TreePage::default() };
        tell(&question, &mut page);
        self.answered(serial, Answer::Tree(Box::new(page)));
        question
    }

    fn rows(&self) -> Vec<RowView> {
        view(&self.state.tree, &self.state).rows.into_iter().flatten().collect()
    }

    fn active(&self) -> Option<RowView> {
        self.rows().into_iter().find(|row| row.is_active)
    }

    fn highlight(&self) -> Highlight {
        self.state.looks.highlight
    }

    /// Selects an allocation and answers for its details.
    fn select(&mut self, allocation: u32) {
        self.act(Action::Command(Command::SelectNext));
        assert!(self.details_asked().is_some(), "details were asked for");
        self.tell(Details { allocation, stack: Some(4), ..Details::default() });
    }

    /// Answers the scene that was just asked for, if one was.
    fn draw(&mut self) {
        if let Some((serial, _, view)) = self.scene_asked() {
            let scene = Box::new(scene_of(view));
            self.answered(serial, Answer::Scene(scene));
        }
    }
}

fn scene_of(view: View) -> Scene {
    let columns = SceneColumns { edge_px: vec![0, 1000], moment: vec![0], total: vec![0], ..SceneColumns::default() };
    Scene { view, band_px: 1, columns, quads: vec![], identities: vec![], ground: None }
}

fn nodes(folds: &[Fold]) -> Vec<(u32, Reach, FoldState)> {
    folds.iter().map(|fold| (fold.node, fold.reach, fold.state)).collect()
}

#[test]
fn only_a_window_of_the_rows_is_asked_for_and_made() {
    let mut page = Page::open();
    let question = page.answer(|_, _| {});
    assert_eq!((question.scope, question.reveal), (page.state.views.scope, None));
    assert_eq!(question.rows, [0, 11 + 96]);
    let TreeView { row_count, first, rows, .. } = view(&page.state.tree, &page.state);
    assert_eq!((row_count, first, rows.len()), (ROWS, 0, 11 + 12), "what is seen and a few more");
    page.scroll(80);
    assert!(page.question().is_none(), "the answer reaches as far");
    page.scroll(50_000);
    assert!(
        view(&page.state.tree, &page.state).rows.iter().all(Option::is_none),
        "rows on their way are none, not others"
    );
    let question = page.answer(|_, _| {});
    assert_eq!(question.rows, [50_000 - 96, 11 + 96 + 96]);
    assert_eq!(page.rows().first().map(|row| row.number), Some(50_000 - 12));
    page.scroll(ROWS - 10);
    page.answer(|_, tree| tree.rows.truncate(98));
    assert!(page.rows().len() < 20);
    assert!(page.question().is_none(), "an answer that ends early is not asked for again and again");
}

#[test]
fn there_is_one_question_at_a_time_and_the_newest_comes_next() {
    let mut page = Page::open();
    page.state.views.scope = Scope::At(7);
    page.scroll(0);
    assert!(page.question().is_none(), "one is on its way");
    page.answer_late(0);
    assert_eq!(page.rows().len(), 23, "what came late is better than nothing");
    let (serial, question) = page.question().expect("the newest comes next");
    assert_eq!(question.scope, Scope::At(7));
    page.answered(serial + 1, Answer::Tree(Box::default()));
    assert_eq!(page.rows().len(), 23, "nobody asked that");
}

impl Page {
    /// Answers the first question a page of this test asked, whose serial is the latest one there is.
    fn answer_late(&mut self, first: u32) {
        let rows: Vec<TreeRow> = (first..first + 107).map(row).collect();
        let total = Weight { bytes: row(0).weight.bytes, count: 3 };
        let page = TreePage { total, row_count: ROWS, first, rows, ..TreePage::default() };
        self.answered(self.state.serial, Answer::Tree(Box::new(page)));
    }
}

#[test]
fn keys_lead_through_all_rows() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(TreeCommand::Down);
    assert_eq!(page.active().map(|row| (row.number, row.level)), Some((1, 2)));
    page.press(TreeCommand::PageDown);
    assert_eq!((page.state.tree.active(), page.state.tree.scroll.rows()[0]), (11, 2), "the shortest way into view");
    page.press(TreeCommand::Last);
    assert_eq!(page.state.tree.active(), ROWS - 1);
    page.answer(|_, _| {});
    assert_eq!(page.active().map(|row| row.fold), Some(FoldState::Leaf));
    page.press(TreeCommand::Down);
    assert_eq!(page.state.tree.active(), ROWS - 1);
    page.press(TreeCommand::Out);
    assert_eq!(page.active().map(|row| row.number), Some(ROWS - 2), "a leaf has nothing to close: its parent");
    page.press(TreeCommand::First);
    page.answer(|_, _| {});
    page.press(TreeCommand::Up);
    assert_eq!(page.state.tree.active(), 0);
    page.press(TreeCommand::In);
    assert_eq!(page.state.tree.active(), 1, "it is open: its first child");
}

#[test]
fn a_parent_that_is_far_away_is_looked_for_by_the_worker() {
    let mut page = Page::open();
    page.answer(|_, tree| tree.rows.iter_mut().for_each(|row| (row.fold, row.parent) = (FoldState::Closed, 70_000)));
    page.press(TreeCommand::Down);
    page.press(TreeCommand::Out);
    let question = page.answer(|_, tree| {
        tree.revealed = Some((70_000, 70_000));
        tree.opened = vec![3, 9];
    });
    assert_eq!(question.reveal, Some(Reveal::Node(70_000)));
    assert_eq!(page.state.tree.active(), 70_000);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(3, Reach::One, FoldState::Open), (9, Reach::One, FoldState::Open)]);
    assert!(question.rows[0] < 70_000 && 70_000 < question.rows[0] + question.rows[1]);
    assert_eq!(page.active().map(|row| row.node), Some(70_000));
}

#[test]
fn folds_are_told_and_those_that_are_overruled_forgotten() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(TreeCommand::Down);
    page.press(TreeCommand::Out);
    let question = page.answer(|_, tree| tree.rows.iter_mut().for_each(|row| row.fold = FoldState::Closed));
    assert_eq!(nodes(&question.folds), [(1, Reach::One, FoldState::Closed)]);
    assert_eq!(question.reveal, Some(Reveal::Node(1)), "the active row stays where it is seen");
    page.press(TreeCommand::In);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(1, Reach::One, FoldState::Open)]);
    page.press(TreeCommand::CloseBelow);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(1, Reach::AllBelow, FoldState::Closed)]);
    page.press(TreeCommand::OpenAll);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(0, Reach::AllBelow, FoldState::Open)]);
    page.press(TreeCommand::CloseAll);
    let question = page.answer(|_, _| {});
    let closed = [(0, Reach::AllBelow, FoldState::Closed), (0, Reach::One, FoldState::Open)];
    assert_eq!(nodes(&question.folds), closed);
    page.act(Action::of(TreeAction::Toggled(4)));
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds).last(), Some(&(4, Reach::One, FoldState::Closed)));
    for _ in 0..500 {
        page.press(TreeCommand::Toggle);
        if page.question().is_some() {
            page.answer(|_, _| {});
        }
    }
    assert!(page.question().is_none());
    page.scroll(5000);
    assert_eq!(page.question().map(|(_, question)| question.folds.len()), Some(3), "folds don't pile up");
}

#[test]
fn a_subtree_is_focused_and_left_again() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(TreeCommand::Focus);
    assert!(page.question().is_none(), "the root is the top already");
    page.press(TreeCommand::Down);
    page.press(TreeCommand::Down);
    page.press(TreeCommand::Focus);
    let question = page.answer(|_, tree| {
        tree.above = (0..2).map(|node| (node, row(node).label)).collect();
        (tree.rows, tree.row_count) = (vec![row(2), row(3)], 2);
    });
    assert_eq!(question.focus, Some(2));
    let way: Vec<(u32, String)> = view(&page.state.tree, &page.state).way;
    assert_eq!(way, [(0, "f0".into()), (1, "f1".into()), (2, "f2".into())]);
    page.act(Action::of(TreeAction::Focused(1)));
    assert_eq!(page.answer(|_, _| {}).focus, Some(1));
    page.press(TreeCommand::Back);
    assert_eq!(page.answer(|_, _| {}).focus, Some(2), "where one was before");
    page.press(TreeCommand::Back);
    assert_eq!(page.answer(|_, _| {}).focus, None);
    page.press(TreeCommand::Back);
    assert!(page.question().is_none(), "there is nothing before");
    assert!(view(&page.state.tree, &page.state).way.is_empty());
}

#[test]
fn another_arrangement_has_other_nodes_and_a_place_of_its_own() {
    let mut page = Page::open();
    let first = page.state.views.arrangement;
    assert_eq!(first, Arrangement { internal: Internal::Hidden, ..Arrangement::default() }, "own code first");
    page.answer(|_, _| {});
    page.press(TreeCommand::Down);
    page.press(TreeCommand::Out);
    page.answer(|_, _| {});
    page.press(TreeCommand::Select);
    assert_eq!(page.highlight(), Highlight::Node(first, 1));
    page.press(TreeCommand::Invert);
    let question = page.answer(|_, _| {});
    let inverted = Arrangement { root: Root::Innermost, ..first };
    assert_eq!((question.arrangement, question.folds, question.reveal), (inverted, vec![], None));
    assert_eq!((page.state.views.node, page.state.tree.active()), (None, 0));
    page.press(TreeCommand::HideInternal);
    let question = page.answer(|_, _| {});
    assert_eq!(question.arrangement, Arrangement { internal: Internal::Shown, ..inverted });
    page.press(TreeCommand::NextMerge);
    assert_eq!(page.answer(|_, _| {}).arrangement.merge, Merge::Function);
    page.act(Action::of(TreeAction::Merged(Merge::Line)));
    page.answer(|_, _| {});
    page.press(TreeCommand::HideInternal);
    page.answer(|_, _| {});
    page.press(TreeCommand::Invert);
    let question = page.answer(|_, _| {});
    assert_eq!(nodes(&question.folds), [(1, Reach::One, FoldState::Closed)], "as it was left");
    assert_eq!(page.state.tree.active(), 1);
    // Another device: nothing of it holds.
    page.act(Action::DeviceChosen(1));
    let (_, question) = page.question().expect("the other device's tree");
    assert_eq!((question.arrangement, question.folds.len()), (first, 0));
}

#[test]
fn the_active_row_stays_in_place_while_the_moment_moves() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.scroll(60);
    page.act(Action::of(TreeAction::Clicked(63)));
    assert_eq!(page.state.views.node, Some(63));
    page.state.views.scope = Scope::At(8);
    page.scroll(60);
    let question = page.answer(|_, tree| {
        tree.rows.iter_mut().for_each(|row| row.node += 10);
        tree.revealed = Some((53, 63));
    });
    assert_eq!(question.reveal, Some(Reveal::Node(63)));
    assert_eq!((page.state.tree.active(), page.state.tree.scroll.rows()[0]), (53, 50));
    assert_eq!(page.active().map(|row| (row.node, row.is_selected)), Some((63, true)));
    // Gone: the row in its place is the active one.
    page.state.views.scope = Scope::At(9);
    page.scroll(50);
    page.answer(|_, _| {});
    assert_eq!(page.active().map(|row| (row.number, row.node)), Some((53, 53)));
}

#[test]
fn rows_of_the_arrangement_before_are_nobodys_nodes() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.act(Action::of(TreeAction::Clicked(3)));
    page.press(TreeCommand::Invert);
    assert_eq!(page.highlight(), Highlight::Nothing, "its number means another node there, and is not asked about");
    // The rows that are seen are those of before until the answer comes.
    let asked = page.question();
    page.act(Action::of(TreeAction::Clicked(5)));
    page.press(TreeCommand::Select);
    assert_eq!((page.state.views.node, page.highlight()), (None, Highlight::Nothing));
    let (serial, _) = asked.expect("the other tree was asked for");
    let rows = (0..20).map(row).collect();
    let tree = TreePage { row_count: ROWS, rows, ..TreePage::default() };
    page.answered(serial, Answer::Tree(Box::new(tree)));
    page.press(TreeCommand::Select);
    assert_eq!(page.state.views.node, Some(5), "the row that was clicked, in the new tree");
}

#[test]
fn an_allocation_without_a_row_may_have_one_at_another_moment() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.select(12);
    let question = page.answer(|_, _| {});
    assert_eq!(question.reveal, Some(Reveal::Allocation(12)));
    page.scroll(1);
    assert_eq!(page.question().and_then(|(_, question)| question.reveal), None, "it is not there: asked once");
    page.state.views.scope = Scope::At(9);
    page.act(Action::PointerLeft);
    let question = page.answer(|_, tree| tree.revealed = Some((5, 5)));
    assert_eq!(question.reveal, Some(Reveal::Allocation(12)));
    assert!(page.rows().iter().any(|row| row.is_marked));
    page.state.views.scope = Scope::At(10);
    page.act(Action::PointerLeft);
    assert_eq!(page.answer(|_, _| {}).reveal, Some(Reveal::Node(5)), "found, it is where it is");
}

#[test]
fn other_rules_make_other_trees_at_once() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.act(Action::of(TreeAction::Clicked(3)));
    page.act(Action::Settings(SettingsAction::Typed(Field::Rules, "native".into())));
    page.act(Action::Settings(SettingsAction::RulesDone));
    let told = page.done.iter().any(|effect| matches!(effect, Effect::Ask(Request::InternalFrames(_))));
    assert!(told && page.question().is_some(), "the first rules that differ from the defaults count as well");
    assert_eq!(page.state.views.node, None);
}

#[test]
fn what_is_selected_stands_out_and_escape_gives_it_up_first() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.select(12);
    let question = page.answer(|_, tree| tree.revealed = Some((5, 5)));
    assert_eq!(question.reveal, Some(Reveal::Allocation(12)));
    assert_eq!(page.active().map(|row| (row.node, row.is_marked)), Some((5, true)));
    assert_eq!(page.highlight(), Highlight::Stack(4));
    page.act(Action::of(TreeAction::Clicked(3)));
    assert_eq!(page.highlight(), Highlight::Node(page.state.views.arrangement, 3));
    page.press(TreeCommand::Select);
    assert_eq!(page.highlight(), Highlight::Stack(4), "pressed again, it is given up");
    page.press(TreeCommand::Select);
    page.act(Action::Command(Command::ClearSelection));
    assert_eq!((page.highlight(), page.state.selection.is_some()), (Highlight::Stack(4), true));
    page.act(Action::Command(Command::ClearSelection));
    assert_eq!((page.highlight(), page.state.selection.is_some()), (Highlight::Nothing, false));
    assert!(page.rows().iter().all(|row| !row.is_marked));
    // One that is selected in another view is brought into view; it is no news afterwards.
    page.state.views.node = Some(70);
    page.act(Action::PointerLeft);
    let question = page.answer(|_, tree| tree.revealed = Some((70, 70)));
    assert_eq!(question.reveal, Some(Reveal::Node(70)));
    assert_eq!(page.active().map(|row| (row.node, row.is_selected)), Some((70, true)));
    page.scroll(0);
    assert_eq!((page.question(), page.active()), (None, None), "a person may look elsewhere");
    // The root is all of it: nothing stands out of everything.
    page.act(Action::of(TreeAction::Clicked(0)));
    assert_eq!(page.state.views.node, None);
}

#[test]
fn the_search_leads_from_row_to_row() {
    let mut page = Page::open();
    page.answer(|_, _| {});
    page.press(TreeCommand::NextMatch);
    assert!(page.done.contains(&Effect::FocusFind), "nothing is looked for yet");
    page.act(Action::FindTyped("train".into()));
    let find = page.done.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, what: Question::Find(_), .. })) => Some(*serial),
        _ => None,
    });
    let find = find.expect("a search");
    let tally = Tally { count: 3, requested: 9, peak_count: 1, peak_requested: 3 };
    page.answered(find, Answer::Find(tally));
    let question = page.answer(|_, tree| tree.rows.iter_mut().for_each(|row| row.found = 2048));
    assert_eq!(question.find, Some(find));
    assert!(view(&page.state.tree, &page.state).searched);
    assert_eq!(page.rows().first().map(|row| row.found.clone()), Some("2.00 KiB".into()));
    page.press(TreeCommand::NextMatch);
    let question = page.answer(|_, tree| tree.revealed = Some((1007, 1007)));
    assert_eq!((question.reveal, page.state.tree.active()), (Some(Reveal::MatchAfter(0)), 1007));
    page.answer(|_, _| {});
    assert_eq!(page.active().map(|row| row.matches), Some(true));
    page.press(TreeCommand::PreviousMatch);
    let question = page.answer(|_, _| {});
    assert_eq!(question.reveal, Some(Reveal::MatchBefore(1007)));
    assert_eq!(page.state.tree.active(), 1007);
    assert!(page.state.remark.as_deref().is_some_and(|remark| remark.starts_with("No matches")));
}

#[test]
fn rows_read_like_this() {
    let mut page = Page::open();
    page.answer(|_, tree| {
        tree.total.bytes = 1 << 30;
        tree.rows[2].weight = Weight { bytes: (1 << 30) / 3, count: 1200 };
        tree.rows[2].parent_bytes = 1 << 29;
        (tree.rows[2].forks, tree.rows[2].place) = (1, [1, 4]);
        tree.rows[2].own = Weight { bytes: 512, count: 1 };
    });
    let rows = page.rows();
    let row = &rows[2];
    assert_eq!((row.name.as_str(), row.place.as_str()), ("f2", "/home/me/project/train.py:2"));
    assert_eq!((row.bytes.as_str(), row.more[1].as_str(), row.more[2].as_str()), ("341 MiB", "1,200", "512 B"));
    assert_eq!(row.exact, "357,913,941 B in 1,200 allocations");
    assert_eq!((row.more[0].as_str(), row.of_total.as_str()), ("66.7 %", "33.3 %"));
    assert_eq!((row.heat, row.level, row.among, row.indent_px), (2, 3, [2, 4], 14));
    assert_eq!((rows[1].indent_px, rows[0].indent_px), (7, 0), "an only child stands a little to the right");
    assert_eq!(row.title, "f2\n/home/me/project/train.py:2");
}

#[test]
fn shares_are_exact_at_their_ends() {
    assert_eq!([0, 1, 999, 1000].map(|part| percent(part, 1000)), ["0 %", "0.1 %", "99.9 %", "100 %"]);
    assert_eq!(percent(u64::MAX - 1, u64::MAX), "> 99.9 %", "all but a byte is not all");
    assert_eq!(percent(1237, 10_000), "12.4 %", "to the nearest tenth");
    assert_eq!((percent(1, u64::MAX), percent(0, 0), per_mille(5, 0)), ("< 0.1 %".into(), "0 %".into(), 0));
    assert_eq!([0, 49, 50, 199, 200, 399, 400, 699, 700, 1000].map(heat), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}
