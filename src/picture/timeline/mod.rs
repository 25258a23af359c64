//! Geometry of the timeline, in whole device pixels.
//!
//! In a stack, live allocations are drawn on top of each other in the order of their ranks. Each column of a [`Scene`]
//! shows the exact stack at the moment of the column's largest total, so no peak is hidden at any zoom. [`addresses`]
//! draws allocations by address instead.
//!
//! ```text
//! Totals ──▶ columns ──▶ visible ──▶ tree ──▶ pieces ──▶ quads ──▶ Scene        (driven by SceneJob)
//! ```

pub mod addresses;
pub mod order;
pub mod paint;
pub mod scene;
pub mod view;

mod bands;
mod column_cursor;
mod columns;
mod highlight_set;
mod hit;
mod job;
mod outline;
mod pieces;
mod quads;
mod silhouette;
mod source;
mod ticks;
mod tree;
mod visible;
mod window_columns;

pub use addresses::{AddressJob, AddressSource, address_outline};
pub use columns::MAX_WINDOW_PX;
pub use hit::{SceneHit, StackHit, lowest_byte_of, outline, scene_hit, stack_at};
pub use job::SceneJob;
pub use order::{Order, OrderBuilder};
pub use outline::{OutlineRect, exact_outline};
pub use paint::Paint;
pub use quads::MAX_QUADS;
pub use scene::{Quad, QuadIdentity, Scene};
pub use silhouette::silhouette;
pub use source::Source;
pub use ticks::{Tick, byte_ticks, event_ticks, time_ticks};
pub use view::{Axis, Extent, View};
pub use window_columns::WindowColumns;

/// Length and margin of the time axis, for callers that only know the recorded time span.
pub use history::replay::times::{time_axis_margin, time_axis_width};
