//! What a tree of stacks is asked and tells.

use super::{Arrangement, Ends, NodeLabel, Scope, Weight};
use serde::{Deserialize, Serialize};

/// What part of a tree is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeQuestion {
    pub scope: Scope,
    pub arrangement: Arrangement,
    /// The node that stands at the top; `None`: the root, numbered 0.
    pub focus: Option<u32>,
    /// What a person opened and closed, the oldest first; a later one overrules an earlier one. Where none says anything, the top is
    /// open, and so is every node that is the only child of an open one; all others are closed.
    pub folds: Vec<Fold>,
    /// This shall be among the rows, whatever is closed above it.
    pub reveal: Option<Reveal>,
    /// The search whose matches are marked, by its serial.
    pub find: Option<u32>,
    /// The rows that are wanted: the first, and how many.
    pub rows: [u32; 2],
}

/// What a person did to a node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    pub node: u32,
    pub reach: Reach,
    pub state: FoldState,
}

/// How far a fold reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    One,
    AllBelow,
}

/// Whether a node's children are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoldState {
    /// It has none.
    #[default]
    Leaf,
    Open,
    /// They are not.
    Closed,
}

/// What shall be among the rows of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reveal {
    /// The node of this allocation's stack, where it is in the scope.
    Allocation(u32),
    Node(u32),
    /// The next row after this node (in the order of the tree) whose frame matches the search, around the end to the beginning.
    MatchAfter(u32),
    /// The one before it.
    MatchBefore(u32),
}

/// A part of a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreePage {
    /// All of the scope: at a moment exactly what the curve says.
    pub total: Weight,
    /// The same at both ends of a change.
    pub ends: Ends,
    pub found: Weight,
    /// The way from the root to the top, without the top: node and label.
    pub above: Vec<(u32, NodeLabel)>,
    /// How many rows there are in all, the top included.
    pub row_count: u32,
    /// The number of the first of `rows`.
    pub first: u32,
    /// The rows that were asked for, the heaviest child first; of a change the one that changed most.
    pub rows: Vec<TreeRow>,
    /// What was to be revealed: its row and node; the nodes above it are open now and should be so in the next question.
    pub revealed: Option<(u32, u32)>,
    pub opened: Vec<u32>,
}

/// A row of a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    /// The node's number.
    pub node: u32,
    /// That of its parent; its own for the root.
    pub parent: u32,
    /// How far below the top it is: 0 for the top.
    pub depth: u32,
    /// How many of the nodes on the way from the top to it, itself included and the top not, have siblings: rows are indented by
    /// forks, so that a chain of single calls, however deep, stays where it is.
    pub forks: u32,
    /// Its place among its siblings, from 0, and how many they are.
    pub place: [u32; 2],
    /// What is in it and below it.
    pub weight: Weight,
    /// The same at both ends of a change; `weight` is then, stack by stack, the larger of them.
    pub ends: Ends,
    /// What has no frame beyond it: its own.
    pub own: Weight,
    /// Bytes of its parent; its own for the root.
    pub parent_bytes: u64,
    pub label: NodeLabel,
    pub fold: FoldState,
    /// Whether its frame is what the search looks for.
    pub matches: bool,
    /// Bytes in it and below it that the search found.
    pub found: u64,
}
