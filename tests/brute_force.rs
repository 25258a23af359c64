//! Live sets, trees and ranges of real files, compared with the brute-force implementation in brute_force.py.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, Fold, FoldScope, FoldState, MomentSpec, NodeKind, Scope, Span, TreePage, TreeQuestion, Weight,
};
use opened::{Opened, open, real_pickles};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes and count of each node, keyed by its path.
type Tree = BTreeMap<Vec<String>, (u64, u64)>;

/// Seed of the random moments and ranges that are compared.
const SEED: &str = "20261121";

#[test]
fn live_sets_trees_and_ranges_match_python() {
    let Some(files) = real_pickles() else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3 to ask for a second opinion");
        return;
    }
    assert!(files.len() >= 25, "{} real files", files.len());
    // Python dominates the run time and is single-threaded.
    let (one, other) = files.split_at(files.len() / 2);
    let check = |files: &[PathBuf]| files.iter().map(|path| check_file(path)).sum::<usize>();
    let nodes = std::thread::scope(|scope| {
        let beside = scope.spawn(|| check(one));
        check(other) + beside.join().unwrap()
    });
    assert!(nodes > 50_000, "{nodes} nodes were compared");
}

/// Returns the number of tree nodes that were compared.
fn check_file(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force.py");
    let output = Command::new("python3").arg(script).arg(path).arg(SEED).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let devices: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let ours: Vec<i64> = opened.summary.devices.iter().map(|device| device.device).collect();
    let theirs: Vec<i64> = devices.as_array().unwrap().iter().map(|it| it["device"].as_i64().unwrap()).collect();
    assert_eq!(ours, theirs, "{name}: devices");
    let mut nodes = 0;
    for expected in devices.as_array().unwrap() {
        let device = expected["device"].as_i64().unwrap();
        for moment in expected["moments"].as_array().unwrap() {
            nodes += check_moment(&name, &mut opened, device, moment, &expected["names"]);
        }
        for range in expected["ranges"].as_array().unwrap() {
            nodes += check_range(&name, &mut opened, device, range, &expected["names"]);
        }
    }
    nodes
}

fn check_moment(name: &str, opened: &mut Opened, device: i64, expected: &Value, names: &Value) -> usize {
    let moment = expected["moment"].as_u64().unwrap() as u32;
    let place = format!("{name}, device {device}, moment {moment}");
    let at = vec![MomentSpec::Moment(moment)];
    let Reply::Answer { answer: Answer::Moments(moments), .. } =
        opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Moments(at) }))
    else {
        panic!("{place}: no moment")
    };
    let facts = moments[0];
    let (requested, count) = (expected["requested"].as_u64().unwrap(), expected["count"].as_u64().unwrap());
    assert_eq!((facts.requested, u64::from(facts.count)), (requested, count), "{place}: live");
    let wants_tree = !expected["tree"].is_null();
    let page = tree(opened, device, Scope::At(moment), if wants_tree { u32::MAX } else { 1 });
    // The root of the tree equals the curve.
    assert_eq!(page.total, Weight { bytes: requested, count: count as u32 }, "{place}: the root");
    if wants_tree { compare(&place, &page, &expected["tree"], names) } else { 0 }
}

fn check_range(name: &str, opened: &mut Opened, device: i64, expected: &Value, names: &Value) -> usize {
    let number = |field: &str| expected[field].as_u64().unwrap();
    let span = Span { from: number("from") as u32, to: number("to") as u32 };
    let place = format!("{name}, device {device}, {span:?}");
    let Reply::Answer { answer: Answer::Range(facts), .. } =
        opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Range(span) }))
    else {
        panic!("{place}: no range")
    };
    for (field, weight) in [("born", facts.allocated), ("freed", facts.freed), ("kept", facts.still_live)] {
        let both = (weight.bytes, u64::from(weight.count));
        assert_eq!(
            both,
            (expected[field][0].as_u64().unwrap(), expected[field][1].as_u64().unwrap()),
            "{place}: {field}"
        );
    }
    let ends = (facts.live_at_start, facts.live_at_end, facts.peak, u64::from(facts.peak_moment));
    assert_eq!(ends, (number("at_begin"), number("at_end"), number("peak"), number("peak_moment")), "{place}");
    let page = tree(opened, device, Scope::ByteMoments(span), 1);
    let area = (page.total.bytes.to_string(), u64::from(page.total.count));
    let of = &expected["area"];
    assert_eq!(area, (of[0].as_str().unwrap().to_owned(), of[1].as_u64().unwrap()), "{place}: bytes × moments");
    let scopes = [
        ("born", Scope::Allocated(span)),
        ("freed", Scope::Freed(span)),
        ("kept", Scope::StillLive(span)),
        ("area", Scope::ByteMoments(span)),
    ];
    let trees = scopes.into_iter().filter(|_| !expected["trees"].is_null()).map(|(field, scope)| {
        let page = tree(opened, device, scope, u32::MAX);
        compare(&format!("{place}: {field}"), &page, &expected["trees"][field], names)
    });
    trees.sum()
}

/// Fetches the first `most` rows of a fully expanded tree, page by page.
fn tree(opened: &mut Opened, device: i64, scope: Scope, most: u32) -> TreePage {
    let mut whole = TreePage::default();
    while whole.rows.is_empty() || (whole.rows.len() as u32) < whole.row_count.min(most) {
        let question = TreeQuestion {
            scope,
            arrangement: Arrangement::default(),
            focus: None,
            folds: vec![Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open }],
            reveal: None,
            search_serial: None,
            rows: [whole.rows.len() as u32, most.min(1000)],
        };
        match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Tree(Box::new(question)) })) {
            Reply::Answer { answer: Answer::Tree(page), .. } if !page.rows.is_empty() => {
                let rows = std::mem::take(&mut whole.rows);
                whole = TreePage { rows: rows.into_iter().chain(page.rows.clone()).collect(), ..*page };
            }
            other => panic!("no rows but {other:?}"),
        }
    }
    whole
}

fn compare(place: &str, page: &TreePage, expected: &Value, names: &Value) -> usize {
    assert_eq!(page.rows.len(), page.row_count as usize, "{place}: rows");
    let (ours, theirs) = (our_tree(place, page), python_tree(expected, names));
    for (path, weight) in &theirs {
        assert_eq!(ours.get(path), Some(weight), "{place}: {path:?}");
    }
    assert_eq!(ours.len(), theirs.len(), "{place}: nodes");
    theirs.len()
}

/// Returns the label of a frame. PyTorch's placeholders for an unknown file are left out.
fn frame(name: &str, file: &str, line: &str) -> String {
    if matches!(file, "" | "??" | "none") { name.to_owned() } else { format!("{name} {file}:{line}") }
}

fn our_tree(place: &str, page: &TreePage) -> Tree {
    let mut tree = Tree::new();
    let mut path: Vec<String> = Vec::new();
    let bytes: HashMap<u32, u64> = page.rows.iter().map(|row| (row.node, row.weight.bytes)).collect();
    for row in page.rows.iter().skip(1) {
        path.truncate(row.depth as usize - 1);
        assert_eq!(bytes.get(&row.parent), Some(&row.parent_bytes), "{place}: parents");
        path.push(match row.label.kind {
            NodeKind::Note => row.label.name.clone(),
            _ => frame(&row.label.name, &row.label.file, &row.label.line),
        });
        let node = tree.entry(path.clone()).or_default();
        node.0 += row.weight.bytes;
        node.1 += u64::from(row.weight.count);
    }
    tree
}

fn python_tree(nodes: &Value, names: &Value) -> Tree {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut tree = Tree::new();
    for node in nodes.as_array().unwrap() {
        let number = |at: usize| node[at].as_u64().unwrap();
        let name = &names[number(1) as usize];
        let text = |at: usize| name[at].as_str().unwrap();
        let mut path = node[0].as_u64().map_or_else(Vec::new, |parent| paths[parent as usize].clone());
        match (name.as_array().unwrap().len(), text(0)) {
            // The root.
            (1, "made by") => {}
            (1, tag) => path.push(note(tag).to_owned()),
            _ => path.push(frame(text(0), text(1), text(2))),
        }
        paths.push(path.clone());
        if !path.is_empty() {
            let known = tree.entry(path).or_default();
            known.0 += number(2);
            known.1 += number(3);
        }
    }
    tree
}

/// Returns memscape's label for a node that brute_force.py marks as having no frame.
fn note(tag: &str) -> &str {
    match tag {
        "freed by" => "allocated before recording (stacks of their frees)",
        "unexplained" => "unexplained bytes",
        other => other,
    }
}
