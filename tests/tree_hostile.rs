//! Files built to stress the call tree: extreme depth, many stacks, sums beyond 64 bits. Each gets an answer soon, in
//! slices.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::numbered;

use cpu_time::ThreadTime;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, FlameQuestion, Fold, FoldScope, FoldState, Highlight, Internal, MomentSpec, PlotSettings, Reveal,
    Root, Scope, Span, TreePage, TreeQuestion, Weight,
};
use memscape::timeline::View;
use numbered::{OpenFile, open, pickle, pickle_of_lines};
use std::time::Duration;

impl OpenFile {
    fn tree(&mut self, question: TreeQuestion) -> TreePage {
        let started = ThreadTime::now();
        match self.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Tree(Box::new(question)) })) {
            Reply::Answer { answer: Answer::Tree(page), .. } => {
                assert!(started.elapsed() < Duration::from_secs(20), "it took {:?}", started.elapsed());
                *page
            }
            other => panic!("{other:?}"),
        }
    }

    fn curve(&mut self) -> Weight {
        let at = vec![MomentSpec::Moment(self.last)];
        match self.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Moments(at) })) {
            Reply::Answer { answer: Answer::Moments(moments), .. } => {
                Weight { bytes: moments[0].requested, count: moments[0].count }
            }
            other => panic!("{other:?}"),
        }
    }

    fn everything_open(&self, root: Root) -> TreeQuestion {
        let all = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
        let arrangement = Arrangement { root, ..Arrangement::default() };
        let scope = Scope::At(self.last);
        TreeQuestion {
            scope,
            arrangement,
            focus: None,
            folds: vec![all],
            reveal: None,
            search_serial: None,
            rows: [0, 100],
        }
    }
}

#[test]
fn too_deep_stack_is_shown_as_truncated() {
    let deep = |depth: u32| (0..depth).map(|at| at % 3).collect::<Vec<u32>>();
    let mut open = open(&pickle(3, [(1000, deep(300_000)), (70, deep(4096)), (5, deep(4097))].into_iter()));
    for root in [Root::Outermost, Root::Innermost] {
        let page = open.tree(open.everything_open(root));
        assert_eq!(page.total, open.curve());
        assert_eq!(page.row_count, 1 + 1 + 4096);
        let note = &page.rows[1];
        assert_eq!((note.label.name.as_str(), note.weight.bytes), ("truncated: too deep, or too many stacks", 1005));
        // The innermost frame is at the end of a chain that forks only at the root.
        let reveal = Some(Reveal::Allocation(1));
        let page = open.tree(TreeQuestion { reveal, folds: vec![], ..open.everything_open(root) });
        let (row, _) = page.revealed.unwrap();
        let row = &page.rows[(row - page.first) as usize];
        assert_eq!((row.depth, row.indent, row.self_weight.bytes), (4096, 1, 70));
    }
}

/// The depth limit also counts callers that are already known.
#[test]
fn depth_limit_is_independent_of_earlier_requests() {
    // All share their outer frames, a third of them hidden.
    let deep = |depth: u32| (0..depth).rev().map(|at| at % 3).collect::<Vec<u32>>();
    let bytes = pickle(3, [(100, deep(8000)), (50, deep(4000)), (7, deep(4096)), (3, deep(4097))].into_iter());
    for internal in [Internal::Shown, Internal::Hidden] {
        let mut opens = [open(&bytes), open(&bytes)];
        opens.iter_mut().for_each(|open| open.engine.request(Request::InternalFrames(vec!["name:f1".to_owned()])));
        let of = |open: &OpenFile| {
            let mut question = open.everything_open(Root::Outermost);
            question.arrangement.internal = internal;
            question
        };
        // Only the second one knows the path of the stack with 4000 frames.
        let [_, asked] = &mut opens;
        asked.tree(TreeQuestion { scope: Scope::Allocated(Span { from: 2, to: 3 }), ..of(asked) });
        for mut open in opens {
            let page = open.tree(of(&open));
            assert_eq!(page.row_count, 1 + 1 + if internal == Internal::Shown { 4096 } else { 2731 });
            let note = page.rows.iter().find(|row| row.label.name.starts_with("truncated")).unwrap();
            assert_eq!((note.weight.bytes, note.weight.count), (103, 2));
        }
    }
}

#[test]
fn time_slices_stay_short_with_hundred_thousand_stacks() {
    let longest = longest_slice();
    assert!(longest < Duration::from_millis(100), "{longest:?}");
}

/// Longest processor time between two checks of the clock, or for a window of known rows.
fn longest_slice() -> Duration {
    let mut open = open(&pickle(330, (0..100_000).map(|at| (u64::from(at) + 1, vec![at % 317, 0, at / 317]))));
    let mut again = Duration::ZERO;
    for root in [Root::Outermost, Root::Innermost] {
        let page = open.tree(open.everything_open(root));
        assert_eq!(page.total, Weight { bytes: 100_000 * 100_001 / 2, count: 100_000 });
        assert!(page.row_count > 100_000, "{}", page.row_count);
        // A window in the middle, requested a second time.
        let started = ThreadTime::now();
        let page = open.tree(TreeQuestion { rows: [77_000, 60], ..open.everything_open(root) });
        assert_eq!((page.rows.len(), page.first), (60, 77_000));
        again = again.max(started.elapsed());
        let node = page.rows[0].node;
        let arrangement = open.everything_open(root).arrangement;
        let scope = Scope::At(open.last);
        let question =
            FlameQuestion { scope, arrangement, zoom: None, width_px: 30_000, search_serial: None, allocation: None };
        match open.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Flame(question) })) {
            Reply::Answer { answer: Answer::Flame(page), .. } => {
                assert!(page.boxes.len() > 600 && page.total.count == 100_000);
            }
            other => panic!("{other:?}"),
        }
        let plot_settings = PlotSettings {
            highlight: Highlight::Node(open.everything_open(root).arrangement, node),
            ..PlotSettings::default()
        };
        let view = View::fit(u64::from(open.last) + 1, 1 << 33, 100, 100);
        assert!(matches!(
            open.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Scene { view, plot_settings } })),
            Reply::Answer { answer: Answer::Scene(_), .. }
        ));
    }
    open.slowest.max(again)
}

/// Thousands of rows of boxes, and an allocation of zero bytes without a box of its own.
#[test]
fn box_of_allocation_is_found_quickly() {
    let deep = |outermost: u32| (1..4000).map(|at| at % 3).chain([outermost]).collect::<Vec<u32>>();
    let stacks = (0..12).map(|at| (1000, deep(3 + at))).chain([(0, deep(99))]);
    let mut open = open(&pickle(100, stacks));
    let (scope, arrangement) = (Scope::At(open.last), Arrangement::default());
    let mut quickest = Duration::MAX;
    // Boxes are built once.
    for (allocation, row) in [(3, 4000), (12, 0), (12, 0), (12, 0)] {
        open.slowest = Duration::ZERO;
        let allocation = Some(allocation);
        let question =
            FlameQuestion { scope, arrangement, zoom: None, width_px: 1500, search_serial: None, allocation };
        match open.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Flame(question) })) {
            Reply::Answer { answer: Answer::Flame(page), .. } => {
                assert_eq!(page.boxes[page.revealed.unwrap() as usize].row, row);
            }
            other => panic!("{other:?}"),
        }
        if allocation == Some(12) {
            quickest = quickest.min(open.slowest);
        }
    }
    assert!(quickest < Duration::from_millis(100), "{quickest:?} without a check of the clock");
}

/// The rules check a path once, not once per line.
#[test]
fn frames_with_long_path_are_hidden_quickly() {
    let path = format!("/home/{}x.py", "a".repeat(4000));
    let mut open = open(&pickle_of_lines(&path, 5_000));
    let rules = (0..30).map(|at| format!("file:aaaa{at}")).collect();
    open.engine.request(Request::InternalFrames(rules));
    let mut question = open.everything_open(Root::Outermost);
    question.arrangement.internal = Internal::Hidden;
    let started = ThreadTime::now();
    assert_eq!(open.tree(question).row_count, 5_001);
    assert!(started.elapsed() < Duration::from_secs(30), "it took {:?}", started.elapsed());
}

/// Each stack is the previous one plus one frame. Inverted, they share no nodes.
#[test]
fn inverted_stacks_without_shared_frames_are_shown() {
    let mut open = open(&pickle(2000, (0..2000).map(|depth| (1, (0..=depth).rev().collect()))));
    for root in [Root::Outermost, Root::Innermost] {
        let page = open.tree(open.everything_open(root));
        assert_eq!(page.total, Weight { bytes: 2000, count: 2000 });
        let expected = if root == Root::Outermost { 2001 } else { 1 + 2000 * 2001 / 2 };
        assert_eq!(page.row_count, expected);
    }
    // Kept memory does not grow with the number of cursor positions.
    for moment in 1995..2001 {
        let scope = Scope::At(moment);
        open.tree(TreeQuestion { scope, folds: vec![], ..open.everything_open(Root::Innermost) });
    }
    let answers = open.engine.heap_bytes().into_iter().find(|(table, _)| *table == "answers").unwrap().1;
    assert!(answers < 300 << 20, "{} MiB", answers >> 20);
    // Above the maximum number of nodes, the rest is merged into one node without losing bytes.
    let mut open = numbered::open(&pickle(3000, (0..3000).map(|depth| (1, (0..=depth).rev().collect()))));
    let mut question = TreeQuestion { folds: vec![], rows: [0, 2000], ..open.everything_open(Root::Innermost) };
    let page = open.tree(question.clone());
    assert_eq!(page.total, Weight { bytes: 3000, count: 3000 });
    question.rows = [2000, 2000];
    let rows: Vec<_> = page.rows.into_iter().chain(open.tree(question).rows).collect();
    let note = rows.iter().find(|row| row.label.name.starts_with("truncated")).unwrap();
    assert!((10..1000).contains(&note.weight.count), "{note:?}");
    assert_eq!(rows.iter().skip(1).map(|row| row.weight.bytes).sum::<u64>(), 3000);
}

#[test]
fn sums_beyond_64_bits_saturate() {
    let huge = u64::try_from(i64::MAX).unwrap();
    let mut open = open(&pickle(3, (0..5).map(|at| (huge, vec![at % 3, 0]))));
    let page = open.tree(open.everything_open(Root::Outermost));
    assert_eq!(page.total, Weight { bytes: u64::MAX, count: 5 });
    let span = Span { from: u32::MAX, to: 2 };
    for scope in [
        Scope::At(u32::MAX),
        Scope::Allocated(span),
        Scope::Freed(span),
        Scope::StillLive(span),
        Scope::ByteMoments(span),
    ] {
        open.tree(TreeQuestion { scope, focus: Some(u32::MAX), ..open.everything_open(Root::Innermost) });
    }
    let odd =
        [Reveal::Allocation(u32::MAX), Reveal::Node(u32::MAX), Reveal::MatchAfter(9), Reveal::MatchBefore(u32::MAX)];
    for reveal in odd {
        let question = TreeQuestion {
            reveal: Some(reveal),
            rows: [u32::MAX, u32::MAX],
            search_serial: Some(3),
            ..open.everything_open(Root::Outermost)
        };
        assert_eq!(open.tree(question).revealed, None);
    }
    let Reply::Answer { answer: Answer::Range(facts), .. } =
        open.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Range(span) }))
    else {
        panic!("unexpected answer")
    };
    assert_eq!(
        (facts.span, facts.allocated, facts.live_at_start),
        (Span { from: 2, to: 2 }, Weight::default(), facts.live_at_end)
    );
    let range = open.reply(Request::Ask(Ask { serial: 1, device: 77, question: Question::Range(span) }));
    assert!(matches!(range, Reply::Answer { answer: Answer::Range(_), .. }), "an unknown device gets an answer");
    let question = Box::new(open.everything_open(Root::Outermost));
    let Reply::Answer { answer: Answer::Tree(page), .. } =
        open.reply(Request::Ask(Ask { serial: 1, device: 77, question: Question::Tree(question) }))
    else {
        panic!("unexpected answer")
    };
    assert_eq!(*page, TreePage::default());
}
