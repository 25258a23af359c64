//! History → geometry in whole device pixels.
//!
//! The stack at a moment has every live allocation above those of lower rank. A [`Scene`] shows, in each column of the window,
//! the exact stack at the column's largest moment; so no peak is ever hidden, at any zoom. [`addresses`] draws where all of it lies.
//!
//! ```text
//! Totals ──▶ columns ──▶ visible ──▶ tree ──▶ pieces ──▶ quads ──▶ Scene        all of it driven by SceneJob
//! ```

pub mod addresses;
pub mod order;
pub mod paint;
pub mod scene;
pub mod view;

mod bands;
mod columns;
mod hit;
mod job;
mod moving;
mod outline;
mod pieces;
mod quads;
mod silhouette;
mod standing;
mod ticks;
mod tree;
mod visible;
mod window_columns;

pub use addresses::{AddressJob, AddressSource, address_outline};
pub use columns::MAX_WINDOW_PX;
pub use hit::{SceneHit, StackHit, lowest_byte_of, outline, scene_hit, stack_at};
pub use job::{MAX_QUADS, SceneJob};
pub use order::{Order, Piling};
pub use outline::{OutlineRect, exact_outline};
pub use paint::Paint;
pub use scene::{Quad, QuadIdentity, Scene};
pub use silhouette::silhouette;
pub use ticks::{Tick, byte_ticks, event_ticks, time_ticks};
pub use view::{Axis, Extent, View};
pub use window_columns::WindowColumns;

/// The length of the time axis, for those who know a span and no clock.
pub use history::replay::times::{time_axis_margin, time_axis_width};

use history::replay::{AllocationId, Allocations, Clock, Curve, LiveSets};

/// What is drawn: the history of one device, borrowed.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The lifetimes.
    pub allocations: &'a Allocations,
    /// What is live when.
    pub live: &'a LiveSets,
    /// How they are stacked; `None`: in order of birth, in which an allocation's id is its rank.
    pub order: Option<&'a Order>,
    /// Wall-clock, where the file has it.
    pub clock: Option<Clock<'a>>,
    /// The bytes of all live allocations.
    pub requested: Curve<'a>,
    /// The bytes taken from the driver, over the same moments.
    pub reserved: Curve<'a>,
    /// Of the requested bytes, those whose free was requested: the same moments.
    pub pending: Curve<'a>,
    /// The colour of an allocation.
    pub paint: &'a dyn Fn(AllocationId) -> Paint,
    /// What stands out; all else is faded. `None`: nothing does.
    pub highlight: Option<&'a dyn Fn(AllocationId) -> bool>,
}

impl Source<'_> {
    /// Where an allocation stands among all, live or not.
    fn rank(&self, id: AllocationId) -> u32 {
        self.order.map_or(id.0, |order| order.rank(id))
    }

    /// Calls `look` with `(id, (born, died, size))` of the allocations of these ranks, in order of rank. For linear passes that
    /// are cut into slices.
    #[inline(always)]
    fn for_each_in(&self, ranks: std::ops::Range<usize>, mut look: impl FnMut(u32, (u32, u32, u64))) {
        match self.order {
            None => (ranks.start as u32..).zip(self.allocations.spans_in(ranks)).for_each(|(id, span)| look(id, span)),
            Some(order) => ranks.for_each(|rank| {
                let id = order.id(rank as u32);
                look(id.0, self.allocations.span(id));
            }),
        }
    }
}
