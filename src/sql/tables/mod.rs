//! The SQL tables: their columns, and how their rows are read.

mod annotation;
mod between;
mod block;
mod device;
mod frame;
mod meta;
mod phase;
mod stack;
mod step;
mod tree;

use crate::rows::TableAdapter;
use crate::source::Source;
use device::DeviceTable;
use protocol::ExportTable;
use sqlite::Table;
use std::rc::Rc;

/// Returns all tables, by name.
pub(crate) fn all(source: &Rc<Source>) -> [(&'static str, Rc<dyn Table>); 14] {
    [
        ("allocation", TableAdapter::<DeviceTable<{ ExportTable::Allocations as usize }>>::new(source)),
        ("event", TableAdapter::<DeviceTable<{ ExportTable::Events as usize }>>::new(source)),
        ("stack", TableAdapter::<stack::Stacks>::new(source)),
        ("frame", TableAdapter::<frame::Frames>::new(source)),
        ("segment", TableAdapter::<DeviceTable<{ ExportTable::Segments as usize }>>::new(source)),
        ("block", TableAdapter::<block::Blocks>::new(source)),
        ("annotation", TableAdapter::<annotation::Annotations>::new(source)),
        ("curve", TableAdapter::<DeviceTable<{ ExportTable::Curve as usize }>>::new(source)),
        ("step", TableAdapter::<step::Steps>::new(source)),
        ("phase", TableAdapter::<phase::Phases>::new(source)),
        ("meta", TableAdapter::<meta::Meta>::new(source)),
        ("live_at", TableAdapter::<device::LiveAllocations>::new(source)),
        ("tree", TableAdapter::<tree::Tree>::new(source)),
        ("between", TableAdapter::<between::Between>::new(source)),
    ]
}
