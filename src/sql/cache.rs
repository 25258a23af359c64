//! Data derived from a file or device on first use. See [`super::shared`] for the computation.

use crate::node::Node;
use analysis::Sites;
use base::units::Moment;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Data derived from a file.
#[derive(Default)]
pub(crate) struct FileCache {
    pub(crate) sites: RefCell<Option<Sites>>,
    /// Stacks that occur in any row, ascending.
    pub(crate) stacks: OnceCell<Rc<Vec<u32>>>,
    /// Row of the first frame of each of those stacks in the `frame` table, followed by the number of all frames.
    pub(crate) frames: OnceCell<Vec<u32>>,
    pub(crate) blocks: OnceCell<Vec<BlockPlace>>,
}

/// Data derived from a device.
#[derive(Default)]
pub(crate) struct DeviceCache {
    pub(crate) steps: OnceCell<Rc<Vec<Step>>>,
    /// Call tree that was computed last, with its moment.
    pub(crate) tree: RefCell<Option<(Moment, Rc<Vec<Node>>)>>,
}

/// A training step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: Option<String>,
    /// First and last moment of the step.
    pub(crate) span: [u32; 2],
    pub(crate) peak: u64,
}

/// Segment and allocation that a block belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockPlace {
    /// Index of its segment in the snapshot.
    pub(crate) segment: u32,
    pub(crate) allocation: Option<u32>,
    /// Index of its address range in the `segment` table.
    pub(crate) range: Option<u32>,
}
