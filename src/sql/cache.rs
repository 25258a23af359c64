//! Data that is derived from a file or device on first use. [`super::shared`] computes it.

use crate::node::Node;
use base::units::Moment;
use engine::Phase;
use engine::tables::SiteCache;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Data derived from a file on first use.
#[derive(Default)]
pub(crate) struct FileCache {
    pub(crate) sites: SiteCache,
    /// Indices of the stacks that occur in any row, ascending.
    pub(crate) stacks: OnceCell<Rc<Vec<u32>>>,
    /// For each entry of `stacks`, the row of its first frame in the `frame` table. The last element is the total
    /// number of frames.
    pub(crate) frames: OnceCell<Vec<u32>>,
    pub(crate) blocks: OnceCell<Vec<BlockPlace>>,
}

/// Data derived from a device on first use.
#[derive(Default)]
pub(crate) struct DeviceCache {
    pub(crate) steps: OnceCell<Rc<Vec<Step>>>,
    pub(crate) phases: OnceCell<Rc<Vec<Phase>>>,
    /// Call tree that was computed last, and the moment that it shows.
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

/// Segment, allocation and address range of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockPlace {
    /// Index of the block's segment in the snapshot.
    pub(crate) segment: u32,
    pub(crate) allocation: Option<u32>,
    /// Row of the block's address range in the `segment` table.
    pub(crate) range: Option<u32>,
}
