//! The call tree compared with brute force over all allocations of random histories, and with the live-bytes curve of
//! real files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::opened;
use crate::turns;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, Details, FlameQuestion, Fold, FoldScope, FoldState, FrameText, Internal, Merge, MomentFacts,
    MomentSpec, NodeKind, Root, Scope, Span, TreePage, TreeQuestion, TreeRow, Weight,
};
use opened::{Opened, open, real_pickles, reply};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Answers a question in slices of one unit of work.
fn page(opened: &mut Opened, device: i64, question: TreeQuestion) -> TreePage {
    match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 7, device, question: Question::Tree(Box::new(question)) }),
    ) {
        Reply::Answer { serial: 7, answer: Answer::Tree(page) } => *page,
        other => panic!("{other:?}"),
    }
}

fn moments(opened: &mut Opened, device: i64, moments: &[u32]) -> Vec<MomentFacts> {
    let at = moments.iter().map(|&moment| MomentSpec::Moment(moment)).collect();
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 8, device, question: Question::Moments(at) })) {
        Reply::Answer { serial: 8, answer: Answer::Moments(moments) } => moments,
        other => panic!("{other:?}"),
    }
}

/// The tree with all nodes open.
fn whole(scope: Scope, arrangement: Arrangement) -> TreeQuestion {
    let all = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
    TreeQuestion {
        scope,
        arrangement,
        focus: None,
        folds: vec![all],
        reveal: None,
        search_serial: None,
        rows: [0, 2000],
    }
}

/// Details of all allocations of a device.
fn all_details(opened: &mut Opened, device: i64) -> Vec<Details> {
    let mut all = Vec::new();
    while let Some(details) = opened.details(device, all.len() as u32) {
        all.push(details);
    }
    all
}

/// Weight of an allocation in a scope, computed from its details alone.
fn weight(details: &Details, scope: Scope) -> Option<u64> {
    let allocated_at = details.allocated_event.map_or(0, |event| event + 1);
    let freed_at = details.freed_event.map_or(u32::MAX, |event| event + 1);
    let bytes = details.requested;
    match scope {
        Scope::All => Some(bytes),
        Scope::At(moment) => (allocated_at <= moment && moment < freed_at).then_some(bytes),
        Scope::Allocated(Span { from, to }) => (allocated_at > from && allocated_at <= to).then_some(bytes),
        Scope::Freed(Span { from, to }) => (freed_at > from && freed_at <= to).then_some(bytes),
        Scope::StillLive(Span { from, to }) => {
            (allocated_at > from && allocated_at <= to && freed_at > to).then_some(bytes)
        }
        Scope::ByteMoments(Span { from, to }) => {
            let moments = (from..to).filter(|moment| (allocated_at..freed_at).contains(moment)).count() as u64;
            (moments > 0).then_some(bytes * moments)
        }
        Scope::Change(Span { from, to }) => {
            let [a, b] = [from, to].map(|moment| (allocated_at..freed_at).contains(&moment));
            (a != b).then_some(bytes)
        }
    }
}

/// Label of a frame in the tree.
fn frame_label(frame: &FrameText, arrangement: Arrangement) -> String {
    let no_file = matches!(frame.filename.as_str(), "" | "??");
    match arrangement.merge {
        Merge::Line => format!("{}|{}|{}", frame.name, frame.filename, frame.line),
        Merge::File if !no_file => format!("{}|{}|", frame.filename.rsplit('/').next().unwrap(), frame.filename),
        _ => format!("{}|{}|", frame.name, frame.filename),
    }
}

/// Labels of an allocation's frames from the root on. `named` contains the stacks of allocations with a non-zero size,
/// which have a call site.
fn path(details: &Details, arrangement: Arrangement, named: &BTreeSet<u32>) -> Vec<String> {
    if details.stack.is_none() {
        return vec!["no stack recorded".into()];
    }
    let mut path: Vec<String> = Vec::new();
    let internal = |file: &str| file.is_empty() || file == "??" || file == "/x/torch/nn.py";
    let frames = details.frames.iter().filter(|it| arrangement.internal == Internal::Shown || !internal(&it.filename));
    for frame in frames {
        let no_file = matches!(frame.filename.as_str(), "" | "??");
        path.push(frame_label(frame, arrangement));
        if arrangement.merge == Merge::File
            && !no_file
            && path.len() > 1
            && path[path.len() - 2] == path[path.len() - 1]
        {
            path.pop();
        }
    }
    if arrangement.root == Root::Outermost {
        path.reverse();
    }
    if details.is_free_stack {
        path.insert(0, "allocated before recording (stacks of their frees)".into());
    } else if path.is_empty() {
        path.push("backward and library frames".into());
        // The call site: the innermost user frame even if the rules hide its file, else the innermost frame.
        let site = details.frames.iter().find(|it| it.is_user_code).or(details.frames.first());
        let site = site.filter(|_| details.stack.is_some_and(|stack| named.contains(&stack)));
        path.extend(site.map(|frame| frame_label(frame, arrangement)));
    }
    path
}

fn label(row: &TreeRow) -> String {
    match row.label.kind {
        NodeKind::Note => row.label.name.clone(),
        _ => format!("{}|{}|{}", row.label.name, row.label.file, row.label.line),
    }
}

/// Total and self weight of each path.
fn expected(all: &[Details], scope: Scope, arrangement: Arrangement) -> BTreeMap<Vec<String>, (Weight, Weight)> {
    let mut nodes: BTreeMap<Vec<String>, (Weight, Weight)> = BTreeMap::new();
    nodes.insert(Vec::new(), Default::default());
    let named = all.iter().filter(|it| it.requested > 0).filter_map(|it| it.stack).collect();
    for details in all {
        let Some(bytes) = weight(details, scope) else { continue };
        let path = path(details, arrangement, &named);
        for depth in 0..=path.len() {
            let (total, own) = nodes.entry(path[..depth].to_vec()).or_default();
            let ends = depth == path.len();
            for weight in [Some(total), Some(own).filter(|_| ends)].into_iter().flatten() {
                weight.bytes += bytes;
                weight.count += 1;
            }
        }
    }
    nodes
}

/// Weights of a whole tree by path. Checks the invariants of every row.
fn read(page: &TreePage) -> BTreeMap<Vec<String>, (Weight, Weight)> {
    let mut path: Vec<(String, &TreeRow)> = Vec::new();
    let mut nodes = BTreeMap::new();
    assert_eq!((page.row_count as usize, page.first), (page.rows.len(), 0));
    assert_eq!(page.total, page.rows[0].weight);
    for row in &page.rows {
        path.truncate(row.depth as usize);
        assert_eq!(path.len(), row.depth as usize, "depth grows by one");
        let parent = path.last().map_or(row, |(_, parent)| parent);
        assert_eq!((row.parent, row.parent_bytes), (parent.node, parent.weight.bytes));
        assert_eq!(row.indent, if row.depth == 0 { 0 } else { parent.indent + u32::from(row.sibling[1] > 1) });
        path.push((if row.depth == 0 { String::new() } else { label(row) }, row));
        let names = path.iter().skip(1).map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(nodes.insert(names, (row.weight, row.self_weight)), None, "twice in the tree");
        let children: Vec<_> =
            page.rows.iter().filter(|child| child.parent == row.node && child.node != row.node).collect();
        assert_eq!(row.fold, if children.is_empty() { FoldState::Leaf } else { FoldState::Open });
        assert!(children.is_sorted_by_key(|child| (u64::MAX - child.weight.bytes, child.node)));
        assert!(children.iter().zip(0..).all(|(child, place)| child.sibling == [place, children.len() as u32]));
    }
    nodes
}

fn arrangements() -> Vec<Arrangement> {
    let mut all = Vec::new();
    for root in [Root::Outermost, Root::Innermost] {
        for merge in [Merge::Line, Merge::Function, Merge::File] {
            all.extend([Internal::Shown, Internal::Hidden].map(|internal| Arrangement { root, merge, internal }));
        }
    }
    all
}

fn spans(last: u32) -> impl Strategy<Value = (u32, u32, u8)> {
    (0..=last, 0..=last, 0u8..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn tree_matches_brute_force(
        turns in prop::collection::vec((prop_oneof![0u64..4000, Just(512)], 0usize..300, 0u64..40), 0..60),
        scopes in prop::collection::vec(spans(70), 1..6),
    ) {
        let mut opened = open(&turns::file(&turns)).unwrap();
        let rules = ["native", "file:/torch/"].map(str::to_owned).to_vec();
        opened.engine.request(Request::InternalFrames(rules));
        let all = all_details(&mut opened, 0);
        let last = opened.summary.devices[0].events as u32;
        for (from, to, kind) in scopes {
            let span = Span { from: from.min(to).min(last), to: from.max(to).min(last) };
            let scope = match kind {
                0 => Scope::At(span.to),
                1 => Scope::Allocated(span),
                2 => Scope::Freed(span),
                3 => Scope::StillLive(span),
                4 => Scope::All,
                _ => Scope::ByteMoments(span),
            };
            for arrangement in arrangements() {
                let page = page(&mut opened, 0, whole(scope, arrangement));
                prop_assert_eq!(read(&page), expected(&all, scope, arrangement), "{:?} {:?}", scope, arrangement);
            }
        }
        // Every event: the total equals the live-bytes curve.
        let every: Vec<u32> = (0..=last).collect();
        for facts in moments(&mut opened, 0, &every) {
            let page = page(&mut opened, 0, whole(Scope::At(facts.moment), Arrangement::default()));
            prop_assert_eq!(page.total, Weight { bytes: facts.requested, count: facts.count });
        }
        // The range report equals the trees of its parts.
        let span = Span { from: last / 3, to: last - last / 4 };
        let Reply::Answer { serial: 3, answer: Answer::Range(facts) } =
            reply(&mut opened.engine, Request::Ask(Ask { serial: 3, device: 0, question: Question::Range(span) })) else { panic!("not a range") };
        let sum = |scope: Scope| {
            let bytes: Vec<u64> = all.iter().filter_map(|details| weight(details, scope)).collect();
            Weight { bytes: bytes.iter().sum(), count: bytes.len() as u32 }
        };
        prop_assert_eq!(facts.allocated, sum(Scope::Allocated(span)));
        prop_assert_eq!(facts.freed, sum(Scope::Freed(span)));
        prop_assert_eq!(facts.still_live, sum(Scope::StillLive(span)));
        let curve: Vec<u64> = (span.from..=span.to).map(|moment| sum(Scope::At(moment)).bytes).collect();
        let peak = *curve.iter().max().unwrap();
        prop_assert_eq!((facts.peak, facts.live_at_start, facts.live_at_end), (peak, curve[0], curve[curve.len() - 1]));
        prop_assert_eq!(facts.peak_moment, span.from + curve.iter().position(|&it| it == peak).unwrap() as u32);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// A change is the difference of two trees node by node, sorted by the largest change.
    #[test]
    fn change_tree_is_difference_of_two_trees(
        turns in prop::collection::vec((prop_oneof![0u64..4000, Just(512)], 0usize..300, 0u64..40), 0..60),
        ends in prop::collection::vec((0u32..70, 0u32..70), 1..6),
    ) {
        let mut opened = open(&turns::file(&turns)).unwrap();
        let all = all_details(&mut opened, 0);
        let last = opened.summary.devices[0].events as u32;
        for (from, to) in ends {
            let span = Span { from: from.min(to).min(last), to: from.max(to).min(last) };
            for arrangement in arrangements() {
                let change = page(&mut opened, 0, whole(Scope::Change(span), arrangement));
                let [a, b] = [span.from, span.to].map(|moment| {
                    let page = page(&mut opened, 0, whole(Scope::At(moment), arrangement));
                    page.rows.iter().map(|row| (row.node, row.weight)).collect::<BTreeMap<_, _>>()
                });
                let at = |nodes: &BTreeMap<u32, Weight>, node: u32| nodes.get(&node).copied().unwrap_or_default();
                for row in &change.rows {
                    prop_assert_eq!(row.ends, [at(&a, row.node), at(&b, row.node)]);
                    let most = row.ends[0].bytes.max(row.ends[1].bytes);
                    prop_assert!(row.weight.bytes >= most, "a box is as wide as the larger end");
                    let below = change.rows.iter().filter(|it| it.parent == row.node && it.node != row.node);
                    prop_assert!(below.map(|it| u64::MAX - it.ends[0].bytes.abs_diff(it.ends[1].bytes)).is_sorted());
                }
                prop_assert_eq!(change.ends, change.rows[0].ends);
                let nodes: BTreeSet<u32> = change.rows.iter().map(|row| row.node).collect();
                prop_assert_eq!(nodes.len(), change.rows.len());
                prop_assert!(a.keys().chain(b.keys()).all(|node| nodes.contains(node)));
            }
            // The flame graph's boxes are the same nodes.
            let question = FlameQuestion {
                scope: Scope::Change(span), arrangement: Arrangement::default(), zoom: None, width_px: 4000, search_serial: None, allocation: None,
            };
            let tree = page(&mut opened, 0, whole(Scope::Change(span), Arrangement::default()));
            let asked = Ask { serial: 5, device: 0, question: Question::Flame(question) };
            let Reply::Answer { serial: 5, answer: Answer::Flame(flame) } = reply(&mut opened.engine, Request::Ask(asked)) else { panic!("no flame") };
            prop_assert_eq!(flame.ends, tree.ends);
            for of in flame.boxes.iter().filter(|of| of.node_count == 1) {
                let row = tree.rows.iter().find(|row| row.node == of.node).unwrap();
                prop_assert_eq!((of.ends, of.weight), (row.ends, row.weight));
            }
            // The ends are sums over the allocations live at each end.
            let sum = |end: u32| all.iter().filter_map(|details| weight(details, Scope::At(end))).sum::<u64>();
            prop_assert_eq!(tree.ends.map(|end| end.bytes), [sum(span.from), sum(span.to)]);
        }
    }
}

#[test]
fn root_matches_live_bytes_of_real_files() {
    let Some(paths) = real_pickles() else { return };
    let mut asked = 0;
    for path in &paths {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            let last = device.events as u32;
            let at: Vec<u32> = (0..12).map(|part| (u64::from(last) * part / 11) as u32).collect();
            let peak = (device.peak_event + 1) as u32;
            for (place, facts) in moments(&mut opened, device.device, &at).into_iter().enumerate() {
                let arrangement = arrangements()[place];
                let page = page(&mut opened, device.device, whole(Scope::At(facts.moment), arrangement));
                let expected = Weight { bytes: facts.requested, count: facts.count };
                assert_eq!((page.total, page.rows[0].weight), (expected, expected), "{} {facts:?}", path.display());
                asked += 1;
            }
            let page = page(&mut opened, device.device, whole(Scope::At(peak), Arrangement::default()));
            assert_eq!(page.total.bytes, device.drawn_peak);
            if path.to_string_lossy().contains("train-ring-buffer-wrapped.") {
                assert_eq!(page.total.bytes, 24_207_167_496);
            }
        }
    }
    assert!(asked > 200, "only {asked} cursor positions");
}

/// A device with several hundred allocations.
fn sample() -> Opened {
    let turns: Vec<(u64, usize, u64)> =
        (0..600).map(|at| (512 + at % 7 * 100, at as usize * 7 % 31, at % 23)).collect();
    open(&turns::file(&turns)).unwrap()
}

fn allocated_scope(opened: &Opened) -> Scope {
    Scope::Allocated(Span { from: 0, to: opened.summary.devices[0].events as u32 })
}

#[test]
fn heaviest_allocation_of_node_matches_brute_force() {
    let mut opened = sample();
    let all = all_details(&mut opened, 0);
    let scope = allocated_scope(&opened);
    for arrangement in arrangements() {
        for row in page(&mut opened, 0, whole(scope, arrangement)).rows {
            let node = row.node;
            let request =
                Request::Ask(Ask { serial: 9, device: 0, question: Question::Heaviest { scope, arrangement, node } });
            let Reply::Answer { serial: 9, answer: Answer::Heaviest(allocation) } = reply(&mut opened.engine, request)
            else {
                panic!("unexpected answer")
            };
            let is_there = |details: &&Details| {
                let question = TreeQuestion {
                    reveal: Some(memscape::protocol::Reveal::Allocation(details.allocation)),
                    ..whole(scope, arrangement)
                };
                let page = page(&mut opened, 0, TreeQuestion { focus: Some(node), ..question });
                page.revealed.is_some()
            };
            // The largest, and the first of those with the same size.
            let expected = all.iter().filter(|it| it.allocated_event.is_some()).filter(is_there);
            let expected = expected.fold(None, |best: Option<&Details>, it| match best {
                Some(best) if best.requested >= it.requested => Some(best),
                _ => Some(it),
            });
            assert_eq!(allocation, expected.map(|details| details.allocation), "{row:?}");
            if row.depth > 2 {
                break;
            }
        }
    }
}

/// Threads of the backward pass have no Python frames. Their stacks are grouped below a note by autograd node and
/// operator, with the colours of the legend, and in reverse order if inverted. Stacks with neither are grouped by their
/// innermost frame.
#[test]
fn backward_pass_is_grouped_by_autograd_node_and_operator() {
    let native = |name: &str| format!(r#"{{"name": "{name}", "filename": "??", "line": 0}}"#);
    let stack = |names: &[&str]| names.iter().map(|name| native(name)).collect::<Vec<_>>().join(",");
    let mul = "torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)";
    let events: Vec<String> = [
        (1 << 12, stack(&["malloc", "at::_ops::mul_Tensor::call(at::Tensor const&)", mul, "clone"])),
        (1 << 11, stack(&["malloc", "at::_ops::sum_dim_IntList::call(at::Tensor)", mul, "clone"])),
        (1 << 10, stack(&["malloc", "at::_ops::zeros::call()", "clone"])),
        (1 << 9, stack(&["malloc", "clone"])),
        (
            1 << 8,
            stack(&["malloc", "at::_ops::mul_Tensor::call(at::Tensor const&)"])
                + r#",{"name": "step", "filename": "/home/me/train.py", "line": 7}"#,
        ),
    ]
    .iter()
    .zip(1..)
    .map(|((size, frames), at)| {
        format!(r#"{{"action": "alloc", "addr": {}, "size": {size}, "frames": [{frames}]}}"#, at << 20)
    })
    .collect();
    let file = format!(r#"{{"segments": [], "device_traces": [[{}]]}}"#, events.join(","));
    let mut opened = open(file.as_bytes()).unwrap();
    let rows = |opened: &mut Opened, root| {
        let arrangement = Arrangement { root, internal: Internal::Hidden, ..Arrangement::default() };
        let rows = page(opened, 0, whole(Scope::At(5), arrangement)).rows.into_iter().skip(1);
        rows.map(|row| (row.depth, row.label.name, row.weight.bytes, row.self_weight.bytes)).collect::<Vec<_>>()
    };
    let row = |depth, name: &str, bytes, own| (depth, name.to_owned(), bytes, own);
    let expected = [
        row(1, "backward and library frames", 7680, 0),
        row(2, "MulBackward0", 6144, 0),
        row(3, "mul_Tensor", 4096, 4096),
        row(3, "sum_dim_IntList", 2048, 2048),
        row(2, "zeros", 1024, 1024),
        row(2, "malloc", 512, 512),
        row(1, "step", 256, 256),
    ];
    assert_eq!(rows(&mut opened, Root::Outermost), expected);
    let inverted = [
        row(1, "backward and library frames", 7680, 0),
        row(2, "mul_Tensor", 4096, 0),
        row(3, "MulBackward0", 4096, 4096),
        row(2, "sum_dim_IntList", 2048, 0),
        row(3, "MulBackward0", 2048, 2048),
        row(2, "zeros", 1024, 1024),
        row(2, "malloc", 512, 512),
        row(1, "step", 256, 256),
    ];
    assert_eq!(rows(&mut opened, Root::Innermost), inverted);
}

/// In a real file, no memory ends at the note itself.
#[test]
fn row_of_hidden_internal_frames_has_no_self_bytes() {
    let Some(folder) = opened::snapshots() else { return };
    let mut opened = open(&std::fs::read(folder.join("tiny-97-events.pickle")).unwrap()).unwrap();
    let arrangement = Arrangement { internal: Internal::Hidden, ..Arrangement::default() };
    let page = page(&mut opened, 0, whole(Scope::At(53), arrangement));
    let note = page.rows.iter().find(|row| row.label.name == "backward and library frames").unwrap();
    assert!(note.weight.bytes > 2 << 30 && note.self_weight.bytes == 0, "{note:?}");
    let below: Vec<&str> =
        page.rows.iter().filter(|row| row.parent == note.node).map(|row| row.label.name.as_str()).collect();
    assert!(below.len() > 1 && below.iter().any(|name| name.contains("Backward")), "{below:?}");
}

/// Frames are merged by function, file and line. fx fields are ignored, and lines can have any size.
#[test]
fn frames_merge_by_function_file_and_line() {
    let lines: [i128; 6] = [5, 5 + (1 << 32), -1, 0, (1 << 64) - 1, 5];
    let frame = |line: i128, fx: &str| match fx {
        "" => format!(r#"{{"name": "f", "filename": "a.py", "line": {line}}}"#),
        fx => format!(r#"{{"name": "f", "filename": "a.py", "line": {line}, "fx_node_op": "{fx}"}}"#),
    };
    let event = |(at, line): (usize, &i128)| {
        let fx = ["", "call_function"][usize::from(at == 5)];
        format!(
            r#"{{"action": "alloc", "addr": {}, "size": {}, "frames": [{}]}}"#,
            (at + 1) << 20,
            1 << at,
            frame(*line, fx)
        )
    };
    let events: Vec<String> = lines.iter().enumerate().map(event).collect();
    let file = format!(r#"{{"segments": [], "device_traces": [[{}]]}}"#, events.join(","));
    let mut opened = open(file.as_bytes()).unwrap();
    let rows = page(&mut opened, 0, whole(Scope::At(6), Arrangement::default())).rows;
    let mut shown: Vec<(String, u64)> =
        rows.iter().skip(1).map(|row| (row.label.line.clone(), row.weight.bytes)).collect();
    shown.sort_by_key(|(_, bytes)| *bytes);
    let expected = [("4294967301", 2), ("-1", 4), ("0", 8), ("18446744073709551615", 16), ("5", 33)];
    assert_eq!(shown, expected.map(|(line, bytes)| (line.to_owned(), bytes)));
    let merged = Arrangement { merge: Merge::Function, ..Arrangement::default() };
    let rows = page(&mut opened, 0, whole(Scope::At(6), merged)).rows;
    assert_eq!((rows.len(), rows[1].weight, rows[1].label.line.as_str()), (2, Weight { bytes: 63, count: 6 }, ""));
}
