//! Boxes of flame graphs compared with the rows of the same tree: weight, label and parent of each node are equal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::turns;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, Details, FlamePage, FlameQuestion, Fold, FoldScope, FoldState, Internal, Merge, NodeKind, Origin,
    Root, Scope, Span, TreePage, TreeQuestion,
};
use opened::{Opened, open, reply};
use proptest::prelude::*;

const FIND: u32 = 31;

fn flame(opened: &mut Opened, device: i64, question: FlameQuestion) -> FlamePage {
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 9, device, question: Question::Flame(question) })) {
        Reply::Answer { serial: 9, answer: Answer::Flame(page) } => *page,
        other => panic!("{other:?}"),
    }
}

fn find(opened: &mut Opened, query: &str) {
    let request = Request::Ask(Ask { serial: FIND, device: 0, question: Question::Find(query.to_owned()) });
    assert!(matches!(reply(&mut opened.engine, request), Reply::Answer { answer: Answer::Find(_), .. }));
}

/// Fetches all rows of the tree for the same question.
fn tree(opened: &mut Opened, device: i64, question: FlameQuestion) -> TreePage {
    let FlameQuestion { scope, arrangement, search_serial, .. } = question;
    let folds = vec![Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open }];
    let question =
        TreeQuestion { scope, arrangement, focus: None, folds, reveal: None, search_serial, rows: [0, 2000] };
    match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 7, device, question: Question::Tree(Box::new(question)) }),
    ) {
        Reply::Answer { answer: Answer::Tree(page), .. } => *page,
        other => panic!("{other:?}"),
    }
}

/// Checks that each box is a row of the tree below its parent's row, and that the path to the zoomed box is as wide as
/// the picture.
fn check(page: &FlamePage, tree: &TreePage, question: FlameQuestion) {
    assert_eq!(page.total, tree.total);
    let zoom = page.zoom as usize;
    for (place, it) in page.boxes.iter().enumerate() {
        assert!(it.x[0] < it.x[1] && it.x[1] <= question.width_px);
        if place <= zoom {
            assert_eq!((it.x, it.row as usize, it.node_count), ([0, question.width_px], place, 1));
        }
        let row = tree.rows.iter().find(|row| row.node == it.node).unwrap_or_else(|| panic!("no row of {it:?}"));
        if place > 0 {
            assert_eq!(page.boxes[it.parent as usize].node, row.parent);
        }
        let label = &page.labels[it.label as usize];
        assert_eq!(label, &row.label);
        if it.node_count == 1 {
            assert_eq!((it.weight, it.found, it.matches), (row.weight, row.found, row.matches));
        } else {
            assert!(it.weight.bytes >= row.weight.bytes && it.weight.count >= it.node_count);
        }
    }
    // Every node at least one pixel wide has a box of its own.
    let whole = u128::from(page.boxes[zoom].weight.bytes);
    if zoom == 0 && whole > 0 {
        let wide = tree.rows.iter().filter(|row| u128::from(row.weight.bytes) * u128::from(question.width_px) >= whole);
        for row in wide {
            assert!(page.boxes.iter().any(|it| it.node == row.node && it.node_count == 1), "{row:?} is missing");
        }
    }
}

fn sample(turns: &[(u64, usize, u64)]) -> Opened {
    open(&turns::file(turns)).unwrap()
}

fn turns() -> Vec<(u64, usize, u64)> {
    (0..400).map(|at| (512 + at % 7 * 100, at as usize * 7 % 31, at % 23)).collect()
}

fn question(scope: Scope) -> FlameQuestion {
    let arrangement = Arrangement::default();
    FlameQuestion { scope, arrangement, zoom: None, width_px: 1000, search_serial: None, allocation: None }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn boxes_match_tree_rows(
        turns in prop::collection::vec((prop_oneof![0u64..3, 1u64..90_000], 0usize..60, 0u64..40), 1..60),
        (from, to) in (0u32..130, 0u32..130),
        which in 0usize..5,
        (root, merge, internal) in (any::<bool>(), 0usize..3, any::<bool>()),
        zoom in prop::option::of(0u32..40),
        width_px in 1u32..200,
        sought in any::<bool>(),
    ) {
        let mut opened = sample(&turns);
        let span = Span { from, to };
        let scope = [Scope::At(from), Scope::Allocated(span), Scope::Freed(span), Scope::StillLive(span), Scope::ByteMoments(span)][which];
        let arrangement = Arrangement {
            root: if root { Root::Outermost } else { Root::Innermost },
            merge: [Merge::Line, Merge::Function, Merge::File][merge],
            internal: if internal { Internal::Shown } else { Internal::Hidden },
        };
        if sought {
            find(&mut opened, "step");
        }
        let search_serial = sought.then_some(FIND);
        let whole = FlameQuestion { scope, arrangement, zoom: None, width_px, search_serial, allocation: None };
        let tree = tree(&mut opened, 0, whole);
        let page = flame(&mut opened, 0, whole);
        prop_assert_eq!(page.zoom, 0);
        check(&page, &tree, whole);
        let zoomed = FlameQuestion { zoom, ..whole };
        let page = flame(&mut opened, 0, zoomed);
        let node = page.boxes[page.zoom as usize].node;
        prop_assert!(zoom.is_none_or(|zoom| zoom == node || node == 0));
        // A node whose weight is zero has no row, but the path to it is drawn.
        if tree.rows.iter().any(|row| row.node == node) {
            check(&page, &tree, zoomed);
        } else {
            prop_assert_eq!(page.boxes.len(), page.zoom as usize + 1);
        }
    }
}

#[test]
fn box_revealed_for_allocation_is_its_stack_or_nearest_ancestor() {
    let mut opened = sample(&turns());
    let last = opened.summary.devices[0].events as u32;
    let scope = Scope::Allocated(Span { from: 0, to: last });
    let mut seen = 0;
    for id in 0..opened.summary.devices[0].allocations as u32 {
        let request = Request::Ask(Ask { serial: 1, device: 0, question: Question::Details(id) });
        let Reply::Answer { answer: Answer::Details(Some(details)), .. } = reply(&mut opened.engine, request) else {
            continue;
        };
        let Details { frames, origin, .. } = *details;
        let page = flame(&mut opened, 0, FlameQuestion { allocation: Some(id), width_px: 100_000, ..question(scope) });
        let Some(place) = page.revealed else {
            assert_ne!(origin, Origin::Recorded, "allocation {id} of the recording has no box");
            continue;
        };
        let name = &page.labels[page.boxes[place as usize].label as usize].name;
        assert_eq!(name, frames.first().map_or("no stack recorded", |frame| &frame.name));
        // A picture one pixel wide only shows the heaviest path. The box found is on it, above the allocation's own.
        let narrow = flame(&mut opened, 0, FlameQuestion { allocation: Some(id), width_px: 1, ..question(scope) });
        let nearest = narrow.boxes[narrow.revealed.unwrap() as usize];
        let mut way = std::iter::successors(Some(place), |&at| (at > 0).then(|| page.boxes[at as usize].parent));
        assert!(way.any(|at| page.boxes[at as usize].node == nearest.node));
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
    let nothing = flame(&mut opened, 0, FlameQuestion { allocation: Some(u32::MAX), ..question(scope) });
    assert_eq!(nothing.revealed, None);
}

#[test]
fn call_sites_have_legend_colors() {
    let mut opened = sample(&turns());
    let last = opened.summary.devices[0].events as u32;
    let page = flame(&mut opened, 0, question(Scope::Allocated(Span { from: 0, to: last })));
    let colouring = memscape::protocol::Grouping::CallSite;
    let legend = match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 1, device: 0, question: Question::Legend { colouring, at: None } }),
    ) {
        Reply::Answer { answer: Answer::Legend(entries), .. } => entries,
        other => panic!("{other:?}"),
    };
    let mut coloured = 0;
    for it in page.boxes.iter().filter(|it| it.slot.is_some()) {
        let label = &page.labels[it.label as usize];
        let entry = legend.iter().find(|entry| Some(entry.slot) == it.slot).unwrap();
        if label.kind != NodeKind::Note {
            assert!(entry.label.contains(&label.name), "{entry:?} is not {label:?}");
        } else {
            assert_eq!(entry.label, "no stack recorded");
        }
        coloured += 1;
    }
    assert!(coloured > 3, "{coloured}");
}

#[test]
fn unknown_device_has_no_boxes() {
    let mut opened = sample(&turns());
    assert_eq!(flame(&mut opened, 5, question(Scope::At(3))), FlamePage::default());
}
