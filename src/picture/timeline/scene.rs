//! Geometry for one window, ready for upload, and what each piece of it stands for.

use super::paint::{SHADES, SLOTS};
use super::view::View;
use serde::{Deserialize, Serialize};

/// One rectangle, in pixels of the scene's window; `y` counts upwards from its bottom edge. Clipped to the window.
///
/// The layout is the GPU's vertex format (two `Sint16x2`, one `Uint32`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct Quad {
    /// Left and right edge, right exclusive.
    pub x: [i16; 2],
    /// Lower and upper edge, upper exclusive.
    pub y: [i16; 2],
    /// Bits 0–15: the [`super::Paint`], plus [`FADED`]; bit 16: [`BAND`]; bit 17: [`CONTINUED`]; bit 18: [`PENDING`].
    pub paint: u32,
}

/// Set in [`Quad::paint`] when the quad stands for several allocations.
pub const BAND: u32 = 1 << 16;

/// Added to the [`super::Paint`] in [`Quad::paint`] when something is highlighted and the quad holds none of it.
pub const FADED: u32 = 256;

/// Set in [`Quad::paint`] when the quad's allocation also stands in the column to its left, at another height: its left edge is
/// not a birth, so none is drawn. Leaving it out costs a line too many, nothing else.
pub const CONTINUED: u32 = 1 << 17;

/// Set in [`Quad::paint`] when the quad is one allocation whose free was requested and has not completed.
pub const PENDING: u32 = 1 << 18;

/// What a quad stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct QuadIdentity {
    /// The id of the lowest allocation in it.
    pub first: u32,
    /// The id of the highest; equal to `first` for a single allocation.
    pub last: u32,
    /// How many live allocations it holds at its first column's moment.
    pub count: u32,
    /// Their bytes there, low and high half (so that the record is a multiple of 4 bytes).
    pub bytes: [u32; 2],
}

impl QuadIdentity {
    /// Requested bytes at the quad's first column.
    pub fn requested(&self) -> u64 {
        u64::from(self.bytes[0]) | u64::from(self.bytes[1]) << 32
    }
}

/// The columns of a scene, from left to right; all vectors but `edge_px` have one entry a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneColumns {
    /// The columns' edges in pixels of the window: column `c` covers `edge_px[c]..edge_px[c + 1]`. One entry more than columns.
    pub edge_px: Vec<i32>,
    /// The moment whose stack the column shows: the first with the largest total of all moments in the column.
    pub moment: Vec<u32>,
    /// How many moments the column holds (1 when moments are wider than pixels).
    pub moments: Vec<u32>,
    /// Requested bytes live at `moment`: the true maximum of the column.
    pub total: Vec<u64>,
    /// The largest number of reserved bytes in the column.
    pub reserved: Vec<u64>,
    /// Of `total`, the bytes whose free was requested and has not completed. What is left is what `memory_allocated()` counts,
    /// before rounding.
    pub pending: Vec<u64>,
    /// Allocations that are first live in this column (or were before the window) and at no column's moment: too short-lived to
    /// be drawn. Each is counted once, so hidden and drawn ones are together all that are live in the window.
    pub hidden: Vec<u32>,
    /// The largest of them, in requested bytes.
    pub hidden_largest: Vec<u64>,
}

/// Everything drawn for one window.
///
/// As a message it is without columns, quads and identities: those cross from worker to page as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// The window, which may be larger than what is shown (a margin for panning).
    pub view: View,
    /// θ: the height, in device pixels, under which allocations are joined into bands; 1 unless the scene had to be coarsened.
    pub band_px: u32,
    /// The columns.
    #[serde(skip)]
    pub columns: SceneColumns,
    /// The stack, at most 300,000 quads.
    #[serde(skip)]
    pub quads: Vec<Quad>,
    /// What each quad stands for; as long as `quads`.
    #[serde(skip)]
    pub identities: Vec<QuadIdentity>,
    /// `None` in a stack: it stands on byte 0, and the columns' totals are heights in it, so their curves are drawn. In a picture of
    /// addresses ([`AddressJob`](super::AddressJob)) the vertical axis is that of the addresses, and totals, though told, are no
    /// heights; and the first so many of `quads` are what was mapped, behind the blocks, in [`GROUND`]. They are nobody's: their
    /// identities hold nothing. All later quads are sorted by their left edge.
    pub ground: Option<u32>,
}

impl Scene {
    /// How many pixels each slot of the palette covers in the columns of pixels from one to before another, by slot: what can be seen
    /// of each meaning. Bands count as the allocation whose colour they have.
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

/// The paint of what was mapped, behind the blocks of a picture of addresses: drawn as what lies below the reserved curve is.
pub const GROUND: u32 = 2 * FADED;
