//! The table function `tree(when)`: call tree of the live bytes at a moment. It has the same nodes as the Call tree tab
//! with all frames shown.

use crate::node::{Node, TreeNodeKind};
use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use crate::when::TracePosition;
use base::units::Moment;
use engine::Side;
use engine::tables::{file, function, line};
use hashbrown::HashMap;
use history::replay::Provenance;
use history::snapshot::StackId;
use protocol::Scope;
use sqlite::Kind;
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
    type Item<'a> = &'a Node;

    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("node", Kind::Integer, |at, _| at.row.into()),
        ("parent", Kind::Integer, |at, node| (at.row > 0).then_some(node.parent).into()),
        ("depth", Kind::Integer, |_, node| node.depth.into()),
        ("function", Kind::Text, |at, node| match node.kind {
            TreeNodeKind::Frame(frame) => function(at.side.snapshot(), frame).into(),
            stem => stem.text().into(),
        }),
        ("file", Kind::Text, |at, node| node.frame().and_then(|frame| file(at.side.snapshot(), frame)).into()),
        ("line", Kind::Integer, |at, node| node.frame().and_then(|frame| line(at.side.snapshot(), frame)).into()),
        ("self_bytes", Kind::Integer, |_, node| node.own[0].into()),
        ("self_count", Kind::Integer, |_, node| node.own[1].into()),
        ("total_bytes", Kind::Integer, |_, node| node.total[0].into()),
        ("total_count", Kind::Integer, |_, node| node.total[1].into()),
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

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        self.nodes.get(at.row as usize)
    }
}
