//! Questions and answers of the tree of call stacks.

use super::{Arrangement, Ends, NodeLabel, Scope, Weight};
use serde::{Deserialize, Serialize};

/// Query for a part of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeQuestion {
    pub scope: Scope,
    pub arrangement: Arrangement,
    /// Node at the top. `None` means the root, which is node 0.
    pub focus: Option<u32>,
    /// User actions that opened and closed nodes, in chronological order. Later ones override earlier ones. By
    /// default, the top and every only child of an open node are open, and all other nodes are closed.
    pub folds: Vec<Fold>,
    /// Item that must be among the rows, even if its ancestors are closed.
    pub reveal: Option<Reveal>,
    /// Serial of the search whose matches are highlighted.
    pub find: Option<u32>,
    /// Requested rows: first and count.
    pub rows: [u32; 2],
}

/// User action that opens or closes tree nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    pub node: u32,
    pub scope: FoldScope,
    pub state: FoldState,
}

/// Nodes that a [`Fold`] applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoldScope {
    Node,
    Subtree,
}

/// Visibility of a node's children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoldState {
    /// The node has no children.
    #[default]
    Leaf,
    Open,
    Closed,
}

/// Item that must be among the rows of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reveal {
    /// Node of the allocation's stack, if it is in the scope.
    Allocation(u32),
    Node(u32),
    /// First node after this one in row order whose frame matches the search, with wrap-around.
    MatchAfter(u32),
    /// Last node before this one in row order whose frame matches the search, with wrap-around.
    MatchBefore(u32),
}

/// Requested part of a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreePage {
    /// Total weight of the scope. For a single moment, its bytes equal the curve's value there.
    pub total: Weight,
    /// Weights at both ends of the range of [`Scope::Change`].
    pub ends: Ends,
    pub found: Weight,
    /// Ancestors of the top node, from the root: node and label.
    pub ancestors: Vec<(u32, NodeLabel)>,
    /// Total number of rows, including the top.
    pub row_count: u32,
    /// Index of the first item in `rows`.
    pub first: u32,
    /// Requested rows. Siblings are sorted by weight, or by size of the change for [`Scope::Change`].
    pub rows: Vec<TreeRow>,
    /// Row index and node of the revealed item.
    pub revealed: Option<(u32, u32)>,
    /// Nodes that were opened to reveal the item. They should be open in the next query, too.
    pub opened: Vec<u32>,
}

/// Row of a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    pub node: u32,
    /// Parent node. The root is its own parent.
    pub parent: u32,
    /// Distance to the top. 0 for the top.
    pub depth: u32,
    /// Number of nodes with siblings from below the top down to this one. Rows are indented by this number, so a long
    /// chain of single calls is not indented.
    pub indent: u32,
    /// Index among the node's siblings, and number of siblings (including the node itself).
    pub sibling: [u32; 2],
    /// Total weight of the node and its descendants.
    pub weight: Weight,
    /// Weights at both ends of the range of [`Scope::Change`]. For each stack, `weight` is then the larger one.
    pub ends: Ends,
    /// Self weight: allocations without a frame below this node.
    pub self_weight: Weight,
    /// Bytes of the parent, or of the node itself for the root.
    pub parent_bytes: u64,
    pub label: NodeLabel,
    pub fold: FoldState,
    /// True if the frame matches the search.
    pub matches: bool,
    /// Bytes of `weight` that match the search.
    pub found: u64,
}
