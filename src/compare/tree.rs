//! What is live by call tree: sums of both sides at each node, and the nodes where they differ.

use crate::answer::{TreeRow, Two};
use crate::key::Key;
use crate::keyed::{Common, NOTHING, OF_FREE, UNEXPLAINED};
use crate::sums::Sums;
use base::slice::{Slice, Sliced};
use base::sorted::sorted_numbers;
use hashbrown::HashMap;

/// A node is told from this part of the larger total on.
const SMALLEST_PART: u64 = 500;
/// Rows at most.
const MOST_ROWS: usize = 2000;
/// Nodes below each other at most.
const DEEPEST: usize = 512;

type Map<V> = HashMap<u32, V, foldhash::fast::RandomState>;

/// The key of the tree where groups are matched by `key`: one whose numbers are chains.
pub(crate) fn tree_key(key: Key) -> Key {
    match key {
        Key::PythonFrames | Key::NoLines | Key::NoFolders | Key::Module => key,
        Key::Stack => Key::PythonFrames,
        Key::CallSite | Key::Category | Key::Annotation | Key::Pool => Key::NoFolders,
    }
}

/// The sums of the nodes, as far as they are.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: Map<(Two, Two)>,
    groups: Option<Vec<(u32, Two, Two)>>,
    next: usize,
}

impl Tree {
    /// Adds up the groups of `sums` and what calls them.
    pub(crate) fn step(&mut self, sums: &Sums, common: &Common, slice: &mut Slice) -> Sliced {
        let groups = self.groups.get_or_insert_with(|| sums.groups().collect());
        while let Some(part) = slice.part(&mut self.next, groups.len(), 64)? {
            for (number, bytes, count) in groups.get(part).unwrap_or_default() {
                // A stack that frees is none that allocates.
                let mut at = if number & OF_FREE == 0 { *number } else { NOTHING };
                for _ in 0..DEEPEST {
                    let node = self.nodes.entry(at).or_default();
                    node.0 = node.0.plus(*bytes);
                    node.1 = node.1.plus(*count);
                    let Some((callers, _)) = common.origin(at) else { break };
                    if callers == NOTHING {
                        break;
                    }
                    at = callers;
                }
            }
        }
        Ok(())
    }

    /// The rows: the largest difference first, below each its callees likewise. A chain whose sums are the same is one row.
    pub(crate) fn rows(&self, common: &Common, total: Two) -> Vec<TreeRow> {
        let least = (total.a.max(total.b) / SMALLEST_PART).max(1);
        let mut callees: Map<Vec<u32>> = Map::default();
        let is_told = |(bytes, _): &(Two, Two)| bytes.a.abs_diff(bytes.b) >= least;
        for (&number, _) in self.nodes.iter().filter(|(_, node)| is_told(node)) {
            let callers = common.origin(number).map_or(NOTHING, |(callers, _)| callers);
            if number != NOTHING {
                callees.entry(callers).or_default().push(number);
            }
        }
        if self.nodes.get(&NOTHING).is_some_and(is_told) {
            callees.entry(NOTHING).or_default().push(NOTHING);
        }
        let ranked = |numbers: &[u32]| -> Vec<u32> {
            let rank = |number: u32| {
                let (bytes, _) = self.nodes.get(&number).copied().unwrap_or_default();
                !bytes.delta().unsigned_abs() << 32 | u128::from(number)
            };
            let order = numbers.iter().zip(0..).map(|(&number, at)| (rank(number), at)).collect();
            sorted_numbers(order).into_iter().filter_map(|at| numbers.get(at as usize).copied()).collect()
        };
        // The row, and the numbers of its chain, outermost first.
        let mut rows: Vec<(TreeRow, Vec<u32>)> = Vec::new();
        let mut open: Vec<(u32, u32)> = Vec::new();
        let push = |open: &mut Vec<(u32, u32)>, callers: u32, depth: u32| {
            let all = callees.get(&callers).map(|all| ranked(all)).unwrap_or_default();
            open.extend(all.into_iter().rev().map(|number| (number, depth)));
        };
        push(&mut open, NOTHING, 0);
        while let Some((number, depth)) = open.pop() {
            let mut chain = vec![number];
            let mut last = number;
            let (bytes, count) = self.nodes.get(&number).copied().unwrap_or_default();
            while let Some([only]) = callees.get(&last).map(Vec::as_slice).filter(|_| last != NOTHING)
                && self.nodes.get(only).is_some_and(|node| node.0 == bytes)
                && chain.len() < DEEPEST
            {
                chain.push(*only);
                last = *only;
            }
            rows.push((TreeRow { depth, bytes, count, ..TreeRow::default() }, chain));
            if rows.len() >= MOST_ROWS {
                break;
            }
            if last != NOTHING {
                push(&mut open, last, depth + 1);
            }
        }
        let texts = common.texts_of(rows.iter().flat_map(|(_, chain)| chain).filter_map(|&it| common.origin(it)));
        let name = |number: u32| match common.origin(number) {
            _ if number == UNEXPLAINED => "unexplained".to_owned(),
            Some((_, text)) => texts.get(&text).map_or_else(String::new, |text| shown(text)),
            None => "no stack".to_owned(),
        };
        let named = rows.into_iter().map(|(row, chain)| {
            let mut frames: Vec<String> = chain.into_iter().rev().map(name).collect();
            let label = if frames.is_empty() { String::new() } else { frames.remove(0) };
            TreeRow { label, frames, ..row }
        });
        named.collect()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.nodes.allocation_size() + self.groups.as_ref().map_or(0, |groups| groups.capacity() * 40)
    }
}

/// A frame as a row shows it: `model.py:12 forward`, out of the words that are compared.
fn shown(words: &str) -> String {
    let mut parts = words.split('\n');
    let file = parts.next().unwrap_or_default();
    let Some(name) = parts.next() else { return file.to_owned() };
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match parts.next() {
        Some(line) => [file, ":", line, " ", name].concat(),
        None => [file, " ", name].concat(),
    }
}
