// A box of a flame graph: a flat colour with a seam at its right and bottom edge. It is hatched if it stands for
// several frames, and has a bar at its bottom for search results.
//
// All decisions are made in integers, as in `flames.rs` (`Tile::colour_at`), with the same names.

const SEAM: u32 = 0u;
const MARK: u32 = 1u;
const INDEX: u32 = 4095u;
const HATCHED: u32 = 4096u;
const HATCH_APART_PX: i32 = 4;
const SEAMED_PX: i32 = 3;
const MARK_PART: i32 = 6;

struct Frame {
    /// Width and height of the window.
    window_px: vec2<u32>,
}

/// Same as `Tile` in Rust: two 16-bit edges per word, the lower edge in the low bits.
struct Tile {
    x: u32,
    y: u32,
    paint: u32,
}

@group(0) @binding(0) var<uniform> frame: Frame;
/// Red is the lowest byte.
@group(0) @binding(2) var<storage, read> colours: array<u32>;
@group(0) @binding(3) var<storage, read> tiles: array<Tile>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) x: vec2<i32>,
    @location(1) @interpolate(flat) y: vec2<i32>,
    @location(2) @interpolate(flat) paint: u32,
}

fn edges_of(packed: u32) -> vec2<i32> {
    return vec2(bitcast<i32>(packed << 16u) >> 16u, bitcast<i32>(packed) >> 16u);
}

/// Six vertices per box: two triangles with the corners 0, 1, 2 and 2, 1, 3.
@vertex
fn tile_corner(@builtin(vertex_index) vertex: u32) -> Corner {
    let tile = tiles[vertex / 6u];
    let corner = (0x312210u >> (vertex % 6u * 4u)) & 3u;
    var out: Corner;
    out.x = edges_of(tile.x);
    out.y = edges_of(tile.y);
    out.paint = tile.paint;
    let right = (corner & 1u) != 0u;
    let upper = (corner & 2u) != 0u;
    let at = vec2(f32(select(out.x.x, out.x.y, right)), f32(select(out.y.x, out.y.y, upper)));
    out.position = vec4(at / vec2<f32>(frame.window_px) * 2.0 - 1.0, 0.0, 1.0);
    return out;
}

@fragment
fn tile_pixel(corner: Corner) -> @location(0) vec4<f32> {
    // The position is the pixel's centre, counted from the top left.
    let column = i32(corner.position.x) - corner.x.x;
    let row = i32(frame.window_px.y) - 1 - i32(corner.position.y) - corner.y.x;
    let width = corner.x.y - corner.x.x;
    let height = corner.y.y - corner.y.x;
    let is_seam = (width >= SEAMED_PX && column == width - 1) || (height >= SEAMED_PX && row == 0);
    let is_mark = column < i32(corner.paint >> 16u) && row <= height / MARK_PART;
    let is_hatch = (corner.paint & HATCHED) != 0u && (column + row) % HATCH_APART_PX == 0;
    var index = corner.paint & INDEX;
    if is_mark {
        index = MARK;
    }
    if is_seam || is_hatch {
        index = SEAM;
    }
    return unpack4x8unorm(colours[min(index, arrayLength(&colours) - 1u)]);
}
