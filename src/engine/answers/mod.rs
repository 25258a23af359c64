//! What is live at a moment or happened in a range, by stack: weighed in slices, and kept for the next question.
//!
//! ```text
//! scope ── Population ──▶ Weights, by stem ─┐
//! stacks ─ Stems ── Classes ──▶ Shape ──────┴─▶ Weighed: the tree ──▶ TreeView: what its readers are lent
//! ```
//!
//! A shape belongs to an arrangement alone: it grows with what occurs, and its nodes keep their numbers. Weights belong to a moment
//! or a range.

mod classes;
mod population;
mod shape;
mod stacks;
mod stems;
mod subtree;
mod view;
mod weighed;
mod weights;

pub(super) use population::{Population, within};
pub(super) use subtree::Subtree;
pub(super) use view::TreeView;
pub(super) use weights::Selection;

use super::device::Open;
use super::protocol::{Arrangement, Internal, Weight};
use analysis::InternalRules;
use base::slice::{Slice, Sliced, Spent};
use shape::Shape;
use stems::Stems;
use weighed::Weighed;
use weights::Weights;

/// How many answers of a kind are kept, those asked for last: `most`, or as many as [`MOST_BYTES`] hold, but no fewer than `least`. One
/// question needs so many at once, and would throw out with one what it made for the other.
#[derive(Clone, Copy)]
struct Kept {
    least: usize,
    most: usize,
}

/// Of a moment and three of a range, each of all and of what a search found; a range is answered with three at once.
const WEIGHTS_KEPT: Kept = Kept { least: 3, most: 8 };
/// Weighed trees, 40 bytes a node: of all and of what a search found, of the moment and of the one before.
const TREES_KEPT: Kept = Kept { least: 2, most: 4 };
/// Shapes, 30 bytes a node.
const SHAPES_KEPT: Kept = Kept { least: 2, most: 6 };
/// Subtrees, a bit a node: of the timeline and of the table.
const SUBTREES_KEPT: Kept = Kept { least: 2, most: 2 };
/// Bytes of the answers of each kind, but for the fewest that are kept.
const MOST_BYTES: usize = 64 << 20;

/// What was worked out for one file.
#[derive(Default)]
pub(super) struct Answers {
    rules: InternalRules,
    pub(super) stems: Stems,
    shapes: Vec<Shape>,
    weights: Vec<Weights>,
    weighed: Vec<Weighed>,
    subtrees: Vec<Subtree>,
    /// How many searches have been finished.
    pub(super) searches: u32,
}

impl Answers {
    /// Other frames are internal from now on.
    pub(super) fn set_rules(&mut self, rules: InternalRules) {
        self.rules = rules;
        self.shapes.retain(|shape| shape.arrangement.internal == Internal::Shown);
        self.weighed.retain(|tree| tree.arrangement.internal == Internal::Shown);
        self.subtrees.retain(|subtree| subtree.arrangement.internal == Internal::Shown);
    }

    /// There is a new search: what is known of the one before means nothing any more.
    pub(super) fn forget_found(&mut self) {
        self.searches += 1;
        self.weights.retain(|weights| weights.of.found.is_none());
        self.weighed.retain(|tree| tree.of.found.is_none());
    }

    /// What a selection weighs in all.
    pub(super) fn total(&mut self, open: Open<'_>, of: Selection, slice: &mut Slice) -> Sliced<Weight> {
        newest(
            &mut self.weights,
            (WEIGHTS_KEPT, Weights::heap_bytes),
            |weights| weights.of == of,
            || Weights::new(open, of),
        );
        let weights = self.weights.last_mut().ok_or(Spent)?;
        weights.step(open, &mut self.stems, slice)?;
        Ok(weights.total)
    }

    /// Weighs the tree of a selection until [`Answers::view`] has it. The scope must be
    /// [within](within) the trace.
    pub(super) fn weigh(
        &mut self,
        open: Open<'_>,
        of: Selection,
        arrangement: Arrangement,
        slice: &mut Slice,
    ) -> Sliced {
        self.total(open, of, slice)?;
        self.grow(open, arrangement, slice)?;
        let (Some(shape), Some(weights)) = (self.shapes.last(), self.weights.last()) else { return Err(Spent) };
        let is_it = |tree: &Weighed| tree.of == of && tree.arrangement == arrangement;
        newest(&mut self.weighed, (TREES_KEPT, Weighed::heap_bytes), is_it, || Weighed::new(of, shape));
        self.weighed.last_mut().ok_or(Spent)?.step(shape, weights, slice)
    }

    fn grow(&mut self, open: Open<'_>, arrangement: Arrangement, slice: &mut Slice) -> Sliced {
        let new = || Shape::new(arrangement, shape::MOST_NODES);
        let is_it = |shape: &Shape| shape.arrangement == arrangement;
        newest(&mut self.shapes, (SHAPES_KEPT, Shape::heap_bytes), is_it, new);
        // Made again, its nodes might have other numbers.
        let is_there = |arrangement: Arrangement| self.shapes.iter().any(|shape| shape.arrangement == arrangement);
        self.weighed.retain(|tree| is_there(tree.arrangement));
        self.subtrees.retain(|subtree| is_there(subtree.arrangement));
        self.shapes.last_mut().ok_or(Spent)?.grow(open, &self.stems, &self.rules, slice)
    }

    /// Weighs the tree of what a question is about, and that of what its search found of it: the selections that [`Answers::view`] has
    /// from then on, the second where the search is the finished one of the device.
    pub(super) fn weigh_with_found(
        &mut self,
        open: Open<'_>,
        asked: Selection,
        arrangement: Arrangement,
        slice: &mut Slice,
    ) -> Sliced<(Selection, Option<Selection>)> {
        let of = Selection { scope: within(open.history, asked.scope), found: None, ..asked };
        let is_finished = |find: u32| open.found.is_some_and(|it| (it.serial, it.device) == (find, asked.device));
        let of_found = asked.found.filter(|&find| is_finished(find)).map(|find| Selection { found: Some(find), ..of });
        if let Some(of_found) = of_found {
            self.weigh(open, of_found, arrangement, slice)?;
        }
        self.weigh(open, of, arrangement, slice)?;
        Ok((of, of_found))
    }

    /// A tree that was [weighed](Answers::weigh) lately.
    pub(super) fn view<'a>(&'a self, open: Open<'a>, of: Selection, arrangement: Arrangement) -> Option<TreeView<'a>> {
        let shape = self.shapes.iter().find(|shape| shape.arrangement == arrangement)?;
        let weighed = self.weighed.iter().find(|tree| tree.of == of && tree.arrangement == arrangement)?;
        Some(TreeView::new(open, &self.stems, shape, weighed))
    }

    /// Collects the stacks of a device at a node and below it until [`Answers::subtree`] has them.
    pub(super) fn collect(&mut self, open: Open<'_>, arrangement: Arrangement, node: u32, slice: &mut Slice) -> Sliced {
        self.stems.learn_all(open, slice)?;
        self.grow(open, arrangement, slice)?;
        let Some(shape) = self.shapes.last() else { return Err(Spent) };
        let stems = self.stems.len();
        self.subtrees.retain(|subtree| subtree.arrangement != arrangement || !subtree.is_outgrown(shape, stems));
        let is_it = |subtree: &Subtree| subtree.arrangement == arrangement && subtree.node == node;
        newest(&mut self.subtrees, (SUBTREES_KEPT, Subtree::heap_bytes), is_it, || Subtree::new(shape, node, stems));
        self.subtrees.last_mut().ok_or(Spent)?.step(shape, slice)
    }

    /// The stacks that were [collected](Answers::collect) last for this node.
    pub(super) fn subtree(&self, arrangement: Arrangement, node: u32) -> Option<&Subtree> {
        self.subtrees.iter().find(|subtree| subtree.arrangement == arrangement && subtree.node == node)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.stems.heap_bytes()
            + self.shapes.iter().map(Shape::heap_bytes).sum::<usize>()
            + self.weights.iter().map(Weights::heap_bytes).sum::<usize>()
            + self.weighed.iter().map(Weighed::heap_bytes).sum::<usize>()
            + self.subtrees.iter().map(Subtree::heap_bytes).sum::<usize>()
    }
}

/// Puts what `is_it` says last, new where it is not there; of the others the oldest go where there are too many or they are too large.
fn newest<T>(
    kept: &mut Vec<T>,
    (count, bytes): (Kept, fn(&T) -> usize),
    is_it: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) {
    match kept.iter().position(is_it) {
        Some(place) => kept[place..].rotate_left(1),
        None => kept.push(new()),
    }
    while kept.len() > count.most || (kept.len() > count.least && kept.iter().map(bytes).sum::<usize>() > MOST_BYTES) {
        kept.remove(0);
    }
}
