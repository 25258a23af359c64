//! What is found out once of a file or a device, when a query first asks for it: [`super::shared`] finds it.

use crate::node::Node;
use analysis::Sites;
use base::units::Moment;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Of a file.
#[derive(Default)]
pub(crate) struct FileFacts {
    pub(crate) sites: RefCell<Option<Sites>>,
    /// The stacks that anything has, ascending.
    pub(crate) stacks: OnceCell<Rc<Vec<u32>>>,
    /// Where the frames of each of those begin among all frames, and how many there are in all.
    pub(crate) frames: OnceCell<Vec<u32>>,
    pub(crate) blocks: OnceCell<Vec<BlockPlace>>,
}

/// Of a device.
#[derive(Default)]
pub(crate) struct PartFacts {
    pub(crate) steps: OnceCell<Rc<Vec<Step>>>,
    /// The call tree that was asked for last, and its moment.
    pub(crate) tree: RefCell<Option<(Moment, Rc<Vec<Node>>)>>,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: Option<String>,
    /// Its first moment, and its last.
    pub(crate) span: [u32; 2],
    pub(crate) peak: u64,
}

/// Where a block is, and whose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockPlace {
    /// Place of its segment in the snapshot.
    pub(crate) segment: u32,
    pub(crate) allocation: Option<u32>,
    /// Number of the range in the table of segments.
    pub(crate) range: Option<u32>,
}
