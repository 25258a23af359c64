//! The SQL tables: their columns, and how their rows are read.

mod allocation;
mod annotation;
mod block;
mod change;
mod curve;
mod event;
mod frame;
mod meta;
mod segment;
mod stack;
mod step;
mod texts;
mod tree;

use crate::rows::Listed;
use crate::source::Source;
use sqlite::Table;
use std::rc::Rc;

/// Returns all tables, by name.
pub(crate) fn all(source: &Rc<Source>) -> [(&'static str, Rc<dyn Table>); 13] {
    [
        ("allocation", Listed::<allocation::Whole>::new(source)),
        ("event", Listed::<event::Events>::new(source)),
        ("stack", Listed::<stack::Stacks>::new(source)),
        ("frame", Listed::<frame::Frames>::new(source)),
        ("segment", Listed::<segment::Segments>::new(source)),
        ("block", Listed::<block::Blocks>::new(source)),
        ("annotation", Listed::<annotation::Annotations>::new(source)),
        ("curve", Listed::<curve::Totals>::new(source)),
        ("step", Listed::<step::Steps>::new(source)),
        ("meta", Listed::<meta::Meta>::new(source)),
        ("live_at", Listed::<allocation::Live>::new(source)),
        ("tree", Listed::<tree::Tree>::new(source)),
        ("between", Listed::<change::Between>::new(source)),
    ]
}
