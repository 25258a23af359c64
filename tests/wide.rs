//! One file with hundreds of thousands of source lines that each allocate. Every question is answered in short slices,
//! and handing over an answer does no work.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::numbered;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, FlameQuestion, Fold, MomentSpec, Reveal, Scope, SortDirection, TableColumn, TableFilter,
    TableQuestion, TableSort, TreeQuestion, Weight,
};
use numbered::{OpenFile, open, pickle_of_lines};
use std::time::Duration;

const LINES: u32 = 300_000;
const FIND: u32 = 5;

/// Longest accepted slice. Tests are not optimized and share the machine.
const MAX_SLICE: Duration = Duration::from_millis(120);

/// Sends a request and records slices that check the clock too late.
fn ask(open: &mut OpenFile, what: &str, request: Request) -> Reply {
    open.slowest = Duration::ZERO;
    let reply = open.reply(request);
    println!("{what}: {:?}", open.slowest);
    if open.slowest > MAX_SLICE {
        open.slow.push(format!("{what}: {:?} without a question for the time", open.slowest));
    }
    reply
}

fn tree(open: &mut OpenFile, what: &str, folds: Vec<Fold>, reveal: Option<Reveal>, rows: [u32; 2]) -> Vec<u64> {
    let (scope, arrangement, search_serial) = (Scope::At(open.last), Arrangement::default(), Some(FIND));
    let question = Box::new(TreeQuestion { scope, arrangement, focus: None, folds, reveal, search_serial, rows });
    let Reply::Answer { answer: Answer::Tree(page), .. } =
        ask(open, what, Request::Ask(Ask { serial: 1, device: 0, question: Question::Tree(question) }))
    else {
        panic!("unexpected reply")
    };
    assert_eq!((page.row_count, page.total, page.revealed.is_some()), (LINES + 1, total(), reveal.is_some()));
    page.rows.iter().map(|row| row.weight.bytes).collect()
}

/// Total over all lines, which allocate 1 to 1000 bytes in turn.
fn total() -> Weight {
    Weight { bytes: u64::from(LINES / 1000) * 500_500, count: LINES }
}

#[test]
fn every_question_is_answered_in_short_slices() {
    let bytes = pickle_of_lines("/home/me/a.py", LINES);
    // A busy machine can make any slice long, but not the same one every time.
    let mut always = questions(&bytes);
    for _ in 0..3 {
        if always.is_empty() {
            return;
        }
        let what = |line: &String| line.split(':').next().map(str::to_owned);
        let again: Vec<_> = questions(&bytes).iter().map(what).collect();
        always.retain(|line| again.contains(&what(line)));
    }
    assert!(always.is_empty(), "{always:#?}");
}

/// Sends every question. Returns those with slices that took too long.
fn questions(bytes: &[u8]) -> Vec<String> {
    let mut open = open(bytes);

    // The ruler's request.
    let at = (0..=LINES).step_by(1000).map(MomentSpec::Moment).collect();
    let reply = ask(&mut open, "moments", Request::Ask(Ask { serial: 1, device: 0, question: Question::Moments(at) }));
    let Reply::Answer { answer: Answer::Moments(moments), .. } = reply else { panic!("{reply:?}") };
    assert!((0..).step_by(1000).zip(&moments).all(|(at, facts): (u32, _)| facts.count == at.saturating_sub(1)));

    let search = Request::Ask(Ask { serial: FIND, device: 0, question: Question::Find("a.py".to_owned()) });
    assert!(matches!(ask(&mut open, "find", search), Reply::Answer { answer: Answer::Find(_), .. }));

    // Rows of equal size are sorted by id: 300 lines of 1000 bytes come first.
    let bytes = tree(&mut open, "tree", vec![], None, [299, 4]);
    assert_eq!(bytes, [1000, 1000, 999, 999]);
    tree(&mut open, "the next match", vec![], Some(Reveal::MatchAfter(77_777)), [0, 10]);
    tree(&mut open, "the match before", vec![], Some(Reveal::MatchBefore(77_777)), [0, 10]);
    tree(&mut open, "the row of an allocation", vec![], Some(Reveal::Allocation(123_456)), [0, 10]);

    for allocation in [None, Some(123_456)] {
        let (scope, arrangement, search_serial) = (Scope::At(open.last), Arrangement::default(), Some(FIND));
        let question = FlameQuestion { scope, arrangement, zoom: None, width_px: 60_000, search_serial, allocation };
        let reply =
            ask(&mut open, "flame", Request::Ask(Ask { serial: 1, device: 0, question: Question::Flame(question) }));
        let Reply::Answer { answer: Answer::Flame(page), .. } = reply else { panic!("{reply:?}") };
        assert_eq!((page.total, page.boxes.len(), page.boxes[1].node_count), (total(), 2, LINES));
    }
    let scope = Scope::At(open.last);
    let reply =
        ask(&mut open, "sources", Request::Ask(Ask { serial: 1, device: 0, question: Question::Sources(scope) }));
    let Reply::Answer { answer: Answer::Sources(page), .. } = reply else { panic!("{reply:?}") };
    let [file] = page.files.as_slice() else { panic!("{:?}", page.files.len()) };
    assert_eq!((page.total.now, file.weights.now, file.left_out), (total(), total(), LINES - 20_000));
    // The largest lines, and of equal ones the first.
    let lines: Vec<&str> = file.lines.iter().skip(299).take(2).map(|line| line.line.as_str()).collect();
    assert_eq!((lines, file.lines.len()), (vec!["300000", "999"], 20_000));

    // Sorted by call site, then by size, with every hundredth row selected.
    for column in [TableColumn::CallSite, TableColumn::Size] {
        let question = TableQuestion {
            scope: Scope::All,
            filter: TableFilter::default(),
            sort: TableSort { column, direction: SortDirection::Descending },
            rows: [0, 3],
            reveal: None,
            selected: (0..LINES).step_by(100).map(|row| [row, row + 1]).collect(),
            search_serial: None,
        };
        let question = Box::new(question);
        let reply =
            ask(&mut open, "table", Request::Ask(Ask { serial: 1, device: 0, question: Question::Table(question) }));
        let Reply::Answer { answer: Answer::Table(page), .. } = reply else { panic!("{reply:?}") };
        let first = if column == TableColumn::CallSite { [LINES - 1, LINES - 2] } else { [999, 1999] };
        assert_eq!([page.rows[0].allocation, page.rows[1].allocation], first);
        assert_eq!((page.listed, page.selected.count), (total(), LINES / 100));
    }

    open.slow
}
