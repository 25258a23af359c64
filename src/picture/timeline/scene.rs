//! Geometry of a window, ready for upload, and the allocations behind each quad.

use super::paint::{SHADES, SLOTS};
use super::view::View;
use serde::{Deserialize, Serialize};

/// A rectangle in pixels of the scene's window and clipped to the window. `y` counts upwards from the bottom edge.
///
/// The layout is the GPU's vertex format (two `Sint16x2`, one `Uint32`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Quad {
    /// Left and right edge, right exclusive.
    pub x: [i16; 2],
    /// Lower and upper edge, upper exclusive.
    pub y: [i16; 2],
    /// Bits 0–15: [`super::Paint`], plus [`FADED`]. Bit 16: [`BAND`]. Bit 17: [`CONTINUED`]. Bit 18: [`PENDING`].
    pub paint: u32,
}

/// Flag in [`Quad::paint`]: the quad stands for several allocations.
pub const BAND: u32 = 1 << 16;

/// Added to the [`super::Paint`] in [`Quad::paint`] if other allocations are highlighted, but none in this quad.
pub const FADED: u32 = 256;

/// Flag in [`Quad::paint`]: the same allocation is also in the column to the left, at another height. It has no line at
/// its left edge, because a line would look like the start of an allocation.
pub const CONTINUED: u32 = 1 << 17;

/// Flag in [`Quad::paint`]: the quad is one allocation that is awaiting free.
pub const PENDING: u32 = 1 << 18;

/// Identity of a quad: the allocations in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct QuadIdentity {
    /// Id of the lowest allocation.
    pub first: u32,
    /// Id of the highest allocation. Equal to `first` for a single allocation.
    pub last: u32,
    /// Number of live allocations at the moment of the quad's first column.
    pub count: u32,
    /// Requested bytes of these allocations at that moment, as low and high half. Two halves keep the struct's
    /// alignment at 4 bytes.
    pub bytes: [u32; 2],
}

impl QuadIdentity {
    /// Returns the requested bytes at the quad's first column.
    pub fn requested(&self) -> u64 {
        u64::from(self.bytes[0]) | u64::from(self.bytes[1]) << 32
    }
}

/// Columns of a scene, from left to right. All vectors except `edge_px` have one entry per column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneColumns {
    /// Edges in pixels of the window: column `c` covers `edge_px[c]..edge_px[c + 1]`.
    pub edge_px: Vec<i32>,
    /// Moment that the column shows: the first moment with the largest total in the column.
    pub moment: Vec<u32>,
    /// Number of moments in the column. 1 if moments are wider than pixels.
    pub moments: Vec<u32>,
    /// Requested bytes at `moment`, the maximum of the column.
    pub total: Vec<u64>,
    /// Maximum of the reserved bytes in the column.
    pub reserved: Vec<u64>,
    /// Part of `total` that is awaiting free. The rest is what `memory_allocated()` counts, apart from rounding.
    pub pending: Vec<u64>,
    /// Number of hidden allocations: those that first become live in this column (or before the window) but are not
    /// live at any column's moment. Each is counted once.
    pub hidden: Vec<u32>,
    /// Requested bytes of the largest hidden allocation.
    pub hidden_largest: Vec<u64>,
}

/// Geometry of one window.
///
/// Serialized without columns, quads and identities, which are transferred separately from worker to page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// The window. It may include a margin for panning.
    pub view: View,
    /// θ: height in device pixels below which allocations are joined into bands. Greater than 1 only if the scene would
    /// otherwise have too many quads.
    pub band_px: u32,
    #[serde(skip)]
    pub columns: SceneColumns,
    /// Quads of the stack, at most 300,000.
    #[serde(skip)]
    pub quads: Vec<Quad>,
    /// Identity of each quad. Has the same length as `quads`.
    #[serde(skip)]
    pub identities: Vec<QuadIdentity>,
    /// Number of leading `quads` that show mapped memory, in [`GROUND`] and without identity. `None` in a stack, `Some`
    /// in a picture of addresses ([`AddressJob`](super::AddressJob)).
    ///
    /// A stack starts at byte 0, so the columns' totals are heights and can be drawn as curves. In a picture of
    /// addresses, totals are not heights. Quads after the mapped memory are sorted by their left edge.
    pub ground: Option<u32>,
}

impl Scene {
    /// Returns the number of pixels that each palette slot covers between two columns of pixels, indexed by slot. A
    /// band is counted for the slot of its colour.
    pub fn covered(&self, columns_px: [i32; 2]) -> Vec<u64> {
        let mut covered = vec![0; SLOTS as usize];
        let [from, to] = columns_px;
        for quad in self.quads.iter().filter(|quad| quad.paint & GROUND == 0) {
            let [left, right] = quad.x.map(|x| i32::from(x).clamp(from, to.max(from)));
            let [low, high] = quad.y.map(i64::from);
            let slot = quad.paint % FADED / SHADES;
            if let Some(covered) = covered.get_mut(slot as usize) {
                *covered += (i64::from(right - left) * (high - low)).unsigned_abs();
            }
        }
        covered
    }
}

/// Paint of mapped memory behind the blocks in a picture of addresses. Drawn like the area below the reserved curve.
pub const GROUND: u32 = 2 * FADED;
