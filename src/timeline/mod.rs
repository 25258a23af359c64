//! History → geometry in whole device pixels.
//!
//! The stack at a moment has every live allocation above those of lower rank. A [`Scene`] shows, in each column of the window,
//! the exact stack at the column's largest moment; so no peak is ever hidden, at any zoom.
//!
//! ```text
//! Totals ──▶ columns ──▶ visible ──▶ tree ──▶ pieces ──▶ quads ──▶ Scene        all of it driven by SceneJob
//! ```

pub mod paint;
pub mod scene;
pub mod view;

mod columns;
mod hit;
mod job;
mod outline;
mod pieces;
mod quads;
mod ticks;
mod tree;
mod visible;

pub use columns::MAX_WINDOW_PX;
pub use hit::{SceneHit, StackHit, lowest_byte_of, outline, scene_hit, stack_at};
pub use job::{MAX_QUADS, SceneJob};
pub use outline::{OutlineRect, exact_outline};
pub use paint::Paint;
pub use scene::{Quad, QuadIdentity, Scene};
pub use ticks::{Tick, byte_ticks, event_ticks};
pub use view::{Extent, View};

use crate::replay::{AllocationId, Allocations, Curve};

/// What is drawn: the history of one device, borrowed.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The lifetimes. An allocation's id is its rank.
    pub allocations: &'a Allocations,
    /// The bytes of all live allocations.
    pub requested: Curve<'a>,
    /// The bytes taken from the driver, over the same moments.
    pub reserved: Curve<'a>,
    /// The colour of an allocation.
    pub paint: &'a dyn Fn(AllocationId) -> Paint,
}
