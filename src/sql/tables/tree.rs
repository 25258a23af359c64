//! The table function `tree(when)`: call tree of the live bytes at a moment. It has the same nodes as the Call tree tab
//! with all frames shown.

use super::stack::frame_cell;
use crate::node::{Node, TreeNodeKind};
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use crate::when::TracePosition;
use base::units::Moment;
use engine::Side;
use hashbrown::HashMap;
use history::replay::Provenance;
use history::snapshot::StackId;
use protocol::Scope;
use sqlite::{Cell, Kind};
use std::rc::Rc;

/// Maximum number of nodes in a tree. Once it is reached, stacks end at their last existing node.
const MAX_NODES: usize = 4_000_000;

fn build_tree(side: Side<'_>, moment: Moment) -> Vec<Node> {
    let mut sums = HashMap::<(TreeNodeKind, StackId), [u64; 2], foldhash::fast::RandomState>::default();
    side.for_each_in_scope(Scope::At(moment.0), &mut |id, bytes| {
        let stack = side.stack(id);
        let has_frames = side.snapshot().stacks.innermost(stack).is_some();
        let key = match side.history.allocations.provenance(id) {
            Provenance::Unexplained => (TreeNodeKind::Unexplained, StackId::EMPTY),
            _ if !has_frames => (TreeNodeKind::NoStack, StackId::EMPTY),
            _ if side.is_of_free(id, stack) => (TreeNodeKind::OfFrees, stack),
            _ => (TreeNodeKind::Everything, stack),
        };
        let sum = sums.entry(key).or_default();
        *sum = [sum[0].saturating_add(bytes), sum[1] + 1];
    });
    // Sorted, so that node numbers do not depend on the hash seed.
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|((stem, stack), _)| (*stem != TreeNodeKind::Everything, stem.text(), *stack));
    let root = Node { kind: TreeNodeKind::Everything, parent: 0, depth: 0, own: [0; 2], total: [0; 2] };
    let mut nodes = vec![root];
    let mut children = HashMap::<(u32, TreeNodeKind), u32, foldhash::fast::RandomState>::default();
    let mut path = Vec::new();
    for ((stem, stack), [bytes, count]) in sums {
        path.clear();
        path.extend(side.snapshot().stacks.frames(stack).map(TreeNodeKind::Frame));
        path.extend((stem != TreeNodeKind::Everything).then_some(stem));
        let mut node = 0_u32;
        for &kind in path.iter().rev() {
            let next = nodes.len() as u32;
            if nodes.len() >= MAX_NODES && !children.contains_key(&(node, kind)) {
                break;
            }
            let child = *children.entry((node, kind)).or_insert(next);
            if child == next {
                let depth = nodes.get(node as usize).map_or(0, |node| node.depth + 1);
                nodes.push(Node { kind, parent: node, depth, own: [0; 2], total: [0; 2] });
            }
            node = child;
        }
        if let Some(node) = nodes.get_mut(node as usize) {
            node.own = [node.own[0].saturating_add(bytes), node.own[1] + count];
        }
    }
    // Parents precede their children.
    for index in (0..nodes.len()).rev() {
        let Some(node) = nodes.get_mut(index) else { break };
        node.total = [node.total[0].saturating_add(node.own[0]), node.total[1] + node.own[1]];
        let (parent, [bytes, count]) = (node.parent as usize, node.total);
        if let Some(parent) = nodes.get_mut(parent).filter(|_| index > 0) {
            parent.total = [parent.total[0].saturating_add(bytes), parent.total[1] + count];
        }
    }
    nodes
}

/// Table function that returns the nodes of a call tree.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Rc<Vec<Node>>,
}

impl Rows for Tree {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("node", Kind::Integer),
        ("parent", Kind::Integer),
        ("depth", Kind::Integer),
        ("function", Kind::Text),
        ("file", Kind::Text),
        ("line", Kind::Integer),
        ("self_bytes", Kind::Integer),
        ("self_count", Kind::Integer),
        ("total_bytes", Kind::Integer),
        ("total_count", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);
    const ARGUMENTS: &'static [&'static str] = &["at_event"];

    fn count(_: &Source) -> u64 {
        10_000
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let (Some(side), Some(of)) = (source.side(part), source.parts.get(part)) else { return Ok(RowSet::NONE) };
        let at = wanted.arguments.first().and_then(Option::as_ref).unwrap_or(&TracePosition::Peak).moment(side)?;
        let mut kept = of.facts.tree.borrow_mut();
        let known = kept.as_ref().filter(|(known, _)| *known == at).map(|(_, nodes)| nodes.clone());
        // A join requests the same tree for each row.
        self.nodes = known.unwrap_or_else(|| kept.insert((at, Rc::new(build_tree(side, at)))).1.clone());
        Ok(RowSet::keyed(0..self.nodes.len() as u32, 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let (Some(side), Some(node)) = (source.side(part), self.nodes.get(row as usize)) else { return Cell::Null };
        match (column, node.kind) {
            (0, _) => row.into(),
            (1, _) => (row > 0).then_some(node.parent).into(),
            (2, _) => node.depth.into(),
            (3..=5, TreeNodeKind::Frame(frame)) => frame_cell(side.snapshot(), frame, column - 3),
            (3, stem) => stem.text().into(),
            (6, _) => node.own[0].into(),
            (7, _) => node.own[1].into(),
            (8, _) => node.total[0].into(),
            (9, _) => node.total[1].into(),
            _ => Cell::Null,
        }
    }
}
