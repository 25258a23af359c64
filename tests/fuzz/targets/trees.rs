//! Checks of call trees, flame graphs and ranges of any file: sums, order, and the curve at the root.

use super::questions::{Opened, check_round_trip};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, DeviceSummary, FlameQuestion, Fold, FoldScope, FoldState, Highlight, Internal, Merge, MomentSpec,
    PlotSettings, Reveal, Root, Scope, Span, TreePage, TreeQuestion,
};
use memscape::timeline::View;

/// Serial of the search whose matches are marked.
const FIND: u32 = 77;

/// Requests trees, ranges and their search matches, selected by `byte`. `adds_up` is true if sums are exact.
pub(crate) fn check(opened: &mut Opened, device: &DeviceSummary, byte: &mut dyn FnMut() -> u8, adds_up: bool) {
    let rules = [["native", "name:*a*"], ["file:/", "nothing"]][usize::from(byte() % 2)].map(str::to_owned);
    // This request has no reply.
    opened.engine.request(Request::InternalFrames(rules.to_vec()));
    let reply = &mut |request: Request| opened.reply(request);
    let (number, last) = (device.device, device.events as u32);
    let mut moment = || (u64::from(byte()) * u64::from(last) / 200) as u32;
    let (one, other) = (moment(), moment());
    let span = Span { from: one, to: other };
    let query = ["/[a-f]/", "a", ">=0", "0x0"][usize::from(byte() % 4)].to_owned();
    let Reply::Answer { answer: Answer::Find(_), .. } =
        reply(Request::Ask(Ask { serial: FIND, device: number, question: Question::Find(query) }))
    else {
        panic!("expected an answer to the search")
    };

    // One moment and one other scope. All scopes would take too much time per input.
    let others = [
        Scope::All,
        Scope::At(u32::MAX),
        Scope::Allocated(span),
        Scope::Freed(span),
        Scope::StillLive(span),
        Scope::ByteMoments(span),
    ];
    for scope in [Scope::At(one), others[usize::from(byte()) % others.len()]] {
        let pick = byte();
        let arrangement = Arrangement {
            root: [Root::Outermost, Root::Innermost][usize::from(pick % 2)],
            merge: [Merge::Line, Merge::Function, Merge::File][usize::from(pick / 2 % 3)],
            internal: [Internal::Shown, Internal::Hidden][usize::from(pick / 8 % 2)],
        };
        let all = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
        let rows = [0, 2000];
        let whole = TreeQuestion {
            scope,
            arrangement,
            focus: None,
            folds: vec![all],
            reveal: None,
            search_serial: Some(FIND),
            rows,
        };
        let page = tree(reply, number, whole.clone());
        check_sums(&page, adds_up);
        if let Scope::At(moment) = scope {
            match reply(Request::Ask(Ask {
                serial: 1,
                device: number,
                question: Question::Moments(vec![MomentSpec::Moment(moment)]),
            })) {
                Reply::Answer { answer: Answer::Moments(moments), .. } => {
                    assert_eq!(page.total.count, moments[0].count);
                    assert!(!adds_up || page.total.bytes == moments[0].requested, "the root equals the curve");
                }
                other => panic!("expected moments, got {other:?}"),
            }
        }
        let zoom = Some(u32::from(pick) % 7).filter(|node| *node != 0);
        let question = FlameQuestion {
            scope,
            arrangement,
            zoom,
            width_px: u32::from(pick) * 9,
            search_serial: Some(FIND),
            allocation: Some(1),
        };
        let Reply::Answer { answer: Answer::Flame(boxes), .. } =
            reply(Request::Ask(Ask { serial: 1, device: number, question: Question::Flame(question) }))
        else {
            panic!("no boxes")
        };
        check_round_trip(&*boxes);
        assert_eq!(boxes.total, page.total, "flame graph and tree have the same total");
        for it in &boxes.boxes {
            let parent = boxes.boxes[it.parent as usize];
            assert!(parent.x[0] <= it.x[0] && it.x[0] < it.x[1] && it.x[1] <= parent.x[1]);
            assert!(it.weight.bytes <= parent.weight.bytes && (it.label as usize) < boxes.labels.len());
        }
        let some = u32::from(byte()) % (page.rows.len() as u32 + 2);
        let fold = |state| Fold {
            node: some,
            scope: [FoldScope::Node, FoldScope::Subtree][usize::from(pick / 16 % 2)],
            state,
        };
        for reveal in
            [Reveal::Allocation(some), Reveal::Node(some), Reveal::MatchAfter(some), Reveal::MatchBefore(some)]
        {
            let focus = Some(u32::from(pick) % 5).filter(|node| *node != 0);
            let folds = vec![fold(FoldState::Open), fold(FoldState::Closed)];
            let part = tree(
                reply,
                number,
                TreeQuestion { focus, folds, reveal: Some(reveal), rows: [some, 5], ..whole.clone() },
            );
            if let Some((row, node)) = part.revealed {
                assert_eq!(part.rows[(row - part.first) as usize].node, node, "the revealed row is on the page");
            }
        }
        let request = Request::Ask(Ask {
            serial: 1,
            device: number,
            question: Question::Heaviest { scope, arrangement, node: some },
        });
        let Reply::Answer { answer: Answer::Heaviest(allocation), .. } = reply(request) else {
            panic!("not the heaviest")
        };
        assert!(allocation.is_none_or(|allocation| u64::from(allocation) < device.allocations + 1_000_000));
        let plot_settings = PlotSettings { highlight: Highlight::Node(arrangement, some), ..PlotSettings::default() };
        let view = View::fit(device.events + 1, device.drawn_peak, 9, 9);
        assert!(matches!(
            reply(Request::Ask(Ask { serial: 1, device: number, question: Question::Scene { view, plot_settings } })),
            Reply::Answer { answer: Answer::Scene(_), .. }
        ));
    }
    let Reply::Answer { answer: Answer::Range(facts), .. } =
        reply(Request::Ask(Ask { serial: 1, device: number, question: Question::Range(span) }))
    else {
        panic!("no range")
    };
    check_round_trip(&facts);
    assert!(facts.span.from <= facts.span.to && facts.span.to <= last);
    assert!(facts.still_live.count <= facts.allocated.count && facts.still_live.bytes <= facts.allocated.bytes);
    assert!(facts.peak >= facts.live_at_start.max(facts.live_at_end));
    assert!((facts.span.from..=facts.span.to).contains(&facts.peak_moment));
    if adds_up {
        assert!(facts.still_live.bytes <= facts.live_at_end);
        let change = i128::from(facts.allocated.bytes) - i128::from(facts.freed.bytes);
        assert_eq!(i128::from(facts.live_at_end) - i128::from(facts.live_at_start), change, "{facts:?}");
    }
}

fn tree(reply: &mut dyn FnMut(Request) -> Reply, device: i64, question: TreeQuestion) -> TreePage {
    match reply(Request::Ask(Ask { serial: 1, device, question: Question::Tree(Box::new(question)) })) {
        Reply::Answer { answer: Answer::Tree(page), .. } => {
            check_round_trip(&*page);
            *page
        }
        other => panic!("expected a tree, got {other:?}"),
    }
}

/// Checks that each node's weight is its own plus its children's, and that children are sorted by bytes.
fn check_sums(page: &TreePage, adds_up: bool) {
    assert_eq!(page.rows[0].weight, page.total);
    if page.row_count as usize != page.rows.len() {
        return;
    }
    for row in &page.rows {
        let children: Vec<_> = page.rows.iter().filter(|it| it.parent == row.node && it.node != row.node).collect();
        assert!(children.is_sorted_by_key(|child| u64::MAX - child.weight.bytes));
        assert_eq!(
            children.iter().map(|child| child.weight.count).sum::<u32>() + row.self_weight.count,
            row.weight.count
        );
        assert!(row.found <= row.weight.bytes);
        if adds_up && row.weight.bytes < u64::MAX {
            assert_eq!(
                children.iter().map(|child| child.weight.bytes).sum::<u64>() + row.self_weight.bytes,
                row.weight.bytes
            );
        }
    }
}
