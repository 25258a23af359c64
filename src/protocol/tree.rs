//! Queries for the tree of call stacks and their results.

use super::{Arrangement, Ends, NodeLabel, Scope, Weight};
use serde::{Deserialize, Serialize};

/// Query for some rows of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeQuestion {
    pub scope: Scope,
    pub arrangement: Arrangement,
    /// Node at the top of the shown part of the tree. `None` means the root (node 0).
    pub focus: Option<u32>,
    /// User actions that opened and closed nodes, in chronological order. Later ones override earlier ones. By default,
    /// the top node is open, and so are every only child of an open node, and the nodes of the heaviest path above its
    /// first frame of the user's own code. All other nodes are closed.
    pub folds: Vec<Fold>,
    /// Item that must be among the rows. Its ancestors are opened if necessary.
    pub reveal: Option<Reveal>,
    /// Serial of the search whose matches are highlighted.
    pub search_serial: Option<u32>,
    /// Requested rows: index of the first row, and number of rows.
    pub rows: [u32; 2],
}

/// User action that opens or closes tree nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    pub node: u32,
    pub scope: FoldScope,
    pub state: FoldState,
}

/// Set of nodes to which a [`Fold`] applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoldScope {
    Node,
    Subtree,
}

/// Visibility of the children of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoldState {
    /// The node has no children.
    #[default]
    Leaf,
    Open,
    Closed,
}

/// Item that must be visible among the rows of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reveal {
    /// Node of this allocation's stack, if the allocation is in the scope.
    Allocation(u32),
    Node(u32),
    /// Next node after this one whose frame matches the search, in row order and with wrap-around.
    MatchAfter(u32),
    /// Last node before this one whose frame matches the search, in row order and with wrap-around.
    MatchBefore(u32),
}

/// Requested rows of a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreePage {
    /// Total weight of the scope. For a single moment, the bytes equal the value of the live curve at that moment.
    pub total: Weight,
    /// Weights at the start and the end of the range of [`Scope::Change`].
    pub ends: Ends,
    pub found: Weight,
    /// Ancestors of the top node, starting with the root, each with its label.
    pub ancestors: Vec<(u32, NodeLabel)>,
    /// Total number of rows, including the top node.
    pub row_count: u32,
    /// Row index of the first item in `rows`.
    pub first: u32,
    /// The requested rows. Siblings are sorted by weight, or by the size of the change for [`Scope::Change`].
    pub rows: Vec<TreeRow>,
    /// Row index and node id of the item to reveal.
    pub revealed: Option<(u32, u32)>,
    /// Nodes that were opened to reveal the item. The next query should open them as well.
    pub opened: Vec<u32>,
}

/// A row of a tree, which shows one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    pub node: u32,
    /// Id of the parent node. The root is its own parent.
    pub parent: u32,
    /// Number of levels below the top node. 0 for the top node.
    pub depth: u32,
    /// Indentation level: the number of nodes with siblings on the path from the top to this node. So a long chain of
    /// single calls is not indented.
    pub indent: u32,
    /// Index of the node among its siblings, and number of siblings including the node.
    pub sibling: [u32; 2],
    /// Total weight of the node and its descendants.
    pub weight: Weight,
    /// Weights at the start and the end of the range of [`Scope::Change`]. `weight` then counts the larger of both
    /// weights for each stack.
    pub ends: Ends,
    /// Self weight: the allocations whose stacks end at this node.
    pub self_weight: Weight,
    /// Bytes of the parent node. For the root, its own bytes.
    pub parent_bytes: u64,
    pub label: NodeLabel,
    pub fold: FoldState,
    /// True if the frame matches the search.
    pub matches: bool,
    /// Bytes of `weight` that match the search.
    pub found: u64,
}
