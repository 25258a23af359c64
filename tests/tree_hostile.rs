//! Files made to break the tree of stacks: endlessly deep, endlessly many, sums beyond 64 bits. Each has an answer, soon, in slices.
#![allow(clippy::unwrap_used, clippy::panic, reason = "how a test fails")]

use memscape::engine::protocol::{
    Arrangement, At, FlameQuestion, Fold, FoldState, Highlight, Looks, Reach, Reveal, Root, Scope, Span, TreePage,
    TreeQuestion, Weight,
};
use memscape::engine::{Engine, Reply, Request, Want};
use memscape::timeline::View;
use std::time::{Duration, Instant};

/// A pickle whose frames are numbered, and whose allocations have stacks of such numbers, innermost first.
fn pickle(frames: u32, allocations: impl Iterator<Item = (u64, Vec<u32>)>) -> Vec<u8> {
    let mut bytes = b"\x80\x02}(X\x08\x00\x00\x00segments]X\x0d\x00\x00\x00device_traces](](".to_vec();
    let word = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend([b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat());
    };
    // The frames stand in the first event, which is about no allocation.
    let entry = |bytes: &mut Vec<u8>, action: &str, address: u64, size: u64| {
        bytes.extend(b"}(");
        for (key, value) in [("addr", address), ("size", size), ("stream", 0)] {
            word(bytes, key);
            bytes.extend([b"\x8a\x09", &value.to_le_bytes()[..], b"\x00"].concat());
        }
        word(bytes, "action");
        word(bytes, action);
        word(bytes, "frames");
        bytes.extend(b"](");
    };
    entry(&mut bytes, "snapshot", 0, 0);
    for frame in 0..frames {
        bytes.extend(b"}(");
        for (key, text) in [("name", format!("f{frame}")), ("filename", "/home/me/a.py".into())] {
            word(&mut bytes, key);
            word(&mut bytes, &text);
        }
        word(&mut bytes, "line");
        bytes.extend(b"K\x07ur");
        bytes.extend(frame.to_le_bytes());
    }
    bytes.extend(b"eu");
    for (address, (size, stack)) in (1u64..).zip(allocations) {
        entry(&mut bytes, "alloc", address << 20, size);
        for frame in stack {
            bytes.push(b'j');
            bytes.extend(frame.to_le_bytes());
        }
        bytes.extend(b"eu");
    }
    bytes.extend(b"eeu.");
    bytes
}

/// The longest time without a question for it, in so many slices.
struct Open {
    engine: Engine,
    last: u32,
    slowest: Duration,
}

fn open(bytes: &[u8]) -> Open {
    let mut engine = Engine::new();
    engine.request(Request::open("x", None));
    let mut chunks = bytes.chunks(1 << 20);
    loop {
        if engine.wants() == Some(Want::Next) {
            match chunks.next() {
                Some(chunk) => engine.feed(chunk.to_vec()),
                None => engine.request(Request::EndOfFile),
            }
        }
        engine.step(&mut || true);
        match engine.next_reply() {
            Some(Reply::Opened(file)) => {
                let last = file.devices[0].events as u32;
                return Open { engine, last, slowest: Duration::ZERO };
            }
            Some(Reply::Failed { message }) => panic!("{message}"),
            _ => {}
        }
    }
}

impl Open {
    /// Work until the answer is there, with a look at the clock at each question for the time.
    fn reply(&mut self, request: Request) -> Reply {
        self.engine.request(request);
        let mut asked = Instant::now();
        loop {
            if let Some(reply) = self.engine.next_reply() {
                return reply;
            }
            let slowest = &mut self.slowest;
            self.engine.step(&mut || {
                *slowest = (*slowest).max(asked.elapsed());
                asked = Instant::now();
                true
            });
        }
    }

    fn tree(&mut self, question: TreeQuestion) -> TreePage {
        let started = Instant::now();
        match self.reply(Request::Tree { serial: 1, device: 0, question: Box::new(question) }) {
            Reply::Tree { page, .. } => {
                assert!(started.elapsed() < Duration::from_secs(20), "it took {:?}", started.elapsed());
                *page
            }
            other => panic!("{other:?}"),
        }
    }

    fn curve(&mut self) -> Weight {
        let at = vec![At::Moment(self.last)];
        match self.reply(Request::Moments { serial: 1, device: 0, at }) {
            Reply::Moments { moments, .. } => Weight { bytes: moments[0].requested, count: moments[0].count },
            other => panic!("{other:?}"),
        }
    }

    fn everything_open(&self, root: Root) -> TreeQuestion {
        let all = Fold { node: 0, reach: Reach::AllBelow, state: FoldState::Open };
        let arrangement = Arrangement { root, ..Arrangement::default() };
        let scope = Scope::At(self.last);
        TreeQuestion { scope, arrangement, focus: None, folds: vec![all], reveal: None, find: None, rows: [0, 100] }
    }
}

#[test]
fn a_stack_too_deep_to_show_is_told_as_such() {
    let deep = |depth: u32| (0..depth).map(|at| at % 3).collect::<Vec<u32>>();
    let mut open = open(&pickle(3, [(1000, deep(300_000)), (70, deep(4096)), (5, deep(4097))].into_iter()));
    for root in [Root::Outermost, Root::Innermost] {
        let page = open.tree(open.everything_open(root));
        assert_eq!(page.total, open.curve());
        assert_eq!(page.row_count, 1 + 1 + 4096);
        let note = &page.rows[1];
        assert_eq!((note.label.name.as_str(), note.weight.bytes), ("too deep, or too many different stacks", 1005));
        // The innermost frame is found at the end of a chain that never forks beyond the first.
        let reveal = Some(Reveal::Allocation(1));
        let page = open.tree(TreeQuestion { reveal, folds: vec![], ..open.everything_open(root) });
        let (row, _) = page.revealed.unwrap();
        let row = &page.rows[(row - page.first) as usize];
        assert_eq!((row.depth, row.forks, row.own.bytes), (4096, 1, 70));
    }
}

#[test]
fn a_hundred_thousand_different_stacks_are_shown() {
    let mut open = open(&pickle(330, (0..100_000).map(|at| (u64::from(at) + 1, vec![at % 317, 0, at / 317]))));
    for root in [Root::Outermost, Root::Innermost] {
        let page = open.tree(open.everything_open(root));
        assert_eq!(page.total, Weight { bytes: 100_000 * 100_001 / 2, count: 100_000 });
        assert!(page.row_count > 100_000, "{}", page.row_count);
        // Somewhere in the middle, again, at once.
        let started = Instant::now();
        let page = open.tree(TreeQuestion { rows: [77_000, 60], ..open.everything_open(root) });
        assert_eq!((page.rows.len(), page.first), (60, 77_000));
        assert!(started.elapsed() < Duration::from_millis(20), "a window of known rows took {:?}", started.elapsed());
        let node = page.rows[0].node;
        let arrangement = open.everything_open(root).arrangement;
        let scope = Scope::At(open.last);
        let question = FlameQuestion { scope, arrangement, zoom: None, width_px: 30_000, find: None, allocation: None };
        match open.reply(Request::Flame { serial: 1, device: 0, question }) {
            Reply::Flame { page, .. } => assert!(page.boxes.len() > 600 && page.total.count == 100_000),
            other => panic!("{other:?}"),
        }
        let looks =
            Looks { highlight: Highlight::Node(open.everything_open(root).arrangement, node), ..Looks::default() };
        let view = View::fit(u64::from(open.last) + 1, 1 << 33, 100, 100);
        assert!(matches!(open.reply(Request::Scene { serial: 1, device: 0, view, looks }), Reply::Scene { .. }));
    }
    assert!(open.slowest < Duration::from_millis(100), "{:?} without a question for the time", open.slowest);
}

/// Each stack is the one before and one frame more: from the innermost frame on they share nothing.
#[test]
fn stacks_that_share_nothing_the_other_way_round_are_shown() {
    let mut open = open(&pickle(2000, (0..2000).map(|depth| (1, (0..=depth).rev().collect()))));
    for root in [Root::Outermost, Root::Innermost] {
        let page = open.tree(open.everything_open(root));
        assert_eq!(page.total, Weight { bytes: 2000, count: 2000 });
        let expected = if root == Root::Outermost { 2001 } else { 1 + 2000 * 2001 / 2 };
        assert_eq!(page.row_count, expected);
    }
    // More nodes than a tree has: the rest stands in one, and nothing is lost.
    let mut open = self::open(&pickle(3000, (0..3000).map(|depth| (1, (0..=depth).rev().collect()))));
    let mut question = TreeQuestion { folds: vec![], rows: [0, 2000], ..open.everything_open(Root::Innermost) };
    let page = open.tree(question.clone());
    assert_eq!(page.total, Weight { bytes: 3000, count: 3000 });
    question.rows = [2000, 2000];
    let rows: Vec<_> = page.rows.into_iter().chain(open.tree(question).rows).collect();
    let note = rows.iter().find(|row| row.label.name.starts_with("too deep")).unwrap();
    assert!((10..1000).contains(&note.weight.count), "{note:?}");
    assert_eq!(rows.iter().skip(1).map(|row| row.weight.bytes).sum::<u64>(), 3000);
}

#[test]
fn sums_beyond_64_bits_stay_at_the_limit() {
    let huge = u64::try_from(i64::MAX).unwrap();
    let mut open = open(&pickle(3, (0..5).map(|at| (huge, vec![at % 3, 0]))));
    let page = open.tree(open.everything_open(Root::Outermost));
    assert_eq!(page.total, Weight { bytes: u64::MAX, count: 5 });
    let span = Span { from: u32::MAX, to: 2 };
    for scope in
        [Scope::At(u32::MAX), Scope::Born(span), Scope::Freed(span), Scope::Kept(span), Scope::ByteMoments(span)]
    {
        open.tree(TreeQuestion { scope, focus: Some(u32::MAX), ..open.everything_open(Root::Innermost) });
    }
    let odd =
        [Reveal::Allocation(u32::MAX), Reveal::Node(u32::MAX), Reveal::MatchAfter(9), Reveal::MatchBefore(u32::MAX)];
    for reveal in odd {
        let question = TreeQuestion {
            reveal: Some(reveal),
            rows: [u32::MAX, u32::MAX],
            find: Some(3),
            ..open.everything_open(Root::Outermost)
        };
        assert_eq!(open.tree(question).revealed, None);
    }
    let Reply::Range { facts, .. } = open.reply(Request::Range { serial: 1, device: 0, span }) else { panic!("other") };
    assert_eq!((facts.span, facts.born, facts.at_begin), (Span { from: 2, to: 2 }, Weight::default(), facts.at_end));
    let range = open.reply(Request::Range { serial: 1, device: 77, span });
    assert!(matches!(range, Reply::Range { .. }), "a device that is not there has an answer");
    let question = Box::new(open.everything_open(Root::Outermost));
    let Reply::Tree { page, .. } = open.reply(Request::Tree { serial: 1, device: 77, question }) else {
        panic!("other")
    };
    assert_eq!(*page, TreePage::default());
}
