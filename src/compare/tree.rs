//! Live bytes of both sides by node of the call tree, and the nodes whose bytes differ.

use crate::answer::{PerSide, TreeRow};
use crate::chains::{Chains, NO_KEY, OF_FREE, UNEXPLAINED};
use crate::key::Key;
use crate::keyed::SharedTexts;
use crate::sums::{ByNumber, Sum, Sums};
use analysis::site;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;

/// Divisor of the larger side's total. Nodes whose difference is at least the quotient are listed.
const MIN_PART: u64 = 500;
/// Divisor of the larger side's total. Nodes whose live bytes are at least the quotient are listed as large.
const MIN_SIZE: u64 = 300;
/// Maximum number of listed nodes.
const MAX_ROWS: usize = 2000;
/// Maximum depth of the tree.
const MAX_DEPTH: usize = 512;
/// Maximum number of frames of a stack, including internal ones.
const MAX_FRAMES: usize = 4096;
/// Text id of the node for stacks whose frames are all internal.
const ALL_INTERNAL: u32 = u32::MAX;

/// Returns the kind of key that forms the nodes of the call tree, if groups are matched by `key`. Its ids are chains of
/// callers.
pub(crate) fn tree_key(key: Key) -> Key {
    match key {
        Key::PythonFrames | Key::NoLines | Key::NoFolders | Key::Module => key,
        Key::Stack => Key::PythonFrames,
        Key::CallSite | Key::Function | Key::File | Key::Category | Key::Annotation | Key::Pool => Key::NoFolders,
    }
}

/// Selection of the nodes to list.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum NodeSelection {
    /// Nodes whose live bytes differ between A and B.
    Different,
    /// Nodes with large live bytes in A or B.
    Large,
}

/// Sums of the nodes of the call tree, without internal frames. Groups are added in time slices.
#[derive(Default)]
pub(crate) struct Tree {
    chains: Chains,
    nodes: ByNumber,
    groups: Option<Vec<(u32, Sum)>>,
    next: usize,
}

base::heap_bytes!(Tree: chains, nodes, groups);

impl Tree {
    /// Continues adding the bytes of each group in `sums` to its node and to the nodes of all its callers.
    pub(crate) fn step(&mut self, sums: &Sums, common: &SharedTexts, slice: &mut TimeSlice) -> SliceResult {
        let groups = self.groups.get_or_insert_with(|| sums.groups());
        while let Some(part) = slice.next_range(&mut self.next, groups.len(), 64)? {
            for (number, sum) in groups.get(part).unwrap_or_default() {
                // A stack of a free is not a stack of an allocation.
                let number = if number & OF_FREE == 0 { *number } else { NO_KEY };
                let mut add = |node: u32| {
                    let node = self.nodes.entry(node).or_default();
                    node.bytes = node.bytes.plus(sum.bytes);
                    node.count = node.count.plus(sum.count);
                };
                if common.chains.parts(number).is_none() {
                    add(number);
                }
                let mut node = NO_KEY;
                for text in shown_texts(common, number) {
                    node = self.chains.intern(node, text);
                    add(node);
                }
            }
        }
        Ok(())
    }

    /// Returns the listed nodes as pairs of caller and node, sorted by caller, then by difference, largest first.
    fn callees(&self, total: PerSide, listed: NodeSelection) -> Vec<(u32, u32)> {
        let all = total.a.max(total.b);
        let nodes = self.nodes.iter().filter(|(_, Sum { bytes, .. })| match listed {
            NodeSelection::Different => bytes.a.abs_diff(bytes.b) >= (all / MIN_PART).max(1),
            NodeSelection::Large => bytes.a.max(bytes.b) >= (all / MIN_SIZE).max(1),
        });
        let callers = |number: u32| self.chains.parts(number).map_or(NO_KEY, |(callers, _)| callers);
        let rank = |(&number, sum): (&u32, &Sum)| {
            let delta = !sum.bytes.a.abs_diff(sum.bytes.b);
            let rank = u128::from(callers(number)) << 96 | u128::from(delta) << 32 | u128::from(number);
            (rank, number)
        };
        sorted_numbers(nodes.map(rank).collect()).into_iter().map(|number| (callers(number), number)).collect()
    }

    /// Returns the rows of the tree. Nodes with the same caller are sorted by difference, largest first, and each is
    /// followed by its callees. A chain of nodes with equal sums forms one row.
    pub(crate) fn rows(&self, common: &SharedTexts, total: PerSide, listed: NodeSelection) -> Vec<TreeRow> {
        let all = self.callees(total, listed);
        let called_by = |callers: u32| -> &[(u32, u32)] {
            let from = all.partition_point(|(caller, _)| *caller < callers);
            let to = all.partition_point(|(caller, _)| *caller <= callers);
            all.get(from..to).unwrap_or_default()
        };
        let sum = |number: u32| self.nodes.get(&number).copied().unwrap_or_default();
        // Rows with the numbers of their chains, outermost first.
        let mut rows: Vec<(TreeRow, Vec<u32>)> = Vec::new();
        let mut open: Vec<(u32, u32)> = called_by(NO_KEY).iter().rev().map(|&(_, number)| (number, 0)).collect();
        while let Some((number, depth)) = open.pop() {
            let Sum { bytes, count, .. } = sum(number);
            let (mut chain, mut last) = (vec![number], number);
            while let [(_, only)] = *called_by(last)
                && last != NO_KEY
                && sum(only).bytes == bytes
                && chain.len() < MAX_DEPTH
            {
                chain.push(only);
                last = only;
            }
            rows.push((TreeRow { depth, bytes, count, ..TreeRow::default() }, chain));
            if rows.len() >= MAX_ROWS {
                break;
            }
            if last != NO_KEY {
                open.extend(called_by(last).iter().rev().map(|&(_, number)| (number, depth + 1)));
            }
        }
        let texts = rows.iter().flat_map(|(_, chain)| chain).filter_map(|&number| self.chains.parts(number));
        let mut numbers = sorted_numbers(texts.map(|(_, text)| (u128::from(text), text)).collect());
        numbers.dedup();
        let texts = common.texts_of(&numbers);
        let name = |number: u32| match self.chains.parts(number) {
            _ if number == UNEXPLAINED => "unexplained".to_owned(),
            Some((_, ALL_INTERNAL)) => "backward and library frames".to_owned(),
            Some((_, text)) => {
                let index = numbers.binary_search(&text).ok();
                index.and_then(|index| texts.get(index)).map_or_else(String::new, |text| frame_label(text))
            }
            None => site::NO_STACK.to_owned(),
        };
        let named = rows.into_iter().map(|(row, chain)| {
            let mut frames: Vec<String> = chain.into_iter().rev().map(name).collect();
            let label = if frames.is_empty() { String::new() } else { frames.remove(0) };
            TreeRow { label, frames, ..row }
        });
        named.collect()
    }
}

/// Returns the texts of a stack that the tree shows, outermost first: those of frames that are not internal, and equal
/// neighbours once. If all frames are internal, a node for such stacks, and the innermost frame below it.
fn shown_texts(common: &SharedTexts, number: u32) -> Vec<u32> {
    let next = |&(callers, _): &(u32, u32)| common.chains.parts(callers);
    let all = || std::iter::successors(common.chains.parts(number), next).take(MAX_FRAMES).map(|(_, text)| text);
    let mut texts: Vec<u32> = all().filter(|&text| !common.is_internal(text)).collect();
    if let (true, Some(innermost)) = (texts.is_empty(), all().next()) {
        texts = vec![innermost, ALL_INTERNAL];
    }
    texts.dedup();
    texts.reverse();
    texts.truncate(MAX_DEPTH);
    texts
}

/// Formats the text of a frame for display, such as `model.py:12 forward`.
fn frame_label(words: &str) -> String {
    let mut parts = words.split('\n');
    let file = parts.next().unwrap_or_default();
    let Some(name) = parts.next() else { return file.to_owned() };
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match parts.next() {
        Some(line) => [file, ":", line, " ", name].concat(),
        None => [file, " ", name].concat(),
    }
}
