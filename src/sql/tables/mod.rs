//! The SQL tables: their columns, and how their rows are read.

mod allocation;
mod annotation;
mod between;
mod block;
mod curve;
mod event;
mod frame;
mod meta;
mod segment;
mod stack;
mod step;
mod texts;
mod tree;

use crate::rows::TableAdapter;
use crate::source::Source;
use sqlite::Table;
use std::rc::Rc;

/// Returns all tables, by name.
pub(crate) fn all(source: &Rc<Source>) -> [(&'static str, Rc<dyn Table>); 13] {
    [
        ("allocation", TableAdapter::<allocation::AllAllocations>::new(source)),
        ("event", TableAdapter::<event::Events>::new(source)),
        ("stack", TableAdapter::<stack::Stacks>::new(source)),
        ("frame", TableAdapter::<frame::Frames>::new(source)),
        ("segment", TableAdapter::<segment::Segments>::new(source)),
        ("block", TableAdapter::<block::Blocks>::new(source)),
        ("annotation", TableAdapter::<annotation::Annotations>::new(source)),
        ("curve", TableAdapter::<curve::Totals>::new(source)),
        ("step", TableAdapter::<step::Steps>::new(source)),
        ("meta", TableAdapter::<meta::Meta>::new(source)),
        ("live_at", TableAdapter::<allocation::LiveAllocations>::new(source)),
        ("tree", TableAdapter::<tree::Tree>::new(source)),
        ("between", TableAdapter::<between::Between>::new(source)),
    ]
}
