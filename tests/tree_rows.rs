//! Rows of the call tree: open and closed nodes, windows of rows, revealed nodes, search matches.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::opened;
use crate::turns;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, Fold, FoldScope, FoldState, NodeKind, Reveal, Root, Scope, Span, Tally, TreePage, TreeQuestion,
    TreeRow,
};
use opened::{Opened, open, reply};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const FIND: u32 = 31;

fn page(opened: &mut Opened, question: &TreeQuestion) -> TreePage {
    match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 7, device: 0, question: Question::Tree(Box::new(question.clone())) }),
    ) {
        Reply::Answer { serial: 7, answer: Answer::Tree(page) } => *page,
        other => panic!("{other:?}"),
    }
}

fn find(opened: &mut Opened, query: &str) -> Tally {
    match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: FIND, device: 0, question: Question::Find(query.to_owned()) }),
    ) {
        Reply::Answer { answer: Answer::Find(tally), .. } => tally,
        other => panic!("{other:?}"),
    }
}

/// A device with several hundred allocations, and a question about all those allocated in its trace.
fn sample() -> (Opened, TreeQuestion) {
    let turns: Vec<(u64, usize, u64)> =
        (0..600).map(|at| (512 + at % 7 * 100, at as usize * 7 % 31, at % 23)).collect();
    let opened = open(&turns::file(&turns)).unwrap();
    let scope = Scope::Allocated(Span { from: 0, to: opened.summary.devices[0].events as u32 });
    let arrangement = Arrangement::default();
    (
        opened,
        TreeQuestion {
            scope,
            arrangement,
            focus: None,
            folds: vec![],
            reveal: None,
            search_serial: None,
            rows: [0, 2000],
        },
    )
}

fn fold(node: u32, reach: FoldScope, state: FoldState) -> Fold {
    Fold { node, scope: reach, state }
}

fn all_open(question: &TreeQuestion) -> TreeQuestion {
    TreeQuestion { folds: vec![fold(0, FoldScope::Subtree, FoldState::Open)], ..question.clone() }
}

/// Children of each node in their order.
fn children(rows: &[TreeRow]) -> BTreeMap<u32, Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in rows.iter().skip(1) {
        children.entry(row.parent).or_default().push(row.node);
    }
    children
}

/// Rows left by folds, computed by brute force: applies to each node its own folds and those of its ancestors. `open`
/// is the state without folds, `heaviest` says that the heaviest path continues below the node.
fn expected(
    (children, kinds): (&BTreeMap<u32, Vec<u32>>, &BTreeMap<u32, NodeKind>),
    way: &[u32],
    folds: &[Fold],
    [open, heaviest]: [bool; 2],
    rows: &mut Vec<(u32, FoldState)>,
) {
    let node = way[way.len() - 1];
    let mut is_open = open;
    for fold in folds {
        let reaches = fold.node == node || (fold.scope == FoldScope::Subtree && way.contains(&fold.node));
        if reaches && fold.state != FoldState::Leaf {
            is_open = fold.state == FoldState::Open;
        }
    }
    let below = children.get(&node).map_or(&[][..], Vec::as_slice);
    let state = match (below.is_empty(), is_open) {
        (true, _) => FoldState::Leaf,
        (false, true) => FoldState::Open,
        (false, false) => FoldState::Closed,
    };
    rows.push((node, state));
    for (place, &child) in below.iter().enumerate().filter(|_| is_open) {
        let way: Vec<u32> = way.iter().copied().chain([child]).collect();
        let heaviest = heaviest && place == 0 && matches!(kinds[&child], NodeKind::Library | NodeKind::Native);
        expected((children, kinds), &way, folds, [below.len() == 1 || heaviest, heaviest], rows);
    }
}

fn path_to(rows: &[TreeRow], node: u32) -> Vec<u32> {
    let parent = |node: u32| rows.iter().find(|row| row.node == node).map(|row| row.parent).filter(|&it| it != node);
    let mut way: Vec<u32> = std::iter::successors(Some(node), |&at| parent(at)).collect();
    way.reverse();
    way
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn expanded_and_collapsed_rows_match_brute_force(
        folds in prop::collection::vec((0usize..60, any::<bool>(), 0u8..5), 0..12),
        focus in prop::option::of(0usize..60),
        reveal in prop::option::of(0usize..60),
        window in (0u32..70, 0u32..20),
        inverted in any::<bool>(),
    ) {
        let (mut opened, mut question) = sample();
        if inverted {
            question.arrangement.root = Root::Innermost;
        }
        let tree = page(&mut opened, &all_open(&question)).rows;
        let node = |place: usize| tree[place % tree.len()].node;
        question.folds = folds.iter().map(|&(place, all, state)| {
            let state = match state { 0 => FoldState::Leaf, 1 | 2 => FoldState::Closed, _ => FoldState::Open };
            fold(node(place), if all { FoldScope::Subtree } else { FoldScope::Node }, state)
        }).collect();
        question.focus = focus.map(node);
        let top = question.focus.unwrap_or(0);
        let children = children(&tree);
        let mut rows = Vec::new();
        let way = path_to(&tree, top);
        let kinds: BTreeMap<u32, NodeKind> = tree.iter().map(|row| (row.node, row.label.kind)).collect();
        expected((&children, &kinds), &way, &question.folds, [true, kinds[&top] != NodeKind::User], &mut rows);
        let seen = page(&mut opened, &question);
        prop_assert_eq!(seen.rows.iter().map(|row| (row.node, row.fold)).collect::<Vec<_>>(), rows.clone());
        prop_assert_eq!(seen.row_count as usize, rows.len());
        prop_assert_eq!(seen.ancestors.iter().map(|(node, _)| *node).collect::<Vec<_>>(), &way[..way.len() - 1]);

        // A window is a part of the rows.
        question.rows = [window.0, window.1];
        let part = page(&mut opened, &question);
        let end = seen.rows.len().min((window.0 + window.1) as usize);
        let expected_rows = seen.rows.get(window.0 as usize..end).unwrap_or(&[]);
        prop_assert_eq!((part.first, &part.rows[..]), (window.0, expected_rows));

        // The revealed node is among the rows, and remains there when the folds opened for it are sent back.
        if let Some(target) = reveal.map(node) {
            question.rows = [window.0, window.1 + 1];
            question.reveal = Some(Reveal::Node(target));
            let shown = page(&mut opened, &question);
            let is_below = path_to(&tree, target).contains(&top);
            prop_assert_eq!(shown.revealed.map(|(_, node)| node), Some(target).filter(|_| is_below));
            if let Some((row, _)) = shown.revealed {
                prop_assert_eq!(shown.rows[(row - shown.first) as usize].node, target);
            } else {
                prop_assert!(shown.opened.is_empty());
            }
            question.reveal = None;
            question.folds.extend(shown.opened.iter().map(|&node| fold(node, FoldScope::Node, FoldState::Open)));
            question.rows = [shown.first, window.1 + 1];
            let again = page(&mut opened, &question);
            prop_assert_eq!((again.row_count, again.rows), (shown.row_count, shown.rows));
        }
    }
}

#[test]
fn search_marks_rows_and_sums_matches() {
    let (mut opened, question) = sample();
    for (query, name) in
        [("Train.py:14", "Train.py|14"), ("/empty$/", "at::empty"), ("nothing like it", "nothing like it")]
    {
        let tally = find(&mut opened, query);
        for root in [Root::Outermost, Root::Innermost] {
            let mut question = TreeQuestion { search_serial: Some(FIND), ..all_open(&question) };
            question.arrangement.root = root;
            let rows = page(&mut opened, &question).rows;
            let matches: Vec<u32> = rows.iter().filter(|row| row.matches).map(|row| row.node).collect();
            let named = |row: &&TreeRow| {
                format!("{}|{}|{}", row.label.name, row.label.file, row.label.line).contains(name)
                    || (name == "Train.py|14" && row.label.file.ends_with("Train.py") && row.label.line == "14")
            };
            assert_eq!(matches, rows.iter().filter(named).map(|row| row.node).collect::<Vec<_>>(), "{query}");
            // Counts only allocations made in the trace, not those from before recording.
            assert!(rows[0].found <= tally.requested && (rows[0].found > 0) == (tally.count > 0), "{query}");
            for row in &rows {
                assert!(row.found <= row.weight.bytes);
                if row.matches {
                    assert_eq!(row.found, row.weight.bytes, "a match counts with everything below it: {query}");
                }
                let below: u64 =
                    rows.iter().filter(|it| it.parent == row.node && it.node != row.node).map(|it| it.found).sum();
                assert!(below <= row.found && row.found <= below + row.self_weight.bytes, "{query}");
            }

            // Enter and Shift+Enter from every row.
            for row in &rows {
                let after =
                    matches.iter().find(|&&node| place(&rows, node) > place(&rows, row.node)).or(matches.first());
                let before =
                    matches.iter().rfind(|&&node| place(&rows, node) < place(&rows, row.node)).or(matches.last());
                for (reveal, expected) in
                    [(Reveal::MatchAfter(row.node), after), (Reveal::MatchBefore(row.node), before)]
                {
                    let question = TreeQuestion { reveal: Some(reveal), folds: vec![], ..question.clone() };
                    let shown = page(&mut opened, &question);
                    assert_eq!(shown.revealed.map(|(_, node)| node), expected.copied(), "{query} {reveal:?}");
                }
            }
        }
    }
    // A different search with the same serial drops the earlier marks.
    find(&mut opened, "Forward");
    let question = TreeQuestion { search_serial: Some(FIND), ..all_open(&question) };
    assert!(page(&mut opened, &question).rows.iter().all(|row| row.matches == (row.label.name == "Forward")));
    let other = TreeQuestion { search_serial: Some(FIND + 1), ..question };
    assert!(page(&mut opened, &other).rows.iter().all(|row| !row.matches && row.found == 0));
}

fn place(rows: &[TreeRow], node: u32) -> usize {
    rows.iter().position(|row| row.node == node).unwrap()
}

#[test]
fn node_ids_are_stable_across_events() {
    let (mut opened, question) = sample();
    let mut named: BTreeMap<u32, (u32, String)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for moment in (0..opened.summary.devices[0].events as u32).step_by(7).chain([3, 50, 3]) {
        let question = TreeQuestion { scope: Scope::At(moment), ..all_open(&question) };
        for row in page(&mut opened, &question).rows {
            let name = (row.parent, format!("{:?}", row.label));
            assert_eq!(*named.entry(row.node).or_insert_with(|| name.clone()), name, "moment {moment}");
            seen.insert(row.node);
        }
    }
    assert!(seen.len() > 20);
}
