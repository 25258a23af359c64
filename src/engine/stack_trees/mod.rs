//! Trees of stacks, weighted by the bytes of selected allocations. They are computed in time slices and cached.
//!
//! ```text
//! scope ── Population ──▶ Weights, by stack key ───┐
//! stacks ─ StackKeys ── FrameClasses ──▶ TreeShape ┴─▶ WeightedTree ──▶ TreeView: read access
//! ```
//!
//! A shape depends only on the arrangement. It grows as new stacks occur, and its nodes keep their numbers. Weights
//! depend on the selected moment or range.

mod classes;
mod population;
mod shape;
mod stack_keys;
mod stacks;
mod subtree;
mod view;
mod weighted_tree;
mod weights;

pub(super) use population::{Population, clamp_scope};
pub(super) use subtree::Subtree;
pub(super) use view::TreeView;
pub(super) use weights::Selection;

use super::device::DeviceData;
use analysis::InternalRules;
use base::heap::{self, HeapBytes};
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use protocol::{Arrangement, Internal, Weight};
use shape::TreeShape;
use stack_keys::StackKeys;
use weighted_tree::WeightedTree;
use weights::Weights;

/// Limits for the number of cached values of one kind. At most `max` values are cached. If they exceed [`MAX_BYTES`],
/// fewer are cached, but at least `min`, because a single query needs this many values at the same time.
#[derive(Clone, Copy)]
struct CacheLimits {
    min: usize,
    max: usize,
}

/// Limits for cached weights. A moment needs one and a range needs three. `max` allows both, with and without a search.
const WEIGHTS_KEPT: CacheLimits = CacheLimits { min: 3, max: 8 };
/// Limits for cached weighed trees, which take 40 bytes per node. `max` allows trees with and without a search, for the
/// current and the previous moment.
const TREES_KEPT: CacheLimits = CacheLimits { min: 2, max: 4 };
/// Limits for cached shapes, which take 30 bytes per node.
const SHAPES_KEPT: CacheLimits = CacheLimits { min: 2, max: 6 };
/// Limits for cached subtrees, which take one bit per node. The timeline and the table need one each.
const SUBTREES_KEPT: CacheLimits = CacheLimits { min: 2, max: 2 };
/// Maximum size of the cached values of each kind, in bytes. The newest `min` values stay cached even if they are
/// larger.
const MAX_BYTES: usize = 64 << 20;

/// Cached trees of one file, and the data that they are computed from.
#[derive(Default)]
pub(super) struct StackTrees {
    rules: InternalRules,
    pub(super) stack_keys: StackKeys,
    shapes: Vec<TreeShape>,
    weights: Vec<Weights>,
    weighted_trees: Vec<WeightedTree>,
    subtrees: Vec<Subtree>,
    /// Number of searches that have finished so far.
    pub(super) searches: u32,
}

base::heap_bytes!(StackTrees: stack_keys, [shapes], [weights], [weighted_trees], [subtrees]);

impl StackTrees {
    /// Returns the rules for internal frames.
    pub(super) fn rules(&self) -> &InternalRules {
        &self.rules
    }

    /// Sets the rules for internal frames and drops the cached values that depend on them.
    pub(super) fn set_rules(&mut self, rules: InternalRules) {
        self.rules = rules;
        self.shapes.retain(|shape| shape.arrangement.internal == Internal::Shown);
        self.weighted_trees.retain(|tree| tree.arrangement.internal == Internal::Shown);
        self.subtrees.retain(|subtree| subtree.arrangement.internal == Internal::Shown);
    }

    /// Drops the cached values that depend on the previous search.
    pub(super) fn drop_search_results(&mut self) {
        self.searches += 1;
        self.weights.retain(|weights| weights.selection.found.is_none());
        self.weighted_trees.retain(|tree| tree.selection.found.is_none());
    }

    /// Continues adding up the weights of a selection and returns their total once complete.
    pub(super) fn total(
        &mut self,
        data: DeviceData<'_>,
        selection: Selection,
        slice: &mut TimeSlice,
    ) -> SliceResult<Weight> {
        move_to_end(
            &mut self.weights,
            WEIGHTS_KEPT,
            |weights| weights.selection == selection,
            || Weights::new(data, selection),
        );
        let weights = self.weights.last_mut().ok_or(OutOfTime)?;
        weights.step(data, &mut self.stack_keys, slice)?;
        Ok(weights.total)
    }

    /// Continues adding up the weights of a tree for a selection. Once finished, [`StackTrees::view`] returns the tree.
    /// The scope must be [clamped](clamp_scope) to the trace.
    pub(super) fn weigh(
        &mut self,
        data: DeviceData<'_>,
        selection: Selection,
        arrangement: Arrangement,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.total(data, selection, slice)?;
        self.grow_shape(data, arrangement, slice)?;
        let (Some(shape), Some(weights)) = (self.shapes.last(), self.weights.last()) else { return Err(OutOfTime) };
        let is_same = |tree: &WeightedTree| tree.selection == selection && tree.arrangement == arrangement;
        move_to_end(&mut self.weighted_trees, TREES_KEPT, is_same, || WeightedTree::new(selection, shape));
        self.weighted_trees.last_mut().ok_or(OutOfTime)?.step(shape, weights, slice)
    }

    fn grow_shape(&mut self, data: DeviceData<'_>, arrangement: Arrangement, slice: &mut TimeSlice) -> SliceResult {
        let new = || TreeShape::new(arrangement, shape::MAX_NODES);
        let is_same = |shape: &TreeShape| shape.arrangement == arrangement;
        move_to_end(&mut self.shapes, SHAPES_KEPT, is_same, new);
        // A shape that was evicted and rebuilt may number its nodes differently.
        let has_shape = |arrangement: Arrangement| self.shapes.iter().any(|shape| shape.arrangement == arrangement);
        self.weighted_trees.retain(|tree| has_shape(tree.arrangement));
        self.subtrees.retain(|subtree| has_shape(subtree.arrangement));
        self.shapes.last_mut().ok_or(OutOfTime)?.grow(data, &self.stack_keys, &self.rules, slice)
    }

    /// Continues adding up the weights of a tree for a selection. If its search is the latest finished one, does the
    /// same for the tree of only the matches. Returns the selections of both trees, which can be passed to
    /// [`StackTrees::view`].
    pub(super) fn weigh_with_found(
        &mut self,
        data: DeviceData<'_>,
        requested: Selection,
        arrangement: Arrangement,
        slice: &mut TimeSlice,
    ) -> SliceResult<(Selection, Option<Selection>)> {
        let all = Selection { scope: clamp_scope(data.history, requested.scope), found: None, ..requested };
        let is_finished = |search_serial: u32| {
            data.found.is_some_and(|it| (it.serial, it.device) == (search_serial, requested.device))
        };
        let found_total = requested
            .found
            .filter(|&search_serial| is_finished(search_serial))
            .map(|search_serial| Selection { found: Some(search_serial), ..all });
        if let Some(found_total) = found_total {
            self.weigh(data, found_total, arrangement, slice)?;
        }
        self.weigh(data, all, arrangement, slice)?;
        Ok((all, found_total))
    }

    /// Returns a tree that was recently [weighed](StackTrees::weigh). `None` if it is no longer cached.
    pub(super) fn view<'a>(
        &'a self,
        data: DeviceData<'a>,
        selection: Selection,
        arrangement: Arrangement,
    ) -> Option<TreeView<'a>> {
        let shape = self.shapes.iter().find(|shape| shape.arrangement == arrangement)?;
        let weighed =
            self.weighted_trees.iter().find(|tree| tree.selection == selection && tree.arrangement == arrangement)?;
        Some(TreeView::new(data, &self.stack_keys, shape, weighed))
    }

    /// Continues collecting the stacks of a device that are at or below a node. Once finished, [`StackTrees::subtree`]
    /// returns them.
    pub(super) fn collect_subtree(
        &mut self,
        data: DeviceData<'_>,
        arrangement: Arrangement,
        node: u32,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.stack_keys.number_all(data, slice)?;
        self.grow_shape(data, arrangement, slice)?;
        let Some(shape) = self.shapes.last() else { return Err(OutOfTime) };
        let stack_keys = self.stack_keys.len();
        self.subtrees.retain(|subtree| subtree.arrangement != arrangement || !subtree.is_stale(shape, stack_keys));
        let is_same = |subtree: &Subtree| subtree.arrangement == arrangement && subtree.node == node;
        move_to_end(&mut self.subtrees, SUBTREES_KEPT, is_same, || Subtree::new(shape, node, stack_keys));
        self.subtrees.last_mut().ok_or(OutOfTime)?.step(shape, slice)
    }

    /// Returns the stacks that were last [collected](StackTrees::collect_subtree) for a node.
    pub(super) fn subtree(&self, arrangement: Arrangement, node: u32) -> Option<&Subtree> {
        self.subtrees.iter().find(|subtree| subtree.arrangement == arrangement && subtree.node == node)
    }
}

/// Moves the element for which `is_same` returns true to the end, or appends a new one. Then evicts the oldest elements
/// until the limits are met.
fn move_to_end<T: HeapBytes>(
    kept: &mut Vec<T>,
    count: CacheLimits,
    is_same: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) {
    match kept.iter().position(is_same) {
        Some(index) => kept[index..].rotate_left(1),
        None => kept.push(new()),
    }
    while kept.len() > count.max || (kept.len() > count.min && heap::sum(&*kept) > MAX_BYTES) {
        kept.remove(0);
    }
}
